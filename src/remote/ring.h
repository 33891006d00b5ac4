/*
 * remote/ring: takes pages out of one ring of a target, which goes on writing.
 *
 * A page is copied and accepted if its seal was the right one before and after. What was gone before it could be read is counted, to the
 * event: seals say how many events there were. Nothing is stored in the target here. One thread.
 *
 * For any bytes that the memory may hold, each call ends after a bounded number of steps, and hands out bytes of the copy only.
 */
#ifndef REMOTE_RING_H
#define REMOTE_RING_H

#include "remote/target.h"

/* Where reading has come to. */
struct remote_cursor {
	uint32_t number;	/* of the page */
	uint32_t offset;	/* bytes of its events that were read */
	uint32_t count;		/* events before the next one, those that were refused among them */
	uint32_t known;		/* the above means something; if not, it begins with the oldest page */
	uint64_t stamp;		/* of the page that was read last: to know it again */
	uint32_t first;		/* what the ring said when it was looked at: to know a reset */
	uint32_t reserved;
};

/* What a ring says of itself. */
struct remote_look {
	uint32_t tail, first, count, asked, answered;
	uint64_t time, answer;
	bool full;		/* it keeps the oldest, and has refused something since */
};
int remote_ring_look(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_look *look);

/* A page with something new in it. */
struct remote_page {
	unsigned char *bytes;	/* the caller's, target->page_size of them: a page of the target's own layout */
	uint32_t number;
	uint32_t from;		/* events before this offset were read already */
	uint32_t commit;
	uint32_t count;		/* as of the page's beginning */
	uint32_t lost;		/* events between what was read before and this */
	uint32_t total;		/* what the ring counts, this page's among them; more, where that never stands still */
};

/*
 * 1 and the next page behind the cursor, 0: nothing new, -EBADMSG: there is no making sense of what is there, with words, -ESTALE: this
 * is not the ring that the cursor is of: the target was started again. The cursor does not move but past what is
 * gone; remote_ring_taken() moves it.
 */
int remote_ring_next(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_cursor *cursor, struct remote_page *page,
	      struct err *err);
/* Events up to `offset`, and so many of them, are read. */
void remote_ring_taken(const struct remote_target *target, struct remote_cursor *cursor, const struct remote_page *page, uint32_t offset, uint32_t events);

/* A cursor behind all that is there now. */
int remote_ring_end(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_cursor *cursor, struct err *err);

#endif
