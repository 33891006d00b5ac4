/*
 * control/clock: the time base of a set of rings.
 */
#ifndef CONTROL_CLOCK_H
#define CONTROL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/control.h"
#include "ring/segment.h"

/* Names in the order of TRACE_CLOCK_*, NULL behind the last that this machine has. */
const char *control_clock_name(uint32_t id);

/* The one that costs programs least and still gives true times: the counter as it is, where it can be trusted. */
const char *control_clock_cheapest(void);

/* Does it count nanoseconds? */
bool control_clock_is_ns(uint32_t id);

/*
 * The constants of clock `id`. Of `local` and `global`: the CPU's counter scaled to nanoseconds of
 * CLOCK_MONOTONIC where the counter can be trusted, else flags 0. That takes some tens of
 * milliseconds, unless `before`, if given, still shows the right time: then the new clock is that one.
 * In any case the new time does not start before it. `dir` NULL: of no directory, then the rate
 * is measured each time.
 */
void control_clock_make(struct state_clock *clock, uint32_t id, const struct segment_dir *dir,
			const struct state_clock *before);

/* What the clock shows now. */
uint64_t control_clock_now(const struct state_clock *clock, const struct segment_dir *dir);

#endif
