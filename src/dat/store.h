/*
 * dat/store: the way back of decode_abi_load(): words in the order of the machine that a file is
 * from, which is not always this one's.
 */
#ifndef DAT_STORE_H
#define DAT_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* The low `size` bytes of `value` to `p`, which need not be aligned. */
static inline void dat_store(void *p, uint32_t size, uint64_t value, bool big_endian)
{
	uint8_t *to = p;

	for (uint32_t i = 0; i < size; i++)
		to[big_endian ? size - 1 - i : i] = (uint8_t)(value >> i * 8);
}

#endif
