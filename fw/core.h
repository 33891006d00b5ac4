/*
 * fw/core: the ring's write path, for ringside_fw.c and hosted.c. Everything here is called with interrupts masked, or whatever
 * keeps all others from this ring; the host only reads, but for ring->asked and ring->consumed.
 *
 *   page n-1   | stamp | commit .. | events ............ | seal n-1 |
 *   page n     | stamp | commit 40 | e | e | e |         | seal n   |      <- tail
 *
 *   an event    words behind commit, barrier, commit                          one store makes it visible
 *   a new page  seal.number, barrier, the rest of it, barrier, tail           from the first store on the old one is void
 *
 * Whatever the memory holds, nothing is stored outside of the ring and its pages: of a page's number only the lowest bits count, and a commit
 * that is none ends its page.
 */
#ifndef RINGSIDE_FW_CORE_H
#define RINGSIDE_FW_CORE_H

#include "ringside_fw.h"

/* What a hosted port has as variables. */
#ifdef PORT_HOSTED
#define PORT_FLAGS(ring) ((ring)->flags)
#else
#if RINGSIDE_FW_RINGS == 1
#define PORT_PAGES_FROM(ring) sizeof(*(ring))
#else
#define PORT_PAGES_FROM(ring) ((uintptr_t)ringside_fw.pages[(ring) - ringside_fw.rings] - (uintptr_t)(ring))
#endif
#define PORT_MASK(ring) (RINGSIDE_FW_PAGES - 1u)
#define PORT_PAGE_SHIFT(ring) RINGSIDE_FW_PAGE_SHIFT
#define PORT_FLAGS(ring) RINGSIDE_FW_FLAGS
#endif

/*
 * Where it matters for the size of the code: what is often called is there once, and gives its ring back, which the caller need not keep; what
 * is always done is done in place.
 */
#define FW_ONCE static __attribute__((noinline, unused, returns_nonnull))
#define FW_IN_PLACE static inline __attribute__((always_inline))

#define FW_DELTA_BITS 27
#define FW_TIME_EXTEND 30u
#define FW_SHORT_WORDS 28u
/* Records end before that: with what stands before the longest of them behind the longest pause, they end in the page. */
#define FW_ROOM(ring) (RINGSIDE_FW_ROOM_OF(PORT_PAGE_SHIFT(ring)) - RINGSIDE_FW_BEFORE)
/* An event's first word: a bit field of the kernel's, which lies the other way round where bytes do. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FW_DELTA(delta) ((delta) & ((1u << FW_DELTA_BITS) - 1))
#define FW_TYPE(type) ((type) << FW_DELTA_BITS)
#else
#define FW_DELTA(delta) ((delta) << 5)
#define FW_TYPE(type) (type)
#endif

/* A firmware does not ask the memory: there ring->pages stands for the host. */
static inline struct ringside_fw_page *fw_page(struct ringside_fw_ring *ring, uint32_t number)
{
	uintptr_t from = ((uintptr_t)(number & PORT_MASK(ring)) << PORT_PAGE_SHIFT(ring)) + PORT_PAGES_FROM(ring);

	/* A compiler that sees the ring and a constant adds them first, and keeps the sum. */
	__asm__("" : "+r"(from));
	return (struct ringside_fw_page *)((uintptr_t)ring + from);
}

static inline struct ringside_fw_seal *fw_seal(const struct ringside_fw_ring *ring, struct ringside_fw_page *page)
{
	(void)ring;
	return (struct ringside_fw_seal *)((uintptr_t)page + (1u << PORT_PAGE_SHIFT(ring)) - sizeof(struct ringside_fw_seal));
}

/* Puts the time into ring->clock: a narrow counter goes on where the last look left it. */
FW_IN_PLACE void fw_read_clock(struct ringside_fw_ring *ring)
{
#if PORT_CLOCK_BITS >= 64
	ring->clock = port_clock();
#elif PORT_CLOCK_BITS == 32
	uint32_t low = port_clock(), high = (uint32_t)(ring->clock >> 32);

	/* As below, and shorter. */
	if (low < (uint32_t)ring->clock)
		high++;
	ring->clock = (uint64_t)high << 32 | low;
#else
	uint32_t mask = (uint32_t)((1ull << PORT_CLOCK_BITS) - 1);

	ring->clock += (port_clock() - (uint32_t)ring->clock) & mask;
#endif
}

/* Begins the page behind the tail, for an event at ring->clock. */
FW_ONCE struct ringside_fw_ring *fw_enter(struct ringside_fw_ring *ring)
{
	uint32_t number = ring->tail + 1;
	struct ringside_fw_page *page = fw_page(ring, number);
	uint64_t now = ring->clock;

	fw_seal(ring, page)->number = number;
	port_barrier();
	if (PORT_FLAGS(ring) & RINGSIDE_FW_DISCARD)
		ring->flags = RINGSIDE_FW_DISCARD;
	page->time_stamp = now;
	page->commit = 0;
	fw_seal(ring, page)->count = ring->count;
	port_barrier();
	*(volatile uint32_t *)&ring->tail = number;
	ring->time = now;
	return ring;
}

