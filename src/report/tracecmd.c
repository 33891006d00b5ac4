/*
 * report/tracecmd: see tracecmd.h. Columns are written by hand, and what stood there before is copied:
 * this runs for every event of a trace.
 */
#include "report/tracecmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/digits.h"
#include "decode/page.h"

#define NAME_WIDTH 22	/* "event: " and what fills it up */
#define COLUMNS_ROOM 256
#define SECOND 1000000000u

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

/* `v` with at least `width` characters, filled up with `fill` on the left. */
static char *put_number(char *p, uint64_t v, size_t width, char fill)
{
	char tmp[24], *end = tmp + sizeof(tmp), *d = digits_before(end, v);
	size_t len = (size_t)(end - d);

	for (; len < width; width--)
		*p++ = fill;
	return put_text(p, d, len);
}

static char *put_signed(char *p, int64_t v)
{
	if (v >= 0)
		return put_number(p, (uint64_t)v, 0, ' ');
	*p++ = '-';
	return put_number(p, 0 - (uint64_t)v, 0, ' ');
}

/* "comm-pid ", the comm on the right side of its column, the pid on the left. */
static char *write_task(char *p, const char *comm, size_t len, int pid, bool latency)
{
	size_t width = latency ? 8 : 16;
	char *start;

	if (latency && len > width)
		len = width;
	for (; len < width; width--)
		*p++ = ' ';
	memcpy(p, comm, len);
	p += len;
	*p++ = '-';
	start = p;
	p = put_signed(p, pid);
	while (p - start < 5)
		*p++ = ' ';
	*p++ = ' ';
	return p;
}

/* Room for any comm. */
static void put_task(struct buf *out, const struct tracecmd_row *row, bool latency,
		     struct tracecmd_memory *m)
{
	const char *comm = row->comm ? row->comm : row->head.pid ? "<...>" : "<idle>";
	unsigned int i = (unsigned int)row->head.pid & (TRACECMD_TASKS - 1);
	size_t len;
	char *p;

	if (m->tasks[i].comm != comm || m->tasks[i].pid != row->head.pid) {
		len = strlen(comm);
		/* A comm that is longer than any is written each time. */
		if (len > 24) {
			p = buf_room(out, len + 64);
			if (p)
				out->len += (size_t)(write_task(p, comm, len, row->head.pid, latency) - p);
			return;
		}
		m->tasks[i].comm = comm;
		m->tasks[i].pid = row->head.pid;
		p = write_task(m->tasks[i].text, comm, len, row->head.pid, latency);
		m->tasks[i].len = (uint32_t)(p - m->tasks[i].text);
	}
	p = buf_room(out, sizeof(m->tasks[i].text));
	if (p) {
		memcpy(p, m->tasks[i].text, sizeof(m->tasks[i].text));
		out->len += m->tasks[i].len;
	}
}

static void write_cpu(int cpu, bool latency, struct tracecmd_memory *m)
{
	char *p = m->cpu_text;

	if (!latency)
		*p++ = '[';
	p = put_number(p, (uint64_t)(unsigned int)cpu, 3, latency ? ' ' : '0');
	if (!latency)
		*p++ = ']';
	m->cpu = cpu;
	m->cpu_len = (uint32_t)(p - m->cpu_text);
}

static char *put_cpu(char *p, int cpu, bool latency, struct tracecmd_memory *m)
{
	if (!m->cpu_len || m->cpu != cpu)
		write_cpu(cpu, latency, m);
	memcpy(p, m->cpu_text, sizeof(m->cpu_text));
	return p + m->cpu_len;
}

static char depth_char(unsigned int depth)
{
	return depth ? "0123456789abcdef"[depth & 15] : '.';
}

static void write_flags(uint8_t flags, uint8_t preempt_count, char *p)
{
	bool hard = flags & FLAG_HARDIRQ, soft = flags & FLAG_SOFTIRQ;

	*p++ = flags & FLAG_IRQS_OFF ? 'd' : flags & FLAG_IRQS_UNKNOWN ? 'X' : '.';
	*p++ = flags & FLAG_RESCHED ? 'N' : '.';
	*p++ = hard && soft ? 'H' : hard ? 'h' : soft ? 's' : '.';
	*p++ = depth_char(preempt_count & 15);
	*p++ = depth_char(preempt_count >> 4);
}

