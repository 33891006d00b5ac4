/*
 * collect/clock: see clock.h.
 */
#include "collect/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"

#define ROUND 4u
/* Some rounds at once, then fewer, then each second. */
#define AT_ONCE (16 * ROUND)
#define AT_ONCE_MS 5
#define OFTEN (64 * ROUND)
#define OFTEN_MS 100
#define ASK_MS 1000
#define LAST 4
#define LAST_MS 1000
#define SHOW_FIRST_MS 500
#define SHOW_MS 30000

/* ---- questions ---- */

int clock_wait(const struct clock *clock)
{
	return clock->asked < AT_ONCE ? AT_ONCE_MS : clock->asked < OFTEN ? OFTEN_MS : 200;
}

static void end_round(struct clock *clock)
{
	if (clock->best.known)
		match_add(&clock->match, clock->best.t1, clock->best.got, clock->best.sent, clock->best.t4);
	clock->best.known = false;
	clock->left = 0;
	clock->asked_ns = 0;
}

void clock_ask(struct clock *clock, struct channel *channel, int64_t now)
{
	const struct wire_ask ask = { wire64(clock->asked + 1) };
	int64_t wait = clock->asked < AT_ONCE ? AT_ONCE_MS : clock->asked < OFTEN ? OFTEN_MS : ASK_MS;

	if (now - clock->asked_at < (clock->asked_ns ? ASK_MS : clock->left ? 0 : wait))
		return;
	if (clock->asked_ns)
		end_round(clock);
	clock->left = (clock->left ? clock->left : ROUND) - 1;
	clock->asked++;
	clock->asked_at = now;
	channel_put(channel, WIRE_ASK, &ask, sizeof(ask), NULL, 0);
	clock->asked_ns = mono_ns();
	channel_flush(channel);
}

/* How long it took, but for what the other side took. */
static uint64_t width(uint64_t t1, uint64_t got, uint64_t sent, uint64_t t4)
{
	return (t4 - t1) - (sent - got);
}

void clock_hear(struct clock *clock, const struct frame *frame)
{
	uint64_t now = mono_ns(), got, sent;
	struct wire_time time;

	if (frame->len != sizeof(time))
		return;
	memcpy(&time, frame->body, sizeof(time));
	got = wire64(time.got);
	sent = wire64(time.sent);
	if (wire64(time.number) != clock->asked || !clock->asked_ns)
		return;
	if (!clock->best.known || width(clock->asked_ns, got, sent, now) <
	    width(clock->best.t1, clock->best.got, clock->best.sent, clock->best.t4)) {
		clock->best.t1 = clock->asked_ns;
		clock->best.got = got;
		clock->best.sent = sent;
		clock->best.t4 = now;
		clock->best.known = true;
	}
	clock->asked_ns = 0;
	if (!clock->left)
		end_round(clock);
}

void clock_ask_last(struct clock *clock, struct channel *channel)
{
	int64_t until = mono_ms() + LAST_MS;
	struct err none = ERR_INIT;
	struct frame frame;

	for (unsigned int i = 0; i < LAST * ROUND && mono_ms() < until; i++) {
		clock->asked_at = 0;
		clock_ask(clock, channel, mono_ms());
		while (clock->asked_ns && !channel_await(channel, &frame, until, &none))
			if (frame.kind == WIRE_TIME)
				clock_hear(clock, &frame);
	}
	end_round(clock);
}

/* ---- what comes of them ---- */

/* Once there are fewer than there were any of them may be another. */
static void save(struct clock *clock, int gaps, off_t at)
{
	const struct match *match = &clock->match;
	uint64_t n = match->n + match->more, from = match->space || clock->saved > n ? 0 : clock->saved;
	size_t len = (size_t)(n - from) * sizeof(*match->gaps);

	if (pwrite(gaps, &match->gaps[from], len, at + (off_t)(sizeof(n) + from * sizeof(*match->gaps))) == (ssize_t)len &&
	    pwrite(gaps, &n, sizeof(n), at) == (ssize_t)sizeof(n))
		clock->saved = n;
}

/* Without them there is only less to know. */
void clock_load(struct clock *clock, int gaps, off_t at)
{
	struct match_gap *all;
	uint64_t n;

	if (pread(gaps, &n, sizeof(n), at) != (ssize_t)sizeof(n) || n > MATCH_MAX + 1)
		return;
	all = calloc(n + 1, sizeof(*all));
	if (all && pread(gaps, all, n * sizeof(*all), at + (off_t)sizeof(n)) == (ssize_t)(n * sizeof(*all)))
		match_restore(&clock->match, all, n);
	free(all);
}

int clock_put(struct clock *clock, struct taker *taker, uint64_t machine, int gaps, off_t at, struct match_points *points)
{
	struct buf shift = BUF_INIT;
	int r = 0;

	*points = (struct match_points){ .error = UINT64_MAX };
	if (taker->open.flags & WIRE_MONO)
		r = match_points(&clock->match, points);
	if (points->n) {
		match_shift(points->all, points->n, machine, taker->open.nr_cpus, &shift);
		r = buf_failed(&shift) ? -ENOMEM : taker_shift(taker, &shift);
		save(clock, gaps, at);
	}
	buf_fini(&shift);
	return r;
}

int clock_show(struct clock *clock, struct taker *taker, uint64_t machine, int gaps, off_t at, int64_t now)
{
	struct match_points points;
	int r;

	if (!clock->shown_at)
		clock->shown_at = now - SHOW_MS + SHOW_FIRST_MS;
	if (now - clock->shown_at < SHOW_MS)
		return 0;
	clock->shown_at = now;
	r = clock_put(clock, taker, machine, gaps, at, &points);
	match_points_fini(&points);
	return r;
}
