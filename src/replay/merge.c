/*
 * replay/merge: a part's records in the order of their keys; of equal ones the lane that was added
 * first comes first, as in trace-cmd.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/local.h"

struct replay_part *part_new(struct replay *replay)
{
	struct replay_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->replay = replay;
	part->lanes = calloc(replay->nr_lanes ? replay->nr_lanes : 1, sizeof(*part->lanes));
	part->heap = calloc(replay->nr_lanes ? replay->nr_lanes : 1, sizeof(*part->heap));
	if (!part->lanes || !part->heap)
		goto fail;
	for (size_t i = 0; i < replay->nr_lanes; i++) {
		part->lanes[i].carry = decode_carry_new();
		if (!part->lanes[i].carry)
			goto fail;
	}
	return part;
fail:
	part_free(part);
	return NULL;
}

void part_drop_blocks(struct replay_part *part)
{
	for (size_t i = 0; i < part->nr_blocks; i++)
		dat_block_drop(part->blocks[i]);
	part->nr_blocks = 0;
}

void part_free(struct replay_part *part)
{
	if (!part)
		return;
	part_drop_blocks(part);
	for (size_t i = 0; part->lanes && i < part->replay->nr_lanes; i++)
		decode_carry_free(part->lanes[i].carry);
	free(part->lanes);
	free(part->heap);
	free(part->blocks);
	free(part);
}

static bool earlier(const struct replay_part *part, uint32_t a, uint32_t b)
{
	const struct cursor *x = &part->lanes[a].at, *y = &part->lanes[b].at;

	return x->key != y->key ? x->key < y->key : x->lane->order < y->lane->order;
}

/* The lane at `i` may have become later than those below it. */
static void sink_down(struct replay_part *part, size_t i)
{
	uint32_t *heap = part->heap, lane = heap[i];

	/* Mostly it is still the first of all. */
	if (part->nr_heap == 2 && !earlier(part, heap[1], lane))
		return;
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= part->nr_heap)
			break;
		if (child + 1 < part->nr_heap && earlier(part, heap[child + 1], heap[child]))
			child++;
		if (!earlier(part, heap[child], lane))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = lane;
}

static bool in_part(const struct replay_part *part, const struct cursor *c)
{
	return c->has && c->key <= part->end && c->key <= part->replay->to;
}

void part_begin(struct replay_part *part)
{
	part->nr_heap = 0;
	part->moved = false;
	for (size_t i = 0; i < part->nr_lanes; i++)
		if (in_part(part, &part->lanes[i].at))
			part->heap[part->nr_heap++] = (uint32_t)i;
	for (size_t i = part->nr_heap / 2; i--;)
		sink_down(part, i);
}

void record_fill(struct replay_record *out, struct replay_part *part, struct cursor *c)
{
	*out = (struct replay_record){
		.lane = &c->lane->pub,
		.ts = c->ts,
		.raw_ts = c->event.ts,
		.data = c->event.data,
		.len = c->event.len,
		.id = c->event.len < 2 ? UINT32_MAX :
			(uint32_t)decode_abi_load(c->event.data, 2, c->walk.big_endian),
		.lost = c->lost,
		.at = c->at,
		.first_of_page = c->first_of_page,
		.page_offset = c->event.offset,
		.part = part,
		.cursor = c,
	};
}

/* Goes on in the first lane, and brings the one that is first then to the front. */
static void step(struct replay_part *part)
{
	struct cursor *c = &part->lanes[part->heap[0]].at;

	cursor_next(c);
	if (!in_part(part, c))
		part->heap[0] = part->heap[--part->nr_heap];
	if (part->nr_heap > 1)
		sink_down(part, 0);
}

bool part_next(struct replay_part *part, struct replay_record *out)
{
	struct cursor *c;

	/* Those who come again after the end find it once more. */
	if (part->moved && part->nr_heap)
		step(part);
	part->moved = true;
	for (; part->nr_heap; step(part)) {
		c = &part->lanes[part->heap[0]].at;
		if (!c->taken) {
			record_fill(out, part, c);
			return true;
		}
		c->taken = false;
	}
	return false;
}

static bool comes_before(const struct cursor *a, const struct cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->lane->order < b->lane->order;
}

/*
 * Does what one lane has stand between two records of another? Of one buffer everything does; of a kernel beside programs what
 * it did on that CPU, which the program was in the middle of.
 */
static bool is_between(const struct lane *lane, const struct lane *of)
{
	return lane->pub.buffer == of->pub.buffer ||
	       (of->file->mixed && lane->file == of->file && lane->pub.cpu == of->pub.cpu);
}

/* Of the other lanes that count for it the one that comes next, if that is before `ahead`. */
static struct cursor *overtaking(struct replay_part *part, const struct cursor *ahead)
{
	struct cursor *found = NULL;

	for (size_t i = 0; i < part->nr_lanes; i++) {
		struct cursor *c = &part->lanes[i].at;

		if (c->lane == ahead->lane || !c->has || c->taken || !is_between(c->lane, ahead->lane))
			continue;
		if ((!ahead->has || comes_before(c, ahead)) && (!found || comes_before(c, found)))
			found = c;
	}
	return found;
}

/*
 * The same where `ahead` is in the part: then so is what comes before it, and the heap has it right
 * below the record's own lane, unless there are other buffers.
 */
static struct cursor *overtaking_near(struct replay_part *part, const struct cursor *ahead)
{
	struct cursor *found = NULL;

	if (!in_part(part, ahead) || part->lanes[part->heap[0]].at.lane != ahead->lane)
		return overtaking(part, ahead);
	for (size_t i = 1; i < 3 && i < part->nr_heap; i++) {
		struct cursor *c = &part->lanes[part->heap[i]].at;

		if (c->taken || c->lane->pub.buffer != ahead->lane->pub.buffer)
			return overtaking(part, ahead);
		if (comes_before(c, ahead) && (!found || comes_before(c, found)))
			found = c;
	}
	return found;
}

bool replay_peek(const struct replay_record *rec, struct replay_record *out)
{
	struct cursor ahead = *(const struct cursor *)rec->cursor;

	if (!rec->part)
		return false;
	ahead.exact = false;
	cursor_next(&ahead);
	rec->part->peeked = overtaking_near(rec->part, &ahead);
	if (!rec->part->peeked && !ahead.has)
		return false;
	record_fill(out, NULL, rec->part->peeked ? rec->part->peeked : &ahead);
	out->cursor = NULL;
	return true;
}

/* One behind the part is taken by join_ends(), too. */
void replay_take(const struct replay_record *rec)
{
	if (rec->part && rec->part->peeked)
		rec->part->peeked->taken = true;
	else
		((struct cursor *)rec->cursor)->skip = true;
}

bool replay_went_back(const struct replay_record *rec, uint64_t *before)
{
	const struct cursor *c = rec->cursor;

	*before = c->key;
	return c->ts < c->key;
}

/* The feed's own records have no part. */
struct decode_carry *replay_carry(const struct replay_record *rec)
{
	const struct cursor *c = rec->cursor;

	return rec->part ? ((const struct part_lane *)c)->carry : c->lane->carry;
}
