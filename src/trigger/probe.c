/*
 * trigger/probe: event probes: a line of dynamic_events that begins with e -> struct spec_probe, and back.
 *
 *   e[:[GROUP/][NAME]] SYSTEM.EVENT [[NAME=]FETCH[:TYPE]]... [if CONDITION]
 *
 * Refusals point at a word of the line and a place within it; the line is shown with one blank between words.
 */
#include "trigger/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/page.h"
#include "trigger/format.h"

#define ARGS_MAX 128
#define ARG_NAME_MAX 32
#define BODY_MAX 63
#define RECORD_MAX 3072
#define FIELDS_AT 8
#define WORDS_MAX 1024
#define BLANKS " \t\n\v\f\r"

struct probe_box {
	struct spec_probe probe;	/* first: it is what others see */
	struct read_mem mem;
};

int probe_refuse(struct probe_read *read, int code, const char *message, size_t offset)
{
	size_t pos = 0;

	for (uint32_t i = 0; i < read->nwords && i < read->at; i++)
		pos += strlen(read->words[i]) + 1;
	if (read->at >= read->nwords)
		offset = 0;
	return read_refuse_at(read->error, code, message, pos + offset);
}

/* ---- Names ---- */

/* [group/]name or [group.]name. `name` NULL: there is a group and nothing behind it. */
static int read_event_name(struct probe_read *read, char *text, size_t offset, char **group, char **name)
{
	char *slash = strchr(text, '/');

	if (!slash)
		slash = strchr(text, '.');
	*name = text;
	if (slash) {
		if (slash == text)
			return probe_refuse(read, -EINVAL, "Group name is not specified", offset);
		if (slash - text + 1 > SPEC_NAME_MAX)
			return probe_refuse(read, -EINVAL, "Group name is too long", offset);
		*group = read_dup(read->mem, text, (size_t)(slash - text));
		if (!*group)
			return -ENOMEM;
		if (!read_is_system_name(*group))
			return probe_refuse(read, -EINVAL, "Group name must follow the same rules as C identifiers", offset);
		*name = slash + 1;
		offset += (size_t)(slash + 1 - text);
		if (!**name) {
			*name = NULL;
			return 0;
		}
	}
	if (!**name)
		return probe_refuse(read, -EINVAL, "Event name is not specified", offset);
	if (strlen(*name) >= SPEC_NAME_MAX)
		return probe_refuse(read, -EINVAL, "Event name is too long", offset);
	if (!read_is_name(*name))
		return probe_refuse(read, -EINVAL, "Event name must follow the same rules as C identifiers", offset);
	return 0;
}

static int read_names(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char *group = NULL, *name = NULL, *on_system = NULL, *on_event = NULL, *colon = strchr(read->words[0], ':');
	int ret = 0;

	if (colon)
		ret = read_event_name(read, colon + 1, (size_t)(colon + 1 - read->words[0]), &group, &name);
	if (ret)
		return ret;
	read->at = 1;
	ret = read_event_name(read, read->words[1], 0, &on_system, &on_event);
	if (ret || !on_system || !on_event)
		return probe_refuse(read, -EINVAL, "This requires both group and event name to attach", 0);
	read_copy_name(probe->group, group ? group : "eprobes");
	read_copy_name(probe->name, name ? name : on_event);
	read_copy_name(probe->on_system, on_system);
	read_copy_name(probe->on_event, on_event);
	read->format = read->world->event ? read->world->event(read->world->arg, on_system, on_event) : NULL;
	if (!read->format && !read->world->anything)
		return probe_refuse(read, -ENODEV, "Attached event does not exist", 0);
	return 0;
}

/* ---- Conditions ---- */

