/*
 * report/trace: records as the kernel's `trace` file shows them, to the column.
 *
 * In: rows, in the order in which they are to appear. Out: text appended to a buf; a failed
 * allocation latches there. Any thread, each with its own buf.
 */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include <stdint.h>

#include "base/buf.h"
#include "decode/print.h"

/* One record, wherever it came from. */
struct report_row {
	uint64_t ts;
	int cpu;
	const struct decode_format *format;	/* NULL: of an ID that nobody has described */
	const void *data;
	uint32_t len;
};

struct report_trace_head {
	const char *tracer;		/* "nop" when only events are traced */
	uint64_t entries;		/* in the buffer now */
	uint64_t written;		/* and in all, lost ones included */
	unsigned int cpus;
};

enum {
	REPORT_TICKS = 1,	/* the clock does not count nanoseconds: print it as it is */
};

void report_trace_header(struct buf *out, const struct report_trace_head *head);

/* comm-pid [cpu] flags time: event: text. ctx may be NULL. */
void report_trace_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx,
		       unsigned int flags);

/* Stands before the first record after a gap; `lost` as in struct page_walk, not 0. */
void report_trace_lost(struct buf *out, int cpu, uint64_t lost);

/*
 * Stands before the first record of a CPU in a buffer that has overwritten older records. The
 * kernel leaves it out where that record is one of the first two of all.
 */
void report_trace_started(struct buf *out, int cpu);

#endif
