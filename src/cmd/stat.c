/*
 * cmd/stat: one page on a source: everything that is not as in a fresh one, who is attached, what it
 * takes, what was lost.
 *
 * In: files of the tree, whichever the source has. Out: text; what is as always is left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/attached.h"
#include "cmd/cmd.h"
#include "cmd/defaults.h"
#include "cmd/events.h"
#include "cmd/pager.h"
#include "cmd/remotes.h"
#include "cmd/scope.h"

static const struct opt stat_opts[] = {
	SCOPE_OPT,
	{ 't', "top", NULL, "about the top buffer, beside those of -B" },
	{ 0, NULL, NULL, NULL },
};

/* Files of one value that is told when it is another than in a fresh source. */
static const struct value {
	const char *file;
	const char *title;
	const char *fresh;
} values[] = {
	{ "current_tracer", "Tracer", "nop" },
	{ "buffer_subbuf_size_kb", "Page size in kilobytes", "4" },
	{ "buffer_percent", "Buffer percent", "50" },
	{ "tracing_thresh", "Threshold in microseconds", "0" },
	{ "max_graph_depth", "Graph depth", "0" },
	{ "function_profile_enabled", "Function profile", "0" },
	{ "stack_tracer_enabled", "Stack tracer", "0" },
};

/* Files of many lines, in a fresh source of none; # begins a line that says so. */
static const struct value lists[] = {
	{ "set_event_pid", "Threads whose events are taken", "" },
	{ "set_event_notrace_pid", "Threads whose events are not taken", "" },
	{ "set_ftrace_filter", "Functions", "" },
	{ "set_ftrace_notrace", "Functions not traced", "" },
	{ "set_ftrace_pid", "Threads whose functions are traced", "no pid" },
	{ "set_ftrace_notrace_pid", "Threads whose functions are not traced", "no pid" },
	{ "set_graph_function", "Graph functions", "" },
	{ "set_graph_notrace", "Graph functions not traced", "" },
	{ "stack_trace_filter", "Functions where stacks are looked at", "" },
	{ "dynamic_events", "Dynamic events", "" },
};

struct page {
	struct source *source;
	struct scopes scopes;
	struct events events;
	struct buf out;
	struct err err;
};

/* A file's text without its last newline, or NULL when there is none; yours to free. */
static char *text_of(struct page *page, const struct scope *scope, const char *file)
{
	struct buf text = BUF_INIT;

	/* One that cannot be read, here and now or at all, has nothing to tell. */
	if (scope_read(scope, page->source, file, &text, NULL)) {
		buf_fini(&text);
		return NULL;
	}
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (!text.data)
		buf_puts(&text, "");
	return buf_take(&text);
}

static void put_values(struct page *page, const struct scope *scope)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *text = text_of(page, scope, values[i].file);

		if (text && *text && strcmp(text, values[i].fresh))
			buf_printf(&page->out, "%s: %s\n", values[i].title, text);
		free(text);
	}
}

/* The title before the first line only. */
static void put_line(struct page *page, const char *title, bool *begun, const char *line)
{
	if (!*begun)
		buf_printf(&page->out, "%s:\n", title);
	*begun = true;
	buf_printf(&page->out, "    %s\n", line);
}

static void put_lists(struct page *page, const struct scope *scope)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char *text = text_of(page, scope, lists[i].file), *save;
		bool begun = false;

		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
		     line = strtok_r(NULL, "\n", &save))
			if (*line != '#' && strcmp(line, lists[i].fresh))
				put_line(page, lists[i].title, &begun, line);
		free(text);
	}
}

static void put_clock(struct page *page, const struct scope *scope)
{
	char *text = text_of(page, scope, "trace_clock");
	char *open = text ? strchr(text, '[') : NULL, *close = open ? strchr(open, ']') : NULL;

	if (close) {
		*close = '\0';
		if (strcmp(open + 1, "local"))
			buf_printf(&page->out, "Clock: %s\n", open + 1);
	}
	free(text);
}

static void put_options(struct page *page, const struct scope *scope)
{
	char *text = text_of(page, scope, "trace_options"), *save, other[80];
	bool begun = false;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		if (!defaults_option(line, other, sizeof(other)))
			put_line(page, "Options", &begun, line);
	free(text);
}

static void put_cpumask(struct page *page, const struct scope *scope)
{
	char *text = text_of(page, scope, "tracing_cpumask");
	struct buf mask = BUF_INIT;

	if (text && !defaults_cpumask(page->source, &mask) && strcmp(text, mask.data))
		buf_printf(&page->out, "CPUs that are traced: %s\n", text);
	buf_fini(&mask);
	free(text);
}

