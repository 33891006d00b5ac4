/*
 * remote/served: what a program that brings a remote, and those who use it, say to each other through remotes/NAME/socket. Private to the room.
 *
 *   served.c, in any process           serve.c, a thread of the program
 *   connect                            is it the same user?
 *   ask { op, number, ... }   -->      calls a callback, sets words in the memory
 *   answer { result, ... }    <--      with a descriptor of the memory, of FIND and LOAD
 *
 * A packet each way; both have one size, whatever is asked. What is of another size ends the connection. No state is kept of one, so that
 * it may be ended, and made again, between any two questions.
 */
#ifndef REMOTE_SERVED_H
#define REMOTE_SERVED_H

#include <stdint.h>
#include <sys/un.h>

#include "remote/local.h"

#define SERVED_SOCKET "socket"
#define SERVED_VERSION 1u

enum served_op {
	SERVED_LOOK,	/* which buffer is loaded? 0 or -ENOENT */
	SERVED_FIND,	/* the same, with its memory */
	SERVED_LOAD,
	SERVED_UNLOAD,
	SERVED_ENABLE_TRACING,
	SERVED_ENABLE_EVENT,
	SERVED_RESET,
	SERVED_SWAP,
	SERVED_OPS,
};

struct served_ask {
	uint32_t version;
	uint32_t op;
	uint32_t number;	/* a CPU, or an event's ID */
	uint32_t value;		/* on or off */
	uint64_t size;		/* of a buffer, in bytes */
	uint64_t buffer;	/* the one that is meant */
};

struct served_answer {
	uint32_t version;
	int32_t result;		/* 0 or -errno */
	uint64_t header;	/* where in the memory */
	uint64_t buffer;	/* no other one, of this program or those before, has this number */
	char text[168];		/* why not, if it is not a callback that says so */
};

_Static_assert(sizeof(struct served_ask) == 32 && sizeof(struct served_answer) == 192, "packets");

/* The socket of a remote as bind() and connect() want it, however long the path of the directory is. */
void served_address(struct sockaddr_un *address, int dir);

/* Does somebody serve it? One who does not answer does, too. */
bool served_is_alive(struct remote *remote);

/* As many CPUs as the buffer that was loaded last had. */
void served_recall(struct remote *remote);

#endif
