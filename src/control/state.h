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

#include "base/buf.h"
#include "base/err.h"
#include "layout/control.h"
#include "layout/ring.h"
#include "layout/table.h"
#include "ring/segment.h"

#define CONTROL_RULES_MAX (CONTROL_STATE_MAX / (uint32_t)sizeof(struct state_rule))
#define CONTROL_SIZE_KB_DEFAULT 1408u
#define CONTROL_RINGS_MAX (1ull << 46)	/* no set ends behind this byte of the rings file */

/* A text that somebody wrote to filter, trigger and the like, and what it was given to live on. */
struct control_item {
	struct state_item item;	/* its text and text_len: of the state as it was read */
	char *text;
};

/* A line of set_ftrace_filter and its like; its texts are its own. */
struct control_func {
	struct state_func func;	/* its offsets: of the state as it was read */
	char *name;
	char *module;		/* NULL: any */
	char *text;
};

struct control_state {
	uint64_t published;	/* the word that it was read or published under; 0: the default */
	uint64_t place;		/* where that lies in the control file, 0 when nowhere */
	uint64_t place_size;
	uint32_t nbuffers;	/* places; the top buffer is in the first, others may be empty (born 0) */
	uint32_t nrules;
	uint32_t rules_cap;
	uint32_t nlimbo;
	uint32_t npids;
	uint32_t pids_cap;
	uint32_t cmdlines;	/* saved_cmdlines_size, 0: all */
	struct state_rule *rules;
	struct state_pid *pids;
	struct state_buffer buffers[STATE_BUFFERS_MAX];
	struct state_limbo limbo[STATE_LIMBO_MAX];
	/* What hangs on events: control/hooks changes these, and makes hooks and code of the items. */
	struct control_item *items;
	uint32_t nitems;
	uint32_t items_cap;
	uint32_t serial;	/* of the next item, but for 0 */
	uint32_t ntable_limbo;
	uint64_t items_mark;	/* another one whenever items came or went */
	struct state_limbo *table_limbo;	/* NULL, or room for STATE_TABLE_LIMBO_MAX */
	struct buf hooks;	/* struct state_hook[] */
	struct buf probes;	/* struct state_probe[] */
	struct buf code;
	struct buf calls;	/* struct state_calls, or nothing: control/calls makes it of the rules */
	uint16_t kmalloc, kfree;	/* the same: control/memory */
	struct control_func *funcs;	/* as they were written: control/func_lines */
	uint32_t nfuncs;
	uint32_t funcs_cap;
	struct state_measure measure;
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

/* Room for what tables leave behind. -ENOMEM. */
int control_state_table_limbo(struct control_state *state);

/* The place of the buffer of that name ("" is the top one), or -1. */
int control_state_buffer(const struct control_state *state, const char *name);

/* What a new buffer is like. `born` is the generation to be published next. */
void control_buffer_default(struct state_buffer *buffer, uint64_t born);

/* One more thread to take, or not to take, in that buffer. -ENOMEM, -ENOSPC. */
int control_state_pid_add(struct control_state *state, uint32_t buffer, uint32_t kind, int32_t tid);
void control_state_pids_clear(struct control_state *state, uint32_t buffer, uint32_t kind);

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

/* One more item, zeroed, with its serial, in the last place; NULL: no room. Others may move. */
struct control_item *control_state_item_add(struct control_state *state, const char *text, size_t len);
void control_state_item_remove(struct control_state *state, uint32_t i);

/* One more line about functions, in the last place, zeroed but for its texts, which are copied; NULL: no room. Others move. */
struct control_func *control_state_func_add(struct control_state *state, const char *name, const char *module,
					    const char *text);
void control_state_func_remove(struct control_state *state, uint32_t i);
/* All of a kind in that buffer; kind 0: of any. */
void control_state_funcs_clear(struct control_state *state, uint32_t buffer, uint32_t kind);

#endif
