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

static inline char *digits_dec(char *to, uint64_t v)
{
	char tmp[2 * DIGITS_ROOM], *end = tmp + DIGITS_ROOM, *p = digits_before(end, v);

	/* A copy of a fixed size: it takes along bytes behind the digits that nobody looks at. */
	memset(end, 0, DIGITS_ROOM);
	memcpy(to, p, DIGITS_ROOM);
	return to + (end - p);
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
	char tmp[16 + DIGITS_ROOM] = { 0 };
	uint64_t high = digits_hex8((uint32_t)(v >> 32)), low = digits_hex8((uint32_t)v);
	int skip = __builtin_clzll(v | 1) / 4;

	memcpy(tmp, &high, 8);
	memcpy(tmp + 8, &low, 8);
	memcpy(to, tmp + skip, 16);
	return to + 16 - skip;
}

#endif
