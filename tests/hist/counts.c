/*
 * Rows of a count table under threads and processes, some of which are killed: every hit is counted once, in its row or as a
 * drop; a killed one may lose the hit it was at.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hist/table.h"
#include "insist.h"

#define WORKERS 4u
#define EACH 100000u
#define KEYS 300u
#define KILLS 40u

static struct hist_tables tables;
static const uint64_t at = TABLES_DATA_OFFSET;
static uint64_t *called;	/* by worker: hits begun and ended */

static struct table_shape shape_of(uint32_t parts, uint32_t elements, uint32_t key_size)
{
	return (struct table_shape){
		.parts = parts, .slots = 2 * elements, .elements = elements, .element_size = 8 + key_size, .key_at = 8,
		.key_size = key_size,
	};
}

static struct table_shape shape;

static void map_tables(void)
{
	tables.size = TABLES_DATA_OFFSET + (4u << 20);
	tables.base = mmap(NULL, (size_t)tables.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	called = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(tables.base != MAP_FAILED && called != MAP_FAILED, "mmap");
}

static void clear(void)
{
	memset(tables.base, 0, (size_t)tables.size);
	memset(called, 0, 4096);
}

static void hit(uint32_t part, uint64_t number)
{
	uint64_t key[4] = { number, ~number, number * 3, 0 }, *row;

	row = hist_find(&tables, at, &shape, part, key, shape.key_size);
	if (row)
		__atomic_fetch_add(row, 1, __ATOMIC_RELAXED);
}

struct sum {
	uint64_t hits, drops, rows;
};

static struct sum sum_up(void)
{
	struct sum sum = { 0 };
	uint8_t seen[KEYS * 64] = { 0 };

	for (uint32_t p = 0; p < shape.parts; p++) {
		unsigned char *part = tables.base + at + p * table_part_size(&shape);
		const uint64_t *slots = (const uint64_t *)(void *)(part + sizeof(struct table_part));

		memset(seen, 0, sizeof(seen));
		sum.drops += ((struct table_part *)(void *)part)->drops;
		for (uint32_t i = 0; i < shape.slots; i++) {
			unsigned char *element = part + sizeof(struct table_part) + 8ull * shape.slots;
			uint64_t key[4];

			if (!slots[i])
				continue;
			element += ((uint32_t)slots[i] - 1ull) * shape.element_size;
			memcpy(key, element + shape.key_at, shape.key_size);
			CHECK(key[0] < sizeof(seen) && !seen[key[0]], "key %llu has two rows", (unsigned long long)key[0]);
			CHECK(shape.key_size == 8 || (key[1] == ~key[0] && key[2] == key[0] * 3), "a torn key");
			seen[key[0]] = 1;
			sum.rows++;
			sum.hits += *(uint64_t *)(void *)element;
		}
	}
	return sum;
}

static void *work(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < EACH; i++)
		hit(who, (i * 7 + who) % KEYS);
	return NULL;
}

static void threads(uint32_t parts, uint32_t elements, uint32_t key_size)
{
	pthread_t thread[WORKERS];
	struct sum sum;

	clear();
	shape = shape_of(parts, elements, key_size);
	CHECK(hist_shape_fits(&tables, at, &shape), "shape");
	for (uint32_t i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i), "thread");
	for (uint32_t i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	sum = sum_up();
	CHECK(sum.hits + sum.drops == (uint64_t)WORKERS * EACH, "%llu hits and %llu drops", (unsigned long long)sum.hits,
	      (unsigned long long)sum.drops);
	if (elements >= 2 * KEYS)
		CHECK(!sum.drops && sum.rows == (uint64_t)parts * KEYS, "%llu rows, %llu drops", (unsigned long long)sum.rows,
		      (unsigned long long)sum.drops);
	else
		CHECK(sum.drops && sum.rows <= (uint64_t)parts * elements, "a full table: %llu rows",
		      (unsigned long long)sum.rows);
}

/* Its own words say how far it came: the hit it was at when killed is the one that may be lost. */
static void process(uint32_t who)
{
	for (uint64_t i = 0;; i++) {
		hit(who, i * 13 % (KEYS * 40));
		__atomic_store_n(&called[who], i + 1, __ATOMIC_RELEASE);
	}
}

