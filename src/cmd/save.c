/*
 * cmd/save: what is set in a source, as a start-up profile: everything that is not as in a fresh one. `apply` brings it back.
 *
 * In: files of the tree, whichever the source has. Out: a bootconfig; keys are those of the kernel's boot-time tracing, or names of
 * files where it has none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/profile.h"
#include "cmd/apply_local.h"
#include "cmd/cmd.h"
#include "cmd/defaults.h"
#include "cmd/keep.h"
#include "cmd/save_local.h"
#include "control/state.h"

#define COLUMNS 100
#define PAGE_SIZE_USUAL 4096u

static const struct opt save_opts[] = {
	SCOPE_OPT,
	{ 't', "top", NULL, "about the top buffer, beside those of -B" },
	{ 0, NULL, NULL, NULL },
};

/* Files of one word, what their key is, and what they say in a fresh source. */
static const struct word {
	const char *file;
	const char *key;
	const char *fresh;
} words[] = {
	{ "trace_clock", "trace_clock", "local" },
	{ "buffer_subbuf_size_kb", "buffer_subbuf_size_kb", "4" },
	{ "buffer_percent", "buffer_percent", "50" },
	{ "tracing_thresh", "tracing_thresh", "0" },
	{ "max_graph_depth", "max_graph_depth", "0" },
	{ "function_profile_enabled", "function_profile_enabled", "0" },
	{ "stack_tracer_enabled", "stack_tracer_enabled", "0" },
};

/* Files of lists. */
static const struct word lists[] = {
	{ "set_event_pid", "set_event_pid", NULL },
	{ "set_event_notrace_pid", "set_event_notrace_pid", NULL },
	{ "set_ftrace_pid", "set_ftrace_pid", NULL },
	{ "set_ftrace_notrace_pid", "set_ftrace_notrace_pid", NULL },
	{ "set_ftrace_filter", "ftrace.filters", NULL },
	{ "set_ftrace_notrace", "ftrace.notraces", NULL },
	{ "set_graph_function", "set_graph_function", NULL },
	{ "set_graph_notrace", "set_graph_notrace", NULL },
	{ "stack_trace_filter", "stack_trace_filter", NULL },
};

/* Settings of the kernel itself, and its parameters for them. */
static const struct word sysctls[] = {
	{ "ftrace_dump_on_oops", "ftrace_dump_on_oops", "0" },
	{ "traceoff_on_warning", "traceoff_on_warning", "0" },
	{ "tracepoint_printk", "tp_printk", "0" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

char *save_text(struct save *save, const struct scope *scope, const char *file)
{
	struct buf text = BUF_INIT;

	/* One that cannot be read, here and now or at all, has nothing to tell. */
	if (scope_read(scope, save->source, file, &text, NULL)) {
		buf_fini(&text);
		return NULL;
	}
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (!text.data)
		buf_puts(&text, "");
	return buf_take(&text);
}

static bool put_value(struct save *save, const char *key, const char *value)
{
	if (boot_put_value(value, &save->out))
		return true;
	cmd_say("%s: '%s' has %s in it, and cannot be said in such a file: left out", key, value,
		strchr(value, '"') && strchr(value, '\'') ? "both kinds of quotes" : "letters beyond ASCII");
	save->untold = true;
	return false;
}

void save_put(struct save *save, const char *key, const char *operator, const char *value)
{
	size_t start = save->out.len;

	buf_printf(&save->out, "%s%s %s ", save->indent, key, operator);
	if (put_value(save, key, value))
		buf_putc(&save->out, '\n');
	else if (save->out.data)
		save->out.data[save->out.len = start] = '\0';
}

/* The line is full: the next begins deeper. */
static void wrap(struct save *save, size_t *line)
{
	if (save->out.len - *line < COLUMNS) {
		buf_putc(&save->out, ' ');
		return;
	}
	*line = save->out.len + 1;
	buf_printf(&save->out, "\n%s\t", save->indent);
}

void save_put_lines(struct save *save, const char *key, const char *text)
{
	size_t line = save->out.len;
	bool begun = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char *value = strndup(text, len);

		if (value && len) {
			size_t start = save->out.len, begin = line;

			if (begun)
				buf_putc(&save->out, ',');
			else
				buf_printf(&save->out, "%s%s =", save->indent, key);
			wrap(save, &line);
			if (put_value(save, key, value)) {
				begun = true;
			} else if (save->out.data) {
				save->out.data[save->out.len = start] = '\0';
				line = begin;
			}
		}
		free(value);
		text += len + (text[len] == '\n');
	}
	if (begun)
		buf_putc(&save->out, '\n');
}

static void put_words(struct save *save, const struct scope *scope)
{
	for (size_t i = 0; i < COUNT(words); i++) {
		struct buf text = BUF_INIT;

		if (!keep_read(save->source, scope, words[i].file, KEEP_WORD, &text, NULL) && text.len && strcmp(text.data, words[i].fresh))
			save_put(save, words[i].key, "=", text.data);
		buf_fini(&text);
	}
}

/* Commands are shown otherwise than they are written: FUNCTION:COMMAND:unlimited, or :count=N. */
static void add_command(struct buf *list, const char *line)
{
	const char *first = strchr(line, ':'), *last = strrchr(line, ':');
	bool counted = last && !strncmp(last, ":count=", 7);

	/* A module is shown behind the name, and not taken. */
	if (*line != '#' && last && (counted || !strcmp(last, ":unlimited")))
		buf_printf(list, "%.*s%.*s%s%s\n", (int)strcspn(line, " :"), line, (int)(last - first), first, counted ? ":" : "",
			   counted ? last + 7 : "");
}

static void add_commands(struct save *save, const struct scope *scope, struct buf *list)
{
	char *text = save_text(save, scope, "set_ftrace_filter"), *at;
	size_t len = text && !save->control ? strlen(text) : 0;

	for (char *line = text && save->control ? strtok_r(text, "\n", &at) : NULL; line; line = strtok_r(NULL, "\n", &at))
		add_command(list, line);
	/* A kernel shows the newest first. */
	while (len) {
		at = memrchr(text, '\n', len);
		add_command(list, at ? at + 1 : text);
		len = at ? (size_t)(at - text) : 0;
		text[len] = '\0';
	}
	free(text);
}

static void put_lists(struct save *save, const struct scope *scope)
{
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct buf text = BUF_INIT;

		if (!keep_read(save->source, scope, lists[i].file, KEEP_LIST, &text, NULL)) {
			if (!strcmp(lists[i].file, "set_ftrace_filter"))
				add_commands(save, scope, &text);
			save_put_lines(save, lists[i].key, text.data);
		}
		buf_fini(&text);
	}
}

