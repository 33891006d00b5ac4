/*
 * control/plans_local: what the files about plans share. Private to them.
 */
#ifndef CONTROL_PLANS_LOCAL_H
#define CONTROL_PLANS_LOCAL_H

#include <stddef.h>

#include "base/buf.h"
#include "control/plans.h"
#include "control/registry.h"

static inline uint32_t plans_slot(const struct control_elf *elf)
{
	return (uint32_t)((elf->base - symbol_space_base(0)) >> SYMBOL_SPACE_SHIFT);
}

/* Where the head says which plan a slot has, and which extra one. */
static inline uint64_t plans_place(uint32_t slot)
{
	return offsetof(struct plans_head, plan) + slot * sizeof(uint64_t);
}

static inline uint64_t plans_extra_place(uint32_t slot)
{
	return offsetof(struct plans_head, extra) + slot * sizeof(uint64_t);
}

int plans_head_read(const struct control *control, struct plans_head *head, struct err *err);
/* A sound plan, to be freed; NULL: there is none at that place. */
struct plan *plans_take(const struct control *control, uint64_t offset);

/* Under the lock. Behind all that is there; `offset` is where. */
int plans_append(const struct control *control, const struct plans_head *head, const struct buf *plan, uint64_t *offset,
		 struct err *err);
/* From now on that is the slot's: `at` is plans_place() of it, or plans_extra_place(). */
int plans_publish(const struct control *control, uint64_t at, uint64_t offset, uint32_t filed, struct err *err);

/* Of all files that have none; no extra ones. */
int plans_make(struct control *control, struct err *err);
/* points.c: extra plans of the files that came since their probes were written. True: there are new ones. */
bool control_points_renew(struct control *control);

#endif
