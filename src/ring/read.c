/*
 * ring/read: see read.h. Runs in the tool, any thread.
 *
 *   writer                            reader
 *     tail <- t+N-1                     a: tail, page t at most N-2 behind?
 *     page t+N (t's place): commit <- 0 b: commit of page t
 *     tail <- t+N                       c: the bytes below it, first[t]
 *                                       d: tail again: still at most N-2 behind?
 *
 * If a writer stored into t's place between a and d, then it had published t+N-1 before, and d sees that.
 */
#include "ring/read.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int read_at(const struct ring_source *source, uint64_t at, void *to, size_t len)
{
	ssize_t n = pread(source->fd, to, len, (off_t)(source->offset + at));

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENODATA;
}

int ring_read_head(const struct ring_source *source, struct ring_head *head)
{
	return read_at(source, 0, head, sizeof(*head));
}

int ring_read_tail(const struct ring_source *source, uint64_t *tail)
{
	int ret = read_at(source, offsetof(struct ring_head, tail), tail, sizeof(*tail));

	/* What is read after is no older than the tail. Partner: the release of tail and commit in ring/write.c. */
	atomic_thread_fence(memory_order_acquire);
	return ret;
}

static uint32_t index_of(uint64_t page)
{
	return (uint32_t)page & RING_INDEX_MASK;
}

/* Laps are counted modulo 2^44: their difference, with its sign. */
static int64_t lap_difference(uint64_t a, uint64_t b)
{
	return (int64_t)((b & ~(uint64_t)RING_INDEX_MASK) - (a & ~(uint64_t)RING_INDEX_MASK)) >> RING_INDEX_BITS;
}

int64_t ring_distance(const struct ring_source *source, uint64_t a, uint64_t b)
{
	int64_t laps = lap_difference(a, b);

	if (laps > INT32_MAX)
		laps = INT32_MAX;
	if (laps < INT32_MIN)
		laps = INT32_MIN;
	return laps * (int64_t)source->npages + (int64_t)index_of(b) - (int64_t)index_of(a);
}

uint64_t ring_page_step(const struct ring_source *source, uint64_t page, int64_t pages)
{
	int64_t npages = (int64_t)source->npages;
	int64_t index = (int64_t)index_of(page) + pages;
	int64_t laps = index >= 0 ? index / npages : -((npages - 1 - index) / npages);

	index -= laps * npages;
	return (page & ~(uint64_t)RING_INDEX_MASK) + (uint64_t)laps * RING_LAP + (uint64_t)index;
}

uint64_t ring_page_oldest(const struct ring_source *source, uint64_t tail)
{
	return ring_page_step(source, tail, -(int64_t)(source->npages - 2));
}

uint64_t ring_pos_page(const struct ring_source *source, uint64_t pos, uint64_t tail, uint32_t *offset)
{
	const unsigned lap_bits = 64 - RING_OFFSET_BITS - RING_INDEX_BITS;
	uint64_t lap = pos >> (RING_OFFSET_BITS + RING_INDEX_BITS);
	uint64_t now = tail >> RING_INDEX_BITS;
	uint32_t index = (uint32_t)(pos >> RING_OFFSET_BITS) & RING_INDEX_MASK;

	(void)source;
	*offset = (uint32_t)pos & ((1u << RING_OFFSET_BITS) - 1);
	return (now - ((now - lap) & ((1ull << lap_bits) - 1))) << RING_INDEX_BITS | index;
}

static bool in_reach(const struct ring_source *source, uint64_t page, uint64_t tail)
{
	int64_t behind = ring_distance(source, page, tail);

	return behind >= 0 && behind <= (int64_t)source->npages - 2;
}

static uint64_t page_at(const struct ring_source *source, uint64_t page)
{
	return ring_pages_offset(source->ncpu, source->room ? source->room : source->npages) + (uint64_t)index_of(page) * source->page_size;
}

