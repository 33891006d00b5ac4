/*
 * plan/points: an instruction anywhere: which function is around it, and how it can be patched. Within this room.
 */
#ifndef PLAN_POINTS_H
#define PLAN_POINTS_H

#include "plan/frames.h"
#include "plan/image.h"
#include "plan/sequences.h"
#include "plan/site.h"

struct points {
	const struct image *image;
	const struct frames *frames;
	const struct sequences *sequences;
	const struct frame *frame;	/* the last that was asked for: is it a part of a function? */
	bool part;
};

struct point_function {
	struct site_around around;
	const struct image_symbol *symbol;	/* one of those of its first byte; NULL: only a frame tells of it */
};

/* False: there is no code that is known to be any. */
bool points_function(const struct points *points, struct point_function *function, uint64_t address);

/* Of what is in that function. */
void points_site(struct points *points, const struct point_function *function, struct site *site, uint64_t address);

/* Does the system call there make a process or a thread? By the number that is put into its register right before it. */
bool points_makes_child(const struct points *points, uint64_t address);

/* Is somebody to know it by its bytes or its address: unwinders, the kernel, a signal handler of libc's? */
bool points_special(const struct points *points, const struct point_function *function, uint64_t address);

#endif
