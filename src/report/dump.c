/*
 * report/dump: see dump.h.
 *
 *   bin	pid, cpu, time as the machine's words; then "type: N\n"
 *   hex	00000001 00000000 000000007e0f8792 type: N\n\n
 *   raw	1 0 2114946962 type: N\n
 *
 * Functions have their addresses in place of the type and its line break. With raw, ftrace's own
 * records that say something say it.
 */
#include "report/dump.h"

#include <inttypes.h>
#include <string.h>

#include "decode/conv.h"

static bool is_own(const struct decode_format *format)
{
	return format && !strcmp(format->system, "ftrace");
}

static bool is_function(const struct decode_format *format)
{
	return is_own(format) && format->special && !strcmp(format->name, "function");
}

static uint64_t number(const struct report_row *row, const char *name)
{
	return decode_field_int(row->format, decode_format_find(row->format, name), row->data,
				row->len);
}

static void bin(struct buf *out, const struct report_row *row, const struct record_head *head,
		unsigned int flags)
{
	if (!(flags & REPORT_NO_CONTEXT)) {
		buf_add(out, &(int32_t){ head->pid }, 4);
		buf_add(out, &(int32_t){ row->cpu }, 4);
		buf_add(out, &row->ts, 8);
	}
	if (is_function(row->format)) {
		buf_add(out, &(uint64_t){ number(row, "ip") }, 8);
		buf_add(out, &(uint64_t){ number(row, "parent_ip") }, 8);
	} else if (row->format) {
		buf_printf(out, "type: %u\n", head->type);
	}
}

static void hex(struct buf *out, const struct report_row *row, const struct record_head *head,
		unsigned int flags)
{
	if (!(flags & REPORT_NO_CONTEXT))
		buf_printf(out, "%08x %08x %016" PRIx64 " ", (unsigned int)head->pid,
			   (unsigned int)row->cpu, row->ts);
	if (is_function(row->format))
		buf_printf(out, "%016" PRIx64 " %016" PRIx64 " ", number(row, "ip"),
			   number(row, "parent_ip"));
	else if (row->format)
		buf_printf(out, "type: %u\n", head->type);
	buf_putc(out, '\n');
}

static void raw_own(struct buf *out, const struct report_row *row, const struct record_head *head,
		    const struct decode_ctx *ctx)
{
	const struct decode_format *format = row->format;

	if (is_function(format)) {
		buf_printf(out, "%" PRIx64 " %" PRIx64, number(row, "ip"),
			   number(row, "parent_ip"));
	} else if (decode_is_message(format)) {
		buf_printf(out, strcmp(format->name, "print") ? ": %" PRIx64 " : " : "# %" PRIx64 " ",
			   number(row, "ip"));
		decode_print_message(format, row->data, row->len, ctx, out);
	} else if (!strcmp(format->name, "raw_data")) {
		decode_print(format, row->data, row->len, ctx, out);
	} else {
		buf_printf(out, "type: %u", head->type);
	}
}

static void raw(struct buf *out, const struct report_row *row, const struct record_head *head,
		const struct decode_ctx *ctx, unsigned int flags)
{
	if (!(flags & REPORT_NO_CONTEXT))
		buf_printf(out, "%d %d %" PRIu64 " ", head->pid, row->cpu, row->ts);
	if (is_own(row->format))
		raw_own(out, row, head, ctx);
	else
		buf_printf(out, row->format ? "type: %u" : "%u ?", head->type);
	buf_putc(out, '\n');
}

void report_dump_line(struct buf *out, const struct report_row *row, const struct record_head *head,
		      const struct decode_ctx *ctx, unsigned int flags)
{
	if (flags & REPORT_BIN)
		bin(out, row, head, flags);
	else if (flags & REPORT_HEX)
		hex(out, row, head, flags);
	else
		raw(out, row, head, ctx, flags);
}

