/*
 * collect/compat: one connection of a stock `trace-cmd record -N`. Runs in a jail, and asks the desk.
 */
#ifndef COLLECT_COMPAT_H
#define COLLECT_COMPAT_H

#include "collect/session.h"

/* An exit status. */
int compat_run(int fd, int line);

/* As session_drive(), of a stock `trace-cmd agent`, in a jail from which it may call. */
int compat_drive(int fd, int line, int stop, const struct greet_how *greet, const struct session_how *how, const void *run, size_t len);

#endif