/* Cuts the line before `if`; what comes behind is put together again. */
static int read_condition(struct probe_read *read, uint32_t *nargs)
{
	struct buf filter = BUF_INIT;
	uint32_t i = 2;

	while (i < read->nwords && strcmp(read->words[i], "if"))
		i++;
	*nargs = i - 2;
	if (*nargs > ARGS_MAX)
		return read_refuse_silently(read->error, -E2BIG, "more than %d arguments", ARGS_MAX);
	if (i == read->nwords)
		return 0;
	read->at = ++i;
	if (i == read->nwords)
		return probe_refuse(read, -EINVAL, "No filter rule after 'if'", 0);
	for (; i < read->nwords; i++) {
		buf_puts(&filter, filter.len ? " " : "");
		buf_puts(&filter, read->words[i]);
	}
	if (!buf_failed(&filter))
		read->probe->filter = read_dup(read->mem, filter.data, filter.len);
	buf_fini(&filter);
	return read->probe->filter ? 0 : -ENOMEM;
}

/* ---- Arguments ---- */

static bool is_taken(const struct spec_probe *probe, uint32_t nargs, const char *name)
{
	static const char *const reserved[] = {
		"common_type", "common_flags", "common_preempt_count", "common_pid", "common_tgid",
		"__probe_ip", "__probe_ret_ip", "__probe_func",
	};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
		if (!strcmp(reserved[i], name))
			return true;
	}
	for (uint32_t i = 0; i < nargs; i++) {
		if (!strcmp(probe->args[i].name, name))
			return true;
	}
	return false;
}

/* Without a name it is that of what is fetched, if it could be one, else its number. */
static void name_by_itself(struct spec_arg *arg, const char *word, uint32_t i)
{
	size_t len = strcspn(word, ":");

	if (len < sizeof(arg->name)) {
		memcpy(arg->name, word, len);
		arg->name[len] = '\0';
		if (read_is_name(arg->name))
			return;
	}
	snprintf(arg->name, sizeof(arg->name), "arg%u", i + 1);
}

static int read_arg(struct probe_read *read, uint32_t i, uint32_t *offset)
{
	struct spec_arg *arg = &read->probe->args[i];
	char *word = read->words[i + 2], *body = strchr(word, '=');
	int ret;

	read->at = i + 2;
	if (body) {
		if (body - word > ARG_NAME_MAX)
			return probe_refuse(read, -EINVAL, "Argument name is too long", 0);
		if (body == word)
			return probe_refuse(read, -EINVAL, "Argument name is not specified", 0);
		memcpy(arg->name, word, (size_t)(body++ - word));
	} else {
		body = word;
		name_by_itself(arg, word, i);
	}
	if (!read_is_name(arg->name))
		return probe_refuse(read, -EINVAL, "Argument name must follow the same rules as C identifiers", 0);
	if (is_taken(read->probe, i, arg->name))
		return probe_refuse(read, -EINVAL, "This argument name is already used", 0);
	read->offset = (size_t)(body - word);
	if (strlen(body) > BODY_MAX)
		return probe_refuse(read, -E2BIG, "Argument expression is too long", read->offset);
	if (!*body)
		return probe_refuse(read, -EINVAL, "No argument expression", read->offset);
	arg->body = read_dup(read->mem, body, strlen(body));
	if (!arg->body)
		return -ENOMEM;
	ret = probe_read_body(read, arg);
	if (ret)
		return ret;
	read_copy_name(arg->field.name, arg->name);
	arg->field.offset = (uint16_t)(FIELDS_AT + *offset);
	*offset += arg->field.size;
	if (*offset > RECORD_MAX)
		return probe_refuse(read, -E2BIG, "Event too big (too many fields?)", read->offset);
	return 0;
}

/* ---- The line ---- */

/* Its words, and the line as refusals show it. */
static int cut_line(struct probe_read *read, char *line)
{
	char *word;

	read->words = read_alloc(read->mem, WORDS_MAX * sizeof(*read->words));
	if (!read->words)
		return -ENOMEM;
	while ((word = strsep(&line, BLANKS)) != NULL) {
		if (!*word)
			continue;
		if (read->nwords == WORDS_MAX)
			return read_refuse_silently(read->error, -E2BIG, "too many words");
		read->words[read->nwords++] = word;
	}
	buf_reset(&read->error->command);
	for (uint32_t i = 0; i < read->nwords; i++)
		buf_printf(&read->error->command, "%s%s", i ? " " : "", read->words[i]);
	if (read->nwords < 2 || read->words[0][0] != 'e')
		return read_refuse_silently(read->error, -EINVAL, "an event probe is e[:[GROUP/]NAME] SYSTEM.EVENT [ARGUMENTS]");
	return 0;
}

