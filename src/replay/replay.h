/*
 * replay: the records of trace files in the order of time: of all CPUs, buffers and files at once,
 * from any time on, with memory for a few pages of each CPU.
 *
 *   file --dat/block.h--> lanes --feed.c--> parts --merge.c--> records in order
 *
 * A lane is one CPU of one buffer of one file. A part is a stretch of time: the blocks of all lanes
 * that hold it, where each lane is in them, and what must be known of everything before it (the
 * carry: functions under way, names of tasks learned). Parts are cut off one after the other, and
 * may then be walked by different threads at once: run.c does that. replay_next() walks them one by
 * one for those who want records rather than speed.
 *
 * Files stay the caller's and must be open longer than the replay.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "dat/dat.h"
#include "decode/plugin.h"

struct replay;
struct replay_part;

/* How a file's times become the report's. */
struct replay_times {
	bool raw;		/* as the pages have them, but for `offset` */
	bool no_date;		/* without the date that `record --date` wrote */
	int64_t offset;		/* nanoseconds to add */
	uint64_t hz;		/* not 0: ticks a second */
	bool stock;		/* as trace-cmd: `boot` counts no nanoseconds, ticks stay ticks */
	bool shift;		/* the peer that a guest's times lead to is read along */
};

struct replay_lane {
	struct dat *file;
	const struct dat_buffer *buffer;
	int cpu;
	unsigned int file_nr, buffer_nr;	/* from 0, in the order added, and in the file */
	unsigned int nr;			/* replay_lane() of this is the lane */
};

struct replay_record {
	const struct replay_lane *lane;
	uint64_t ts;		/* converted */
	uint64_t raw_ts;
	const uint8_t *data;
	uint32_t len;
	uint32_t id;		/* of the event */
	uint64_t lost;		/* events lost before it on its CPU: 0, a count, or PAGE_LOST_UNKNOWN */
	uint64_t at;		/* of its page in the file; of a packed one, of the chunk */
	bool first_of_page;
	uint32_t page_offset;	/* of the event's first word behind its page's header */
	/* For replay_peek() and its like. */
	struct replay_part *part;
	void *cursor;
};

int replay_new(struct replay **out);
void replay_free(struct replay *replay);

/* `cpus` (of CPU numbers; NULL: all) says which lanes; `buffer`, if not NULL, the only buffer. */
int replay_add(struct replay *replay, struct dat *file, const struct replay_times *times,
	       bool (*wanted)(void *arg, const struct dat_buffer *buffer, int cpu), void *arg,
	       struct err *err);

/* Whether times so converted are still no nanoseconds, and are shown as they are. */
bool replay_times_are_ticks(const struct dat *file, const struct replay_times *times);

/* The next record is the first one at or after `ts`; and none comes after `to`. */
int replay_seek(struct replay *replay, uint64_t ts, struct err *err);
void replay_until(struct replay *replay, uint64_t to);

/*
 * Of this job `passes` and `pass` are for replay_next(), too: so that names are learned, and
 * functions under way are known, when parts are walked one by one. It must stay where it is.
 */
struct replay_job;
void replay_use(struct replay *replay, const struct replay_job *job);

/* 1 and a record that stands until the next call; 0 at the end; or an error with words. */
int replay_next(struct replay *replay, struct replay_record *out, struct err *err);

/* The i-th lane; NULL behind the last. */
const struct replay_lane *replay_lane(const struct replay *replay, size_t i);
/* The times of a lane's first and last record; false: it has none. */
bool replay_lane_ends(struct replay *replay, size_t i, uint64_t *first, uint64_t *last);

/* What could not be read, of which records could, in words; NULL behind the last. */
const char *replay_warning(const struct replay *replay, size_t i);
/* Lost records, as far as they are counted, and how often none knows how many. */
void replay_lost(const struct replay *replay, uint64_t *count, uint64_t *unknown);

/* The record that follows in the same buffer; false: none. Before the next one is asked for, not in pass(). */
bool replay_peek(const struct replay_record *rec, struct replay_record *out);
/* That one will not come. */
void replay_take(const struct replay_record *rec);

/* Whether its time is before that of a record before it on its CPU, and which. */
bool replay_went_back(const struct replay_record *rec, uint64_t *before);

/* What the trace has told of tasks up to this record. NULL: nothing. */
const char *replay_comm(const struct replay_record *rec, int pid);
/*
 * Whether nothing in the trace has named a task, nor will before *seen, a count of names, has changed:
 * whoever asks for the same ones again and again need not.
 */
bool replay_unnamed(const struct replay_record *rec, int pid, uint32_t *seen);
uint32_t replay_names_seen(const struct replay_record *rec);
/* Keeps a task's name from this record on, unless it has one. Only from `pass`, see below. */
void replay_learn(const struct replay_record *rec, int pid, const char *comm, size_t len);
/* The functions under way on the record's CPU. */
struct decode_carry *replay_carry(const struct replay_record *rec);

/*
 * Run: all parts are walked by `threads` threads, each part by one; what each makes of its part is
 * put out in order.
 */
struct replay_job {
	void *arg;
	/*
	 * Records whose ID is marked here go to pass(), part by part, each CPU's in order, before
	 * their part is walked: there learn() is to be called as record() would.
	 */
	const uint8_t *const *passes;	/* [file][ID], NULL: none. 65536 entries each */
	void (*pass)(void *arg, const struct replay_record *rec);
	/*
	 * The last record of a part in its buffer, and the one that follows it: does record() take the
	 * other along? NULL: never.
	 */
	bool (*joins)(void *arg, const struct replay_record *last, const struct replay_record *next);
	/* What begin() returns belongs to one thread: memory to work in. */
	void *(*begin)(void *arg);
	void (*end)(void *arg, void *own);
	void (*record)(void *arg, void *own, const struct replay_record *rec, struct buf *out);
	/* 0, or negative to stop. */
	int (*put)(void *arg, const char *bytes, size_t len);
};

int replay_run(struct replay *replay, const struct replay_job *job, unsigned int threads,
	       struct err *err);

#endif
