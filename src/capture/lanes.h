/*
 * capture/lanes: what a stream reads from: for each of the buffer's sets a reader, in it a lane for each ring that may hold
 * events of this CPU. Private to the room.
 */
#ifndef CAPTURE_LANES_H
#define CAPTURE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/cursor.h"
#include "capture/moves.h"
#include "layout/control.h"

#define RUN_MAX 1024u
#define SETS_MAX (STATE_RETIRED_MAX + 1)

struct lane {
	struct cursor cursor;
	bool open;
	uint64_t consumed_at, records_at;
	uint64_t read;		/* events handed out by this stream */
	uint64_t lost;		/* told by this stream */
	uint64_t told;		/* of those, what the shared record knows */
};

struct reader {
	struct state_set set;
	struct lane *lane;	/* [0]: the CPU's ring; [1 + i]: overflow ring i; [1 + ncpu]: what is told late */
	bool told;		/* there may be something in that one */
	uint64_t until;		/* nothing that is later is shown: see stream_reader_limit() */
	uint64_t refused;	/* told by this stream */
	uint64_t taken;		/* how often overflow slots had been taken when all their rings were empty */
	const uint32_t *wakes;	/* mapped for futex only, never looked at */
	/* For runs, of the CPU's own ring. */
	struct {
		const char *at;		/* its pages: an address to give to the kernel, never looked at */
		const char *map;	/* and what they lie in */
		size_t len;
		void *copy;		/* room for a page */
		bool tried;
		bool refused;		/* more was refused than was told */
		uint64_t dropped;	/* as far as we know; up to `doubt` numbers may count drops as events */
		uint64_t doubt;
	} run;
};

struct stream {
	int rings;
	uint64_t device, inode;	/* of that file */
	uint32_t ncpu, cpu, page_size;
	bool consume;
	bool unaccepted;
	uint64_t opened;	/* mono_ns(): what happened before is waited for; 0: it is there */
	uint64_t last_ts;
	/* What the last look for runs found: from where the reader stands to `until` there are closed pages and nothing else. */
	struct {
		struct reader *reader;	/* NULL: nothing */
		uint64_t until, tail;	/* tail words; the latter the last one seen */
		uint64_t page;		/* numbers of the first events are known of so many pages, and of the one behind them */
		uint32_t n;
		uint64_t firsts[RUN_MAX + 1];
	} look;
	/* The run that is being copied. */
	struct {
		uint64_t page;		/* tail word of the first of them */
		uint32_t n, events;	/* n 0: none is */
	} run;
	/* What was yielded last ended a run: last_ts is the time of the last event in this page, once somebody looks. */
	struct {
		struct reader *reader;	/* NULL: last_ts is known */
		uint64_t page;
	} behind;
	/* The page last yielded: what stream_accept_part() needs. A ring's own as it was has no moves. */
	struct {
		const struct reader *reader;
		uint64_t page, nr, read;
		uint32_t events;
		struct moves moves;
		struct move *begin;	/* where the lanes stood before; page UINT64_MAX: not open then */
	} last;
	uint32_t nreaders;
	struct reader reader[SETS_MAX];
};

static inline uint32_t stream_lanes(const struct stream *stream)
{
	return 2 + stream->ncpu;
}

static inline uint32_t stream_lane_told(const struct stream *stream)
{
	return 1 + stream->ncpu;
}

/* Are losses of that lane this stream's to tell? Of overflow rings, which all share, it tells those of one. */
static inline bool stream_lane_tells(const struct stream *stream, uint32_t n)
{
	return !n || n == 1 + stream->cpu || n == stream_lane_told(stream);
}

/* The ring of a set that lane `n` reads. */
static inline uint32_t stream_lane_ring(const struct stream *stream, uint32_t n)
{
	return !n ? stream->cpu : n == stream_lane_told(stream) ? 2 * stream->ncpu + stream->cpu : stream->ncpu + n - 1;
}

/* A ring of the set, by its number there. */
struct ring_source stream_lane_source(const struct stream *stream, const struct state_set *set, uint32_t ring);

int stream_reader_open(const struct stream *stream, struct reader *reader, const struct state_set *set);
void stream_reader_close(const struct stream *stream, struct reader *reader);

/* told.c */
/* Looks how far what is told late is complete: `until` of the reader. Before its lanes are looked at. */
void stream_reader_limit(const struct stream *stream, struct reader *reader);
void stream_limit(struct stream *stream);
/* Waits, if it has to, until what happened before the stream was opened is told. False: there was nothing to wait for. */
bool stream_limit_wait(struct stream *stream);

/* Opens the lane if it is not: a ring without memory has no events, its lane opens when it gets some. 0 or -errno. */
int stream_lane_open(const struct stream *stream, const struct reader *reader, uint32_t n);

/* Shows the lane's next event that belongs to this CPU: 1, 0 when there is none now or it is later than `until`, -errno. */
int stream_lane_peek(const struct stream *stream, const struct reader *reader, uint32_t n);

/* How often overflow slots were taken, all together; 0 is never equal to what was seen before. */
uint64_t stream_slots_taken(const struct stream *stream);
/* The lane but for the CPU's own with the earliest event for this CPU, 0 if there is none. */
int stream_lane_earliest(const struct stream *stream, struct reader *reader, uint32_t *which);

/* No run is under way, and last_ts is what it says. */
void stream_run_settle(struct stream *stream);
void stream_run_unmap(struct reader *reader);

#endif
