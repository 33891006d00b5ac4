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
	uint32_t id;		/* TRACE_CLOCK_*; of one that only a kernel has, RECORD_CLOCK_OTHER */
	struct control *control;	/* of a directory; NULL: it is a kernel's */
	struct source *source;	/* of a kernel: whose clock it is, and */
	char instance[64];	/* of which buffer */
	char name[24];		/* and what the kernel calls it */
	bool by_tsc;		/* times are counts */
	uint32_t mult, shift;	/* that become nanoseconds like this */
	int64_t offset;		/* and these are added */
};

#define RECORD_CLOCK_OTHER UINT32_MAX

/* May take some tens of milliseconds when the counter's rate has to be measured. */
void record_clock_init(struct record_clock *clock, struct control *control, uint32_t id);

/* The same for a buffer in a tree of files, which has to outlive it. */
int record_clock_of_files(struct record_clock *clock, struct source *source, const char *instance, struct err *err);

/* Is it the same time in programs and in the kernel? `local` of one is not that of the other. */
bool record_clock_is_shared(const struct record_clock *clock);

/* The name that a file has for it. */
const char *record_clock_name(const struct record_clock *clock);

/* Does it go on by itself? One that counts events does not, and the next three make no sense of it. */
bool record_clock_is_time(const struct record_clock *clock);
/* So many nanoseconds as the clock counts them, and the other way round. */
uint64_t record_clock_counts(const struct record_clock *clock, uint64_t ns);
uint64_t record_clock_span(const struct record_clock *clock, uint64_t counts);
/* A time of a record as readers of the file see it, without what the person adds. */
uint64_t record_clock_shown(const struct record_clock *clock, uint64_t counts);

/*
 * How many nanoseconds, before OFFSET, it shows more than CLOCK_MONOTONIC just now: they run apart, if slowly. False: it is not known of this one.
 */
bool record_clock_ahead(const struct record_clock *clock, int64_t *ahead);

/* CLOCK, TSC2NSEC, OFFSET or DATE. */
int record_clock_put(const struct record_clock *clock, bool date, int64_t ts_offset,
		     const struct record_sink *sink, struct err *err);

#endif
