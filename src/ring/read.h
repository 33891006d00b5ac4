/*
 * ring/read: copying pages out of a ring that others are writing to.
 *
 * A reader owns nothing and stops nobody. It copies a page by pread, so a truncated file is an error and not a signal, then
 * looks at `tail` again: the copy counts unless a writer may have come round to that page meanwhile (R9).
 */
#ifndef RING_READ_H
#define RING_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/ring.h"

/* One ring of the rings file. Its shape comes from a checked state; of that the ring itself may only use less. */
struct ring_source {
	int fd;
	uint32_t ncpu;
	uint64_t offset;
	uint32_t npages;
	uint32_t page_size;
	uint32_t room;		/* pages that there is room for; 0: as many as it has */
};

int ring_read_head(const struct ring_source *source, struct ring_head *head);
int ring_read_tail(const struct ring_source *source, uint64_t *tail);

/* Pages from a to b, both tail words of this ring; negative when a is the later one. */
int64_t ring_distance(const struct ring_source *source, uint64_t a, uint64_t b);
/* The tail word `pages` before or after one. */
uint64_t ring_page_step(const struct ring_source *source, uint64_t page, int64_t pages);
/* The oldest page that may be looked at while `tail` is current. */
uint64_t ring_page_oldest(const struct ring_source *source, uint64_t tail);
/* The page of a position, and its offset; `tail` gives the laps that a position has no bits for. */
uint64_t ring_pos_page(const struct ring_source *source, uint64_t pos, uint64_t tail, uint32_t *offset);

/* The page's header as it is now: worth a look at the tail before and after, like all of it. 0 or -errno. */
int ring_page_head(const struct ring_source *source, uint64_t page, struct page_head *head);

/* Bytes committed to the page now: worth a look at the tail before and after, like all of it. 0 when it cannot be read. */
uint32_t ring_page_commit(const struct ring_source *source, uint64_t page);

/*
 * Copies the page into `copy` (page_size bytes), the commit word included, and the number of its first event. 1: the copy
 * is good. 0: the page is gone. -errno.
 */
int ring_page_copy(const struct ring_source *source, uint64_t page, void *copy, uint64_t *first);

/* As many pages from `page` on as are closed and lie behind one another, at most `max`, in one go: how many, 0 or -errno. */
int ring_pages_copy(const struct ring_source *source, uint64_t page, uint32_t max, void *copies, uint64_t *firsts);

/*
 * The numbers of the first events of `n` closed pages that lie behind one another, and of the page behind them: n + 1 of them.
 * 0 or -errno. Good if ring_page_reached() is true of the first page afterwards.
 */
int ring_pages_firsts(const struct ring_source *source, uint64_t page, uint32_t n, uint64_t *firsts);

/* Whether what was read of the page, or of those behind it, before this call is what was written there: step d of read.c. */
bool ring_page_reached(const struct ring_source *source, uint64_t page, uint64_t *tail);

/* Where pages begin in the rings file. */
uint64_t ring_pages_at(const struct ring_source *source);

#endif
