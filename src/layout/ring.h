/*
 * layout/ring: one CPU's ring, and the sets they come in.
 *
 * A *position* names a byte of a ring: the tail word (lap and page index) and the offset in that page's data, in one
 * 64-bit word. Tags and the consumed position are positions; comparing two of them for equality is all a writer does.
 *
 *   tail      lap : 44 | index : 20            the page being written; index < npages
 *   position  lap : 24 | index : 20 | offset : 20
 *
 * A *set* is what one buffer writes to in one generation: a head page, a ring for each CPU, then as many overflow
 * rings for writers that have no rseq, then as many for what is told late: events of the CPU that somebody else records some
 * time after they happened. Rings of a set have the same shape, `stride` bytes apart:
 *
 *   set_head 4096 | ring_head (ring_head_size) | first[npages], rounded up to 4096 | pages | ring_head | ...
 */
#ifndef LAYOUT_RING_H
#define LAYOUT_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/page.h"
#include "layout/segment.h"

#define RING_INDEX_BITS 20
#define RING_INDEX_MASK ((1u << RING_INDEX_BITS) - 1)
#define RING_LAP (1ull << RING_INDEX_BITS)
#define RING_OFFSET_BITS 20
#define RING_NPAGES_MIN 4u	/* a reader may look at all but the two that a writer may be in */
#define RING_NPAGES_MAX (1u << RING_INDEX_BITS)

static inline uint64_t ring_pos(uint64_t tail, uint64_t offset)
{
	return tail << RING_OFFSET_BITS | offset;
}

/* The time and number of the last event, valid while `tag` is the position at which the next one goes. */
struct ring_slot {
	uint64_t tag;
	uint64_t ts;
	uint64_t nr;		/* events committed to this ring so far */
	uint64_t reserved;
};

/* Where consuming readers have come to, valid while `pos` equals ring_head.consumed. */
struct ring_read {
	uint64_t pos;
	uint64_t nr;		/* number of the next event to be read, drops counted */
	uint64_t lost;		/* events that were gone before they could be read, so far */
	uint64_t read;		/* events handed out so far */
	uint64_t refused;	/* of ring_head.refused, how many were told */
	uint64_t ts;		/* time of the last event handed out, or of one before it */
	uint64_t reserved[2];
};

/*
 * Why a writer wakes: for each event; or when it enters a page, if then at least so many are closed and unread. Their number is in
 * the bits from RING_WAIT_SHIFT on.
 */
enum { RING_WAIT_EVENT = 1, RING_WAIT_PAGE = 2, RING_WAIT_SHIFT = 8 };

/* Are there so many pages between a position and the tail? What makes no sense is enough. */
static inline bool ring_wait_over(uint32_t waiters, uint64_t consumed, uint64_t tail, uint32_t npages)
{
	uint32_t lap = (uint32_t)(tail >> RING_INDEX_BITS), from = (uint32_t)(consumed >> (RING_INDEX_BITS + RING_OFFSET_BITS));
	uint32_t index = (uint32_t)tail & RING_INDEX_MASK, start = (uint32_t)(consumed >> RING_OFFSET_BITS) & RING_INDEX_MASK;
	uint32_t laps = (lap - from) & ((1u << (64 - RING_INDEX_BITS - RING_OFFSET_BITS)) - 1);

	/* Less than nothing is a lot. */
	return laps > 1 || laps * npages + index - start >= waiters >> RING_WAIT_SHIFT;
}

struct ring_head {
	/* Written by writers on this CPU inside sections, but for `waiters`, which sections never look at. */
	uint64_t tail;
	uint64_t dropped;	/* discard mode: events refused because the ring was full */
	uint32_t waiters;	/* RING_WAIT_*: somebody sleeps on the set's `wakes` */
	uint32_t made;		/* the pages are backed by memory */
	uint64_t reserved0[5];
	struct ring_slot slot[2];
	/* Written by consuming readers, under the ring's lock. */
	uint64_t consumed;
	uint64_t reserved1[7];
	struct ring_read read[2];
	/* Written before the generation that brings the ring is published, and never after. */
	uint32_t cpu;
	uint32_t npages;
	uint32_t page_size;
	uint32_t ncpu;
	uint64_t reserved2[6];
	/* Added to by anybody: events that found no way into this CPU's stream. */
	uint64_t refused;
	uint64_t reserved3[7];
};
static_assert(offsetof(struct ring_head, slot) == 64, "slots have a line of their own");
static_assert(offsetof(struct ring_head, consumed) == 128, "readers have a line of their own");
static_assert(offsetof(struct ring_head, read) == 192, "read records");
static_assert(offsetof(struct ring_head, cpu) == 320, "geometry");
static_assert(offsetof(struct ring_head, refused) == 384, "refused");
static_assert(sizeof(struct ring_head) == 448, "ring header");

