/*
 * ring/intern: one slot of the registry for each thing that is brought, however many bring it. See layout/registry.h for
 * how slots are won.
 *
 * Used by the runtime in traced programs and by the tool: no malloc, async-signal-safe, no locks. Others are rivals at every
 * step; each may die between any two.
 */
#ifndef RING_INTERN_H
#define RING_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/registry.h"

struct intern {
	struct registry_head *head;	/* all of the file, mapped */
	uint32_t pid;			/* of the claimant */
	/* Gives a part of the file its memory. False: there is none. */
	bool (*back)(const void *start, uint64_t size);
	bool dynamic;	/* new events are the directory's own, there while the state has them */
	bool named;	/* new events are marked as ones that no program has brought */
};

struct registry_slot *intern_slot(const struct registry_head *head, uint32_t kind, uint32_t i);

/* The slot of this blob, a new one if need be; -ENOSPC. */
int intern_blob(const struct intern *intern, uint32_t kind, const char *blob, uint32_t len);

/* A program brings what was only a name so far: from now on it is the newest of that name. */
void intern_adopt(struct registry_head *head, struct registry_slot *slot);

#endif
