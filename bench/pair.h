/*
 * bench/pair: the same on two CPUs at once, by the wall clock.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <pthread.h>
#include <stdio.h>

#include "measure.h"

struct pair {
	pthread_t thread;
	pthread_barrier_t start, end;
	void (*what)(int n);	/* NULL: that was all */
	int n;
	int cpu;		/* the second thread's */
	int ready;
	double finished;	/* when it was through */
};

/* Waking up takes as long as thousands of events: both set out together only when both are awake. */
static inline void pair_meet(struct pair *pair)
{
	__atomic_add_fetch(&pair->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&pair->ready, __ATOMIC_SEQ_CST) < 2)
		;
}

static inline void *pair_second(void *arg)
{
	struct pair *pair = arg;

	pin(pair->cpu);
	for (;;) {
		pthread_barrier_wait(&pair->start);
		if (!pair->what)
			return NULL;
		pair_meet(pair);
		pair->what(pair->n);
		pair->finished = now();
		pthread_barrier_wait(&pair->end);
	}
}

/* A thread beside this one, on another CPU. */
static inline void pair_open(struct pair *pair, int cpu)
{
	pair->cpu = cpu;
	pthread_barrier_init(&pair->start, NULL, 2);
	pthread_barrier_init(&pair->end, NULL, 2);
	if (pthread_create(&pair->thread, NULL, pair_second, pair)) {
		fprintf(stderr, "bench: no second thread\n");
		exit(1);
	}
}

/* Nanoseconds for each of the 2 * n, until the slower one is through. */
static inline double pair_run(struct pair *pair, void (*what)(int n), int n)
{
	double start, end;

	pair->what = what;
	pair->n = n;
	pair->ready = 0;
	pthread_barrier_wait(&pair->start);
	pair_meet(pair);
	start = now();
	what(n);
	end = now();
	pthread_barrier_wait(&pair->end);
	if (pair->finished > end)
		end = pair->finished;
	return (end - start) / (2.0 * n);
}

static inline void pair_close(struct pair *pair)
{
	pair->what = NULL;
	pthread_barrier_wait(&pair->start);
	pthread_join(pair->thread, NULL);
}

#endif
