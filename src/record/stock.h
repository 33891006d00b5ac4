/*
 * record/stock: what a recorder puts into its spool, to a stock `trace-cmd listen`. Runs in a jail from which it may call.
 *
 * That takes the beginning of a file, and then pages, each once: what becomes known later (programs that start, names) it is never
 * told, and a connection that is cut cannot be gone on with.
 */
#ifndef RECORD_STOCK_H
#define RECORD_STOCK_H

#include "net/talk.h"

/* As talk_through(). */
int stock_talk(struct spool *spool, int fd, int life, const struct greet_how *how);

#endif
