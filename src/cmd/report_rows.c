/*
 * cmd/report_rows: records for programs to read: a JSON object or a line of CSV each, with the same
 * keys and columns for all of them; or as lines of the kernel's trace_pipe. See report.h.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/report.h"
#include "decode/page.h"
#include "report/json.h"

const char report_csv_head[] = "ts,cpu,pid,comm,system,event,buffer,file,text\n";

static struct report_row row_of(const struct report *report, const struct report_file *file,
				const struct replay_record *rec, const struct line_entry *entry)
{
	return (struct report_row){
		.ts = rec->ts,
		.cpu = rec->lane->cpu,
		.format = entry->format,
		.abi = &dat_info(file->dat)->abi,
		.data = rec->data,
		.len = rec->len,
		.buffer = rec->lane->buffer->name,
		.file = report->nr_files > 1 ? file->path : NULL,
	};
}

/* In quotes where CSV needs them. */
static void put_csv(struct buf *out, const char *text, size_t len)
{
	bool quote = false;

	for (size_t i = 0; i < len; i++)
		quote |= strchr(",\"\r\n", text[i]) != NULL;
	if (!quote) {
		buf_add(out, text, len);
		return;
	}
	buf_putc(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			buf_putc(out, '"');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '"');
}

static void csv_text(struct buf *out, const char *text)
{
	put_csv(out, text ? text : "", text ? strlen(text) : 0);
	buf_putc(out, ',');
}

/* A loss is a row of an event "lost" with the count as its text, empty where nobody counted. */
static void csv_lost(struct buf *out, const struct report_row *row, uint64_t lost)
{
	buf_printf(out, "%" PRIu64 ",%d,,,,lost,", row->ts, row->cpu);
	csv_text(out, row->buffer);
	csv_text(out, row->file);
	if (lost != PAGE_LOST_UNKNOWN)
		buf_printf(out, "%" PRIu64, lost);
	buf_putc(out, '\n');
}

static void csv_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx,
		     const struct buf *text)
{
	struct record_head head = { 0 };

	decode_record_head(row->abi, row->data, row->len, &head);
	buf_printf(out, "%" PRIu64 ",%d,%d,", row->ts, row->cpu, head.pid);
	csv_text(out, ctx->comm(ctx->arg, head.pid));
	csv_text(out, row->format ? row->format->system : NULL);
	csv_text(out, row->format ? row->format->name : NULL);
	csv_text(out, row->buffer);
	csv_text(out, row->file);
	put_csv(out, text->data ? text->data : "", text->len);
	buf_putc(out, '\n');
}

void report_row(const struct report *report, const struct report_file *file,
		const struct replay_record *rec, const struct line_entry *entry,
		const struct decode_ctx *ctx, const struct buf *text, struct buf *out)
{
	struct report_row row = row_of(report, file, rec, entry);

	if (report->form == REPORT_JSON) {
		if (rec->lost)
			report_json_lost(out, &row, rec->lost);
		report_json_line(out, &row, ctx);
		return;
	}
	if (report->form == REPORT_PIPE) {
		if (rec->lost)
			report_trace_lost(out, row.cpu, rec->lost);
		report_trace_line(out, &row, ctx, file->ticks ? REPORT_TICKS : 0);
		return;
	}
	if (rec->lost)
		csv_lost(out, &row, rec->lost);
	csv_line(out, &row, ctx, text);
}
