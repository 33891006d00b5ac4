/*
 * cmd/reset: everything off, and settings as they are in a fresh source.
 *
 * A tracing directory as a whole is reset by control_reset(), which also heals a state that cannot be
 * read. Everything else is a list of files, each written only when it says something else than it
 * should, because not every source has all of them or lets all of them be written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/defaults.h"
#include "cmd/events.h"
#include "cmd/remotes.h"
#include "cmd/scope.h"
#include "cmd/setup.h"

static const struct opt reset_opts[] = {
	SCOPE_OPT,
	{ 'a', "all", NULL, "about every instance" },
	{ 't', "top", NULL, "about the top buffer, beside those of -B or -a" },
	{ 'd', "delete", NULL, "remove the instances instead" },
	{ 'b', "buffer-size", "KB", "size of the buffer for each CPU in KiB afterwards" },
	{ 'k', "keep", "KIND", "do not remove kprobe, kretprobe, uprobe, uretprobe, eprobe, synth events, or all; again for more" },
	{ 0, NULL, NULL, NULL },
};

/* What is written in order; those that the source does not have are left out. */
struct step {
	const char *file;
	const char *text;
	enum { ALWAYS, IF_OTHER, IF_ALLOWED } when;
	bool top;	/* of the whole source, so only with the top buffer */
};

/* Before events lose their conditions, and afterwards. */
static const struct step first_steps[] = {
	{ "tracing_on", "0", ALWAYS, false },
	{ "current_tracer", "nop", IF_OTHER, false },
	{ "events/enable", "0", IF_OTHER, false },
	{ "set_event", "", IF_OTHER, false },
	{ "set_event_pid", "", IF_OTHER, false },
	{ "set_event_notrace_pid", "", IF_OTHER, false },
	{ "set_ftrace_pid", "", IF_ALLOWED, false },
	{ "set_ftrace_notrace_pid", "", IF_ALLOWED, false },
	{ "set_ftrace_filter", "", IF_ALLOWED, false },
	{ "set_ftrace_notrace", "", IF_ALLOWED, false },
	{ "set_graph_function", "", IF_ALLOWED, false },
	{ "set_graph_notrace", "", IF_ALLOWED, false },
	{ "function_profile_enabled", "0", IF_OTHER, true },
	{ "stack_tracer_enabled", "0", IF_OTHER, true },
	{ "stack_trace_filter", "", IF_ALLOWED, true },
	{ "max_graph_depth", "0", IF_OTHER, true },
	{ "tracing_thresh", "0", IF_OTHER, true },
	{ NULL, NULL, ALWAYS, false },
}, last_steps[] = {
	{ "trace_clock", "local", IF_OTHER, false },
	{ "buffer_percent", "50", IF_OTHER, false },
	{ "buffer_subbuf_size_kb", "4", IF_OTHER, false },
	{ "snapshot", "0", IF_ALLOWED, false },
	{ "error_log", "", IF_OTHER, false },
	{ "trace", "", ALWAYS, false },
	{ NULL, NULL, ALWAYS, false },
};

struct reset {
	struct source *source;
	struct scopes scopes;
	struct events events;
	struct err err;
	const char *size;	/* NULL: stays */
	bool delete;
	unsigned int keep;	/* kinds of dynamic events, as bits of their place in kinds[] */
};

/* How an event that was defined begins, and whether it is in a file. */
static const struct kind {
	const char *word;
	char letter;
	bool user;
} kinds[] = {
	{ "kprobe", 'p', false }, { "kretprobe", 'r', false }, { "uprobe", 'p', true }, { "uretprobe", 'r', true },
	{ "eprobe", 'e', false }, { "synth", 's', false },
};

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

/* TYPE[NUMBER]:SYSTEM/EVENT WHERE...: is it one of those that stay? */
static bool is_kept(const struct reset *reset, const char *line)
{
	const char *where = strchr(line, ' ');
	bool user = where && where[1] == '/';

	if (reset->keep == ~0u)
		return true;
	for (size_t i = 0; i < NKINDS; i++)
		if (reset->keep & 1u << i && kinds[i].letter == *line && kinds[i].user == user)
			return true;
	return false;
}

