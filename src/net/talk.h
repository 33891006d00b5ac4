/*
 * net/talk: one connection of a courier, from its first byte to its last. Runs in a jail.
 */
#ifndef NET_TALK_H
#define NET_TALK_H

#include "net/greet.h"
#include "net/spool.h"

/* What it came to, as an exit status. */
enum { TALK_DONE, TALK_CUT, TALK_FAILED };

/* `life`: when it can be read whoever fills the spool is no more. */
int talk_through(struct spool *spool, int fd, int life, const struct greet_how *how);

#endif
