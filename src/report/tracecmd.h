/*
 * report/tracecmd: the columns of a line as `trace-cmd report` prints them, to the blank.
 *
 *   3.3	            init-1     [000] d..2.  1000.000002: hello:                x=2
 *   3.2	            init-1     [000]  1000.000002: hello:                x=2
 *   latency	    init-1       0d..2.  1000.000002: hello:                x=2
 *
 * In: what stands in the columns. Out: text appended to a buf, up to where the event's own text
 * begins. Any thread, each with its own buf and its own memory of what it wrote before: tasks, CPUs
 * and seconds come again and again.
 */
#ifndef REPORT_TRACECMD_H
#define REPORT_TRACECMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "layout/page.h"

enum {
	TRACECMD_FLAGS = 1,	/* the column that came with 3.3 */
	TRACECMD_LATENCY = 2,	/* -l */
	TRACECMD_NS = 4,	/* -t: nine digits */
	TRACECMD_TICKS = 8,	/* times that are no nanoseconds: as they are */
	TRACECMD_RAW = 16,	/* -R: flags as numbers */
	TRACECMD_DIFF = 32,	/* --ts-diff: a column for the time since the line before */
};

#define TRACECMD_NAME_ROOM 32

struct tracecmd_row {
	struct record_head head;
	const char *comm;	/* NULL: not known. Of a task always the same string, or another address */
	int cpu;
	uint64_t ts;
	bool has_diff;		/* there was a line before */
	int64_t diff;		/* in the unit that is printed */
	/* Fields that some kernels have beside those of the head; -1: not there. */
	int migrate_disable, lock_depth;
	/* "event:" with its blanks, from tracecmd_name(), in an array of TRACECMD_NAME_ROOM or more. */
	const char *name;
	size_t name_len;
};

/* Begins as zeros. Private. */
#define TRACECMD_TASKS 256	/* a power of two */
#define TRACECMD_FLAG_SETS 64	/* too */
struct tracecmd_memory {
	struct {
		const char *comm;
		int pid;
		uint32_t len;
		char text[56];		/* "            init-1     " */
	} tasks[TRACECMD_TASKS];
	struct {
		uint32_t key;
		char text[8];
	} flags[TRACECMD_FLAG_SETS];
	int cpu;
	uint32_t cpu_len;
	char cpu_text[24];
	uint64_t second;		/* in nanoseconds; and its text, with the point */
	uint32_t second_len;
	char second_text[28];
};

void tracecmd_columns(struct buf *out, const struct tracecmd_row *row, unsigned int flags,
		      struct tracecmd_memory *memory);

/* "event:" and blanks up to where texts begin; to be made once for an event. */
void tracecmd_name(struct buf *out, const char *name);

/* CPU:0 [5 EVENTS DROPPED]; `lost` as in struct page_walk, not 0. */
void tracecmd_lost(struct buf *out, int cpu, uint64_t lost);

/* Time in the unit in which lines show it: what --ts-diff subtracts. */
uint64_t tracecmd_shown(uint64_t ts, unsigned int flags);

#endif
