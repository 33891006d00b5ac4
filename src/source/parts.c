/*
 * source/parts: see parts.h.
 */
#include "source/parts.h"

#include <errno.h>
#include <string.h>

static const struct source_part parts[] = {
	{ "events", "events", "events", NULL, "CONFIG_EVENT_TRACING", "record, start, stream -e" },
	{ "syscalls", "events of system calls", "events/syscalls", NULL, "CONFIG_FTRACE_SYSCALLS", "-e syscalls, -e raw_syscalls" },
	{ "hist", "histograms", "EVENT/hist", NULL, "CONFIG_HIST_TRIGGERS", "hist, latency, sqlhist" },
	{ "synthetic", "synthetic events", "synthetic_events", NULL, "CONFIG_SYNTH_EVENTS", "latency, sqlhist with a JOIN" },
	{ "kprobes", "probes in the kernel", "kprobe_events", NULL, "CONFIG_KPROBE_EVENTS", "probe" },
	{ "uprobes", "probes in programs", "uprobe_events", NULL, "CONFIG_UPROBE_EVENTS", "probe -x" },
	{ "snapshot", "snapshots", "snapshot", NULL, "CONFIG_TRACER_SNAPSHOT", "snapshot, extract -s" },
	{ "function", "the function tracer", "set_ftrace_filter", "function", "CONFIG_FUNCTION_TRACER", "-p function, -l, -n, list -f" },
	{ "graph", "the graph tracer", "set_graph_function", "function_graph", "CONFIG_FUNCTION_GRAPH_TRACER", "-p function_graph, -g" },
	{ "profile", "the function profile", "function_profile_enabled", NULL, "CONFIG_FUNCTION_PROFILER", "profile" },
	{ "stack", "the stack tracer", "stack_trace", NULL, "CONFIG_STACK_TRACER", "stack" },
	{ "blk", "the block tracer", NULL, "blk", "CONFIG_BLK_DEV_IO_TRACE", "-p blk" },
	{ "wakeup", "wakeup latencies", NULL, "wakeup", "CONFIG_SCHED_TRACER", "-p wakeup" },
	{ "irqsoff", "latencies with interrupts off", NULL, "irqsoff", "CONFIG_IRQSOFF_TRACER", "-p irqsoff" },
	{ "osnoise", "operating system noise", NULL, "osnoise", "CONFIG_OSNOISE_TRACER", "-p osnoise" },
	{ "timerlat", "timer latencies", NULL, "timerlat", "CONFIG_TIMERLAT_TRACER", "-p timerlat" },
};

/* Files that come with one of those. */
static const struct {
	const char *file;
	const char *config;
} others[] = {
	{ "stack_max_size", "CONFIG_STACK_TRACER" },
	{ "stack_trace_filter", "CONFIG_STACK_TRACER" },
	{ "stack_tracer_enabled", "CONFIG_STACK_TRACER" },
	{ "trace_stat", "CONFIG_FUNCTION_PROFILER" },
	{ "set_ftrace_filter", "CONFIG_DYNAMIC_FTRACE" },
	{ "set_ftrace_notrace", "CONFIG_DYNAMIC_FTRACE" },
	{ "available_filter_functions", "CONFIG_DYNAMIC_FTRACE" },
	{ "set_ftrace_pid", "CONFIG_FUNCTION_TRACER" },
	{ "set_graph_function", "CONFIG_FUNCTION_GRAPH_TRACER" },
	{ "set_graph_notrace", "CONFIG_FUNCTION_GRAPH_TRACER" },
	{ "max_graph_depth", "CONFIG_FUNCTION_GRAPH_TRACER" },
	{ "snapshot_raw", "CONFIG_TRACER_SNAPSHOT" },
};

#define NPARTS (sizeof(parts) / sizeof(parts[0]))

const struct source_part *source_part_at(size_t i)
{
	return i < NPARTS ? &parts[i] : NULL;
}

/* Does one of the words say just that? */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (; *words; words += strcspn(words, " \n"), words += strspn(words, " \n"))
		if (strcspn(words, " \n") == len && !memcmp(words, word, len))
			return true;
	return false;
}

/* The directory of an event: the first that has a trigger, since ftrace's own have none. */
static bool any_event_has(struct source *source, const char *file)
{
	struct buf systems = BUF_INIT, events = BUF_INIT, path = BUF_INIT;
	char *save = NULL, *more = NULL;
	bool seen = false, has = false;

	source_list(source, "events", &systems, NULL);
	for (char *system = systems.data ? strtok_r(systems.data, "\n", &save) : NULL; system && !seen;
	     system = strtok_r(NULL, "\n", &save)) {
		buf_reset(&events);
		buf_reset(&path);
		buf_printf(&path, "events/%s", system);
		if (!strchr(system, '/') || buf_failed(&path) || source_list(source, path.data, &events, NULL) || !events.data)
			continue;
		for (char *event = strtok_r(events.data, "\n", &more); event && !seen; event = strtok_r(NULL, "\n", &more)) {
			buf_reset(&path);
			buf_printf(&path, "events/%s%strigger", system, event);
			seen = strchr(event, '/') && !buf_failed(&path) && source_exists(source, path.data);
			buf_reset(&path);
			buf_printf(&path, "events/%s%s%s", system, event, file);
			has = seen && !buf_failed(&path) && source_exists(source, path.data);
		}
	}
	buf_fini(&systems);
	buf_fini(&events);
	buf_fini(&path);
	return has;
}

/* Opened, and no more. */
static int try_file(struct source *source, const char *file)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	int r = 0;

	if (!source_exists(source, file))
		r = -ENOENT;
	else if (source_list(source, file, &text, NULL))
		r = source_read(source, file, &text, &err);
	buf_fini(&text);
	return r;
}

int source_part_try(struct source *source, const struct source_part *part)
{
	struct buf text = BUF_INIT;
	bool known = true;

	if (part->file && !strncmp(part->file, "EVENT/", 6))
		return any_event_has(source, part->file + 6) ? 0 : -ENOENT;
	if (part->tracer)
		known = !source_read(source, "available_tracers", &text, NULL) && text.data && has_word(text.data, part->tracer);
	buf_fini(&text);
	return !known ? -ENOENT : part->file ? try_file(source, part->file) : 0;
}

/* Is it one of the names that the path goes through? */
static bool goes_through(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (; *path; path += strcspn(path, "/"), path += strspn(path, "/"))
		if (strcspn(path, "/") == len && !memcmp(path, name, len))
			return true;
	return false;
}

const char *source_part_config(const char *path)
{
	for (size_t i = 0; i < NPARTS; i++) {
		const char *name = parts[i].file ? strrchr(parts[i].file, '/') : NULL;

		name = name ? name + 1 : parts[i].file;
		if (name && !parts[i].tracer && strcmp(name, "events") && goes_through(path, name))
			return parts[i].config;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (goes_through(path, others[i].file))
			return others[i].config;
	return NULL;
}
