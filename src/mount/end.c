/*
 * mount/end: mounts taken away, by whoever made them. The server notices and ends by itself; whoever
 * asked is told when it has.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "mount/mount.h"
#include "mount/place.h"

#define SERVER_END_MS 5000
/* Whoever else asks whose mounts there are (mount_end_all()) has this one open for a moment. */
#define LOOK_TRIES 20
#define LOOK_MS 10

/* A descriptor that tells when the server has ended; -1: it cannot be known. */
static int watch(const struct place_identity *identity)
{
	return (int)syscall(SYS_pidfd_open, (pid_t)identity->pid, 0u);
}

static void wait_for_end(int server)
{
	struct pollfd fd = { .fd = server, .events = POLLIN };

	if (server < 0)
		return;
	while (poll(&fd, 1, SERVER_END_MS) < 0 && errno == EINTR)
		;
	close(server);
}

/* Not busy is one that somebody only looks at. */
static int unmount(const char *path, bool lazy, struct err *err)
{
	struct err ours = ERR_INIT;
	int r = place_unmount(path, lazy, &ours);

	for (int i = 0; r == -EBUSY && i < LOOK_TRIES; i++) {
		poll(NULL, 0, LOOK_MS);
		ours = (struct err)ERR_INIT;
		r = place_unmount(path, lazy, &ours);
	}
	return r ? err_set(err, r, "%s", ours.text) : 0;
}

/* One of ours is there; `r` is what asking it gave. */
static int end(const char *path, const struct place_identity *identity, int r, struct err *err)
{
	int server = r ? -1 : watch(identity);

	/* Nobody can use a mount without a server any more, so that none need be waited for. */
	r = unmount(path, r == -ENOTCONN, err);
	if (!r)
		wait_for_end(server);
	else if (server >= 0)
		close(server);
	return r;
}

int mount_end(const char *place, struct err *err)
{
	struct place_identity identity;
	char path[PATH_MAX];
	int r;

	r = place_resolve(path, sizeof(path), place, err);
	if (r)
		return r;
	if (!place_is_ours(path))
		return err_set(err, -EINVAL, "%s: no tree of Ringside is mounted there", place);
	r = place_ask(path, &identity);
	return end(path, &identity, r, err);
}

int mount_end_all(const struct control *control, struct err *err)
{
	struct place_identity identity;
	struct buf paths = BUF_INIT;
	struct stat dir;
	int n = 0, r;

	if (fstat(control->dir.dir, &dir))
		return err_set(err, -errno, "%s: %s", control->dir.path, strerror(errno));
	r = place_list(&paths, err);
	for (size_t at = paths.len; !r && at;) {
		const char *path;
		int asked;

		/* From the last to the first: they may lie on each other. */
		for (at--; at && paths.data[at - 1]; at--)
			;
		path = paths.data + at;
		asked = place_ask(path, &identity);
		/* Whose a mount without a server was, nobody can tell. */
		if (asked || identity.dev != dir.st_dev || identity.ino != dir.st_ino)
			continue;
		r = end(path, &identity, asked, err);
		n += !r;
	}
	buf_fini(&paths);
	return r ? r : n;
}
