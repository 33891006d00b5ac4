/*
 * mount/handles: files that are open, and the turns that threads take in using one.
 *
 * close(2) returns to its caller before the kernel tells the server that a file was released: what
 * comes first, and before close returns, is a flush, one for each descriptor. Two consequences:
 *
 * - What acts when it is closed has to act by then. A file is closed in the tree at a flush by the
 *   process that used it last, and opened anew should somebody still use it ("settled" in between).
 *   Not so one that is followed: it keeps text that was taken out of the buffer.
 * - After such a flush a file is taken for leaving. Whoever is refused with -EBUSY waits for those that
 *   leave, for a moment, and tries again.
 */
#ifndef MOUNT_HANDLES_H
#define MOUNT_HANDLES_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/tree.h"

/* Ends a tree_wait() early. It is caught and does nothing. */
#define HANDLE_KICK SIGUSR1

struct parked;
struct fuse_pollhandle;

struct handle {
	struct handles *all;
	struct handle *next, **link;
	char *path;
	unsigned int flags;		/* TREE_* of the open */
	bool followed;
	bool polled;		/* poll(2) has something to wait for */
	bool nonblock;			/* as it was opened: an ioctl does not tell */
	struct control *control;
	struct tree_file *file;		/* NULL: settled */

	bool leaving;			/* under the lock of all */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. Who is busy has the file, the rest wait for their turn. */
	bool busy;
	unsigned int wanting;
	bool asleep;			/* in tree_wait(), where the kick finds it */
	pthread_t sleeper;
	bool used;
	uint64_t owner;			/* who used it last */
	pid_t asker;			/* and by which thread */

	/* park.c: requests that wait for something to read. */
	struct parked *parked;
	uint64_t woken, woken_own;	/* numbers of the last requests that woke all, and those of... */
	uint64_t woken_owner;		/* ...this one */
	struct fuse_pollhandle *poll;
	pthread_t waiter;
	bool waiting;			/* there is such a thread */
	bool closing;
};

/* Opening the directory anew is most of opening a file: who only looked leaves what he had to the next. As many as look at once. */
#define HANDLES_IDLE 4

struct handles {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct handle *first;
	uint64_t left;
	struct control *idle[HANDLES_IDLE];
	unsigned int nidle;
};

void handles_init(struct handles *all);
/* All must be closed. */
void handles_fini(struct handles *all);

/* One that nobody uses, as control_again() would give it, and now yours; NULL: there is none. */
struct control *handles_take_idle(struct handles *all);

/* Takes `control`, also when it fails. */
int handle_open(struct handle **out, struct handles *all, struct control *control, const char *path,
		unsigned int flags, struct err *err);
/* Nobody may use it any more. */
void handle_close(struct handle *handle);

/* Between the two the caller alone uses handle->file, which is there. -errno: it is not, and no end. */
int handle_begin(struct handle *handle, struct err *err);
void handle_end(struct handle *handle);

/* `owner` reads or writes, and its thread `asker` waits for that. */
void handle_touch(struct handle *handle, uint64_t owner, pid_t asker);
/* `owner` closed a descriptor, the same; `others` are using it at this moment. What closing the file said. */
int handle_flush(struct handle *handle, uint64_t owner, pid_t asker, bool others, struct err *err);

/* Is one open at or below that path? */
bool handles_below(struct handles *all, const char *path);
/* How many have left so far. */
uint64_t handles_left(struct handles *all);

#define HANDLES_REMOTES "remotes/"
/* Who took events of a remote out, and has ended, keeps its buffer loaded until his file is released: waits for that before another is opened. */
void handles_wait_pipes(struct handles *all, const char *path);
/*
 * For whoever was refused with -EBUSY: waits until none is leaving the buffer that the path is about, for a
 * moment. True: some were, or have left since there were `left`, and it is worth another try.
 */
bool handles_wait_leaving(struct handles *all, const char *path, uint64_t left);

/* For conditions that are waited for with handle_wait(): a clock that nobody sets. */
void handle_cond_init(pthread_cond_t *cond);
void handle_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int ms);

#endif
