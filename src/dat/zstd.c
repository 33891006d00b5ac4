/*
 * dat/zstd: the one file that calls libzstd.
 *
 * Each piece is a frame of its own. Frames that others wrote need not say how much is in them: they
 * are expanded into the caller's room in one go, which needs no window and ends where the room
 * does.
 */
#include <errno.h>
#include <stdlib.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "dat/codec.h"

struct state {
	ZSTD_CCtx *shrink;
	ZSTD_DCtx *expand;
};

static void *state_open(void)
{
	return calloc(1, sizeof(struct state));
}

static void state_close(void *ctx)
{
	struct state *state = ctx;

	ZSTD_freeCCtx(state->shrink);
	ZSTD_freeDCtx(state->expand);
	free(state);
}

/* Its size is in the file before each frame, so the frame need not repeat it. */
static ZSTD_CCtx *writer(void)
{
	ZSTD_CCtx *cctx = ZSTD_createCCtx();

	if (cctx && ZSTD_isError(ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, 0))) {
		ZSTD_freeCCtx(cctx);
		return NULL;
	}
	return cctx;
}

static long result(size_t n)
{
	if (!ZSTD_isError(n))
		return (long)n;
	switch (ZSTD_getErrorCode(n)) {
	case ZSTD_error_dstSize_tooSmall:
		return -E2BIG;
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

static long shrink(void *ctx, const void *from, size_t len, void *to, size_t room)
{
	struct state *state = ctx;

	if (!state->shrink)
		state->shrink = writer();
	if (!state->shrink)
		return -ENOMEM;
	return result(ZSTD_compress2(state->shrink, to, room, from, len));
}

static long expand(void *ctx, const void *from, size_t len, void *to, size_t room)
{
	struct state *state = ctx;

	/* The library takes no bytes at all for an empty list of frames. */
	if (!len)
		return -EBADMSG;
	if (!state->expand)
		state->expand = ZSTD_createDCtx();
	if (!state->expand)
		return -ENOMEM;
	return result(ZSTD_decompressDCtx(state->expand, to, room, from, len));
}

const struct codec codec_zstd = {
	.name = "zstd",
	.version = ZSTD_versionString,
	.open = state_open,
	.close = state_close,
	.bound = ZSTD_compressBound,
	.shrink = shrink,
	.expand = expand,
};