static void put_options(struct save *save, const struct scope *scope)
{
	struct buf names = BUF_INIT, list = BUF_INIT;
	char path[SCOPE_PATH], file[128], line[128], other[80], *at;

	buf_puts(&list, "");
	if (source_list(save->source, scope_path(path, scope, "options"), &names, NULL))
		buf_reset(&names);
	for (char *name = names.data ? strtok_r(names.data, "\n", &at) : NULL; name; name = strtok_r(NULL, "\n", &at)) {
		char *text;

		snprintf(file, sizeof(file), "options/%.80s", name);
		text = save_text(save, scope, file);
		snprintf(line, sizeof(line), "%s%.80s", text && *text == '1' ? "" : "no", name);
		if (text && !defaults_option(line, other, sizeof(other)))
			buf_printf(&list, "%s\n", line);
		free(text);
	}
	save_put_lines(save, "options", list.data);
	buf_fini(&list);
	buf_fini(&names);
}

static void put_cpumask(struct save *save, const struct scope *scope)
{
	char *text = save_text(save, scope, "tracing_cpumask");
	struct buf mask = BUF_INIT;

	if (text && !defaults_cpumask(save->source, &mask) && strcmp(text, mask.data))
		save_put(save, "cpumask", "=", text);
	buf_fini(&mask);
	free(text);
}

static void put_cpu_sizes(struct save *save, const struct scope *scope)
{
	struct buf names = BUF_INIT;
	char path[SCOPE_PATH], file[128], key[128], *at;

	if (source_list(save->source, scope_path(path, scope, "per_cpu"), &names, NULL))
		buf_reset(&names);
	for (char *name = names.data ? strtok_r(names.data, "\n", &at) : NULL; name; name = strtok_r(NULL, "\n", &at)) {
		struct buf size = BUF_INIT;

		name[strcspn(name, "/")] = '\0';
		snprintf(file, sizeof(file), "per_cpu/%.60s/buffer_size_kb", name);
		snprintf(key, sizeof(key), "per_cpu.%.60s.buffer_size_kb", name);
		if (!keep_read(save->source, scope, file, KEEP_WORD, &size, NULL) && size.len)
			save_put(save, key, "=", size.data);
		buf_fini(&size);
	}
	buf_fini(&names);
}

/* As it was asked for when the buffer was made, or as many pages as that takes. */
static bool is_fresh_size(const char *text)
{
	uint64_t kb = strtoull(text, NULL, 10);

	return kb == CONTROL_SIZE_KB_DEFAULT ||
	       kb == control_kb_from_pages(control_pages_from_kb(CONTROL_SIZE_KB_DEFAULT, PAGE_SIZE_USUAL), PAGE_SIZE_USUAL);
}

