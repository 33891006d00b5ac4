/*
 * control/space: see space.h.
 *
 * Extents are given out first fit, in pages. One that was given up may be written to by a program that is in the middle of
 * something: it lies in limbo for TABLE_GRACE_NS, and then gives its memory back.
 */
#include "control/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mono.h"
#include "control/file.h"
#include "layout/table.h"

/* What is given up within that time counts as given up at its beginning, and waits for so much longer. */
#define TOGETHER_NS 1000000000ull

static uint64_t word_offset(uint32_t word)
{
	return offsetof(struct tables_head, words) + (uint64_t)word * sizeof(uint64_t);
}

/* A word that the transaction under way changes, and the value that it has once that is committed. */
struct word_change {
	uint64_t value;
	uint32_t word;
	uint32_t reserved;
};

static struct word_change *changes(const struct control *control, size_t *n)
{
	*n = control->words.len / sizeof(struct word_change);
	return (struct word_change *)(void *)control->words.data;
}

static struct word_change *find_change(const struct control *control, uint32_t word)
{
	size_t n;
	struct word_change *change = changes(control, &n);

	while (n-- > 0)
		if (change[n].word == word)
			return &change[n];
	return NULL;
}

uint64_t control_word(const struct control *control, uint32_t word)
{
	const struct word_change *change = find_change(control, word);
	uint64_t value = 0;

	if (change)
		return change->value;
	if (word >= TABLE_WORDS ||
	    control_file_read(&control->dir, SEGMENT_TABLES, &value, sizeof(value), word_offset(word), NULL))
		return 0;
	return value;
}

int control_word_set(struct control *control, uint32_t word, uint64_t value, struct err *err)
{
	if (word >= TABLE_WORDS)
		return err_set(err, -EUCLEAN, "there is no word %u", word);
	return control_file_publish(&control->dir, SEGMENT_TABLES, &value, sizeof(value), word_offset(word), err);
}

int control_word_change(struct control *control, uint32_t word, uint64_t value, struct err *err)
{
	struct word_change *before = find_change(control, word), change = { .word = word, .value = value };

	if (word >= TABLE_WORDS)
		return err_set(err, -EUCLEAN, "there is no word %u", word);
	if (before)
		before->value = value;
	else
		buf_add(&control->words, &change, sizeof(change));
	return buf_failed(&control->words) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int control_words_apply(struct control *control, struct err *err)
{
	size_t n;
	const struct word_change *change = changes(control, &n);
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = control_word_set(control, change[i].word, change[i].value, err);
	return r;
}

void control_words_forget(struct control *control)
{
	if (buf_failed(&control->words))
		buf_fini(&control->words);
	buf_reset(&control->words);
}

static bool word_used(const struct control_state *state, uint32_t word)
{
	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->count == word || item->pause == word || item->snapshots == word)
			return true;
	}
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (state->funcs[i].func.count == word)
			return true;
	for (uint32_t b = 0; b < state->nbuffers; b++)
		if (state->buffers[b].born && (state->buffers[b].off == word || state->buffers[b].side == word ||
					       state->buffers[b].side_next == word))
			return true;
	return false;
}

int control_word_deal(struct control *control, uint64_t value, uint32_t *word, struct err *err)
{
	/* Not the one that was given up last: a program may still be about to store into that. */
	uint32_t from = control->state.serial * 4;

	for (uint32_t i = 0; i < TABLE_WORDS - 1; i++) {
		uint32_t at = (from + i) % (TABLE_WORDS - 1) + 1;

		if (word_used(&control->state, at))
			continue;
		*word = at;
		/* What was to become of it when it was somebody else's. */
		if (find_change(control, at))
			find_change(control, at)->value = value;
		return control_word_set(control, at, value, err);
	}
	return err_set(err, -ENOSPC, "there are too many triggers");
}

/* Gives back what has lain in limbo for long enough. */
static void reclaim(struct control *control)
{
	struct control_state *state = &control->state;
	uint64_t now = mono_ns();
	uint32_t kept = 0;
	uint64_t size;

	if (control_file_size(&control->dir, SEGMENT_TABLES, &size, NULL))
		return;
	for (uint32_t i = 0; i < state->ntable_limbo; i++) {
		struct state_limbo *limbo = &state->table_limbo[i];
		uint64_t end = limbo->offset + limbo->size < size ? limbo->offset + limbo->size : size;

		if (now - limbo->mono < TABLE_GRACE_NS + TOGETHER_NS)
			state->table_limbo[kept++] = *limbo;
		else if (limbo->offset < end)
			(void)control_file_punch(&control->dir, SEGMENT_TABLES, limbo->offset, end - limbo->offset, NULL);
	}
	state->ntable_limbo = kept;
}

/* Moves *at behind anything that overlaps [*at, *at + size). True when it was moved. */
static bool step_over(uint64_t *at, uint64_t size, uint64_t offset, uint64_t len)
{
	if (!len || offset + len <= *at || offset >= *at + size)
		return false;
	*at = offset + len;
	return true;
}

static uint64_t find_room(const struct control_state *state, uint64_t size)
{
	uint64_t at = TABLES_DATA_OFFSET;
	bool moved;

	do {
		moved = false;
		for (uint32_t i = 0; i < state->nitems; i++) {
			const struct state_item *item = &state->items[i].item;

			moved |= step_over(&at, size, item->table, item->table_size);
			moved |= step_over(&at, size, item->cells, item->cells_size);
		}
		moved |= step_over(&at, size, state->measure.profile, state->measure.profile_size);
		moved |= step_over(&at, size, state->measure.deepest, state->measure.deepest_size);
		moved |= step_over(&at, size, state->measure.touched, state->measure.touched_size);
		for (uint32_t i = 0; i < state->ntable_limbo; i++)
			moved |= step_over(&at, size, state->table_limbo[i].offset, state->table_limbo[i].size);
	} while (moved);
	return at;
}

