/*
 * cmd/trace_show: records of calls' beginnings, arguments and ends, in the order of each thread, put together: a line each, or counts.
 *
 * Where a handler runs in a call its own calls come between (trace_open.h). A call is a line when it has ended; if something else
 * of its thread is shown before that, its line is in two parts. Only a handler's return is shown behind the call that it returns to.
 */
#ifndef CMD_TRACE_SHOW_H
#define CMD_TRACE_SHOW_H

#include "base/map.h"
#include "cmd/trace_count.h"
#include "cmd/trace_lines.h"

struct trace_show {
	struct map threads;		/* struct trace_open by tid */
	const char *list;		/* of calls that are meant; NULL: all */
	struct trace_counts *counts;	/* NULL: lines are wanted */
	struct trace_lines lines;
};

#define TRACE_SHOW_INIT { .threads = MAP_INIT, .lines = { .out = BUF_INIT } }

/* A number and its arguments. 0 or -ENOMEM, as the next ones. */
int trace_show_enter(struct trace_show *show, int32_t tid, const uint64_t words[1 + CALLS_ARGS], uint64_t ts);
/* What an argument of the innermost call of that number points to; `size`: of all there was. */
int trace_show_data(struct trace_show *show, int32_t tid, uint64_t number, uint32_t arg, const void *bytes, uint32_t len, uint32_t size);
void trace_show_exit(struct trace_show *show, int32_t tid, uint64_t number, int64_t result, uint64_t ts);
/* In the end: calls that have not. */
int trace_show_rest(struct trace_show *show);
void trace_show_fini(struct trace_show *show);

#endif
