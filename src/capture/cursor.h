/*
 * capture/cursor: the events of one ring, one after the other, and where one is.
 *
 * A cursor copies a page at a time and walks the copy. When writers have overtaken it, it goes on with the oldest page there is
 * and adds what it missed to `lost`: pages carry the number of their first event.
 */
#ifndef CAPTURE_CURSOR_H
#define CAPTURE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/page.h"
#include "ring/read.h"

#define CURSOR_BATCH 16

struct cursor {
	struct ring_source source;
	uint64_t page;		/* tail word of the page in hand */
	uint32_t offset;	/* of the first unread byte in it */
	uint64_t nr;		/* number of the event there */
	bool numbered;		/* nr is known */
	bool recount;		/* nr is the page's first: count what is skipped */
	uint64_t lost;		/* missed since it was last taken */
	uint64_t lost_before, read_before, refused_before, ts_before;	/* as of opening */
	uint64_t stored;	/* the shared read position, as far as we know */
	int record;		/* which record is in force, -1 unknown */
	unsigned char *copies;	/* of CURSOR_BATCH pages */
	uint64_t batch;		/* tail word of the first of them */
	uint32_t nbatch;	/* how many closed pages are copied */
	uint64_t first[CURSOR_BATCH];	/* numbers of their first events */
	void *copy;		/* of the page in hand */
	bool loaded;		/* copy is of `page` */
	bool closed;		/* and as good as it gets */
	uint32_t loads;		/* how often a page was taken in hand */
	struct page_walk walk;
	struct page_event event;
	bool peeked;		/* event is valid */
	uint32_t end;		/* of that event */
};

/* Begins at the shared read position: a consumed word and its two records, at these offsets of the ring's head. */
int cursor_open(struct cursor *cursor, const struct ring_source *source, uint64_t consumed_at, uint64_t records_at);
void cursor_close(struct cursor *cursor);

/* Looks at the next event: 1, 0 when there is none now, -errno. */
int cursor_peek(struct cursor *cursor);
/* Passes the event that cursor_peek() shows. */
void cursor_pass(struct cursor *cursor);
/* Of a ring that is written no more: when all of it was passed, what was dropped behind its last event is missed, too. */
void cursor_finish(struct cursor *cursor);

/* More closed pages were copied along with the one in hand. */
static inline bool cursor_in_batch(const struct cursor *cursor)
{
	return cursor->nbatch && ring_distance(&cursor->source, cursor->batch, cursor->page) + 1 < cursor->nbatch;
}

/* The whole rest of the page in hand, when nothing of it was passed yet: its bytes, else 0. */
uint32_t cursor_whole_page(const struct cursor *cursor);
/* Passes all of it; its number of events, time of the last one in *ts. */
uint32_t cursor_pass_page(struct cursor *cursor, uint64_t *ts);

/* Whether the next thing to be read is a whole page, as far as the cursor knows, nothing having been lost before it; *page is
 * the one that it stands in or before. */
bool cursor_at_page(const struct cursor *cursor, uint64_t *page);
/* Goes to the start of a page whose first event has that number, which is the next: nothing between was missed. */
void cursor_go(struct cursor *cursor, uint64_t page, uint64_t nr);

/* Writes the position back as the shared read position. For the one who holds the reader's lock. */
int cursor_store(struct cursor *cursor, uint64_t consumed_at, uint64_t records_at, const struct ring_read *record);

#endif
