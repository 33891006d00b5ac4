/*
 * dat/live_direct: large batches of pages past the page cache. See live_local.h.
 *
 * What is recorded is seldom read soon, and a copy into the cache costs several times what it takes to tell the device
 * where the pages lie. A device that is too slow for that is better off with the cache, which takes bursts: then this
 * rests for a while, and for longer each time. Small writes, and what is written again, go through the cache anyway.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mono.h"
#include "dat/live_local.h"

/* Less than that is not worth a transfer of its own. */
#define DIRECT_MIN ((size_t)256 << 10)
/* Nanoseconds that a KiB may take, all in all: 100 MB a second; and how far a device may fall behind that. */
#define DIRECT_NS_KIB 10000u
#define DIRECT_BEHIND_NS 30000000u
#define DIRECT_REST_NS 1000000000u
#define DIRECT_REST_MAX (64 * (uint64_t)DIRECT_REST_NS)

void live_direct_open(struct dat_live *live)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", live->file.fd);
	live->direct = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
	live->rest = DIRECT_REST_NS;
}

void live_direct_close(struct dat_live *live)
{
	if (live->direct >= 0)
		close(live->direct);
	live->direct = -1;
}

static bool is_aligned(const struct dat_live *live, const struct iovec *pages, int n, uint64_t at)
{
	uint64_t all = at;

	for (int i = 0; i < n; i++)
		all |= (uintptr_t)pages[i].iov_base | pages[i].iov_len;
	return !(all % live->file.block) && !(all % LIVE_BLOCK);
}

/* What the write says of the device. */
static void judge(struct dat_live *live, uint64_t now, uint64_t took, uint64_t fair)
{
	if (took <= fair) {
		live->behind -= live->behind < fair - took ? live->behind : fair - took;
		live->rest = DIRECT_REST_NS;
		return;
	}
	live->behind += took - fair;
	if (live->behind <= DIRECT_BEHIND_NS)
		return;
	live->rests_until = now + live->rest;
	live->rest = live->rest < DIRECT_REST_MAX ? live->rest * 2 : DIRECT_REST_MAX;
	live->behind = 0;
}

/* What becomes of a write that began then. */
static ssize_t end(struct dat_live *live, ssize_t done, uint64_t before, size_t len)
{
	uint64_t now = mono_ns();

	/* Some file systems know only now that they cannot. */
	if (done < 0 && (errno == EINVAL || errno == EOPNOTSUPP || errno == ENOMEM)) {
		live_direct_close(live);
		return 0;
	}
	judge(live, now, now - before, (uint64_t)len / 1024 * DIRECT_NS_KIB);
	return done;
}

ssize_t live_direct_write(struct dat_live *live, const struct iovec *pages, int n, size_t len, uint64_t at)
{
	uint64_t before;

	if (live->direct < 0 || len < DIRECT_MIN || !is_aligned(live, pages, n, at))
		return 0;
	before = mono_ns();
	if (before < live->rests_until)
		return 0;
	return end(live, pwritev(live->direct, pages, n, (off_t)at), before, len);
}

ssize_t live_direct_splice(struct dat_live *live, int pipe, size_t len, uint64_t at)
{
	struct iovec pages = { NULL, len };
	off_t to = (off_t)at;
	uint64_t before;

	if (live->direct < 0 || len < DIRECT_MIN || !is_aligned(live, &pages, 1, at))
		return 0;
	before = mono_ns();
	if (before < live->rests_until)
		return 0;
	return end(live, splice(pipe, NULL, live->direct, &to, len, SPLICE_F_MOVE), before, len);
}
