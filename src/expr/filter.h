/*
 * expr/filter: the filter language of `report -F`, as trace-cmd reads it.
 *
 *   sched:sched_switch,sched_wakeup: prev_pid == 0 && next_comm ~ "sh*"
 *
 * In: texts of filters, and the events that there are (a world: names at once, formats when they
 * are asked for). Out: a yes or no for a record. A filter is built by one thread and then read by
 * any number of them.
 */
#ifndef EXPR_FILTER_H
#define EXPR_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "decode/format.h"
#include "decode/print.h"

struct filter_world {
	void *arg;
	size_t nr;
	/* System and name of the i-th event; peeked. */
	void (*name)(void *arg, size_t i, const char **system, const char **name);
	/* NULL when its text cannot be used. */
	const struct decode_format *(*format)(void *arg, size_t i);
};

struct filter;

enum filter_verdict {
	FILTER_NONE,	/* no filter says anything of this event */
	FILTER_MISS,
	FILTER_MATCH,
};

int filter_new(struct filter **out);
void filter_free(struct filter *filter);

/*
 * One -F text. -ENOENT: no event matches; -EBADMSG: the text cannot be read; err->pos is the place
 * in the text.
 */
int filter_add(struct filter *filter, const char *text, const struct filter_world *world,
	       struct err *err);

/* ctx gives COMM its names (ctx->comm) and addresses theirs; cpu is CPU. */
enum filter_verdict filter_match(const struct filter *filter, const struct decode_format *format,
				 const void *rec, size_t len, int cpu, uint64_t ts,
				 const struct decode_ctx *ctx);

/* Whether any part asks for COMM, which depends on what the trace has told so far. */
bool filter_asks_comm(const struct filter *filter);

/* What was understood, one event a line as `report -T` shows it. */
void filter_describe(const struct filter *filter, struct buf *out);

#endif
