/*
 * dat/live_file: bytes into a growing file. See live_file.h.
 */
#include "dat/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)
#define BLOCK_MAX ((uint64_t)1 << 20)	/* what file systems recommend may be far more than their blocks */

int live_put(const struct live_file *f, const void *bytes, size_t len, uint64_t at)
{
	struct iovec part = { (void *)bytes, len };

	return live_put_all(f, &part, 1, at);
}

int live_put_word(const struct live_file *f, uint64_t value, uint64_t at)
{
	return live_put(f, &value, sizeof(value), at);
}

/* Forgets `done` bytes of the parts; returns how many of them are empty then. */
static int advance(struct iovec *parts, int n, size_t done)
{
	int i = 0;

	for (; i < n && done >= parts[i].iov_len; i++)
		done -= parts[i].iov_len;
	if (i < n) {
		parts[i].iov_base = (char *)parts[i].iov_base + done;
		parts[i].iov_len -= done;
	}
	return i;
}

int live_put_all(const struct live_file *f, struct iovec *parts, int n, uint64_t at)
{
	uint64_t len = 0;
	int skip = 0;

	for (int i = 0; i < n; i++)
		len += parts[i].iov_len;
	/* Beyond it the system would not only refuse, but also send a signal. */
	if (f->max && (at > f->max || len > f->max - at))
		return -EFBIG;
	while (len) {
		ssize_t done;

		parts += skip;
		n -= skip;
		done = pwritev(f->fd, parts, n < 1024 ? n : 1024, (off_t)at);
		if (done < 0 && errno != EINTR)
			return -errno;
		skip = advance(parts, n, done < 0 ? 0 : (size_t)done);
		at += done < 0 ? 0 : (uint64_t)done;
		len -= done < 0 ? 0 : (uint64_t)done;
	}
	return 0;
}

/* By way of memory of our own. */
static int carry(const struct live_file *f, uint64_t from, uint64_t to, uint64_t len)
{
	size_t room = len < PIECE ? (size_t)len : PIECE;
	char *bytes = malloc(room ? room : 1);
	int r = bytes ? 0 : -ENOMEM;

	while (!r && len) {
		ssize_t n = pread(f->fd, bytes, len < room ? (size_t)len : room, (off_t)from);

		if (n < 0 && errno == EINTR)
			continue;
		r = n < 0 ? -errno : !n ? -EIO : live_put(f, bytes, (size_t)n, to);
		from += (uint64_t)n;
		to += (uint64_t)n;
		len -= (uint64_t)n;
	}
	free(bytes);
	return r;
}

int live_copy(const struct live_file *f, uint64_t from, uint64_t to, uint64_t len)
{
	while (len > PIECE) {
		off_t in = (off_t)from, out = (off_t)to;
		ssize_t n = copy_file_range(f->fd, &in, f->fd, &out, len < PIECE << 8 ? (size_t)len : PIECE << 8, 0);

		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		/* Not all file systems know how. */
		if (n <= 0)
			break;
		from += (uint64_t)n;
		to += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return carry(f, from, to, len);
}

void live_punch(const struct live_file *f, uint64_t from, uint64_t to)
{
	from = live_up(from, f->block);
	to = live_down(to, f->block);
	if (from < to)
		fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

int live_measure(struct live_file *f, uint32_t page_size)
{
	struct stat st;
	uint64_t block;

	if (fstat(f->fd, &st))
		return -errno;
	block = (uint64_t)st.st_blksize;
	f->block = block > LIVE_BLOCK && block <= BLOCK_MAX && !(block & (block - 1)) ? block : LIVE_BLOCK;
	f->step = f->block > page_size ? f->block : page_size;
	for (size_t i = 0; i < f->nr_buffers; i++)
		if (f->buffers[i].page_size > f->step)
			f->step = f->buffers[i].page_size;
	return 0;
}

void live_strings(struct live_file *f, struct buf *out)
{
	for (enum dat_id id = 0; id < DAT_NR_IDS; id++) {
		const char *name = seven_name(id);

		f->names[id] = (uint32_t)out->len;
		if (*name)
			buf_add(out, name, strlen(name) + 1);
	}
	f->unused = (uint32_t)out->len;
	buf_add(out, "unused", 7);
	for (size_t i = 0; i < f->nr_buffers; i++) {
		f->buffers[i].called = (uint32_t)out->len;
		buf_puts(out, SEVEN_BUFFER);
		buf_add(out, f->buffers[i].name, strlen(f->buffers[i].name) + 1);
	}
}

void live_file_fini(struct live_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; f->buffers && i < f->nr_buffers; i++) {
		free(f->buffers[i].name);
		free(f->buffers[i].clock);
	}
	for (size_t i = 0; f->lanes && i < live_nr_lanes(f); i++)
		buf_fini(&f->lanes[i].pages);
	free(f->buffers);
	free(f->lanes);
	free(f->path);
	buf_fini(&f->more);
}
