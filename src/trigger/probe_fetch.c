/*
 * trigger/probe_fetch: what an argument of an event probe is: where it comes from and of what type.
 *
 *   $FIELD  $comm  \NUMBER  \"TEXT"  @ADDRESS  @SYMBOL[+-OFFSET]  +-[u]OFFSET(FETCH)
 *   :u8 .. :x64, :char, :string, :ustring, :symbol, :symstr, :bWIDTH@SHIFT/SIZE, each with [COUNT]
 *
 * Texts that are given no type are strings: an address in a record would help nobody.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/probe.h"

#define ARRAY_MAX 64
#define OPS_MAX 15

static const char too_deep[] = "Dereference is too much nested";

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

/* ---- Where from ---- */

static struct spec_fetch *new_fetch(struct probe_read *read, int what)
{
	struct spec_fetch *fetch = read_alloc(read->mem, sizeof(*fetch));

	if (fetch)
		fetch->what = what;
	return fetch;
}

static int step(struct probe_read *read)
{
	return ++read->ops == OPS_MAX ? probe_refuse(read, -EINVAL, too_deep, read->offset) : 0;
}

static bool is_comm(const char *name)
{
	return !strcmp(name, "comm") || !strcmp(name, "COMM");
}

static int read_field(struct probe_read *read, const char *name, const struct spec_fetch **out)
{
	const struct decode_field *field = read->format ? decode_format_find(read->format, name) : NULL;
	struct spec_fetch *fetch;

	if ((!field || field->is_common) && is_comm(name)) {
		*out = new_fetch(read, FETCH_COMM);
		return *out ? 0 : -ENOMEM;
	}
	if ((!field || field->is_common) && (read->format || !read_is_name(name)))
		return probe_refuse(read, -EINVAL, "Invalid $-variable specified", read->offset);
	fetch = new_fetch(read, FETCH_FIELD);
	if (!fetch)
		return -ENOMEM;
	if (!read_copy_name(fetch->name, name))
		return probe_refuse(read, -EINVAL, "Invalid $-variable specified", read->offset);
	*out = fetch;
	return 0;
}

/* A number with a sign of its own. */
static int read_signed(const char *text, int64_t *out)
{
	bool negative = text[0] == '-';
	uint64_t number;

	if (text[negative] == '+' || read_number(text + negative, &number) || number > (uint64_t)INT64_MAX + negative)
		return -EINVAL;
	*out = (int64_t)(negative ? 0 - number : number);
	return 0;
}

static int read_immediate(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_NUMBER);
	size_t len = strlen(text);
	int64_t number;
	int ret;

	if (!fetch)
		return -ENOMEM;
	*out = fetch;
	if (text[0] == '"') {
		if (len < 2 || text[len - 1] != '"')
			return probe_refuse(read, -EINVAL, "String is not closed with '\"'", read->offset + 1 + len);
		fetch->what = FETCH_LITERAL;
		fetch->literal = read_dup(read->mem, text + 1, len - 2);
		return fetch->literal ? 0 : -ENOMEM;
	}
	if (isdigit((unsigned char)text[0])) {
		ret = read_number(text, &fetch->number);
	} else {
		ret = text[0] == '-' || text[0] == '+' ? read_signed(text + (text[0] == '+'), &number) : -EINVAL;
		if (!ret)
			fetch->number = (uint64_t)number;
	}
	return ret ? probe_refuse(read, -EINVAL, "Invalid immediate value", read->offset + 1) : 0;
}

static struct spec_fetch *peek_at(struct probe_read *read, const struct spec_fetch *of, int64_t offset)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_PEEK);

	if (fetch) {
		fetch->of = of;
		fetch->offset = offset;
	}
	return fetch;
}

/* A symbol's address is that of the one function of this name. */
static int read_symbol(struct probe_read *read, char *text, uint64_t *address)
{
	char *sign = strpbrk(text, "+-");
	int64_t offset = 0;
	uint64_t end;

	if (sign && read_signed(sign + (*sign == '+'), &offset))
		return read_refuse_silently(read->error, -EINVAL, "bad offset: %.40s", sign);
	if (sign)
		*sign = '\0';
	if (!read->world->function || !read->world->function(read->world->arg, text, address, &end))
		return read_refuse_silently(read->error, -ENOENT, "no function is called %.80s", text);
	*address += (uint64_t)offset;
	return 0;
}

