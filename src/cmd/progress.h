/*
 * cmd/progress: a line on the terminal that tells how a recording goes: events, how many a second, size, and what was lost.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

struct progress {
	bool on;
	int64_t began, shown_at;	/* milliseconds */
	uint64_t shown_events;
	bool moving;			/* the line told of events that came, or some have come since */
};

/* On a terminal only, and not if the person said `quiet`. */
void progress_begin(struct progress *progress, bool quiet);

/* Milliseconds until the line should be shown again, -1: when something happens. */
int progress_wait(const struct progress *progress);

/* Shows it if it is time. */
void progress_show(struct progress *progress, const struct record_sums *sums);

/* Takes it away, before anything else is said. */
void progress_end(struct progress *progress);

/* "12.3 MB" and "1.2 M", at most 15 characters. */
const char *progress_bytes(char text[32], uint64_t bytes);
const char *progress_count(char text[32], double count);

#endif
