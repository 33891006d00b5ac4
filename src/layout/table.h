/*
 * layout/table: the fourth file of a tracing directory, `tables`: what programs count and remember for each other.
 *
 *   head | words | tables ...
 *
 * Words are single numbers whose meaning the state knows: how often a trigger may still act, whether an event that a
 * trigger switches is on, whether a histogram is paused. Tables come in two kinds:
 *
 *   count   a histogram's rows, in one or several *parts* (by CPU; summed when read):
 *           part head | slots | elements.  A slot names an element; an element has a key and its numbers. An element is
 *           filled in by who took it, then entered into a slot with one compare-and-swap, and stays for ever.
 *   cell    a variable's values, one for all programs: tag (64 bits of hash of the keys, never 0) and value, written and
 *           taken together. A cell is free again when its value was taken.
 *
 * Programs map the beginning of the file at start, more when the state needs it, and store only into tables that the state names.
 * Only the tool makes and frees tables; one that was freed is not used again for TABLE_GRACE_NS, since a program may be in the middle
 * of an update, and never becomes anything but a table.
 */
#ifndef LAYOUT_TABLE_H
#define LAYOUT_TABLE_H

#include <assert.h>
#include <stdint.h>

#include "layout/segment.h"

#define TABLE_WORDS 8192u
#define TABLE_GRACE_NS 10000000000ull
#define TABLES_SIZE_MAX (1ull << 30)	/* tables lie below; programs map as much of it as the state needs */

struct tables_head {
	struct segment_head seg;
	uint64_t reserved[56];
	uint64_t words[TABLE_WORDS];	/* atomic */
};
#define TABLES_DATA_OFFSET ((sizeof(struct tables_head) + 4095) & ~4095ull)

/*
 * A count table. Geometry as the state has it (struct hook_hist): writers never believe what stands in the file.
 *
 * A slot:     hash << 32 | element number + 1; 0: free. hash: the upper half of the key's, so that most others are told by it.
 * An element: hits, values, distributions of values, then what onmax() and onchange() keep, then the key.
 */
struct table_part {
	uint64_t drops;		/* atomic: hits that found no element */
	uint64_t next;		/* atomic: elements that were taken */
	uint64_t reserved[6];
};
static_assert(sizeof(struct table_part) == 64, "part");

struct table_shape {
	uint32_t parts;		/* a power of two */
	uint32_t slots;		/* of a part; a power of two, at least twice the elements */
	uint32_t elements;	/* of a part */
	uint32_t element_size;	/* a multiple of 8 */
	uint32_t nvals;		/* sums behind the hits */
	uint32_t ntracks;	/* struct table_track behind the sums, one for each onmax or onchange */
	uint32_t nsaves;	/* struct table_save behind those, of all tracks together */
	uint32_t key_at;	/* in the element */
	uint32_t key_size;	/* a multiple of 8 */
	uint32_t nspreads;	/* of TABLE_SPREAD counts behind the sums, one for each value with .quantiles */
};

/*
 * A distribution of a value: how often it fell into each of TABLE_SPREAD ranges. Values below 8 have a range each; above,
 * every power of two is cut into 8 ranges of the same width. A range is thus narrower than an eighth of its lowest value:
 * who names a value by the end of its range says less than 12.5 % too much, and never too little.
 */
#define TABLE_SPREAD 496u

static inline uint32_t table_spread_index(uint64_t value)
{
	uint32_t power;

	if (value < 8)
		return (uint32_t)value;
	power = 63 - (uint32_t)__builtin_clzll(value);
	return (power - 2) * 8 + (uint32_t)(value >> (power - 3) & 7);
}

/* The lowest value of a range, and the highest. */
static inline uint64_t table_spread_low(uint32_t index)
{
	return index < 8 ? index : (8ull + index % 8) << (index / 8 - 1);
}

static inline uint64_t table_spread_high(uint32_t index)
{
	return index < 8 ? index : table_spread_low(index) + ((1ull << (index / 8 - 1)) - 1);
}

/* The largest or the last value for a key. seq is odd while what was saved with it is written. */
struct table_track {
	uint64_t value;
	uint32_t seq;
	uint32_t is_set;	/* not 0; of snapshot(): which one it was, from 1 on */
};
static_assert(sizeof(struct table_track) == 16, "track");

/* A saved field: a number, or a text cut to fit. */
struct table_save {
	uint64_t number;
	char text[56];
};
static_assert(sizeof(struct table_save) == 64, "save");

