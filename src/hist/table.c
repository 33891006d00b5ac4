/*
 * hist/table: see table.h. Runs in traced programs, in any thread and signal handler, and in the tool.
 *
 * Rows. A slot is written once, from 0, and an element stays with its key, so that whoever reads a slot may follow it:
 *
 *   take an element (next++) -> fill in its key -> slot: 0 -> hash, number (compare-and-swap)
 *
 * Of two with the same key one wins and the other gives its element back, or loses it when more were taken since. Who dies
 * on the way costs the table one element.
 *
 * Cells. Tag and value change together: with one compare-and-swap of 16 bytes where the CPU has that, else under a bit of
 * the tag. Programs of both kinds share cells. Nobody waits long for the bit: its owner may be dead, and then the cell is
 * freed.
 *
 * Texts. A cell has two, and its value says which one is its text. Who sets it claims the other, which leaves the one in force
 * alone, writes it, and swaps the cell:
 *
 *   value -> value + step, busy -> (text written) -> the other side
 *
 * Values do not come again, in cells that were freed neither, so that an unchanged cell means an unchanged text. Who dies
 * while busy loses the claim to the next one.
 */
#include "hist/table.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>

#define LOAD(at) __atomic_load_n((at), __ATOMIC_RELAXED)
/* Partner: the releasing compare-and-swaps of slots and tags. */
#define LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)

#define TAG_LOCKED (1ull << 63)
#define TRIES 64u
#define SPINS 50000u		/* an owner is two steps from done: one that takes so long is dead, or has lost its CPU */
#define YIELDS 200u		/* which it has back by then */
/* The value of a cell with a text: a count, then which of the cell's two texts it is. */
#define TEXT_SIDE 1ull
#define TEXT_STEP 2ull
#define TEXT_BUSY (1ull << 63)	/* somebody writes the other one */
#define TEXT_SPINS 5000u

static bool cas(uint64_t *at, uint64_t from, uint64_t to)
{
	/* Partner: LOAD_ACQUIRE. */
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool lies_within(const struct hist_tables *tables, uint64_t offset, uint64_t size)
{
	return tables->base && offset % 64 == 0 && offset >= TABLES_DATA_OFFSET && offset <= tables->size &&
	       size <= tables->size - offset;
}

bool hist_shape_fits(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape)
{
	uint64_t numbers = 8 + 8ull * shape->nvals + 8ull * TABLE_SPREAD * shape->nspreads +
			   (uint64_t)shape->ntracks * sizeof(struct table_track) +
			   (uint64_t)shape->nsaves * sizeof(struct table_save);

	return power_of_two(shape->parts) && shape->parts <= 4096 && power_of_two(shape->slots) &&
	       shape->slots <= 1u << 24 && shape->elements && shape->elements <= shape->slots / 2 &&
	       shape->element_size % 8 == 0 && shape->element_size <= TABLE_ELEMENT_MAX && shape->key_at % 8 == 0 &&
	       shape->key_size && shape->key_size % 8 == 0 && shape->key_at >= numbers &&
	       shape->key_at <= shape->element_size && shape->key_size <= shape->element_size - shape->key_at &&
	       lies_within(tables, offset, table_size(shape));
}

bool hist_cells_fit(const struct hist_tables *tables, uint64_t offset, uint32_t cells, bool texts)
{
	return power_of_two(cells) && cells >= TABLE_CELL_PROBES && cells <= 1u << 24 &&
	       lies_within(tables, offset, table_cells_size(cells, texts));
}

uint64_t hist_hash(const void *key, uint32_t size, uint64_t seed)
{
	const unsigned char *at = key;
	uint64_t hash = seed * 0x9e3779b97f4a7c15ull + size, part;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&part, at, 8);
		hash = hist_mix(hash ^ part);
	}
	if (size) {
		part = 0;
		memcpy(&part, at, size);
		hash = hist_mix(hash ^ part);
	}
	return hash;
}

/* ---- Rows ---- */

struct part {
	struct table_part *head;
	uint64_t *slots;
	unsigned char *elements;
};

static struct part part_of(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape, uint32_t n)
{
	unsigned char *at = tables->base + offset + (n & (shape->parts - 1)) * table_part_size(shape);
	struct part part = {
		.head = (struct table_part *)(void *)at,
		.slots = (uint64_t *)(void *)(at + sizeof(struct table_part)),
		.elements = at + sizeof(struct table_part) + 8ull * shape->slots,
	};

	return part;
}

static bool same_key(const unsigned char *a, const void *b, uint32_t size)
{
	uint64_t one, other;

	if (size != 8)
		return !memcmp(a, b, size);
	memcpy(&one, a, 8);
	memcpy(&other, b, 8);
	return one == other;
}

