/*
 * dat/seven: bytes that every file of version 7 is made of, for the writers of such files. Private to this room.
 */
#ifndef DAT_SEVEN_H
#define DAT_SEVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "dat/dat.h"
#include "dat/pack.h"
#include "dat/store.h"

#define SEVEN_PACKED 1		/* of a section's flags */
#define SEVEN_HEAD 16		/* bytes of a section's head */
#define SEVEN_SIZE_AT 8		/* in it: where its size stands */
#define SEVEN_ROW 20		/* bytes of one CPU in a buffer's option */

/* The last bytes of the strings, which stand first, while a file grows (live.h); zeros when it is closed up. */
#define SEVEN_GROWS "ringside grows\0"
#define SEVEN_GROWS_SIZE 16u

/* What sections are called, in the order of their IDs; "" for those that stock writers do not name. */
const char *seven_name(enum dat_id id);
#define SEVEN_BUFFER "buffer flyrecord "	/* and the buffer's name */

/* The first bytes of a file, up to the word that leads to the first options. `pack` may be NULL. */
void seven_start(struct buf *out, bool big_endian, uint8_t long_size, uint32_t page_size,
		 const struct pack *pack);
/* A section's head; `size` is that of what follows it. */
void seven_head(uint8_t head[SEVEN_HEAD], enum dat_id id, bool packed, uint32_t name, uint64_t size,
		bool big_endian);

void seven_word(struct buf *out, uint32_t size, uint64_t value, bool big_endian);
void seven_option(struct buf *out, enum dat_id id, const void *value, size_t len, bool big_endian);

/* Bytes of the length that stands before a text, in version 6, too; 0: there is none. */
size_t seven_prefix(enum dat_id id);

/* `len` bytes as one packed piece, its two sizes before it: 0 or -errno. */
int seven_piece(struct buf *out, struct pack *pack, const void *bytes, size_t len, bool big_endian);

#endif