static void put_size(struct save *save, const struct scope *scope)
{
	struct buf size = BUF_INIT;

	if (keep_read(save->source, scope, "buffer_size_kb", KEEP_WORD, &size, NULL) || !size.len) {
		buf_fini(&size);
		return;
	}
	if (*size.data == 'X') {
		put_cpu_sizes(save, scope);
	} else if (!is_fresh_size(size.data)) {
		buf_putc(&size, 'K');
		save_put(save, "buffer_size", "=", size.data);
	}
	buf_fini(&size);
}

static int see_freed(void *ctx, const void *bytes, size_t len)
{
	*(int *)ctx = memmem(bytes, len, "Snapshot is freed", 17) ? 1 : 0;
	return -ECANCELED;
}

static void put_snapshot(struct save *save, const struct scope *scope)
{
	char path[SCOPE_PATH];
	int freed = -1;

	source_pump(save->source, scope_path(path, scope, "snapshot"), see_freed, &freed, NULL);
	if (!freed)
		buf_printf(&save->out, "%salloc_snapshot\n", save->indent);
}

static void put_buffer(struct save *save, const struct scope *scope)
{
	char *on = save_text(save, scope, "tracing_on"), *tracer = save_text(save, scope, "current_tracer");

	if (on && *on == '0')
		save_put(save, "tracing_on", "=", "0");
	free(on);
	put_size(save, scope);
	put_words(save, scope);
	put_options(save, scope);
	put_cpumask(save, scope);
	put_lists(save, scope);
	put_snapshot(save, scope);
	save_put_events(save, scope);
	save_put_conditions(save, scope);
	if (tracer && *tracer && strcmp(tracer, "nop"))
		save_put(save, "tracer", "=", tracer);
	free(tracer);
}

/* A word of a key. */
static bool is_word(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")];
}

static void put_scope(struct save *save, const struct scope *scope)
{
	if (!scope->instance) {
		save->indent = "\t";
		save_put_dynamic(save);
		put_buffer(save, scope);
		return;
	}
	if (!is_word(scope->instance)) {
		cmd_say("the name of the instance '%s' can be no key: left out", scope->instance);
		save->untold = true;
		return;
	}
	buf_printf(&save->out, "\tinstance.%s {\n", scope->instance);
	save->indent = "\t\t";
	put_buffer(save, scope);
	buf_puts(&save->out, "\t}\n");
}

static void put_kernel(struct save *save)
{
	bool begun = false;

	save->indent = "\t";
	for (size_t i = 0; i < COUNT(sysctls); i++) {
		char path[128], text[64];
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), APPLY_SYSCTL "%s", sysctls[i].file);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		text[strcspn(text, "\n")] = '\0';
		if (!*text || !strcmp(text, sysctls[i].fresh))
			continue;
		buf_puts(&save->out, begun ? "" : "kernel {\n");
		begun = true;
		save_put(save, sysctls[i].key, "=", text);
	}
	buf_puts(&save->out, begun ? "}\n" : "");
}

static int fill(struct save *save, const struct opts *opts, struct err *err)
{
	bool named = opts_value(opts, "instance") || opts_value(opts, "top");
	int r = save->control ? control_refresh(save->control, err) : 0;

	if (!r)
		r = named ? scopes_choose(&save->scopes, opts, save->source, false, err) : scopes_all(&save->scopes, save->source, err);
	if (r)
		return r;
	if (save->control || source_exists(save->source, "available_events"))
		r = events_load(&save->events, save->source, err);
	buf_puts(&save->out, "ftrace {\n");
	for (int i = 0; !r && i < save->scopes.n; i++)
		put_scope(save, &save->scopes.scope[i]);
	buf_puts(&save->out, "}\n");
	if (!r && !named && opts_value(opts, "kernel"))
		put_kernel(save);
	if (!r && buf_failed(&save->out))
		r = err_set(err, -ENOMEM, "out of memory");
	events_fini(&save->events);
	scopes_fini(&save->scopes);
	return r;
}

static int run(const struct opts *opts)
{
	struct save save = { .out = BUF_INIT };
	struct err err = ERR_INIT;
	int r = cmd_open(&save.source, opts, false, &err);

	if (r)
		return cmd_fail(&err);
	save.control = source_control(save.source);
	r = fill(&save, opts, &err);
	if (!r)
		r = cmd_put(save.out.data, save.out.len, &err);
	buf_fini(&save.out);
	source_close(save.source);
	if (r)
		return cmd_fail(&err);
	return save.untold ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_save = {
	.name = "save",
	.synopsis = "[-B INSTANCE]... [-t]",
	.summary = "write what is set as a start-up profile",
	.text = "Writes everything that is not as in a fresh source to standard output: events, filters,\n"
		"triggers, probes, options, sizes, tracers, in the top buffer and all instances or in those\n"
		"that are named. `ringside apply` sets it again, in this source or another one.\n",
	.opts = save_opts,
	.run = run,
};
