/*
 * ring/write: see write.h. Runs in traced programs, in any thread and signal handler; no libc call, no lock, no wait.
 *
 * The twin follows the sections' text step by step, in C and with the ring to itself. It needs no section because the
 * slot's owner is the only writer; a death between two of its stores leaves what a death inside a section leaves.
 */
#include "base/regs.h"

#include "ring/write.h"

#include <stdatomic.h>

#include "ring/arch.h"

/* Shared words are plain integers in the layout; these are the only ways to touch them from C. */
#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
/* Pairs with the acquiring loads of commit and tail in ring/read.c. */
#define PUBLISH(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)

static enum ring_result slow_write(struct ring_rseq *rs, struct ring_op *op, enum ring_result result)
{
	unsigned aborts = 0;

	for (unsigned turn = 0; turn < RING_TURNS_MAX; turn++) {
		switch (result) {
		case RING_FULL:
		case RING_CORRUPT:
			result = section_switch(rs, op);
			break;
		case RING_EXTEND:
			op->extend = EVENT_EXTEND_SIZE;
			result = section_write(rs, op);
			break;
		case RING_ABORTED:
			if (++aborts == RING_ABORTS_MAX)
				return RING_ABORTED;
			result = section_write(rs, op);
			break;
		case RING_SWITCHED:
		case RING_AGAIN:
			result = section_write(rs, op);
			break;
		default:
			return result;
		}
	}
	return result == RING_DONE || result == RING_DROPPED ? result : RING_CORRUPT;
}

enum ring_result ring_write(struct ring_rseq *rs, struct ring_op *op)
{
	enum ring_result result;

	op->extend = 0;
	result = section_write(rs, op);
	if (__builtin_expect(result == RING_DONE, 1))
		return RING_DONE;
	return slow_write(rs, op, result);
}

/* ---- the twin ---- */

struct place {
	uint32_t index;
	struct page_head *page;
	uint64_t commit;
	struct ring_slot *now, *other;
};

static struct page_head *page_at(const struct ring_ref *ref, uint32_t index)
{
	return (struct page_head *)(void *)(ref->pages + ((size_t)index << ref->page_shift));
}

/* Where the next event goes, and the slot in force; false when the words make no sense. */
static bool find_place(const struct ring_ref *ref, uint64_t tail, struct place *place)
{
	struct ring_head *head = ref->head;
	uint64_t pos;

	place->index = (uint32_t)tail & RING_INDEX_MASK;
	place->now = &head->slot[1];
	place->other = &head->slot[0];
	if (place->index >= ref->npages)
		return false;
	place->page = page_at(ref, place->index);
	place->commit = LOAD(place->page->commit);
	pos = ring_pos(tail, place->commit);
	if (LOAD(head->slot[0].tag) == pos) {
		place->now = &head->slot[0];
		place->other = &head->slot[1];
	}
	return LOAD(place->now->tag) == pos;
}

static uint64_t page_after(const struct ring_ref *ref, uint64_t tail)
{
	uint64_t lap = tail & ~(uint64_t)RING_INDEX_MASK;
	uint32_t index = ((uint32_t)tail & RING_INDEX_MASK) + 1;

	return index < ref->npages ? lap + index : lap + RING_LAP;
}

/* In discard mode one page stays between the writer and what a CPU's stream has not read through: readers accept no
 * copy of the page that the writer may enter next. */
static bool unread(const struct ring_ref *ref, uint32_t ncpu, uint64_t next)
{
	const struct ring_stream *stream = (const void *)((const char *)ref->head + RING_STREAMS_OFFSET);
	uint64_t page = ring_pos(page_after(ref, next) - RING_LAP, 0);

	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		uint64_t consumed = LOAD(stream[cpu].consumed);

		if ((consumed & ~((1ull << RING_OFFSET_BITS) - 1)) == page)
			return true;
	}
	return false;
}

static enum ring_result twin_switch(const struct ring_ref *ref, uint32_t ncpu, uint64_t tail,
				    const struct place *place)
{
	struct ring_head *head = ref->head;
	uint64_t next = page_after(ref, tail);
	uint32_t index = (uint32_t)next & RING_INDEX_MASK;
	uint64_t ts, nr;

	if (!(ref->flags & RING_REF_OVERWRITE) && unread(ref, ncpu, next)) {
		STORE(head->dropped, LOAD(head->dropped) + 1);
		return RING_DROPPED;
	}
	/* R9: nothing goes into the next page before the tail that made this one current is seen. Pairs with the
	 * second load of tail in ring/read.c. */
	atomic_thread_fence(memory_order_release);
	ts = LOAD(place->now->ts);
	nr = LOAD(place->now->nr);
	STORE(page_at(ref, index)->commit, 0);
	STORE(ref->first[index], nr + LOAD(head->dropped));
	STORE(place->other->ts, ts);
	STORE(place->other->nr, nr);
	STORE(place->other->tag, ring_pos(next, 0));
	PUBLISH(head->tail, next);
	return RING_SWITCHED;
}

