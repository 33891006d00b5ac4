/*
 * mount/place: see place.h.
 */
#include "mount/place.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "mount/overhear.h"

#define TYPE "fuse." PLACE_SUBTYPE

/* Only what is before the last name is looked at: that itself may be a mount whose server is gone. */
static int resolve_parent(char *path, size_t size, char *dir)
{
	char parent[PATH_MAX], *slash = strrchr(dir, '/');
	const char *name = slash ? slash + 1 : dir;
	int n;

	if (slash)
		*slash = '\0';
	if (!realpath(!slash ? "." : slash == dir ? "/" : dir, parent))
		return -errno;
	n = snprintf(path, size, "%s/%s", strcmp(parent, "/") ? parent : "", name);
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

static bool is_plain_name(const char *dir)
{
	const char *slash = strrchr(dir, '/');
	const char *name = slash ? slash + 1 : dir;
	struct stat st;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	return lstat(dir, &st) ? errno == ENOTCONN : S_ISDIR(st.st_mode);
}

int place_resolve(char *path, size_t size, const char *dir, struct err *err)
{
	char text[PATH_MAX], whole[PATH_MAX];
	size_t len = strlen(dir);
	int r = 0;

	if (!len)
		return err_set(err, -EINVAL, "the path of a directory is needed");
	if (len >= sizeof(text))
		return err_set(err, -ENAMETOOLONG, "%.60s...: the path is too long", dir);
	strcpy(text, dir);
	while (len > 1 && text[len - 1] == '/')
		text[--len] = '\0';
	if (is_plain_name(text))
		r = resolve_parent(path, size, text);
	else if (!realpath(text, whole))
		r = -errno;
	else if (snprintf(path, size, "%s", whole) >= (int)size)
		r = -ENAMETOOLONG;
	if (r == -ENOENT)
		return err_set(err, r, "%s: there is no such directory: make it first", dir);
	return r ? err_set(err, r, "%s: %s", dir, strerror(-r)) : 0;
}

/* One line of the mount table; false behind the last. */
static bool next_mount(FILE *table, struct mntent *entry, char *text, size_t size)
{
	return getmntent_r(table, entry, text, (int)size) != NULL;
}

bool place_is_ours(const char *path)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	char text[3 * PATH_MAX];
	struct mntent entry;
	bool ours = false;

	if (!table)
		return false;
	/* Later lines lie on top of earlier ones. */
	while (next_mount(table, &entry, text, sizeof(text)))
		if (!strcmp(entry.mnt_dir, path))
			ours = !strcmp(entry.mnt_type, TYPE);
	endmntent(table);
	return ours;
}

int place_list(struct buf *paths, struct err *err)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	char text[3 * PATH_MAX], user[32];
	struct mntent entry;

	if (!table)
		return err_set(err, -errno, "/proc/self/mounts: %s", strerror(errno));
	snprintf(user, sizeof(user), "user_id=%u", (unsigned int)geteuid());
	while (next_mount(table, &entry, text, sizeof(text)))
		if (!strcmp(entry.mnt_type, TYPE) && hasmntopt(&entry, user))
			buf_add(paths, entry.mnt_dir, strlen(entry.mnt_dir) + 1);
	endmntent(table);
	return buf_failed(paths) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int place_ask(const char *path, struct place_identity *identity)
{
	/* Attributes may be cached; an open always asks the server. */
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return errno == ECONNABORTED ? -ENOTCONN : -errno;
	r = ioctl(fd, PLACE_IDENTITY, identity) ? -errno : 0;
	close(fd);
	return r;
}

/* Its exit status, or -errno; the first line of what it says on stderr. */
static int run_fusermount(const char *path, bool lazy, char *said, size_t size)
{
	const char *argv[] = { "fusermount3", lazy ? "-uz" : "-u", "--", path, NULL };
	extern char **environ;
	struct overhear ear;
	int status = 0, r;
	pid_t pid;

	overhear_begin(&ear);
	r = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
	if (!r)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	overhear_end(&ear, said, size);
	return r ? -r : WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

static int busy(const char *path, struct err *err)
{
	return err_set(err, -EBUSY, "%s: is in use: close what is open there and leave the "
		       "directory (`fuser -vm %s` names who)", path, path);
}

int place_unmount(const char *path, bool lazy, struct err *err)
{
	char said[256];
	int r;

	if (!umount2(path, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)))
		return 0;
	if (errno == EBUSY)
		return busy(path, err);
	if (errno != EPERM)
		return err_set(err, -errno, "%s: cannot be unmounted: %s", path, strerror(errno));
	r = run_fusermount(path, lazy, said, sizeof(said));
	if (r == -ENOENT)
		return err_set(err, r, "%s: cannot be unmounted without fusermount3: install the "
			       "package fuse3", path);
	if (r < 0)
		return err_set(err, r, "%s: cannot run fusermount3: %s", path, strerror(-r));
	if (r && strstr(said, strerror(EBUSY)))
		return busy(path, err);
	if (r)
		return err_set(err, -EPERM, "%s: cannot be unmounted: %s", path, said);
	return 0;
}
