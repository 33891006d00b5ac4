/*
 * base/sevens: numbers of seven bits a byte, the lowest first, as DWARF has them (LEB128), from wherever their bytes come.
 */
#ifndef BASE_SEVENS_H
#define BASE_SEVENS_H

#include <stdbool.h>
#include <stdint.h>

struct sevens {
	uint64_t value;
	uint32_t shift;
	bool negative;		/* if it has a sign */
};

/* True: another byte belongs to it. */
static inline bool sevens_add(struct sevens *sevens, uint64_t byte)
{
	if (sevens->shift < 64)
		sevens->value |= (byte & 0x7f) << sevens->shift;
	sevens->shift += 7;
	sevens->negative = byte & 0x40;
	return byte & 0x80;
}

static inline int64_t sevens_signed(const struct sevens *sevens)
{
	return (int64_t)(sevens->value | (sevens->negative && sevens->shift < 64 ? ~0ull << sevens->shift : 0));
}

#endif
