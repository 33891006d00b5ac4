/*
 * hist/rows: the bytes of a count table -> rows. See table.h. The tool's side.
 *
 *   slots -> elements -> one row for each key, the numbers of all parts added up
 *
 * Bytes are a copy that is nobody else's, of a file that anybody may have written to: what a slot names is looked at only
 * where it lies within. Elements that no slot names were never finished.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hist/table.h"

#define PARTS_MAX 4096u
#define SLOTS_MAX (1u << 24)
#define NUMBERS_MAX 64u		/* values, distributions, tracks: more than a histogram can ask for */
#define SAVES_MAX 1024u

struct gather {
	struct hist_rows *rows;
	const struct table_shape *shape;
	uint32_t hash_size;
	uint32_t *index;	/* number of a row + 1, by hash */
	uint32_t mask;
	unsigned char *elements;	/* copies, one for each row */
};

static bool is_sane(const struct table_shape *shape, uint32_t hash_size)
{
	return shape->parts && shape->parts <= PARTS_MAX && shape->slots && shape->slots <= SLOTS_MAX &&
	       shape->elements && shape->elements <= SLOTS_MAX && shape->element_size % 8 == 0 &&
	       shape->element_size <= TABLE_ELEMENT_MAX && shape->key_at % 8 == 0 && shape->nvals <= NUMBERS_MAX &&
	       shape->nspreads <= NUMBERS_MAX && shape->ntracks <= NUMBERS_MAX && shape->nsaves <= SAVES_MAX &&
	       shape->key_at >= table_numbers_size(shape) && shape->key_at <= shape->element_size &&
	       shape->key_size <= shape->element_size - shape->key_at && hash_size <= shape->key_size;
}

static const unsigned char *part_at(const void *bytes, const struct table_shape *shape, uint32_t part)
{
	return (const unsigned char *)bytes + part * table_part_size(shape);
}

/* The element that a slot names, or NULL. */
static const unsigned char *element_at(const unsigned char *part, const struct table_shape *shape, uint32_t slot)
{
	uint64_t word;
	uint32_t number;

	memcpy(&word, part + sizeof(struct table_part) + 8ull * slot, 8);
	number = (uint32_t)word - 1;
	if (!word || number >= shape->elements)
		return NULL;
	return part + sizeof(struct table_part) + 8ull * shape->slots + (uint64_t)number * shape->element_size;
}

static uint64_t count(const void *bytes, const struct table_shape *shape)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < shape->parts; p++)
		for (uint32_t slot = 0; slot < shape->slots; slot++)
			n += element_at(part_at(bytes, shape, p), shape, slot) != NULL;
	return n;
}

static uint64_t hash_of(const unsigned char *key, uint32_t size)
{
	uint64_t hash = 14695981039346656037ull;

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ key[i]) * 1099511628211ull;
	return hash ^ hash >> 32;
}

/* Where tracks and saves of a row are: those of the element that has the most to say. */
static void point_tracks(const struct table_shape *shape, struct hist_row *row, const unsigned char *element)
{
	row->tracks = (const struct table_track *)(const void *)(element + table_tracks_at(shape));
	row->saves = (const struct table_save *)(const void *)(element + table_saves_at(shape));
}

static void add_row(struct gather *g, const unsigned char *element, uint32_t *place)
{
	const struct table_shape *shape = g->shape;
	struct hist_row *row = &g->rows->rows[g->rows->nrows];
	unsigned char *copy = g->elements + (uint64_t)g->rows->nrows * shape->element_size;

	memcpy(copy, element, shape->element_size);
	memcpy(&row->hits, copy, 8);
	row->vals = (uint64_t *)(void *)(copy + 8);
	row->spreads = (uint64_t *)(void *)(copy + table_spreads_at(shape));
	row->key = copy + shape->key_at;
	point_tracks(shape, row, copy);
	*place = ++g->rows->nrows;
}

static void add_up(uint64_t *sums, const unsigned char *from, uint32_t n)
{
	uint64_t value;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(&value, from + 8ull * i, 8);
		sums[i] += value;
	}
}

/* The same key from another part. Its largest value may be there. */
static void merge_row(const struct table_shape *shape, struct hist_row *row, const unsigned char *element)
{
	unsigned char *mine = (unsigned char *)row->vals - 8;
	struct table_track theirs;

	add_up(&row->hits, element, 1);
	add_up(row->vals, element + 8, shape->nvals);
	add_up(row->spreads, element + table_spreads_at(shape), shape->nspreads * TABLE_SPREAD);
	if (!shape->ntracks)
		return;
	memcpy(&theirs, element + table_tracks_at(shape), sizeof(theirs));
	if (theirs.is_set && (!row->tracks->is_set || theirs.value > row->tracks->value))
		memcpy(mine + table_tracks_at(shape), element + table_tracks_at(shape),
		       table_numbers_size(shape) - table_tracks_at(shape));
}

static void take(struct gather *g, const unsigned char *element)
{
	const unsigned char *key = element + g->shape->key_at;
	uint32_t *place, n = (uint32_t)hash_of(key, g->hash_size);

	for (;; n++) {
		place = &g->index[n & g->mask];
		if (!*place) {
			add_row(g, element, place);
			return;
		}
		if (!memcmp(g->rows->rows[*place - 1].key, key, g->hash_size)) {
			merge_row(g->shape, &g->rows->rows[*place - 1], element);
			return;
		}
	}
}

static void gather(struct gather *g, const void *bytes)
{
	const struct table_shape *shape = g->shape;
	const unsigned char *element;

	for (uint32_t p = 0; p < shape->parts; p++) {
		const unsigned char *part = part_at(bytes, shape, p);
		struct table_part head;

		memcpy(&head, part, sizeof(head));
		g->rows->drops += head.drops;
		for (uint32_t slot = 0; slot < shape->slots; slot++) {
			element = element_at(part, shape, slot);
			if (element)
				take(g, element);
		}
	}
	for (uint32_t i = 0; i < g->rows->nrows; i++)
		g->rows->hits += g->rows->rows[i].hits;
}

int hist_rows_read(struct hist_rows *rows, const void *bytes, const struct table_shape *shape, uint32_t hash_size)
{
	struct gather g = { .rows = rows, .shape = &rows->shape, .hash_size = hash_size, .mask = 1 };
	uint64_t n;

	memset(rows, 0, sizeof(*rows));
	if (!is_sane(shape, hash_size))
		return -EINVAL;
	rows->shape = *shape;
	n = count(bytes, shape);
	if (n > SLOTS_MAX || n > (SIZE_MAX / 2 - 64) / (shape->element_size + sizeof(*rows->rows)))
		return -ENOMEM;
	while (g.mask < 2 * n)
		g.mask = g.mask * 2 + 1;
	rows->memory = malloc((size_t)n * shape->element_size + 8);
	rows->rows = calloc((size_t)n + 1, sizeof(*rows->rows));
	g.index = calloc((size_t)g.mask + 1, sizeof(*g.index));
	g.elements = rows->memory;
	if (rows->memory && rows->rows && g.index)
		gather(&g, bytes);
	n = rows->memory && rows->rows && g.index;
	free(g.index);
	if (!n)
		hist_rows_fini(rows);
	return n ? 0 : -ENOMEM;
}

void hist_rows_fini(struct hist_rows *rows)
{
	free(rows->rows);
	free(rows->memory);
	memset(rows, 0, sizeof(*rows));
}
