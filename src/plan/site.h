/*
 * plan/site: how one function, or one instruction anywhere, can be patched: what its window is, and the same instructions as they
 * run elsewhere. Within this room.
 */
#ifndef PLAN_SITE_H
#define PLAN_SITE_H

#include "layout/plan.h"
#include "plan/image.h"

#define SITE_FIXES_MAX 16u

struct site {
	uint8_t kind, reason, at, window, moved, nfixes, nsteps;
	uint8_t before;		/* of a point: its window begins so many bytes before it */
	bool goes;
	bool flags_live;
	uint8_t original[PLAN_WINDOW_MAX];
	uint8_t code[PLAN_MOVED_MAX];
	struct plan_fix fixes[SITE_FIXES_MAX];
	struct plan_step steps[PLAN_WINDOW_MAX];
};

/* Of a function at an address within the code. `size` 0: it is not known where it ends; `unsure`: nor who comes into it. */
void site_make(struct site *site, const struct image *image, uint64_t address, uint64_t size, bool unsure);

/* The function that a point is in. */
struct site_around {
	uint64_t start, end;
	bool unsure;		/* somebody may come to any of its instructions */
};

/* Of an instruction that begins there: what is around it is marked IMAGE_STEP. */
void site_make_point(struct site *site, const struct image *image, const struct site_around *around, uint64_t address);

#endif
