/*
 * remote/memory: see memory.h.
 */
#include "remote/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A device is mapped in pieces of that size, around what is asked for. */
#define WINDOW (1ull << 20)
/* A word is right when it was read twice: the kernel may copy it byte by byte. */
#define WORD_TRIES 64

/* A number that the kernel tells of the first memory of a UIO device, "0x1000"; 0: it is none, or has none. */
static uint64_t uio_number(const struct stat *st, const char *what)
{
	char path[96], text[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/maps/map0/%s", major(st->st_rdev), minor(st->st_rdev), what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtoull(text, NULL, 0) : 0;
}

int remote_memory_take(struct remote_memory *memory, int fd, bool writable, struct err *err)
{
	struct stat st;
	int r;

	*memory = (struct remote_memory){ .fd = fd, .writable = writable };
	if (fstat(fd, &st))
		goto refuse;
	if (S_ISCHR(st.st_mode)) {
		memory->device = true;
		memory->uio_size = uio_number(&st, "size");
		memory->uio_offset = memory->uio_size ? uio_number(&st, "offset") : 0;
		memory->size = memory->uio_size ? memory->uio_size : INT64_MAX;
		return 0;
	}
	if (S_ISREG(st.st_mode)) {
		memory->size = (uint64_t)st.st_size;
		memory->dev = st.st_dev;
		memory->ino = st.st_ino;
		return 0;
	}
	errno = EINVAL;
refuse:
	r = err_set(err, -errno, "%s", errno == EINVAL ? "is neither a file nor a device" : strerror(errno));
	close(fd);
	memory->fd = -1;
	return r;
}

int remote_memory_open(struct remote_memory *memory, const char *path, struct err *err)
{
	struct stat st;
	/* Of a device it has to do with caches; a file would be written to its disk with each word. */
	int how = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (!stat(path, &st) && S_ISCHR(st.st_mode) ? O_SYNC : 0);
	int fd = open(path, O_RDWR | how);
	bool writable = fd >= 0;
	int r;

	memory->fd = -1;
	if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
		fd = open(path, O_RDONLY | how);
	if (fd < 0)
		return err_set(err, -errno, "%.200s: %s", path, strerror(errno));
	r = remote_memory_take(memory, fd, writable, err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	return r;
}

static void unmap(struct remote_memory *memory)
{
	if (memory->map)
		munmap(memory->map, memory->map_len);
	memory->map = NULL;
}

void remote_memory_close(struct remote_memory *memory)
{
	unmap(memory);
	if (memory->fd >= 0)
		close(memory->fd);
	memory->fd = -1;
}

/* Where it is mapped, or NULL. */
static volatile unsigned char *window(struct remote_memory *memory, uint64_t at, size_t len)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* A device may be smaller than the window: then just the pages that are asked for. */
	uint64_t grains[] = { WINDOW, page }, from = 0, to = 0;
	void *map = MAP_FAILED;

	if (at > memory->size || len > memory->size - at) {
		errno = ENODATA;
		return NULL;
	}
	at += memory->uio_offset;
	if (memory->map && at >= memory->map_at && at + len <= memory->map_at + memory->map_len)
		return memory->map + (at - memory->map_at);
	unmap(memory);
	for (size_t i = 0; i < sizeof(grains) / sizeof(*grains) && map == MAP_FAILED; i++) {
		from = at & ~(grains[i] - 1);
		to = (at + len + grains[i] - 1) & ~(grains[i] - 1);
		/* There an offset is not a place, but says which memory: it is mapped as a whole. */
		if (memory->uio_size) {
			from = 0;
			to = (memory->uio_offset + memory->uio_size + page - 1) & ~(page - 1);
		}
		map = mmap(NULL, to - from, PROT_READ | (memory->writable ? PROT_WRITE : 0), MAP_SHARED, memory->fd, (off_t)from);
	}
	if (map == MAP_FAILED)
		return NULL;
	memory->map = map;
	memory->map_at = from;
	memory->map_len = to - from;
	return memory->map + (at - from);
}

/* Device memory wants to be read by words where it can be. */
static int device_read(struct remote_memory *memory, uint64_t at, void *bytes, size_t len)
{
	volatile unsigned char *from = window(memory, at, len);
	unsigned char *to = bytes;

	if (!from)
		return -errno;
	for (size_t i = 0; i < len;) {
		if (!((at + i) & 3) && len - i >= 4) {
			uint32_t word = *(volatile uint32_t *)(from + i);

			memcpy(to + i, &word, 4);
			i += 4;
		} else {
			to[i] = from[i];
			i++;
		}
	}
	/* What is read next is read behind this, as it is where there is a system call between. */
	atomic_thread_fence(memory_order_acq_rel);
	return 0;
}

int remote_memory_read(struct remote_memory *memory, uint64_t at, void *bytes, size_t len)
{
	char *to = bytes;

	if (at > (uint64_t)INT64_MAX - len)
		return -ENODATA;
	if (memory->device)
		return device_read(memory, at, bytes, len);
	while (len) {
		ssize_t n = pread(memory->fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int remote_memory_word(struct remote_memory *memory, uint64_t at, void *word, size_t len)
{
	unsigned char before[8];
	int r = remote_memory_read(memory, at, word, len);

	for (int i = 0; !r && i < WORD_TRIES; i++) {
		memcpy(before, word, len);
		r = remote_memory_read(memory, at, word, len);
		if (!r && !memcmp(before, word, len))
			return 0;
	}
	return r ? r : -EAGAIN;
}

int remote_memory_store(struct remote_memory *memory, uint64_t at, const void *word)
{
	volatile unsigned char *to;
	uint32_t before;
	ssize_t n;
	int r;

	if (!memory->writable)
		return -EROFS;
	if (at > INT64_MAX - 4)
		return -ENODATA;
	if (!memory->device) {
		/* One that was cut off is not to be made longer. */
		r = remote_memory_read(memory, at, &before, 4);
		if (r)
			return r;
		n = pwrite(memory->fd, word, 4, (off_t)at);
		return n == 4 ? 0 : n < 0 ? -errno : -EIO;
	}
	to = window(memory, at, 4);
	if (!to)
		return -errno;
	*(volatile uint32_t *)to = *(const uint32_t *)word;
	return 0;
}

uint64_t remote_memory_data(const struct remote_memory *memory, uint64_t at)
{
	off_t found = lseek(memory->fd, (off_t)at, SEEK_DATA);

	if (found >= 0)
		return (uint64_t)found;
	return errno == ENXIO ? memory->size : at;
}
