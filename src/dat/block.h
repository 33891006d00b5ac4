/*
 * dat/block: the pages of one CPU, a run of them at a time.
 *
 * A block is what is in memory at once: a window of the file, or one packed chunk, unpacked.
 * Blocks are numbered from 0 within their CPU; a lane knows where they begin and fetches them. Pages
 * lie in a block one behind the other. A lane belongs to one thread at a time, a block to whoever
 * holds it; the last holder gives it back to its lane, which must still be open.
 */
#ifndef DAT_BLOCK_H
#define DAT_BLOCK_H

#include "dat/dat.h"

struct dat_lane;

struct dat_block {
	const uint8_t *data;
	uint32_t len;		/* at least one page; whole pages but for the file's last */
	uint64_t number;
	uint64_t at;		/* of the block in the file: of a packed one, where its chunk begins */
	/* Private. */
	struct dat_lane *lane;
	int refs;
};

/* The `i`-th CPU of the buffer. `window` bytes are read at once where the file is not packed. */
int dat_lane_open(struct dat_lane **out, const struct dat *dat, const struct dat_buffer *buffer,
		  uint32_t i, size_t window, struct err *err);
void dat_lane_close(struct dat_lane *lane);

/*
 * 1 and a block to be given back; 0: there is none behind the last; -EILSEQ with words: this one
 * cannot be read, but the next may; else negative with words: the rest of this CPU cannot be read.
 */
int dat_lane_fetch(struct dat_lane *lane, uint64_t number, struct dat_block **out, struct err *err);
void dat_block_hold(struct dat_block *block);
void dat_block_drop(struct dat_block *block);

/*
 * The number of the last block whose first page is not `later`, a question about that page's own
 * time; 0 when all are. Looks at few blocks: what is later stays later.
 */
int dat_lane_seek(struct dat_lane *lane, bool (*later)(void *arg, uint64_t time), void *arg,
		  uint64_t *number, struct err *err);

/* How many blocks there are, as the file tells: a damaged CPU may end earlier. */
uint64_t dat_lane_blocks(const struct dat_lane *lane);

/* How many bytes of pages they hold, unpacked: goes along the chunks without unpacking any. */
int dat_lane_length(struct dat_lane *lane, uint64_t *bytes, struct err *err);

#endif
