/*
 * control/clock: the time base of a set of rings.
 */
#ifndef CONTROL_CLOCK_H
#define CONTROL_CLOCK_H

#include <stdint.h>

#include "layout/control.h"
#include "ring/segment.h"

/*
 * The constants of the `local` clock: the CPU's counter scaled to nanoseconds of CLOCK_MONOTONIC
 * where the counter can be trusted, else flags 0. Takes some tens of milliseconds. `before`, if
 * given, is the clock that this one follows: the new time does not start before it.
 */
void control_clock_make(struct state_clock *clock, const struct segment_dir *dir,
			const struct state_clock *before);

/* What the clock shows now. */
uint64_t control_clock_now(const struct state_clock *clock);

#endif
