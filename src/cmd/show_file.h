/*
 * cmd/show_file: `show` about one file of a buffer, instead of what was recorded.
 */
#ifndef CMD_SHOW_FILE_H
#define CMD_SHOW_FILE_H

#include "base/err.h"
#include "cmd/opts.h"
#include "cmd/scope.h"

#define SHOW_FILE_OPTS                                                                                 \
	{ 0, "hist", "EVENT", "the histograms of this event instead" },                                \
	{ 0, "trigger", "EVENT", "its triggers instead" },                                             \
	{ 0, "tracing_on", NULL, "whether it records; as all that follow, what one file says" },       \
	{ 0, "current_tracer", NULL, "the tracer" },                                                   \
	{ 0, "buffer_size", NULL, "the size of the buffer for each CPU in KiB" },                      \
	{ 0, "buffer_total_size", NULL, "that of all CPUs together" },                                 \
	{ 0, "buffer_subbuf_size", NULL, "the size of its pages in KiB" },                             \
	{ 0, "buffer_percent", NULL, "how full it is when readers are woken" },                        \
	{ 0, "ftrace_filter", NULL, "functions that are traced" },                                     \
	{ 0, "ftrace_notrace", NULL, "functions that are not" },                                       \
	{ 0, "ftrace_pid", NULL, "threads whose functions are traced" },                               \
	{ 0, "graph_function", NULL, "functions that graphs begin with" },                             \
	{ 0, "graph_notrace", NULL, "functions that graphs leave out" },                               \
	{ 0, "cpumask", NULL, "CPUs that are traced" },                                                \
	{ 0, "max_latency", NULL, "the longest latency that was seen" }

/* How many of them the line has. */
int show_file_asked(const struct opts *opts);

/* The path of the file that it asks for. */
int show_file_path(const struct opts *opts, const struct scope *scope, struct source *source, char path[SCOPE_PATH], struct err *err);

#endif
