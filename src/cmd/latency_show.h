/*
 * cmd/latency_show: times between two events as a picture.
 */
#ifndef CMD_LATENCY_SHOW_H
#define CMD_LATENCY_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "layout/table.h"

#define LATENCY_WORST 10

/* One of the largest. */
struct latency_one {
	uint64_t ns;
	char key[64];
	char task[48];		/* "NAME-PID" */
	char time[32];		/* as `trace` has it; "" where nobody wrote it down */
};

struct latency_sums {
	const char *title;
	const char *key;		/* its name */
	uint64_t spread[TABLE_SPREAD];
	uint64_t matched;
	uint64_t total;			/* of all times, ns */
	uint64_t max;
	uint64_t starts, ends;
	uint64_t waiting;		/* starts that may still meet an end */
	uint64_t evicted;		/* and those that were forgotten for newer ones, or had no room */
	bool is_exact;			/* it is known how many wait */
	struct latency_one worst[LATENCY_WORST];	/* the largest first; ns 0 behind the last */
};

/* At most `height` lines, 0: as many as it takes. */
void latency_show(const struct latency_sums *sums, uint32_t width, uint32_t height, struct buf *out);

/* Puts one in its place, if it has one there. */
void latency_add(struct latency_sums *sums, const struct latency_one *one);

/* "512 ns", "1.02 us", "35.1 ms", "2.50 s". */
const char *latency_time(char text[16], uint64_t ns);

#endif
