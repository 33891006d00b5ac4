/*
 * record/still: what the rings hold at one moment, as a trace file.
 *
 * In: buffers of a tracing directory that somebody else writes to, or what `snapshot` set aside of them. They are looked at and
 * nothing is taken. Out: a file with the events of a window of time; what was overwritten before is told at the head of each
 * CPU, exactly.
 */
#ifndef RECORD_STILL_H
#define RECORD_STILL_H

#include "record/record.h"

struct record_window {
	uint64_t before_ns, after_ns;	/* of the moment; UINT64_MAX: all that there is */
	uint64_t moment;		/* by the first buffer's clock, as records have it; 0: now */
};

/* Of `how`: source, buffers, path, version, compression, date, ts_offset. */
int record_still(const struct record_how *how, const struct record_window *window, bool snapshot,
		 struct record_sums *sums, struct err *err);

#endif
