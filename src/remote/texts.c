/*
 * remote/texts: see texts.h.
 */
#include "remote/texts.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/page.h"

#define TEXTS_MAX 4096u

static uint32_t get(const unsigned char *bytes, size_t offset, const struct decode_abi *abi)
{
	return (uint32_t)decode_abi_load(bytes + offset, 2, abi->big_endian);
}

/* A word that may stand in a format text: an identifier, or a type with blanks and stars. */
static bool is_word(const char *text, size_t size, bool type)
{
	size_t len = strnlen(text, size);

	if (!len || len == size || isdigit((unsigned char)*text))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && !(type && (text[i] == ' ' || text[i] == '*')))
			return false;
	return true;
}

static bool is_line(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ')
			return false;
	return len < size;
}

static int take_fields(struct remote_event *event, const unsigned char *bytes, const struct decode_abi *abi, struct err *err)
{
	uint32_t end = 2, align;

	for (uint32_t i = 0; i < event->nr_fields; i++, bytes += sizeof(struct ringside_fw_field)) {
		struct remote_field *field = &event->fields[i];

		memcpy(field->name, bytes + offsetof(struct ringside_fw_field, name), sizeof(field->name));
		memcpy(field->type, bytes + offsetof(struct ringside_fw_field, type), sizeof(field->type));
		field->size = get(bytes, offsetof(struct ringside_fw_field, size), abi);
		field->is_signed = bytes[offsetof(struct ringside_fw_field, is_signed)];
		align = get(bytes, offsetof(struct ringside_fw_field, align), abi);
		if (!is_word(field->name, sizeof(field->name), false) || !is_word(field->type, sizeof(field->type), true) ||
		    !align || align > 16 || (align & (align - 1)) || !field->size || field->size > 8)
			return err_set(err, -EBADMSG, "field %" PRIu32 " of event %s makes no sense", i, event->name);
		field->offset = (end + align - 1) & ~(align - 1);
		end = field->offset + field->size;
	}
	if (end > event->size)
		return err_set(err, -EBADMSG, "the fields of event %s are longer than it", event->name);
	return 0;
}

static int parse_event(struct remote_event *event, const char *system, const unsigned char *bytes, size_t len,
		       const struct decode_abi *abi, struct err *err)
{
	struct buf text = BUF_INIT;
	int r;

	memcpy(event->name, bytes + offsetof(struct ringside_fw_text, name), sizeof(event->name));
	memcpy(event->print, bytes + offsetof(struct ringside_fw_text, print), sizeof(event->print));
	event->id = (uint16_t)get(bytes, offsetof(struct ringside_fw_text, id), abi);
	event->size = (uint16_t)get(bytes, offsetof(struct ringside_fw_text, size), abi);
	event->nr_fields = get(bytes, offsetof(struct ringside_fw_text, nr_fields), abi);
	if (!is_word(event->name, sizeof(event->name), false))
		return err_set(err, -EBADMSG, "the name of an event makes no sense");
	if (!is_line(event->print, sizeof(event->print)) || event->nr_fields > RINGSIDE_FW_FIELDS || event->size < 2 ||
	    sizeof(struct ringside_fw_text) + event->nr_fields * sizeof(struct ringside_fw_field) > len)
		return err_set(err, -EBADMSG, "the text of event %s makes no sense", event->name);
	event->fields = calloc(event->nr_fields + 1, sizeof(*event->fields));
	if (!event->fields)
		return err_set(err, -ENOMEM, "out of memory");
	r = take_fields(event, bytes + sizeof(struct ringside_fw_text), abi, err);
	if (r)
		return r;
	remote_texts_format(event, event->id, 0, &text);
	r = buf_failed(&text) ? err_set(err, -ENOMEM, "out of memory")
			      : decode_format_parse(system, text.data, text.len, abi, &event->format, err);
	buf_fini(&text);
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct remote_event *x = a, *y = b;

	return (int)x->id - (int)y->id;
}

static int check_ids(const struct remote_texts *texts, struct err *err)
{
	for (uint32_t i = 1; i < texts->nr; i++)
		if (texts->events[i].id == texts->events[i - 1].id)
			return err_set(err, -EBADMSG, "events %s and %s have the same ID, %u", texts->events[i - 1].name,
				       texts->events[i].name, texts->events[i].id);
	for (uint32_t i = 0; i < texts->nr; i++)
		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(texts->events[i].name, texts->events[j].name))
				return err_set(err, -EBADMSG, "there are two events %s", texts->events[i].name);
	return 0;
}

int remote_texts_parse(struct remote_texts *texts, const char *system, const void *bytes, size_t len, const struct decode_abi *abi,
		       struct err *err)
{
	const unsigned char *at = bytes;
	int r = 0;

	*texts = (struct remote_texts){ 0 };
	texts->events = calloc(len / sizeof(struct ringside_fw_text) + 1, sizeof(*texts->events));
	if (!texts->events)
		return err_set(err, -ENOMEM, "out of memory");
	while (!r && len >= sizeof(struct ringside_fw_text)) {
		uint32_t step = get(at, offsetof(struct ringside_fw_text, bytes), abi);

		if (step < sizeof(struct ringside_fw_text) || step > len || step & 3) {
			r = err_set(err, -EBADMSG, "the texts of events are damaged");
			break;
		}
		if (texts->nr == TEXTS_MAX) {
			r = err_set(err, -E2BIG, "there are more than %u events", TEXTS_MAX);
			break;
		}
		r = parse_event(&texts->events[texts->nr++], system, at, step, abi, err);
		at += step;
		len -= step;
	}
	if (!r && texts->nr)
		qsort(texts->events, texts->nr, sizeof(*texts->events), by_id);
	if (!r)
		r = check_ids(texts, err);
	if (r)
		remote_texts_fini(texts);
	return r;
}

void remote_texts_fini(struct remote_texts *texts)
{
	for (uint32_t i = 0; i < texts->nr; i++) {
		decode_format_free(texts->events[i].format);
		free(texts->events[i].fields);
	}
	free(texts->events);
	*texts = (struct remote_texts){ 0 };
}

const struct remote_event *remote_texts_id(const struct remote_texts *texts, uint32_t id)
{
	struct remote_event key = { .id = (uint16_t)id };

	return texts->nr && id <= UINT16_MAX ? bsearch(&key, texts->events, texts->nr, sizeof(key), by_id) : NULL;
}

const struct remote_event *remote_texts_name(const struct remote_texts *texts, const char *name)
{
	for (uint32_t i = 0; i < texts->nr; i++)
		if (!strcmp(texts->events[i].name, name))
			return &texts->events[i];
	return NULL;
}

void remote_texts_format(const struct remote_event *event, uint32_t id, uint32_t shift, struct buf *out)
{
	buf_printf(out, "name: %s\nID: %" PRIu32 "\nformat:\n", event->name, id);
	if (shift)
		buf_puts(out, RECORD_HEAD_FORMAT);
	else
		buf_puts(out, "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n");
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct remote_field *field = &event->fields[i];

		buf_printf(out, "\tfield:%s %s;\toffset:%" PRIu32 ";\tsize:%" PRIu32 ";\tsigned:%d;\n", field->type, field->name,
			   field->offset + shift, field->size, field->is_signed);
	}
	buf_printf(out, "\nprint fmt: %s\n", event->print);
}
