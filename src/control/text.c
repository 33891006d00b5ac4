/*
 * control/text: see text.h.
 */
#include "control/text.h"

#include <unistd.h>

#include "control/clock.h"
#include "report/trace.h"

void control_text_init(struct control_text *text, const struct state_buffer *buffer,
		       struct control_rows *rows, bool peeks)
{
	*text = (struct control_text){
		.rows = rows,
		.flags = buffer->flags,
		.clock = buffer->clock,
		.peeks = peeks,
	};
}

void control_text_head(const struct control_text *text, struct buf *out)
{
	const struct stream_stats *stats = control_rows_stats(text->rows);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	struct report_trace_head head = {
		.tracer = "nop",
		.entries = stats->entries,
		.written = stats->entries + stats->overrun,
		.cpus = online > 0 ? (unsigned int)online : 1,
	};

	report_trace_header(out, &head);
}

void control_text_row(struct control_text *text, struct buf *out, const struct control_row *row)
{
	bool overrun = text->peeks && control_rows_stats(text->rows)->overrun;
	unsigned int flags = control_clock_is_ns(text->clock) ? 0 : REPORT_TICKS;

	if (row->lost && !(text->peeks && row->first))
		report_trace_lost(out, row->row.cpu, row->lost);
	if (row->first && overrun && text->n > 1 && text->flags & BUFFER_ANNOTATE)
		report_trace_started(out, row->row.cpu);
	text->n++;
	report_trace_line(out, &row->row, control_rows_ctx(text->rows), flags);
}
