/*
 * Memory of devices is mapped, where it is asked for: in any place, over the edge of what is mapped, of one that is smaller than a window, and of
 * UIO devices, whose memory begins somewhere in a page and can be mapped from its beginning only. What is beyond the end is told to be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "insist.h"
#include "remote/memory.h"

#define MIB (1u << 20)

static int fd;

/* A byte of the file. */
static unsigned char byte_at(uint64_t at)
{
	return (unsigned char)(at * 0x9e3779b97f4a7c15ull >> 56);
}

/* `begin`: where in the file the memory begins. */
static void try_read(struct remote_memory *memory, uint64_t begin, uint64_t at, size_t len)
{
	unsigned char bytes[8192];
	int r = remote_memory_read(memory, at, bytes, len);

	CHECK(!r, "%zu bytes at %#llx: %d", len, (unsigned long long)at, r);
	for (size_t i = 0; i < len; i++)
		CHECK(bytes[i] == byte_at(begin + at + i), "byte %zu at %#llx", i, (unsigned long long)at);
}

static void try_beyond(struct remote_memory *memory, uint64_t at, size_t len)
{
	unsigned char bytes[8192];
	uint32_t word = 0;

	CHECK(remote_memory_read(memory, at, bytes, len) == -ENODATA, "%zu bytes at %#llx", len, (unsigned long long)at);
	CHECK(remote_memory_store(memory, at, &word) < 0, "a word at %#llx", (unsigned long long)at);
}

static void try_device(void)
{
	struct remote_memory memory = { .fd = fd, .writable = true, .device = true, .size = INT64_MAX };
	uint32_t word = 0x01020304, again;

	for (uint64_t at = MIB - 5; at < MIB + 5; at++)
		for (size_t len = 1; len < 12; len++)
			try_read(&memory, 0, at, len);
	try_read(&memory, 0, 0, 8192);
	try_read(&memory, 0, 2 * MIB - 4096, 8192);
	CHECK(!remote_memory_store(&memory, MIB + 8, &word) && !remote_memory_word(&memory, MIB + 8, &again, 4) && again == word, "a word");
	try_beyond(&memory, UINT64_MAX - 2, 8);
	try_beyond(&memory, INT64_MAX - 2, 8);
	munmap(memory.map, memory.map_len);
}

static void try_uio(uint64_t size, uint64_t begin)
{
	struct remote_memory memory = { .fd = fd, .writable = true, .device = true, .size = size, .uio_size = size, .uio_offset = begin };

	try_read(&memory, begin, 0, 64);
	CHECK(memory.map_at == 0 && memory.map_len < size + begin + 65536, "not as a whole");
	try_read(&memory, begin, size - 100, 100);
	CHECK(memory.map_at == 0, "not from its beginning");
	try_beyond(&memory, size - 3, 4);
	try_beyond(&memory, size + 4, 4);
	try_beyond(&memory, UINT64_MAX - 2, 8);
	munmap(memory.map, memory.map_len);
}

int main(void)
{
	unsigned char *bytes = malloc(4 * MIB);

	fd = memfd_create("device", MFD_CLOEXEC);
	CHECK(bytes && fd >= 0, "%s", strerror(errno));
	for (uint64_t at = 0; at < 4 * MIB; at++)
		bytes[at] = byte_at(at);
	CHECK(pwrite(fd, bytes, 4 * MIB, 0) == 4 * MIB, "%s", strerror(errno));
	try_uio(4096, 0);
	try_uio(20000, 256);
	try_uio(3 * MIB, 0);
	try_device();
	free(bytes);
	return 0;
}
