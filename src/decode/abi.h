/*
 * decode/abi: how the machine that wrote a trace laid out its words. Records of this machine and of
 * a tracing directory are little-endian with 8-byte longs whatever the word size of the program
 * that wrote them; a file of another machine may differ, so nothing in this room reads a word but
 * through decode_abi_load().
 */
#ifndef DECODE_ABI_H
#define DECODE_ABI_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct decode_abi {
	bool big_endian;
	uint8_t long_size;	/* 4 or 8: a page's commit word, `long`, a pointer */
};

#define DECODE_ABI_NATIVE { .big_endian = __BYTE_ORDER == __BIG_ENDIAN, .long_size = 8 }

/*
 * The word of 1, 2, 4 or 8 bytes at `p`, which need not be aligned; zero-extended, 0 for any other
 * size.
 */
static inline uint64_t decode_abi_load(const void *p, uint32_t size, bool big_endian)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&v16, p, 2);
		return big_endian ? be16toh(v16) : le16toh(v16);
	case 4:
		memcpy(&v32, p, 4);
		return big_endian ? be32toh(v32) : le32toh(v32);
	case 8:
		memcpy(&v64, p, 8);
		return big_endian ? be64toh(v64) : le64toh(v64);
	default:
		return 0;
	}
}

/* `value` cut to `size` bytes and extended to 64 bits again, with its sign if it has one. */
static inline uint64_t decode_abi_extend(uint64_t value, uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)value : (uint8_t)value;
	case 2:
		return is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 4:
		return is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

#endif
