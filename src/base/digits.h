/*
 * base/digits: decimal digits, two at a time.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

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

#endif
