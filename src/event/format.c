/*
 * event/format: a table of fields as the text of the event's `format` file, line by line what the
 * kernel would write. Runs in constructors and ordinary code.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "event/local.h"
#include "layout/page.h"

/* Without printf: a program with many events pays for each of these lines when it starts. */
static void number(struct buf *out, const char *before, uint32_t value)
{
	char digits[16];
	size_t n = sizeof(digits);

	digits[--n] = ';';
	do
		digits[--n] = (char)('0' + value % 10);
	while (value /= 10);
	buf_puts(out, before);
	buf_add(out, digits + n, sizeof(digits) - n);
}

static void line(struct buf *out, const char *type, const char *name, uint32_t offset,
		 uint32_t size, int is_signed)
{
	buf_puts(out, "\tfield:");
	buf_puts(out, type);
	buf_putc(out, ' ');
	buf_puts(out, name);
	number(out, ";\toffset:", offset);
	number(out, "\tsize:", size);
	buf_puts(out, is_signed ? "\tsigned:1;\n" : "\tsigned:0;\n");
}

/* A name by size, for types that stock readers of the text could not make out. */
static const char *plain_type(const struct ringside_field *field)
{
	static const char *const ints[2][4] = {
		{ "u8", "u16", "u32", "u64" },
		{ "s8", "s16", "s32", "s64" },
	};
	int log = field->size > 4 ? 3 : field->size > 2 ? 2 : field->size - 1;

	if (field->type_class == RINGSIDE_POINTER)
		return "void *";
	return ints[!!field->is_signed][log];
}

/* As declared, but for the spellings of C and C++ that mean the same. */
static const char *type_text(const struct ringside_field *field)
{
	const char *type = field->type;

	if (!strcmp(type, "_Bool"))
		return "bool";
	for (const char *p = type; *p; p++)
		if (p[0] == ':' && p[1] == ':')
			type = p + 2;
	for (const char *p = type; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_ *", *p))
			return plain_type(field);
	return *type ? type : plain_type(field);
}

static void field_line(struct buf *out, const struct ringside_field *field)
{
	const char *type = type_text(field);
	char text[256];

	switch (field->kind) {
	case RINGSIDE_STRING:
	case RINGSIDE_STRING_N:
		line(out, "__data_loc char[]", field->name, field->offset, 4, 0);
		break;
	case RINGSIDE_SEQUENCE:
		snprintf(text, sizeof(text), "__data_loc %s[]", type);
		line(out, text, field->name, field->offset, 4, field->is_signed);
		break;
	case RINGSIDE_BITMASK:
		line(out, "__data_loc unsigned long[]", field->name, field->offset, 4, 0);
		break;
	case RINGSIDE_ARRAY:
	case EVENT_ARRAY_N:
		snprintf(text, sizeof(text), "%s[%u]", field->name, field->count);
		line(out, type, text, field->offset, field->size * field->count, field->is_signed);
		break;
	default:
		line(out, type, field->name, field->offset, field->size, field->is_signed);
	}
}

/* The conversion that prints a field. Readers take a number's sign from its width there, not
 * from the field's. */
static const char *conversion(const struct ringside_field *field)
{
	if (field->kind != RINGSIDE_FIELD)
		return "%s";
	switch (field->type_class) {
	case RINGSIDE_FLOAT:
		return "%g";
	case RINGSIDE_POINTER:
		return "%p";
	default:
		break;
	}
	if (!field->is_signed)
		return field->size == 8 ? "%llu" : "%u";
	switch (field->size) {
	case 8:
		return "%lld";
	case 4:
		return "%d";
	case 2:
		return "%hd";
	default:
		return "%hhd";
	}
}

static void print_all(struct buf *out, const struct ringside_field *fields)
{
	const struct ringside_field *f;

	buf_putc(out, '"');
	for (f = fields; f->name; f++)
		buf_printf(out, "%s%s=%s", f == fields ? "" : " ", f->name, conversion(f));
	buf_putc(out, '"');
	for (f = fields; f->name; f++) {
		buf_puts(out, ", ");
		event_rewrite_field(out, f);
	}
}

void event_format_text(struct buf *out, const struct ringside_field *fields, const char *print)
{
	buf_room(out, 2000);
	buf_puts(out, RECORD_HEAD_FORMAT);
	for (const struct ringside_field *f = fields; f->name; f++)
		field_line(out, f);
	buf_puts(out, "\nprint fmt: ");
	if (print && *print)
		event_rewrite(out, fields, print);
	else
		print_all(out, fields);
}