static void killed(void)
{
	uint64_t all = 0;
	struct sum sum;
	uint32_t kills = 0;

	clear();
	shape = shape_of(2, 8192, 32);
	for (; kills < KILLS; kills += WORKERS) {
		pid_t pid[WORKERS];

		for (uint32_t i = 0; i < WORKERS; i++) {
			called[i] = 0;
			pid[i] = fork();
			CHECK(pid[i] >= 0, "fork");
			if (!pid[i])
				process(i);
		}
		nanosleep(&(struct timespec){ 0, 3000000 }, NULL);
		for (uint32_t i = 0; i < WORKERS; i++) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
			all += called[i];
		}
	}
	sum = sum_up();
	/* One that was counted but not written down yet is one more. */
	CHECK(sum.hits + sum.drops + kills >= all && sum.hits + sum.drops <= all + kills,
	      "%llu of %llu hits after %u kills", (unsigned long long)(sum.hits + sum.drops), (unsigned long long)all, kills);
	CHECK(sum.hits, "nobody counted anything");
}

/* Whatever stands in the table, nothing outside of it is touched. */
static void hostile(void)
{
	uint64_t dice = 88172645463325252ull;

	shape = shape_of(1, 64, 8);
	for (int round = 0; round < 40; round++) {
		clear();
		for (uint64_t i = 0; i < table_size(&shape) / 8; i++) {
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			((uint64_t *)(void *)(tables.base + at))[i] = round % 2 ? dice : dice % 100;
		}
		for (uint32_t i = 0; i < 500; i++)
			hit(0, i);
		for (uint64_t i = at + table_size(&shape); i < tables.size; i++)
			CHECK(!tables.base[i], "round %d: a byte behind the table", round);
	}
}

static void shapes(void)
{
	struct table_shape good = shape_of(2, 64, 8), bad;

	CHECK(hist_shape_fits(&tables, at, &good), "a good one");
	CHECK(!hist_shape_fits(&tables, tables.size - 64, &good), "behind the end");
	CHECK(!hist_shape_fits(&tables, at + 8, &good), "askew");
	CHECK(!hist_shape_fits(&tables, 0, &good), "in the head");
	CHECK(!hist_shape_fits(&tables, UINT64_MAX - 63, &good), "round the end");
	bad = good;
	bad.parts = 3;
	CHECK(!hist_shape_fits(&tables, at, &bad), "3 parts");
	bad = good;
	bad.elements = bad.slots;
	CHECK(!hist_shape_fits(&tables, at, &bad), "no free slot");
	bad = good;
	bad.key_at = 16;
	CHECK(!hist_shape_fits(&tables, at, &bad), "a key behind its element");
	bad = good;
	bad.nvals = 1;
	CHECK(!hist_shape_fits(&tables, at, &bad), "a value in the key");
	bad = good;
	bad.slots = 1u << 31;
	bad.elements = 1u << 30;
	CHECK(!hist_shape_fits(&tables, at, &bad), "larger than the file");
	CHECK(!hist_cells_fit(&tables, at, 4, false) && !hist_cells_fit(&tables, at, 12, false) &&
	      hist_cells_fit(&tables, at, 16, true) && !hist_cells_fit(&tables, at, 1u << 24, true), "cells");
}

/* What is looked up without a call is what hist_find() made, in the same part, and nothing else; garbage is none. */
static void peeks(void)
{
	clear();
	shape = table_profile_shape(4, 64);
	CHECK(hist_shape_fits(&tables, at, &shape), "it does not fit");
	for (uint64_t key = 1; key <= 64; key++) {
		uint32_t part = (uint32_t)key % 4;
		uint64_t address = key * 0x1234567, *row;

		CHECK(!hist_peek(&tables, at, &shape, part, address), "there before it was made");
		row = hist_find(&tables, at, &shape, part, &address, sizeof(address));
		CHECK(row && hist_peek(&tables, at, &shape, part, address) == row, "another row");
		CHECK(!hist_peek(&tables, at, &shape, part + 1, address), "in another part");
		CHECK(hist_peek(&tables, at, &shape, part + 4, address) == row, "parts go round");
	}
	for (uint32_t seed = 1; seed < 20000; seed++) {
		uint64_t *words = (uint64_t *)(void *)(tables.base + at), *row;

		words[8 + seed % 128] = hist_mix(seed);
		row = hist_peek(&tables, at, &shape, 0, hist_mix(seed) % 64 * 0x1234567);
		CHECK(!row || ((unsigned char *)row >= tables.base + at && (unsigned char *)(row + 10) <= tables.base + tables.size),
		      "outside");
	}
}

int main(void)
{
	map_tables();
	shapes();
	threads(1, 1024, 8);
	threads(4, 1024, 32);
	threads(1, 128, 8);
	killed();
	hostile();
	peeks();
	return 0;
}
