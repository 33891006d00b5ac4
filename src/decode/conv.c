/*
 * decode/conv: see conv.h.
 */
#include "decode/conv.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *read_flags(const char *p, const char *end, struct conv *c)
{
	for (; p < end; p++) {
		if (*p == '-')
			c->flags |= CONV_LEFT;
		else if (*p == '+')
			c->flags |= CONV_PLUS;
		else if (*p == ' ')
			c->flags |= CONV_SPACE;
		else if (*p == '#')
			c->flags |= CONV_ALT;
		else if (*p == '0')
			c->flags |= CONV_ZERO;
		else
			break;
	}
	return p;
}

static const char *read_number(const char *p, const char *end, int16_t *out)
{
	int n = 0;

	for (; p < end && is_digit(*p); p++)
		n = n < CONV_WIDTH_MAX ? n * 10 + (*p - '0') : n;
	*out = (int16_t)(n < CONV_WIDTH_MAX ? n : CONV_WIDTH_MAX);
	return p;
}

static const char *read_size(const char *p, const char *end, const struct decode_abi *abi,
			     uint8_t *size)
{
	char first;

	*size = 4;
	if (p == end)
		return p;
	first = *p;
	switch (first) {
	case 'h':
		*size = 2;
		break;
	case 'l':
	case 'z':
	case 't':
	case 'Z':
		*size = abi->long_size;
		break;
	case 'j':
	case 'L':
	case 'q':
		*size = 8;
		break;
	default:
		return p;
	}
	p++;
	if (p < end && *p == first && (first == 'h' || first == 'l')) {
		*size = first == 'h' ? 1 : 8;
		p++;
	}
	return p;
}

static const char *read_letter(const char *p, const char *end, struct conv *c)
{
	size_t n = 0;

	if (p == end)
		return NULL;
	c->letter = *p;
	switch (*p++) {
	case 'd':
	case 'i':
		c->kind = 'd';
		return p;
	case 'u':
	case 'o':
	case 'x':
	case 'X':
	case 's':
	case '%':
		c->kind = c->letter;
		return p;
	case 'c':
		c->kind = 'c';
		c->size = 1;
		return p;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		c->kind = 'f';
		return p;
	case 'p':
		c->kind = 'p';
		for (; p < end && is_alnum(*p); p++)
			if (n < CONV_EXT_MAX)
				c->ext[n++] = *p;
		return p;
	}
	return NULL;
}

size_t conv_parse(const char *p, const char *end, const struct decode_abi *abi, struct conv *out)
{
	const char *start = p;

	*out = (struct conv){ .prec = -1 };
	p = read_flags(p + 1, end, out);
	if (p < end && *p == '*') {
		out->flags |= CONV_STAR_WIDTH;
		p++;
	} else {
		p = read_number(p, end, &out->width);
	}
	if (p < end && *p == '.') {
		p++;
		if (p < end && *p == '*') {
			out->flags |= CONV_STAR_PREC;
			p++;
		} else {
			p = read_number(p, end, &out->prec);
		}
	}
	p = read_size(p, end, abi, &out->size);
	p = read_letter(p, end, out);
	return p ? (size_t)(p - start) : 0;
}

void conv_set_width(struct conv *c, int64_t width)
{
	if (width < 0) {
		c->flags |= CONV_LEFT;
		width = width < -CONV_WIDTH_MAX ? CONV_WIDTH_MAX : -width;
	}
	c->width = (int16_t)(width > CONV_WIDTH_MAX ? CONV_WIDTH_MAX : width);
}

void conv_set_prec(struct conv *c, int64_t prec)
{
	if (prec < 0)
		prec = -1;
	c->prec = (int16_t)(prec > CONV_WIDTH_MAX ? CONV_WIDTH_MAX : prec);
}

/* Writes the digits so that they end at `end`; returns where they begin. */
static char *digits(char *end, uint64_t v, char kind)
{
	const char *set = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned int shift = kind == 'o' ? 3 : 4;

	if (kind == 'd' || kind == 'u') {
		do {
			*--end = (char)('0' + v % 10);
			v /= 10;
		} while (v);
		return end;
	}
	do {
		*--end = set[v & ((1u << shift) - 1)];
		v >>= shift;
	} while (v);
	return end;
}

