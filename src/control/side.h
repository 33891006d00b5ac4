/*
 * control/side: snapshots that triggers take while no tool is about.
 *
 * A program cannot publish a state. So a buffer with such a trigger has spare sets, and a word that counts: after the n-th
 * snapshot programs write to the n-th spare, and the set before it is the snapshot. The tool turns that into a state when it
 * comes by, and makes new spares. When all are used up no more snapshots are taken until then.
 *
 *   word 0:  live* spare spare spare        word 2:  (lost) snapshot live* spare
 *
 * A program may count in the word while the tool turns, gives the buffer another live set, or takes the last such trigger
 * away: the new state counts in the other word or in none, and what was written to a spare by one who came in between is
 * kept, if there is room for one more retired set: that spare is read before the live set.
 */
#ifndef CONTROL_SIDE_H
#define CONTROL_SIDE_H

#include <stdbool.h>

#include "base/err.h"
#include "control/control.h"

/* Have triggers taken a snapshot that the state read last does not know of? One small read for each such buffer. */
bool control_sides_turned(const struct control *control);

/* In a transaction, first of all: the state as programs have it by now. */
int control_sides_settle(struct control *control, struct err *err);

/* In a transaction, before it is published: spares and words for buffers that need them, and for no others. */
int control_sides_arm(struct control *control, struct err *err);
/* And behind that: what programs counted by the state before, while this one was made. */
int control_sides_late(struct control *control, struct err *err);

#endif
