/*
 * cmd/stretch: which events of a trace file go into which of the files that it is split into.
 *
 * In: a trace file and where to cut. Out: for each CPU of each buffer and each new file a stretch
 * of events, by their numbers on that CPU. The file is read once for that, and no event is kept.
 */
#ifndef CMD_STRETCH_H
#define CMD_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dat/dat.h"

enum stretch_unit { STRETCH_ALL, STRETCH_TIME, STRETCH_EVENTS, STRETCH_PAGES };

struct stretch_how {
	enum stretch_unit unit;
	uint64_t size;		/* of each new file: nanoseconds, events or pages */
	bool per_cpu;		/* so much of each CPU, instead of in all */
	bool repeat;		/* a new file where one is full, instead of the end */
	bool has_from;
	uint64_t from, to;	/* times, inclusive */
	/* Which CPUs are wanted. */
	bool (*wanted)(void *arg, const struct dat_buffer *buffer, int cpu);
	void *arg;
};

/* Events first .. end-1. */
struct stretch_piece {
	uint64_t first, end;
};

struct stretch_lane {
	size_t buffer;		/* its number in the file */
	int cpu;
	struct stretch_piece *pieces;	/* one a file; files behind the last have nothing of it */
	size_t nr_pieces;
};

struct stretches {
	struct stretch_lane *lanes;
	size_t nr_lanes;
	size_t nr_files;	/* at least one */
};

/* What could not be read is told on stderr, and its events are in none of the files. */
int stretch_find(struct stretches *out, struct dat *dat, const struct stretch_how *how,
		 struct err *err);
void stretch_fini(struct stretches *stretches);

#endif
