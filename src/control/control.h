/*
 * control: the one place that changes tracing state, and the door to it.
 *
 * A change is a transaction: control_begin() takes the directory's lock and reads the state,
 * functions of this room change it in memory, control_commit() publishes it as a new generation,
 * brings the words that event sites test into line, and lets go. Whoever dies in between leaves
 * the old state in force and the lock free. Reading needs no lock.
 *
 *   begin -> state (memory) -> change, change ... -> commit: publish | hints | free what is unused
 *                                                 -> cancel
 *
 * The tree of files (tree.h) is made of such transactions; commands use the tree where they can.
 * One thread at a time per handle.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>

#include "base/err.h"
#include "control/state.h"
#include "ring/segment.h"

struct control {
	struct segment_dir dir;
	struct control_state state;	/* as of the last begin or refresh */
	bool locked;
	bool escape;	/* control characters in what programs recorded are shown as \\n, \\x1b */
};

/* `path` NULL: the directory that the environment names. */
int control_open(struct control **out, const char *path, bool create, struct err *err);
void control_close(struct control *control);

/* Reads the state without the lock, for those who only look. */
int control_refresh(struct control *control, struct err *err);

/* -EBUSY when somebody else kept the lock for CONTROL_LOCK_MS. */
#define CONTROL_LOCK_MS 10000
int control_begin(struct control *control, struct err *err);
int control_commit(struct control *control, struct err *err);
void control_cancel(struct control *control);
/* Commits when the changes went well (`r` 0), else cancels and hands `r` on. */
int control_end(struct control *control, int r, struct err *err);

/* Everything off and as in a fresh directory, even when the present state cannot be read. */
int control_reset(struct control *control, struct err *err);

#endif