/* Does the file say that already? */
static bool says(struct reset *reset, const struct scope *scope, const char *file, const char *text)
{
	struct buf now = BUF_INIT;
	bool same = false;
	char marked[64];

	snprintf(marked, sizeof(marked), "[%s]", text);
	if (!scope_read(scope, reset->source, file, &now, NULL)) {
		const char *data = now.data ? now.data : "";
		size_t len = strcspn(data, "\n");

		same = (len == strlen(text) && !memcmp(data, text, len)) || strstr(data, marked);
	}
	buf_fini(&now);
	return same;
}

static int take_step(struct reset *reset, const struct scope *scope, const struct step *step)
{
	int r;

	if ((step->top && scope->instance) || !scope_has(scope, reset->source, step->file) ||
	    (step->when != ALWAYS && says(reset, scope, step->file, step->text)))
		return 0;
	r = scope_write(scope, reset->source, step->file, step->text, false,
			step->when == IF_ALLOWED ? NULL : &reset->err);
	return step->when == IF_ALLOWED ? 0 : r;
}

static int take_steps(struct reset *reset, const struct scope *scope, const struct step *steps)
{
	int r = 0;

	for (const struct step *step = steps; !r && step->file; step++)
		r = take_step(reset, scope, step);
	return r;
}

/*
 * Events that were defined, the newest first: TYPE:SYSTEM/EVENT, and more behind a blank. Several lines may be of one. How many
 * are gone, and *left: how many are not.
 */
static size_t drop_dynamic(struct reset *reset, char *text, size_t *left, struct err *err)
{
	size_t gone = 0, len = strlen(text);
	char undo[256];

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	*left = 0;
	for (char *line; *text; *line = '\0') {
		char *last = strrchr(text, '\n'), *name;

		line = last ? last : text;
		name = strchr(line, ':');
		if (!name || is_kept(reset, line + (*line == '\n')))
			continue;
		snprintf(undo, sizeof(undo), "-%.*s", (int)strcspn(name, " \t"), name);
		if (source_write(reset->source, "dynamic_events", undo, strlen(undo), true, err))
			++*left;
		else
			gone++;
	}
	return gone;
}

/* One that another sits on, or that a histogram sends, is refused as long as that is there: all are tried until none goes any more. */
static int drop_all_dynamic(struct reset *reset, const struct scope *scope)
{
	struct err refused = ERR_INIT;
	size_t gone = 1, left = 0;

	if (scope->instance || !source_exists(reset->source, "dynamic_events"))
		return 0;
	do {
		struct buf text = BUF_INIT;

		refused = (struct err)ERR_INIT;
		left = 0;
		if (source_read(reset->source, "dynamic_events", &text, NULL) || !text.data)
			gone = 0;
		else
			gone = drop_dynamic(reset, text.data, &left, &refused);
		buf_fini(&text);
	} while (gone && left);
	return left ? err_set(&reset->err, refused.code, "%s", refused.text) : 0;
}

static int reset_conditions(struct reset *reset, const struct scope *scope)
{
	char buffer[SCOPE_PATH];
	int r;

	snprintf(buffer, sizeof(buffer), "%s%s%s", scope->instance ? "instances/" : "", scope->instance ? scope->instance : "",
		 scope->instance ? "/" : "");
	r = source_drop_triggers(reset->source, buffer, NULL, &reset->err);

	for (size_t i = 0; !r && i < reset->events.n; i++) {
		const struct events_item *item = &reset->events.item[i];
		char file[256];

		snprintf(file, sizeof(file), "events/%.80s/%.80s/filter", item->system, item->name);
		if (scope_has(scope, reset->source, file) && !says(reset, scope, file, "none"))
			r = scope_write(scope, reset->source, file, "0", false, &reset->err);
	}
	return r ? r : drop_all_dynamic(reset, scope);
}

