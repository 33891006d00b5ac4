/*
 * cmd/dump_options: options of trace files as `trace-cmd dump --options` prints them, and the bytes
 * that these, and other parts of a file, are made of.
 */
#ifndef CMD_DUMP_OPTIONS_H
#define CMD_DUMP_OPTIONS_H

#include "base/buf.h"
#include "dat/dat.h"

/* Bytes still to be read: behind their end all is zero. */
struct dump_bytes {
	const uint8_t *p;
	size_t len;
	bool big_endian;
};
uint64_t dump_word(struct dump_bytes *bytes, uint32_t size);
/* Up to a NUL, which the last byte must be followed by if it is none. */
const char *dump_string(struct dump_bytes *bytes);
/* `len` bytes, or as many as there are: then *len is less. */
const uint8_t *dump_take(struct dump_bytes *bytes, uint64_t *len);

void dump_option(const struct dat *dat, const struct dat_option *option, struct buf *out);
/* The text of a clock's option, which dump --clock prints alone. */
void dump_clock(const struct dat_option *option, struct buf *out);
/* The last of version 7's options in a section. */
void dump_done(uint64_t next, struct buf *out);

#endif
