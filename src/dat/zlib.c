/*
 * dat/zlib: the one file that calls zlib. Pieces are in zlib's own wrapping, which ends with a sum
 * of what is in them.
 */
#include <errno.h>

#include <zlib.h>

#include "dat/codec.h"

/* The level that other writers of trace files use. */
#define LEVEL 9

/* The library makes its state anew for each piece. */
static char stateless;

static void *state_open(void)
{
	return &stateless;
}

static void state_close(void *ctx)
{
	(void)ctx;
}

static size_t bound(size_t len)
{
	return compressBound(len);
}

static long result(int r, uLongf made)
{
	switch (r) {
	case Z_OK:
		return (long)made;
	case Z_BUF_ERROR:
		return -E2BIG;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static long shrink(void *ctx, const void *from, size_t len, void *to, size_t room)
{
	uLongf made = room;
	int r = compress2(to, &made, from, len, LEVEL);

	(void)ctx;
	return result(r, made);
}

static long expand(void *ctx, const void *from, size_t len, void *to, size_t room)
{
	uLong used = len;
	uLongf made = room;
	int r = uncompress2(to, &made, from, &used);

	(void)ctx;
	/* A stream that ends before its bytes do is not what this writes. */
	if (r == Z_OK && used != len)
		return -EBADMSG;
	return result(r, made);
}

const struct codec codec_zlib = {
	.name = "zlib",
	.version = zlibVersion,
	.open = state_open,
	.close = state_close,
	.bound = bound,
	.shrink = shrink,
	.expand = expand,
};
