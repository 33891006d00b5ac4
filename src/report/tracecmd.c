/*
 * report/tracecmd: see tracecmd.h. Numbers are written by hand: this runs for every event of a
 * trace, and is most of what a line costs.
 */
#include "report/tracecmd.h"

#include <inttypes.h>
#include <string.h>

#include "decode/page.h"

#define NAME_WIDTH 22	/* "event: " and what fills it up */
#define COLUMNS_ROOM 256

enum {
	FLAG_IRQS_OFF = 1,
	FLAG_IRQS_UNKNOWN = 2,
	FLAG_RESCHED = 4,
	FLAG_HARDIRQ = 8,
	FLAG_SOFTIRQ = 16,
};

static char *put_text(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

static char *put_blanks(char *p, size_t n)
{
	memset(p, ' ', n);
	return p + n;
}

/* Decimal, at the end of `end`; returns where it begins. */
static char *digits(char *end, uint64_t v)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

/* `v` with at least `width` characters, filled up with `fill` on the left. */
static char *put_number(char *p, uint64_t v, size_t width, char fill)
{
	char tmp[24], *end = tmp + sizeof(tmp), *d = digits(end, v);
	size_t len = (size_t)(end - d);

	for (; len < width; width--)
		*p++ = fill;
	return put_text(p, d, len);
}

static char *put_pid(char *p, int pid)
{
	char *start = p;

	if (pid < 0) {
		*p++ = '-';
		p = put_number(p, 0 - (uint64_t)(int64_t)pid, 0, ' ');
	} else {
		p = put_number(p, (uint64_t)pid, 0, ' ');
	}
	while (p - start < 5)
		*p++ = ' ';
	return p;
}

static char *put_cpu(char *p, int cpu)
{
	*p++ = '[';
	p = put_number(p, (uint64_t)(unsigned int)cpu, 3, '0');
	*p++ = ']';
	return p;
}

/* Right-aligned in 16 columns, never cut. */
static void put_comm(struct buf *out, const char *comm, int width, int prec)
{
	size_t len = strlen(comm);
	char *p = buf_room(out, len + 32);

	if (!p)
		return;
	if (prec >= 0 && len > (size_t)prec)
		len = (size_t)prec;
	if (len < (size_t)width)
		p = put_blanks(p, (size_t)width - len);
	p = put_text(p, comm, len);
	out->len = (size_t)(p - out->data);
}

static char depth_char(unsigned int depth)
{
	return depth ? "0123456789abcdef"[depth & 15] : '.';
}

static char *put_flags(char *p, const struct tracecmd_row *row)
{
	uint8_t flags = row->head.flags;
	bool hard = flags & FLAG_HARDIRQ, soft = flags & FLAG_SOFTIRQ;

	*p++ = flags & FLAG_IRQS_OFF ? 'd' : flags & FLAG_IRQS_UNKNOWN ? 'X' : '.';
	*p++ = flags & FLAG_RESCHED ? 'N' : '.';
	*p++ = hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.';
	*p++ = depth_char(row->head.preempt_count & 15);
	*p++ = depth_char(row->head.preempt_count >> 4);
	if (row->migrate_disable >= 0)
		*p++ = depth_char((unsigned int)row->migrate_disable);
	if (row->lock_depth >= 0)
		*p++ = depth_char((unsigned int)row->lock_depth);
	return p;
}

static char *put_raw_flags(char *p, const struct tracecmd_row *row)
{
	static const char hex[] = "0123456789abcdef";

	p = put_text(p, "-0x", 3);
	if (row->head.flags >> 4)
		*p++ = hex[row->head.flags >> 4];
	*p++ = hex[row->head.flags & 15];
	return p;
}

static char *put_time(char *p, uint64_t ts, unsigned int flags)
{
	uint64_t shown = tracecmd_shown(ts, flags);
	uint64_t unit = flags & TRACECMD_NS ? 1000000000 : 1000000;

	if (flags & TRACECMD_TICKS)
		return put_number(p, shown, 12, ' ');
	*p++ = ' ';
	p = put_number(p, shown / unit, 5, ' ');
	*p++ = '.';
	return put_number(p, shown % unit, flags & TRACECMD_NS ? 9 : 6, '0');
}

static char *put_diff(char *p, const struct tracecmd_row *row)
{
	char *start = p + 1;

	*p++ = ' ';
	if (row->has_diff) {
		p = put_text(p, "(+", 2);
		if (row->diff < 0)
			*p++ = '-';
		p = put_number(p, row->diff < 0 ? 0 - (uint64_t)row->diff : (uint64_t)row->diff, 0, ' ');
		*p++ = ')';
	}
	while (p - start < 8)
		*p++ = ' ';
	return p;
}

uint64_t tracecmd_shown(uint64_t ts, unsigned int flags)
{
	if (flags & (TRACECMD_TICKS | TRACECMD_NS))
		return ts;
	return ts / 1000 + (ts % 1000 >= 500);
}

void tracecmd_columns(struct buf *out, const struct tracecmd_row *row, unsigned int flags)
{
	const char *comm = row->comm ? row->comm : row->head.pid ? "<...>" : "<idle>";
	bool latency = flags & TRACECMD_LATENCY;
	char *p;

	put_comm(out, comm, latency ? 8 : 16, latency ? 8 : -1);
	p = buf_room(out, COLUMNS_ROOM + row->name_len);
	if (!p)
		return;
	*p++ = '-';
	p = put_pid(p, row->head.pid);
	*p++ = ' ';
	p = latency ? put_number(p, (uint64_t)(unsigned int)row->cpu, 3, ' ') : put_cpu(p, row->cpu);
	if (latency || (flags & TRACECMD_FLAGS)) {
		if (!latency && !(flags & TRACECMD_RAW))
			*p++ = ' ';
		p = flags & TRACECMD_RAW ? put_raw_flags(p, row) : put_flags(p, row);
	}
	p = put_time(p, row->ts, flags);
	*p++ = ':';
	if (flags & TRACECMD_DIFF)
		p = put_diff(p, row);
	*p++ = ' ';
	p = put_text(p, row->name, row->name_len);
	out->len = (size_t)(p - out->data);
}

void tracecmd_name(struct buf *out, const char *name)
{
	size_t len = strlen(name);

	buf_add(out, name, len);
	buf_putc(out, ':');
	do
		buf_putc(out, ' ');
	while (++len < NAME_WIDTH - 1);
}

void tracecmd_lost(struct buf *out, int cpu, uint64_t lost)
{
	if (lost == PAGE_LOST_UNKNOWN)
		buf_printf(out, "CPU:%d [EVENTS DROPPED]\n", cpu);
	else
		buf_printf(out, "CPU:%d [%" PRIu64 " EVENTS DROPPED]\n", cpu, lost);
}