static int line_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Cuts a text into its lines, sorted; returns how many. */
static size_t cut_lines(char *text, char ***lines)
{
	size_t n = 0, cap = 1;
	char *save;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		cap++;
	*lines = calloc(cap, sizeof(**lines));
	for (char *line = *lines ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		(*lines)[n++] = line;
	if (n)
		qsort(*lines, n, sizeof(**lines), line_compare);
	return n;
}

static size_t events_of(const struct page *page, const char *system, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < page->events.n; i++)
		n += strlen(page->events.item[i].system) == len &&
		     !memcmp(page->events.item[i].system, system, len);
	return n;
}

/* What set_event says; a system all of which is on is one line. */
static void put_events(struct page *page, const struct scope *scope)
{
	char *text = text_of(page, scope, "set_event"), **lines = NULL;
	size_t n = text ? cut_lines(text, &lines) : 0, same;
	bool begun = false;

	for (size_t i = 0; i < n; i += same) {
		size_t len = strcspn(lines[i], ":");
		char whole[160];

		for (same = 1; i + same < n && !strncmp(lines[i], lines[i + same], len + 1);)
			same++;
		if (same > 1 && same == events_of(page, lines[i], len)) {
			snprintf(whole, sizeof(whole), "%.*s (all %zu)", (int)len, lines[i], same);
			put_line(page, "Events", &begun, whole);
			continue;
		}
		for (size_t j = i; j < i + same; j++)
			put_line(page, "Events", &begun, lines[j]);
	}
	free(lines);
	free(text);
}

/* Enables are patterns in a tracing directory: also those that no event matches yet. */
static void put_patterns(struct page *page, const struct scope *scope)
{
	struct control *control = source_control(page->source);
	bool begun = false;
	int index;

	if (!control)
		return;
	index = control_state_buffer(&control->state, scope->instance ? scope->instance : "");
	for (uint32_t i = 0; i < control->state.nrules; i++) {
		const struct state_rule *rule = &control->state.rules[i];
		char line[160];

		if (rule->buffer != index)
			continue;
		snprintf(line, sizeof(line), "%s:%s %s", rule->system, rule->event,
			 rule->on ? "on" : "off");
		put_line(page, "Patterns, also for programs to come", &begun, line);
	}
}

/* Filters or triggers: what each event has of them. */
static void put_conditions(struct page *page, const struct scope *scope, const char *file,
			   const char *title)
{
	bool begun = false;

	for (size_t i = 0; i < page->events.n; i++) {
		const struct events_item *item = &page->events.item[i];
		struct buf line = BUF_INIT;
		char path[256], *text, *save;

		snprintf(path, sizeof(path), "events/%.80s/%.80s/%s", item->system, item->name, file);
		/* Events of one source are alike: none has what the first has not. */
		if (!i && !scope_has(scope, page->source, path))
			return;
		text = text_of(page, scope, path);
		for (char *at = text ? strtok_r(text, "\n", &save) : NULL; at;
		     at = strtok_r(NULL, "\n", &save)) {
			if (*at == '#' || !strcmp(at, "none"))
				continue;
			buf_reset(&line);
			buf_printf(&line, "%s:%s %s", item->system, item->name, at);
			put_line(page, title, &begun, line.data ? line.data : at);
		}
		buf_fini(&line);
		free(text);
	}
}

static uint64_t number_behind(const char *text, const char *title)
{
	const char *at = strstr(text, title);

	/* "overrun:" is also the end of "commit overrun:", which comes later. */
	return at ? strtoull(at + strlen(title), NULL, 10) : 0;
}

static void put_losses(struct page *page, const struct scope *scope)
{
	struct buf names = BUF_INIT;
	char path[SCOPE_PATH], *save;
	bool begun = false;

	if (source_list(page->source, scope_path(path, scope, "per_cpu"), &names, NULL))
		buf_reset(&names);
	for (char *name = names.data ? strtok_r(names.data, "\n", &save) : NULL; name;
	     name = strtok_r(NULL, "\n", &save)) {
		char file[128], line[160], *text;
		uint64_t over, drop;

		name[strcspn(name, "/")] = '\0';
		snprintf(file, sizeof(file), "per_cpu/%.60s/stats", name);
		text = text_of(page, scope, file);
		over = text ? number_behind(text, "overrun:") : 0;
		drop = text ? number_behind(text, "dropped events:") +
			      number_behind(text, "commit overrun:") : 0;
		snprintf(line, sizeof(line), "%s: %" PRIu64 " overwritten, %" PRIu64 " dropped", name,
			 over, drop);
		if (over || drop)
			put_line(page, "Lost events", &begun, line);
		free(text);
	}
	buf_fini(&names);
}

