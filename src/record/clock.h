/*
 * record/clock: how a trace file tells what its times are.
 *
 * Pages hold what the buffer's clock showed. Of the CPU's counter the file says how nanoseconds are made of it (TSC2NSEC), and
 * an OFFSET leads to CLOCK_MONOTONIC, so that times are those which `local` would have shown.
 */
#ifndef RECORD_CLOCK_H
#define RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "control/control.h"
#include "record/meta.h"

struct record_clock {
	uint32_t id;		/* TRACE_CLOCK_* */
	bool by_tsc;		/* times are counts */
	uint32_t mult, shift;	/* that become nanoseconds like this */
	int64_t offset;		/* and these are added */
};

/* May take some tens of milliseconds when the counter's rate has to be measured. */
void record_clock_init(struct record_clock *clock, struct control *control, uint32_t id);

/* The name that a file has for it. */
const char *record_clock_name(const struct record_clock *clock);

/* Does it go on by itself? One that counts events does not, and the next three make no sense of it. */
bool record_clock_is_time(const struct record_clock *clock);
/* So many nanoseconds as the clock counts them, and the other way round. */
uint64_t record_clock_counts(const struct record_clock *clock, uint64_t ns);
uint64_t record_clock_span(const struct record_clock *clock, uint64_t counts);
/* A time of a record as readers of the file see it, without what the person adds. */
uint64_t record_clock_shown(const struct record_clock *clock, uint64_t counts);

/* CLOCK, TSC2NSEC, OFFSET or DATE. */
int record_clock_put(const struct record_clock *clock, struct control *control, bool date, int64_t ts_offset,
		     const struct record_sink *sink, struct err *err);

#endif
