/*
 * control/reclaim: giving back what no state uses any more.
 *
 * A set that left the state may still be written to by a thread that is inside a section or holds
 * an overflow slot since before. Its room goes to limbo, and from there back to the file system
 * once no such thread can exist.
 */
#ifndef CONTROL_RECLAIM_H
#define CONTROL_RECLAIM_H

#include <stdint.h>

#include "base/err.h"
#include "control/control.h"

/* Moves a set out of the state being built; `set` becomes none. -EBUSY when limbo is full. */
int control_limbo_add(struct control *control, struct state_set *set, struct err *err);

/* The same for any part of the rings file. */
int control_limbo_add_extent(struct control *control, uint64_t offset, uint64_t size,
			     struct err *err);
/* Out again, in the same transaction. -ENOENT when it is not there, -ENOSPC when it has to stay. */
int control_limbo_take(struct control *control, const struct state_set *set);

/* In a transaction: retired sets that were read to their end go to limbo. */
void control_retire_consumed(struct control *control);

/* In a transaction, before anything is changed or right after publishing: frees limbo if that can be done now; else later. */
void control_reclaim(struct control *control);

/*
 * True once no thread can be writing under a generation older than the published one. `old_enough`:
 * all that is to be freed was given up more than 10 s ago, which counts where a CPU cannot be visited.
 */
bool control_quiesce(const struct control *control, bool old_enough);

#endif
