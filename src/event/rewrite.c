/*
 * event/rewrite: the arguments of print(), as written in C, in the language of the kernel's print
 * formats.
 *
 * In: `"item=%d who=%s", item, who`. Out: `"item=%d who=%s", REC->item, __get_str(who)`. A name
 * that is a field's becomes the access that its kind needs, unless it follows -> or is the argument
 * of a __get_ function already; all else is copied. Adjacent string literals, which is what PRIu64
 * and its like leave behind, are joined. Runs in constructors and ordinary code.
 */
#include <ctype.h>
#include <string.h>

#include "event/local.h"

void event_rewrite_literal(struct buf *out, const char *text)
{
	buf_putc(out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c == '\n')
			buf_puts(out, "\\n");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\%03o", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, '"');
}

/* Values as readers see the field: some never extend a sign, so where one matters all is
 * unsigned. */
static bool unsigned_names(const struct ringside_field *field)
{
	for (const struct ringside_symbol *s = field->symbols; s && s->name; s++)
		if (s->value < 0 && field->size < 8)
			return true;
	return false;
}

static void named_value(struct buf *out, const struct ringside_field *field)
{
	static const char *const casts[] = { "", "(unsigned char)", "(unsigned short)", "",
					     "(unsigned int)" };

	if (unsigned_names(field) && field->is_signed && field->size <= 4)
		buf_puts(out, casts[field->size]);
	buf_printf(out, "REC->%s", field->name);
}

static void names(struct buf *out, const struct ringside_field *field)
{
	const char *form = field->kind == RINGSIDE_FLAGS ? ", { 0x%llx, " : ", { %lld, ";
	long long mask = unsigned_names(field) ? (1ll << field->size * 8) - 1 : -1;

	for (const struct ringside_symbol *s = field->symbols; s && s->name; s++) {
		buf_printf(out, form, s->value & mask);
		event_rewrite_literal(out, s->name);
		buf_puts(out, " }");
	}
	buf_putc(out, ')');
}

void event_rewrite_field(struct buf *out, const struct ringside_field *field)
{
	const char *name = field->name;

	switch (field->kind) {
	case RINGSIDE_SYMBOLS:
		buf_puts(out, "__print_symbolic(");
		named_value(out, field);
		names(out, field);
		break;
	case RINGSIDE_FLAGS:
		buf_puts(out, "__print_flags(");
		named_value(out, field);
		buf_puts(out, ", \"|\"");
		names(out, field);
		break;
	case RINGSIDE_ARRAY:
	case EVENT_ARRAY_N:
		if (field->type_class == RINGSIDE_CHAR)
			buf_printf(out, "REC->%s", name);
		else
			buf_printf(out, "__print_array(REC->%s, %u, %u)", name, field->count,
				   field->size);
		break;
	case RINGSIDE_STRING:
	case RINGSIDE_STRING_N:
		buf_printf(out, "__get_str(%s)", name);
		break;
	case RINGSIDE_SEQUENCE:
		buf_printf(out,
			   "__print_array(__get_dynamic_array(%s), __get_dynamic_array_len(%s)",
			   name, name);
		buf_printf(out, field->size > 1 ? " / %u, %u)" : ", %u)", field->size, field->size);
		break;
	case RINGSIDE_BITMASK:
		buf_printf(out, "__get_bitmask(%s)", name);
		break;
	default:
		buf_printf(out, "REC->%s", name);
	}
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool equal(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* The number of elements of a sequence, by its parameter's name; NULL when it is not one. */
static const struct ringside_field *counted(const struct ringside_field *fields, const char *text,
					    size_t len)
{
	static const char tail[] = "_count";
	const size_t tail_len = sizeof(tail) - 1;

	if (len <= tail_len || memcmp(text + len - tail_len, tail, tail_len))
		return NULL;
	for (; fields->name; fields++)
		if (fields->kind == RINGSIDE_SEQUENCE && equal(text, len - tail_len, fields->name))
			return fields;
	return NULL;
}

static void identifier(struct buf *out, const struct ringside_field *fields, const char *text,
		       size_t len)
{
	const struct ringside_field *field;

	for (field = fields; field->name; field++) {
		if (equal(text, len, field->name)) {
			event_rewrite_field(out, field);
			return;
		}
	}
	field = counted(fields, text, len);
	if (field)
		buf_printf(out, "(__get_dynamic_array_len(%s) / %u)", field->name, field->size);
	else if (equal(text, len, "true"))
		buf_putc(out, '1');
	else if (equal(text, len, "false") || equal(text, len, "nullptr") ||
		 equal(text, len, "NULL"))
		buf_putc(out, '0');
	else
		buf_add(out, text, len);
}

/* The length of the literal that `text` begins with, quotes included. */
static size_t literal_len(const char *text)
{
	char quote = text[0];
	size_t n = 1;

	while (text[n] && text[n] != quote)
		n += text[n] == '\\' && text[n + 1] ? 2 : 1;
	return text[n] ? n + 1 : n;
}

/* Copies string literals as one; returns what is behind them. */
static const char *literals(struct buf *out, const char *text)
{
	buf_putc(out, '"');
	for (;;) {
		size_t n = literal_len(text);
		const char *next = text + n;

		if (n >= 2)
			buf_add(out, text + 1, n - 2);
		while (isspace((unsigned char)*next))
			next++;
		if (*next != '"') {
			buf_putc(out, '"');
			return text + n;
		}
		text = next;
	}
}

void event_rewrite(struct buf *out, const struct ringside_field *fields, const char *print)
{
	bool plain = false;	/* the next name stays as it is */

	while (*print) {
		size_t n = 1;

		if (*print == '"') {
			print = literals(out, print);
			continue;
		}
		if (is_name(*print))
			while (is_name(print[n]))
				n++;
		if (*print == '\'') {
			n = literal_len(print);
			buf_add(out, print, n);
		} else if (is_name(*print) && !isdigit((unsigned char)*print) && !plain) {
			identifier(out, fields, print, n);
			plain = n > 6 && !memcmp(print, "__get_", 6);
		} else if (is_name(*print)) {
			buf_add(out, print, n);
			plain = false;
		} else {
			buf_putc(out, *print == '\n' || *print == '\t' ? ' ' : *print);
			if (*print == '>' && out->len > 1 && out->data[out->len - 2] == '-')
				plain = true;
			else if (*print != '(' && !isspace((unsigned char)*print))
				plain = false;
		}
		print += n;
	}
}