static void put_sizes(struct page *page, const struct scope *scope)
{
	char *size = text_of(page, scope, "buffer_size_kb");
	char *total = text_of(page, scope, "buffer_total_size_kb");

	if (size && *size)
		buf_printf(&page->out, "Buffer size in kilobytes (per cpu): %s\n", size);
	if (total && *total)
		buf_printf(&page->out, "Buffer total size in kilobytes: %s\n", total);
	free(size);
	free(total);
}

static void put_buffer(struct page *page, const struct scope *scope)
{
	char *on = text_of(page, scope, "tracing_on");

	if (scope->instance)
		buf_printf(&page->out, "%sInstance: %s\n", page->out.len ? "\n" : "",
			   scope->instance);
	if (on && *on)
		buf_printf(&page->out, "Tracing is %s\n", *on == '0' ? "disabled" : "enabled");
	free(on);
	put_values(page, scope);
	put_clock(page, scope);
	put_events(page, scope);
	put_patterns(page, scope);
	put_conditions(page, scope, "filter", "Filters");
	put_conditions(page, scope, "trigger", "Triggers");
	put_options(page, scope);
	put_cpumask(page, scope);
	put_lists(page, scope);
	put_sizes(page, scope);
	put_losses(page, scope);
}

static void put_names(struct page *page, const char *title, struct buf *names)
{
	char *save;
	bool begun = false;

	for (char *name = names->data ? strtok_r(names->data, "\n", &save) : NULL; name; name = strtok_r(NULL, "\n", &save))
		put_line(page, title, &begun, name);
	buf_fini(names);
}

static void put_remotes(struct page *page, struct control *control)
{
	struct buf on = BUF_INIT, wrong = BUF_INIT;

	remotes_put(control, &on, &wrong);
	put_names(page, "Remotes that are on", &on);
	put_names(page, "Remotes that cannot be read", &wrong);
}

/* What only a tracing directory has: who writes into it, and what it takes of the machine's memory. */
static int put_directory(struct page *page)
{
	struct control *control = source_control(page->source);
	struct buf programs = BUF_INIT;
	uint64_t blocks = 0;
	int r;

	for (int i = 0; i < SEGMENT_KINDS; i++) {
		struct stat st;

		if (!fstat(control->dir.fd[i], &st))
			blocks += (uint64_t)st.st_blocks;
	}
	buf_printf(&page->out, "Memory in use: %" PRIu64 " KiB\n", blocks / 2);
	r = attached_put(&programs, control, &page->err);
	if (!r)
		buf_printf(&page->out, "Attached programs:%s\n%s", programs.len ? "" : " none",
			   programs.len ? programs.data : "");
	buf_fini(&programs);
	put_remotes(page, control);
	return r;
}

static int fill(struct page *page, const struct opts *opts)
{
	bool named = opts_value(opts, "instance") || opts_value(opts, "top");
	struct control *control = source_control(page->source);
	int r = 0;

	if (control)
		r = control_refresh(control, &page->err);
	if (!r)
		r = named ? scopes_choose(&page->scopes, opts, page->source, false, &page->err)
			  : scopes_all(&page->scopes, page->source, &page->err);
	if (r)
		return r;
	if (control || source_exists(page->source, "available_events"))
		r = events_load(&page->events, page->source, &page->err);
	if (!r && !named)
		buf_printf(&page->out, "%s: %s\n", control ? "Tracing directory" : "Tracing tree",
			   source_name(page->source));
	if (!r && !named && control)
		r = put_directory(page);
	for (int i = 0; !r && i < page->scopes.n; i++)
		put_buffer(page, &page->scopes.scope[i]);
	events_fini(&page->events);
	scopes_fini(&page->scopes);
	return r;
}

static int run(const struct opts *opts)
{
	struct page page = { .out = BUF_INIT, .err = ERR_INIT };
	int r;

	r = cmd_open(&page.source, opts, false, &page.err);
	if (r)
		return cmd_fail(&page.err);
	r = fill(&page, opts);
	if (!r)
		r = pager_show(opts, &page.out, &page.err);
	buf_fini(&page.out);
	source_close(page.source);
	return r ? cmd_fail(&page.err) : CMD_DONE;
}

const struct cmd cmd_stat = {
	.name = "stat",
	.synopsis = "[-B INSTANCE]... [-t]",
	.summary = "tell what is set, who is attached, what was lost",
	.text = "Tells in one page whether recording is on, everything that is not as in a fresh\n"
		"source, the size of the buffers and what was lost, for the top buffer and all\n"
		"instances or for those that are named; of a tracing directory also the memory in use\n"
		"and the programs that are attached, and the remotes that are on or cannot be read.\n",
	.opts = stat_opts,
	.run = run,
};
