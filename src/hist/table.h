/*
 * hist/table: counting and remembering in shared tables (layout/table.h), and reading them back.
 *
 * Writers run in any thread and signal handler, of any number of programs at once, and may be killed anywhere: no locks that
 * anybody waits for. A hit is never lost to contention: it is counted in its row or as a drop. `base` is where the tables
 * file is mapped, `size` how much of it; whatever the geometry says, nothing outside is touched.
 */
#ifndef HIST_TABLE_H
#define HIST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/table.h"

struct hist_tables {
	unsigned char *base;
	uint64_t size;
};

/* Does a table of that shape lie within, and make sense? Once for each view; find and set rely on it. */
bool hist_shape_fits(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape);
bool hist_cells_fit(const struct hist_tables *tables, uint64_t offset, uint32_t cells, bool texts);

uint64_t hist_hash(const void *key, uint32_t size, uint64_t seed);

/* The element with that key, of part `part` % parts; a new one if there is none. NULL: full, counted. `hash_size`: as much
 * of the key is compared; the rest (names of tasks) is stored by who makes the element. */
uint64_t *hist_find(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape, uint32_t part,
		    const void *key, uint32_t hash_size);

static inline uint64_t hist_mix(uint64_t a)
{
	a ^= a >> 32;
	a *= 0xd6e8c5b39f1a7e4dull;
	a ^= a >> 29;
	a *= 0xa3b195354a39b70dull;
	return a ^ a >> 32;
}

#define HIST_PROBES_MAX 1024u	/* half of the slots are free: a row as long as that is no accident */

/* The element with that key of eight bytes if it is there: what hist_find() mostly comes to, for code that calls nothing. */
static inline uint64_t *hist_peek(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape,
				  uint32_t part, uint64_t key)
{
	unsigned char *at = tables->base + offset + (part & (shape->parts - 1)) * table_part_size(shape);
	const uint64_t *slots = (const uint64_t *)(const void *)(at + sizeof(struct table_part));
	const uint64_t hash = hist_mix(sizeof(key) ^ key);

	at += sizeof(struct table_part) + 8ull * shape->slots;
	for (uint32_t probe = 0; probe < HIST_PROBES_MAX && probe < shape->slots; probe++) {
		/* Partner: the releasing compare-and-swap in hist_find(). */
		uint64_t found = __atomic_load_n(&slots[(hash + probe) & (shape->slots - 1)], __ATOMIC_ACQUIRE);
		uint32_t element = (uint32_t)found - 1;
		unsigned char *there = at + (uint64_t)element * shape->element_size;

		if (!found)
			return NULL;
		if (found >> 32 == hash >> 32 && element < shape->elements &&
		    *(const uint64_t *)(const void *)(there + shape->key_at) == key)
			return (uint64_t *)(void *)there;
	}
	return NULL;
}

/* Counts a hit that has no row for another reason. */
void hist_drop(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape, uint32_t part);

/* A variable's value for a key with that hash; never fails. `text`: of texts and stacks, copied, at most TABLE_TEXT_MAX. */
void hist_var_set(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag, uint64_t value,
		  const void *text, uint32_t len);
/* False when it is not set. `once` takes it away. `text`: room for TABLE_TEXT_MAX bytes, or NULL. */
bool hist_var_get(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag, bool once,
		  uint64_t *value, void *text);

/* ---- The tool's side: rows out of a table's bytes. hist/rows.c, not in traced programs ---- */

struct hist_row {
	const unsigned char *key;	/* key_size bytes */
	uint64_t hits;
	uint64_t *vals;			/* nvals sums */
	uint64_t *spreads;		/* nspreads times TABLE_SPREAD counts */
	const struct table_track *tracks;	/* of the newest element; ntracks */
	const struct table_save *saves;		/* nsaves */
};

struct hist_rows {
	struct table_shape shape;
	struct hist_row *rows;
	uint32_t nrows;
	uint64_t hits;
	uint64_t drops;
	void *memory;
};

/* `bytes` is a copy of the table, table_size(shape) long: hostile, and perhaps copied while it changed. -ENOMEM, -EINVAL.
 * Rows of all parts with the same first `hash_size` bytes of key are one. */
int hist_rows_read(struct hist_rows *rows, const void *bytes, const struct table_shape *shape, uint32_t hash_size);
void hist_rows_fini(struct hist_rows *rows);

#endif
