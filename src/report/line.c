/*
 * report/line: a record's line, its columns and its text. See trace.h.
 *
 *   usual	comm-pid (tgid) [cpu] flags seconds: text
 *   latency	comm-pid cpu,flags microseconds,mark: text
 *   verbose	comm pid cpu flags preempt-depth index [time] milliseconds (+until next): text
 *   		(in latency-format; alone it leaves the line as it is)
 */
#include <string.h>

#include "decode/conv.h"
#include "report/dump.h"
#include "report/line.h"

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

/* A record while its line is made. */
struct line {
	const struct report_row *row;
	const struct decode_ctx *ctx;
	unsigned int flags;
	struct record_head head;
};

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

void report_line_flags(struct sink *s, const struct record_head *head)
{
	sink_putc(s, irqs_char(head->flags));
	sink_putc(s, resched_char(head->flags));
	sink_putc(s, context_char(head->flags));
	sink_putc(s, depth_char(head->preempt_count & 15));
	sink_putc(s, depth_char(head->preempt_count >> 4));
}

static inline void put_num(struct sink *s, char kind, uint8_t how, int16_t width, int64_t v)
{
	const struct conv c = { .kind = kind, .size = 8, .flags = how, .width = width, .prec = -1 };

	conv_int(s, &c, (uint64_t)v, false);
}

const char *report_line_comm(const struct decode_ctx *ctx, int pid)
{
	const char *comm = ctx->comm ? ctx->comm(ctx->arg, pid) : NULL;

	if (comm)
		return comm;
	return pid > 0 ? "<...>" : pid ? "<XXX>" : "<idle>";
}

static void put_comm(struct sink *s, const struct line *l, int16_t width, int16_t prec)
{
	const struct conv conv = { .kind = 's', .width = width, .prec = prec };
	const char *comm = report_line_comm(l->ctx, l->head.pid);

	conv_text(s, &conv, comm, strlen(comm), l->ctx->flags & DECODE_ESCAPE);
}

static void put_tgid(struct sink *s, const struct line *l)
{
	const struct decode_ctx *ctx = l->ctx;
	int tgid = ctx->tgid ? ctx->tgid(ctx->arg, l->head.pid) : 0;

	sink_putc(s, '(');
	if (tgid)
		put_num(s, 'd', 0, 7, tgid);
	else
		sink_puts(s, "-------");
	sink_puts(s, ") ");
}

