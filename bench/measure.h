/*
 * bench/measure: the time, and whether the thread was left alone meanwhile.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <sys/resource.h>
#include <time.h>

/* Nanoseconds. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* How often the thread was taken off its CPU. */
static inline long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

#endif
