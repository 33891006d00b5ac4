/*
 * trigger/probe_type: of what type an argument of a probe is, and how it lies in the record.
 *
 *   :u8 .. :x64, :char, :string, :ustring, :symbol, :symstr, :bWIDTH@SHIFT/SIZE, each with [COUNT]
 *
 * Without one it is what its source is known to be: a text, a parameter's type, else a number in hexadecimal.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/probe.h"

#define ARRAY_MAX 64

static const struct fetch_type {
	const char *name;
	const char *record;	/* its name in formats */
	uint8_t size;
	char style;
} fetch_types[] = {
	{ "string", "__data_loc char[]", 4, 't' }, { "ustring", "__data_loc char[]", 4, 't' },
	{ "symstr", "__data_loc char[]", 4, 't' },
	{ "u8", "u8", 1, 'u' }, { "u16", "u16", 2, 'u' }, { "u32", "u32", 4, 'u' }, { "u64", "u64", 8, 'u' },
	{ "s8", "s8", 1, 's' }, { "s16", "s16", 2, 's' }, { "s32", "s32", 4, 's' }, { "s64", "s64", 8, 's' },
	{ "x8", "u8", 1, 'x' }, { "x16", "u16", 2, 'x' }, { "x32", "u32", 4, 'x' }, { "x64", "u64", 8, 'x' },
	{ "char", "u8", 1, 'c' }, { "symbol", "u64", 8, 'S' },
};

static const struct fetch_type *find_type(const char *name)
{
	char of_bits[8] = "";
	uint64_t bits;

	if (name[0] == 'b') {
		name = strchr(name, '/');
		if (!name || read_number(name + 1, &bits) || bits > 64)
			return NULL;
		snprintf(of_bits, sizeof(of_bits), "u%u", (unsigned int)bits);
		name = of_bits;
	}
	for (size_t i = 0; i < sizeof(fetch_types) / sizeof(fetch_types[0]); i++) {
		if (!strcmp(fetch_types[i].name, name))
			return &fetch_types[i];
	}
	return NULL;
}

/* ---- Types ---- */

/* [COUNT] at the end of `type`, which begins `at` bytes behind the argument's body. */
static int read_count(struct probe_read *read, struct spec_arg *arg, char *type, size_t at)
{
	char *open = strchr(type, '['), *close;
	uint64_t count;

	if (!open)
		return 0;
	*open++ = '\0';
	at += read->offset + (size_t)(open - type);
	close = strchr(open, ']');
	if (!close)
		return probe_refuse(read, -EINVAL, "Array is not closed", at + strlen(open));
	if (close[1])
		return probe_refuse(read, -EINVAL, "Array has wrong suffix", at + (size_t)(close + 1 - open));
	*close = '\0';
	if (read_number(open, &count) || !count || count > UINT32_MAX)
		return probe_refuse(read, -EINVAL, "Invalid array size", at);
	if (count > ARRAY_MAX)
		return probe_refuse(read, -EINVAL, "Array number is too big", at);
	arg->count = (uint32_t)count;
	return 0;
}

/* bWIDTH@SHIFT/SIZE */
static bool read_bits(struct spec_arg *arg, const char *type, uint32_t size)
{
	unsigned long width, shift;
	char *end;
	const char *from;

	if (!isdigit((unsigned char)type[1]))
		return false;
	width = strtoul(type + 1, &end, 0);
	if (!width || *end != '@')
		return false;
	from = end + 1;
	if (!isdigit((unsigned char)*from))
		return false;
	shift = strtoul(from, &end, 0);
	if (*end != '/' || width > size * 8 || shift > size * 8 || width + shift > size * 8)
		return false;
	arg->bits = (uint32_t)width;
	arg->shift = (uint32_t)shift;
	return true;
}

static bool is_text(const struct probe_read *read, const struct spec_fetch *fetch)
{
	const struct decode_field *field;

	if (fetch->what == FETCH_COMM || fetch->what == FETCH_LITERAL)
		return true;
	if (fetch->what != FETCH_FIELD || !read->format)
		return false;
	field = decode_format_find(read->format, fetch->name);
	return field && field->is_string;
}

static void set_field(struct spec_arg *arg, const struct fetch_type *type)
{
	struct spec_field *field = &arg->field;

	arg->style = type->style;
	field->form = type->style == 't' ? HOOK_FIELD_DYN_TEXT : HOOK_FIELD_NUMBER;
	field->is_signed = type->style == 's' || type->style == 't';
	field->value_size = type->size;
	field->size = (uint16_t)(type->size * (arg->count ? arg->count : 1));
	if (arg->count)
		snprintf(field->type, sizeof(field->type), type->style == 't' ? "%s[%u]" : "%s[]", type->record, arg->count);
	else
		snprintf(field->type, sizeof(field->type), "%s", type->record);
}

/* ---- What is known of the source ---- */

/* NULL: no number. */
static const struct fetch_type *type_of_param(const struct probe_param *param)
{
	char name[8];

	if (param->kind == 'b')
		return find_type("u8");
	if (!strchr("iue", param->kind))
		return NULL;
	snprintf(name, sizeof(name), "%c%u", param->kind == 'i' ? 's' : 'u', param->size * 8u);
	return find_type(name);
}

