/*
 * reader/record: what is in a record. Its bytes may be anything; nothing is read outside of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/reader.h"

uint64_t ringside_dat_record_time(const struct ringside_dat_record *record)
{
	return record->rec.ts;
}

uint64_t ringside_dat_record_raw_time(const struct ringside_dat_record *record)
{
	return record->rec.raw_ts;
}

int ringside_dat_record_cpu(const struct ringside_dat_record *record)
{
	return record->rec.lane->cpu;
}

int ringside_dat_record_pid(const struct ringside_dat_record *record)
{
	return record->head.pid;
}

const char *ringside_dat_record_comm(const struct ringside_dat_record *record)
{
	const char *comm = replay_comm(&record->rec, record->head.pid);

	if (comm)
		return comm;
	return record->head.pid ? "<...>" : "<idle>";
}

int ringside_dat_record_id(const struct ringside_dat_record *record)
{
	return (int)record->rec.id;
}

const struct ringside_dat_event *
ringside_dat_record_event(const struct ringside_dat_record *record)
{
	return record->entry->event;
}

const char *ringside_dat_record_system(const struct ringside_dat_record *record)
{
	return record->entry->event ? ringside_dat_event_system(record->entry->event) : NULL;
}

const char *ringside_dat_record_name(const struct ringside_dat_record *record)
{
	return record->entry->event ? ringside_dat_event_name(record->entry->event) : NULL;
}

unsigned int ringside_dat_record_flags(const struct ringside_dat_record *record)
{
	return record->head.flags;
}

unsigned int ringside_dat_record_preempt_count(const struct ringside_dat_record *record)
{
	return record->head.preempt_count & 15;
}

unsigned int ringside_dat_record_migrate_count(const struct ringside_dat_record *record)
{
	return record->head.preempt_count >> 4;
}

const struct ringside_dat_buffer *
ringside_dat_record_buffer(const struct ringside_dat_record *record)
{
	return &record->file->file->buffers[record->rec.lane->buffer_nr];
}

struct ringside_dat *ringside_dat_record_file(const struct ringside_dat_record *record)
{
	return record->file->file;
}

uint64_t ringside_dat_record_lost(const struct ringside_dat_record *record)
{
	return record->lost;
}

const void *ringside_dat_record_data(const struct ringside_dat_record *record, size_t *len)
{
	if (len)
		*len = record->rec.len;
	return record->rec.data;
}

int ringside_dat_record_is_joined(const struct ringside_dat_record *record)
{
	return record->joined;
}

/* A field of this record, with what reading it takes. */
struct found {
	const struct decode_format *format;
	const struct decode_field *field;
	const void *rec;
	uint32_t len;
};

/* Nobody has described the event, or nobody can read what somebody has. */
static int no_format(const struct ringside_dat_record *record, struct err *err)
{
	const struct ringside_dat_event *event = record->entry->event;
	struct err why = ERR_INIT;

	if (!event)
		return err_set(err, -ENOENT, "the file does not describe the event %d",
			       ringside_dat_record_id(record));
	reader_format(event, &why);
	return err_set(err, -ENOENT, "the format of %.80s:%.80s cannot be used: %.250s",
		       ringside_dat_event_system(event), ringside_dat_event_name(event), why.text);
}

static int find(const struct ringside_dat_record *record, const char *name, struct found *out)
{
	const struct decode_format *format = record->entry->format;
	struct err *err = &record->records->err;

	*err = (struct err)ERR_INIT;
	if (!format)
		return no_format(record, err);
	*out = (struct found){ format, name ? decode_format_find(format, name) : NULL,
			       record->rec.data, record->rec.len };
	if (out->field)
		return 0;
	return err_set(err, -ENOENT, "%s:%s has no field '%.80s'", format->system, format->name,
		       name ? name : "");
}

static int other_kind(const struct ringside_dat_record *record, const struct found *found,
		      const char *what)
{
	return err_set(&record->records->err, -EINVAL, "%s is %s%s, and no %s", found->field->name,
		       found->field->type, found->field->is_array ? " (an array)" : "", what);
}

int ringside_dat_record_unsigned(const struct ringside_dat_record *record, const char *field,
				 unsigned long long *value)
{
	struct found found;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (found.field->is_array || found.field->kind == DECODE_FLOAT ||
	    found.field->kind == DECODE_OPAQUE)
		return other_kind(record, &found, "number without a point");
	*value = decode_field_int(found.format, found.field, found.rec, found.len);
	return 0;
}

