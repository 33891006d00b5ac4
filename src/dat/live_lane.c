/*
 * dat/live_lane: pages into a growing file. See live.h and live_file.h.
 *
 * A batch of pages is two calls of the system: one writes them behind those that count, the other lets them count. Of a
 * window (how->keep) the old end is let go now and then, and when it has come to the end of its room it goes on at its
 * beginning:
 *
 *	begin | ....... given back ....... [ offset  size ] written |  end
 *	begin | [ size ] ....... given back ........................|  end
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "dat/live_local.h"

#define PARTS_MAX 64

int live_ready(struct dat_live *live)
{
	struct live_file *f = &live->file;
	uint64_t most = 2 * (live->keep + live->slide) + 64 * f->step;

	if (f->data || live->err.code)
		return live->err.code;
	if (live_lay_out(f, &live->err))
		return live->err.code;
	if (live->keep && live_nr_lanes(f) && f->lanes[0].end - f->lanes[0].begin < most)
		return err_set(&live->err, -EFBIG, "cannot write %.300s: there is no room for %llu bytes of each CPU",
			       f->path, (unsigned long long)live->keep);
	return 0;
}

static struct live_lane *lane_of(struct dat_live *live, size_t buffer, uint32_t cpu)
{
	struct live_file *f = &live->file;

	return buffer < f->nr_buffers && cpu < f->nr_cpus ? &f->lanes[buffer * f->nr_cpus + cpu] : NULL;
}

/* The rest of a write that came back early, or had too many parts for one. */
static int write_rest(struct dat_live *live, const struct iovec *pages, int n, size_t done, uint64_t at)
{
	while (n) {
		struct iovec parts[PARTS_MAX];
		int some = n < PARTS_MAX ? n : PARTS_MAX, r;
		size_t skip = done, len = 0;

		memcpy(parts, pages, (size_t)some * sizeof(*parts));
		for (int i = 0; i < some; i++) {
			size_t cut = skip < parts[i].iov_len ? skip : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + cut;
			parts[i].iov_len -= cut;
			skip -= cut;
			len += parts[i].iov_len;
		}
		r = live_put_all(&live->file, parts, some, at);
		if (r)
			return r;
		at += len;
		done = skip;
		pages += some;
		n -= some;
	}
	return 0;
}

/* The window goes on at the beginning of its room, which was given back long ago. */
static int rewind_window(struct dat_live *live, struct live_lane *lane)
{
	struct live_file *f = &live->file;
	uint64_t old = lane->offset;
	int r;

	if (!live->keep || lane->begin + lane->size > old)
		return -EFBIG;
	r = live_copy(f, old, lane->begin, lane->size);
	if (r)
		return r;
	lane->offset = lane->begin;
	r = live_tell_lane(f, lane);
	if (!r)
		live_punch(f, old, lane->end);
	return r;
}

int live_full(struct dat_live *live, const struct live_lane *lane)
{
	const struct live_file *f = &live->file;
	size_t i = (size_t)(lane - f->lanes);

	err_set(&live->err, -EFBIG, "cannot write %.300s: CPU %zu of buffer '%.100s' has more than %llu bytes, for which "
		"there is no room", f->path, i % f->nr_cpus, f->buffers[i / f->nr_cpus].name,
		(unsigned long long)(lane->end - lane->begin));
	return live_fail(live, -EFBIG);
}

/* Where so many bytes go. */
static int find_room(struct dat_live *live, struct live_lane *lane, size_t len, uint64_t *at)
{
	int r = 0;

	lane->written = 0;
	*at = lane->offset + lane->size - lane->open;
	if (len > lane->end - *at) {
		r = rewind_window(live, lane);
		*at = lane->offset + lane->size - lane->open;
		if (r == -EFBIG || (!r && len > lane->end - *at))
			return live_full(live, lane);
	}
	return r ? live_fail(live, r) : 0;
}

static int write_plain(struct dat_live *live, struct live_lane *lane, const struct iovec *pages, int n, size_t len)
{
	uint64_t at;
	ssize_t done;
	int r = find_room(live, lane, len, &at);

	if (r)
		return r;
	done = live_direct_write(live, pages, n, len, at);
	if (!done && n <= IOV_MAX)
		done = pwritev(live->file.fd, pages, n, (off_t)at);
	if (done != (ssize_t)len)
		r = done < 0 && errno != EINTR ? -errno :
		    write_rest(live, pages, n, done < 0 ? 0 : (size_t)done, at + (done < 0 ? 0 : (uint64_t)done));
	/* That is the memory, not the file; or there may be room for less. */
	if (r == -EFAULT || (r == -ENOSPC && len > LIVE_BLOCK && len > live->file.step))
		return r;
	if (r)
		return live_fail(live, r);
	lane->written = len;
	return 0;
}

