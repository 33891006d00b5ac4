/*
 * mount/wire: see wire.h.
 */
#include "mount/wire.h"

#include <string.h>
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

static __thread uint64_t number;
static bool can_map;

static ssize_t from_device(int fd, void *bytes, size_t len, void *userdata)
{
	struct init_request init;
	ssize_t n = read(fd, bytes, len);

	(void)userdata;
	if (n < (ssize_t)sizeof(init.head))
		return n;
	memcpy(&init, bytes, n < (ssize_t)sizeof(init) ? sizeof(init.head) : sizeof(init));
	number = init.head.unique;
	if (init.head.opcode == OPCODE_INIT && n >= (ssize_t)sizeof(init) && init.flags & INIT_EXT)
		can_map = init.flags2 & INIT2_PASSTHROUGH;
	return n;
}

int wire_init(struct fuse_session *session)
{
	static const struct fuse_custom_io io = { .writev = to_device, .read = from_device };

	return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

bool wire_can_map(void)
{
	return can_map;
}

void wire_want_map(void)
{
	complete.init = true;
}

void wire_announce(int32_t backing)
{
	complete.backing = backing;
}

uint64_t wire_number(void)
{
	return number;
}
