/*
 * program/load: fields out of records. Private to the room. Whatever the places and the record say, reads stay within it.
 */
#ifndef PROGRAM_LOAD_H
#define PROGRAM_LOAD_H

#include <string.h>

#include "base/real.h"
#include "program/program.h"

/* As in decode/format.h. */
enum { LOAD_INLINE, LOAD_TAIL, LOAD_LOC, LOAD_REL_LOC };

/* A mask of the first n bytes, 1 to 7, of eight that were read from memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOAD_FIRST(n) ((1ull << 8 * (n)) - 1)
#else
#define LOAD_FIRST(n) (~(UINT64_MAX >> 8 * (n)))
#endif

static inline uint64_t load_bytes(const uint8_t *at, uint32_t size, bool swap)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	if (size == 4) {
		memcpy(&v4, at, 4);
		return swap ? __builtin_bswap32(v4) : v4;
	}
	if (size == 8) {
		memcpy(&v8, at, 8);
		return swap ? __builtin_bswap64(v8) : v8;
	}
	if (size == 2) {
		memcpy(&v2, at, 2);
		return swap ? __builtin_bswap16(v2) : v2;
	}
	return *at;
}

/* A number of 1, 2, 4 or 8 bytes with its sign spread over all 64 bits. */
static inline uint64_t load_extend(uint64_t value, uint32_t size)
{
	if (size == 4)
		return (uint64_t)(int64_t)(int32_t)value;
	if (size == 8)
		return value;
	if (size == 2)
		return (uint64_t)(int64_t)(int16_t)value;
	return (uint64_t)(int64_t)(int8_t)value;
}

static inline bool load_number(const struct program_field *f, const struct program_input *in, uint64_t *value)
{
	uint32_t size = f->size, offset = f->offset;

	if (size > in->len || offset > in->len - size || !size)
		return false;
	*value = load_bytes((const uint8_t *)in->rec + offset, size, in->swap);
	if (f->is_signed)
		*value = load_extend(*value, size);
	return true;
}

static inline bool load_real(const struct program_field *f, const struct program_input *in, double *value)
{
	uint64_t bits;

	if (f->size > in->len || f->offset > in->len - f->size || (f->size != 4 && f->size != 8))
		return false;
	bits = load_bytes((const uint8_t *)in->rec + f->offset, f->size, in->swap);
	*value = real_by_bits(bits, f->size);
	return true;
}

/* [offset, offset + len) cut to the record; none when it begins outside. */
static inline struct program_text load_cut(const struct program_input *in, uint32_t offset, uint32_t len)
{
	if (offset > in->len)
		return (struct program_text){ NULL, 0 };
	if (len > in->len - offset)
		len = in->len - offset;
	return (struct program_text){ (const char *)in->rec + offset, len };
}

/* All bytes of a text's, mask's or array's field. */
static inline struct program_text load_text(const struct program_field *f, const struct program_input *in)
{
	uint32_t word, offset = f->offset;

	if (f->place == LOAD_INLINE)
		return load_cut(in, offset, f->size);
	if (f->place == LOAD_TAIL)
		return load_cut(in, offset, UINT32_MAX);
	if (in->len < 4 || offset > in->len - 4)
		return (struct program_text){ NULL, 0 };
	word = (uint32_t)load_bytes((const uint8_t *)in->rec + offset, 4, in->swap);
	offset = f->place == LOAD_REL_LOC ? offset + 4 + (word & 0xffff) : word & 0xffff;
	return load_cut(in, offset, word >> 16);
}

#endif
