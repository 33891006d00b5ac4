/*
 * capture/moves: see moves.h.
 */
#include "capture/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void moves_fini(struct moves *moves)
{
	free(moves->move);
	memset(moves, 0, sizeof(*moves));
}

int moves_add(struct moves *moves, const struct move *move)
{
	if (moves->n == moves->cap) {
		uint32_t cap = moves->cap ? moves->cap * 2 : 256;
		struct move *more = realloc(moves->move, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		moves->move = more;
		moves->cap = cap;
	}
	moves->move[moves->n++] = *move;
	return 0;
}

const struct move *moves_last(const struct moves *moves, uint32_t lane, uint32_t events, uint32_t *rest)
{
	const struct move *last = NULL;

	*rest = 0;
	for (uint32_t i = 0; i < moves->n; i++) {
		if (moves->move[i].lane != lane)
			continue;
		if (i < events)
			last = &moves->move[i];
		else
			(*rest)++;
	}
	return last;
}
