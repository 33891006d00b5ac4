/*
 * control/inject: see inject.h.
 *
 *   field=-12 other=0x1f name="a \"quoted\" text"
 */
#include "control/inject.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "control/enable.h"
#include "decode/format.h"

struct parser {
	struct control_injection *out;
	const struct decode_format *format;
	const char *text;	/* terminated */
	size_t at;
	struct err *err;
};

static int wrong(struct parser *parser, int code, const char *what)
{
	return err_set_at(parser->err, code, (int)parser->at, "%s", what);
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)parser->text[parser->at]))
		parser->at++;
}

/* The fixed part: up to the end of the last field; what records have of their own lies behind. */
static uint32_t fixed_size(const struct decode_format *format)
{
	uint32_t size = sizeof(struct record_head);

	for (uint32_t i = 0; i < format->nr_fields; i++) {
		const struct decode_field *field = &format->fields[i];

		if (field->offset + field->size > size)
			size = field->offset + field->size;
	}
	return size;
}

static int parse_field(struct parser *parser, const struct decode_field **field)
{
	char name[128];
	size_t n = 0;

	while (isalnum((unsigned char)parser->text[parser->at + n]) || parser->text[parser->at + n] == '_')
		n++;
	if (!n || n >= sizeof(name))
		return wrong(parser, -EINVAL, "the name of a field is needed here");
	memcpy(name, parser->text + parser->at, n);
	name[n] = '\0';
	*field = decode_format_find(parser->format, name);
	if (!*field)
		return wrong(parser, -ENOENT, "there is no such field");
	parser->at += n;
	skip_blanks(parser);
	if (parser->text[parser->at] != '=')
		return wrong(parser, -EINVAL, "'=' is needed here");
	parser->at++;
	skip_blanks(parser);
	return 0;
}

/* A text between quotes of either kind; \\ takes the next character as it is. */
static int parse_string(struct parser *parser, struct buf *value)
{
	char quote = parser->text[parser->at];

	for (parser->at++; parser->text[parser->at] != quote; parser->at++) {
		if (parser->text[parser->at] == '\\' && parser->text[parser->at + 1])
			parser->at++;
		if (!parser->text[parser->at])
			return wrong(parser, -EINVAL, "the closing quote is missing");
		buf_putc(value, parser->text[parser->at]);
	}
	parser->at++;
	buf_putc(value, '\0');
	return buf_failed(value) ? wrong(parser, -ENOMEM, "out of memory") : 0;
}

static int put_string(struct parser *parser, const struct decode_field *field, const struct buf *value)
{
	struct control_injection *out = parser->out;
	char *record = (char *)out->record;
	uint32_t len = (uint32_t)value->len, word, from;

	if (!field->is_string)
		return wrong(parser, -EINVAL, "this field holds no text");
	if (field->place == DECODE_INLINE) {
		memcpy(record + field->offset, value->data, len < field->size ? len : field->size);
		if (field->size)
			record[field->offset + field->size - 1] = '\0';
		return 0;
	}
	if (value->len > sizeof(out->record) - out->len)
		return wrong(parser, -E2BIG, "the record would become too long");
	from = field->place == DECODE_REL_LOC ? field->offset + 4 : 0;
	word = len << 16 | (out->len - from);
	if (field->place != DECODE_TAIL)
		memcpy(record + field->offset, &word, sizeof(word));
	memcpy(record + out->len, value->data, len);
	out->len += len;
	return 0;
}

static int put_number(struct parser *parser, const struct decode_field *field)
{
	const char *start = parser->text + parser->at;
	char *record = (char *)parser->out->record, *end;
	long long value;

	if (field->place != DECODE_INLINE || field->is_array || !field->size || field->size > 8)
		return wrong(parser, -EINVAL, "this field holds no number");
	errno = 0;
	value = *start == '-' ? strtoll(start, &end, 0) : (long long)strtoull(start, &end, 0);
	if (end == start || errno || (*end && !isspace((unsigned char)*end)))
		return wrong(parser, -EINVAL, "a number, or a text in quotes, is needed here");
	/* Native byte order; narrow fields take the low bytes. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(record + field->offset, &value, field->size);
#else
	memcpy(record + field->offset, (char *)&value + 8 - field->size, field->size);
#endif
	parser->at += (size_t)(end - start);
	return 0;
}

static int parse_value(struct parser *parser, const struct decode_field *field)
{
	struct buf value = BUF_INIT;
	int r;

	if (field->is_common)
		return wrong(parser, -EINVAL, "common fields cannot be set");
	if (parser->text[parser->at] != '"' && parser->text[parser->at] != '\'')
		return put_number(parser, field);
	r = parse_string(parser, &value);
	if (!r)
		r = put_string(parser, field, &value);
	buf_fini(&value);
	return r;
}

static int parse(struct parser *parser)
{
	const struct decode_field *field = NULL;
	int r = 0;

	skip_blanks(parser);
	while (!r && parser->text[parser->at]) {
		r = parse_field(parser, &field);
		if (!r)
			r = parse_value(parser, field);
		skip_blanks(parser);
	}
	return r;
}

int control_inject(struct control_injection *injection, const struct control_event *event,
		   const char *text, size_t len, struct err *err)
{
	struct decode_format *format;
	struct buf body = BUF_INIT, copy = BUF_INIT;
	int r;

	control_event_format(event, &body);
	buf_add(&copy, text, len);
	buf_putc(&copy, '\0');
	r = buf_failed(&body) || buf_failed(&copy) ? err_set(err, -ENOMEM, "out of memory") :
	    decode_format_parse(event->system, body.data, body.len, NULL, &format, err);
	if (!r) {
		struct parser parser = { .out = injection, .format = format, .text = copy.data,
					 .err = err };

		memset(injection, 0, sizeof(*injection));
		injection->len = fixed_size(format);
		r = injection->len <= sizeof(injection->record) ? parse(&parser)
								: err_set(err, -E2BIG, "is too long");
		injection->len = (injection->len + 3) & ~3u;
		decode_format_free(format);
	}
	buf_fini(&body);
	buf_fini(&copy);
	return r;
}
