/*
 * net/courier: brings what a recorder puts into a spool to the far end.
 *
 *	recorder ==spool== courier --connection-- far end
 *	                      |
 *	                      +-- in a jail: TLS, frames
 *
 * The courier calls, and calls again when it was cut; for each connection it has a child that talks, and that can do nothing else
 * (jail.h). When the recorder is killed what is in the spool arrives all the same.
 */
#ifndef NET_COURIER_H
#define NET_COURIER_H

#include <sys/types.h>

#include "net/caller.h"
#include "net/spool.h"

/* How to talk to the far end: NULL: by our own protocol (talk.h). */
struct courier_talk {
	int (*through)(struct spool *spool, int fd, int life, const struct greet_how *greet);
	bool calls;		/* it connects to others */
};

struct courier {
	pid_t pid;
	int life;	/* as long as it is open the recorder lives */
};

/* Has begun to call. Where an earlier one was killed the next goes on with what is in the spool. */
int courier_start(struct courier *courier, struct spool *spool, const struct caller_how *how, const struct courier_talk *talk,
		  struct err *err);
/* It has ended, or was killed. */
bool courier_is_gone(const struct courier *courier);
/* Ends it; what was not taken by then is not sent any more. */
void courier_stop(struct courier *courier);

#endif
