/*
 * reader/events: what a file describes: events and their fields. See reader.h.
 */
#include <errno.h>
#include <string.h>

#include "reader/reader.h"

const struct ringside_dat_event *ringside_dat_event_at(const struct ringside_dat *file, size_t i)
{
	return i < file->nr_events ? &file->events[i] : NULL;
}

const struct ringside_dat_event *ringside_dat_event_find(const struct ringside_dat *file,
							 const char *system, const char *name)
{
	const char *its_system, *its_name;

	for (size_t i = 0; name && i < file->nr_events; i++) {
		dat_event_name(file->dat, i, &its_system, &its_name, NULL);
		if (!strcmp(its_name, name) && (!system || !strcmp(its_system, system)))
			return &file->events[i];
	}
	return NULL;
}

const struct ringside_dat_event *ringside_dat_event_find_id(const struct ringside_dat *file, int id)
{
	size_t i;

	if (!file->dat || id < 0 || !dat_event_find(file->dat, (uint32_t)id, &i))
		return NULL;
	return &file->events[i];
}

const char *ringside_dat_event_system(const struct ringside_dat_event *event)
{
	const char *system, *name;

	dat_event_name(event->dat, event->nr, &system, &name, NULL);
	return system;
}

const char *ringside_dat_event_name(const struct ringside_dat_event *event)
{
	const char *system, *name;

	dat_event_name(event->dat, event->nr, &system, &name, NULL);
	return name;
}

int ringside_dat_event_id(const struct ringside_dat_event *event)
{
	const char *system, *name;
	uint32_t id;

	dat_event_name(event->dat, event->nr, &system, &name, &id);
	return (int)id;
}

const char *ringside_dat_event_format(const struct ringside_dat_event *event, size_t *len)
{
	return dat_event_text(event->dat, event->nr, len);
}

const struct decode_format *reader_format(const struct ringside_dat_event *event, struct err *err)
{
	return dat_event_format(event->dat, event->nr, err);
}

static const struct ringside_dat_field *hand_out(const struct decode_field *field)
{
	return (const struct ringside_dat_field *)field;
}

const struct ringside_dat_field *ringside_dat_field_at(const struct ringside_dat_event *event,
						       size_t i)
{
	const struct decode_format *format = reader_format(event, NULL);

	return format && i < format->nr_fields ? hand_out(&format->fields[i]) : NULL;
}

const struct ringside_dat_field *ringside_dat_field_find(const struct ringside_dat_event *event,
							 const char *name)
{
	const struct decode_format *format = reader_format(event, NULL);

	return format && name ? hand_out(decode_format_find(format, name)) : NULL;
}

const char *ringside_dat_field_name(const struct ringside_dat_field *field)
{
	return field->field.name;
}

const char *ringside_dat_field_type(const struct ringside_dat_field *field)
{
	return field->field.type;
}

int ringside_dat_field_kind(const struct ringside_dat_field *field)
{
	if (field->field.is_string)
		return RINGSIDE_DAT_STRING;
	switch (field->field.kind) {
	case DECODE_INT:
		return RINGSIDE_DAT_INTEGER;
	case DECODE_BOOL:
		return RINGSIDE_DAT_BOOL;
	case DECODE_FLOAT:
		return RINGSIDE_DAT_FLOAT;
	case DECODE_POINTER:
		return RINGSIDE_DAT_POINTER;
	default:
		return RINGSIDE_DAT_BYTES;
	}
}

unsigned int ringside_dat_field_flags(const struct ringside_dat_field *field)
{
	const struct decode_field *f = &field->field;
	unsigned int flags = 0;

	if (f->is_signed)
		flags |= RINGSIDE_DAT_SIGNED;
	if (f->is_array && !f->is_string)
		flags |= RINGSIDE_DAT_ARRAY;
	if (f->place != DECODE_INLINE)
		flags |= RINGSIDE_DAT_DYNAMIC;
	if (f->is_common)
		flags |= RINGSIDE_DAT_COMMON;
	return flags;
}

size_t ringside_dat_field_size(const struct ringside_dat_field *field)
{
	return field->field.is_array ? field->field.elem_size : field->field.size;
}

size_t ringside_dat_field_count(const struct ringside_dat_field *field)
{
	return field->field.is_array ? field->field.count : 1;
}
