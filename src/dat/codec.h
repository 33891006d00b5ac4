/*
 * dat/codec: what a compressor's file has to bring for dat/pack. Private to this room.
 */
#ifndef DAT_CODEC_H
#define DAT_CODEC_H

#include <stddef.h>

struct codec {
	const char *name;	/* as files spell it */
	const char *(*version)(void);
	/* The state of one user; NULL when memory is out. */
	void *(*open)(void);
	void (*close)(void *state);
	size_t (*bound)(size_t len);
	/* As pack_shrink() and pack_expand(). */
	long (*shrink)(void *state, const void *from, size_t len, void *to, size_t room);
	long (*expand)(void *state, const void *from, size_t len, void *to, size_t room);
};

extern const struct codec codec_zstd, codec_zlib;

#endif