/* How long texts and stacks in keys and variables can be: NUL-padded bytes, or a count and that many addresses. */
#define TABLE_TEXT_MAX 256u
#define TABLE_STACK_MAX 31u
#define TABLE_ELEMENT_MAX (1u << 17)	/* more than keys, values, distributions and saves can be together */

/* Where things lie in an element; before the key. */
static inline uint32_t table_spreads_at(const struct table_shape *shape)
{
	return 8 + 8 * shape->nvals;
}

static inline uint32_t table_tracks_at(const struct table_shape *shape)
{
	return table_spreads_at(shape) + 8 * TABLE_SPREAD * shape->nspreads;
}

static inline uint32_t table_saves_at(const struct table_shape *shape)
{
	return table_tracks_at(shape) + (uint32_t)sizeof(struct table_track) * shape->ntracks;
}

static inline uint32_t table_numbers_size(const struct table_shape *shape)
{
	return table_saves_at(shape) + (uint32_t)sizeof(struct table_save) * shape->nsaves;
}

static inline uint64_t table_part_size(const struct table_shape *shape)
{
	return (sizeof(struct table_part) + 8ull * shape->slots + (uint64_t)shape->elements * shape->element_size + 63) & ~63ull;
}

static inline uint64_t table_size(const struct table_shape *shape)
{
	return (shape->parts * table_part_size(shape) + 4095) & ~4095ull;
}

/*
 * A profile of functions: a count table with a part for each CPU; the key is a function's address in the symbol space, hits are
 * calls, as they begin. Its sums, of calls whose end was seen, on the CPU where they began, in nanoseconds:
 */
enum table_profile {
	PROFILE_TIMED,		/* how many those are */
	PROFILE_TIME,		/* with all that they called */
	PROFILE_SELF,		/* without what they called and is profiled, too */
	PROFILE_TIME_SQUARES,	/* two words, the lower one first: they have 128 bits, since a call of 4.3 s has 64 */
	PROFILE_SELF_SQUARES = PROFILE_TIME_SQUARES + 2,
	PROFILE_MAX = PROFILE_SELF_SQUARES + 2,	/* the longest one's time: no sum */
	PROFILE_VALS,
};

/* `parts` and `elements` are powers of two. */
static inline struct table_shape table_profile_shape(uint32_t parts, uint32_t elements)
{
	return (struct table_shape){
		.parts = parts, .slots = 2 * elements, .elements = elements, .element_size = 8 + 8 * PROFILE_VALS + 8,
		.nvals = PROFILE_VALS, .key_at = 8 + 8 * PROFILE_VALS, .key_size = 8,
	};
}

/*
 * The deepest stack of any thread. It is written into the side that `current` does not name, by who has the lock, and then
 * named: who dies on the way leaves the one before. `current` grows with each, but when the tool begins anew.
 */
#define TABLE_DEEP_MAX 250u
struct table_frame {
	uint64_t address;	/* in the symbol space */
	uint64_t depth;		/* bytes from the stack's top to its frame */
};
struct table_deep_side {
	uint64_t depth;
	int32_t pid;
	uint32_t n;
	struct table_frame frames[TABLE_DEEP_MAX];	/* the innermost first */
};
struct table_deepest {
	uint64_t current;	/* depth << 1 | side */
	uint64_t owner;		/* of the lock: runtime_thread_identity(), 0 none. Maybe dead */
	uint64_t missed;	/* atomic: stacks that were deeper, while the lock could not be had */
	uint64_t reserved[5];
	struct table_deep_side side[2];
};
#define TABLE_DEEPEST_SIZE ((sizeof(struct table_deepest) + 4095) & ~4095ull)

/* Sites that were patched, in any program: by where they are in the plans file, since no two lie at the same place. */
#define TABLE_TOUCHED_SIZE (512ull << 10)	/* for plans of 128 MiB; what lies behind is not remembered */
static inline uint64_t table_touched_bit(uint64_t site_offset)
{
	return site_offset / 32;
}

/* A variable's cells: struct table_cells, then `cells` of them, then two texts of TABLE_TEXT_MAX for each if it has such. */
struct table_cells {
	uint64_t evicted;	/* atomic: values that nobody took and that had to make room */
	uint64_t reserved[7];
};

struct table_cell {
	uint64_t tag;		/* 0: free */
	uint64_t value;		/* of texts and stacks: bit 0 says which of the two texts, the rest changes with each */
};
#define TABLE_CELL_PROBES 8u	/* a value lies within so many cells of where its tag says */

static inline uint64_t table_cells_size(uint32_t cells, int texts)
{
	return (sizeof(struct table_cells) + cells * 16ull + (texts ? 2ull * cells * TABLE_TEXT_MAX : 0) + 4095) & ~4095ull;
}

#endif
