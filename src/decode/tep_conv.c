/*
 * decode/tep_conv: the conversions of printf that libtraceevent knows; see tep.h.
 *
 * Flags are - 0 and #, one star for width or precision, sizes h l L z; letters d i u x X o s p.
 * Any other character in a conversion is printed between > and <, and what is left of the
 * conversion behind it is text.
 */
#include "decode/tep.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The letters behind %p that belong to it: as many as it understands. */
static size_t extension(const char *p, const char *end, char *ext)
{
	size_t n = 0;

#define PEEK(i) (p + (i) < end ? p[i] : '\0')
	switch (PEEK(0)) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		n = 1;
		break;
	case 'M':
	case 'm':
		n = PEEK(1) == 'R' || (PEEK(0) == 'M' && PEEK(1) == 'F') ? 2 : 1;
		break;
	case 'U':
		n = PEEK(1) && strchr("bBlL", PEEK(1)) ? 2 : 1;
		break;
	case 'h':
		n = PEEK(1) && strchr("CDN", PEEK(1)) ? 2 : 1;
		break;
	case 'I':
	case 'i':
		if (PEEK(1) == '4')
			n = PEEK(2) && strchr("hnbl", PEEK(2)) ? 3 : 2;
		else if (PEEK(1) == '6')
			n = PEEK(2) == 'c' ? 3 : 2;
		else if (PEEK(1) == 'S')
			for (n = 2; n < CONV_EXT_MAX && PEEK(n) && strchr("pfsc", PEEK(n)); n++)
				;
		else
			n = 1;
		break;
	}
#undef PEEK
	memcpy(ext, p, n);
	ext[n] = '\0';
	return n;
}

static uint8_t bytes_of(int longs)
{
	return longs == -2 ? 1 : longs == -1 ? 2 : longs == 0 ? 4 : 8;
}

static int letter(const char *p, const char *end, int longs, struct tep_spec *out)
{
	struct conv *c = &out->conv;

	if (longs < -2 || longs > 2)
		return TEP_CONV_BAD;
	c->letter = *p;
	c->kind = *p == 'i' ? 'd' : *p;
	c->size = bytes_of(longs);
	out->len++;
	if (*p == 'p')
		out->len += extension(p + 1, end, c->ext);
	return TEP_CONV;
}

static const char *width(const char *p, const char *end, int16_t *out)
{
	int n = 0;

	for (; p < end && is_digit(*p); p++)
		n = n < CONV_WIDTH_MAX ? n * 10 + (*p - '0') : n;
	*out = (int16_t)(n < CONV_WIDTH_MAX ? n : CONV_WIDTH_MAX);
	return p;
}

int tep_conv_read(const char *start, const char *end, struct tep_spec *out)
{
	const char *p = start + 1;
	int longs = 0;

	*out = (struct tep_spec){ .conv = { .prec = -1, .flags = CONV_C } };
	while (p < end) {
		out->len = (size_t)(p - start);
		switch (*p) {
		case '-':
			out->conv.flags |= CONV_LEFT;
			break;
		case '#':
			out->conv.flags |= CONV_ALT;
			break;
		case '0':
			out->conv.flags |= CONV_ZERO;
			break;
		case '1' ... '9':
			p = width(p, end, &out->conv.width);
			continue;
		case '.':
			out->conv.prec = 0;
			if (p + 1 < end && is_digit(p[1])) {
				p = width(p + 1, end, &out->conv.prec);
				continue;
			}
			break;
		case '*':
			if (out->star)
				return TEP_CONV_BAD;
			out->star = out->conv.prec < 0 ? CONV_STAR_WIDTH : CONV_STAR_PREC;
			break;
		case 'h':
			longs--;
			break;
		case 'l':
			longs++;
			break;
		case 'L':
			longs = 2;
			break;
		case 'z':
		case 'Z':
			longs = 1;
			break;
		case 'd':
		case 'i':
		case 'u':
		case 'x':
		case 'X':
		case 'o':
		case 's':
		case 'p':
			return letter(p, end, longs, out);
		default:
			out->odd = *p;
			out->len++;
			return TEP_CONV_TEXT;
		}
		p++;
	}
	out->len = (size_t)(end - start);
	return TEP_CONV_TEXT;
}
