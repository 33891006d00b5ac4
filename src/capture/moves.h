/*
 * capture/moves: which event of a page that was put together came from where, so that a reader who takes only some of them
 * can leave the rest to the next.
 */
#ifndef CAPTURE_MOVES_H
#define CAPTURE_MOVES_H

#include <stdint.h>

/* Where a lane stands, behind an event that was taken from it. */
struct move {
	uint32_t lane;
	uint32_t offset;
	uint64_t page;
	uint64_t nr;
};

struct moves {
	struct move *move;
	uint32_t n, cap;
};

void moves_fini(struct moves *moves);
/* The next event of the page. -ENOMEM. */
int moves_add(struct moves *moves, const struct move *move);
/* Of the page's first `events` the last that came from that lane, or NULL. *rest: how many of the others did. */
const struct move *moves_last(const struct moves *moves, uint32_t lane, uint32_t events, uint32_t *rest);

#endif
