/*
 * replay/local: what the files of this room share. Private to it.
 */
#ifndef REPLAY_LOCAL_H
#define REPLAY_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "dat/block.h"
#include "decode/page.h"
#include "replay/replay.h"

/* Bytes of pages that a part takes at most, if no single block is larger. */
#define PART_BYTES (128u << 10)
/* Bytes of pages without an event, one behind the other, that are looked at. */
#define REPLAY_IDLE_MAX (128u << 20)
#define WARNINGS_MAX 32

/* How the times of one CPU are converted. */
struct times {
	bool plain;		/* only `add` */
	uint64_t add;
	double factor;		/* of --ts2secs; 0: none */
	bool tsc;
	uint32_t mult, shift;
	const struct dat_shift_sample *samples;
	uint32_t nr_samples;
	bool interpolate;
};

uint64_t times_slow(const struct times *t, uint64_t ts);

static inline uint64_t times_convert(const struct times *t, uint64_t ts)
{
	return t->plain ? ts + t->add : times_slow(t, ts);
}

/* Where a lane is: an event in a page in a block. */
struct cursor {
	struct lane *lane;
	struct dat_block **blocks;	/* the part's, or the feed's */
	uint32_t nr_blocks, block;
	uint32_t page;			/* offset of the page in the block */
	uint64_t at;			/* of the page in the file; of a packed one, of the chunk */
	struct page_walk walk;
	struct page_event event;
	uint64_t ts;			/* of event, converted */
	uint64_t key;			/* what it is ordered by: ts, but never less than before */
	uint64_t lost;
	uint64_t seq;			/* events of this lane so far */
	bool has;			/* there is an event */
	bool first_of_page;
	bool skip;			/* the next one was taken */
	bool taken;			/* this one was, by another lane's */
	bool exact;			/* the feed's: problems are told */
};

/* Where there was no event: whether there is one in the blocks that came since. */
void cursor_resume(struct cursor *c);
/* Where there is one: the next. */
void cursor_next(struct cursor *c);
/* Past those that follow, up to the key `end`, whose ID is not marked. */
void cursor_skim(struct cursor *c, uint64_t end, const uint8_t *marks);

/* An event that a cursor was at, while its block is in memory. */
struct cursor_mark {
	uint64_t key;
	bool has;
	bool carries;			/* it went to pass(), and: */
	struct page_event event;
	uint64_t ts;
};

struct lane {
	struct replay_lane pub;
	struct replay *replay;
	struct dat_lane *dat;
	struct file *file;
	struct times times;
	uint32_t order;

	/* The feed's. */
	struct cursor at;
	struct dat_block **blocks;	/* fetched; at.blocks is this */
	uint32_t nr_blocks, cap_blocks;
	size_t bytes;			/* in them */
	uint64_t next_block;
	uint64_t newest;		/* key of the first event that the newest block may have */
	bool ended;
	struct cursor_mark last;	/* the last event of the parts so far */
	struct decode_carry *carry;
	uint64_t damaged;		/* pages */
};

/* Names learned on the way: see names.c. */
struct learned {
	struct learned *next;		/* of its bucket, or of those pending */
	struct learned *beside;		/* of its bucket, while pending */
	int pid;
	uint32_t order;
	uint64_t key, seq;
	char comm[32];
};
#define LEARNED_BUCKETS 4096
#define LEARNED_MAX (1u << 18)

struct file {
	struct dat *dat;
	unsigned int nr;
	bool mixed;			/* dat_info()->mixed */
	_Atomic(struct learned *) learned[LEARNED_BUCKETS];
	_Atomic(uint32_t) nr_settled;	/* names that others can see */
	struct learned *pending;	/* of the part that is being cut */
	struct learned *beside[LEARNED_BUCKETS];	/* the same */
	uint32_t nr_learned;
	uint64_t salt;			/* odd */
};

struct replay {
	struct lane **lanes;
	size_t nr_lanes;
	struct file **files;
	size_t nr_files;
	uint64_t from, to;
	bool has_from;
	char *warnings[WARNINGS_MAX];
	size_t nr_warnings;
	uint64_t lost, lost_unknown;
	uint64_t idle;			/* bytes of pages since the last event */
	bool begun;
	uint64_t cut_to;		/* last key of the last part */
	size_t part_bytes;		/* PART_BYTES, unless a test wants other parts */
	struct replay_part *part;	/* of replay_next() */
	const struct replay_job *job;	/* the same; NULL: nothing is passed */
};

struct part_lane {
	struct cursor at;
	struct decode_carry *carry;
};

struct replay_part {
	struct replay *replay;
	uint64_t end;			/* keys up to this one */
	uint64_t number;
	struct part_lane *lanes;
	size_t nr_lanes;
	uint32_t *heap;			/* lanes with an event of this part, the earliest first */
	size_t nr_heap;
	struct dat_block **blocks;	/* held by the part */
	size_t nr_blocks, cap_blocks;
	bool moved;			/* the first lane's event was handed out */
	struct cursor *peeked;		/* the lane that replay_peek() found, if it is another one */
};

void replay_warn(struct replay *replay, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* feed.c: 1 and a part; 0: there is nothing more; or an error. `part` may be an old one. */
int feed_begin(struct replay *replay, struct err *err);
int feed_cut(struct replay *replay, const struct replay_job *job, struct replay_part *part,
	     struct err *err);

/* merge.c */
struct replay_part *part_new(struct replay *replay);
void part_drop_blocks(struct replay_part *part);
void part_free(struct replay_part *part);
void part_begin(struct replay_part *part);
bool part_next(struct replay_part *part, struct replay_record *out);
void record_fill(struct replay_record *out, struct replay_part *part, struct cursor *c);

/* names.c */
void names_settle(struct file *file);
void names_free(struct file *file);

#endif