static void put_word(unsigned char **at, uint32_t word)
{
	__atomic_store_n((uint32_t *)(void *)*at, word, __ATOMIC_RELAXED);
	*at += 4;
}

static void put_event(unsigned char *at, const struct ring_op *op, uint32_t cpu, uint64_t delta, bool extend)
{
	uint32_t len = op->len + 4;
	uint32_t word;

	if (extend) {
		put_word(&at, (uint32_t)delta << EVENT_TYPE_BITS | EVENT_TYPE_TIME_EXTEND);
		put_word(&at, (uint32_t)(delta >> EVENT_DELTA_BITS));
		delta = 0;
	}
	if (len <= EVENT_LEN_MAX_SHORT) {
		put_word(&at, (uint32_t)delta << EVENT_TYPE_BITS | len / 4);
	} else {
		put_word(&at, (uint32_t)delta << EVENT_TYPE_BITS | EVENT_TYPE_LONG);
		put_word(&at, len + 4);
	}
	put_word(&at, cpu);
	for (uint32_t i = 0; i < op->len; i += 4) {
		__builtin_memcpy(&word, (const char *)op->payload + i, 4);
		put_word(&at, word);
	}
}

static enum ring_result twin_event(const struct ring_ref *ref, const struct place *place, uint64_t tail,
				   struct ring_op *op, uint32_t cpu)
{
	uint32_t len = op->len + 4;
	uint32_t need = 4 + (len <= EVENT_LEN_MAX_SHORT ? 0 : 4) + len;
	uint64_t last = LOAD(place->now->ts);
	uint64_t ts = op->ts > last ? op->ts : last;
	uint64_t delta = ts - last;
	bool extend = place->commit && delta > EVENT_DELTA_MAX;
	uint64_t commit;

	need += extend ? EVENT_EXTEND_SIZE : 0;
	if (place->commit > ref->data_size - need || (extend && delta >> EVENT_DELTA_BITS >> 32))
		return RING_FULL;
	if (!place->commit) {
		STORE(place->page->time_stamp, ts);
		delta = 0;
	}
	put_event((unsigned char *)place->page + PAGE_HEAD_SIZE + place->commit, op, cpu, delta, extend);
	commit = place->commit + need;
	op->ts = ts;
	STORE(place->other->ts, ts);
	STORE(place->other->nr, LOAD(place->now->nr) + 1);
	STORE(place->other->tag, ring_pos(tail, commit));
	PUBLISH(place->page->commit, commit);
	return RING_DONE;
}

enum ring_result ring_twin_write(const struct ring_ref *ref, struct ring_op *op, uint32_t cpu)
{
	enum ring_result result;

	for (unsigned turn = 0; turn < RING_TURNS_MAX; turn++) {
		uint64_t tail = LOAD(ref->head->tail);
		struct place place;
		bool sane = find_place(ref, tail, &place);

		result = sane ? twin_event(ref, &place, tail, op, cpu) : RING_FULL;
		if (result == RING_FULL)
			result = twin_switch(ref, op->ncpu, tail, &place);
		if (result != RING_SWITCHED)
			return result;
		op->result = RING_SWITCHED;
	}
	return RING_CORRUPT;
}

/* ---- overflow slots ---- */

static bool take(struct overflow_slot *slot, uint64_t from, uint64_t me)
{
	/* Acquires what the last owner left in the ring; partner: ring_overflow_release(). As a full barrier it also
	 * comes before the owner's look at the generation: whoever reclaims sees the owner, or the owner sees the new
	 * generation. */
	if (!__atomic_compare_exchange_n(&slot->owner, &from, me, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	STORE(slot->taken, LOAD(slot->taken) + 1);
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

int ring_overflow_take(struct overflow_slot *slots, uint32_t n, uint32_t first, uint64_t me,
		       bool (*dead)(uint64_t owner))
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (first + i) % n;

		if (!LOAD(slots[at].owner) && take(&slots[at], 0, me))
			return (int)at;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (first + i) % n;
		uint64_t owner = LOAD(slots[at].owner);

		if ((!owner || dead(owner)) && take(&slots[at], owner, me))
			return (int)at;
	}
	return -1;
}

void ring_overflow_release(struct overflow_slot *slot)
{
	/* Partner: take() by the next owner. */
	PUBLISH(slot->owner, 0);
}

REGS_END
