/*
 * control/text: see text.h.
 */
#include "control/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "control/clock.h"
#include "control/func.h"
#include "layout/hook.h"
#include "report/trace.h"

/* Options and the bits that stand for them in report/. Those of the second table are for what is off. */
static const struct {
	uint32_t option;
	unsigned int flag;
} if_on[] = {
	{ BUFFER_BIN, REPORT_BIN },
	{ BUFFER_HEX, REPORT_HEX },
	{ BUFFER_RAW, REPORT_RAW },
	{ BUFFER_FIELDS, REPORT_FIELDS },
	{ BUFFER_LATENCY_FORMAT, REPORT_LATENCY },
	{ BUFFER_VERBOSE, REPORT_VERBOSE },
	{ BUFFER_RECORD_TGID, REPORT_TGID },
	{ BUFFER_SYM_OFFSET, REPORT_SYM_OFFSET },
	{ BUFFER_SYM_ADDR, REPORT_SYM_ADDR },
}, if_off[] = {
	{ BUFFER_CONTEXT_INFO, REPORT_NO_CONTEXT },
	{ BUFFER_IRQ_INFO, REPORT_NO_IRQ },
	{ BUFFER_ANNOTATE, REPORT_NO_ANNOTATE },
	{ BUFFER_PRINT_PARENT, REPORT_NO_PARENT },
};

static unsigned int report_flags(const struct control_text *text)
{
	const uint32_t words_only = BUFFER_PRINTK_MSG_ONLY | BUFFER_TRACE_PRINTK;
	unsigned int flags = control_clock_is_ns(text->buffer->clock) ? 0 : REPORT_TICKS;

	for (size_t i = 0; i < sizeof(if_on) / sizeof(if_on[0]); i++)
		if (text->buffer->flags & if_on[i].option)
			flags |= if_on[i].flag;
	for (size_t i = 0; i < sizeof(if_off) / sizeof(if_off[0]); i++)
		if (!(text->buffer->flags & if_off[i].option))
			flags |= if_off[i].flag;
	/* As in the kernel, only while there may be words at all. */
	if ((text->top->flags & words_only) == words_only)
		flags |= REPORT_MSG_ONLY;
	return flags;
}

void control_text_init(struct control_text *text, const struct state_buffer *buffer,
		       const struct state_buffer *top, struct control_rows *rows, bool peeks)
{
	*text = (struct control_text){ .rows = rows, .buffer = buffer, .top = top, .peeks = peeks };
}

void control_text_fini(struct control_text *text)
{
	buf_fini(&text->held_data);
	buf_fini(&text->entry_data);
	report_graph_free(text->graph);
	text->graph = NULL;
}

/* How the kernel preempts: the version tells, where it was built with other than the usual way. */
static const char *preemption(const struct utsname *name)
{
	if (strstr(name->version, "PREEMPT_RT"))
		return "preempt_rt";
	return strstr(name->version, "PREEMPT") ? "preempt" : "server";
}

void control_text_head(const struct control_text *text, struct buf *out, bool empty)
{
	const struct stream_stats *stats = control_rows_stats(text->rows);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname name = { .release = "" };
	struct report_trace_head head = {
		.tracer = control_tracer_name(text->buffer->tracer),
		.entries = stats->entries,
		.written = stats->entries + stats->overrun,
		.cpus = online > 0 ? (unsigned int)online : 1,
		.empty = empty,
		.release = name.release,
	};

	uname(&name);
	head.model = preemption(&name);
	if (text->buffer->tracer == TRACER_GRAPH)
		report_graph_header(out, &head, text->buffer->tracer_flags, report_flags(text));
	else
		report_trace_header(out, &head, report_flags(text));
}

/* A probe's field that could not be read. */
static bool is_fault(const struct report_row *row, const struct decode_field *field)
{
	struct decode_bytes bytes;

	if (field->place != DECODE_LOC || !field->is_string)
		return false;
	bytes = decode_field_bytes(row->format, field, row->data, row->len);
	return bytes.data && bytes.len == sizeof(HOOK_FAULT) && !memcmp(bytes.data, HOOK_FAULT, sizeof(HOOK_FAULT));
}

/* As the kernel does: probes have their texts in quotes, but not where there is none. */
static void unquote_faults(const struct report_row *row, struct buf *out, size_t from)
{
	for (uint32_t i = 0; row->format && i < row->format->nr_fields && !buf_failed(out); i++) {
		const struct decode_field *field = &row->format->fields[i];
		char quoted[300];
		char *at;
		int len;

		if (!is_fault(row, field))
			continue;
		len = snprintf(quoted, sizeof(quoted), " %s=\"(fault)\"", field->name);
		if (len <= 0 || (size_t)len >= sizeof(quoted))
			continue;
		at = memmem(out->data + from, out->len - from, quoted, (size_t)len);
		if (!at)
			continue;
		len -= (int)strlen("\"(fault)\"");
		memcpy(at + len, "(fault)", strlen("(fault)"));
		at += (size_t)len + strlen("(fault)");
		out->len -= 2;
		memmove(at, at + 2, (size_t)(out->data + out->len - at) + 1);
	}
}

