/*
 * control/rows: the events of a buffer, all CPUs' in order of time.
 *
 * Each CPU's stream yields pages (capture/stream.h); their events are merged by time. Reading may
 * peek, which changes nothing, or consume, which takes each event away from all later readers.
 * When there is nothing more at the moment, control_rows_next() says so; a consumer may ask again,
 * while those who peek get what was there when they came, and no more.
 */
#ifndef CONTROL_ROWS_H
#define CONTROL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/stream.h"
#include "control/control.h"
#include "report/trace.h"

struct control_rows;

struct control_row {
	struct report_row row;	/* peeked: stays until the next one is asked for */
	uint64_t lost;		/* events that were lost on its CPU before it, or PAGE_LOST_UNKNOWN; see first */
	bool first;		/* of its CPU: what was lost before was overwritten before we came */
};

/*
 * `cpu` -1: all. A consumer gives `settle`, which is called before a page that was handed out counts
 * as read: whatever is still on its way out belongs out now.
 */
struct control_rows_how {
	uint32_t buffer;
	int cpu;
	bool consume;
	bool snapshot;		/* what was set aside, instead of what is being written */
	int (*settle)(void *ctx);
	void *ctx;
};

/* Uses the state last read. -EBUSY: somebody else consumes one of the CPUs. */
int control_rows_open(struct control_rows **out, struct control *control,
		      const struct control_rows_how *how, struct err *err);
/* A consumer without `settle` that closes in the middle of a page leaves the rest of it to the next. */
void control_rows_close(struct control_rows *rows);

/* 1, 0 when there is nothing more now, -errno. */
int control_rows_next(struct control_rows *rows, struct control_row *row, struct err *err);

/*
 * A look at the event that comes next on one CPU, whatever comes on the others: 1, 0 when there is none now, -errno. The row
 * that was handed out last is gone by that, and its page counts as read if it was the last of it. Then control_rows_take()
 * takes the event away, out of its turn; the row stays until the next one is asked for.
 */
int control_rows_ahead(struct control_rows *rows, int cpu, struct control_row *row, struct err *err);
void control_rows_take(struct control_rows *rows, int cpu);

/* Begin no further page: what is in hand is still to be asked for, so that a consumer can stop without half a page read. */
void control_rows_end(struct control_rows *rows);

/* Waits until there may be more, at most `timeout_ms`; 1, 0 on timeout, -EINTR. Follows the state. */
int control_rows_wait(struct control_rows *rows, int timeout_ms, struct err *err);

/*
 * For a consumer of several buffers, when it has asked until there was nothing more: stream_sleep() for all of them. Follows
 * the state.
 */
int control_rows_sleep(struct control_rows *const *rows, size_t n, const struct stream_sleep *how, struct err *err);

/* Is there something to read in so many of a hundred pages of any CPU? 0: anything at all. */
bool control_rows_filled(struct control_rows *rows, uint32_t percent);

/* Events that there are now. */
uint64_t control_rows_count(struct control_rows *rows);

/* For those who peek: sums over all CPUs, also if one alone is read, as of opening. */
const struct stream_stats *control_rows_stats(const struct control_rows *rows);

/* Events of a CPU that were lost in all, whether rows have told of them by now or not. Of rows of all CPUs. */
uint64_t control_rows_lost(struct control_rows *rows, uint32_t cpu);

/* CPUs that the directory has rings for. */
uint32_t control_rows_cpus(const struct control_rows *rows);

/* Do its times count nanoseconds? */
bool control_rows_is_ns(const struct control_rows *rows);

/* The name of a thread as it has told it by now; stays until the next question. NULL: it has not. */
const char *control_rows_comm(struct control_rows *rows, int pid);

/* Names for printing the rows. */
const struct decode_ctx *control_rows_ctx(struct control_rows *rows);

#endif
