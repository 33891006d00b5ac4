/*
 * control/side: see side.h.
 */
#include "control/side.h"

#include <string.h>

#include "control/buffer.h"
#include "control/reclaim.h"
#include "control/space.h"

/* How often triggers swapped the buffer since its state was published. */
static uint32_t turns(const struct control *control, const struct state_buffer *buffer)
{
	uint64_t count = buffer->born && buffer->side ? control_word(control, buffer->side) : 0;

	return count < buffer->nspares ? (uint32_t)count : buffer->nspares;
}

bool control_sides_turned(const struct control *control)
{
	for (uint32_t b = 0; b < control->state.nbuffers; b++)
		if (turns(control, &control->state.buffers[b]))
			return true;
	return false;
}

static void swap_words(struct state_buffer *buffer)
{
	uint32_t word = buffer->side;

	buffer->side = buffer->side_next;
	buffer->side_next = word;
}

/* The live set and `n` - 1 spares behind it were given up, the last of them is the snapshot. */
static int settle(struct control *control, struct state_buffer *buffer, uint32_t n, struct err *err)
{
	int r = control_word_set(control, buffer->side_next, 0, err);

	if (!r)
		r = control_limbo_add(control, &buffer->snapshot, err);
	for (uint32_t i = 0; !r && i < n; i++) {
		/* A snapshot that was followed by another: lost, as in the kernel. */
		if (i)
			r = control_limbo_add(control, &buffer->snapshot, err);
		if (r)
			break;
		buffer->snapshot = buffer->live;
		buffer->live = buffer->spares[0];
		buffer->nspares--;
		memmove(&buffer->spares[0], &buffer->spares[1], buffer->nspares * sizeof(buffer->spares[0]));
		memset(&buffer->spares[buffer->nspares], 0, sizeof(buffer->spares[0]));
	}
	if (!r)
		swap_words(buffer);
	return r;
}

/* The first spare was written to: it is kept as something to be read. */
static int keep_first(struct control *control, struct state_buffer *buffer, struct err *err)
{
	if (buffer->nretired < STATE_RETIRED_MAX) {
		buffer->retired[buffer->nretired++] = buffer->spares[0];
	} else {
		int r = control_limbo_add(control, &buffer->spares[0], err);

		if (r)
			return r;
	}
	buffer->nspares--;
	memmove(&buffer->spares[0], &buffer->spares[1], buffer->nspares * sizeof(buffer->spares[0]));
	memset(&buffer->spares[buffer->nspares], 0, sizeof(buffer->spares[0]));
	return 0;
}

/* The same of one that is no spare any more. What is of another clock or of other pages goes as all that was before it. */
static bool keep_given_up(struct control *control, struct state_buffer *buffer, const struct state_set *set)
{
	if (buffer->nretired == STATE_RETIRED_MAX || set->page_size != buffer->live.page_size ||
	    set->clock.id != buffer->live.clock.id || control_limbo_take(control, set))
		return false;
	buffer->retired[buffer->nretired++] = *set;
	return true;
}

/* Before another word is counted in, or none. */
static void note_side(struct control *control, uint32_t b, uint32_t word)
{
	const struct state_buffer *buffer = &control->state.buffers[b];
	struct control_side *side = &control->sides[b];

	*side = (struct control_side){ .word = word, .nspares = buffer->nspares };
	memcpy(side->spares, buffer->spares, buffer->nspares * sizeof(side->spares[0]));
}

/* After a state was published that does so: did somebody count in the old one meanwhile, beyond `n`? Sets *kept when the state
 * is another one now. */
static int late(struct control *control, uint32_t b, uint32_t n, bool *kept, struct err *err)
{
	struct state_buffer *buffer = &control->state.buffers[b];
	const struct control_side *side = &control->sides[b];
	uint64_t now = control_word(control, side->word);
	int r = 0;

	for (uint32_t i = 0; !r && i < side->nspares && n + i < now; i++) {
		if (buffer->nspares && buffer->spares[0].offset == side->spares[i].offset) {
			r = keep_first(control, buffer, err);
			*kept = true;
		} else if (keep_given_up(control, buffer, &side->spares[i])) {
			*kept = true;
		}
	}
	return r;
}

