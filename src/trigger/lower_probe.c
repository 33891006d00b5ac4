/*
 * trigger/lower_probe: a probe -> struct hook_emit: how each argument is fetched, from a record of the event that it hangs on or from
 * what a thread had in its registers (struct probe_hit). See lower.h. Pure.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "layout/probe.h"
#include "trigger/lower_local.h"

#define POINTER_SIZE 8

struct fetching {
	struct lowering *low;
	const struct decode_format *format;	/* of the event that it hangs on; NULL: not known yet */
	struct program_build *build;
	const struct spec_probe *probe;
	const struct spec_arg *arg;
};

static bool is_text(const struct spec_arg *arg)
{
	return arg->field.form == HOOK_FIELD_TEXT || arg->field.form == HOOK_FIELD_DYN_TEXT;
}

static enum program_class field_class(const struct fetching *fetching, const char *name, bool outer)
{
	const struct decode_field *field = fetching->format ? decode_format_find(fetching->format, name) : NULL;

	if (!field)
		return outer && is_text(fetching->arg) ? PROGRAM_TEXT : PROGRAM_INT;
	if (field->is_string)
		return PROGRAM_TEXT;
	if (field->kind == DECODE_FLOAT)
		return PROGRAM_REAL;
	return field->is_array && outer && fetching->arg->field.form == HOOK_FIELD_DYN_STACK ? PROGRAM_WORDS : PROGRAM_INT;
}

/* `outer`: what the argument is, and no address on the way to it. `more`: bytes behind the place that is meant. */
static uint32_t root_of(struct fetching *fetching, const struct spec_fetch *fetch, bool outer, int64_t more)
{
	struct program_build *build = fetching->build;
	const struct spec_arg *arg = fetching->arg;
	enum program_class class;
	uint32_t root;

	switch (fetch->what) {
	case FETCH_FIELD:
		class = field_class(fetching, fetch->name, outer);
		root = program_build_field(build, fetch->name, class);
		/* A pointer to a text is followed. */
		if (outer && is_text(arg) && class == PROGRAM_INT)
			root = program_build_peek_text(build, root, more);
		return root;
	case FETCH_COMM:
		return program_build_moment(build, PROGRAM_COMM);
	case FETCH_LITERAL:
		return program_build_literal(build, fetch->literal, strlen(fetch->literal));
	case FETCH_PEEK:
		root = root_of(fetching, fetch->of, false, 0);
		if (outer && is_text(arg))
			return program_build_peek_text(build, root, fetch->offset + more);
		return program_build_peek(build, root, fetch->offset + more, outer ? arg->field.value_size : POINTER_SIZE,
					  outer && arg->field.is_signed);
	case FETCH_REGISTER:
		return program_build_field(build, fetch->name, PROGRAM_INT);
	case FETCH_FILE:
		/* As far from the instruction as in the file. */
		return program_build_math(build, '+', false, program_build_field(build, "ip", PROGRAM_INT),
					  program_build_num(build, fetch->number - fetching->probe->offset));
	case FETCH_SYMBOL:
		return program_build_num(build, fetch->number + (uint64_t)fetch->offset);
	default:
		return program_build_num(build, fetch->number);
	}
}

static uint32_t put_arg(struct fetching *fetching, struct hook_field *fields, uint32_t room)
{
	const struct spec_arg *arg = fetching->arg;
	uint32_t n = arg->count ? arg->count : 1;
	uint32_t size = arg->count ? arg->field.size / arg->count : arg->field.size;

	for (uint32_t i = 0; i < n && i < room; i++) {
		uint32_t step = is_text(arg) ? POINTER_SIZE : arg->field.value_size;
		uint32_t root = root_of(fetching, arg->fetch, true, (int64_t)i * step);

		if (arg->style == 'S' && spec_probe_is_code(fetching->probe))
			root = program_build_symbol(fetching->build, root);
		if (arg->bits)
			root = program_build_bits(fetching->build, root, arg->shift, arg->bits, arg->field.is_signed);
		fields[i] = (struct hook_field){
			.offset = (uint16_t)(arg->field.offset + i * size),
			.size = (uint16_t)size,
			.form = arg->field.form,
			.root = root,
		};
	}
	return n < room ? n : room;
}

