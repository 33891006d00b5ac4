/*
 * control: the one place that changes tracing state, and the door to it.
 *
 * A change is a transaction: control_begin() takes the directory's lock and reads the state,
 * functions of this room change it in memory, control_commit() publishes it as a new generation,
 * with the words that event sites test in line, and lets go. Whoever dies in between leaves
 * the old state in force and the lock free. Reading needs no lock.
 *
 *   begin -> state (memory) -> change, change ... -> commit: hints | publish | hints | free what is unused
 *                                                 -> cancel
 *
 * The tree of files (tree.h) is made of such transactions; commands use the tree where they can.
 * One thread at a time per handle.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/state.h"
#include "ring/segment.h"

struct control_pictures;
struct control_registry;
struct control_event;
struct control_symbols;

/* Where programs counted a buffer's snapshots, and the sets that they went to then. */
struct control_side {
	uint32_t word;
	uint32_t nspares;
	struct state_set spares[STATE_SPARES];
};

struct control {
	struct segment_dir dir;
	struct control_pictures *pictures;	/* shared by handles of one directory */
	struct control_picture *picture;	/* of the events, see control_events() */
	struct control_events *there;	/* the same without what the state does not have */
	struct control_symbols *symbols;	/* names of addresses: symbols.h. NULL until asked for */
	struct control_state state;	/* as of the last begin or refresh */
	bool locked;
	bool together;	/* what begins and ends now is part of a larger change: control_together() */
	bool spoilt;	/* one of those was cancelled */
	bool fresh;	/* nothing was changed in the state since it was read */
	uint64_t live[STATE_BUFFERS_MAX];	/* the buffers' live sets as of the last begin */
	uint64_t settled[STATE_BUFFERS_MAX];	/* the same when what triggers swapped was settled */
	uint64_t turned;	/* buffers whose snapshots are counted in another word from this commit on */
	struct control_side sides[STATE_BUFFERS_MAX];	/* and how they were counted before it */
	uint64_t pauses;	/* buffers that this handle keeps from taking anything: pause.h */
	uint64_t owned;		/* instances that go with this handle: own.h */
	struct buf words;	/* that the transaction changes, in force with it: space.h */
	uint64_t traced;	/* what the state asked of functions as of the last begin: poke.h */
	bool retell;	/* programs that run are told of it even if that is the same */
	bool aside;	/* who waits for us may be one of them: it is told by somebody else, when it waits no more */
	pid_t asker;	/* the thread that does, 0: not known */
	int unreached;	/* programs that could not be told when there was last something to tell, and why the first could not */
	struct err why_unreached;
	bool escape;	/* control characters in what programs recorded are shown as \\n, \\x1b */
};

/* `path` NULL: the directory that the environment names. */
int control_open(struct control **out, const char *path, bool create, struct err *err);
/* Another handle of the same directory; may be used by another thread. */
int control_again(struct control **out, struct control *control, struct err *err);
void control_close(struct control *control);

/*
 * The events that programs brought, as of now, those of the directory itself that the state has, and those of the kernel's
 * names (named.h), which come into the directory when it is first asked for. Reading them takes a millisecond, so all handles
 * of a directory share a picture for as long as it is true. It stays until this handle is asked again or closed.
 */
const struct control_registry *control_events(struct control *control, struct err *err);
/* Of an event that the registry has: synthetic events and probes are there while the state has them. */
bool control_event_is_there(const struct control_state *state, const struct control_event *event);

/* Reads the state without the lock, for those who only look. */
int control_refresh(struct control *control, struct err *err);
/* The same for those who look often: what was read stays until something else is published. */
int control_follow(struct control *control, struct err *err);
/* Is what was read last still what there is, snapshots included that triggers took meanwhile? */
bool control_current(const struct control *control);

/* -EBUSY when somebody else kept the lock for CONTROL_LOCK_MS. */
#define CONTROL_LOCK_MS 10000
int control_begin(struct control *control, struct err *err);
/* The process that holds the lock, as far as /proc tells; 0 if not. */
pid_t control_lock_holder(const struct control *control);
int control_commit(struct control *control, struct err *err);
void control_cancel(struct control *control);
/* Commits when the changes went well (`r` 0), else cancels and hands `r` on. */
int control_end(struct control *control, int r, struct err *err);

/*
 * Many changes as one: each that begins and ends from now on finds what those before it left, and all of them are in force with
 * control_together_end(), or none if `r` is not 0 or one of them was cancelled: -ECANCELED then. One that is refused with -EEXIST has
 * changed nothing, and is no harm. The lock is held all the time.
 */
int control_together(struct control *control, struct err *err);
int control_together_end(struct control *control, int r, struct err *err);

/* The lock alone, for what is no part of the state. Within a transaction it is held already, and stays so. */
int control_lock(struct control *control, bool *mine, struct err *err);
void control_unlock(struct control *control, bool mine);

/* Everything off and as in a fresh directory, even when the present state cannot be read. */
int control_reset(struct control *control, struct err *err);

#endif
