/*
 * control/state: everything that is switched on, as one value: read from the control file, changed in
 * memory, published.
 *
 * In memory it is a struct that may be changed at will. Publishing writes it, checksummed, into a
 * place of the control file that the current state does not use, and then stores the one word that
 * names the place and the generation (layout/control.h). Reading needs no lock; changing and
 * publishing happen under the directory's lock (control.h).
 */
#ifndef CONTROL_STATE_H
#define CONTROL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "layout/control.h"
#include "layout/ring.h"
#include "ring/segment.h"

#define CONTROL_RULES_MAX (CONTROL_STATE_MAX / (uint32_t)sizeof(struct state_rule))
#define CONTROL_SIZE_KB_DEFAULT 1408u
#define CONTROL_RINGS_MAX (1ull << 46)	/* no set ends behind this byte of the rings file */

struct control_state {
	uint64_t published;	/* the word that it was read or published under; 0: the default */
	uint64_t place;		/* where that lies in the control file, 0 when nowhere */
	uint64_t place_size;
	uint32_t nbuffers;	/* at least 1: the top buffer is the first */
	uint32_t nrules;
	uint32_t rules_cap;
	uint32_t nlimbo;
	struct state_rule *rules;
	struct state_buffer buffers[STATE_BUFFERS_MAX];
	struct state_limbo limbo[STATE_LIMBO_MAX];
};

/* A fresh directory's: tracing on, nothing enabled, no rings yet. Keeps `published` and place. */
void control_state_default(struct control_state *state);

/* `state` is zeroed or was read before. -EUCLEAN: what is published makes no sense. */
int control_state_read(struct control_state *state, const struct segment_dir *dir, struct err *err);
void control_state_fini(struct control_state *state);

/* True when what was read is still what is published. */
bool control_state_current(const struct control_state *state, const struct segment_dir *dir);

/* A generation further. Only under the lock. */
int control_state_publish(struct control_state *state, const struct segment_dir *dir,
			  struct err *err);

/* Room for one more rule at the end, or NULL. */
struct state_rule *control_state_rule_add(struct control_state *state);

static inline uint64_t control_state_generation(const struct control_state *state)
{
	return state->published >> CONTROL_PLACE_BITS;
}

/* Bytes that a set takes in the rings file. */
static inline uint64_t control_set_size(const struct state_set *set, uint32_t ncpu)
{
	return set_size(ncpu, set->npages, set->page_size);
}

/* May a buffer be made of so many pages of that size? */
bool control_geometry_valid(uint32_t npages, uint32_t page_size);

/* Pages that hold `kb` KiB of events, as the kernel counts them, and the other way round. */
uint64_t control_pages_from_kb(uint64_t kb, uint32_t page_size);
uint64_t control_kb_from_pages(uint64_t npages, uint32_t page_size);

#endif
