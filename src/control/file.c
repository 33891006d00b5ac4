/*
 * control/file: see file.h. Any thread; no state.
 */
#include "control/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *control_file_name(enum segment_kind kind)
{
	switch (kind) {
	case SEGMENT_CONTROL:
		return "control";
	case SEGMENT_REGISTRY:
		return "registry";
	case SEGMENT_TABLES:
		return "tables";
	case SEGMENT_PLANS:
		return "plans";
	default:
		return "rings";
	}
}

static int failed(const struct segment_dir *dir, enum segment_kind kind, const char *what, int code,
		  struct err *err)
{
	if (code == -ENOSPC || code == -EDQUOT)
		return err_set(
			err, code,
			"%s/%s: %s: the file system is full: make room or use a smaller buffer",
			dir->path, control_file_name(kind), what);
	return err_set(err, code, "%s/%s: %s: %s", dir->path, control_file_name(kind), what,
		       strerror(-code));
}

int control_file_read(const struct segment_dir *dir, enum segment_kind kind, void *bytes,
		      size_t len, uint64_t offset, struct err *err)
{
	char *to = bytes;

	while (len) {
		ssize_t n = pread(dir->fd[kind], to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return failed(dir, kind, "cannot be read", -errno, err);
		if (!n)
			return err_set(err, -EUCLEAN,
				       "%s/%s: is cut short: remove %s and start again", dir->path,
				       control_file_name(kind), dir->path);
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int control_file_write(const struct segment_dir *dir, enum segment_kind kind, const void *bytes,
		       size_t len, uint64_t offset, struct err *err)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = pwrite(dir->fd[kind], from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(dir, kind, "cannot be written", n ? -errno : -EIO, err);
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int control_file_publish(const struct segment_dir *dir, enum segment_kind kind, const void *word,
			 size_t len, uint64_t offset, struct err *err)
{
	int r;

	/* Partner: the fence of programs between marking an event ready and reading `published`. */
	atomic_thread_fence(memory_order_seq_cst);
	r = control_file_write(dir, kind, word, len, offset, err);
	atomic_thread_fence(memory_order_seq_cst);
	return r;
}

int control_file_size(const struct segment_dir *dir, enum segment_kind kind, uint64_t *size,
		      struct err *err)
{
	struct stat st;

	if (fstat(dir->fd[kind], &st))
		return failed(dir, kind, "cannot be looked at", -errno, err);
	*size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return 0;
}

int control_file_grow(const struct segment_dir *dir, enum segment_kind kind, uint64_t size,
		      struct err *err)
{
	uint64_t now = 0;
	int r;

	r = control_file_size(dir, kind, &now, err);
	if (r || now >= size)
		return r;
	if (ftruncate(dir->fd[kind], (off_t)size))
		return failed(dir, kind, "cannot be made longer", -errno, err);
	return 0;
}

int control_file_back(const struct segment_dir *dir, enum segment_kind kind, uint64_t offset,
		      uint64_t len, struct err *err)
{
	int r;

	do
		r = posix_fallocate(dir->fd[kind], (off_t)offset, (off_t)len);
	while (r == EINTR);
	return r ? failed(dir, kind, "cannot get memory", -r, err) : 0;
}

/* For file systems that cannot punch: the same to a reader, but the memory stays in use. */
static int write_zeros(const struct segment_dir *dir, enum segment_kind kind, uint64_t offset,
		       uint64_t len, struct err *err)
{
	/* Not const: memory that no file has to bring. */
	static char zeros[65536];
	int r = 0;

	while (len && !r) {
		size_t n = len < sizeof(zeros) ? (size_t)len : sizeof(zeros);

		r = control_file_write(dir, kind, zeros, n, offset, err);
		offset += n;
		len -= n;
	}
	return r;
}

int control_file_punch(const struct segment_dir *dir, enum segment_kind kind, uint64_t offset,
		       uint64_t len, struct err *err)
{
	int r;

	do
		r = fallocate(dir->fd[kind], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)offset, (off_t)len);
	while (r && errno == EINTR);
	if (!r)
		return 0;
	if (errno == EOPNOTSUPP || errno == ENOSYS)
		return write_zeros(dir, kind, offset, len, err);
	return failed(dir, kind, "cannot be emptied", -errno, err);
}