/* What records of points have before the arguments. */
static uint32_t put_addresses(struct fetching *fetching, struct hook_field *fields)
{
	static const struct hook_field ip = { .offset = offsetof(struct record_probe, ip), .size = 8, .form = HOOK_FIELD_NUMBER };
	static const struct hook_field ret_ip = {
		.offset = offsetof(struct record_probe_return, ret_ip), .size = 8, .form = HOOK_FIELD_NUMBER,
	};

	if (!spec_probe_has_ip(fetching->probe))
		return 0;
	fields[0] = ip;
	fields[0].root = spec_probe_is_code(fetching->probe) ? program_build_field(fetching->build, "ip", PROGRAM_INT) :
							       program_build_num(fetching->build, 0);
	if (!spec_probe_is_code(fetching->probe) || !fetching->probe->returns)
		return 1;
	fields[1] = ret_ip;
	fields[1].root = program_build_field(fetching->build, "ret_ip", PROGRAM_INT);
	return 2;
}

static uint32_t count_fields(const struct spec_probe *probe)
{
	uint32_t n = spec_probe_has_ip(probe) ? 1 + (spec_probe_is_code(probe) && probe->returns) : 0;

	for (uint32_t i = 0; i < probe->nargs; i++)
		n += probe->args[i].count ? probe->args[i].count : 1;
	return n;
}

static bool begins_with(const struct spec_probe *probe, int what)
{
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_fetch *fetch = probe->args[i].fetch;

		while (fetch->what == FETCH_PEEK)
			fetch = fetch->of;
		if ((int)fetch->what == what)
			return true;
	}
	return false;
}

/* What the kernel can do and programs cannot; NULL: nothing of that. */
static const char *why_not(const struct spec_probe *probe)
{
	if (count_fields(probe) > HOOK_EMIT_MAX)
		return "Too many arguments, or elements of arrays, in one probe";
	if (!spec_probe_is_code(probe))
		return begins_with(probe, FETCH_REGISTER) ? "A declared event has no stack: $stack is for probes in code" : NULL;
	if (!probe->symbol && !probe->file)
		return "No function is known there: say [FILE:]FUNCTION[+OFFSET]";
	for (uint32_t i = 0; i < probe->nargs; i++) {
		if (!strcmp(probe->args[i].type, "symstr"))
			return "Names of addresses are found when a trace is read: say symbol, not symstr";
	}
	return NULL;
}

uint32_t lower_probe(struct lowering *low, const struct lower_item *item)
{
	const struct spec_probe *probe = item->probe;
	struct hook_field fields[HOOK_EMIT_MAX] = { { 0 } };
	struct hook_emit emit = { .event = item->item->event_id, .fixed = 8 };
	struct fetching fetching = { .low = low, .probe = probe };
	const char *why = why_not(probe);
	uint32_t n;

	if (why && !item->is_old)
		lower_refuse(low, -EOPNOTSUPP, why);
	if (why)
		return 0;
	fetching.build = program_build_new();
	if (!fetching.build) {
		low->failed = low->failed ? low->failed : -ENOMEM;
		return 0;
	}
	if (!spec_probe_is_code(probe))
		fetching.format = low->world->event(low->world->arg, probe->on_system, probe->on_event);
	n = put_addresses(&fetching, fields);
	emit.fixed = (uint16_t)(emit.fixed + n * 8);
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_field *field = &probe->args[i].field;
		uint32_t end = (uint32_t)(field->offset + field->size + 3) & ~3u;

		fetching.arg = &probe->args[i];
		n += put_arg(&fetching, &fields[n], HOOK_EMIT_MAX - n);
		if (end > emit.fixed)
			emit.fixed = (uint16_t)end;
	}
	emit.nfields = (uint16_t)n;
	emit.fields = lower_put(low, fields, n * sizeof(*fields));
	/* One without arguments has a program all the same: 0 would be a histogram's. */
	if (!n)
		program_build_num(fetching.build, 0);
	emit.program = lower_program(low, fetching.build);
	program_build_free(fetching.build);
	return lower_put(low, &emit, sizeof(emit));
}