static void put_lost(const struct control_text *text, struct buf *out, const struct control_row *row)
{
	if (row->lost && !(text->peeks && row->first))
		report_trace_lost(out, row->row.cpu, row->lost);
}

/* Where older events of a CPU were overwritten, its first line says so, if that is an ordinary one. */
static void put_started(struct control_text *text, struct buf *out, int cpu)
{
	uint64_t bit = 1ull << cpu % 64;

	if (!text->peeks || !control_rows_stats(text->rows)->overrun || text->started[cpu / 64] & bit)
		return;
	text->started[cpu / 64] |= bit;
	if (text->n > 1)
		report_trace_started(out, cpu, report_flags(text));
}

static void put(struct control_text *text, struct buf *out, struct control_row *row, uint64_t next_ts)
{
	size_t from;

	put_lost(text, out, row);
	put_started(text, out, row->row.cpu);
	row->row.start = text->buffer->cleared;
	row->row.next_ts = next_ts;
	row->row.index = text->peeks ? text->n : text->n + 1;
	text->n++;
	from = out->len;
	report_trace_line(out, &row->row, control_rows_ctx(text->rows), report_flags(text));
	unquote_faults(&row->row, out, from);
}

/* Does the row have a line of its own kind, that function_graph's records have? */
static bool is_graph(const struct control_text *text, const struct report_row *row)
{
	if (text->buffer->tracer == TRACER_GRAPH)
		return report_graph_has(row);
	return report_graph_is_own(row) && !(report_flags(text) & (REPORT_BIN | REPORT_HEX | REPORT_RAW | REPORT_FIELDS));
}

/* The exit that stands in the entry's line: 1, 0 if none does, -errno. The entry's bytes are copied, as they go by the look. */
static int take_exit(struct control_text *text, struct control_row *entry, struct control_row *exit, struct err *err)
{
	int r;

	if (!report_graph_is_entry(&entry->row))
		return 0;
	buf_reset(&text->entry_data);
	buf_add(&text->entry_data, entry->row.data, entry->row.len);
	if (buf_failed(&text->entry_data))
		return err_set(err, -ENOMEM, "out of memory");
	entry->row.data = text->entry_data.data;
	r = control_rows_ahead(text->rows, entry->row.cpu, exit, err);
	if (r != 1)
		return r;
	/* What is missing between the two is said before the exit, in a line of its own. */
	if (exit->lost || !report_graph_is_leaf(&entry->row, &exit->row))
		return 0;
	control_rows_take(text->rows, entry->row.cpu);
	return 1;
}

static int put_graph(struct control_text *text, struct buf *out, const struct control_row *row, struct err *err)
{
	const struct decode_ctx *ctx = control_rows_ctx(text->rows);
	uint32_t options = text->buffer->tracer_flags, cpus = control_rows_cpus(text->rows);
	struct control_row entry = *row, exit;
	const struct report_row *leaf;
	size_t from;
	int r;

	if (!text->graph)
		text->graph = report_graph_new(cpus);
	r = text->graph ? take_exit(text, &entry, &exit, err) : err_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	leaf = r ? &exit.row : NULL;
	put_lost(text, out, row);
	from = out->len;
	if (text->buffer->tracer == TRACER_GRAPH) {
		report_graph_line(text->graph, out, &entry.row, leaf, ctx, options, report_flags(text));
	} else {
		put_started(text, out, row->row.cpu);
		entry.row.start = text->buffer->cleared;
		report_graph_alone(out, &entry.row, leaf, ctx, cpus, options, report_flags(text));
	}
	unquote_faults(&entry.row, out, from);
	text->n++;
	return 1 + r;
}

/* A copy: the row's bytes go when the next one is asked for. */
static void hold(struct control_text *text, const struct control_row *row)
{
	buf_reset(&text->held_data);
	buf_add(&text->held_data, row->row.data, row->row.len);
	text->held = *row;
	text->held.row.data = text->held_data.data;
	if (buf_failed(&text->held_data))
		text->held.row.len = 0;
	text->holding = true;
}

int control_text_row(struct control_text *text, struct buf *out, const struct control_row *row, struct err *err)
{
	struct control_row copy = *row;

	if (text->holding)
		put(text, out, &text->held, row->row.ts);
	text->holding = false;
	if (is_graph(text, &row->row))
		return put_graph(text, out, row, err);
	if (text->peeks && text->buffer->flags & BUFFER_LATENCY_FORMAT)
		hold(text, row);
	else
		put(text, out, &copy, 0);
	return 1;
}

void control_text_end(struct control_text *text, struct buf *out)
{
	if (text->holding)
		put(text, out, &text->held, 0);
	text->holding = false;
}
