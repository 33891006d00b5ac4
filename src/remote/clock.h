/*
 * remote/clock: the times of a target in the time of the host, CLOCK_MONOTONIC, and how far off that may be.
 *
 * A sample is a time of the target's that lay between two moments of the host's: asked for and answered, where the memory can be
 * written; else an event that was not there at the one and was at the other. By the rate, of which bounds are known as well, what one sample
 * says holds for the next one, too, and what all of them say together is much narrower than each. Samples that are far apart tell the
 * rate, which no crystal, and no emulator, has just as it says.
 *
 *   host    ----[====]---------[==========]---------[=]------->		samples
 *                 |==|          |=====|            |=|			what holds by those before, too
 *   target  -------|---------------|----------------|--------->
 */
#ifndef REMOTE_CLOCK_H
#define REMOTE_CLOCK_H

#include "remote/remote.h"

struct clock_sample {
	uint64_t ticks;
	uint64_t from, to;	/* of the host, in nanoseconds */
};

struct remote_clock {
	struct clock_sample base;	/* the last one, narrowed by those before; `to` 0: there is none */
	struct clock_sample anchors[2];	/* narrow ones of before, of the last span and of this one: they tell the rate */
	uint64_t since, span;	/* when this span began, and how long it is */
	double slow, fast;	/* nanoseconds of the host to a tick: not less, not more */
	double off;		/* how far from what the target says they were when all this began, as a share; 0: nothing did */
	bool steady;		/* since then no comparison has contradicted the others for a span */
	uint64_t hz;		/* as the target says */
	uint32_t boots;		/* its life that all this is of */
	bool same;		/* it is the host's clock */
	/* One that is asked, or watched. */
	struct {
		uint32_t number;
		uint64_t at;	/* 0: nothing was asked, or it was answered */
	} asked[2];		/* the last question, and the one before it */
	uint32_t ring;
	uint64_t quiet_since;	/* that ring has answered nothing since */
	uint64_t seen_ticks, seen_at;
};

void remote_clock_init(struct remote_clock *clock);

/* The next question is for this ring. */
void remote_clock_turn(struct remote_clock *clock, uint32_t ring);

/* One look, which takes no time. 1: there is a new sample. 0, -errno. */
int remote_clock_look(struct remote_clock *clock, struct remote *remote);
/* Looks for so long, or until it is as exact as it gets in that time; with `steady` also for some time behind that. */
void remote_clock_match(struct remote_clock *clock, struct remote *remote, uint64_t ns, bool steady);

/* Nanoseconds of the host, and how far off that may be. Of a clock that is not known they count since whenever it began: UINT64_MAX. */
uint64_t remote_clock_host(const struct remote_clock *clock, uint64_t ticks, uint64_t *error);
/* At the last comparison. */
uint64_t remote_clock_error(const struct remote_clock *clock);
/* "25000000 Hz, 32 bits, matched to 4 us", without a newline; and another rate, if it was seen to have that. */
void remote_clock_describe(const struct remote_clock *clock, uint64_t error, const struct remote_target *target, struct buf *out);

#endif
