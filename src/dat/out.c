/*
 * dat/out: see out.h.
 */
#include "dat/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dat/store.h"

void out_fail(struct out *out, int code)
{
	err_set(&out->err, code, "cannot write %.300s: %s", out->place.path, strerror(-code));
}

int out_open(struct out *out, const char *path, bool big_endian, struct err *err)
{
	*out = (struct out){ .fd = -1, .big_endian = big_endian, .err = ERR_INIT };
	out->fd = place_open(&out->place, path, err);
	return out->fd < 0 ? out->fd : 0;
}

static void write_at(struct out *out, const uint8_t *bytes, size_t len, uint64_t pos)
{
	while (len && !out_failed(out)) {
		ssize_t n = pwrite(out->fd, bytes, len, (off_t)pos);

		if (n < 0 && errno != EINTR)
			out_fail(out, -errno);
		if (n <= 0)
			continue;
		bytes += n;
		pos += (uint64_t)n;
		len -= (size_t)n;
	}
}

static void flush(struct out *out)
{
	write_at(out, out->buffer, out->used, out->flushed);
	out->flushed += out->used;
	out->used = 0;
}

void out_bytes(struct out *out, const void *bytes, size_t len)
{
	if (out_failed(out))
		return;
	if (len > OUT_BUFFER - out->used)
		flush(out);
	if (len > OUT_BUFFER) {
		write_at(out, bytes, len, out->flushed);
		out->flushed += len;
		return;
	}
	if (len)
		memcpy(out->buffer + out->used, bytes, len);
	out->used += len;
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text) + 1);
}

void out_word(struct out *out, uint32_t size, uint64_t value)
{
	uint8_t bytes[8];

	dat_store(bytes, size, value, out->big_endian);
	out_bytes(out, bytes, size);
}

void out_align(struct out *out, uint32_t step)
{
	static const uint8_t zeros[4096];
	uint64_t over = out_pos(out) % step, left = over ? step - over : 0;

	while (left && !out_failed(out)) {
		size_t n = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

		out_bytes(out, zeros, n);
		left -= n;
	}
}

void out_patch(struct out *out, uint64_t pos, uint32_t size, uint64_t value)
{
	uint8_t bytes[8];

	if (out_failed(out))
		return;
	dat_store(bytes, size, value, out->big_endian);
	if (pos >= out->flushed) {
		memcpy(out->buffer + (pos - out->flushed), bytes, size);
		return;
	}
	if (pos + size > out->flushed)
		flush(out);
	write_at(out, bytes, size, pos);
}

/* Only closing tells of some failures, on file systems of other machines above all. */
static void shut(struct out *out)
{
	int fd = out->fd;

	out->fd = -1;
	if (close(fd) && errno != EINTR)
		out_fail(out, -errno);
}

int out_commit(struct out *out)
{
	int r;

	flush(out);
	r = out_failed(out) ? 0 : place_prepare(&out->place, out->fd);
	if (r)
		out_fail(out, r);
	shut(out);
	r = out_failed(out) ? 0 : place_take(&out->place);
	if (r)
		out_fail(out, r);
	return out_failed(out);
}

void out_close(struct out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	place_fini(&out->place);
	out->fd = -1;
}