static int read_memory(struct probe_read *read, char *text, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_NUMBER);
	int ret = 0;

	if (!fetch)
		return -ENOMEM;
	if (isdigit((unsigned char)text[0])) {
		if (read_number(text, &fetch->number))
			return probe_refuse(read, -EINVAL, "Invalid memory address", read->offset);
	} else if (text[0] == '+') {
		return probe_refuse(read, -EINVAL, "File offset is not available with kprobe", read->offset);
	} else {
		ret = read_symbol(read, text, &fetch->number);
	}
	if (!ret)
		ret = step(read);
	if (ret)
		return ret;
	*out = peek_at(read, fetch, 0);
	return *out ? 0 : -ENOMEM;
}

static int read_fetch(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out);

/*
 * +OFFSET(...): `u` says that the memory is a program's, as all memory is here. The caret of what is wrong inside counts
 * without it.
 */
static int read_deref(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out)
{
	const struct spec_fetch *of = NULL;
	bool inner;
	char *open, *close;
	int64_t offset;
	size_t here;
	int ret;

	*user = text[1] == 'u';
	if (*user) {
		text[1] = text[0];
		text++;
	}
	if (text[0] == '+')
		text++;
	open = strchr(text, '(');
	if (!open)
		return probe_refuse(read, -EINVAL, "Dereference needs a brace", read->offset);
	*open = '\0';
	if (read_signed(text, &offset))
		return probe_refuse(read, -EINVAL, "Invalid dereference offset", read->offset);
	read->offset += (size_t)(open + 1 - text) + (text[0] != '-');
	here = read->offset;
	text = open + 1;
	close = strrchr(text, ')');
	if (!close)
		return probe_refuse(read, -EINVAL, "Dereference brace is not closed", read->offset + strlen(text));
	*close = '\0';
	ret = read_fetch(read, text, &inner, &of);
	if (ret)
		return ret;
	read->offset = here;
	if (of->what == FETCH_COMM || of->what == FETCH_LITERAL)
		return probe_refuse(read, -EINVAL, "$comm can not be dereferenced", read->offset);
	ret = step(read);
	if (ret)
		return ret;
	*out = peek_at(read, of, offset);
	return *out ? 0 : -ENOMEM;
}

static int read_fetch(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out)
{
	*user = false;
	switch (text[0]) {
	case '$':
		return read_field(read, text + 1, out);
	case '@':
		return read_memory(read, text + 1, out);
	case '+':
	case '-':
		return read_deref(read, text, user, out);
	case '\\':
		return read_immediate(read, text + 1, out);
	default:
		if (isalpha((unsigned char)text[0]) || text[0] == '_')
			return probe_refuse(read, -EINVAL, "BTF is not available or not supported", read->offset);
		return probe_refuse(read, -EINVAL, "Invalid fetch argument", read->offset);
	}
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

/* What of type and source does not go together. `at`: of the type. */
static int check_type(struct probe_read *read, struct spec_arg *arg, const struct fetch_type *type, bool user, size_t at)
{
	bool memory = arg->fetch->what == FETCH_PEEK, number = arg->fetch->what == FETCH_NUMBER;
	bool is_string = type->style == 't', in_place = memory && (!is_string || !arg->count);

	at += read->offset;
	if (!strcmp(type->name, "symstr") && !memory && arg->fetch->what != FETCH_FIELD)
		return probe_refuse(read, -EINVAL, "Symbol String doesn't accept data/userdata", at);
	if (!in_place && step(read))
		return number && !is_string ? -E2BIG : -EINVAL;
	if (arg->type[0] == 'b' && !read_bits(arg, arg->type, type->size))
		return probe_refuse(read, -EINVAL, "Invalid bitfield", at);
	if (arg->count && !(is_string ? strcmp(type->name, "symstr") : memory && !user))
		return probe_refuse(read, -EINVAL, "String accepts only memory argument", at);
	return 0;
}

int probe_read_body(struct probe_read *read, struct spec_arg *arg)
{
	char *text = read_dup(read->mem, arg->body, strlen(arg->body)), *name = text ? strchr(text, ':') : NULL;
	const struct fetch_type *type = find_type("x64");
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
		type = find_type(name);
		if (!ret && (!type || !read_copy_name(arg->type, name)))
			ret = probe_refuse(read, -EINVAL, "Unknown type is specified", read->offset + at);
	}
	if (!ret)
		ret = read_fetch(read, text, &user, &arg->fetch);
	if (!ret && !name && is_text(read, arg->fetch))
		type = find_type("string");
	if (!ret)
		ret = check_type(read, arg, type, user, at);
	if (!ret)
		set_field(arg, type);
	return ret;
}