static const struct fetch_type *type_of_field(const struct decode_field *field)
{
	char name[8];

	if (!field || field->is_array || strchr(field->type, '*') || field->size > 8)
		return NULL;
	snprintf(name, sizeof(name), "%c%u", field->is_signed ? 's' : 'u', field->size * 8);
	return find_type(name);
}

/* What an argument is of which nobody said it. */
static const struct fetch_type *known_type(const struct probe_read *read, const struct spec_fetch *fetch)
{
	const struct fetch_type *type = NULL;

	if (is_text(read, fetch))
		return find_type("string");
	if (read->probe->kind == SPEC_PROBE_TRACEPOINT && fetch->what == FETCH_FIELD && read->last)
		type = type_of_field(decode_format_find(read->format, fetch->name));
	else if (read->last)
		type = type_of_param(read->last);
	return type ? type : find_type("x64");
}

/* A pointer is followed; to what it points its prototype does not say. */
static int follow_text(struct probe_read *read, struct spec_arg *arg)
{
	if (is_text(read, arg->fetch) || read->last->kind == 'a')
		return 0;
	if (read->last->kind != 'p')
		return probe_refuse(read, -EINVAL, "This type does not fit for string.", read->offset);
	arg->fetch = probe_peek(read, arg->fetch, 0);
	read->is_memory = true;
	return arg->fetch ? probe_step(read) : -ENOMEM;
}

/* ---- Both together ---- */

static bool may_be_text(const struct probe_read *read, const struct spec_fetch *fetch)
{
	return read->is_memory || fetch->what == FETCH_NUMBER || fetch->what == FETCH_COMM || fetch->what == FETCH_LITERAL ||
	       fetch->what == FETCH_FIELD;
}

/* What of type and source does not go together. `at`: of the type. */
static int check_type(struct probe_read *read, struct spec_arg *arg, const struct fetch_type *type, bool user, size_t at)
{
	bool memory = read->is_memory, number = arg->fetch->what == FETCH_NUMBER;
	bool is_string = type->style == 't', is_symbol = !strcmp(type->name, "symstr");
	bool in_place = memory && (!is_string || !arg->count);

	at += read->offset;
	if (is_symbol && (number || arg->fetch->what == FETCH_COMM || arg->fetch->what == FETCH_LITERAL))
		return probe_refuse(read, -EINVAL, "Symbol String doesn't accept data/userdata", at);
	if (is_string && !is_symbol && !may_be_text(read, arg->fetch))
		return probe_refuse(read, -EINVAL, "String accepts only memory argument", at);
	if (!in_place && probe_step(read))
		return number && !is_string ? -E2BIG : -EINVAL;
	if (arg->type[0] == 'b' && !read_bits(arg, arg->type, type->size))
		return probe_refuse(read, -EINVAL, "Invalid bitfield", at);
	if (arg->count && !(is_string ? !is_symbol : memory && !user))
		return probe_refuse(read, -EINVAL, "String accepts only memory argument", at);
	return 0;
}

/* Texts of a fixed kind are nothing else. */
static int check_fixed(struct probe_read *read, const struct spec_arg *arg, const char *text, const char *name, size_t at)
{
	bool is_fixed = !strcmp(text, "$comm") || !strcmp(text, "$COMM") || !strncmp(text, "\\\"", 2);

	if (!is_fixed || read->probe->kind == SPEC_PROBE_EVENT || (!arg->count && (!name || !strcmp(name, "string"))))
		return 0;
	return probe_refuse(read, -EINVAL, "$comm and immediate-string only accepts string type", read->offset + at);
}

static const struct fetch_type *read_type(struct probe_read *read, struct spec_arg *arg, const char *name)
{
	const struct fetch_type *type = find_type(name);

	if (type && probe_is_user(read->probe) && (type->style == 'S' || !strcmp(name, "symstr")))
		return NULL;
	return type && read_copy_name(arg->type, name) ? type : NULL;
}

int probe_read_body(struct probe_read *read, struct spec_arg *arg)
{
	char *text = read_dup(read->mem, arg->body, strlen(arg->body)), *name = text ? strchr(text, ':') : NULL;
	const struct fetch_type *type = NULL;
	size_t at = 0;
	bool user;
	int ret = 0;

	if (!text)
		return -ENOMEM;
	read->ops = 0;
	if (name) {
		*name++ = '\0';
		at = (size_t)(name - text);
		ret = read_count(read, arg, name, at);
	}
	if (!ret)
		ret = check_fixed(read, arg, text, name, at);
	if (!ret && name) {
		type = read_type(read, arg, name);
		if (!type)
			ret = probe_refuse(read, -EINVAL, "Unknown type is specified", read->offset + at);
	}
	if (!ret)
		ret = probe_read_fetch(read, text, &user, &arg->fetch);
	if (!ret && !type) {
		type = known_type(read, arg->fetch);
		arg->bits = read->bits;
		arg->shift = read->shift;
	}
	if (!ret && name && read->last && strstr(name, "string"))
		ret = follow_text(read, arg);
	if (!ret)
		ret = check_type(read, arg, type, user, at);
	if (!ret)
		set_field(arg, type);
	return ret;
}
