/*
 * trigger/probe_show: probes as listings and formats show them; what other events say to a new one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "layout/page.h"
#include "layout/probe.h"
#include "trigger/format.h"
#include "trigger/probe.h"

/* ---- Who else there is ---- */

/* The caret is below that word of its line; behind the last one where there is none. */
static int refuse_word(const struct spec_probe *probe, uint32_t word, int code, const char *message, struct spec_error *error)
{
	const char *line = ((const struct probe_box *)probe)->line, *at = line;

	for (; word && *at; word--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	read_begin(error, line, strlen(line), "%s", probe_location(probe->kind));
	return read_refuse_at(error, code, message, (size_t)(at - line) + (word || !*at ? 1 : 0));
}

int spec_probe_refuse(const struct spec_probe *probe, int code, const char *message, const char *text, struct spec_error *error)
{
	refuse_word(probe, 1, code, message, error);
	snprintf(error->text, sizeof(error->text), "%s", text);
	return code;
}

int spec_probe_meet(const struct spec_probe *probe, const struct spec_world *world, struct spec_error *error)
{
	if (!world->event || !world->event(world->arg, probe->group, probe->name))
		return 0;
	return refuse_word(probe, 0, -EEXIST, "Given group/event name is already used by another event", error);
}

static const char *type_name(const struct spec_arg *arg)
{
	return arg->style != 't' ? "" : arg->type[0] ? arg->type : "string";
}

static bool same_type(const struct spec_arg *a, const struct spec_arg *b)
{
	return a->style == b->style && a->count == b->count && !strcmp(a->field.type, b->field.type) &&
	       !strcmp(type_name(a), type_name(b)) && !strcmp(a->name, b->name);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_place(const struct spec_probe *a, const struct spec_probe *b)
{
	if (!same_text(a->file, b->file) || !same_text(a->symbol, b->symbol) || a->offset != b->offset)
		return false;
	for (uint32_t i = 0; i < a->nargs; i++) {
		if (strcmp(a->args[i].body, b->args[i].body))
			return false;
	}
	return true;
}

static bool same_kind(const struct spec_probe *a, const struct spec_probe *b)
{
	bool a_function = a->kind == SPEC_PROBE_FUNCTION || a->kind == SPEC_PROBE_TRACEPOINT;
	bool b_function = b->kind == SPEC_PROBE_FUNCTION || b->kind == SPEC_PROBE_TRACEPOINT;

	return a->kind != SPEC_PROBE_EVENT && (a->kind == b->kind || (a_function && b_function));
}

int spec_probe_join(const struct spec_probe *probe, const struct spec_probe *first, struct spec_error *error)
{
	uint32_t n = probe->nargs < first->nargs ? probe->nargs : first->nargs, i = 0;

	if (!same_kind(probe, first))
		return refuse_word(probe, 0, -EEXIST, "Given group/event name is already used by another event", error);
	if (probe->kind != first->kind || probe->returns != first->returns)
		return refuse_word(probe, 0, -EEXIST, "Probe type is different from existing probe", error);
	while (i < n && (probe->nargs != first->nargs || same_type(&probe->args[i], &first->args[i])))
		i++;
	if (i < n || probe->nargs != first->nargs)
		return refuse_word(probe, i + 2, -EEXIST, "Argument type or name is different from existing probe", error);
	if (same_place(probe, first))
		return refuse_word(probe, 0, -EEXIST, "There is already the exact same probe event", error);
	return 0;
}

/* ---- What is shown ---- */

static char letter_of(const struct spec_probe *probe)
{
	switch (probe->kind) {
	case SPEC_PROBE_EVENT:
		return 'e';
	case SPEC_PROBE_FUNCTION:
		return 'f';
	case SPEC_PROBE_TRACEPOINT:
		return 't';
	default:
		return probe->returns ? 'r' : 'p';
	}
}

static void show_place(const struct spec_probe *probe, struct buf *out)
{
	unsigned long long offset = probe->offset;

	switch (probe->kind) {
	case SPEC_PROBE_EVENT:
		buf_printf(out, "%s.%s", probe->on_system, probe->on_event);
		break;
	case SPEC_PROBE_FILE:
		buf_printf(out, "%s:0x%016llx", probe->path, offset);
		if (probe->semaphore)
			buf_printf(out, "(0x%llx)", (unsigned long long)probe->semaphore);
		break;
	case SPEC_PROBE_TRACEPOINT:
		buf_puts(out, probe->symbol);
		break;
	default:
		if (probe->address) {
			buf_printf(out, "0x%016llx", (unsigned long long)probe->address);
			break;
		}
		if (probe->file)
			buf_printf(out, "%s:", probe->file);
		if (!probe->symbol)
			buf_printf(out, "0x%016llx", offset);
		else
			buf_puts(out, probe->symbol);
		if (probe->symbol && offset)
			buf_printf(out, "+%llu", offset);
		if (probe->kind == SPEC_PROBE_FUNCTION && probe->returns)
			buf_puts(out, "%return");
	}
}

void spec_probe_show(const struct spec_probe *probe, struct buf *out)
{
	buf_putc(out, letter_of(probe));
	if (probe->max_active)
		buf_printf(out, "%u", probe->max_active);
	buf_printf(out, ":%s/%s ", probe->group, probe->name);
	show_place(probe, out);
	for (uint32_t i = 0; i < probe->nargs; i++)
		buf_printf(out, " %s=%s", probe->args[i].name, probe->args[i].body);
}

static const char *conversion(const struct spec_arg *arg)
{
	bool wide = arg->field.value_size == 8;

	switch (arg->style) {
	case 'u':
		return wide ? "%Lu" : "%u";
	case 's':
		return wide ? "%Ld" : "%d";
	case 'c':
		return "'%c'";
	case 't':
		return "\\\"%s\\\"";
	case 'S':
		return "%pS";
	default:
		return wide ? "0x%Lx" : "0x%x";
	}
}

static void show_values(const struct spec_arg *arg, struct buf *out)
{
	uint32_t n = arg->count ? arg->count : 1;

	for (uint32_t i = 0; i < n; i++) {
		buf_printf(out, arg->style == 't' ? ", __get_str(%s" : ", REC->%s", arg->name);
		if (arg->count)
			buf_printf(out, "[%u]", i);
		buf_puts(out, arg->style == 't' ? ")" : "");
	}
}

/* The kernel prints an event in brackets by itself; here it is a part of the print format, so that all readers do. */
static void show_print(const struct spec_probe *probe, struct buf *out)
{
	buf_puts(out, "\nprint fmt: \"(");
	if (!spec_probe_is_code(probe))
		buf_printf(out, "%s.%s", probe->on_system, probe->on_event);
	else
		buf_puts(out, probe->returns ? "%lx <- %lx" : "%lx");
	buf_putc(out, ')');
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_arg *arg = &probe->args[i];

		buf_printf(out, " %s=%s%s", arg->name, arg->count ? "{" : "", conversion(arg));
		for (uint32_t j = 1; j < arg->count; j++)
			buf_printf(out, ",%s", conversion(arg));
		buf_puts(out, arg->count ? "}" : "");
	}
	buf_putc(out, '"');
	if (spec_probe_is_code(probe))
		buf_puts(out, probe->returns ? ", REC->__probe_func, REC->__probe_ret_ip" : ", REC->__probe_ip");
	for (uint32_t i = 0; i < probe->nargs; i++)
		show_values(&probe->args[i], out);
}

void spec_probe_format(const struct spec_probe *probe, struct buf *out)
{
	buf_puts(out, RECORD_HEAD_FORMAT);
	if (spec_probe_is_code(probe) && probe->returns) {
		format_field(out, "unsigned long", "__probe_func", offsetof(struct record_probe_return, func), 8, false);
		format_field(out, "unsigned long", "__probe_ret_ip", offsetof(struct record_probe_return, ret_ip), 8, false);
	} else if (spec_probe_has_ip(probe)) {
		format_field(out, "unsigned long", "__probe_ip", offsetof(struct record_probe, ip), 8, false);
	}
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_field *field = &probe->args[i].field;

		format_field(out, field->type, field->name, field->offset, field->size, field->is_signed);
	}
	show_print(probe, out);
}
