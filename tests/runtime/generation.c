/*
 * R14: an event is handled under exactly one generation. The tool replaces the set of rings as fast as it can, while threads of
 * two processes trace: every event lies in exactly one set, once. Then it switches the event off and on, each with a new set: what
 * a thread wrote while it was surely on is there, what it wrote while it was surely off is not.
 */
#include "runtime/trace.h"

#include <pthread.h>

#include "control/reclaim.h"

#define WRITERS 8u
#define SEQ_MAX 200000u
#define PAGES 1500u

struct shared {
	uint32_t stop;
	uint32_t phase;		/* counts switches: even on, odd off, UINT32_MAX in between */
	uint32_t count[WRITERS];
	/* Second part: what the phase was before and after each call. */
	uint32_t before[WRITERS][SEQ_MAX / 10], after[WRITERS][SEQ_MAX / 10];
};

static struct shared *shared;
static struct note_event event;
static uint8_t *got[WRITERS];

static void *writer(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < SEQ_MAX && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED); i++) {
		note_write(&event, who, i, NOTE_MIN + i % 4 * 4);
		__atomic_store_n(&shared->count[who], i + 1, __ATOMIC_RELEASE);
		/* The second process writes so little that only the generation tells it of a new set. */
		if (who >= WRITERS / 2)
			pause_us(5000);
		else if (i % 64 == 0)
			pause_us(1000);
	}
	return NULL;
}

static void *switched_writer(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < SEQ_MAX / 10 && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED); i++) {
		shared->before[who][i] = __atomic_load_n(&shared->phase, __ATOMIC_SEQ_CST);
		note_write(&event, who, i, NOTE_MIN);
		shared->after[who][i] = __atomic_load_n(&shared->phase, __ATOMIC_SEQ_CST);
		__atomic_store_n(&shared->count[who], i + 1, __ATOMIC_RELEASE);
		if (i % 16 == 0)
			pause_us(100);
	}
	return NULL;
}

static pid_t start_process(uint32_t first, void *(*life)(void *))
{
	pthread_t thread[WRITERS / 2];
	pid_t pid = fork();

	if (pid)
		return pid;
	for (uint32_t i = 0; i < WRITERS / 2; i++)
		if (pthread_create(&thread[i], NULL, life, (void *)(uintptr_t)(first + i)))
			_exit(3);
	for (uint32_t i = 0; i < WRITERS / 2; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

static void see(const struct seen *seen, void *ctx)
{
	(void)ctx;
	CHECK(seen->who < WRITERS && seen->seq < SEQ_MAX, "R1: who %u seq %u", seen->who, seen->seq);
	CHECK(!got[seen->who][seen->seq], "R14: who %u seq %u lies in two places", seen->who, seen->seq);
	got[seen->who][seen->seq] = 1;
}

/* Everything that is there is read: then a set is used up and leaves the state with the next change. */
static uint64_t drain(struct control *control)
{
	uint64_t lost;

	read_all(control, true, see, NULL, &lost);
	return lost;
}

static uint32_t flip_sets(struct control *control)
{
	uint64_t end = now_ns() + 2500000000ull, lost = 0;
	uint32_t flips = 0;
	pid_t a = start_process(0, writer), b = start_process(WRITERS / 2, writer);

	while (now_ns() < end) {
		tool_resize(control, PAGES + flips % 2);
		flips++;
		lost += drain(control);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	expect_exit(a, 20, "a writer");
	expect_exit(b, 20, "a writer");
	lost += drain(control);
	CHECK(!lost, "%llu events were lost: the rings are too small for this test", (unsigned long long)lost);
	for (uint32_t who = 0; who < WRITERS; who++)
		for (uint32_t i = 0; i < shared->count[who]; i++)
			CHECK(got[who][i], "R14: who %u seq %u lies in no set", who, i);
	return flips;
}

static uint32_t flip_enable(struct control *control)
{
	uint64_t end = now_ns() + 2000000000ull, lost = 0, on = 0, off = 0, either = 0;
	uint32_t flips = 0;
	pid_t a, b;

	memset(shared, 0, sizeof(*shared));
	for (uint32_t who = 0; who < WRITERS; who++)
		memset(got[who], 0, SEQ_MAX);
	a = start_process(0, switched_writer);
	b = start_process(WRITERS / 2, switched_writer);
	while (now_ns() < end) {
		__atomic_store_n(&shared->phase, UINT32_MAX, __ATOMIC_SEQ_CST);
		tool_enable(control, "test", "*", flips % 2);
		__atomic_store_n(&shared->phase, flips + 1, __ATOMIC_SEQ_CST);
		flips++;
		pause_us(3000);
		lost += drain(control);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	expect_exit(a, 20, "a writer");
	expect_exit(b, 20, "a writer");
	lost += drain(control);
	CHECK(!lost, "%llu events were lost: the rings are too small for this test", (unsigned long long)lost);
	for (uint32_t who = 0; who < WRITERS; who++)
		for (uint32_t i = 0; i < shared->count[who]; i++) {
			uint32_t phase = shared->before[who][i];
			bool sure = phase == shared->after[who][i] && phase != UINT32_MAX;

			CHECK(!sure || got[who][i] == !(phase % 2), "R14: who %u seq %u was written while %s", who, i,
			      phase % 2 ? "off and is there" : "on and is not there");
			*(sure ? phase % 2 ? &off : &on : &either) += 1;
		}
	printf("%llu events on, %llu off, %llu in between\n", (unsigned long long)on, (unsigned long long)off,
	       (unsigned long long)either);
	CHECK(on && off, "nothing was tried");
	return flips;
}

int main(void)
{
	struct control *control = tool_start(PAGES);
	uint32_t flips;

	shared = shared_memory(sizeof(*shared));
	for (uint32_t who = 0; who < WRITERS; who++)
		got[who] = calloc(SEQ_MAX, 1);
	event = note_event("generation");
	flips = flip_sets(control);
	printf("%u sets\n", flips);
	flips = flip_enable(control);
	printf("%u switches\n", flips);
	control_close(control);
	return 0;
}
