/*
 * dat/cut: a stretch of one CPU's events into a file that is being written (dat/write), by their
 * numbers: the first readable event of a CPU has number 0.
 *
 * Pages that lie in the stretch go as they are. The two at its ends are cut: a page begins with its
 * first event that is left, and what was lost before an event is told before that event, or, where
 * it is not in the stretch, not at all.
 */
#ifndef DAT_CUT_H
#define DAT_CUT_H

#include "dat/dat.h"
#include "dat/write.h"

struct dat_cut;

/* The `i`-th CPU of the buffer. */
int dat_cut_open(struct dat_cut **out, const struct dat *dat, const struct dat_buffer *buffer,
		 uint32_t i, struct err *err);
void dat_cut_close(struct dat_cut *cut);

/* Events from .. to-1. It goes forward only: `from` is not below the `to` of the call before. */
int dat_cut_copy(struct dat_cut *cut, uint64_t from, uint64_t to, struct dat_write *write,
		 struct err *err);

/*
 * Of a page of `size` bytes, of which `len` are there, the events from .. to-1 as a page of their
 * own. The page has to have them all.
 */
int dat_cut_page(uint8_t *out, const uint8_t *page, uint32_t len, uint32_t size,
		 const struct decode_abi *abi, uint32_t from, uint32_t to);

#endif
