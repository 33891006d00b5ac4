/*
 * cmd/trace_count: how often each system call was made, how often it failed, and how long it took.
 */
#ifndef CMD_TRACE_COUNT_H
#define CMD_TRACE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "layout/calls.h"

struct trace_counts {
	struct trace_count {
		uint64_t calls, errors, ns;
		uint64_t number;
	} each[CALLS_MAX + 1];	/* the last: of numbers that are none */
};

enum trace_sort { TRACE_BY_TIME, TRACE_BY_CALLS, TRACE_BY_ERRORS, TRACE_BY_NAME };
/* -1: there is no such order. */
int trace_sort_find(const char *name);

void trace_count_add(struct trace_counts *counts, uint64_t number, int64_t result, uint64_t ns);
void trace_count_put(struct buf *out, const struct trace_counts *counts, enum trace_sort sort);

#endif
