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
	struct laps *laps = calloc(kinds, sizeof(*laps));

	for (size_t k = 0; k < kinds; k++)
		laps_open(&laps[k], rounds);
	for (int r = 0; r < rounds; r++) {
		for (size_t k = 0; k < kinds; k++) {
			laps_start(&laps[k]);
			table[k].what(events);
			laps_stop(&laps[k], events);
		}
	}
	for (size_t k = 0; k < kinds; k++)
		printf("%s %.3f\n", table[k].name, laps_close(&laps[k]));
	free(laps);
}

#endif
