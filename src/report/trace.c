/*
 * report/trace: see trace.h.
 */
#include "report/trace.h"

#include <inttypes.h>
#include <string.h>

#include "decode/conv.h"
#include "decode/page.h"

#define COMM_WIDTH 16
#define PID_WIDTH 7

/* Bits of common_flags. */
enum {
	FLAG_IRQS_OFF = 0x01,
	FLAG_RESCHED_LAZY = 0x02,
	FLAG_RESCHED = 0x04,
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	FLAG_PREEMPT_RESCHED = 0x20,
	FLAG_NMI = 0x40,
	FLAG_BH_OFF = 0x80,
};

void report_trace_header(struct buf *out, const struct report_trace_head *head)
{
	buf_printf(out,
		   "# tracer: %s\n"
		   "#\n"
		   "# entries-in-buffer/entries-written: %" PRIu64 "/%" PRIu64 "   #P:%u\n"
		   "#\n",
		   head->tracer, head->entries, head->written, head->cpus);
	buf_puts(out,
		 "#                                _-----=> irqs-off/BH-disabled\n"
		 "#                               / _----=> need-resched\n"
		 "#                              | / _---=> hardirq/softirq\n"
		 "#                              || / _--=> preempt-depth\n"
		 "#                              ||| / _-=> migrate-disable\n"
		 "#                              |||| /     delay\n"
		 "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		 "#              | |         |   |||||     |         |\n");
}

static char irqs_char(uint8_t flags)
{
	if (flags & FLAG_IRQS_OFF)
		return flags & FLAG_BH_OFF ? 'D' : 'd';
	return flags & FLAG_BH_OFF ? 'b' : '.';
}

static char resched_char(uint8_t flags)
{
	/* By the three bits resched, lazy, preempt-resched. */
	static const char chars[] = ".plLnNbB";
	unsigned int i = 0;

	if (flags & FLAG_PREEMPT_RESCHED)
		i |= 1;
	if (flags & FLAG_RESCHED_LAZY)
		i |= 2;
	if (flags & FLAG_RESCHED)
		i |= 4;
	return chars[i];
}

static char context_char(uint8_t flags)
{
	if (flags & FLAG_NMI)
		return flags & FLAG_HARDIRQ ? 'Z' : 'z';
	if (flags & FLAG_HARDIRQ)
		return flags & FLAG_SOFTIRQ ? 'H' : 'h';
	return flags & FLAG_SOFTIRQ ? 's' : '.';
}

static char depth_char(unsigned int depth)
{
	return depth ? "0123456789abcdef"[depth & 15] : '.';
}

static void put_task(struct sink *s, int pid, const struct decode_ctx *ctx)
{
	static const struct conv comm_conv = { .kind = 's', .width = COMM_WIDTH, .prec = -1 };
	static const struct conv pid_conv = { .kind = 'd', .size = 4, .width = PID_WIDTH,
					      .prec = -1, .flags = CONV_LEFT };
	const char *comm = ctx && ctx->comm ? ctx->comm(ctx->arg, pid) : NULL;

	if (!comm)
		comm = pid > 0 ? "<...>" : pid ? "<XXX>" : "<idle>";
	conv_text(s, &comm_conv, comm, strlen(comm), ctx && (ctx->flags & DECODE_ESCAPE));
	sink_putc(s, '-');
	conv_int(s, &pid_conv, (uint64_t)pid, false);
}

static void put_time(struct sink *s, uint64_t ts, unsigned int flags)
{
	static const struct conv ticks = { .kind = 'u', .size = 8, .width = 12, .prec = -1 };
	static const struct conv secs = { .kind = 'u', .size = 8, .width = 5, .prec = -1 };
	static const struct conv usecs = { .kind = 'u', .size = 8, .width = 6, .prec = -1,
					   .flags = CONV_ZERO };
	uint64_t us = ts / 1000 + (ts % 1000 >= 500);

	if (flags & REPORT_TICKS) {
		conv_int(s, &ticks, ts, false);
		return;
	}
	conv_int(s, &secs, us / 1000000, false);
	sink_putc(s, '.');
	conv_int(s, &usecs, us % 1000000, false);
}

/* All that stands before the text. */
static void put_head(struct sink *s, const struct report_row *row, const struct record_head *head,
		     const struct decode_ctx *ctx, unsigned int flags)
{
	static const struct conv cpu = { .kind = 'd', .size = 4, .width = 3, .prec = -1,
					 .flags = CONV_ZERO };

	put_task(s, head->pid, ctx);
	sink_puts(s, " [");
	conv_int(s, &cpu, (uint64_t)row->cpu, false);
	sink_puts(s, "] ");
	sink_putc(s, irqs_char(head->flags));
	sink_putc(s, resched_char(head->flags));
	sink_putc(s, context_char(head->flags));
	sink_putc(s, depth_char(head->preempt_count & 15));
	sink_putc(s, depth_char(head->preempt_count >> 4));
	sink_putc(s, ' ');
	put_time(s, row->ts, flags);
	sink_puts(s, ": ");
	if (row->format && !decode_is_whole(row->format)) {
		sink_puts(s, row->format->name);
		sink_puts(s, ": ");
	}
}

void report_trace_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx,
		       unsigned int flags)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	struct record_head head = { 0 };
	struct sink s;

	decode_record_head(row->format ? &row->format->abi : &native, row->data, row->len, &head);
	sink_open(&s, out, DECODE_TEXT_MAX);
	put_head(&s, row, &head, ctx, flags);
	sink_close(&s);
	if (row->format)
		decode_print(row->format, row->data, row->len, ctx, out);
	else
		buf_printf(out, "Unknown type %u", head.type);
	buf_putc(out, '\n');
}

void report_trace_lost(struct buf *out, int cpu, uint64_t lost)
{
	if (lost == PAGE_LOST_UNKNOWN)
		buf_printf(out, "CPU:%d [LOST EVENTS]\n", cpu);
	else
		buf_printf(out, "CPU:%d [LOST %" PRIu64 " EVENTS]\n", cpu, lost);
}

void report_trace_started(struct buf *out, int cpu)
{
	buf_printf(out, "##### CPU %d buffer started ####\n", cpu);
}
