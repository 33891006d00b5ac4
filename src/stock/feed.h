/*
 * stock/feed: frames of a recorder (layout/wire.h) as stock trace-cmd takes a recording: the beginning of a file, and then pages, each
 * once and whole. What becomes known after the beginning was said is left out.
 */
#ifndef STOCK_FEED_H
#define STOCK_FEED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "dat/dat.h"
#include "layout/wire.h"

#define STOCK_CPUS_MAX 512u

/* To the far end: 0 or -errno with words. */
struct stock_out {
	int (*head)(void *ctx, const void *bytes, size_t len, struct err *err);
	int (*pages)(void *ctx, uint32_t cpu, const void *bytes, size_t len, struct err *err);
	void *ctx;
};

struct stock_feed {
	struct stock_out out;
	uint32_t nr_cpus, page_size;
	uint8_t long_size;
	struct buf sections[DAT_NR_IDS], options;
	struct stock_cpu {
		uint8_t *page;		/* of which not all was said yet */
		bool open;
	} *cpus;
	bool begun, ended;
};

/* By OPEN's body. */
int stock_open(struct stock_feed *feed, const uint8_t *body, size_t len, const struct stock_out *out, struct err *err);
void stock_close(struct stock_feed *feed);
/* The beginning, if it was not said yet: before the first page it is said by itself. */
int stock_begin(struct stock_feed *feed, struct err *err);
/* Behind END there are all pages. */
int stock_frame(struct stock_feed *feed, enum wire_kind kind, const uint8_t *body, size_t len, struct err *err);
/* Pages that are not full: nothing will come to them any more. */
int stock_finish(struct stock_feed *feed, struct err *err);

#endif
