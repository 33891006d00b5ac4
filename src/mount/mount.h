/*
 * mount: the tree of a tracing directory as a file system, for shells and for programs that know the
 * kernel's tracefs.
 *
 *   program -> kernel (FUSE) -> ops -> control/tree -> tracing directory
 *
 * The server holds no tracing state: whoever kills it, at any moment, loses nothing but the mount.
 */
#ifndef MOUNT_MOUNT_H
#define MOUNT_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "control/control.h"

struct mount_how {
	uid_t uid;		/* whose the files are */
	gid_t gid;
	mode_t mode;		/* of the root */
	bool allow_other;	/* others than the one who mounts may come in, as far as modes let them */
	bool foreground;
};

/*
 * Mounts the tree at the directory `place`; a mount that lost its server there is taken away first.
 * Returns when the tree can be used, and a second time, in the server, when it ended; with
 * `foreground` only then. No threads may be running. -EBUSY: it is mounted there already.
 */
int mount_serve(struct control *control, const char *place, const struct mount_how *how,
		struct err *err);

/* Takes the tree away from `place`. -EINVAL: none is mounted there; -EBUSY: it is in use. */
int mount_end(const char *place, struct err *err);

/*
 * Takes away all mounts that this user has of the tracing directory and that have a server. How many
 * there were, or -errno of the first that stayed.
 */
int mount_end_all(const struct control *control, struct err *err);

#endif
