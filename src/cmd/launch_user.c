/*
 * cmd/launch_user: a program that is to be another user's, and the tracing directory that such programs use.
 *
 * Root may trace anybody, but a directory is its owner's: it is found, made and opened with the owner's rights, so that nothing in
 * it leads root astray, and it is checked to be his as anybody's own is.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/launch_local.h"
#include "ring/segment.h"

static int find_groups(struct launch_user *user, struct err *err)
{
	int n = 32;

	for (;;) {
		gid_t *more = realloc(user->groups, (size_t)n * sizeof(*more));

		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		user->groups = more;
		user->ngroups = n;
		if (getgrouplist(user->name, user->gid, more, &user->ngroups) >= 0)
			return 0;
		n = user->ngroups > n ? user->ngroups : 2 * n;
	}
}

int launch_user_find(struct launch_user *user, const char *name, struct err *err)
{
	const struct passwd *entry;
	int r = 0;

	*user = (struct launch_user){ 0 };
	if (geteuid())
		return err_set(err, -EPERM, "only root may run a program as %.60s", name);
	errno = 0;
	entry = getpwnam(name);
	if (!entry)
		return err_set(err, errno ? -errno : -ENOENT, "there is no user '%.60s'", name);
	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	user->name = strdup(entry->pw_name);
	user->home = strdup(entry->pw_dir);
	user->shell = strdup(entry->pw_shell && *entry->pw_shell ? entry->pw_shell : "/bin/sh");
	r = user->name && user->home && user->shell ? find_groups(user, err)
						    : err_set(err, -ENOMEM, "out of memory");
	if (r)
		launch_user_fini(user);
	return r;
}

void launch_user_fini(struct launch_user *user)
{
	free(user->groups);
	free(user->name);
	free(user->home);
	free(user->shell);
	*user = (struct launch_user){ 0 };
}

int launch_user_become(const struct launch_user *user)
{
	if (setgroups((size_t)user->ngroups, user->groups) || setgid(user->gid) || setuid(user->uid))
		return -errno;
	/* Who can go back has not gone. */
	return user->uid && !setuid(0) ? -EPERM : 0;
}

/* Our own rights, while those of another are used. */
struct rights {
	gid_t gid;
	gid_t *groups;
	int ngroups;
};

static int rights_change(struct rights *ours, const struct launch_user *user)
{
	int n = getgroups(0, NULL);

	ours->gid = getegid();
	ours->groups = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*ours->groups));
	if (!ours->groups)
		return -ENOMEM;
	ours->ngroups = getgroups(n > 0 ? n : 0, ours->groups);
	if (ours->ngroups < 0 || setgroups((size_t)user->ngroups, user->groups) || setegid(user->gid) ||
	    seteuid(user->uid))
		return -errno;
	return 0;
}

/* Root can always go back; a process that could not must not go on. */
static void rights_restore(struct rights *ours)
{
	if (seteuid(0) || setegid(ours->gid) ||
	    (ours->ngroups >= 0 && setgroups((size_t)ours->ngroups, ours->groups)))
		abort();
	free(ours->groups);
}

static int open_as(struct source **out, const struct opts *opts, const struct launch_user *user,
		   struct err *err)
{
	struct source_how how = { .dir = opts_value(opts, "dir"), .create = true };
	struct rights ours = { .ngroups = -1 };
	char path[PATH_MAX];
	int r;

	r = rights_change(&ours, user);
	if (r)
		err_set(err, r, "cannot act as %s: %s", user->name, strerror(-r));
	/* Our environment is not his. */
	if (!r && !how.dir) {
		r = segment_path(path, sizeof(path), true);
		how.dir = path;
	}
	if (!r)
		r = source_open(out, &how, err);
	rights_restore(&ours);
	return r;
}

int launch_open_source(struct source **out, const struct opts *opts, const char *name, struct err *err)
{
	struct launch_user user;
	int r;

	if (!name || opts_value(opts, "kernel") || opts_value(opts, "tracefs"))
		return cmd_open(out, opts, true, err);
	r = launch_user_find(&user, name, err);
	if (r)
		return r;
	r = open_as(out, opts, &user, err);
	launch_user_fini(&user);
	return r;
}