/* Number of an element that is ours now, with its key; -1 when there is none left. */
static int64_t take(const struct part *part, const struct table_shape *shape, const void *key)
{
	uint64_t n = LOAD(&part->head->next);

	while (n < shape->elements && !cas(&part->head->next, n, n + 1))
		n = LOAD(&part->head->next);
	if (n >= shape->elements)
		return -1;
	memcpy(part->elements + n * shape->element_size + shape->key_at, key, shape->key_size);
	return (int64_t)n;
}

static uint64_t *drop(const struct part *part)
{
	__atomic_fetch_add(&part->head->drops, 1, __ATOMIC_RELAXED);
	return NULL;
}

uint64_t *hist_find(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape, uint32_t number,
		    const void *key, uint32_t hash_size)
{
	struct part part = part_of(tables, offset, shape, number);
	uint64_t hash = hist_hash(key, hash_size, 0);
	int64_t mine = -1;

	for (uint32_t probe = 0; probe < HIST_PROBES_MAX && probe < shape->slots; probe++) {
		uint64_t *slot = &part.slots[(hash + probe) & (shape->slots - 1)];
		uint64_t found = LOAD_ACQUIRE(slot);
		uint32_t element;

		if (!found) {
			if (mine < 0)
				mine = take(&part, shape, key);
			if (mine < 0)
				return drop(&part);
			if (cas(slot, 0, (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)(mine + 1)))
				return (uint64_t *)(void *)(part.elements + (uint64_t)mine * shape->element_size);
			found = LOAD_ACQUIRE(slot);
		}
		element = (uint32_t)found - 1;
		if (found >> 32 != hash >> 32 || element >= shape->elements ||
		    !same_key(part.elements + (uint64_t)element * shape->element_size + shape->key_at, key, hash_size))
			continue;
		if (mine >= 0)
			cas(&part.head->next, (uint64_t)mine + 1, (uint64_t)mine);
		return (uint64_t *)(void *)(part.elements + (uint64_t)element * shape->element_size);
	}
	return drop(&part);
}

void hist_drop(const struct hist_tables *tables, uint64_t offset, const struct table_shape *shape, uint32_t number)
{
	struct part part = part_of(tables, offset, shape, number);

	drop(&part);
}

/* ---- Cells ---- */

#if defined(__x86_64__)
static bool cell_swap(struct table_cell *cell, struct table_cell from, struct table_cell to)
{
	bool done;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*cell), "+a"(from.tag), "+d"(from.value)
			 : "b"(to.tag), "c"(to.value)
			 : "memory");
	return done;
}
#elif defined(__aarch64__)
static bool cell_swap(struct table_cell *cell, struct table_cell from, struct table_cell to)
{
	uint64_t tag, value;
	uint32_t failed;

	__asm__ volatile("1:	ldaxp	%[tag], %[value], %[cell]\n"
			 "	cmp	%[tag], %[from_tag]\n"
			 "	ccmp	%[value], %[from_value], #0, eq\n"
			 "	b.ne	2f\n"
			 "	stlxp	%w[failed], %[to_tag], %[to_value], %[cell]\n"
			 "	cbnz	%w[failed], 1b\n"
			 "	b	3f\n"
			 "2:	clrex\n"
			 "3:\n"
			 : [tag] "=&r"(tag), [value] "=&r"(value), [failed] "=&r"(failed), [cell] "+Q"(*cell)
			 : [from_tag] "r"(from.tag), [from_value] "r"(from.value), [to_tag] "r"(to.tag),
			   [to_value] "r"(to.value)
			 : "cc", "memory");
	return tag == from.tag && value == from.value;
}
#else
static bool cell_swap(struct table_cell *cell, struct table_cell from, struct table_cell to)
{
	if (!cas(&cell->tag, from.tag, from.tag | TAG_LOCKED))
		return false;
	/* Either fails when somebody took us for dead: then the cell is theirs. */
	if (!cas(&cell->value, from.value, to.value)) {
		cas(&cell->tag, from.tag | TAG_LOCKED, from.tag);
		return false;
	}
	return cas(&cell->tag, from.tag | TAG_LOCKED, to.tag);
}
#endif

/* Both halves, which may be of two times: what a swap finds out. */
static struct table_cell cell_read(struct table_cell *cell)
{
	struct table_cell now = { 0, 0 };

	for (uint32_t spins = 0;; spins++) {
		now.tag = LOAD_ACQUIRE(&cell->tag);
		if (!(now.tag & TAG_LOCKED))
			break;
		if (spins > SPINS)
			sched_yield();
		if (spins > SPINS + YIELDS)
			cas(&cell->tag, now.tag, 0);
	}
	now.value = LOAD(&cell->value);
	return now;
}

static struct table_cell *cell_at(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag,
				  uint32_t probe)
{
	struct table_cell *first = (struct table_cell *)(void *)(tables->base + offset + sizeof(struct table_cells));

	return &first[(uint32_t)(tag + probe) & (cells - 1)];
}