static int read_line(struct probe_read *read, char *line)
{
	uint32_t nargs, offset = 0;
	int ret = cut_line(read, line);

	if (!ret)
		ret = read_names(read);
	if (!ret)
		ret = read_condition(read, &nargs);
	if (ret)
		return ret;
	read->probe->args = read_alloc(read->mem, (nargs + 1) * sizeof(*read->probe->args));
	if (!read->probe->args)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < nargs; i++) {
		ret = read_arg(read, i, &offset);
		read->probe->nargs = i + 1;
	}
	return ret;
}

int spec_probe_parse(struct spec_probe **out, const struct spec_world *world, char file, const char *text, size_t len,
		     struct spec_error *error)
{
	struct probe_box *box = calloc(1, sizeof(*box));
	struct probe_read read = { .world = world, .error = error };
	char *line;
	int ret;

	(void)file;
	*out = NULL;
	read_begin(error, text, len, "event_probe");
	if (!box)
		return -ENOMEM;
	read.mem = &box->mem;
	read.probe = &box->probe;
	line = read_dup(&box->mem, text, len);
	if (!line)
		ret = -ENOMEM;
	else if (strlen(line) != len)
		ret = read_refuse_silently(error, -EINVAL, "a NUL in the line");
	else
		ret = read_line(&read, line);
	if (box->mem.failed)
		ret = -ENOMEM;
	if (ret) {
		error->code = ret;
		spec_probe_free(&box->probe);
		return ret;
	}
	*out = &box->probe;
	return read_accept(error);
}

void spec_probe_free(struct spec_probe *probe)
{
	struct probe_box *box = (struct probe_box *)probe;

	if (!box)
		return;
	read_mem_fini(&box->mem);
	free(box);
}

int spec_probe_meet(const struct spec_probe *probe, const struct spec_world *world, struct spec_error *error)
{
	struct buf line = BUF_INIT;

	if (!world->event || !world->event(world->arg, probe->group, probe->name))
		return 0;
	spec_probe_show(probe, &line);
	read_begin(error, line.data ? line.data : "", line.len, "event_probe");
	buf_fini(&line);
	return read_refuse_at(error, -EEXIST, "Given group/event name is already used by another event", 0);
}

/* ---- What is shown ---- */

void spec_probe_show(const struct spec_probe *probe, struct buf *out)
{
	buf_printf(out, "e:%s/%s %s.%s", probe->group, probe->name, probe->on_system, probe->on_event);
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

/* The kernel prints the event in brackets by itself; here it is a part of the print format, so that all readers do. */
static void show_print(const struct spec_probe *probe, struct buf *out)
{
	buf_printf(out, "\nprint fmt: \"(%s.%s)", probe->on_system, probe->on_event);
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_arg *arg = &probe->args[i];

		buf_printf(out, " %s=%s%s", arg->name, arg->count ? "{" : "", conversion(arg));
		for (uint32_t j = 1; j < arg->count; j++)
			buf_printf(out, ",%s", conversion(arg));
		buf_puts(out, arg->count ? "}" : "");
	}
	buf_putc(out, '"');
	for (uint32_t i = 0; i < probe->nargs; i++)
		show_values(&probe->args[i], out);
}

void spec_probe_format(const struct spec_probe *probe, struct buf *out)
{
	buf_puts(out, RECORD_HEAD_FORMAT);
	for (uint32_t i = 0; i < probe->nargs; i++) {
		const struct spec_field *field = &probe->args[i].field;

		format_field(out, field->type, field->name, field->offset, field->size, field->is_signed);
	}
	show_print(probe, out);
}
