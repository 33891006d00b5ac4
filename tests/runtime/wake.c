/*
 * A reader that sleeps until there is something to read is woken by the writer: without polling, and without missing a wake-up.
 * Ten thousand rounds of one event each; the net of 100 ms under it must not be needed, or next to never, and waiting takes no CPU
 * time.
 */
#include "runtime/trace.h"

#include <sys/resource.h>

#define ROUNDS 10000u

struct shared {
	uint32_t round;		/* the writer is to write this one */
	uint64_t written;	/* when it did */
	uint32_t stop;
};

static struct shared *shared;
static struct note_event event;

/* Writes when asked, at moments that sweep over the reader's way to bed. */
static void writer(void)
{
	uint32_t done = 0;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		uint32_t round = __atomic_load_n(&shared->round, __ATOMIC_ACQUIRE);

		if (round == done) {
			pause_us(5);
			continue;
		}
		for (volatile uint32_t n = 0; n < round * 37 % 6000; n++)
			;
		/* The odd one from an overflow ring is woken for as well. */
		note_write(&event, 1, round, NOTE_MIN);
		__atomic_store_n(&shared->written, now_ns(), __ATOMIC_RELEASE);
		done = round;
	}
	_exit(0);
}

/* How often we went to sleep, of our own will; and the CPU time that we had. */
static long naps(uint64_t *cpu_us)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	*cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return usage.ru_nvcsw;
}

/* How often writers have woken somebody. */
static uint32_t wakes(const struct control *control)
{
	uint32_t word = 0;

	CHECK(pread(control->dir.fd[SEGMENT_RINGS], &word, sizeof(word), (off_t)control->state.buffers[0].live.offset) == sizeof(word),
	      "no set");
	return word;
}

/* How the reader slept. */
struct nights {
	uint64_t sleeps;
	uint64_t late;		/* the event was there for nearly as long as the net is deep */
	uint64_t nets;		/* and nobody had called */
	uint64_t slowest;
};

/* Waits until an event is there. */
static void await(const struct control *control, struct stream **stream, uint32_t n, struct nights *nights)
{
	unsigned char page[PAGE_SIZE_MIN];
	struct stream_page info;
	uint64_t start = now_ns();
	uint32_t before = wakes(control);

	for (;;) {
		uint64_t now, took, written;

		for (uint32_t cpu = 0; cpu < n; cpu++)
			if (stream_next(stream[cpu], page, &info) > 0) {
				written = __atomic_load_n(&shared->written, __ATOMIC_ACQUIRE);
				now = now_ns();
				took = written > start && now > written ? now - written : 0;
				nights->slowest = took > nights->slowest ? took : nights->slowest;
				nights->late += took >= 90000000;
				nights->nets += took >= 90000000 && wakes(control) == before;
				return;
			}
		CHECK(now_ns() - start < 10000000000ull, "a wake-up never came");
		before = wakes(control);
		stream_wait_any(stream, n, -1);
		nights->sleeps++;
	}
}

int main(void)
{
	struct control *control = tool_start(64);
	uint32_t n = control->dir.ncpu;
	struct stream **stream = calloc(n, sizeof(*stream));
	struct nights nights = { 0 };
	uint64_t before, after;
	long slept;
	struct err err = ERR_INIT;
	pid_t pid;

	event = note_event("wake");
	shared = shared_memory(sizeof(*shared));
	tool_refresh(control);
	pid = fork();
	if (!pid)
		writer();
	for (uint32_t cpu = 0; cpu < n; cpu++)
		CHECK(!stream_open(&stream[cpu], control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0], n, cpu,
				   true, &err), "%s", err.text);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		__atomic_store_n(&shared->round, round, __ATOMIC_RELEASE);
		await(control, stream, n, &nights);
	}
	printf("%u rounds, %llu sleeps, %llu late, %llu of them caught by the net, slowest %llu us\n", ROUNDS,
	       (unsigned long long)nights.sleeps, (unsigned long long)nights.late, (unsigned long long)nights.nets,
	       (unsigned long long)(nights.slowest / 1000));
	/* A reader that nobody gives a CPU is late without being at fault. */
	CHECK(nights.nets <= ROUNDS / 1000 && nights.late <= ROUNDS / 20, "wake-ups are lost");
	CHECK(nights.sleeps >= ROUNDS / 10, "the reader hardly ever slept");

	/* Nobody writes: waiting is free, but for a look every 100 ms. */
	slept = naps(&before);
	for (uint64_t end = now_ns() + 500000000; now_ns() < end;)
		stream_wait_any(stream, n, 500);
	slept = naps(&after) - slept;
	printf("half a second of waiting: %ld sleeps, %llu us of CPU time\n", slept, (unsigned long long)(after - before));
	/* Where others take the CPU away, under an emulator above all, time says little; how often one sleeps says it. */
	CHECK(slept >= 1 && slept <= 50 && after - before < 250000, "waiting polls");
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	expect_exit(pid, 10, "the writer");
	for (uint32_t cpu = 0; cpu < n; cpu++)
		stream_close(stream[cpu]);
	free(stream);
	control_close(control);
	return 0;
}
