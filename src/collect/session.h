/*
 * collect/session: one connection of one that records to us, from its first byte on. Runs in a jail, and asks the desk.
 */
#ifndef COLLECT_SESSION_H
#define COLLECT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "net/greet.h"

struct session_how {
	const struct tls_key *key;	/* hollow; NULL: we have none */
	bool bare;			/* without TLS is good enough */
	bool compat;			/* who waits for a word of ours is taken for trace-cmd */
	char name[65];			/* our own */
	uint64_t machine;
	uint64_t rotate_bytes;		/* 0: never */
	const int *fifos;		/* by which pages of a stock guest come, by CPU; */
	uint32_t nr_fifos;		/* 0: by its ports */
};

/* `line` leads to the desk. An exit status: 0 when a recording came to its end. */
int session_run(int fd, int line, const struct session_how *how);

/*
 * The same with a board that we drive, and called: it is told to `run` that (WIRE_RUN's body), and to stop when `stop` can be read.
 * SESSION_*.
 */
enum { SESSION_DONE, SESSION_CUT, SESSION_FAILED, SESSION_BLANK };
int session_drive(int fd, int line, int stop, const struct greet_how *greet, const struct session_how *how, const void *run,
		  size_t len);

/* What a sender left behind that does not come again: closed up. An exit status; SESSION_BLANK: nobody could read it. */
int session_close_left(int file, const char *name);

#endif
