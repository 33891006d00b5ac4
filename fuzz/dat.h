/*
 * Any bytes as a trace file of version VERSION: opened, all that can be asked of it asked, replayed
 * to its end, from some times on, and by a run (tests/dat/walk.h).
 *
 * Bytes at random are no trace file. So inputs are made up (tests/dat/make.h), and then changed: by
 * the fuzzer, or in places that look like words, to values that mean something to a reader. The first
 * bytes are put right again. There are no seeds: an input that is too short is replaced by a made one.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "dat/make.h"
#include "dat/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define LEAST 64	/* bytes; less is no file */
#define FRESH 200	/* one in so many inputs is a new file */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct walk_count n;

	if (file < 0) {
		file = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (file < 0 || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	walk_file(path, &n);
	return 0;
}

static uint32_t draw(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* What other fuzzers find in a page is found there: here they are few and small. */
static size_t fresh(uint8_t *data, size_t max_size, uint32_t *seed)
{
	uint32_t kind = draw(seed), lanes = 1 + draw(seed) % 3, pages = 1 + draw(seed) % 4;
	struct make m;
	size_t len = 0;

	make_begin(&m, VERSION, VERSION == 7 && kind % 3 ? pack_name(kind / 3 % 2) : NULL);
	m.big_endian = kind & 64;
	m.long_size = kind & 128 ? 4 : 8;
	m.page_size = 128u << draw(seed) % 3;
	m.nr_cpus = lanes;
	m.small = kind & 256;
	make_weave(&m, kind & 512 ? 2 * lanes : lanes, pages, 1000, 1 + draw(seed) % 200);
	make_file(&m);
	if (m.out.len <= max_size) {
		memcpy(data, m.out.data, m.out.len);
		len = m.out.len;
	}
	make_end(&m);
	return len;
}

/* A word of the file becomes another: one that is small, large, near the end, or near what it was. */
static void change_word(uint8_t *data, size_t size, uint32_t *seed)
{
	static const uint64_t values[] = { 0, 1, 3, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
					   0x100000000, INT64_MAX, UINT64_MAX };
	static const uint32_t sizes[] = { 2, 4, 4, 8 };
	uint32_t len = sizes[draw(seed) % 4], kind = draw(seed) % 4;
	size_t at = draw(seed) % (size - 8);
	struct make m = { .big_endian = data[12] == 1 };
	uint64_t value = decode_abi_load(data + at, len, m.big_endian);

	/* Most words of a file are small, with zeros in them. */
	for (int i = 0; i < 8 && (value > 0xffffff || !value); i++) {
		at = draw(seed) % (size - 8);
		value = decode_abi_load(data + at, len, m.big_endian);
	}
	if (kind == 0)
		value = values[draw(seed) % (sizeof(values) / sizeof(values[0]))];
	else if (kind == 1)
		value = size - draw(seed) % 32;
	else if (kind == 2)
		value += draw(seed) % 33 - 16u;
	else
		value = draw(seed) % size;
	make_set(&m, data + at, value, len);
}

static void put_right(uint8_t *data)
{
	memcpy(data, "\x17\x08\x44tracing", 10);
	data[10] = '0' + VERSION;
	data[11] = 0;
	data[12] &= 1;
	data[13] = data[13] & 4 ? 4 : 8;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed_word)
{
	uint32_t seed = seed_word, changes;

	if (size < LEAST || draw(&seed) % FRESH == 0)
		size = fresh(data, max_size, &seed);
	if (size < LEAST)
		return LLVMFuzzerMutate(data, size, max_size);
	for (changes = draw(&seed) % 4; changes--;)
		change_word(data, size, &seed);
	if (draw(&seed) % 2)
		size = LLVMFuzzerMutate(data, size, max_size);
	if (size >= LEAST && draw(&seed) % 50)
		put_right(data);
	return size;
}
