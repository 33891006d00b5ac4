/*
 * record: events of a tracing directory, of the kernel, of remotes, or of all of them, into a trace file, while they are written.
 *
 * In: buffers of a directory, or of a tree of files like the kernel's, switched on by somebody else. Out: a file that holds, at
 * each moment, what was taken so far (dat/live), all that is needed to read it (record/meta), and at each place where events were
 * lost how many.
 *
 * Closed pages go from the ring to the file in one copy at most. What trickles in is gathered: a page of the file is filled up
 * before the next is begun, and is in the file all the while, unless that is packed.
 *
 * One thread. It sleeps while nothing comes: of a directory however long, of files for a quarter of a second.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/spool.h"
#include "remote/remote.h"
#include "source/source.h"

struct record;

struct record_buffer {
	struct source *source;	/* a tracing directory, or files; of each kind one at most */
	const char *instance;	/* there; "" is the top one */
	const char *name;	/* in the file; "" is the top one, and comes first */
	struct remote *remote;	/* in place of these a remote, with a buffer that can be loaded; never the first */
};

struct record_how {
	const struct record_buffer *buffers;
	size_t nr_buffers;
	const char *path;
	int version;			/* 6: made when the recording ends */
	const char *compression;	/* NULL: none */
	uint64_t keep;			/* bytes of the newest events of each CPU; 0: all */
	bool snapshot;			/* of files: what was set aside, not what is being written */
	bool all_formats;		/* also of events that nobody brought */
	bool date;			/* times as the calendar has them */
	int64_t ts_offset;		/* nanoseconds added to all times */
	uint64_t rotate_bytes;		/* begin a new file when one is so large; 0: never */
	uint64_t rotate_ms;		/* or so old */
	unsigned int rotate_keep;	/* of the old ones, so many; 0: all */
	uint64_t traceid;		/* its number; 0: any */
	/* Not into a file here, but to the courier of this spool, which outlives the recording. True of `stops`: no more is waited for. */
	struct spool *spool;
	bool (*stops)(void *ctx);
	void *stops_ctx;
};

/* The strings need not outlive the call. From now on there is a file. */
int record_open(struct record **out, const struct record_how *how, struct err *err);

/* Takes what fills pages; `all`: whatever is there. 1 when there was more than a turn's worth, 0, -errno. */
int record_take(struct record *record, bool all, struct err *err);

/*
 * Sleeps until there is reason to take something: 1 when pages have filled up, 0 when `timeout_ms` are over (-1: never),
 * or what trickled in has waited long enough, which *all tells; -EINTR when *also is not `seen` any more.
 */
int record_sleep(struct record *record, int timeout_ms, const uint32_t *also, uint32_t seen, bool *all);

/* PROCMAPS of a process, as of now, for the end of the file. */
int record_add_maps(struct record *record, int pid, struct err *err);

/* The i-th thread beside the caller's that it has begun, for those who are not to see it; 0: there are not so many. */
pid_t record_helper(const struct record *record, size_t i);

/* What is to be told of the i-th remote's clock, and how far off it was at worst (UINT64_MAX: nobody knows); false: there are not so many. */
bool record_remote_clock(const struct record *record, size_t i, struct buf *out, uint64_t *error);

/* What was taken so far. */
struct record_sums {
	uint64_t events, lost;
	uint64_t bytes;		/* of data, in all files */
	bool lost_more;		/* and some that nobody could count */
	uint64_t overwritten, refused;	/* of files: by then, before anything was taken: had to make room, or found none */
	unsigned int files;	/* that are finished */
};
void record_sums(struct record *record, struct record_sums *sums);
/* The same without a look at what buffers count themselves. */
void record_sums_so_far(const struct record *record, struct record_sums *sums);

/* Takes the rest of buffers that are off by now, tells the rest, and closes the file up. What was taken before a failure is in the
 * file all the same. */
int record_finish(struct record *record, struct err *err);

/* Without the line before: leaves the file as it is. */
void record_close(struct record *record);

#endif
