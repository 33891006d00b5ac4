/*
 * net/caller: calls somebody, by whatever leads there, and has a child in a jail that talks to him.
 */
#ifndef NET_CALLER_H
#define NET_CALLER_H

#include <stdbool.h>

#include "net/address.h"
#include "net/greet.h"

struct caller_how {
	struct address to;
	int line;		/* instead: who is there comes by this socket, as a descriptor, when it heard how many came before; 0: not */
	const char *keys;	/* directory */
	unsigned int needs;	/* of TRUST_*, one that the far end has to be allowed here; 0: none */
	bool insecure;		/* without TLS, wherever that leads */
	bool tls;		/* also where it could do without */
	const char *command;	/* of ssh: what is run there */
};

struct caller {
	const struct caller_how *how;
	struct greet_how greet;
	uint32_t *lines;	/* counts connections that came by how->line; NULL: there is none */
	bool calls;		/* who talks may connect to others */
	void (*attend)(void *ctx);	/* again and again while somebody talks, with talk's ctx; NULL: nobody need be attended to */
};

void caller_init(struct caller *caller, const struct caller_how *how);

/*
 * One connection: what `talk` returned in its jail, as an exit status (0 to 127); -ECHILD: it was killed; or why there is no
 * connection.
 */
int caller_once(struct caller *caller, int (*talk)(void *ctx, int fd, const struct greet_how *greet), void *ctx, struct err *err);

/* In a process of its own, which is called so: a terminal's Ctrl-C is for whoever started it, and has a last word to say. */
void caller_settle(const char *name);

/* In a process of its own: of what is open there only these stay, `n` of them, at most 8. */
void caller_drop_files(const int *keep, int n);

#endif
