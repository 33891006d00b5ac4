/*
 * collect/listen: who receives recordings of boards: a gate (net/gate.h), and files (store.h).
 *
 *	boards == session, jailed --desk-- listen -- store
 *	boards == session, jailed --desk--'
 */
#ifndef COLLECT_LISTEN_H
#define COLLECT_LISTEN_H

#include "collect/store.h"
#include "net/gate.h"

struct listen_how {
	struct gate_how gate;		/* but for what it does */
	const char *dir;
	bool compat;			/* stock recorders are taken, too, where no key is needed */
	uint64_t rotate_bytes;
	struct store_limits limits;
	unsigned int wait;		/* seconds after which a board that was cut off is not waited for any more */
};

struct listener;

int listen_open(struct listener **out, const struct listen_how *how, struct err *err);
void listen_close(struct listener *listener);
/* The i-th place where it listens; false: there are not so many. */
bool listen_place(const struct listener *listener, size_t i, char *text, size_t size);
/* Until `*stop`, or with `stdio` until that connection ends. */
void listen_run(struct listener *listener, const volatile int *stop);

#endif
