/*
 * mount/server: what the server of one mount consists of. Private to the room.
 */
#ifndef MOUNT_SERVER_H
#define MOUNT_SERVER_H

#include <pthread.h>

#include "control/control.h"
#include "mount/backing.h"
#include "mount/cpus.h"
#include "mount/fuse.h"
#include "mount/handles.h"
#include "mount/inodes.h"
#include "mount/place.h"

struct server {
	struct fuse_session *session;
	struct place_identity identity;
	struct inodes inodes;
	struct handles handles;
	/* Directories that are being listed. */
	struct listing *listings;
	pthread_mutex_t listings_lock;
	struct cpus cpus;
	struct backings backings;
	/* Those who look do not wait for those who change, which may take long. Each under its lock. */
	struct control *look, *change;
	pthread_mutex_t look_lock, change_lock;
	int ready;	/* a pipe to the one who waits for the mount; -1: nobody */
};

/* ops.c */
extern const struct fuse_lowlevel_ops server_ops;
/* Ends what is still open when nobody asks any more: an unmount does not wait for the kernel to tell what was closed. */
void server_close_all(struct server *server);

/* The kernel and the server have found each other: whoever waits is told, once. */
void server_is_ready(struct server *server);

#endif
