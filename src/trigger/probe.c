/*
 * trigger/probe: probes: a line of dynamic_events, kprobe_events or uprobe_events -> struct spec_probe.
 *
 *   NAMES PLACE [[NAME=]FETCH[:TYPE]]... [if CONDITION]
 *
 * Refusals point at a word of the line and a place within it; the line is shown with one blank between words.
 */
#include "trigger/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/page.h"
#include "layout/probe.h"

#define ARGS_MAX 128
#define ARG_NAME_MAX 32
#define BODY_MAX 63
#define RECORD_MAX 3072
#define WORDS_MAX 1024
#define BLANKS " \t\n\v\f\r"

int probe_refuse(struct probe_read *read, int code, const char *message, size_t offset)
{
	size_t pos = 0;

	for (uint32_t i = 0; i < read->nwords && i < read->at; i++)
		pos += strlen(read->words[i]) + 1;
	if (read->at >= read->nwords)
		offset = 0;
	/* What $arg* stands for is counted as if it stood there. */
	pos += offset;
	return read_refuse_at(read->error, code, message, pos <= read->error->command.len ? pos : read->error->command.len + 1);
}

/* ---- Conditions ---- */

/* Cuts the line before `if`; what comes behind is put together again. */
static int read_condition(struct probe_read *read, uint32_t *nargs)
{
	struct buf filter = BUF_INIT;
	uint32_t i = 2;

	while (i < read->nwords && (read->probe->kind != SPEC_PROBE_EVENT || strcmp(read->words[i], "if")))
		i++;
	*nargs = i - 2;
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

/* Addresses come before the arguments. */
static uint32_t fields_at(const struct spec_probe *probe)
{
	if (!spec_probe_has_ip(probe))
		return sizeof(struct record_head);
	return probe->returns ? sizeof(struct record_probe_return) : sizeof(struct record_probe);
}

static int read_arg(struct probe_read *read, uint32_t i, uint32_t *offset)
{
	struct spec_arg *arg = &read->probe->args[i];
	char *word = read->args[i], *body = strchr(word, '=');
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
	arg->field.offset = (uint16_t)(fields_at(read->probe) + *offset);
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
	return buf_failed(&read->error->command) ? -ENOMEM : 0;
}

static int read_args(struct probe_read *read, uint32_t nargs)
{
	uint32_t offset = 0;
	int ret = 0;

	if (nargs > ARGS_MAX)
		return read_refuse_silently(read->error, -E2BIG, "more than %d arguments", ARGS_MAX);
	read->probe->args = read_alloc(read->mem, (nargs + 1) * sizeof(*read->probe->args));
	if (!read->probe->args)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < nargs; i++) {
		ret = read_arg(read, i, &offset);
		read->probe->nargs = i + 1;
	}
	/* Only who looks for the symbol finds that it is not there. */
	read->at = 1;
	if (!ret && read->is_missing)
		ret = probe_refuse(read, -ENOENT, "Invalid probed address or symbol", 0);
	return ret;
}

static int read_line(struct probe_read *read, char file, char *line)
{
	uint32_t nargs = 0;
	int ret = cut_line(read, line);

	if (!ret)
		ret = probe_read_place(read, file);
	if (ret == -ECANCELED)
		return read_refuse_silently(read->error, ret, "that is no probe for this file: p, r, f, t or e, a name, a place");
	if (!ret)
		ret = read_condition(read, &nargs);
	if (!ret)
		ret = probe_expand(read);
	if (ret)
		return ret;
	return read_args(read, read->probe->kind == SPEC_PROBE_EVENT ? nargs : read->nargs);
}

int spec_probe_parse(struct spec_probe **out, const struct spec_world *world, char file, const char *text, size_t len,
		     struct spec_error *error)
{
	struct probe_box *box = calloc(1, sizeof(*box));
	struct probe_read read = { .world = world, .error = error };
	char *line;
	int ret;

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
		ret = read_line(&read, file, line);
	if (!ret)
		box->line = read_dup(&box->mem, error->command.data, error->command.len);
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
