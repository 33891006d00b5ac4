/*
 * mount/backing: see backing.h.
 */
#include "mount/backing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mount/wire.h"

struct backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};
#define BACKING_OPEN _IOW(229, 1, struct backing_map)

void backings_init(struct backings *backings, struct fuse_session *session)
{
	*backings = (struct backings){ .device = fuse_session_fd(session) };
	pthread_mutex_init(&backings->lock, NULL);
}

void backings_fini(struct backings *backings)
{
	while (backings->first) {
		struct backing *backing = backings->first;

		backings->first = backing->next;
		close(backing->fd);
		free(backing->path);
		free(backing);
	}
	pthread_mutex_destroy(&backings->lock);
}

void backings_want(struct backings *backings)
{
	backings->on = wire_can_map() && !geteuid();
	if (backings->on)
		wire_want_map();
}

static struct backing *make(struct backings *backings, const char *path)
{
	struct backing *backing = calloc(1, sizeof(*backing));
	struct backing_map map = { 0 };

	if (!backing)
		return NULL;
	backing->path = strdup(path);
	backing->fd = memfd_create("trace_pipe_raw", MFD_CLOEXEC);
	map.fd = backing->fd;
	backing->id = backing->path && backing->fd >= 0 ?
		      ioctl(backings->device, BACKING_OPEN, &map) : -1;
	if (backing->id > 0) {
		backing->next = backings->first;
		backings->first = backing;
		return backing;
	}
	/* Refused: not root enough, for instance in a container. It will not change its mind. */
	backings->on = false;
	if (backing->fd >= 0)
		close(backing->fd);
	free(backing->path);
	free(backing);
	return NULL;
}

const struct backing *backings_get(struct backings *backings, const char *path)
{
	struct backing *backing;

	pthread_mutex_lock(&backings->lock);
	backing = backings->on ? backings->first : NULL;
	while (backing && strcmp(backing->path, path))
		backing = backing->next;
	if (!backing && backings->on)
		backing = make(backings, path);
	pthread_mutex_unlock(&backings->lock);
	return backing;
}

void backing_announce(const struct backing *backing)
{
	wire_announce(backing->id);
}