static int read_firsts(const struct ring_source *source, uint32_t index, uint64_t *firsts, uint32_t n)
{
	return read_at(source, ring_head_size(source->ncpu) + (uint64_t)index * 8, firsts, (size_t)n * 8);
}

int ring_page_head(const struct ring_source *source, uint64_t page, struct page_head *head)
{
	return index_of(page) < source->npages ? read_at(source, page_at(source, page), head, sizeof(*head)) : -ENODATA;
}

uint32_t ring_page_commit(const struct ring_source *source, uint64_t page)
{
	struct page_head head;

	if (ring_page_head(source, page, &head) || head.commit > source->page_size - PAGE_HEAD_SIZE)
		return 0;
	return (uint32_t)head.commit;
}

int ring_page_copy(const struct ring_source *source, uint64_t page, void *copy, uint64_t *first)
{
	uint32_t index = index_of(page), room = source->page_size - PAGE_HEAD_SIZE;
	uint64_t at = page_at(source, page);
	struct page_head *head = copy;
	uint64_t tail;
	int ret;

	if (index >= source->npages)
		return 0;
	ret = ring_read_tail(source, &tail);						/* a */
	if (ret)
		return ret;
	if (!in_reach(source, page, tail))
		return 0;
	ret = read_at(source, at, head, sizeof(*head));					/* b */
	if (ret)
		return ret;
	atomic_thread_fence(memory_order_acquire);
	if (head->commit > room)
		head->commit = 0;
	/* The stamp once more: it is only sure to be the first event's when commit says that there is one. */
	ret = read_at(source, at, &head->time_stamp, sizeof(head->time_stamp));		/* c */
	if (!ret)
		ret = read_at(source, at + PAGE_HEAD_SIZE, head + 1, head->commit);
	if (!ret)
		ret = read_firsts(source, index, first, 1);
	if (ret)
		return ret;
	atomic_thread_fence(memory_order_acquire);
	ret = ring_read_tail(source, &tail);						/* d */
	if (ret)
		return ret;
	return in_reach(source, page, tail);
}

int ring_pages_copy(const struct ring_source *source, uint64_t page, uint32_t max, void *copies, uint64_t *firsts)
{
	uint32_t index = index_of(page);
	uint64_t tail;
	int64_t closed;
	int ret;

	if (index >= source->npages)
		return 0;
	ret = ring_read_tail(source, &tail);						/* a */
	if (ret)
		return ret;
	closed = ring_distance(source, page, tail);
	if (closed <= 0 || !in_reach(source, page, tail))
		return 0;
	if (max > closed)
		max = (uint32_t)closed;
	if (max > source->npages - index)
		max = source->npages - index;
	/* A closed page has its last commit: b and c are one. */
	ret = read_at(source, page_at(source, page), copies, (size_t)max * source->page_size);
	if (!ret)
		ret = read_firsts(source, index, firsts, max);
	if (ret)
		return ret;
	atomic_thread_fence(memory_order_acquire);
	ret = ring_read_tail(source, &tail);						/* d */
	if (ret)
		return ret;
	/* The first of them is the next to be overwritten: if that still holds, all do. */
	return in_reach(source, page, tail) ? (int)max : 0;
}

int ring_pages_firsts(const struct ring_source *source, uint64_t page, uint32_t n, uint64_t *firsts)
{
	uint32_t index = index_of(page);
	int ret;

	if (index >= source->npages || n > source->npages - index)
		return -ENODATA;
	if (index + n < source->npages)
		return read_firsts(source, index, firsts, n + 1);
	ret = read_firsts(source, index, firsts, n);
	return ret ? ret : read_firsts(source, 0, firsts + n, 1);
}

bool ring_page_reached(const struct ring_source *source, uint64_t page, uint64_t *tail)
{
	atomic_thread_fence(memory_order_acquire);
	return !ring_read_tail(source, tail) && in_reach(source, page, *tail);		/* d */
}

uint64_t ring_pages_at(const struct ring_source *source)
{
	return source->offset + page_at(source, 0);
}
