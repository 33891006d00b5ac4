/*
 * base/crc32c: CRC-32C (Castagnoli), to tell a whole state from one that was written over while it was read.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Begin with crc 0; feed in as many pieces as there are. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