int control_extent_make(struct control *control, uint64_t size, uint64_t *offset, struct err *err)
{
	uint64_t at;
	int r;

	reclaim(control);
	at = find_room(&control->state, size);
	if (size > TABLES_SIZE_MAX || at > TABLES_SIZE_MAX - size)
		return err_set(err, -ENOSPC, "%s/tables: no room for a table of %llu KiB: use a smaller size=",
			       control->dir.path, (unsigned long long)size / 1024);
	r = control_file_grow(&control->dir, SEGMENT_TABLES, at + size, err);
	/* Whoever used it last, or died before a state named it, left something there. */
	if (!r)
		r = control_file_punch(&control->dir, SEGMENT_TABLES, at, size, err);
	if (!r)
		r = control_file_back(&control->dir, SEGMENT_TABLES, at, size, err);
	*offset = at;
	return r;
}

/* Is anything in use between two bytes? */
static bool is_used(const struct control_state *state, uint64_t from, uint64_t to)
{
	const struct state_measure *measure = &state->measure;
	uint64_t at = from;
	bool used = step_over(&at, to - from, measure->profile, measure->profile_size) ||
		    step_over(&at, to - from, measure->deepest, measure->deepest_size) ||
		    step_over(&at, to - from, measure->touched, measure->touched_size);

	for (uint32_t i = 0; i < state->nitems && !used; i++) {
		const struct state_item *item = &state->items[i].item;

		used = step_over(&at, to - from, item->table, item->table_size) ||
		       step_over(&at, to - from, item->cells, item->cells_size);
	}
	return used;
}

static int by_offset(const void *a, const void *b)
{
	const struct state_limbo *one = a, *other = b;

	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* All that nothing lies between becomes one, of the youngest age: then there is one more at most than there are extents in use. */
static void close_up(struct control_state *state)
{
	struct state_limbo *all = state->table_limbo;
	uint32_t kept = 0;

	qsort(all, state->ntable_limbo, sizeof(*all), by_offset);
	for (uint32_t i = 1; i < state->ntable_limbo; i++) {
		struct state_limbo *last = &all[kept];
		const uint64_t end = last->offset + last->size;

		if (all[i].offset > end && is_used(state, end, all[i].offset)) {
			all[++kept] = all[i];
			continue;
		}
		last->size = all[i].offset + all[i].size - last->offset;
		last->mono = last->mono > all[i].mono ? last->mono : all[i].mono;
	}
	state->ntable_limbo = state->ntable_limbo ? kept + 1 : 0;
}

/* Neighbours that are given up together share an entry. Not with older ones, which would never come to their end. */
static bool join(struct control_state *state, uint64_t offset, uint64_t size, uint64_t now)
{
	for (uint32_t i = state->ntable_limbo; i-- > 0;) {
		struct state_limbo *limbo = &state->table_limbo[i];

		if ((limbo->offset + limbo->size != offset && offset + size != limbo->offset) || now - limbo->mono > TOGETHER_NS)
			continue;
		limbo->offset = limbo->offset < offset ? limbo->offset : offset;
		limbo->size += size;
		return true;
	}
	return false;
}

int control_extent_drop(struct control *control, uint64_t *offset, uint64_t *size, struct err *err)
{
	struct control_state *state = &control->state;
	const uint64_t now = mono_ns();

	if (!*offset)
		return 0;
	if (control_state_table_limbo(state))
		return err_set(err, -ENOMEM, "out of memory");
	if (!join(state, *offset, *size, now)) {
		if (state->ntable_limbo == STATE_TABLE_LIMBO_MAX)
			reclaim(control);
		if (state->ntable_limbo == STATE_TABLE_LIMBO_MAX)
			close_up(state);
		if (state->ntable_limbo == STATE_TABLE_LIMBO_MAX)
			return err_set(err, -EBUSY, "%s/tables: too many tables were given up in a short time: try again in 10 s",
				       control->dir.path);
		state->table_limbo[state->ntable_limbo++] = (struct state_limbo){
			.offset = *offset, .size = *size, .generation = control_state_generation(state), .mono = now,
		};
	}
	*offset = *size = 0;
	return 0;
}

int control_extents_drop(struct control *control, const struct state_item *item, struct err *err)
{
	const struct control_state *state = &control->state;
	uint64_t table = item->table, table_size = item->table_size;
	uint64_t cells = item->cells, cells_size = item->cells_size;
	int r;

	for (uint32_t i = 0; i < state->nitems; i++)
		if (state->items[i].item.serial != item->serial && state->items[i].item.table == table)
			table = 0;
	r = control_extent_drop(control, &table, &table_size, err);
	return r ? r : control_extent_drop(control, &cells, &cells_size, err);
}

void control_space_drop(struct control *control)
{
	struct control_state *state = &control->state;
	uint64_t size, at = TABLES_DATA_OFFSET;

	state->ntable_limbo = 0;
	if (control_file_size(&control->dir, SEGMENT_TABLES, &size, NULL))
		return;
	size = size < TABLES_SIZE_MAX ? size & ~4095ull : TABLES_SIZE_MAX;
	if (size > at) {
		size -= at;
		control_extent_drop(control, &at, &size, NULL);
	}
}
