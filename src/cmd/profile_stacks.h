/*
 * cmd/profile_stacks: where in the kernel something happened, as a tree of calls with the innermost
 * one first, and how often and how long each branch was taken.
 *
 * Memory is for each different stack, not for each time it was met.
 */
#ifndef CMD_PROFILE_STACKS_H
#define CMD_PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How long something took, each time it was met. */
struct profile_times {
	uint64_t nr;
	bool timed;		/* the rest is of use */
	uint64_t total;
	uint64_t max, max_at;
	uint64_t min, min_at;
};
void profile_times_add(struct profile_times *times, uint64_t time, uint64_t at);
void profile_times_merge(struct profile_times *to, const struct profile_times *from);

struct profile_frame {
	uint64_t addr;
	struct profile_times times;
	struct profile_frame *callers, *next;
};

/* What was met from `nr` addresses; a NULL `time`: it is only counted. False: no memory. */
bool profile_stacks_add(struct profile_frame **stacks, const uint64_t *addrs, size_t nr,
			const uint64_t *time, uint64_t at);
bool profile_stacks_merge(struct profile_frame **to, const struct profile_frame *from);
void profile_stacks_free(struct profile_frame *stacks);
/* The frames of one level: those that weigh more first. */
void profile_stacks_sort(struct profile_frame **first);

/* Sorts it, too. `name` appends an address's name and returns whether it has one. */
void profile_stacks_put(struct profile_frame **stacks, bool (*name)(void *arg, uint64_t addr,
			struct buf *out), void *arg, struct buf *out);

#endif