/* Of Latin-1, as the kernel sees it. */
static bool is_printable(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

/* By its size alone, whatever it is: 'A'(65), 0xfffe (65534), 0xfffffffd (-3). */
static void put_number(struct sink *s, uint64_t v, uint32_t size, bool escape)
{
	static const struct conv decimal = { .kind = 'd', .size = 8, .prec = -1 };
	char c = (char)v;

	if (size > 1) {
		sink_puts(s, "0x");
		sink_hex(s, v, 0);
		sink_putc(s, ' ');
	} else if (is_printable((uint8_t)v)) {
		sink_putc(s, '\'');
		sink_text(s, &c, 1, escape);
		sink_putc(s, '\'');
	}
	sink_putc(s, '(');
	conv_int(s, &decimal, decode_abi_extend(v, size, size > 2), false);
	sink_putc(s, ')');
}

/* "char *" and "const char *". */
static bool is_text_pointer(const struct decode_field *field)
{
	const char *type = field->type;

	if (field->kind != DECODE_POINTER)
		return false;
	if (!strncmp(type, "const ", 6))
		type += 6;
	return !strncmp(type, "char", 4) && !strcmp(type + 4 + strspn(type + 4, " "), "*");
}

/* (0xffffffffa414a868:text), or only the address where the text is not known. */
static void put_text_pointer(struct sink *s, uint64_t addr, uint32_t size,
			     const struct decode_ctx *ctx, bool escape)
{
	struct decode_printk text = { 0 };

	sink_puts(s, "(0x");
	sink_hex(s, addr, size * 2);
	if (addr && ctx && ctx->printk && ctx->printk(ctx->arg, addr, &text) && text.text) {
		sink_putc(s, ':');
		sink_text(s, text.text, strlen(text.text), escape);
	}
	sink_putc(s, ')');
}

static void put_bytes(struct sink *s, struct decode_bytes b)
{
	for (uint32_t i = 0; i < b.len; i++) {
		if (i)
			sink_putc(s, ',');
		sink_hex(s, b.data[i], 2);
	}
}

/* The bytes of a field as one number, be it a number or a small array. */
static uint64_t word(const struct decode_format *format, struct decode_bytes b, uint32_t size)
{
	return b.len >= size ? decode_abi_load(b.data, size, format->abi.big_endian) : 0;
}

static void put_value(struct sink *s, const struct report_row *row,
		      const struct decode_field *field, const struct decode_ctx *ctx)
{
	struct decode_bytes b = decode_field_bytes(row->format, field, row->data, row->len);
	bool escape = ctx && (ctx->flags & DECODE_ESCAPE);

	if (field->is_string) {
		b = decode_bytes_text(b);
		sink_text(s, b.data, b.len, escape);
	} else if (strstr(field->type, "cpumask_t")) {
		sink_puts(s, "<INVALID-TYPE>");
	} else if (field->place != DECODE_INLINE) {
		put_bytes(s, b);
	} else if (is_text_pointer(field)) {
		put_text_pointer(s, word(row->format, b, field->size), field->size, ctx, escape);
	} else if (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8) {
		put_number(s, word(row->format, b, field->size), field->size, escape);
	} else {
		sink_puts(s, "<INVALID-SIZE>");
	}
}

static void put_fields(struct sink *s, const struct report_row *row, const struct decode_ctx *ctx)
{
	const struct decode_format *format = row->format;
	bool any = false;

	sink_puts(s, format->name);
	sink_putc(s, ':');
	for (uint32_t i = 0; i < format->nr_fields && !s->full; i++) {
		const struct decode_field *field = &format->fields[i];

		if (field->is_common)
			continue;
		any = true;
		sink_putc(s, ' ');
		sink_puts(s, field->name);
		sink_putc(s, '=');
		put_value(s, row, field, ctx);
	}
	if (!any)
		sink_puts(s, "No fields found");
}

void report_dump_fields(struct buf *out, const struct report_row *row,
			const struct record_head *head, const struct decode_ctx *ctx)
{
	struct sink s;

	/* Even of its own records: there the kernel finds no fields to print. */
	if (!row->format || is_own(row->format)) {
		buf_printf(out, "UNKNOWN TYPE %u", head->type);
		return;
	}
	sink_open(&s, out, DECODE_TEXT_MAX);
	put_fields(&s, row, ctx);
	sink_close(&s);
	if (s.full)
		buf_puts(out, "[LINE TOO BIG]");
}
