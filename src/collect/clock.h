/*
 * collect/clock: a board's clock against ours, while its session lasts: questions and answers (match.h), and what comes of them in the file.
 *
 * Questions come in rounds, one behind the other, and the quickest answer counts: the first ones only wake both sides up.
 */
#ifndef COLLECT_CLOCK_H
#define COLLECT_CLOCK_H

#include "collect/match.h"
#include "collect/taker.h"
#include "net/channel.h"

struct clock {
	struct match match;
	uint64_t asked;		/* questions; the last one has this number, */
	uint64_t asked_ns;	/* and was asked then; 0: it was answered */
	unsigned int left;	/* questions of this round */
	struct {
		uint64_t t1, got, sent, t4;
		bool known;
	} best;			/* answer of this round */
	int64_t asked_at, shown_at;
	uint64_t saved;		/* gaps that are kept beside the file */
};

/* Bytes that are kept beside the file. */
#define CLOCK_KEPT (sizeof(uint64_t) + (MATCH_MAX + 1) * sizeof(struct match_gap))

/* How long may be waited before the next question. */
int clock_wait(const struct clock *clock);
/* Asks, when it is time. */
void clock_ask(struct clock *clock, struct channel *channel, int64_t now);
void clock_hear(struct clock *clock, const struct frame *frame);
/* When all has come nothing is in the way of questions any more: some at once. */
void clock_ask_last(struct clock *clock, struct channel *channel);

/*
 * What is known by now goes into the file, for `machine`, and beside it: whoever goes on with the recording gets it from there, with
 * clock_load(). `gaps` and `at` are where. The points are the caller's to free, whatever comes of it.
 */
int clock_put(struct clock *clock, struct taker *taker, uint64_t machine, int gaps, off_t at, struct match_points *points);
void clock_load(struct clock *clock, int gaps, off_t at);
/* The same, now and then. */
int clock_show(struct clock *clock, struct taker *taker, uint64_t machine, int gaps, off_t at, int64_t now);

#endif
