/*
 * bench/measure: the time, whether the thread was left alone meanwhile, and what many times come to.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
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

/* The thread stays on that CPU. */
static inline void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of so many values the one that `percent` of them are below. Sorts them. */
static inline double percentile(double *values, int n, int percent)
{
	qsort(values, (size_t)n, sizeof(*values), by_value);
	return values[n * percent / 100];
}

/* What many rounds took, and which of them the thread was left alone in. */
struct laps {
	double *ns;
	int n;
	double best;
	double start;
	long before;
};

static inline void laps_open(struct laps *laps, int rounds)
{
	*laps = (struct laps){ .ns = calloc((size_t)rounds, sizeof(double)) };
	if (!laps->ns)
		exit(1);
}

/* A round that took so long; `alone`: nothing came between. */
static inline void laps_add(struct laps *laps, double ns, bool alone)
{
	if (alone)
		laps->ns[laps->n++] = ns;
	if (laps->best == 0 || ns < laps->best)
		laps->best = ns;
}

static inline void laps_start(struct laps *laps)
{
	laps->before = switches();
	laps->start = now();
}

/* It was a round of `n`. */
static inline void laps_stop(struct laps *laps, int n)
{
	double took = now() - laps->start;

	laps_add(laps, took / n, switches() == laps->before);
}

/* The median of those alone; on a machine that leaves no round alone the best one has to do. */
static inline double laps_close(struct laps *laps)
{
	double ns = laps->n ? percentile(laps->ns, laps->n, 50) : laps->best;

	free(laps->ns);
	return ns;
}

#endif