/* A ring's first page, and all that changes later; the rest of it is set. */
static inline void fw_begin(struct ringside_fw_ring *ring)
{
	ring->tail = ~0u;
	ring->first = 0;
	ring->count = 0;
	ring->consumed = 0;
	ring->clock = 0;
	fw_read_clock(ring);
	ring->answer = ring->clock;
	ring->answered = ring->asked;
	fw_enter(ring);
}

/* The page behind the tail, if it may be written: where nothing is to be lost, one that was not consumed stays, and an event is refused: NULL. */
FW_IN_PLACE struct ringside_fw_ring *fw_turn(struct ringside_fw_ring *ring)
{
	if (PORT_FLAGS(ring) & RINGSIDE_FW_DISCARD && ring->tail - *(volatile uint32_t *)&ring->consumed >= PORT_MASK(ring)) {
		ring->flags = RINGSIDE_FW_DISCARD | RINGSIDE_FW_FULL;
		ring->count++;
		return NULL;
	}
	return fw_enter(ring);
}

/* Was something refused that has its place behind this page? The next page tells of it: nothing may come before that. */
static inline int fw_is_full(const struct ringside_fw_ring *ring)
{
	return PORT_FLAGS(ring) & RINGSIDE_FW_DISCARD && ring->flags & RINGSIDE_FW_FULL;
}

/* Looks at the clock, and at what the host wants: the time, and perhaps an empty ring. */
FW_ONCE struct ringside_fw_ring *fw_look(struct ringside_fw_ring *ring)
{
	uint32_t asked = *(volatile uint32_t *)&ring->asked;

	fw_read_clock(ring);
	if (asked == ring->answered)
		return ring;
#ifdef PORT_CLOCK_EARLY
	/* The counter may have been read before `asked` was: the answer would be older than the question. */
	PORT_CLOCK_EARLY();
	fw_read_clock(ring);
#endif
	ring->answer = ring->clock;
	if (asked & 1) {
		/* Without a gap in the numbers: what is thrown away is not lost. */
		ring = fw_enter(ring);
		ring->first = ring->tail;
		if (PORT_FLAGS(ring) & RINGSIDE_FW_DISCARD)
			ring->consumed = ring->tail;
	}
	port_barrier();
	*(volatile uint32_t *)&ring->answered = asked;
	return ring;
}

/* A word of an event. `end` is the page's address and how much is in it. */
static inline uint32_t *fw_word(uint32_t *end, uint32_t word)
{
	end[RINGSIDE_FW_PAGE_HEAD / 4] = word;
	return end + 1;
}

static inline uint32_t *fw_at(const void *from, uintptr_t bytes)
{
	return (uint32_t *)((uintptr_t)from + bytes);
}

/* Is there room behind that? One that is no multiple of 4 becomes very large when it is turned, and is none. */
static inline int fw_has_room(const struct ringside_fw_ring *ring, uintptr_t commit, uint32_t words)
{
	(void)ring;
	return (commit >> 2 | commit << (8 * sizeof(commit) - 2)) <= FW_ROOM(ring) / 4 - words;
}

FW_IN_PLACE void fw_put(struct ringside_fw_ring *ring, const uint32_t *record, uint32_t words)
{
	uint32_t size, first, long_time, *end;
	struct ringside_fw_page *page;
	uintptr_t commit;
	uint64_t delta;

	ring = fw_look(ring);
	for (;;) {
		/* What follows from it is short to make, and long to keep. */
		__asm__("" : "+r"(words));
		page = fw_page(ring, ring->tail);
		commit = *(volatile uintptr_t *)&page->commit;
		if (fw_has_room(ring, commit, words) && !fw_is_full(ring))
			break;
		ring = fw_turn(ring);
		if (!ring)
			return;
	}
	/* Counted before: one whose writer dies here is lost, but none is there that was not counted. */
	ring->count++;
	delta = ring->clock - ring->time;
	ring->time = ring->clock;
	first = FW_DELTA((uint32_t)delta);
	long_time = (uint32_t)(delta >> FW_DELTA_BITS);
	end = fw_at(page, commit);
	if (long_time) {
		end = fw_word(end, first | FW_TYPE(FW_TIME_EXTEND));
		end = fw_word(end, long_time);
		first = 0;
	}
	size = words * 4;
	if (words > FW_SHORT_WORDS) {
		end = fw_word(end, first);
		first = size + 4;
	} else {
		first |= FW_TYPE(words);
	}
	end = fw_word(end, first);
	commit = (uintptr_t)end + size - (uintptr_t)page;
	/* A compiler that does not know what it is made of does not make it again, from `words`, below. */
	__asm__("" : "+r"(size));
	/* From its last word to the first: what counts down tells where, and when it is done. */
	size -= 4;
	do
		fw_word(fw_at(end, size), *fw_at(record, size));
	while ((int32_t)(size -= 4) >= 0);
	port_barrier();
	*(volatile uintptr_t *)&page->commit = commit;
}

/* CRC-32C, a bit at a time: this is done once. */
static inline uint32_t fw_crc(const struct ringside_fw_header *header)
{
	const uint8_t *byte = (const uint8_t *)header, *end = (const uint8_t *)&header->crc;
	uint32_t crc = ~0u;

	while (byte < end) {
		crc ^= *byte++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

#endif
