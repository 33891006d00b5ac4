/*
 * Writers at a pace: each of two threads, on a CPU of its own, emits events of 16 bytes, RATE a second, for SECONDS;
 * RATE 0 is as fast as it goes. Prints how many were emitted, and the nanoseconds that it took.
 *
 *	paced RATE SECONDS [MARKER]
 *
 * With KERNEL defined they are raw markers of the kernel, of 16 bytes as well, written to the file MARKER.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"

#define THREADS 2
/* Events between two looks at the clock: a pace that is even to a fraction of a millisecond. */
#define BURST 500

#ifdef KERNEL
static int marker;

static void emit(uint64_t n)
{
	uint32_t words[2] = { 1, (uint32_t)n };

	if (write(marker, words, sizeof(words)) != sizeof(words))
		exit(1);
}
#else
#include <ringside/ringside.h>
RINGSIDE_EVENT(bench, paced, field(uint64_t, n))

static void emit(uint64_t n)
{
	trace_bench_paced(n);
}
#endif

static double rate, seconds;

static void *writer(void *arg)
{
	int cpu = (int)(intptr_t)arg % (int)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n = 0, start, now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	start = mono_ns();
	do {
		for (int i = 0; i < BURST; i++)
			emit(n++);
		while (now = mono_ns(), rate > 0 && (double)n > (double)(now - start) * rate / 1e9 &&
		       (double)(now - start) < seconds * 1e9)
			usleep(100);
	} while ((double)(now - start) < seconds * 1e9);
	return (void *)(uintptr_t)n;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0, before = mono_ns();
	pthread_t threads[THREADS];

	if (argc < 3)
		return 2;
	rate = atof(argv[1]);
	seconds = atof(argv[2]);
#ifdef KERNEL
	marker = open(argv[3], O_WRONLY);
	if (marker < 0)
		return 1;
#endif
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, writer, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *n;

		pthread_join(threads[i], &n);
		sum += (uintptr_t)n;
	}
	printf("%" PRIu64 " %" PRIu64 "\n", sum, mono_ns() - before);
	return 0;
}
