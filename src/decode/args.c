/*
 * decode/args: see args.h. Pure functions on bytes, for any thread.
 */
#include "decode/args.h"

#include <string.h>

#include "layout/prototype.h"

#define ERRNO_MAX 4095

/* One parameter. */
struct argument {
	char kind;
	uint32_t size;
	bool placed;		/* in registers: */
	uint32_t first, count;
	const char *name;
	size_t name_len;
};

/* The words of a record. */
struct words {
	const struct decode_format *format;
	const char *bytes;
	uint32_t n;
};

static const char *take_number(const char *p, uint32_t *number)
{
	*number = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		*number = *number < 1000000 ? *number * 10 + (uint32_t)(*p - '0') : *number;
	return p;
}

/* Where the next one begins; NULL: there is none, or it makes no sense. */
static const char *take_argument(const char *p, struct argument *argument)
{
	*argument = (struct argument){ .kind = *p, .count = 1 };
	if (!*p || !strchr("iupbefs?v", *p))
		return NULL;
	p = take_number(p + 1, &argument->size);
	if (*p == '@') {
		argument->placed = true;
		p = take_number(p + 1, &argument->first);
		if (*p == '+')
			p = take_number(p + 1, &argument->count);
	}
	if (*p == ' ')
		p++;
	argument->name = p;
	argument->name_len = strcspn(p, ",)");
	p += argument->name_len;
	return *p ? p : NULL;
}

uint32_t decode_args_count(const struct decode_format *format, const struct decode_field *args, uint32_t len)
{
	const uint32_t size = format->abi.long_size;
	uint32_t n = args && size && args->offset < len ? (len - args->offset) / size : 0;

	return n < PROTOTYPE_REGISTERS ? n : PROTOTYPE_REGISTERS;
}

static uint64_t word(const struct words *words, uint32_t i)
{
	const struct decode_abi *abi = &words->format->abi;

	return decode_abi_load(words->bytes + (size_t)i * abi->long_size, abi->long_size, abi->big_endian);
}

static void put_hex(struct sink *s, uint64_t value)
{
	sink_add(s, "0x", 2);
	sink_hex(s, value, 0);
}

static void put_signed(struct sink *s, uint64_t value)
{
	if (value >> 63)
		sink_putc(s, '-');
	sink_dec(s, value >> 63 ? -value : value);
}

/* Of `size` bytes: what is above them in the register may be anything. */
static uint64_t trim(uint64_t value, uint32_t size, bool is_signed)
{
	return size && size < sizeof(value) ? decode_abi_extend(value, size, is_signed) : value;
}

static void put_value(struct sink *s, const struct argument *argument, const struct words *words)
{
	if (!argument->placed || argument->count > words->n || argument->first > words->n - argument->count) {
		sink_putc(s, '?');
	} else if (argument->kind == 's' || argument->count != 1) {
		for (uint32_t i = 0; i < argument->count; i++) {
			sink_putc(s, i ? ':' : '[');
			put_hex(s, word(words, argument->first + i));
		}
		sink_putc(s, ']');
	} else if (argument->kind == 'i' || argument->kind == 'e') {
		put_signed(s, trim(word(words, argument->first), argument->size, true));
	} else {
		put_hex(s, trim(word(words, argument->first), argument->kind == 'b' ? 1 : argument->size, false));
	}
}

static void put_raw(struct sink *s, const struct words *words)
{
	for (uint32_t i = 0; i < words->n; i++) {
		if (i)
			sink_add(s, ", ", 2);
		put_hex(s, word(words, i));
	}
}

/* Up to what makes no sense. */
static void put_named(struct sink *s, const char *p, const struct words *words)
{
	struct argument argument;
	bool more = false;

	while (*p && *p != ')' && (p = take_argument(p, &argument))) {
		if (more)
			sink_add(s, ", ", 2);
		sink_text(s, argument.name, argument.name_len, true);
		if (argument.name_len)
			sink_putc(s, '=');
		put_value(s, &argument, words);
		more = true;
		p += *p == ',';
	}
}

void decode_args_put(struct sink *s, const char *prototype, const struct decode_format *format, const struct decode_field *args,
		     const void *rec, uint32_t len)
{
	const struct words words = {
		format, args ? (const char *)rec + args->offset : NULL, decode_args_count(format, args, len),
	};
	const char *list = prototype ? strchr(prototype, '(') : NULL;

	sink_putc(s, '(');
	if (list && list[1] != '?')
		put_named(s, list + 1, &words);
	else
		put_raw(s, &words);
	sink_putc(s, ')');
}

bool decode_args_returns(const char *prototype)
{
	return !prototype || (*prototype != 'v' && *prototype != 'f');
}

void decode_args_put_returned(struct sink *s, const char *prototype, uint64_t value, bool hex)
{
	int64_t code = value >> 32 ? (int64_t)value : (int32_t)value;
	uint32_t size = 0;

	if (prototype && *prototype)
		take_number(prototype + 1, &size);
	if (prototype && *prototype == 'b')
		size = 1;
	if (prototype && strchr("ub", *prototype))
		code = 0;
	else if (size)
		code = (int64_t)trim(value, size, true);
	if (!hex && code < 0 && code >= -ERRNO_MAX)
		put_signed(s, (uint64_t)code);
	else
		put_hex(s, trim(value, size, false));
}

const char *decode_prototype(const struct decode_ctx *ctx, uint64_t func)
{
	return ctx->prototype ? ctx->prototype(ctx->arg, func) : NULL;
}
