/*
 * The input as a file, for what opens one by its path.
 */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char file_path[64];

static inline void file_fill(const uint8_t *data, size_t size)
{
	static int file = -1;

	if (file < 0) {
		file = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(file_path, sizeof(file_path), "/proc/self/fd/%d", file);
	}
	if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
}

#endif
