/*
 * mount/backing: see backing.h.
 */
#include "mount/backing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The protocol, as far as it is newer than the headers that we build with. */
#define OPCODE_INIT 26u
#define INIT_EXT (1u << 30)		/* flags: flags2 is there */
#define INIT2_PASSTHROUGH (1u << 5)	/* flags2: bit 37 of all */
#define OPEN_PASSTHROUGH (1u << 7)

struct request_head {
	uint32_t len;
	uint32_t opcode;
	uint64_t unique;
	uint64_t nodeid;
	uint32_t rest[4];
};

struct init_request {
	struct request_head head;
	uint32_t major, minor, max_readahead, flags, flags2;
};

struct init_answer {
	uint32_t major, minor, max_readahead, flags;
	uint16_t max_background, congestion;
	uint32_t max_write, time_gran;
	uint16_t max_pages, map_alignment;
	uint32_t flags2, max_stack_depth;
};

struct open_answer {
	uint64_t fh;
	uint32_t flags;
	int32_t backing;
};

struct backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};
#define BACKING_OPEN _IOW(229, 1, struct backing_map)

/* What the next answer of this thread is to be completed with. */
static __thread struct {
	bool init;
	int32_t backing;
} complete;

static void complete_init(struct iovec *answer)
{
	struct init_answer init;

	if (answer->iov_len < sizeof(init))
		return;
	memcpy(&init, answer->iov_base, sizeof(init));
	init.flags |= INIT_EXT;
	init.flags2 |= INIT2_PASSTHROUGH;
	/* What lies behind is in memory: no file system stands on another. */
	init.max_stack_depth = 1;
	memcpy(answer->iov_base, &init, sizeof(init));
}

static void complete_open(struct iovec *answer, int32_t backing)
{
	struct open_answer open;

	if (answer->iov_len < sizeof(open))
		return;
	memcpy(&open, answer->iov_base, sizeof(open));
	open.flags |= OPEN_PASSTHROUGH;
	open.backing = backing;
	memcpy(answer->iov_base, &open, sizeof(open));
}

static ssize_t to_device(int fd, struct iovec *iov, int count, void *userdata)
{
	(void)userdata;
	if (complete.init && count > 1)
		complete_init(&iov[1]);
	if (complete.backing && count > 1)
		complete_open(&iov[1], complete.backing);
	memset(&complete, 0, sizeof(complete));
	return writev(fd, iov, count);
}

static struct backings *only;	/* one server a process */

static ssize_t from_device(int fd, void *bytes, size_t len, void *userdata)
{
	struct init_request init;
	ssize_t n = read(fd, bytes, len);

	(void)userdata;
	if (n < (ssize_t)sizeof(init) || only->on)
		return n;
	memcpy(&init, bytes, sizeof(init));
	if (init.head.opcode == OPCODE_INIT && init.flags & INIT_EXT)
		only->offered = init.flags2 & INIT2_PASSTHROUGH;
	return n;
}

int backings_init(struct backings *backings, struct fuse_session *session)
{
	static const struct fuse_custom_io io = { .writev = to_device, .read = from_device };

	*backings = (struct backings){ .device = fuse_session_fd(session) };
	pthread_mutex_init(&backings->lock, NULL);
	only = backings;
	return fuse_session_custom_io(session, &io, backings->device);
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
	backings->on = backings->offered && !geteuid();
	complete.init = backings->on;
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
	complete.backing = backing->id;
}
