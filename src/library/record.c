/*
 * library/record: what is in a record. Its bytes may be anything; nothing is read outside of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/format.h"
#include "decode/page.h"
#include "library/records.h"

static_assert(RINGSIDE_CONTROL_LOST_UNKNOWN == PAGE_LOST_UNKNOWN, "handed on as it is");

void records_texts_drop(struct records_texts *texts)
{
	free(texts->line);
	free(texts->text);
	for (size_t i = 0; i < texts->ncopies; i++)
		free(texts->copies[i]);
	free(texts->copies);
	*texts = (struct records_texts){ 0 };
}

static struct record_head head_of(const struct ringside_control_record *record)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	const struct report_row *row = &record->row;
	struct record_head head = { 0 };

	decode_record_head(row->format ? &row->format->abi : &native, row->data, row->len, &head);
	return head;
}

uint64_t ringside_control_record_time(const struct ringside_control_record *record)
{
	return record->row.ts;
}

int ringside_control_record_cpu(const struct ringside_control_record *record)
{
	return record->row.cpu;
}

int ringside_control_record_pid(const struct ringside_control_record *record)
{
	return head_of(record).pid;
}

int ringside_control_record_id(const struct ringside_control_record *record)
{
	return head_of(record).type;
}

const char *ringside_control_record_system(const struct ringside_control_record *record)
{
	return record->row.format ? record->row.format->system : NULL;
}

const char *ringside_control_record_event(const struct ringside_control_record *record)
{
	return record->row.format ? record->row.format->name : NULL;
}

uint64_t ringside_control_record_lost(const struct ringside_control_record *record)
{
	return record->lost;
}

const void *ringside_control_record_data(const struct ringside_control_record *record, size_t *len)
{
	if (len)
		*len = record->row.len;
	return record->row.data;
}

const char *ringside_control_record_field(const struct ringside_control_record *record,
					  unsigned int index)
{
	const struct decode_format *format = record->row.format;

	for (uint32_t i = 0; format && i < format->nr_fields; i++)
		if (!format->fields[i].is_common && !index--)
			return format->fields[i].name;
	return NULL;
}

/* -ENOENT when there is no such field. */
static int find(const struct ringside_control_record *record, const char *name,
		const struct decode_field **field)
{
	const struct decode_format *format = record->row.format;
	struct err *err = &record->records->err;

	*err = (struct err)ERR_INIT;
	if (!format)
		return err_set(err, -ENOENT, "nobody has described the event %d",
			       ringside_control_record_id(record));
	*field = name ? decode_format_find(format, name) : NULL;
	if (*field)
		return 0;
	return err_set(err, -ENOENT, "%s:%s has no field '%.80s'", format->system, format->name,
		       name ? name : "");
}

static int other_kind(const struct ringside_control_record *record,
		      const struct decode_field *field, const char *what)
{
	return err_set(&record->records->err, -EINVAL, "%s is %s, and no %s", field->name,
		       field->type, what);
}

static bool is_float(const struct decode_field *field)
{
	return field->kind == DECODE_FLOAT;
}

int ringside_control_record_number(const struct ringside_control_record *record, const char *field,
				   long long *value)
{
	const struct decode_field *found;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (found->is_array || is_float(found) || found->kind == DECODE_OPAQUE)
		return other_kind(record, found, "integer");
	*value = (long long)decode_field_int(record->row.format, found, record->row.data,
					     record->row.len);
	return 0;
}

int ringside_control_record_double(const struct ringside_control_record *record, const char *field,
				   double *value)
{
	const struct decode_field *found;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (found->is_array || !is_float(found))
		return other_kind(record, found, "floating-point number");
	*value = decode_field_double(record->row.format, found, record->row.data, record->row.len);
	return 0;
}

int ringside_control_record_bytes(const struct ringside_control_record *record, const char *field,
				  const void **bytes, size_t *len)
{
	const struct decode_field *found;
	struct decode_bytes part;
	int r = find(record, field, &found);

	if (r)
		return r;
	part = decode_field_bytes(record->row.format, found, record->row.data, record->row.len);
	*bytes = part.data;
	*len = part.data ? part.len : 0;
	return 0;
}

/* A copy with a NUL behind it, which goes with the record. */
static const char *copy(struct records_texts *texts, struct decode_bytes bytes)
{
	char **more = realloc(texts->copies, (texts->ncopies + 1) * sizeof(*more)), *text;

	if (!more)
		return NULL;
	texts->copies = more;
	text = strndup(bytes.data ? (const char *)bytes.data : "", bytes.len);
	if (text)
		texts->copies[texts->ncopies++] = text;
	return text;
}

int ringside_control_record_string(const struct ringside_control_record *record, const char *field,
				   const char **text)
{
	const struct decode_field *found;
	struct decode_bytes whole, part;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (!found->is_string)
		return other_kind(record, found, "text");
	whole = decode_field_bytes(record->row.format, found, record->row.data, record->row.len);
	part = decode_bytes_text(whole);
	if (part.data && part.len < whole.len)
		*text = (const char *)part.data;
	else
		*text = copy(&record->records->texts, part);
	return *text ? 0 : err_set(&record->records->err, -ENOMEM, "out of memory");
}

/* Without the newlines at the end. */
static char *take_text(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
	return buf_take(out);
}

const char *ringside_control_record_line(const struct ringside_control_record *record)
{
	struct ringside_control_records *records = record->records;
	struct buf out = BUF_INIT;

	if (!records->texts.line) {
		report_trace_line(&out, &record->row, records->kind->names(records),
				  records->kind->ticks(records) ? REPORT_TICKS : 0);
		records->texts.line = take_text(&out);
	}
	return records->texts.line;
}

const char *ringside_control_record_text(const struct ringside_control_record *record)
{
	struct ringside_control_records *records = record->records;
	struct buf out = BUF_INIT;

	if (!records->texts.text) {
		if (record->row.format)
			decode_print(record->row.format, record->row.data, record->row.len,
				     records->kind->names(records), &out);
		else
			buf_printf(&out, "Unknown type %d", ringside_control_record_id(record));
		records->texts.text = take_text(&out);
	}
	return records->texts.text;
}