/* The text that a value of that cell names. */
static unsigned char *text_at(const struct hist_tables *tables, uint64_t offset, uint32_t cells, const struct table_cell *cell,
			      uint64_t value)
{
	uint64_t number = 2 * (uint64_t)(cell - cell_at(tables, offset, cells, 0, 0)) + (value & TEXT_SIDE);

	return tables->base + offset + sizeof(struct table_cells) + cells * 16ull + number * TABLE_TEXT_MAX;
}

static uint64_t tag_of(uint64_t tag)
{
	tag &= ~TAG_LOCKED;
	return tag ? tag : 1;
}

static struct table_cells *head_of(const struct hist_tables *tables, uint64_t offset)
{
	return (struct table_cells *)(void *)(tables->base + offset);
}

static void put_text(unsigned char *at, const void *text, uint32_t len)
{
	len = len < TABLE_TEXT_MAX ? len : TABLE_TEXT_MAX;
	memcpy(at, text, len);
	memset(at + len, 0, TABLE_TEXT_MAX - len);
}

/* The cell with that tag, else a free one, else the first. */
static struct table_cell *choose(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag,
				 struct table_cell *now)
{
	struct table_cell *best = NULL, each;

	for (uint32_t probe = 0; probe < TABLE_CELL_PROBES; probe++) {
		struct table_cell *cell = cell_at(tables, offset, cells, tag, probe);

		each = cell_read(cell);
		if (each.tag == tag || (!each.tag && !best)) {
			best = cell;
			*now = each;
		}
		if (each.tag == tag)
			return best;
	}
	if (!best) {
		best = cell_at(tables, offset, cells, tag, 0);
		*now = cell_read(best);
	}
	return best;
}

/* Two may have set it at once, in two cells: the first one counts. */
static void leave_one(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag)
{
	bool seen = false;

	for (uint32_t probe = 0; probe < TABLE_CELL_PROBES; probe++) {
		struct table_cell *cell = cell_at(tables, offset, cells, tag, probe);
		struct table_cell now;

		if (LOAD(&cell->tag) != tag)
			continue;
		now = cell_read(cell);
		if (seen && now.tag == tag)
			cell_swap(cell, now, (struct table_cell){ 0, now.value });
		seen = true;
	}
}

/* As cell_swap(), for a cell that has the text instead of next.value. */
static bool swap_text(const struct hist_tables *tables, uint64_t offset, uint32_t cells, struct table_cell *cell,
		      struct table_cell now, struct table_cell next, const void *text, uint32_t len)
{
	struct table_cell claimed = { now.tag, (now.value + TEXT_STEP) | TEXT_BUSY };

	for (uint32_t spins = 0; now.value & TEXT_BUSY && spins < TEXT_SPINS; spins++)
		if (LOAD(&cell->value) != now.value)
			return false;
	if (!cell_swap(cell, now, claimed))
		return false;
	/* Who sees the text sees the claim. Partner: the fence in hist_var_get(). */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	next.value = (claimed.value ^ TEXT_SIDE) & ~TEXT_BUSY;
	put_text(text_at(tables, offset, cells, cell, next.value), text, len);
	if (cell_swap(cell, claimed, next))
		return true;
	/* Taken meanwhile, and perhaps set: the claim is given back if it is still ours. */
	cas(&cell->value, claimed.value, claimed.value & ~TEXT_BUSY);
	return false;
}

void hist_var_set(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag, uint64_t value,
		  const void *text, uint32_t len)
{
	struct table_cell now, next = { tag_of(tag), value };

	for (uint32_t tries = 0; tries < TRIES; tries++) {
		struct table_cell *cell = choose(tables, offset, cells, next.tag, &now);

		if (!(text ? swap_text(tables, offset, cells, cell, now, next, text, len) : cell_swap(cell, now, next)))
			continue;
		if (!now.tag)
			leave_one(tables, offset, cells, next.tag);
		else if (now.tag != next.tag)
			break;
		return;
	}
	__atomic_fetch_add(&head_of(tables, offset)->evicted, 1, __ATOMIC_RELAXED);
}

bool hist_var_get(const struct hist_tables *tables, uint64_t offset, uint32_t cells, uint64_t tag, bool once,
		  uint64_t *value, void *text)
{
	tag = tag_of(tag);
	for (uint32_t probe = 0, tries = 0; probe < TABLE_CELL_PROBES; probe++) {
		struct table_cell *cell = cell_at(tables, offset, cells, tag, probe), now;

		if ((LOAD(&cell->tag) & ~TAG_LOCKED) != tag)
			continue;
		now = cell_read(cell);
		if (now.tag != tag)
			continue;
		if (text)
			memcpy(text, text_at(tables, offset, cells, cell, now.value), TABLE_TEXT_MAX);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* A text's value stays when it is taken, for the count in it. */
		if (cell_swap(cell, now, once ? (struct table_cell){ 0, now.value } : now)) {
			*value = now.value;
			return true;
		}
		/* Set anew, or taken: look again. */
		if (++tries < TRIES)
			probe--;
	}
	return false;
}
