/*
 * Variables: what is set is taken once, by whoever asks first, with the value or text it was set with; across processes, some of
 * which are killed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hist/table.h"
#include "insist.h"

#define PAIRS 4u
#define EACH 50000u
#define CELLS 4096u
#define AHEAD 25u

static struct hist_tables tables;
static const uint64_t at = TABLES_DATA_OFFSET;
static struct shared {
	uint64_t set[PAIRS], taken[PAIRS], wrong;
} *shared;

static uint64_t evicted(void)
{
	return ((struct table_cells *)(void *)(tables.base + at))->evicted;
}

static void clear(void)
{
	memset(tables.base, 0, (size_t)tables.size);
	memset(shared, 0, sizeof(*shared));
}

static uint64_t tag_of(uint32_t who, uint64_t i)
{
	uint64_t key = (uint64_t)who << 32 | i;

	return hist_hash(&key, 8, 5);
}

static void alone(void)
{
	char text[TABLE_TEXT_MAX] = "a name", found[TABLE_TEXT_MAX];
	uint64_t value;

	clear();
	CHECK(!hist_var_get(&tables, at, CELLS, 7, false, &value, NULL), "nothing is set");
	hist_var_set(&tables, at, CELLS, 7, 70, NULL, 0);
	hist_var_set(&tables, at, CELLS, 8, 80, NULL, 0);
	CHECK(hist_var_get(&tables, at, CELLS, 7, false, &value, NULL) && value == 70, "set");
	hist_var_set(&tables, at, CELLS, 7, 71, NULL, 0);
	CHECK(hist_var_get(&tables, at, CELLS, 7, true, &value, NULL) && value == 71, "set anew");
	CHECK(!hist_var_get(&tables, at, CELLS, 7, true, &value, NULL), "taken");
	CHECK(hist_var_get(&tables, at, CELLS, 8, true, &value, NULL) && value == 80, "the other one");
	hist_var_set(&tables, at, CELLS, 9, 0, text, sizeof(text));
	CHECK(hist_var_get(&tables, at, CELLS, 9, true, &value, found) && !strcmp(found, "a name"), "a text");
	/* A tag of 0, and one with its highest bit, are tags like others. */
	hist_var_set(&tables, at, CELLS, 0, 1, NULL, 0);
	CHECK(hist_var_get(&tables, at, CELLS, 0, true, &value, NULL) && value == 1, "tag 0");
	CHECK(!evicted(), "none had to make room");
}

/* A text stays what it was set to, however often others are set. */
static void texts(void)
{
	char text[TABLE_TEXT_MAX] = "A's", found[TABLE_TEXT_MAX];
	uint64_t value;

	clear();
	hist_var_set(&tables, at, CELLS, 70, 0, text, sizeof(text));
	for (uint32_t i = 0; i < 3 * CELLS; i++) {
		snprintf(text, sizeof(text), "B's %u", i);
		hist_var_set(&tables, at, CELLS, 90, 0, text, sizeof(text));
		CHECK(hist_var_get(&tables, at, CELLS, 90, i % 3 == 0, &value, found) && !strcmp(found, text), "%s: %s", text,
		      found);
	}
	CHECK(hist_var_get(&tables, at, CELLS, 70, true, &value, found) && !strcmp(found, "A's"), "A's: %s", found);
}

