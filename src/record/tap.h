/*
 * record/tap: what a recording holds of each buffer and CPU. Private to record.c.
 */
#ifndef RECORD_TAP_H
#define RECORD_TAP_H

#include "capture/build.h"
#include "capture/stream.h"
#include "control/control.h"
#include "record/clock.h"
#include "record/file.h"
#include "record/record.h"

/* One CPU of a buffer, on its way to the file. */
struct lane {
	struct stream *stream;
	struct build gather;	/* a page of the file that is not full yet; no events: none is begun */
	unsigned char *page;	/* that page, then one that is taken */
};

struct tap {
	char *instance;
	uint64_t born;		/* which buffer of that name */
	uint64_t published;	/* the state that the streams were last told */
	uint32_t page_size;
	struct lane *lanes;	/* one a CPU */
};

struct record {
	struct source *source;
	struct control *control;
	struct tap *taps;
	size_t nr_taps;
	uint32_t nr_cpus;
	struct stream **streams;	/* all of them, for sleeping */
	struct record_file *file;
	int64_t all_at;		/* when open pages were last taken, too */
	uint32_t cap, most;	/* pages that are written at once, in general and now */
	int turn;		/* runs of one CPU at once */
	struct record_sums sums;
	struct err failed;	/* after that nothing is taken any more */
};

#endif
