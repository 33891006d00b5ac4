/*
 * collect/match: by how much two clocks differ, over a whole recording, from questions and answers.
 *
 * We ask at t1 and hear the answer at t4; the other one got the question at g and answered at s, by its own clock. So what is to be added
 * to its times lies between t1 - g and t4 - s, however long either way was. Two clocks run apart evenly for a while: a line that goes
 * through all the gaps of a minute tells how fast, and how fast it may be at most and at least. With that each gap tells something of
 * the times before and behind it, less the farther they are; what all of them allow is a band that is narrower than most gaps.
 *
 *	            |      |   |
 *	      |   --|------|---|---|--	the band
 *	   ---|-----|      |       |
 *	      |
 *	      +-- a gap, as wide as the answer took
 *
 * What is taken for granted: that their rates change by no more than MATCH_WANDER against each other before the gaps show it. Where no
 * line goes through any more they have changed, nobody knows when: there the band is what the line before or the one behind allows.
 * Where no rate would do one of the machines slept, or was set: a jump, which counts for itself.
 */
#ifndef COLLECT_MATCH_H
#define COLLECT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define MATCH_MAX 16384u
#define MATCH_WANDER 0.000001

struct match_gap {
	int64_t at;		/* by its clock */
	int64_t least, most;	/* what is to be added */
};

struct match {
	struct match_gap gaps[MATCH_MAX + 1];	/* by time */
	size_t n;
	bool more;		/* gaps[n] is the newest one, and of no more use */
	uint64_t space;		/* of all within so much time the narrowest is kept; 0: all are */
};

/* What came of one question. False: it contradicts itself. */
bool match_add(struct match *match, uint64_t t1, uint64_t got, uint64_t sent, uint64_t t4);

/* What is known from before, which comes first: 0 or -ENOMEM. */
int match_restore(struct match *match, const struct match_gap *gaps, size_t n);

struct match_point {
	int64_t at, offset;
	uint64_t error;		/* nanoseconds that it may be off there */
};

struct match_points {
	struct match_point *all;	/* one goes straight between them */
	int n;				/* 0: nothing is known */
	uint64_t error;			/* the worst of theirs; UINT64_MAX: nothing is known */
	unsigned int jumps;
	uint64_t jumped, unsure;	/* the farthest of them; the longest time within which one was. Nanoseconds */
};

/* 0 or -ENOMEM. */
int match_points(const struct match *match, struct match_points *out);
void match_points_fini(struct match_points *points);
/* The worst of their errors; UINT64_MAX: there are none. */
uint64_t match_error(const struct match_point *points, int n);

/* TIME_SHIFT: those points for each of so many CPUs, towards whoever has that number. */
void match_shift(const struct match_point *points, int n, uint64_t machine, uint32_t nr_cpus, struct buf *out);

#endif
