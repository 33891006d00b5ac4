/*
 * cmd/trace_lines: the lines of `ringside trace`: whose call it is, when, the call, what it returned, how long it took.
 *
 * In: calls, in the order in which they are to be shown. Out: text in `out`, which the owner writes away.
 */
#ifndef CMD_TRACE_LINES_H
#define CMD_TRACE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cmd/trace_args.h"

struct trace_lines {
	struct buf out;
	bool relative, spent;
	int clock;		/* 0: no time of day, 2: with microseconds */
	uint32_t limit;		/* bytes of a buffer that are shown */
	int64_t offset;		/* from our clock to the time of day */
	int32_t first;		/* the one thread so far */
	bool several;
	uint64_t last;		/* time of the line before */
};

/* A call that returned at `end`: in one line, or behind trace_lines_begun() the rest of it. */
void trace_lines_call(struct trace_lines *lines, int32_t tid, const struct trace_call *call, uint64_t end);
/* One in which something else happens, which is to be shown before it ends: as far as it is known. */
void trace_lines_begun(struct trace_lines *lines, int32_t tid, struct trace_call *call);
/* One that does not return. */
void trace_lines_last(struct trace_lines *lines, int32_t tid, const struct trace_call *call);

void trace_lines_exited(struct trace_lines *lines, int32_t tid, uint64_t ts, uint32_t status);
void trace_lines_killed(struct trace_lines *lines, int32_t tid, int signal);

#endif
