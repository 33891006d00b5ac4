/*
 * base/digits: numbers as text, quickly: decimal digits two at a time, hexadecimal ones all at once.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <byteswap.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

/* "00" to "99". */
extern const char digits_pairs[200];

/* Writes `v` so that it ends at `end`, and returns where it begins: at most 20 bytes before. */
static inline char *digits_before(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, digits_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, digits_pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

/* Both write up to DIGITS_ROOM bytes at `to`, whatever the number, and return where it ends. */
#define DIGITS_ROOM 24

extern const uint64_t digits_tens[20];	/* 1 with so many zeros */

/* Digits of a number: a logarithm to the base 2 is at hand, and 1233/4096 makes it one to the base 10. */
static inline unsigned int digits_count(uint64_t v)
{
	unsigned int guess = (64 - (unsigned int)__builtin_clzll(v | 1)) * 1233 >> 12;

	return guess + (v >= digits_tens[guess] || !guess);
}

/* Written where they belong: to read them again at once, in other pieces, would take longer than this. */
static inline char *digits_dec(char *to, uint64_t v)
{
	char *end = to + digits_count(v);

	digits_before(end, v);
	return end;
}

/* Eight hexadecimal digits in lower case, the first one in the lowest byte. */
static inline uint64_t digits_hex8(uint32_t v)
{
	uint64_t x = v, above;

	/* A nibble a byte, */
	x = (x << 16 | x) & 0x0000ffff0000ffffu;
	x = (x << 8 | x) & 0x00ff00ff00ff00ffu;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0fu;
	/* and 39 more, from '9' + 1 to 'a', for those above 9. */
	above = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
	x += 0x3030303030303030u + above * 39;
	return htole64(bswap_64(x));
}

static inline char *digits_hex(char *to, uint64_t v)
{
	uint64_t high = digits_hex8((uint32_t)(v >> 32)), low = digits_hex8((uint32_t)v);
	unsigned int skip = (unsigned int)__builtin_clzll(v | 1) / 4;

	if (skip >= 8) {
		low = htole64(le64toh(low) >> (skip - 8) * 8);
	} else if (skip) {
		high = htole64(le64toh(high) >> skip * 8 | le64toh(low) << (8 - skip) * 8);
		low = htole64(le64toh(low) >> skip * 8);
	}
	if (skip < 8) {
		memcpy(to, &high, 8);
		memcpy(to + 8, &low, 8);
	} else {
		memcpy(to, &low, 8);
	}
	return to + 16 - skip;
}

#endif
