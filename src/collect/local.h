/*
 * collect/local: what listen.c and front.c share. Private to the room.
 */
#ifndef COLLECT_LOCAL_H
#define COLLECT_LOCAL_H

#include "collect/listen.h"

/* A visit's recording. */
struct bound {
	struct store_record record;
	int board;
	char next_file[64];
	int64_t since;
	bool told;		/* that it records here */
};

/* What was last said of a board that nothing was taken from; "" is the listener itself. */
struct said {
	char name[WIRE_NAME_MAX + 1];
	char words[200];
};

#define SAID_MAX 64

struct listener {
	struct listen_how how;
	struct gate gate;
	struct store store;
	int64_t tidy_at, watch_at;
	struct said said[SAID_MAX];
	unsigned int next_said;
	uint64_t machine;
	char name[WIRE_NAME_MAX + 1];
};

/* front.c: of the gate. */
bool front_answer(void *ctx, struct visit *visit, const struct desk_ask *ask);
void front_gone(void *ctx, struct visit *visit);
/* Whoever has more than he may have, and does not say so, ends. */
void front_watch(struct listener *listener);
/* Are these words others than those that were last said of it? Whoever calls again and again is answered in the same way. */
bool front_is_new(struct listener *listener, const char *name, const char *words);

/* listen.c: a file whose board does not come back is closed up, in a jail. What session_close_left() returned. */
int listen_close_left(int file, const char *name);

#endif
