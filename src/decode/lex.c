/*
 * decode/lex: see lex.h.
 */
#include "decode/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One character after a backslash at *p; moves on behind it. */
static char escaped(const char **p, const char *end)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\033\f\n\r\t\v";
	const char *hit;
	char c = *(*p)++;
	int v = 0, n;

	if (c >= '0' && c <= '7') {
		v = c - '0';
		for (n = 1; n < 3 && *p < end && **p >= '0' && **p <= '7'; n++)
			v = v * 8 + (*(*p)++ - '0');
		return (char)v;
	}
	if (c == 'x') {
		for (n = 0; n < 2 && *p < end && hex_value(**p) >= 0; n++)
			v = v * 16 + hex_value(*(*p)++);
		return (char)v;
	}
	hit = memchr(from, c, sizeof(from) - 1);
	return hit ? to[hit - from] : c;
}

size_t decode_lex_string(const struct lex *l, char *out)
{
	const char *p = l->at + 1, *end = l->at + l->len - 1;
	size_t n = 0;

	while (p < end) {
		if (*p == '\\' && p + 1 < end) {
			p++;
			out[n++] = escaped(&p, end);
		} else {
			out[n++] = *p++;
		}
	}
	return n;
}

/* Moves behind the closing quote; false without one. */
static bool quoted(struct lex *l, char quote)
{
	for (l->p++; l->p < l->end; l->p++) {
		if (*l->p == quote) {
			l->p++;
			return true;
		}
		if (*l->p == '\\' && l->p + 1 < l->end)
			l->p++;
	}
	return false;
}

static int character(struct lex *l)
{
	char c[8];
	size_t n;

	if (!quoted(l, '\''))
		return LEX_BAD;
	l->len = (size_t)(l->p - l->at);
	if (l->len < 3 || l->len > sizeof(c))
		return LEX_BAD;
	n = decode_lex_string(l, c);
	if (n != 1)
		return LEX_BAD;
	l->num = (uint64_t)c[0];
	l->type = (struct decode_type){ .kind = DECODE_INT, .size = 4, .is_signed = true };
	return LEX_NUM;
}

/*
 * The type of a constant, by C's rules: the first of int, (unsigned,) long, unsigned long that
 * holds it.
 */
static void number_type(struct lex *l, bool decimal, bool is_unsigned, unsigned int longs)
{
	uint8_t size = longs > 1 ? 8 : longs ? l->abi->long_size : 4;

	for (;; size = 8) {
		uint64_t max = size == 4 ? UINT32_MAX : UINT64_MAX;

		if (!is_unsigned && l->num <= max / 2)
			break;
		if (l->num <= max && (is_unsigned || !decimal || size == 8)) {
			is_unsigned = true;
			break;
		}
	}
	l->type = (struct decode_type){ .kind = DECODE_INT, .size = size,
					.is_signed = !is_unsigned };
}

/* With a point or an exponent. The text is bounded by a copy because it has no NUL behind it. */
static int real(struct lex *l)
{
	char copy[64], *stop;
	size_t n = 0;

	while (n < sizeof(copy) - 1 && l->at + n < l->end) {
		copy[n] = l->at[n];
		n++;
	}
	copy[n] = '\0';
	l->dbl = strtod(copy, &stop);
	l->p = l->at + (stop - copy);
	if (l->p < l->end && (*l->p == 'f' || *l->p == 'F' || *l->p == 'l' || *l->p == 'L'))
		l->p++;
	l->type = (struct decode_type){ .kind = DECODE_FLOAT, .size = 8, .is_signed = true };
	return l->p > l->at ? LEX_DOUBLE : LEX_BAD;
}

static int number(struct lex *l)
{
	int base = 10, digit;
	bool is_unsigned = false;
	unsigned int longs = 0;

	if (*l->p == '0' && l->p + 1 < l->end && (l->p[1] == 'x' || l->p[1] == 'X')) {
		base = 16;
		l->p += 2;
	} else if (*l->p == '0') {
		base = 8;
	}
	l->num = 0;
	for (; l->p < l->end; l->p++) {
		digit = hex_value(*l->p);
		if (digit < 0 || digit >= (base == 16 ? 16 : 10))
			break;
		l->num = l->num * (uint64_t)base + (uint64_t)digit;
	}
	if (base != 16 && l->p < l->end && (*l->p == '.' || *l->p == 'e' || *l->p == 'E'))
		return real(l);
	for (; l->p < l->end; l->p++) {
		if (*l->p == 'u' || *l->p == 'U')
			is_unsigned = true;
		else if (*l->p == 'l' || *l->p == 'L')
			longs++;
		else
			break;
	}
	number_type(l, base == 10, is_unsigned, longs);
	return LEX_NUM;
}

static int operator(struct lex *l)
{
	static const char pairs[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
	size_t left = (size_t)(l->end - l->p);

	for (size_t i = 0; left > 1 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!memcmp(l->p, pairs[i], 2)) {
			l->p += 2;
			return LEX_TWO(pairs[i][0], pairs[i][1]);
		}
	}
	if (!strchr("+-*/%<>&|^~!?:()[]{},", *l->p))
		return LEX_BAD;
	return *l->p++;
}

void decode_lex_open(struct lex *l, const char *text, size_t len, const struct decode_abi *abi)
{
	*l = (struct lex){ .text = text, .p = text, .end = text + len, .abi = abi };
	decode_lex_next(l);
}

void decode_lex_next(struct lex *l)
{
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r'))
		l->p++;
	l->at = l->p;
	if (l->p == l->end) {
		l->word = LEX_END;
	} else if (is_name(*l->p)) {
		while (l->p < l->end && (is_name(*l->p) || is_digit(*l->p)))
			l->p++;
		l->word = LEX_NAME;
	} else if (is_digit(*l->p)) {
		l->word = number(l);
	} else if (*l->p == '"') {
		l->word = quoted(l, '"') ? LEX_STRING : LEX_BAD;
	} else if (*l->p == '\'') {
		l->word = character(l);
	} else {
		l->word = operator(l);
	}
	l->len = (size_t)(l->p - l->at);
}