/* What stands before the digits: sign, 0x, 0. */
static size_t prefix(const struct conv *c, bool negative, bool zero, char *out)
{
	size_t n = 0;

	if (c->kind == 'd') {
		if (negative)
			out[n++] = '-';
		else if (c->flags & (CONV_PLUS | CONV_SPACE))
			out[n++] = c->flags & CONV_PLUS ? '+' : ' ';
		return n;
	}
	if (!(c->flags & CONV_ALT) || c->kind == 'u')
		return 0;
	/* C has no 0x before a zero, and an octal's precision counts its leading 0. */
	if ((c->flags & CONV_C) && c->kind != 'o' && zero)
		return 0;
	if (c->kind != 'o' || !zero)
		out[n++] = '0';
	if (c->kind != 'o')
		out[n++] = c->kind;
	return n;
}

static void number(struct sink *s, const struct conv *c, uint64_t v)
{
	char tmp[24], head[2], *p;
	bool negative = c->kind == 'd' && (int64_t)v < 0;
	int n, head_len, zeros, pad;

	p = digits(tmp + sizeof(tmp), negative ? 0 - v : v, c->kind);
	n = (int)(tmp + sizeof(tmp) - p);
	if (!c->width && c->prec <= n && !c->flags) {
		if (negative)
			sink_putc(s, '-');
		sink_add(s, p, (size_t)n);
		return;
	}
	head_len = (int)prefix(c, negative, !v, head);
	if ((c->flags & CONV_C) && !c->prec && !v)
		n = 0;
	zeros = c->prec > n ? c->prec - n : 0;
	if ((c->flags & CONV_C) && c->kind == 'o' && zeros)
		head_len = 0;
	pad = c->width - head_len - zeros - n;
	if (pad > 0 && (c->flags & (CONV_ZERO | CONV_LEFT)) == CONV_ZERO &&
	    !((c->flags & CONV_C) && c->prec >= 0)) {
		zeros += pad;
		pad = 0;
	}
	if (pad > 0 && !(c->flags & CONV_LEFT))
		sink_fill(s, ' ', (size_t)pad);
	sink_add(s, head, (size_t)head_len);
	if (zeros > 0)
		sink_fill(s, '0', (size_t)zeros);
	sink_add(s, p, (size_t)n);
	if (pad > 0 && (c->flags & CONV_LEFT))
		sink_fill(s, ' ', (size_t)pad);
}

void conv_int(struct sink *s, const struct conv *c, uint64_t v, bool escape)
{
	struct conv text = { .flags = c->flags, .width = c->width, .prec = -1 };
	char byte = (char)v;

	if (c->kind == 'c')
		conv_text(s, &text, &byte, 1, escape);
	else
		number(s, c, decode_abi_extend(v, c->size, c->kind == 'd'));
}

void conv_text(struct sink *s, const struct conv *c, const void *text, size_t len, bool escape)
{
	size_t mark;

	if (c->prec >= 0 && (size_t)c->prec < len)
		len = (size_t)c->prec;
	if (!c->width) {
		sink_text(s, text, len, escape);
		return;
	}
	mark = sink_used(s);
	sink_text(s, text, len, escape);
	sink_adjust(s, mark, c->width, -1, c->flags & CONV_LEFT);
}

void conv_double(struct sink *s, const struct conv *c, double v)
{
	/* No double has more digits than this: 309 before the point, 1074 behind it. */
	int prec = c->prec < 1100 ? c->prec : 1100;
	char text[1536], spec[16], *p = spec;
	size_t mark = sink_used(s);
	int width = c->width < 1400 ? c->width : 0;
	int n;

	*p++ = '%';
	if (c->flags & CONV_LEFT)
		*p++ = '-';
	if (c->flags & CONV_PLUS)
		*p++ = '+';
	if (c->flags & CONV_SPACE)
		*p++ = ' ';
	if (c->flags & CONV_ALT)
		*p++ = '#';
	if (c->flags & CONV_ZERO)
		*p++ = '0';
	memcpy(p, "*.*", 3);
	p[3] = c->letter;
	p[4] = '\0';
	/*
	 * Flags and letter were read from a closed set, so the string is a format for (int, int,
	 * double).
	 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(text, sizeof(text), spec, width, prec, v);
#pragma GCC diagnostic pop
	if (n > 0)
		sink_add(s, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	if (width != c->width)
		sink_adjust(s, mark, c->width, -1, c->flags & CONV_LEFT);
}
