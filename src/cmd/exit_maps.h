/*
 * cmd/exit_maps: where a command has which files mapped when it ends.
 *
 * Afterwards it is too late to ask, and before it may still load something. So it is held (ptrace) for the moment in which
 * it has ended for itself and is still there for others. Signals that come to it meanwhile are passed on.
 */
#ifndef CMD_EXIT_MAPS_H
#define CMD_EXIT_MAPS_H

#include "base/err.h"
#include "cmd/launch.h"

/* While the command waits at its gate. Signals reach it there, too: exit_maps_poll() has to be called while it is let go. */
int exit_maps_watch(struct launch *launch, struct err *err);

/* As launch_poll(), for a command that is watched: calls `save` when it is about to be gone. */
int exit_maps_poll(struct launch *launch, int *status, void (*save)(void *ctx, int pid), void *ctx);

#endif
