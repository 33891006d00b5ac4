/*
 * cmd/launch_local: what the files of launch share. Private to them.
 */
#ifndef CMD_LAUNCH_LOCAL_H
#define CMD_LAUNCH_LOCAL_H

#include <limits.h>

#include "cmd/launch.h"

struct launch_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int ngroups;
	char *name, *home, *shell;
};

/* launch_user.c. -ENOENT, -EPERM when we are not root. */
int launch_user_find(struct launch_user *user, const char *name, struct err *err);
void launch_user_fini(struct launch_user *user);
/* For good, in a process of its own: safe behind a fork. 0 or -errno. */
int launch_user_become(const struct launch_user *user);

/*
 * launch_preload.c: the library for this command. 0 and its path; 1 when it is to go without, and that is all right; -errno with
 * words when there is none that could be preloaded.
 */
int launch_preload_find(const char *command, char path[PATH_MAX], struct err *err);

#endif
