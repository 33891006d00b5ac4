/*
 * decode/page: see page.h.
 *
 *   | time_stamp | commit | event | event | ... |      | lost count (if commit says so) | unused
 *                         ^ data                ^ data + commit
 *
 * Invariant between calls: pos <= commit <= bytes after the header. Each step either ends the walk
 * or moves pos by at least the 8 bytes that the smallest event has.
 */
#include "decode/page.h"

#include <errno.h>

#include "layout/page.h"

/* An absolute stamp carries this many bits; the rest come from the stamp before it. */
#define STAMP_BITS 59
#define STAMP_MASK ((1ull << STAMP_BITS) - 1)

int page_walk_init(struct page_walk *walk, const void *bytes, size_t size)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;

	return page_walk_init_abi(walk, bytes, size, &native);
}

int page_walk_init_abi(struct page_walk *walk, const void *bytes, size_t size,
		       const struct decode_abi *abi)
{
	const uint8_t *page = bytes;
	size_t head = sizeof(uint64_t) + abi->long_size;
	uint64_t commit, used, high;
	size_t room;

	*walk = (struct page_walk){ .big_endian = abi->big_endian };
	if (size < head)
		return -EINVAL;
	room = size - head;
	walk->time_stamp = decode_abi_load(page, 8, abi->big_endian);
	commit = decode_abi_load(page + 8, abi->long_size, abi->big_endian);
	/* The kernel adds its flags as an int: bit 31 comes with its sign carried up. */
	high = commit >> 32;
	if (high && !(high == UINT32_MAX && (commit & PAGE_MISSED_EVENTS)))
		return -EBADMSG;
	commit &= UINT32_MAX;
	if (commit & ~(uint64_t)(PAGE_COMMIT_MASK | PAGE_MISSED_EVENTS | PAGE_MISSED_STORED))
		return -EBADMSG;
	used = commit & PAGE_COMMIT_MASK;
	if (used > room)
		return -EBADMSG;

	walk->commit = (uint32_t)used;
	walk->data = page + head;
	walk->ts = walk->time_stamp;
	if (!(commit & PAGE_MISSED_EVENTS))
		return 0;
	walk->lost = PAGE_LOST_UNKNOWN;
	if ((commit & PAGE_MISSED_STORED) && room - used >= abi->long_size)
		walk->lost = decode_abi_load(walk->data + used, abi->long_size, abi->big_endian);
	/* Flagged and counted as none: still, something was lost. */
	if (!walk->lost)
		walk->lost = PAGE_LOST_UNKNOWN;
	return 0;
}

static uint32_t word_at(const struct page_walk *walk, uint32_t pos)
{
	return (uint32_t)decode_abi_load(walk->data + pos, 4, walk->big_endian);
}

/*
 * The high bits that an absolute stamp lacks come from the stamp before; it may have crossed into
 * the next 2^59.
 */
static uint64_t stamp_after(uint64_t before, uint64_t stamp)
{
	if (!(before & ~STAMP_MASK))
		return stamp;
	stamp |= before & ~STAMP_MASK;
	return stamp < before ? stamp + STAMP_MASK + 1 : stamp;
}

static int torn(struct page_walk *walk)
{
	walk->torn = true;
	return -EBADMSG;
}

/* Where an event of `len` bytes at pos ends, 0 if that is outside the page. */
static uint32_t end_of(const struct page_walk *walk, uint64_t len)
{
	return len <= walk->commit - walk->pos ? walk->pos + (uint32_t)len : 0;
}

/*
 * One event's words: moves on and returns 1 for a record, 0 for what only keeps time or fills room.
 */
static int step(struct page_walk *walk, struct page_event *event)
{
	uint32_t word = word_at(walk, walk->pos);
	bool be = walk->big_endian;
	uint32_t type = be ? word >> EVENT_DELTA_BITS : word & ((1u << EVENT_TYPE_BITS) - 1);
	uint32_t delta = be ? word & EVENT_DELTA_MAX : word >> EVENT_TYPE_BITS;
	uint32_t skip = 4, len = type * 4, end, extra;

	if (type == EVENT_TYPE_PADDING && !delta) {
		walk->pos = walk->commit;
		return 0;
	}
	if (walk->commit - walk->pos < 8)
		return torn(walk);
	extra = word_at(walk, walk->pos + 4);

	switch (type) {
	case EVENT_TYPE_TIME_EXTEND:
		walk->ts += ((uint64_t)extra << EVENT_DELTA_BITS) + delta;
		walk->pos += EVENT_EXTEND_SIZE;
		return 0;
	case EVENT_TYPE_TIME_STAMP:
		walk->ts = stamp_after(walk->ts, ((uint64_t)extra << EVENT_DELTA_BITS) + delta);
		walk->pos += EVENT_EXTEND_SIZE;
		return 0;
	case EVENT_TYPE_PADDING:
	case EVENT_TYPE_LONG:
		if (extra < 4)
			return torn(walk);
		skip = 8;
		len = extra - 4;
		break;
	}
	end = end_of(walk, skip + (((uint64_t)len + 3) & ~3ull));
	if (!end)
		return torn(walk);
	walk->ts += delta;
	*event = (struct page_event){
		.ts = walk->ts,
		.data = walk->data + walk->pos + skip,
		.len = len,
		.offset = walk->pos,
	};
	walk->pos = end;
	return type != EVENT_TYPE_PADDING;
}

int page_walk_odd(struct page_walk *walk, struct page_event *event)
{
	int r;

	if (walk->torn)
		return -EBADMSG;
	while (walk->pos < walk->commit) {
		if (walk->commit - walk->pos < 4)
			return torn(walk);
		r = step(walk, event);
		if (r)
			return r;
	}
	return 0;
}
