/*
 * cmd/hist_calls: which functions a task is in, as a trace of functions tells: with their returns
 * (function_graph) or without (function). In: records of functions in the order of time. Out: the
 * functions under way, the innermost first.
 */
#ifndef CMD_HIST_CALLS_H
#define CMD_HIST_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deeper than this, where the kernel's own count of them ends, the outer ones are forgotten. */
#define HIST_CALLS_MAX 64

struct hist_call {
	uint64_t func;
	int depth;	/* as function_graph counts; -1: not told */
	bool outermost;	/* who called it is not known */
};

/* Of one task; all zeros is a task of which nothing is known. */
struct hist_calls {
	struct hist_call calls[HIST_CALLS_MAX];
	size_t nr;
};

/* function_graph's records. */
void hist_calls_enter(struct hist_calls *calls, uint64_t func, int depth);
void hist_calls_leave(struct hist_calls *calls, int depth);

/* function's: `parent` is the function that called it. */
void hist_calls_call(struct hist_calls *calls, uint64_t func, uint64_t parent);

/* The functions under way, without the first `skip`. How many; all has room for HIST_CALLS_MAX. */
size_t hist_calls_list(const struct hist_calls *calls, size_t skip, uint64_t *all);

#endif
