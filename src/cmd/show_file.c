/*
 * cmd/show_file: see show_file.h. The names are trace-cmd's, and mostly the files'.
 */
#include "cmd/show_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/events.h"

static const struct named {
	const char *word;
	const char *file;	/* NULL: one of an event */
} named[] = {
	{ "hist", NULL }, { "trigger", NULL },
	{ "tracing_on", "tracing_on" }, { "current_tracer", "current_tracer" },
	{ "buffer_size", "buffer_size_kb" }, { "buffer_total_size", "buffer_total_size_kb" },
	{ "buffer_subbuf_size", "buffer_subbuf_size_kb" }, { "buffer_percent", "buffer_percent" },
	{ "ftrace_filter", "set_ftrace_filter" }, { "ftrace_notrace", "set_ftrace_notrace" }, { "ftrace_pid", "set_ftrace_pid" },
	{ "graph_function", "set_graph_function" }, { "graph_notrace", "set_graph_notrace" },
	{ "cpumask", "tracing_cpumask" }, { "max_latency", "tracing_max_latency" },
};

#define NNAMED (sizeof(named) / sizeof(named[0]))

int show_file_asked(const struct opts *opts)
{
	int n = 0;

	for (int i = 0; i < opts->nitems; i++)
		for (size_t k = 0; k < NNAMED; k++)
			n += scope_is(&opts->items[i], named[k].word);
	return n;
}

/* SYSTEM:EVENT, SYSTEM/EVENT, or EVENT alone if there is one of that name. */
static int find_event(const char *text, const char *word, struct source *source, char file[256], struct err *err)
{
	size_t len = strcspn(text, ":/"), found = 0;
	const char *name = text[len] ? text + len + 1 : text;
	struct events events = { 0 };
	int r = events_load(&events, source, err);

	for (size_t i = 0; !r && i < events.n; i++) {
		const struct events_item *item = &events.item[i];

		if (strcmp(item->name, name) || (text[len] && (strncmp(item->system, text, len) || item->system[len])))
			continue;
		snprintf(file, 256, "events/%.80s/%.80s/%s", item->system, item->name, word);
		found++;
	}
	events_fini(&events);
	if (!r && found != 1)
		r = err_set(err, found ? -EINVAL : -ENOENT, "--%s %.120s: there is %s event of that name%s", word, text,
			    found ? "more than one" : "no", found ? ": write SYSTEM:EVENT" : "");
	return r;
}

int show_file_path(const struct opts *opts, const struct scope *scope, struct source *source, char path[SCOPE_PATH], struct err *err)
{
	const struct named *asked = NULL;
	char file[256];
	int r = 0;

	for (size_t k = 0; k < NNAMED; k++)
		if (opts_value(opts, named[k].word))
			asked = &named[k];
	if (!asked)
		return err_set(err, -EINVAL, "no file is asked for");
	if (asked->file)
		snprintf(file, sizeof(file), "%s", asked->file);
	else
		r = find_event(opts_value(opts, asked->word), asked->word, source, file, err);
	if (!r && !scope_has(scope, source, file))
		r = err_set(err, -ENOENT, "--%s: there is no %.200s here", asked->word, file);
	if (!r)
		scope_path(path, scope, file);
	return r;
}
