/*
 * symbol/inflate: sections that are compressed (SHF_COMPRESSED), with zlib's way of doing it. Within this room, which no library
 * stands behind: libringside-control has none but libc.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

#include <stdint.h>

/* Takes the bytes of a section of a 64-bit file, and gives what they stand for, with a NUL behind it; NULL: they make no sense, are
 * compressed in another way, or too many. */
char *inflate_section(char *bytes, uint64_t *len);

#endif
