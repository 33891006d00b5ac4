/*
 * dat/out: see out.h.
 */
#include "dat/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/store.h"

/* Names that are tried before the directory is taken for a strange one. */
#define TRIES 100

void out_fail(struct out *out, int code)
{
	err_set(&out->err, code, "cannot write %.300s: %s", out->path, strerror(-code));
}

/* Where the file is to be: a link stays, and what it leads to is replaced. */
static int resolve(struct out *out, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		out->path = strdup(path);
		return out->path ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "cannot write %.300s: it is no regular file", path);
	out->path = realpath(path, NULL);
	if (out->path)
		return 0;
	return err_set(err, -errno, "cannot write %.300s: %s", path, strerror(errno));
}

static int next_name(struct out *out, int i)
{
	free(out->temp);
	if (asprintf(&out->temp, "%s.%d-%d", out->path, (int)getpid(), i) < 0) {
		out->temp = NULL;
		return -ENOMEM;
	}
	return 0;
}

/*
 * A file without a name goes away with whoever writes it, however that ends. Not all file systems
 * know such files, and a name can be given to one only by way of /proc.
 */
static int create_nameless(struct out *out)
{
	const char *slash = strrchr(out->path, '/');
	char *dir = slash ? strndup(out->path, (size_t)(slash - out->path) + 1) : strdup(".");

	if (!dir)
		return -ENOMEM;
	out->fd = access("/proc/self/fd", X_OK) ? -1 :
		  open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	free(dir);
	return out->fd < 0 ? -ENOENT : 0;
}

static int create(struct out *out)
{
	int r;

	if (!create_nameless(out))
		return 0;
	for (int i = 0; i < TRIES; i++) {
		r = next_name(out, i);
		if (r)
			return r;
		out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (out->fd >= 0 || errno != EEXIST)
			break;
	}
	if (out->fd >= 0)
		return 0;
	r = -errno;
	free(out->temp);
	out->temp = NULL;
	return r;
}

/* A file without a name cannot replace another: first it gets one. */
static void give_name(struct out *out)
{
	char self[64];
	int r = -1;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", out->fd);
	for (int i = 0; i < TRIES && r; i++) {
		if (next_name(out, i)) {
			out_fail(out, -ENOMEM);
			return;
		}
		r = linkat(AT_FDCWD, self, AT_FDCWD, out->temp, AT_SYMLINK_FOLLOW);
		if (r && errno != EEXIST)
			break;
	}
	if (!r)
		return;
	out_fail(out, -errno);
	free(out->temp);
	out->temp = NULL;
}

int out_open(struct out *out, const char *path, bool big_endian, struct err *err)
{
	int r;

	*out = (struct out){ .fd = -1, .big_endian = big_endian, .err = ERR_INIT };
	r = resolve(out, path, err);
	if (r)
		return r;
	r = create(out);
	if (r) {
		err_set(err, r, "cannot write %.300s: %s", path, strerror(-r));
		out_close(out);
	}
	return r;
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
	flush(out);
	if (!out->temp && !out_failed(out))
		give_name(out);
	shut(out);
	if (!out_failed(out) && rename(out->temp, out->path))
		out_fail(out, -errno);
	if (out_failed(out))
		return out_failed(out);
	free(out->temp);
	out->temp = NULL;
	return 0;
}

void out_close(struct out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temp)
		unlink(out->temp);
	free(out->temp);
	free(out->path);
	out->temp = out->path = NULL;
	out->fd = -1;
}
