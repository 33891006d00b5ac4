/*
 * report/json: see json.h.
 */
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "decode/page.h"
#include "decode/sink.h"

/* Bytes of the UTF-8 character at p, which has n > 0 bytes; 0 when it is none. */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
	unsigned int code;

	if (len < 2)
		return len;
	if (len > n)
		return 0;
	code = *p & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	return code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : len;
}

/* Bytes at p that stand for themselves. */
static size_t plain_len(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

static void put_string(struct sink *s, const char *text, size_t len)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const unsigned char *p = (const unsigned char *)text;
	const char *hit;
	size_t n;

	sink_putc(s, '"');
	for (; len; p += n, len -= n) {
		n = plain_len(p, len);
		if (!n && *p >= 0x80)
			n = utf8_len(p, len);
		if (n) {
			sink_add(s, p, n);
			continue;
		}
		n = 1;
		hit = *p ? strchr(from, *p) : NULL;
		if (hit) {
			sink_putc(s, '\\');
			sink_putc(s, to[hit - from]);
		} else if (*p < 0x80) {
			sink_puts(s, "\\u00");
			sink_hex(s, *p, 2);
		} else {
			sink_puts(s, "\\ufffd");
		}
	}
	sink_putc(s, '"');
}

static void put_text(struct sink *s, const char *text)
{
	if (text)
		put_string(s, text, strlen(text));
	else
		sink_puts(s, "null");
}

static void put_int(struct sink *s, uint64_t v, bool is_signed)
{
	if (is_signed && (int64_t)v < 0) {
		sink_putc(s, '-');
		v = 0 - v;
	}
	sink_dec(s, v);
}

static void put_double(struct sink *s, double v, bool single)
{
	char text[40];

	if (isnan(v))
		sink_puts(s, "\"NaN\"");
	else if (isinf(v))
		sink_puts(s, v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	else
		/* As many digits as it takes to get the same bits back. */
		sink_add(s, text, (size_t)snprintf(text, sizeof(text), "%.*g", single ? 9 : 17, v));
}

static void put_hex(struct sink *s, struct decode_bytes b)
{
	sink_putc(s, '"');
	for (uint32_t i = 0; i < b.len; i++)
		sink_hex(s, b.data[i], 2);
	sink_putc(s, '"');
}

static void put_element(struct sink *s, const struct report_row *row,
			const struct decode_field *field, struct decode_bytes b, uint32_t i)
{
	uint64_t v = decode_elem_int(row->format, field, b, i);

	switch (field->kind) {
	case DECODE_FLOAT:
		put_double(s, decode_elem_double(row->format, field, b, i), field->elem_size == 4);
		break;
	case DECODE_BOOL:
		sink_puts(s, v ? "true" : "false");
		break;
	case DECODE_POINTER:
		sink_puts(s, "\"0x");
		sink_hex(s, v, 0);
		sink_putc(s, '"');
		break;
	default:
		put_int(s, v, field->is_signed);
	}
}

static void put_field(struct sink *s, const struct report_row *row,
		      const struct decode_field *field)
{
	struct decode_bytes b = decode_field_bytes(row->format, field, row->data, row->len);
	uint32_t nr = decode_elem_count(field, b);

	if (field->is_string) {
		b = decode_bytes_text(b);
		put_string(s, (const char *)b.data, b.len);
	} else if (field->kind == DECODE_OPAQUE) {
		put_hex(s, b);
	} else if (field->is_array) {
		sink_putc(s, '[');
		for (uint32_t i = 0; i < nr; i++) {
			if (i)
				sink_putc(s, ',');
			put_element(s, row, field, b, i);
		}
		sink_putc(s, ']');
	} else if (nr) {
		put_element(s, row, field, b, 0);
	} else {
		sink_puts(s, "null");
	}
}

static void put_key(struct sink *s, const char *name, bool *first)
{
	if (!*first)
		sink_putc(s, ',');
	*first = false;
	put_string(s, name, strlen(name));
	sink_putc(s, ':');
}

static void put_fields(struct sink *s, const struct report_row *row, const struct decode_ctx *ctx)
{
	struct buf text = BUF_INIT;
	bool first = true;

	for (uint32_t i = 0; i < row->format->nr_fields; i++) {
		const struct decode_field *field = &row->format->fields[i];

		if (field->is_common)
			continue;
		put_key(s, field->name, &first);
		put_field(s, row, field);
	}
	if (decode_is_whole(row->format)) {
		decode_print(row->format, row->data, row->len, ctx, &text);
		put_key(s, "text", &first);
		put_string(s, text.data ? text.data : "", text.len);
		buf_fini(&text);
	}
}

/* What can be said of a record without its format. */
static void put_unknown(struct sink *s, const struct report_row *row, uint16_t type)
{
	sink_puts(s, "\"common_type\":");
	sink_dec(s, type);
	sink_puts(s, ",\"data\":");
	put_hex(s, (struct decode_bytes){ row->data, row->len });
}

static void put_origin(struct sink *s, const struct report_row *row)
{
	if (row->buffer) {
		sink_puts(s, ",\"buffer\":");
		put_text(s, row->buffer);
	}
	if (row->file) {
		sink_puts(s, ",\"file\":");
		put_text(s, row->file);
	}
}

void report_json_lost(struct buf *out, const struct report_row *row, uint64_t lost)
{
	struct sink s;

	sink_open(&s, out, SIZE_MAX);
	sink_puts(&s, "{\"ts\":");
	sink_dec(&s, row->ts);
	sink_puts(&s, ",\"cpu\":");
	put_int(&s, (uint64_t)row->cpu, true);
	put_origin(&s, row);
	sink_puts(&s, ",\"lost\":");
	if (lost == PAGE_LOST_UNKNOWN)
		sink_puts(&s, "null");
	else
		sink_dec(&s, lost);
	sink_puts(&s, "}\n");
	sink_close(&s);
}

void report_json_line(struct buf *out, const struct report_row *row, const struct decode_ctx *ctx)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	struct record_head head = { 0 };
	struct sink s;

	decode_record_head(row->format ? &row->format->abi : row->abi ? row->abi : &native, row->data,
			   row->len, &head);
	sink_open(&s, out, SIZE_MAX);
	sink_puts(&s, "{\"ts\":");
	sink_dec(&s, row->ts);
	sink_puts(&s, ",\"cpu\":");
	put_int(&s, (uint64_t)row->cpu, true);
	sink_puts(&s, ",\"pid\":");
	put_int(&s, (uint64_t)head.pid, true);
	sink_puts(&s, ",\"comm\":");
	put_text(&s, ctx && ctx->comm ? ctx->comm(ctx->arg, head.pid) : NULL);
	sink_puts(&s, ",\"system\":");
	put_text(&s, row->format ? row->format->system : NULL);
	sink_puts(&s, ",\"event\":");
	put_text(&s, row->format ? row->format->name : NULL);
	put_origin(&s, row);
	sink_puts(&s, ",\"fields\":{");
	if (row->format)
		put_fields(&s, row, ctx);
	else
		put_unknown(&s, row, head.type);
	sink_puts(&s, "}}\n");
	sink_close(&s);
}

void report_json_string(struct buf *out, const char *text, size_t len)
{
	struct sink s;

	sink_open(&s, out, SIZE_MAX);
	put_string(&s, text, len);
	sink_close(&s);
}
