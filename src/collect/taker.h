/*
 * collect/taker: a recording that comes in frames, into a trace file. Runs in a jail.
 *
 * In: frames of the sender, from OPEN to END, in any state that a cut left them in: said twice does no harm. Out: a file that is whole
 * at each moment (dat/live), and how far that goes. What the sender claims is checked against what the file has, never taken for granted.
 *
 * The taker opens nothing: files come from whoever watches it (taker_ask).
 */
#ifndef COLLECT_TAKER_H
#define COLLECT_TAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "collect/journal.h"
#include "dat/live.h"
#include "layout/wire.h"
#include "net/channel.h"

#define TAKER_CPUS_MAX 4096u
#define TAKER_BUFFERS_MAX 256u
#define TAKER_LANES_MAX 16384u
#define TAKER_META_MAX ((size_t)64 << 20)	/* of a section, or all options */

/* One CPU of one buffer. */
struct taker_lane {
	uint64_t before;	/* pages in files of this recording that are done */
	uint64_t pages;		/* in this one */
	bool open;		/* the last one of these may change */
	bool unsure;		/* of a file that was left behind nobody knows that */
	uint32_t opened;	/* its page, + 1, is in memory: 0: not */
	uint8_t *page;
};

struct taker {
	struct dat_live *live, *next;
	struct wire_open open;		/* in the byte order of this machine */
	char **names, **clocks;		/* of buffers */
	uint32_t *page_sizes;
	struct taker_lane *lanes;
	size_t nr_lanes;
	uint64_t at;			/* up to here all is in the file, or in the journal */
	struct journal journal;
	uint64_t pages;			/* all lanes' */
	struct buf section, options;	/* pieces that have come */
	struct buf kept[DAT_NR_IDS];	/* sections as they were last told, for the next file; where there is to be one */
	bool keeps;
	uint32_t section_id;		/* 0: none is under way */
	bool in_options;
	struct wire_sums sums;
	bool summed;	/* there were any: what is recorded is switched on */
	bool ended;
	struct buf shift;		/* TIME_SHIFT; empty: there is none */
};

/* Checks OPEN: 0, or -errno with words for the sender. */
int taker_open(struct taker *taker, const uint8_t *body, size_t len, struct err *err);
void taker_close(struct taker *taker);

/* A new file, empty, which is taken; the pages that came before stay where they are. */
int taker_begin(struct taker *taker, int fd, const char *name, struct err *err);
/*
 * The next file, in three steps; between them whoever finds the files can go on from them. One that is empty, too, gets what belongs
 * beside the pages, and pages that are not full yet; it takes the old one's place; the old one is closed up.
 */
int taker_prepare(struct taker *taker, int fd, const char *name, struct err *err);
int taker_turn(struct taker *taker, struct err *err);
/* Pages of a lane in all files before the next one. */
uint64_t taker_before(const struct taker *taker, size_t lane);
/* One that was left behind, of this recording; and what was taken for it and does not show in it. One that shows nothing is begun again. */
int taker_resume(struct taker *taker, int fd, const char *name, struct err *err);

/* A frame between OPEN and END. -EPROTO: it makes no sense; -ENOSPC and others: the file. */
int taker_frame(struct taker *taker, const struct frame *frame, struct err *err);

/* The file says from now on how its times become those of somebody else: TIME_SHIFT, which is copied. */
int taker_shift(struct taker *taker, const struct buf *shift);

/* Bytes of data in this file. */
uint64_t taker_bytes(const struct taker *taker);
/* Closes it up. */
int taker_finish(struct taker *taker, struct err *err);

#endif
