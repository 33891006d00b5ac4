/*
 * reader/text: a record as text, and its line, as the kernel and as trace-cmd write them. Made when
 * first asked for, and gone with the record.
 */
#include <stdlib.h>
#include <string.h>

#include "reader/reader.h"
#include "report/trace.h"

/* Keeps the memory for the next record, unless there was too little of it. */
static void empty(struct buf *buf)
{
	if (buf_failed(buf))
		buf_fini(buf);
	else
		buf_reset(buf);
}

void reader_texts_drop(struct reader_texts *texts)
{
	for (int i = 0; i < READER_STYLES; i++) {
		empty(&texts->text[i]);
		empty(&texts->line[i]);
		texts->has_text[i] = texts->has_line[i] = false;
	}
	while (texts->nr_copies)
		free(texts->copies[--texts->nr_copies]);
}

void reader_texts_free(struct reader_texts *texts)
{
	reader_texts_drop(texts);
	for (int i = 0; i < READER_STYLES; i++) {
		buf_fini(&texts->text[i]);
		buf_fini(&texts->line[i]);
	}
	free(texts->copies);
	*texts = (struct reader_texts){ 0 };
}

/* Without the newlines at the end. */
static const char *finish(struct buf *out)
{
	buf_add(out, "", 0);
	if (buf_failed(out))
		return NULL;
	while (out->len && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
	return out->data;
}

/* The carry is moved on by printing, so that is done once and not again when the record is left. */
static bool print_by_plugin(struct ringside_dat_record *record, struct buf *out)
{
	const struct reader_entry *entry = record->entry;
	struct decode_moment m;

	if (!entry->plugin)
		return false;
	m = reader_moment(record);
	if (record->joined) {
		m.carry = NULL;
		m.next = NULL;
		m.take = NULL;
	}
	record->passed = true;
	return decode_plugin_print(entry->plugin, &m, out);
}

/* What libtraceevent cannot print, but we can, is printed. */
static void print_as_trace_cmd(struct ringside_dat_record *record, struct buf *out)
{
	const struct decode_format *format = record->entry->format;
	struct decode_ctx *ctx = &record->records->reading.ctx;

	ctx->flags = format->tep || !format->prog ? DECODE_TEP : 0;
	if (!print_by_plugin(record, out))
		decode_print(format, record->rec.data, record->rec.len, ctx, out);
	ctx->flags = 0;
}

static void print_text(struct ringside_dat_record *record, int style, struct buf *out)
{
	const struct decode_format *format = record->entry->format;

	if (!format)
		buf_printf(out, style == RINGSIDE_DAT_KERNEL ? "Unknown type %d" : "[UNKNOWN EVENT] %d",
			   ringside_dat_record_id(record));
	else if (style == RINGSIDE_DAT_TRACE_CMD)
		print_as_trace_cmd(record, out);
	else
		decode_print(format, record->rec.data, record->rec.len,
			     &record->records->reading.ctx, out);
}

static void print_kernel_line(const struct ringside_dat_record *record, struct buf *out)
{
	const struct report_row row = {
		.ts = record->rec.ts, .cpu = record->rec.lane->cpu, .format = record->entry->format,
		.data = record->rec.data, .len = record->rec.len,
	};

	report_trace_line(out, &row, &record->records->reading.ctx,
			  record->file->ticks ? REPORT_TICKS : 0);
}

static int small_field(const struct ringside_dat_record *record, const char *name)
{
	const struct decode_format *format = record->entry->format;
	const struct decode_field *field = format ? decode_format_find(format, name) : NULL;

	if (!field)
		return -1;
	return (int)(decode_field_int(format, field, record->rec.data, record->rec.len) & 0xff);
}

static void print_trace_cmd_line(const struct ringside_dat_record *record, struct buf *out)
{
	const char *text = ringside_dat_record_text(record, RINGSIDE_DAT_TRACE_CMD);
	struct tracecmd_row row = {
		.head = record->head,
		.comm = replay_comm(&record->rec, record->head.pid),
		.cpu = record->rec.lane->cpu,
		.ts = record->rec.ts,
		.migrate_disable = small_field(record, "common_migrate_disable"),
		.lock_depth = small_field(record, "common_lock_depth"),
	};
	static const char no_name[TRACECMD_NAME_ROOM];
	struct buf name = BUF_INIT;

	if (record->entry->format)
		tracecmd_name(&name, record->entry->format->name);
	row.name = buf_room(&name, TRACECMD_NAME_ROOM) ? name.data : no_name;
	row.name_len = name.len;
	tracecmd_columns(out, &row, TRACECMD_FLAGS | (record->file->ticks ? TRACECMD_TICKS : 0),
			 &record->records->columns);
	if (!text || buf_failed(&name))
		out->failed = true;
	else
		buf_puts(out, text);
	buf_fini(&name);
}

/* Records are const to those who read them; what they keep of them is not. */
static struct ringside_dat_record *own(const struct ringside_dat_record *record)
{
	return &record->records->record;
}

const char *ringside_dat_record_text(const struct ringside_dat_record *record, int style)
{
	int i = style == RINGSIDE_DAT_TRACE_CMD;
	struct reader_texts *texts = &record->records->texts;

	if (!texts->has_text[i])
		print_text(own(record), style, &texts->text[i]);
	texts->has_text[i] = true;
	return finish(&texts->text[i]);
}

const char *ringside_dat_record_line(const struct ringside_dat_record *record, int style)
{
	int i = style == RINGSIDE_DAT_TRACE_CMD;
	struct reader_texts *texts = &record->records->texts;

	if (!texts->has_line[i] && i)
		print_trace_cmd_line(record, &texts->line[i]);
	else if (!texts->has_line[i])
		print_kernel_line(record, &texts->line[i]);
	texts->has_line[i] = true;
	return finish(&texts->line[i]);
}
