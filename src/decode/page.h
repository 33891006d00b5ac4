/*
 * decode/page: walks the events of one sub-buffer.
 *
 * In: a private copy of a page's bytes, which nobody changes during the walk and which may hold
 * anything. Out: the events one by one, each with its time. Any thread, signal handlers too: no
 * allocation, no lock, no static data.
 *
 * For any bytes whatsoever the walk ends after at most size / 8 events, reads nothing outside the
 * copy, and every event that it hands out lies within the copy.
 */
#ifndef DECODE_PAGE_H
#define DECODE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "decode/abi.h"
#include "layout/page.h"

#define PAGE_LOST_UNKNOWN UINT64_MAX

struct page_walk {
	uint64_t time_stamp;	/* the page's own */
	uint64_t lost;		/* events lost before it: 0, a count, or PAGE_LOST_UNKNOWN */
	uint32_t commit;	/* bytes of events */

	/* Private to the walk. */
	const uint8_t *data;
	uint64_t ts;
	uint32_t pos;
	bool big_endian;
	bool torn;
};

struct page_event {
	uint64_t ts;
	const void *data;	/* the record: 4-byte aligned if the copy is */
	uint32_t len;
	uint32_t offset;	/* of the event's first word from the end of the page's header */
};

/* -EINVAL: too small to be a page. -EBADMSG: the commit word cannot be one. */
int page_walk_init(struct page_walk *walk, const void *bytes, size_t size);
int page_walk_init_abi(struct page_walk *walk, const void *bytes, size_t size,
		       const struct decode_abi *abi);

/*
 * 1 and an event, 0 at the end, -EBADMSG when what follows cannot be an event: that, then, is all
 * there is.
 */
static inline int page_walk_next(struct page_walk *walk, struct page_event *event);

/* Private: whatever is no short record, and the end. */
int page_walk_odd(struct page_walk *walk, struct page_event *event);

/*
 * Nearly every event: a short record, in the order of bytes that most machines have. False: it is
 * something else, and nothing has moved.
 */
static inline bool page_walk_short(struct page_walk *walk, struct page_event *event)
{
	uint32_t word, type, end;

	if (walk->big_endian || walk->torn || walk->commit - walk->pos < 8)
		return false;
	word = (uint32_t)decode_abi_load(walk->data + walk->pos, 4, false);
	type = word & ((1u << EVENT_TYPE_BITS) - 1);
	end = walk->pos + 4 + type * 4;
	if (!type || type >= EVENT_TYPE_PADDING || end > walk->commit)
		return false;
	walk->ts += word >> EVENT_TYPE_BITS;
	event->ts = walk->ts;
	event->data = walk->data + walk->pos + 4;
	event->len = type * 4;
	event->offset = walk->pos;
	walk->pos = end;
	return true;
}

static inline int page_walk_next(struct page_walk *walk, struct page_event *event)
{
	return page_walk_short(walk, event) ? 1 : page_walk_odd(walk, event);
}

#endif
