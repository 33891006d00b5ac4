/*
 * plan/frames: what .eh_frame tells of the code: where its pieces begin, where exceptions land in them, and where on the stack
 * the return address is. Within this room.
 */
#ifndef PLAN_FRAMES_H
#define PLAN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/image.h"

/* Programs in the frame's own language, which tell where the caller's frame is. */
struct frame_rules {
	const uint8_t *at, *end;
};

struct frame {
	uint64_t start, end;
	struct frame_rules first, rest;	/* of its kind, then its own */
	uint64_t step;		/* code is counted in such steps */
	bool signal;		/* what the kernel made, for a handler to return to */
	bool unsure;		/* where exceptions land in it cannot be told */
};

struct frames {
	struct frame *all;	/* by address */
	size_t n, cap;
	bool damaged;		/* there may be more than are known */
};

/* Marks where frames begin and end, and where exceptions land. */
int frames_init(struct frames *frames, const struct image *image, struct err *err);
void frames_fini(struct frames *frames);

/* The one that an address is of; NULL: none is known. */
const struct frame *frames_at(const struct frames *frames, uint64_t address);
/* Is the return address what the stack pointer points to, before the instruction there? */
bool frame_is_entry(const struct frame *frame, uint64_t address);

#endif
