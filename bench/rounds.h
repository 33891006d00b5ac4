/*
 * bench/rounds: kinds of events side by side, in one process that is the tool and the traced program at once. Short alternating
 * rounds, without those in which the thread was preempted; medians. One line each: NAME NS.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tree.h"
#include "measure.h"

struct kind {
	const char *name;
	void (*what)(int n);
};

static int rounds = 400, events = 5000;
static struct control *control;
static struct err err = ERR_INIT;

/* --rounds N, --events N */
static inline void rounds_options(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++) {
		if (!strcmp(argv[i], "--rounds"))
			rounds = atoi(argv[i + 1]);
		if (!strcmp(argv[i], "--events"))
			events = atoi(argv[i + 1]);
	}
}

static inline void must(int r)
{
	if (!r)
		return;
	fprintf(stderr, "bench: %s\n", err.text);
	exit(1);
}

static inline void put(const char *path, const char *text)
{
	must(tree_write(control, path, text, strlen(text), TREE_TRUNC, &err));
}

/* What was measured was done: the file says so. */
static inline void must_have(const char *path, const char *text)
{
	struct buf all = BUF_INIT;

	must(tree_read(control, path, &all, &err));
	if (!all.data || !strstr(all.data, text)) {
		fprintf(stderr, "bench: %s has no '%s'\n", path, text);
		exit(1);
	}
	buf_fini(&all);
}

static inline void rounds_run(const struct kind *table, size_t kinds)
{
	double **ns = calloc(kinds, sizeof(*ns)), *best = calloc(kinds, sizeof(*best));
	int *n = calloc(kinds, sizeof(*n));

	for (size_t k = 0; k < kinds; k++)
		ns[k] = calloc((size_t)rounds, sizeof(**ns));
	for (int r = 0; r < rounds; r++) {
		for (size_t k = 0; k < kinds; k++) {
			long before = switches();
			double start = now();

			table[k].what(events);
			start = (now() - start) / events;
			if (switches() == before)
				ns[k][n[k]++] = start;
			if (!best[k] || start < best[k])
				best[k] = start;
		}
	}
	for (size_t k = 0; k < kinds; k++) {
		/* On a machine that leaves no round alone the best one has to do. */
		printf("%s %.3f\n", table[k].name, n[k] ? percentile(ns[k], n[k], 50) : best[k]);
		free(ns[k]);
	}
	free(ns);
	free(best);
	free(n);
}

#endif
