/*
 * collect/match: by how much two clocks differ, over a whole recording, from questions and answers.
 *
 * We ask at t1 and hear the answer at t4; the other one got the question at g and answered at s, by its own clock. So what is to be added
 * to its times lies between t1 - g and t4 - s, however long either way was. For a while two clocks run apart evenly: a line that goes
 * through all of those gaps is what can be true, and all such lines together are a band that is much narrower than each gap. Where no
 * line goes through all any more another one begins.
 *
 *	            |      |   |
 *	      |   --|------|---|---|--	the band
 *	   ---|-----|      |       |
 *	      |
 *	      +-- a gap, as wide as the answer took
 */
#ifndef COLLECT_MATCH_H
#define COLLECT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define MATCH_MAX 512u

struct match_gap {
	int64_t at;		/* by its clock */
	int64_t least, most;	/* what is to be added */
};

struct match {
	struct match_gap gaps[MATCH_MAX];	/* by time */
	size_t n;
};

/* What came of one question. False: it contradicts itself. */
bool match_add(struct match *match, uint64_t t1, uint64_t got, uint64_t sent, uint64_t t4);

struct match_point {
	int64_t at, offset;
	uint64_t error;		/* nanoseconds that it may be off there */
};

/* Points, between which one goes straight; the array is the caller's to free. A count, 0 when nothing is known, -ENOMEM. */
int match_points(const struct match *match, struct match_point **out);
/* The worst of their errors. */
uint64_t match_error(const struct match_point *points, int n);

/* TIME_SHIFT: those points for each of so many CPUs, towards whoever has that number. */
void match_shift(const struct match_point *points, int n, uint64_t machine, uint32_t nr_cpus, struct buf *out);

#endif
