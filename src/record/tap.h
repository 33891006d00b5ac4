/*
 * record/tap: what a recording holds of each buffer and CPU. Private to record.c, rings.c, pipes.c and remotes.c.
 *
 * A tap is a buffer, a lane one CPU of it. Three kinds bring pages: rings of a tracing directory (rings.c), files like the
 * kernel's per_cpu/cpuN/trace_pipe_raw (pipes.c), and remotes (remotes.c). What becomes of a page on its way to the file is the same (record.c).
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
	struct stream *stream;	/* of a directory */
	struct hose *hose;	/* of files; NULL: none of this CPU */
	struct reader *remote;	/* of a remote; the same */
	struct build gather;	/* a page of the file that is not full yet; no events: none is begun */
	unsigned char *page;	/* that page, then one that is taken */
};

/* What a buffer of files says of itself, all CPUs together. */
struct tap_counts {
	uint64_t read, lost;
	uint64_t overwritten;	/* of those */
};

struct tap {
	const struct tap_kind *kind;
	struct source *source;
	char *instance;
	uint64_t born;		/* of a directory: which buffer of that name */
	uint64_t published;	/* and the state that the streams were last told */
	struct tap_counts before;	/* of files: when it began */
	struct far *far;	/* of a remote */
	bool gathers;		/* pages are of the kind that build.h makes */
	uint32_t page_size;
	struct lane *lanes;	/* one a CPU */
};

struct tap_kind {
	/*
	 * Closed pages, many at once. 1; 0 when the next one is not of that kind, or, which *idle tells, there is none; -errno.
	 */
	int (*run)(struct record *record, size_t t, uint32_t cpu, bool *idle, struct err *err);
	/* One page into `page`, whatever is to be said of it. 1, 0 when there is none, -errno. */
	int (*next)(struct record *record, size_t t, uint32_t cpu, unsigned char *page, struct stream_page *info, struct err *err);
	/* It is in the file. */
	void (*accept)(struct lane *lane);
};

extern const struct tap_kind tap_rings, tap_pipes, tap_remotes;

struct pipes;
struct hose;

struct record {
	struct control *control;	/* of the taps that are rings; NULL: there is none */
	struct pipes *pipes;		/* of those that are files; NULL: there is none */
	struct tap *taps;
	size_t nr_taps;
	uint32_t nr_cpus;
	size_t nr_lanes;		/* of all buffers, when all are open */
	struct stream **streams;	/* of all rings, for sleeping */
	uint32_t nr_streams;
	struct record_file *file;
	int64_t all_at;		/* when open pages were last taken, too */
	struct record_clock clock;	/* of the first buffer, and so of the file */
	uint32_t cap, most;	/* pages that are written at once, in general and now */
	int turn;		/* runs of one CPU at once */
	bool snapshot;
	bool far;		/* the file is elsewhere, */
	bool behind;		/* and had no room for all that could be taken the last time */
	bool only_remotes;	/* are taken any more */
	struct record_sums sums;
	struct err failed;	/* after that nothing is taken any more */
};

/* record.c: ends the page that is being filled. */
int record_end_gather(struct record *record, size_t t, uint32_t cpu, struct err *err);
/* Pages that a run may have: not far beyond what the file may hold. */
uint32_t record_most_pages(const struct record *record, const struct tap *tap);

/* rings.c: the streams are told what the directory says now. */
int record_rings_open(struct record *record, struct tap *tap, struct err *err);
int record_rings_follow(struct record *record, struct err *err);
void record_rings_back(struct record *record);
void record_rings_clock(struct record *record, const struct tap *tap, struct record_clock *clock);

/* remotes.c */
int record_remotes_open(struct record *record, struct tap *tap, const struct record_buffer *buffers, size_t i, struct err *err);
void record_remotes_close(struct tap *tap);
/* What there is now is the last that is read. */
void record_remotes_last(struct record *record);
/* What is known when all was read. */
void record_remotes_end(struct record *record);
/* All are open, and this is the recording's clock, which outlives them. */
int record_remotes_begin(struct record *record, const struct record_clock *shown, struct err *err);
/* CPUs up to the last one that it has. -ERANGE: too many. */
int record_remotes_cpus(const struct remote *remote, struct err *err);
/* How long nobody need look at them; -1: there is none. */
int record_remotes_wait(const struct record *record);

/* pipes.c */
int record_pipes_open(struct record *record, struct tap *tap, struct err *err);
void record_pipes_close(struct record *record);
/* All are open, and movers begin; they end, before the last is taken. */
void record_pipes_begin(struct record *record);
void record_pipes_end(struct record *record);
/* How many CPUs the source has, or -errno. */
int record_pipes_cpus(struct source *source, struct err *err);
/* Looks at what the buffers count, if that is some time ago, or `now`. */
void record_pipes_count(struct record *record, bool now);
/* Events and losses since it began, as they were last looked at. */
void record_pipes_counted(const struct record *record, uint64_t *events, uint64_t *lost);
/* So many events were taken out of the buffers, and did not come into the file. */
void record_pipes_miss(struct record *record, uint64_t events);
/* Nothing can be written any more: what is still on its way is missed. */
void record_pipes_forsake(struct record *record);
/* A word that changes when there is something to take, which stream_sleep() can wait for; NULL: nobody tells. */
const uint32_t *record_pipes_bell(struct record *record);
/* It was heard, and what there was is taken. */
void record_pipes_hush(struct record *record);

#endif
