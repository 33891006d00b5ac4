/*
 * record/still: what the rings hold at one moment, as a trace file.
 *
 * In: buffers of a tracing directory that somebody else writes to, or what `snapshot` set aside of them. They are looked at and
 * nothing is taken. Out: a file with the events of a window of time, all CPUs and buffers cut at the same times; events that were
 * overwritten or lost within the window are told where they are missing.
 */
#ifndef RECORD_STILL_H
#define RECORD_STILL_H

#include "record/record.h"

/* Of clocks that are no time all that there is, up to now. */
struct record_window {
	uint64_t moment;		/* by the first buffer's clock, as records have it; 0: now */
	uint64_t before_ns, after_ns;	/* of the moment; UINT64_MAX: all that there is. Both ends belong to it */
};

struct record_still_sums {
	uint64_t events;
	uint64_t bytes;		/* of data in the file */
	uint64_t lost;		/* in between */
	uint64_t overwritten;	/* before the first event of a CPU: the window began before its ring's memory */
	bool lost_more;		/* and some that nobody could count */
	uint64_t moment;	/* as readers of the file see it, in nanoseconds, or as the clock counts */
};

/*
 * Of `how`: source, buffers, path, version, compression, date, ts_offset. -ENOENT: no such buffer, or no snapshot of it.
 * -EAGAIN: somebody emptied a buffer while it was read, again and again.
 */
int record_still(const struct record_how *how, const struct record_window *window, bool snapshot,
		 struct record_still_sums *sums, struct err *err);

/*
 * An event that goes to several buffers is written to each at another time. The time at which the buffer has this record, if
 * `ts` is when another has it: the last one of just these bytes that is not later; `ts` when there is none within some seconds.
 */
uint64_t record_still_time(struct control *control, const char *instance, const void *record, size_t len, uint64_t ts);

#endif
