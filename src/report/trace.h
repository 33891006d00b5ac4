/*
 * report/trace: records as the kernel's `trace` file shows them, to the column, under any of the
 * trace options that change it.
 *
 * In: rows, in the order in which they are to appear, and the options as bits. Out: text appended
 * to a buf (bytes with REPORT_BIN); a failed allocation latches there. Any thread, each with its
 * own buf.
 *
 *   head.c	what stands above the records and between them
 *   line.c	a record's line: its columns and its text
 *   dump.c	the forms that do without print formats: raw, hex, bin, fields
 *
 * One line a record is kept where the kernel has none: words without a line break at their end,
 * which trace_marker never writes but trace_printk() may, get one.
 */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/print.h"

/*
 * The trace options, by their names there; those that are on when nobody has asked for anything
 * come as the bit that switches them off, so 0 is the usual look. Of the forms that exclude each
 * other the first one here wins, and printk-msg-only, where it applies, over all.
 */
enum {
	REPORT_TICKS = 1 << 0,		/* no option: the clock does not count nanoseconds */
	REPORT_MSG_ONLY = 1 << 1,	/* printk-msg-only: of print, bprint, bputs the words */
	REPORT_BIN = 1 << 2,		/* bin */
	REPORT_HEX = 1 << 3,		/* hex */
	REPORT_RAW = 1 << 4,		/* raw */
	REPORT_FIELDS = 1 << 5,		/* fields: instead of the print format */
	REPORT_LATENCY = 1 << 6,	/* latency-format */
	REPORT_VERBOSE = 1 << 7,	/* verbose: a shorter header, longer latency columns */
	REPORT_NO_CONTEXT = 1 << 8,	/* nocontext-info: the text only */
	REPORT_NO_IRQ = 1 << 9,		/* noirq-info: no flags; not in latency-format */
	REPORT_NO_ANNOTATE = 1 << 10,	/* noannotate: see report_trace_started */
	REPORT_TGID = 1 << 11,		/* record-tgid: asks decode_ctx.tgid; not in latency-format */
	REPORT_SYM_OFFSET = 1 << 12,	/* sym-offset */
	REPORT_SYM_ADDR = 1 << 13,	/* sym-addr */
	REPORT_NO_PARENT = 1 << 14,	/* noprint-parent */
};

/* One record, wherever it came from. */
struct report_row {
	uint64_t ts;
	int cpu;
	const struct decode_format *format;	/* NULL: of an ID that nobody has described */
	const struct decode_abi *abi;		/* of a record without a format; NULL: this machine's */
	const void *data;
	uint32_t len;

	/* For JSON: where it comes from, NULL where that goes without saying. */
	const char *buffer;
	const char *file;

	/* For REPORT_LATENCY. */
	uint64_t start;		/* when the buffer was last cleared, which times count from */
	uint64_t next_ts;	/* of the row that follows; 0: none does */
	uint64_t index;		/* of the row, from 0; REPORT_VERBOSE only */
};

struct report_trace_head {
	const char *tracer;		/* "nop" when only events are traced */
	uint64_t entries;		/* in the buffer now */
	uint64_t written;		/* and in all, lost ones included */
	unsigned int cpus;

	/* For REPORT_LATENCY. */
	bool empty;			/* there are entries, but not on the CPU that is shown */
	const char *release;		/* of the kernel */
	const char *model;		/* of its preemption: server, desktop, preempt, preempt_rt */
	/* What a latency tracer has found; all 0 without one. */
	struct {
		uint64_t us;
		int cpu;
		const char *comm;
		int pid;
		unsigned int uid;
		int nice;
		int policy;
		int rt_prio;
	} latency;
};

void report_trace_header(struct buf *out, const struct report_trace_head *head, unsigned int flags);

/* comm-pid [cpu] flags time: event: text. ctx may be NULL. */
void report_trace_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx,
		       unsigned int flags);

/* Stands before the first record after a gap; `lost` as in struct page_walk, not 0. */
void report_trace_lost(struct buf *out, int cpu, uint64_t lost);

/*
 * Stands before the first record of a CPU in a buffer that has overwritten older records. The
 * kernel leaves it out where that record is one of the first two of all, which is the caller's to
 * see, and under some options.
 */
void report_trace_started(struct buf *out, int cpu, unsigned int flags);

#endif
