/*
 * How often overflow slots were taken. For when nobody writes: then none has an owner.
 */
#ifndef TESTS_RUNTIME_OVERFLOWS_H
#define TESTS_RUNTIME_OVERFLOWS_H

#include <stddef.h>
#include <unistd.h>

#include "control/control.h"
#include "insist.h"
#include "layout/ring.h"

static inline uint64_t overflows(const struct control *control)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < control->dir.ncpu; i++) {
		struct overflow_slot slot;
		off_t at = (off_t)(offsetof(struct rings_head, slot) + i * sizeof(slot));

		CHECK(pread(control->dir.fd[SEGMENT_RINGS], &slot, sizeof(slot), at) == sizeof(slot), "slots");
		CHECK(!slot.owner, "slot %u is still owned", i);
		sum += slot.taken;
	}
	return sum;
}

#endif