int ringside_dat_record_number(const struct ringside_dat_record *record, const char *field,
			       long long *value)
{
	unsigned long long bits;
	int r = ringside_dat_record_unsigned(record, field, &bits);

	if (!r)
		*value = (long long)bits;
	return r;
}

int ringside_dat_record_double(const struct ringside_dat_record *record, const char *field,
			       double *value)
{
	struct found found;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (found.field->is_array || found.field->kind != DECODE_FLOAT)
		return other_kind(record, &found, "floating-point number");
	*value = decode_field_double(found.format, found.field, found.rec, found.len);
	return 0;
}

int ringside_dat_record_bytes(const struct ringside_dat_record *record, const char *field,
			      const void **bytes, size_t *len)
{
	struct decode_bytes part;
	struct found found;
	int r = find(record, field, &found);

	if (r)
		return r;
	part = decode_field_bytes(found.format, found.field, found.rec, found.len);
	*bytes = part.data;
	*len = part.data ? part.len : 0;
	return 0;
}

/* A copy with a NUL behind it, which goes with the record. */
static const char *copy(struct reader_texts *texts, struct decode_bytes bytes)
{
	char **more = realloc(texts->copies, (texts->nr_copies + 1) * sizeof(*more)), *text;

	if (!more)
		return NULL;
	texts->copies = more;
	text = strndup(bytes.data ? (const char *)bytes.data : "", bytes.data ? bytes.len : 0);
	if (text)
		texts->copies[texts->nr_copies++] = text;
	return text;
}

int ringside_dat_record_string(const struct ringside_dat_record *record, const char *field,
			       const char **text)
{
	struct decode_bytes whole, part;
	struct found found;
	int r = find(record, field, &found);

	if (r)
		return r;
	if (!found.field->is_string)
		return other_kind(record, &found, "text");
	whole = decode_field_bytes(found.format, found.field, found.rec, found.len);
	part = decode_bytes_text(whole);
	if (part.data && part.len < whole.len)
		*text = (const char *)part.data;
	else
		*text = copy(&record->records->texts, part);
	return *text ? 0 : err_set(&record->records->err, -ENOMEM, "out of memory");
}

/* An array's elements; `i` is one that is wanted, or SIZE_MAX. */
static int find_elements(const struct ringside_dat_record *record, const char *field, size_t i,
			 struct found *found, struct decode_bytes *bytes, size_t *count)
{
	int r = find(record, field, found);

	if (r)
		return r;
	if (!found->field->is_array)
		return other_kind(record, found, "array");
	*bytes = decode_field_bytes(found->format, found->field, found->rec, found->len);
	*count = bytes->data ? decode_elem_count(found->field, *bytes) : 0;
	if (i == SIZE_MAX || i < *count)
		return 0;
	return err_set(&record->records->err, -ERANGE, "%s has %zu elements here", field, *count);
}

int ringside_dat_record_count(const struct ringside_dat_record *record, const char *field,
			      size_t *count)
{
	struct decode_bytes bytes;
	struct found found;

	return find_elements(record, field, SIZE_MAX, &found, &bytes, count);
}

int ringside_dat_record_element(const struct ringside_dat_record *record, const char *field,
				size_t i, long long *value)
{
	struct decode_bytes bytes;
	struct found found;
	size_t count;
	int r = find_elements(record, field, i, &found, &bytes, &count);

	if (r)
		return r;
	if (found.field->kind == DECODE_FLOAT || found.field->kind == DECODE_OPAQUE)
		return other_kind(record, &found, "number without a point");
	*value = (long long)decode_elem_int(found.format, found.field, bytes, (uint32_t)i);
	return 0;
}

int ringside_dat_record_element_double(const struct ringside_dat_record *record, const char *field,
				       size_t i, double *value)
{
	struct decode_bytes bytes;
	struct found found;
	size_t count;
	int r = find_elements(record, field, i, &found, &bytes, &count);

	if (r)
		return r;
	if (found.field->kind != DECODE_FLOAT)
		return other_kind(record, &found, "floating-point number");
	*value = decode_elem_double(found.format, found.field, bytes, (uint32_t)i);
	return 0;
}
