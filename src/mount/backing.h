/*
 * mount/backing: files that can be mapped. The kernel maps no file of ours, but it maps another in its place ("passthrough",
 * Linux 6.9 and later, root only), and leaves reading to us. trace_pipe_raw has such a file in memory behind it.
 *
 * Where the kernel does not know of that, or we may not, nothing is mapped and all else works.
 */
#ifndef MOUNT_BACKING_H
#define MOUNT_BACKING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mount/fuse.h"

struct backing {
	struct backing *next;
	char *path;
	int fd;			/* the file in memory */
	int32_t id;		/* the kernel's name for it */
};

struct backings {
	bool on;		/* the kernel can, and was answered that we will */
	int device;		/* /dev/fuse, the session's */
	pthread_mutex_t lock;
	struct backing *first;
};

/* The session is mounted. */
void backings_init(struct backings *backings, struct fuse_session *session);
void backings_fini(struct backings *backings);

/* The file behind that path, the same one as long as the server lives: the kernel wants it so. NULL: nothing is mapped here. */
const struct backing *backings_get(struct backings *backings, const char *path);

/* The next fuse_reply_open() of this thread names it. */
void backing_announce(const struct backing *backing);

/* In the session's init. */
void backings_want(struct backings *backings);

#endif
