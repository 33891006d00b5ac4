/*
 * decode/tep_fields: a record's fields without its print format, as libtraceevent writes them; see
 * tep.h. Types are judged by what stands in their names. A number that the print format shows as it
 * is prints the same way here, with the 0x that may stand before it.
 */
#include "decode/tep.h"

#include <string.h>

#include "decode/special.h"

/* Whether everything up to the first NUL is ASCII to be looked at. */
static bool is_printable(struct decode_bytes b)
{
	for (uint32_t i = 0; i < b.len && b.data[i]; i++)
		if ((b.data[i] < ' ' || b.data[i] > '~') && (b.data[i] < '\t' || b.data[i] > '\r'))
			return false;
	return true;
}

static bool is_text(const struct decode_field *field)
{
	return strstr(field->type, "char") || strstr(field->type, "u8") ||
	       strstr(field->type, "s8");
}

static struct tep_loc place_of(const struct frame *f, const struct decode_field *field)
{
	if (field->place == DECODE_LOC || field->place == DECODE_REL_LOC)
		return tep_locate(f, field);
	return (struct tep_loc){ field->offset, field->size };
}

static bool was_odd(const struct frame *f, const struct decode_field *field)
{
	return f->ctx->odd && f->ctx->odd(f->ctx->arg, field);
}

static void array(const struct frame *f, const struct decode_field *field, struct sink *s)
{
	struct tep_loc loc = place_of(f, field);
	struct decode_bytes b = tep_bytes(f, loc.offset, loc.len);

	if (is_text(field) && is_printable(b) && !was_odd(f, field)) {
		b = decode_bytes_text(tep_bytes(f, loc.offset, UINT32_MAX));
		sink_text(s, b.data, b.len, f->escape);
		return;
	}
	sink_puts(s, "ARRAY[");
	for (uint32_t i = 0; i < b.len && !s->full; i++) {
		if (i)
			sink_add(s, ", ", 2);
		sink_hex(s, b.data[i], 2);
	}
	sink_putc(s, ']');
}

static void signed_number(const struct decode_field *field, uint64_t v, struct sink *s)
{
	int64_t n = (int64_t)decode_abi_extend(v, field->size, true);

	/* Two digits wide, if it is of two bytes. */
	if (field->size == 2 && n >= 0 && n < 10)
		sink_putc(s, ' ');
	if (n < 0)
		sink_putc(s, '-');
	sink_dec(s, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* Longs often hold addresses; these come in hexadecimal, but for signed ones of 8 bytes. */
static void number(const struct frame *f, const struct decode_field *field, struct sink *s)
{
	uint64_t v = tep_load(f, field->offset, field->size);
	bool is_long = strstr(field->type, "long");

	if (strchr(field->type, '*') ||
	    (is_long && (!field->is_signed || field->size == 4))) {
		sink_add(s, "0x", 2);
		sink_hex(s, v, 0);
	} else if (field->is_signed) {
		signed_number(field, v, s);
	} else {
		sink_dec(s, v);
	}
}

/* "__data_loc int x" has no brackets, so nobody looks for what it leads to. */
static bool is_array(const struct decode_field *field)
{
	if (field->place == DECODE_LOC || field->place == DECODE_REL_LOC)
		return strchr(field->type, '[');
	return field->is_array;
}

static const struct tep_piece *shown_by(const struct frame *f, uint32_t field)
{
	bool by_format = !f->format->special || !f->format->special->tep;
	uint32_t at = f->tep && !f->tep->calls && by_format ? f->tep->shown[field] : 0;

	return at ? &f->tep->pieces[at - 1] : NULL;
}

static void as_shown(const struct frame *f, const struct tep_piece *p, struct sink *s)
{
	if (p->text.len >= 2 && !memcmp(p->text.p + p->text.len - 2, "0x", 2))
		sink_add(s, "0x", 2);
	tep_piece_value(f, p, s);
}

void tep_fields(const struct frame *f, struct sink *s)
{
	for (uint32_t i = 0; i < f->format->nr_fields && !s->full; i++) {
		const struct decode_field *field = &f->format->fields[i];
		const struct tep_piece *p;

		if (field->is_common)
			continue;
		sink_putc(s, ' ');
		sink_puts(s, field->name);
		sink_putc(s, '=');
		if (is_array(field))
			array(f, field, s);
		else if ((p = shown_by(f, i)))
			as_shown(f, p, s);
		else
			number(f, field, s);
	}
}

void decode_odd_fields(const struct decode_format *format, const void *rec, size_t len,
		       void (*found)(void *arg, const struct decode_field *field), void *arg)
{
	struct frame f = { .format = format, .rec = rec, .len = len };

	for (uint32_t i = 0; i < format->nr_fields; i++) {
		const struct decode_field *field = &format->fields[i];
		struct tep_loc loc;

		if (field->is_common || !is_array(field) || !is_text(field))
			continue;
		loc = place_of(&f, field);
		if (!is_printable(tep_bytes(&f, loc.offset, loc.len)))
			found(arg, field);
	}
}

void tep_failed(const struct frame *f, struct sink *s)
{
	sink_puts(s, "[FAILED TO PARSE]");
	tep_fields(f, s);
}
