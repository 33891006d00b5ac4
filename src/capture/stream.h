/*
 * capture/stream: one CPU's events of one buffer as pages in order: what a reader of trace_pipe_raw sees.
 *
 * A stream walks the buffer's sets (retired ones first, then the live one), copies pages out, and merges into them the
 * records that writers without rseq left for this CPU in overflow rings. Pages it yields are the kernel's bytes: where
 * events were lost the commit word carries the missed flag and the count follows the data.
 *
 * A consuming stream holds the CPU's reader lock while open and moves the shared read position past what it yielded, at the
 * latest when it finds nothing more, or by stream_accept(); a reader that dies leaves the last few pages to be read once more. A
 * peeking one leaves no trace.
 * It never trusts what it reads: nothing in the files makes it crash, loop or read outside its own copy.
 */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "layout/control.h"

struct stream;

struct stream_page {
	uint32_t bytes;		/* of page data, without header */
	uint32_t events;
	uint64_t lost;		/* events lost before this page; also told in the page's commit word */
	bool lost_more;		/* and perhaps others, in overflow rings that this CPU shares: nobody knows whose they were */
	uint64_t first_ts;
	uint64_t last_ts;
};

/* `rings` is a descriptor of the rings file, kept by the caller. -EBUSY: another reader consumes this CPU. */
int stream_open(struct stream **out, int rings, const struct state_buffer *buffer, uint32_t ncpu, uint32_t cpu,
		bool consume, struct err *err);
void stream_close(struct stream *stream);

/* Size of the pages that stream_next() yields: the largest page size of the buffer's sets. */
uint32_t stream_page_size(const struct stream *stream);

/* Copies out the next page with events into `page` (stream_page_size() bytes, the rest zeroed). 1, 0 when there is
 * nothing more now, -errno. Call again after more was written. */
int stream_next(struct stream *stream, void *page, struct stream_page *info);

/* Some events are told late, and what came after them is held back meanwhile. From now on the stream does not say that there is
 * nothing more before it has handed out all that has happened by now. A stream that was just opened is like that. */
void stream_settle(struct stream *stream);

/* Makes what the last stream_next() yielded count as read. */
void stream_accept(struct stream *stream);

/*
 * The same for the first `events` of it only, which end `bytes` behind the page's header, the last one at `ts`: whoever comes next
 * goes on from there. The last thing that a stream does.
 */
void stream_accept_part(struct stream *stream, uint32_t events, uint32_t bytes, uint64_t ts);

/*
 * For those who copy many pages: a run of whole ones, where they lie in the rings file's mapping. To be handed to system calls
 * only: the file may be cut off at any time, which a copy by the kernel survives.
 */
struct stream_run {
	const void *pages;
	uint32_t n;		/* pages, of stream_page_size() bytes each; behind their data lies what is left of older events */
	uint32_t events;
	bool idle;		/* with 0: there is no closed page. An open one can be had of stream_next(), or be left to grow */
};

/*
 * The next closed pages of the CPU's own ring, at most `max`, when they can be handed out as they are: nothing was lost before or
 * among them, nothing has to be slipped in, nothing of them was read. 1; 0 when the next page is not of that kind, or
 * there is none: stream_next() knows; -errno. The stream stays where it is until stream_run_end().
 * What was yielded before counts as read. Where writers are about to come round runs are short.
 */
int stream_run(struct stream *stream, uint32_t max, struct stream_run *run);
/*
 * After the copy. True: it is good, and the stream is behind it, for all to see. False: writers came round meanwhile, the copy is
 * nothing, and stream_next() knows what was lost.
 */
bool stream_run_end(struct stream *stream);

/* Is there something to read in so many of a hundred pages? 0: anything at all. */
bool stream_is_filled(struct stream *stream, uint32_t percent);

/* Sleeps until there may be something to read or `timeout_ms` are over (-1: no limit); returns 1 when worth a look,
 * 0 on timeout, -EINTR. Writers wake a consumer; it looks by itself each 100 ms, and who peeks does only that. */
int stream_wait(struct stream *stream, int timeout_ms);

/* The same for several streams of one buffer at once: there is one place where all of them sleep. */
int stream_wait_any(struct stream *const *streams, uint32_t n, int timeout_ms);

/*
 * The same for a consumer that works in batches, of streams of any buffers: until one of them has at least `percent` of a
 * hundred pages to read (0: anything at all), or `*also` is no longer `seen` and was woken (for signal handlers; may be
 * NULL; FUTEX_WAKE without FUTEX_PRIVATE_FLAG), or the buffer got a new set, or the time is over. 1, 0 on timeout, -EINTR.
 * Writers that fill a ring wake; nobody looks in between, but for once a second in case that a writer could not.
 */
struct stream_sleep {
	uint32_t percent;
	int timeout_ms;		/* -1: no limit */
	const uint32_t *also;
	uint32_t seen;
	const uint32_t *bell;	/* a second one of that kind, for who waits for something else as well */
	uint32_t bell_seen;
};
int stream_sleep(struct stream *const *streams, uint32_t n, const struct stream_sleep *how);

/* Wakes all who sleep for events of that set: there is a new one, and they are to be told. */
void stream_wake(int rings, uint64_t set);

/* The buffer may have got new sets: tell the stream the new description. Its position carries on. */
int stream_update(struct stream *stream, const struct state_buffer *buffer, struct err *err);

/*
 * Gives the CPU's live ring its memory, which otherwise its first writer does, and waits for. For consumers; of a kernel that
 * cannot, -EINVAL, and nothing is different.
 */
int stream_back(struct stream *stream);

/* Numbers for per_cpu/cpuN/stats, summed over the buffer's sets and this CPU's share of the overflow rings. */
struct stream_stats {
	uint64_t entries;	/* unread */
	uint64_t written;	/* ever committed */
	uint64_t overrun;	/* overwritten before they were read */
	uint64_t dropped;	/* refused in discard mode, or for want of any ring */
	uint64_t read;
	uint64_t bytes;		/* unread */
	uint64_t oldest_ts;	/* of the oldest unread event, 0 if none */
};
int stream_stats(struct stream *stream, struct stream_stats *stats);

#endif
