/*
 * remote/memory: bytes that somebody else writes at any moment: a file that a machine's RAM is in, a dump, a device.
 *
 * Files are read, not mapped: one that is cut off under us is an error, where a load would be a SIGBUS. Of devices (/dev/mem, UIO), which
 * cannot be cut off, what is asked for is mapped. All is copied; what a copy holds is whatever was there meanwhile, but single words are
 * whole.
 */
#ifndef REMOTE_MEMORY_H
#define REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct remote_memory {
	int fd;
	bool writable;
	bool device;
	uint64_t size;		/* of a device: all that there could be */
	uint64_t dev, ino;	/* of a file: another one in its place is another memory */
	uint64_t uio_size;	/* of the first memory of a UIO device, 0: it is none */
	uint64_t uio_offset;	/* where in its first page that begins */
	uint64_t map_at, map_len;
	unsigned char *map;
};

/* For writing, if that is allowed. */
int remote_memory_open(struct remote_memory *memory, const char *path, struct err *err);
/* The descriptor is taken; it is closed when this fails, too. */
int remote_memory_take(struct remote_memory *memory, int fd, bool writable, struct err *err);
void remote_memory_close(struct remote_memory *memory);

/* -ENODATA when the file ends before them, -errno. */
int remote_memory_read(struct remote_memory *memory, uint64_t at, void *bytes, size_t len);

/* A word of 4 or 8 bytes at a multiple of 4, as it lies there. */
int remote_memory_word(struct remote_memory *memory, uint64_t at, void *word, size_t len);

/* The same, the other way. -EROFS. */
int remote_memory_store(struct remote_memory *memory, uint64_t at, const void *word);

/* The next byte at or behind `at` that a file really has; its size when there is none. */
uint64_t remote_memory_data(const struct remote_memory *memory, uint64_t at);

#endif
