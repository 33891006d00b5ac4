/*
 * mount/caller: who makes a request, and where, as /proc tells while that thread waits for the answer.
 */
#ifndef MOUNT_CALLER_H
#define MOUNT_CALLER_H

#include <sys/types.h>

#include "control/tree.h"

/* `tid` 0: a thread that this pid namespace does not see. Returns the CPU it was on, -1: not known. */
int caller_read(struct tree_caller *caller, pid_t tid);

#endif