int control_sides_settle(struct control *control, struct err *err)
{
	struct control_state *state = &control->state;
	uint32_t n[STATE_BUFFERS_MAX] = { 0 };
	bool any = false, kept = false;
	int r = 0;

	for (uint32_t b = 0; b < state->nbuffers && !r; b++) {
		n[b] = turns(control, &state->buffers[b]);
		if (!n[b])
			continue;
		r = settle(control, &state->buffers[b], n[b], err);
		note_side(control, b, state->buffers[b].side_next);
		/* As many as before, even if the transaction comes to nothing; fewer will do where there is no room. */
		if (!r)
			(void)control_buffer_spares(control, &state->buffers[b], NULL);
		any = true;
	}
	if (!any || r)
		return r;
	/* Now, so that nobody counts in the old words any more when they are looked at again. */
	r = control_state_publish(state, &control->dir, err);
	for (uint32_t b = 0; b < state->nbuffers && !r; b++) {
		if (n[b])
			r = late(control, b, n[b], &kept, err);
	}
	return r || !kept ? r : control_state_publish(state, &control->dir, err);
}

/* Some trigger, action or function of this buffer takes snapshots. */
static bool is_wanted(const struct control_state *state, uint32_t b)
{
	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;
		const char *text = state->items[i].text;

		if (item->kind == STATE_ITEM_TRIGGER && item->buffer == b &&
		    (!strncmp(text, "snapshot", 8) || strstr(text, ".snapshot(")))
			return true;
	}
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (state->funcs[i].func.act == STATE_FUNC_SNAPSHOT && state->funcs[i].func.buffer == b)
			return true;
	return false;
}

/* The live set is another one than programs have: what they count by now is about that one, not about the next. */
static int turn_words(struct control *control, uint32_t b, struct err *err)
{
	struct state_buffer *buffer = &control->state.buffers[b];
	int r;

	if (!buffer->side || !buffer->side_next || buffer->live.offset == control->settled[b])
		return 0;
	r = control_word_set(control, buffer->side_next, 0, err);
	if (!r) {
		note_side(control, b, buffer->side);
		swap_words(buffer);
		control->turned |= 1ull << b;
	}
	return r;
}

int control_sides_late(struct control *control, struct err *err)
{
	bool kept = false;
	int r = 0;

	for (uint64_t mask = control->turned; mask && !r; mask &= mask - 1)
		r = late(control, (uint32_t)__builtin_ctzll(mask), 0, &kept, err);
	return r || !kept ? r : control_state_publish(&control->state, &control->dir, err);
}

static int arm(struct control *control, struct state_buffer *buffer, struct err *err)
{
	bool armed = buffer->side;
	int r = 0;

	if (!buffer->side)
		r = control_word_deal(control, 0, &buffer->side, err);
	if (!r && !buffer->side_next)
		r = control_word_deal(control, 0, &buffer->side_next, err);
	if (!r)
		r = control_buffer_spares(control, buffer, err);
	/* Fewer will do for those who have them already: nothing else may fail for want of these. */
	if (armed)
		return 0;
	/* As in the kernel the snapshot is there, if empty, from then on. */
	return r || buffer->snapshot.offset ? r : control_buffer_snapshot_clear(control, buffer, err);
}

int control_sides_arm(struct control *control, struct err *err)
{
	struct control_state *state = &control->state;
	int r = 0;

	control->turned = 0;
	for (uint32_t b = 0; b < state->nbuffers && !r; b++) {
		struct state_buffer *buffer = &state->buffers[b];

		if (!buffer->born)
			continue;
		if (is_wanted(state, b)) {
			r = turn_words(control, b, err);
			if (!r)
				r = arm(control, buffer, err);
		} else if (buffer->side || buffer->nspares) {
			note_side(control, b, buffer->side);
			control->turned |= 1ull << b;
			r = control_buffer_spares_free(control, buffer, err);
			buffer->side = buffer->side_next = 0;
		}
	}
	return r;
}
