/*
 * cmd/trace_lines: see trace_lines.h.
 */
#include "cmd/trace_lines.h"

#include <inttypes.h>
#include <time.h>

static void put_clock(struct trace_lines *lines, uint64_t ts)
{
	uint64_t now = ts + (uint64_t)lines->offset;
	time_t seconds = (time_t)(now / 1000000000);
	struct tm tm;

	if (lines->relative) {
		uint64_t since = lines->last && ts > lines->last ? ts - lines->last : 0;

		buf_printf(&lines->out, "%6" PRIu64 ".%06" PRIu64 " ", since / 1000000000, since % 1000000000 / 1000);
	}
	lines->last = ts;
	if (!lines->clock || !localtime_r(&seconds, &tm))
		return;
	buf_printf(&lines->out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (lines->clock > 1)
		buf_printf(&lines->out, ".%06u", (unsigned int)(now % 1000000000 / 1000));
	buf_putc(&lines->out, ' ');
}

/* Whose it is, as soon as there are several. Returns where the line itself begins. */
static size_t put_begin(struct trace_lines *lines, int32_t tid, uint64_t ts)
{
	if (lines->first && lines->first != tid)
		lines->several = true;
	lines->first = lines->first ? lines->first : tid;
	if (lines->several)
		buf_printf(&lines->out, "[pid %5d] ", tid);
	put_clock(lines, ts);
	return lines->out.len;
}

/* Results stand below each other. */
static void put_equals(struct buf *out, size_t from)
{
	while (out->len - from < 39)
		buf_putc(out, ' ');
	buf_puts(out, " = ");
}

/* In one line, or as the rest of one. */
static size_t put_call(struct trace_lines *lines, int32_t tid, const struct trace_call *call, uint64_t end)
{
	size_t from = put_begin(lines, tid, call->begun ? end : call->ts);

	if (call->begun)
		trace_put_resumed(&lines->out, call, lines->limit);
	else
		trace_put_call(&lines->out, call, lines->limit);
	return from;
}

void trace_lines_call(struct trace_lines *lines, int32_t tid, const struct trace_call *call, uint64_t end)
{
	const uint64_t ns = end > call->ts ? end - call->ts : 0;

	put_equals(&lines->out, put_call(lines, tid, call, end));
	trace_put_result(&lines->out, call);
	if (lines->spent && !call->untimed)
		buf_printf(&lines->out, " <%" PRIu64 ".%06" PRIu64 ">", ns / 1000000000, ns % 1000000000 / 1000);
	buf_putc(&lines->out, '\n');
}

void trace_lines_begun(struct trace_lines *lines, int32_t tid, struct trace_call *call)
{
	put_begin(lines, tid, call->ts);
	trace_put_begun(&lines->out, call, lines->limit);
	buf_puts(&lines->out, " <unfinished ...>\n");
	call->begun = true;
}

void trace_lines_last(struct trace_lines *lines, int32_t tid, const struct trace_call *call)
{
	put_equals(&lines->out, put_call(lines, tid, call, lines->last));
	buf_puts(&lines->out, "?\n");
}

void trace_lines_exited(struct trace_lines *lines, int32_t tid, uint64_t ts, uint32_t status)
{
	put_begin(lines, tid, ts);
	buf_printf(&lines->out, "+++ exited with %u +++\n", status & 0xff);
}

void trace_lines_killed(struct trace_lines *lines, int32_t tid, int signal)
{
	put_begin(lines, tid, lines->last);
	buf_puts(&lines->out, "+++ killed by ");
	trace_put_signal(&lines->out, (uint64_t)signal);
	buf_puts(&lines->out, " +++\n");
}