/* All bytes of a text are one setter's, whoever else sets, takes and reads it. */
static void *text_racer(void *arg)
{
	char text[TABLE_TEXT_MAX], found[TABLE_TEXT_MAX];
	uint64_t value;

	memset(text, 'a' + (int)(uintptr_t)arg, sizeof(text));
	for (uint32_t i = 0; i < EACH / 5; i++) {
		if (i % 2)
			hist_var_set(&tables, at, CELLS, 70, 0, text, sizeof(text));
		else if (hist_var_get(&tables, at, CELLS, 70, i % 3 == 0, &value, found) &&
			 memcmp(found, found + 1, sizeof(found) - 1))
			__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void race_texts(void)
{
	pthread_t thread[PAIRS];

	clear();
	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK(!pthread_create(&thread[i], NULL, text_racer, (void *)(uintptr_t)i), "thread");
	for (uint32_t i = 0; i < PAIRS; i++)
		pthread_join(thread[i], NULL);
	/* One who is stopped while it writes loses its claim to the next, and may still write. */
	CHECK(shared->wrong < EACH / 100, "%llu torn", (unsigned long long)shared->wrong);
}

/* More than there is room for in a window: the first cell makes room, counted. */
static void crowded(void)
{
	uint64_t value, found = 0;

	clear();
	for (uint64_t i = 0; i < TABLE_CELL_PROBES + 3; i++)
		hist_var_set(&tables, at, CELLS, 5 + i * CELLS, i, NULL, 0);
	CHECK(evicted() == 3, "%llu evicted", (unsigned long long)evicted());
	for (uint64_t i = 0; i < TABLE_CELL_PROBES + 3; i++)
		found += hist_var_get(&tables, at, CELLS, 5 + i * CELLS, true, &value, NULL) && value == i;
	CHECK(found == TABLE_CELL_PROBES, "%llu found", (unsigned long long)found);
}

/* A locked cell whose owner is dead: freed. */
static void orphan(void)
{
	struct table_cell *cell = (struct table_cell *)(void *)(tables.base + at + sizeof(struct table_cells)) + 7;
	uint64_t value;

	clear();
	cell->tag = 1ull << 63 | 7;
	CHECK(!hist_var_get(&tables, at, CELLS, 7, true, &value, NULL), "half set");
	hist_var_set(&tables, at, CELLS, 7, 70, NULL, 0);
	CHECK(hist_var_get(&tables, at, CELLS, 7, true, &value, NULL) && value == 70, "set");
}

static void *setter(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < EACH; i++) {
		/* Of a hundred values that wait, in thousands of cells, nine are not of one place: of four hundred they are in one run of many. */
		while (i > __atomic_load_n(&shared->taken[who], __ATOMIC_ACQUIRE) + AHEAD)
			sched_yield();
		hist_var_set(&tables, at, CELLS, tag_of(who, i), i * 3, NULL, 0);
		__atomic_store_n(&shared->set[who], i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *taker(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < EACH; i++) {
		uint64_t value = 0;

		while (i >= __atomic_load_n(&shared->set[who], __ATOMIC_ACQUIRE))
			sched_yield();
		if (!hist_var_get(&tables, at, CELLS, tag_of(who, i), true, &value, NULL) || value != i * 3 ||
		    hist_var_get(&tables, at, CELLS, tag_of(who, i), true, &value, NULL))
			__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&shared->taken[who], i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Setters are threads of this process, takers of another. */
static void pairs(void)
{
	pthread_t thread[PAIRS];
	int status;
	pid_t pid;

	clear();
	pid = fork();
	CHECK(pid >= 0, "fork");
	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK(!pthread_create(&thread[i], NULL, pid ? setter : taker, (void *)(uintptr_t)i), "thread");
	for (uint32_t i = 0; i < PAIRS; i++)
		pthread_join(thread[i], NULL);
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && !status, "takers");
	CHECK(!shared->wrong && !evicted(), "%llu values not found once; %llu evicted", (unsigned long long)shared->wrong,
	      (unsigned long long)evicted());
}

/* All want the same one: it is had by one of them. */
static void *racer(void *arg)
{
	uint64_t value;

	(void)arg;
	for (uint64_t i = 0; i < EACH; i++)
		if (hist_var_get(&tables, at, CELLS, 3, true, &value, NULL))
			__atomic_fetch_add(&shared->taken[0], 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&shared->set[1], 1, __ATOMIC_RELAXED);
	return NULL;
}

static void race(void)
{
	pthread_t thread[PAIRS];
	uint64_t value, sets = 0;

	clear();
	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK(!pthread_create(&thread[i], NULL, racer, NULL), "thread");
	for (; sets < EACH; sets++) {
		hist_var_set(&tables, at, CELLS, 3, sets, NULL, 0);
		while (hist_var_get(&tables, at, CELLS, 3, false, &value, NULL) &&
		       __atomic_load_n(&shared->taken[0], __ATOMIC_RELAXED) + __atomic_load_n(&shared->set[1], __ATOMIC_RELAXED) <
			       (uint64_t)PAIRS * EACH)
			sched_yield();
	}
	for (uint32_t i = 0; i < PAIRS; i++)
		pthread_join(thread[i], NULL);
	CHECK(shared->taken[0] <= sets, "%llu taken of %llu set", (unsigned long long)shared->taken[0],
	      (unsigned long long)sets);
}

static void killed(void)
{
	uint64_t value;

	clear();
	for (int round = 0; round < 30; round++) {
		pid_t pid = fork();

		CHECK(pid >= 0, "fork");
		for (uint64_t i = 0; !pid && i < UINT64_MAX; i++) {
			hist_var_set(&tables, at, CELLS, tag_of(0, i % 500), i, NULL, 0);
			hist_var_get(&tables, at, CELLS, tag_of(0, i * 7 % 500), true, &value, NULL);
		}
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	for (uint64_t i = 0; i < 500; i++) {
		hist_var_set(&tables, at, CELLS, tag_of(0, i), i, NULL, 0);
		CHECK(hist_var_get(&tables, at, CELLS, tag_of(0, i), true, &value, NULL) && value == i, "tag %llu",
		      (unsigned long long)i);
		CHECK(!hist_var_get(&tables, at, CELLS, tag_of(0, i), true, &value, NULL), "twice");
	}
}

int main(void)
{
	tables.size = TABLES_DATA_OFFSET + table_cells_size(CELLS, 1);
	tables.base = mmap(NULL, (size_t)tables.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(tables.base != MAP_FAILED && shared != MAP_FAILED, "mmap");
	alone();
	texts();
	race_texts();
	crowded();
	orphan();
	pairs();
	race();
	killed();
	return 0;
}
