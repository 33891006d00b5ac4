/*
 * dat/out: the file that a writer fills. It gets its name when it is whole (place.h): a reader never
 * finds half of it, and what was there before stays until then.
 *
 * The first failure is kept with its words, and everything after it does nothing: callers look at
 * out_failed() where it matters. Private to this room.
 */
#ifndef DAT_OUT_H
#define DAT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dat/place.h"

#define OUT_BUFFER 65536

struct out {
	int fd;
	bool big_endian;
	struct place place;
	uint64_t flushed;	/* bytes in the file; `used` more are in buffer */
	size_t used;
	struct err err;
	uint8_t buffer[OUT_BUFFER];
};

/* -EINVAL: what is there is no file that could be replaced. */
int out_open(struct out *out, const char *path, bool big_endian, struct err *err);
/* Gives it its name: 0 or what went wrong on the way. */
int out_commit(struct out *out);
/* Removes what was not committed. */
void out_close(struct out *out);

void out_fail(struct out *out, int code);

static inline int out_failed(const struct out *out)
{
	return out->err.code;
}

static inline uint64_t out_pos(const struct out *out)
{
	return out->flushed + out->used;
}

void out_bytes(struct out *out, const void *bytes, size_t len);
void out_text(struct out *out, const char *text);	/* with its NUL */
void out_word(struct out *out, uint32_t size, uint64_t value);
/* Zeros up to the next multiple of `step`. */
void out_align(struct out *out, uint32_t step);
/* Another value for a word that was written before. */
void out_patch(struct out *out, uint64_t pos, uint32_t size, uint64_t value);

#endif