/*
 * An overflow ring holds records of every CPU, each behind a word that names it; a CPU's stream keeps its own
 * position in each of them, from this offset of the overflow ring's head on: struct ring_read[2] and the consumed
 * word, a stream after the other.
 */
struct ring_stream {
	uint64_t consumed;
	uint64_t reserved[7];
	struct ring_read read[2];
};
static_assert(sizeof(struct ring_stream) == 192, "stream");
#define RING_STREAMS_OFFSET 512u

/*
 * What is told late is complete up to a time, which the teller stores when all before it lies in the rings. 0: nobody ever told
 * anything here. While a teller is at work (struct rings_head) on this set, readers hand out nothing that is later.
 */
struct set_head {
	uint32_t wakes;		/* futex that blocked readers of any of the set's rings sleep on */
	uint32_t reserved0;
	uint64_t told;		/* by the set's clock */
	uint64_t told_mono;	/* the same moment by CLOCK_MONOTONIC */
	uint64_t reserved[5];
};
static_assert(sizeof(struct set_head) == 64, "readers lock the bytes behind it");

#define SET_HEAD_SIZE 4096u

static inline uint64_t ring_align(uint64_t bytes)
{
	return (bytes + 4095) & ~4095ull;
}

static inline uint64_t ring_head_size(uint32_t ncpu)
{
	return ring_align(RING_STREAMS_OFFSET + (uint64_t)ncpu * sizeof(struct ring_stream));
}

static inline uint64_t ring_pages_offset(uint32_t ncpu, uint32_t npages)
{
	return ring_head_size(ncpu) + ring_align((uint64_t)npages * 8);
}

static inline uint64_t ring_stride(uint32_t ncpu, uint32_t npages, uint32_t page_size)
{
	return ring_pages_offset(ncpu, npages) + (uint64_t)npages * page_size;
}

/* Ring `i` of the set at `set`: i < ncpu is CPU i's, ncpu + i the overflow ring of slot i, 2 * ncpu + i for what is told late of CPU i. */
static inline uint64_t set_ring_offset(uint64_t set, uint32_t i, uint32_t ncpu, uint32_t npages,
				       uint32_t page_size)
{
	return set + SET_HEAD_SIZE + (uint64_t)i * ring_stride(ncpu, npages, page_size);
}

static inline uint64_t set_size(uint32_t ncpu, uint32_t npages, uint32_t page_size)
{
	return SET_HEAD_SIZE + 3 * (uint64_t)ncpu * ring_stride(ncpu, npages, page_size);
}

/* As far as programs write. */
static inline uint64_t set_written_size(uint32_t ncpu, uint32_t npages, uint32_t page_size)
{
	return set_ring_offset(0, 2 * ncpu, ncpu, npages, page_size);
}

/*
 * The right to write to overflow ring i, of whichever set the current generation names. Slots lie outside the sets
 * because their words must outlive every generation: a late writer may still look at one.
 */
struct overflow_slot {
	uint64_t owner;		/* 0, or the thread that writes: tid << 32 | low bits of its start time */
	uint64_t taken;		/* how often the slot was acquired: tells a released slot from a held one */
	uint64_t reserved[6];
};
static_assert(sizeof(struct overflow_slot) == 64, "a line each");

/*
 * Behind the overflow slots come as many more that belong to no ring. Who stores into a set outside of a section (to wake a
 * reader, to count a refusal, to give a ring its memory) takes one for that long: a set is not freed under a taken slot.
 */
#define RING_KEEPERS 64u

/*
 * Who tells late holds a lock on the first byte of `told_mono` for as long as it lives, and stores there what it has told up to. A
 * set that is that much behind is not told to any more; a teller that is that much behind the time is not waited for.
 */
#define TOLD_BEHIND_NS 60000000ull
#define TOLD_PATIENCE_NS 2000000000ull

struct rings_head {
	struct segment_head seg;
	uint64_t counter;	/* atomic: the clock `counter`, one for all */
	uint64_t told_mono;	/* by CLOCK_MONOTONIC */
	uint64_t told_wishes;	/* counts those who want to be the teller: one that only waits for work leaves then */
	uint64_t reserved[53];
	struct overflow_slot slot[];	/* seg.ncpu of them, then RING_KEEPERS */
};
static_assert(offsetof(struct rings_head, slot) == 512, "overflow slots");

/* Pages that a CPU's ring uses of the `room` that its set has for each: its head says so, if that can be. */
static inline uint32_t ring_npages(uint32_t said, uint32_t room)
{
	return said >= RING_NPAGES_MIN && said <= room ? said : room;
}

/* Sets are laid out from here on. */
static inline uint64_t rings_data_offset(uint32_t ncpu)
{
	return ring_align(512 + ((uint64_t)ncpu + RING_KEEPERS) * sizeof(struct overflow_slot));
}

#endif
