/*
 * base/real: floats and doubles by their bits.
 */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#include <stdint.h>
#include <string.h>

/* What `size` bytes mean: 4 are a float, else a double. */
static inline double real_by_bits(uint64_t bits, uint32_t size)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	if (size == 4) {
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

#endif
