/*
 * mount/place: where trees are mounted: the mount table, asking a server who it is, and unmounting.
 * Needs no libfuse.
 */
#ifndef MOUNT_PLACE_H
#define MOUNT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "base/err.h"

/* The mount table shows "tracefs PLACE fuse.ringside". */
#define PLACE_SOURCE "tracefs"
#define PLACE_SUBTYPE "ringside"

/* What a server says about itself when its root directory is asked. */
struct place_identity {
	uint64_t dev, ino;	/* of the tracing directory */
	uint64_t pid;		/* of the server */
};
#define PLACE_IDENTITY _IOR('R', 0x7f, struct place_identity)

/* Absolute and without links, also when a server that is gone is mounted there. */
int place_resolve(char *path, size_t size, const char *dir, struct err *err);

/* Is the topmost mount there one of ours? */
bool place_is_ours(const char *path);

/* 0, -ENOTCONN: its server is gone, or why it does not say. */
int place_ask(const char *path, struct place_identity *identity);

/* -EBUSY: in use. `lazy`: off the table at once, gone when nobody uses it any more. */
int place_unmount(const char *path, bool lazy, struct err *err);

/* Paths of all our mounts that this user made, in the order of the table, each with a NUL behind it. */
struct buf;
int place_list(struct buf *paths, struct err *err);

#endif