int dat_live_write(struct dat_live *live, size_t buffer, uint32_t cpu, const struct iovec *pages, int n)
{
	struct live_lane *lane = lane_of(live, buffer, cpu);
	size_t len = 0;

	if (live->err.code)
		return live->err.code;
	for (int i = 0; i < n; i++)
		len += pages[i].iov_len;
	if (!lane || len % live->file.buffers[buffer].page_size)
		return -EINVAL;
	if (!live->file.data && live_ready(live))
		return live->err.code;
	return live->pack ? live_pack_write(live, lane, pages, n, len) : write_plain(live, lane, pages, n, len);
}

/* Lets go what is too much, but for less than `slide`. */
static void slide(struct dat_live *live, struct live_lane *lane, uint64_t *from)
{
	uint64_t much = live_down(lane->size - live->keep, live->slide);

	*from = lane->offset;
	lane->offset += much;
	lane->size -= much;
	live->bytes -= much;
}

static int accept_plain(struct dat_live *live, struct live_lane *lane, uint32_t open)
{
	uint64_t more = lane->written - lane->open, from = lane->offset;
	int r;

	if (!lane->written)
		return 0;
	lane->size += more;
	live->bytes += more;
	lane->open = open;
	lane->written = 0;
	if (live->keep && lane->size >= live->keep + live->slide)
		slide(live, lane, &from);
	r = live_tell_lane(&live->file, lane);
	if (r)
		return live_fail(live, r);
	if (from != lane->offset)
		live_punch(&live->file, from, lane->offset);
	return 0;
}

static int accept(struct dat_live *live, size_t buffer, uint32_t cpu, bool open)
{
	struct live_lane *lane = lane_of(live, buffer, cpu);
	uint32_t page_size;

	if (live->err.code)
		return live->err.code;
	if (!lane)
		return -EINVAL;
	page_size = live->file.buffers[buffer].page_size;
	return live->pack ? live_pack_accept(live, lane, page_size, open) :
			    accept_plain(live, lane, open ? page_size : 0);
}

int dat_live_accept(struct dat_live *live, size_t buffer, uint32_t cpu)
{
	return accept(live, buffer, cpu, false);
}

int dat_live_accept_open(struct dat_live *live, size_t buffer, uint32_t cpu)
{
	return accept(live, buffer, cpu, true);
}

int dat_live_reopen(struct dat_live *live, size_t buffer, uint32_t cpu)
{
	struct live_lane *lane = lane_of(live, buffer, cpu);

	if (!lane || !lane->size || live->pack)
		return -EINVAL;
	lane->open = live->file.buffers[buffer].page_size;
	return 0;
}

int dat_live_trim(struct dat_live *live, size_t buffer, uint32_t cpu, uint64_t bytes)
{
	struct live_lane *lane = lane_of(live, buffer, cpu);
	int r;

	if (!lane || bytes > lane->size || bytes % live->file.buffers[buffer].page_size || live->pack)
		return -EINVAL;
	live->bytes -= lane->size - bytes;
	lane->size = bytes;
	lane->open = 0;
	lane->written = 0;
	r = live_tell_lane(&live->file, lane);
	return r ? live_fail(live, r) : 0;
}

int dat_live_splice(struct dat_live *live, size_t buffer, uint32_t cpu, int pipe, size_t len)
{
	struct live_lane *lane = lane_of(live, buffer, cpu);
	uint32_t page_size = lane ? live->file.buffers[buffer].page_size : 1;
	size_t done = 0;
	uint64_t at;
	ssize_t n = 1;
	int r;

	if (live->err.code)
		return live->err.code;
	if (!lane || len % page_size || live->pack)
		return -EINVAL;
	if ((!live->file.data && live_ready(live)) || find_room(live, lane, len, &at))
		return live->err.code;
	while (done < len && n > 0) {
		off_t to = (off_t)(at + done);

		n = live_direct_splice(live, pipe, len - done, at + done);
		if (!n)
			n = splice(pipe, NULL, live->file.fd, &to, len - done, SPLICE_F_MOVE);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			done += (size_t)n;
	}
	if (n < 0 && errno == EINVAL && !done)
		return -EINVAL;
	lane->written = done / page_size * page_size;
	if (done == len)
		return 0;
	/* The rest is lost with the pipe; what is there is there. */
	r = n < 0 ? -errno : -EIO;
	accept_plain(live, lane, 0);
	return live_fail(live, r);
}
