/*
 * trigger/lower_point: a probe in code -> struct state_probe (layout/probe.h). See lower.h. Pure.
 *
 * Records of most are nothing but registers and numbers: for these there is a list of copies, so that who comes by need not run a
 * program.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "layout/probe.h"
#include "trigger/lower_local.h"

#define AT(name) { #name, offsetof(struct probe_hit, name) }

static const struct {
	const char *name;
	uint16_t at;
} registers[] = {
	AT(ip), AT(ret_ip), AT(ax), AT(bx), AT(cx), AT(dx), AT(si), AT(di), AT(bp), AT(sp), AT(r8), AT(r9), AT(r10), AT(r11),
	AT(r12), AT(r13), AT(r14), AT(r15), AT(flags),
	{ "arg1", offsetof(struct probe_hit, arg[0]) }, { "arg2", offsetof(struct probe_hit, arg[1]) },
	{ "arg3", offsetof(struct probe_hit, arg[2]) }, { "arg4", offsetof(struct probe_hit, arg[3]) },
	{ "arg5", offsetof(struct probe_hit, arg[4]) }, { "arg6", offsetof(struct probe_hit, arg[5]) },
};

static bool copy_of(const struct spec_arg *arg, struct probe_copy *copy)
{
	const uint32_t size = arg->field.size;

	if (arg->field.form != HOOK_FIELD_NUMBER || arg->count || arg->bits || arg->style == 'S' ||
	    (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	*copy = (struct probe_copy){ .to = arg->field.offset, .size = (uint8_t)size };
	if (arg->fetch->what == FETCH_NUMBER) {
		copy->is_number = 1;
		copy->number = arg->fetch->number;
		return true;
	}
	for (size_t i = 0; arg->fetch->what == FETCH_REGISTER && i < sizeof(registers) / sizeof(registers[0]); i++) {
		copy->from = registers[i].at;
		if (!strcmp(registers[i].name, arg->fetch->name))
			return true;
	}
	return false;
}

/* All of the record by copies; 0: not so. */
static uint32_t copies_of(const struct spec_probe *probe, struct probe_copy *copies, uint32_t *size)
{
	uint32_t n = 0;

	copies[n++] = (struct probe_copy){
		.from = offsetof(struct probe_hit, ip), .to = offsetof(struct record_probe, ip), .size = 8,
	};
	*size = sizeof(struct record_probe);
	if (probe->returns) {
		copies[n++] = (struct probe_copy){
			.from = offsetof(struct probe_hit, ret_ip), .to = offsetof(struct record_probe_return, ret_ip), .size = 8,
		};
		*size = sizeof(struct record_probe_return);
	}
	for (uint32_t i = 0; i < probe->nargs; i++) {
		if (!copy_of(&probe->args[i], &copies[n++]))
			return 0;
		*size = (uint32_t)probe->args[i].field.offset + probe->args[i].field.size;
	}
	*size = (*size + 3) & ~3u;
	return n;
}

static uint32_t put_text(struct lowering *low, const char *text)
{
	return text ? lower_put(low, text, strlen(text) + 1) : 0;
}

void lower_point(struct lowering *low, const struct lower_item *item)
{
	const struct spec_probe *probe = item->probe;
	struct probe_copy copies[HOOK_EMIT_MAX + 2];
	struct state_probe point = {
		.event = item->item->event_id, .serial = item->item->serial, .offset = probe->offset, .semaphore = probe->semaphore,
		.counts = item->item->table,
		.flags = (probe->returns ? PROBE_RETURNS : 0) | (probe->saves ? PROBE_SAVES : 0) |
			 (probe->kind == SPEC_PROBE_FILE ? PROBE_RAW : 0),
	};
	uint32_t size;

	if (low->probes->len / sizeof(point) >= STATE_PROBES_MAX) {
		lower_refuse(low, -ENOSPC, "Too many probes");
		return;
	}
	point.emit = lower_probe(low, item);
	if (!point.emit)
		return;
	point.nquick = (uint16_t)copies_of(probe, copies, &size);
	if (point.nquick) {
		point.flags |= PROBE_QUICK;
		point.size = (uint16_t)size;
		point.quick = lower_put(low, copies, point.nquick * sizeof(*copies));
	}
	point.file = put_text(low, probe->file);
	if (probe->kind != SPEC_PROBE_FILE)
		point.symbol = put_text(low, probe->known_as ? probe->known_as : probe->symbol);
	buf_add(low->probes, &point, sizeof(point));
}