/* What functions set off, which stays in the file when that is emptied: FUNCTION:COMMAND:unlimited, or :count=N. */
static void drop_commands(struct reset *reset, const struct scope *scope)
{
	struct buf text = BUF_INIT;
	char *save, *line;

	if (scope_read(scope, reset->source, "set_ftrace_filter", &text, NULL) || !text.data) {
		buf_fini(&text);
		return;
	}
	for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *command = strchr(line, ':'), *last = strrchr(line, ':'), undo[256];

		if (!command || last == command || (strcmp(last, ":unlimited") && strncmp(last, ":count=", 7)))
			continue;
		snprintf(undo, sizeof(undo), "!*%.*s%s", (int)(last - command), command, last[1] == 'c' ? ":0" : "");
		/* The first of them takes all that are like it: the others find nothing. */
		(void)scope_write(scope, reset->source, "set_ftrace_filter", undo, true, NULL);
	}
	buf_fini(&text);
}

/* Those of tracers that are not chosen have a file, but no word. */
static int reset_option_files(struct reset *reset, const struct scope *scope)
{
	struct buf names = BUF_INIT;
	char path[SCOPE_PATH], file[128], line[128], other[80], *save, *name;
	int r = 0;

	if (source_list(reset->source, scope_path(path, scope, "options"), &names, NULL) || !names.data) {
		buf_fini(&names);
		return 0;
	}
	for (name = strtok_r(names.data, "\n", &save); !r && name; name = strtok_r(NULL, "\n", &save)) {
		bool on;

		snprintf(file, sizeof(file), "options/%.80s", name);
		on = says(reset, scope, file, "1");
		snprintf(line, sizeof(line), "%s%.80s", on ? "" : "no", name);
		if (!defaults_option(line, other, sizeof(other)))
			r = scope_write(scope, reset->source, file, on ? "0" : "1", false, &reset->err);
	}
	buf_fini(&names);
	return r;
}

static int reset_options(struct reset *reset, const struct scope *scope)
{
	struct buf text = BUF_INIT;
	char *save, *line;
	int r = 0;

	if (scope_read(scope, reset->source, "trace_options", &text, NULL) || !text.data) {
		buf_fini(&text);
		return 0;
	}
	for (line = strtok_r(text.data, "\n", &save); !r && line; line = strtok_r(NULL, "\n", &save)) {
		char other[80];

		if (defaults_option(line, other, sizeof(other)))
			continue;
		r = scope_write(scope, reset->source, "trace_options", other, false, &reset->err);
	}
	buf_fini(&text);
	return r ? r : reset_option_files(reset, scope);
}

static int reset_cpumask(struct reset *reset, const struct scope *scope)
{
	struct buf mask = BUF_INIT;
	int r = 0;

	if (scope_has(scope, reset->source, "tracing_cpumask") &&
	    !defaults_cpumask(reset->source, &mask) &&
	    !says(reset, scope, "tracing_cpumask", mask.data))
		r = scope_write(scope, reset->source, "tracing_cpumask", mask.data, false, &reset->err);
	buf_fini(&mask);
	return r;
}

static int reset_buffer(struct reset *reset, const struct scope *scope)
{
	int r = take_steps(reset, scope, first_steps);

	if (!r)
		drop_commands(reset, scope);
	if (!r)
		r = reset_conditions(reset, scope);
	if (!r)
		r = take_steps(reset, scope, last_steps);
	if (!r)
		r = reset_options(reset, scope);
	if (!r)
		r = reset_cpumask(reset, scope);
	if (!r && reset->size)
		r = scope_write(scope, reset->source, "buffer_size_kb", reset->size, false, &reset->err);
	if (!r)
		r = scope_write(scope, reset->source, "tracing_on", "1", false, &reset->err);
	return r;
}

static int reset_one(struct reset *reset, const struct scope *scope)
{
	char path[SCOPE_PATH];

	if (!scope->instance || !reset->delete)
		return reset_buffer(reset, scope);
	return source_rmdir(reset->source, scope_path(path, scope, ""), &reset->err);
}