static uint64_t ns_to_us(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

/* Thousandths and what they are thousandths (or millionths) of. */
static void put_point(struct sink *s, uint64_t v, uint64_t unit, int16_t width, int16_t digits)
{
	put_num(s, 'u', 0, width, (int64_t)(v / unit));
	sink_putc(s, '.');
	put_num(s, 'u', CONV_ZERO, digits, (int64_t)(v % unit));
}

static void put_usual(struct sink *s, const struct line *l)
{
	put_comm(s, l, 16, -1);
	sink_putc(s, '-');
	put_num(s, 'd', CONV_LEFT, 7, l->head.pid);
	sink_putc(s, ' ');
	if (l->flags & REPORT_TGID)
		put_tgid(s, l);
	sink_putc(s, '[');
	put_num(s, 'd', CONV_ZERO, 3, l->row->cpu);
	sink_puts(s, "] ");
	if (!(l->flags & REPORT_NO_IRQ))
		report_line_flags(s, &l->head);
	sink_putc(s, ' ');
	if (l->flags & REPORT_TICKS)
		put_num(s, 'u', 0, 12, (int64_t)l->row->ts);
	else
		put_point(s, ns_to_us(l->row->ts), 1000000, 5, 6);
}

static uint64_t since_start(const struct report_row *row)
{
	return row->ts > row->start ? row->ts - row->start : 0;
}

static uint64_t until_next(const struct report_row *row)
{
	return row->next_ts > row->ts ? row->next_ts - row->ts : 0;
}

char report_line_mark(uint64_t time, uint64_t us)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {
		{ 1000000, '$' }, { 100000, '@' }, { 10000, '*' },
		{ 1000, '#' },	  { 100, '!' },	   { 10, '+' },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (time > marks[i].above * us)
			return marks[i].mark;
	return ' ';
}

static void put_latency(struct sink *s, const struct line *l)
{
	uint64_t since = since_start(l->row);

	put_comm(s, l, 8, 8);
	sink_putc(s, '-');
	put_num(s, 'd', CONV_LEFT, 7, l->head.pid);
	sink_putc(s, ' ');
	put_num(s, 'd', 0, 3, l->row->cpu);
	report_line_flags(s, &l->head);
	sink_putc(s, ' ');
	if (l->flags & REPORT_TICKS) {
		put_num(s, 'u', 0, 4, (int64_t)since);
		return;
	}
	put_num(s, 'u', 0, 4, (int64_t)ns_to_us(since));
	sink_puts(s, "us");
	sink_putc(s, report_line_mark(ns_to_us(until_next(l->row)), 1));
}

/* [time] since the start (+until the next). */
static void put_verbose_times(struct sink *s, const struct line *l)
{
	const struct report_row *row = l->row;
	bool ticks = l->flags & REPORT_TICKS;

	sink_putc(s, '[');
	sink_hex(s, ticks ? row->ts : ns_to_us(row->ts), ticks ? 16 : 8);
	sink_puts(s, "] ");
	if (ticks) {
		sink_dec(s, since_start(row));
		sink_puts(s, " (+");
		sink_dec(s, until_next(row));
		sink_putc(s, ')');
		return;
	}
	put_point(s, ns_to_us(since_start(row)), 1000, 0, 3);
	sink_puts(s, "ms (+");
	put_point(s, ns_to_us(until_next(row)), 1000, 0, 3);
	sink_puts(s, "ms)");
}

static void put_verbose(struct sink *s, const struct line *l)
{
	put_comm(s, l, 16, -1);
	sink_putc(s, ' ');
	put_num(s, 'd', 0, 7, l->head.pid);
	sink_putc(s, ' ');
	put_num(s, 'd', 0, 3, l->row->cpu);
	sink_putc(s, ' ');
	sink_dec(s, l->head.flags);
	sink_putc(s, ' ');
	sink_hex(s, l->head.preempt_count & 15, 8);
	sink_putc(s, ' ');
	sink_hex(s, l->row->index, 8);
	sink_putc(s, ' ');
	put_verbose_times(s, l);
}

static void put_columns(struct buf *out, const struct line *l)
{
	struct sink s;

	if (l->flags & REPORT_NO_CONTEXT)
		return;
	sink_open(&s, out, DECODE_TEXT_MAX);
	if (!(l->flags & REPORT_LATENCY))
		put_usual(&s, l);
	else if (l->flags & REPORT_VERBOSE)
		put_verbose(&s, l);
	else
		put_latency(&s, l);
	sink_puts(&s, ": ");
	sink_close(&s);
}

static void put_text(struct buf *out, const struct line *l)
{
	const struct report_row *row = l->row;

	if (l->flags & REPORT_FIELDS) {
		report_dump_fields(out, row, &l->head, l->ctx);
		return;
	}
	if (!row->format) {
		buf_printf(out, "Unknown type %u", l->head.type);
		return;
	}
	if (!decode_is_whole(row->format)) {
		buf_puts(out, row->format->name);
		buf_puts(out, ": ");
	}
	decode_print(row->format, row->data, row->len, l->ctx, out);
}

struct decode_ctx report_line_ctx(const struct decode_ctx *ctx, unsigned int flags)
{
	struct decode_ctx with = ctx ? *ctx : (struct decode_ctx){ 0 };

	if (flags & REPORT_SYM_OFFSET)
		with.flags |= DECODE_SYM_OFFSET;
	if (flags & REPORT_SYM_ADDR)
		with.flags |= DECODE_SYM_ADDR;
	if (flags & REPORT_NO_PARENT)
		with.flags |= DECODE_NO_PARENT;
	return with;
}

struct record_head report_line_head(const struct report_row *row)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	struct record_head head = { 0 };

	decode_record_head(row->format ? &row->format->abi : &native, row->data, row->len, &head);
	return head;
}

void report_line_columns(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx, unsigned int flags)
{
	struct decode_ctx with = report_line_ctx(ctx, flags);
	struct line l = { .row = row, .ctx = &with, .flags = flags, .head = report_line_head(row) };

	put_columns(out, &l);
}

void report_trace_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx,
		       unsigned int flags)
{
	struct decode_ctx with = report_line_ctx(ctx, flags);
	struct line l = { .row = row, .ctx = &with, .flags = flags, .head = report_line_head(row) };

	if ((flags & REPORT_MSG_ONLY) && row->format && decode_is_message(row->format)) {
		decode_print_message(row->format, row->data, row->len, &with, out);
	} else if (flags & (REPORT_BIN | REPORT_HEX | REPORT_RAW)) {
		report_dump_line(out, row, &l.head, &with, flags);
		return;
	} else {
		put_columns(out, &l);
		put_text(out, &l);
	}
	buf_putc(out, '\n');
}