static char *put_flags(char *p, const struct tracecmd_row *row, struct tracecmd_memory *m)
{
	uint32_t key = 1u << 16 | (uint32_t)row->head.preempt_count << 8 | row->head.flags;
	unsigned int i = (row->head.flags ^ row->head.preempt_count * 5u) & (TRACECMD_FLAG_SETS - 1);

	if (m->flags[i].key != key) {
		m->flags[i].key = key;
		write_flags(row->head.flags, row->head.preempt_count, m->flags[i].text);
	}
	memcpy(p, m->flags[i].text, sizeof(m->flags[i].text));
	p += 5;
	if (row->migrate_disable >= 0)
		*p++ = "0123456789abcdef"[row->migrate_disable & 15];
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

static void put_pair(char *p, uint32_t v)
{
	memcpy(p, digits_pairs + v * 2, 2);
}

/* Six digits. */
static char *put_millionths(char *p, uint32_t v)
{
	uint32_t high = v / 10000, low = v - high * 10000, middle = low / 100;

	put_pair(p, high);
	put_pair(p + 2, middle);
	put_pair(p + 4, low - middle * 100);
	return p + 6;
}

/* Three more. */
static char *put_billionths(char *p, uint32_t v)
{
	uint32_t thousandths = v % 1000;

	p = put_millionths(p, v / 1000);
	*p++ = (char)('0' + thousandths / 100);
	put_pair(p, thousandths % 100);
	return p + 2;
}

static void write_second(uint64_t second, struct tracecmd_memory *m)
{
	char *end;

	m->second = second * SECOND;
	m->second_text[0] = ' ';
	end = put_number(m->second_text + 1, second, 5, ' ');
	*end++ = '.';
	m->second_len = (uint32_t)(end - m->second_text);
}

static char *put_time(char *p, uint64_t ts, unsigned int flags, struct tracecmd_memory *m)
{
	bool all = flags & TRACECMD_NS;
	uint64_t part;

	if (flags & TRACECMD_TICKS) {
		/* One that fills the column must not run into the flags. */
		if ((flags & TRACECMD_FLAGS) && !(flags & TRACECMD_LATENCY) && ts >= 100000000000)
			*p++ = ' ';
		return put_number(p, ts, 12, ' ');
	}
	/* Microseconds are rounded, which may make it the next second. */
	if (!all)
		ts += 500;
	part = ts - m->second;
	if (part >= SECOND || ts < m->second || !m->second_len) {
		write_second(ts / SECOND, m);
		part = ts - m->second;
	}
	memcpy(p, m->second_text, sizeof(m->second_text));
	p += m->second_len;
	return all ? put_billionths(p, (uint32_t)part) : put_millionths(p, (uint32_t)part / 1000);
}

static char *put_diff(char *p, const struct tracecmd_row *row)
{
	char *start = p + 1;

	*p++ = ' ';
	if (row->has_diff) {
		p = put_text(p, "(+", 2);
		p = put_signed(p, row->diff);
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

void tracecmd_columns(struct buf *out, const struct tracecmd_row *row, unsigned int flags,
		      struct tracecmd_memory *memory)
{
	bool latency = flags & TRACECMD_LATENCY;
	char *p;

	put_task(out, row, latency, memory);
	p = buf_room(out, COLUMNS_ROOM + row->name_len);
	if (!p)
		return;
	p = put_cpu(p, row->cpu, latency, memory);
	if (latency || (flags & TRACECMD_FLAGS)) {
		if (!latency && !(flags & TRACECMD_RAW))
			*p++ = ' ';
		p = flags & TRACECMD_RAW ? put_raw_flags(p, row) : put_flags(p, row, memory);
	}
	p = put_time(p, row->ts, flags, memory);
	*p++ = ':';
	if (flags & TRACECMD_DIFF)
		p = put_diff(p, row);
	*p++ = ' ';
	/* A copy of a fixed size is an instruction or two. */
	if (row->name_len <= TRACECMD_NAME_ROOM)
		memcpy(p, row->name, TRACECMD_NAME_ROOM);
	else
		memcpy(p, row->name, row->name_len);
	out->len = (size_t)(p - out->data) + row->name_len;
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