/* All of a tracing directory. Its instances come back as new ones. */
static int reset_directory(struct reset *reset)
{
	char path[SCOPE_PATH];
	int r, stays;

	r = control_reset(source_control(reset->source), &reset->err);
	stays = r ? 0 : remotes_reset(source_control(reset->source), &reset->err);
	for (int i = 0; !r && !reset->delete && i < reset->scopes.n; i++)
		if (reset->scopes.scope[i].instance)
			r = source_mkdir(reset->source, scope_path(path, &reset->scopes.scope[i], ""),
					 &reset->err);
	for (int i = 0; !r && reset->size && i < (reset->delete ? 1 : reset->scopes.n); i++)
		r = scope_write(&reset->scopes.scope[i], reset->source, "buffer_size_kb", reset->size,
				false, &reset->err);
	return r ? r : stays;
}

static int reset_files(struct reset *reset)
{
	int r = 0;

	/* A tree that does not list its events has no conditions of theirs. */
	if (source_exists(reset->source, "available_events"))
		r = events_load(&reset->events, reset->source, &reset->err);
	/* The top buffer last: what there is of its own, instances may use. */
	for (int i = reset->scopes.n; !r && i-- > 0;)
		r = reset_one(reset, &reset->scopes.scope[i]);
	events_fini(&reset->events);
	return r;
}

/* Every -k of the line. NULL, or the one that is none. */
static const char *take_kept(struct reset *reset, const struct opts *opts)
{
	for (int i = 0; i < opts->nitems; i++) {
		const char *word = opts->items[i].value;
		size_t k = 0;

		if (!scope_is(&opts->items[i], "keep"))
			continue;
		while (k < NKINDS && strcmp(kinds[k].word, word))
			k++;
		if (k == NKINDS && strcmp(word, "all"))
			return word;
		reset->keep |= k == NKINDS ? ~0u : 1u << k;
	}
	return NULL;
}

static int run(const struct opts *opts)
{
	const char *wrong;
	struct reset reset = { .err = ERR_INIT, .size = opts_value(opts, "buffer-size"),
			       .delete = opts_value(opts, "delete") };
	bool named = opts_value(opts, "instance") || opts_value(opts, "all") || opts_value(opts, "top");
	int r;

	if (reset.size && (strspn(reset.size, "0123456789") != strlen(reset.size) ||
			   !strtoull(reset.size, NULL, 10)))
		return cmd_misuse(&cmd_reset, "reset: -b %s: a number of KiB is needed", reset.size);
	wrong = take_kept(&reset, opts);
	if (wrong)
		return cmd_misuse(&cmd_reset, "reset: -k '%s': there are kprobe, kretprobe, uprobe, uretprobe, eprobe, synth and all", wrong);
	r = cmd_open(&reset.source, opts, false, &reset.err);
	if (r)
		return cmd_fail(&reset.err);
	/* What recorders that were killed have left: they bring back what was there before them. */
	if (!source_control(reset.source))
		setup_sweep(reset.source, NULL);
	if (named)
		r = scopes_choose(&reset.scopes, opts, reset.source, false, &reset.err);
	else
		r = scopes_all(&reset.scopes, reset.source, &reset.err);
	if (!r) {
		r = !named && !reset.keep && source_control(reset.source) ? reset_directory(&reset)
							   : reset_files(&reset);
		scopes_fini(&reset.scopes);
	}
	source_close(reset.source);
	return r ? cmd_fail(&reset.err) : CMD_DONE;
}

const struct cmd cmd_reset = {
	.name = "reset",
	.synopsis = "[-B INSTANCE]... [-a] [-t] [-d] [-b KB] [-k KIND]...",
	.summary = "switch everything off and forget it",
	.text = "Switches everything off, throws away what was recorded and brings all settings back to\n"
		"their defaults, in the top buffer and in all instances, or in those that -B, -a and -t\n"
		"name. A tracing directory as a whole is then as it was when it was made, but for the\n"
		"events that programs brought and the names of instances; its memory is given back.\n"
		"Also gets rid of a state that cannot be read.\n",
	.opts = reset_opts,
	.run = run,
};
