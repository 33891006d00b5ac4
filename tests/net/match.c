/*
 * match: two clocks are never farther apart than it says, whatever they and the way between them do: crystals that differ, that grow warm,
 * that are set faster and slower; one of the machines sleeps; answers that are late one way, both ways, for a while; few questions and very
 * many. With the delays of a loopback it says less than 20 us. What goes into the file comes out of it in 64 bits, as stock readers reckon;
 * and answers that contradict themselves are none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insist.h"
#include "base/buf.h"
#include "collect/match.h"

#define SECOND 1e9
#define BEGIN (1000 * SECOND)
#define TURNS 8

static struct match match;

/* The board's clock: its rate against ours, from some moments of ours on another one; and what comes and goes with the sun. */
struct board {
	double offset;			/* what its clock tells at BEGIN */
	double turn[TURNS], rate[TURNS + 1];	/* ppm; the rate before each moment, and behind the last */
	double warmth, period;		/* ppm, seconds */
	double sleep, slept;		/* at that moment it stands still for so long; or, if that is less than none, we do */
};

struct link {
	double there, back;		/* delays, at the least */
	double often, late;		/* how often it takes longer, and how much */
	double jam, jammed;		/* for so long from then on it takes 1,000 times as long */
};

/* The rate goes from one to the other and back, evenly. */
static double warm(const struct board *board, double t)
{
	double half = board->period * SECOND / 2, at;

	if (!board->warmth)
		return 0;
	at = t - (double)(int64_t)(t / half / 2) * half * 2;
	at = at < half ? at * (1 - at / half) : -(at - half) * (1 - (at - half) / half);
	return board->warmth * 2e-6 * at;
}

/* Nanoseconds of its clock since BEGIN, at a moment of an even time of which ours is one but for our sleep. */
static double told(const struct board *board, double at)
{
	double sum = 0, from = 0, t = at - BEGIN;
	int i = 0;

	for (; i < TURNS && board->turn[i] && board->turn[i] * SECOND < t; i++) {
		sum += (board->turn[i] * SECOND - from) * (1 + board->rate[i] * 1e-6);
		from = board->turn[i] * SECOND;
	}
	sum += (t - from) * (1 + board->rate[i] * 1e-6);
	sum += warm(board, t);
	if (board->slept > 0 && t > board->sleep * SECOND)
		sum -= board->slept * SECOND < t - board->sleep * SECOND ? board->slept * SECOND : t - board->sleep * SECOND;
	return sum;
}

static uint64_t theirs(const struct board *board, double at)
{
	return (uint64_t)board->offset + (uint64_t)(int64_t)told(board, at);
}

static uint64_t ours(const struct board *board, double at)
{
	double t = at - BEGIN, slept = board->slept < 0 && t > board->sleep * SECOND ? t - board->sleep * SECOND : 0;

	return (uint64_t)(at - (slept < -board->slept * SECOND ? slept : -board->slept * SECOND));
}

static double cubed(double a)
{
	return a * a * a;
}

static double size(double a)
{
	return a < 0 ? -a : a;
}

static double delay(const struct link *link, double least, double at)
{
	double t = (at - BEGIN) / SECOND, much = t >= link->jam && t < link->jam + link->jammed ? 1000 : 1;

	return much * least * (1 + cubed(drand48())) + (drand48() < link->often ? link->late * drand48() : 0);
}

/* As a stock reader does it. */
static int64_t reckoned(const struct buf *shift, uint32_t n, int64_t ts)
{
	const char *of = shift->data + 20;
	int64_t time[2], offset[2], product;
	uint32_t low = 0;

	for (uint32_t step = 1u << 30; step; step /= 2) {
		if (low + step + 1 >= n)
			continue;
		memcpy(time, of + 8 * (size_t)(low + step), 8);
		low += time[0] <= ts ? step : 0;
	}
	memcpy(time, of + 8 * (size_t)low, n > 1 ? 16 : 8);
	memcpy(offset, of + 8 * (size_t)n + 8 * (size_t)low, n > 1 ? 16 : 8);
	if (n == 1)
		return ts + offset[0];
	CHECK(time[1] > time[0], "points that are not one behind the other");
	CHECK(!__builtin_mul_overflow(ts - time[0], offset[1] - offset[0], &product), "more than 64 bits: %.3f s by %lld ns",
	      (double)(ts - time[0]) / SECOND, (long long)(offset[1] - offset[0]));
	return ts + offset[0] + (product + (time[1] - time[0]) / 2) / (time[1] - time[0]);
}

static double ask(const struct board *board, const struct link *link, double at)
{
	double there = at + delay(link, link->there, at), done = there + 2000 + 3000 * drand48(), back = done + delay(link, link->back, done);

	match_add(&match, ours(board, at), theirs(board, there), theirs(board, done), ours(board, back));
	return back;
}

/* What a session asks: 16 at once, then each second, in the end some again. */
static double ask_all(const struct board *board, const struct link *link, double seconds)
{
	double at = BEGIN, end = BEGIN + seconds * SECOND;

	memset(&match, 0, sizeof(match));
	for (int i = 0; i < 16; i++)
		at = ask(board, link, at) + 5e6;
	while (at < end) {
		double asked = at;

		/* Whoever sleeps asks nothing. */
		if (board->slept < 0 && at > BEGIN + board->sleep * SECOND && at < BEGIN + (board->sleep - board->slept) * SECOND)
			at = asked = BEGIN + (board->sleep - board->slept) * SECOND;
		if (board->slept > 0 && at > BEGIN + board->sleep * SECOND && at < BEGIN + (board->sleep + board->slept) * SECOND)
			at = asked = BEGIN + (board->sleep + board->slept) * SECOND;
		at = ask(board, link, at);
		at = at < asked + SECOND ? asked + SECOND : at;
	}
	for (int i = 0; i < 4; i++)
		at = ask(board, link, at);
	return at;
}

/* How far off it is anywhere, by what a reader makes of it; `when`, in seconds. */
static double look(const struct board *board, const struct link *link, double end, const struct buf *shift, double unsure, double *when)
{
	double worst = 0, sleep = BEGIN + board->sleep * SECOND;
	uint32_t n;

	memcpy(&n, shift->data + 16, sizeof(n));
	for (int i = 0; i <= 20000; i++) {
		double at = BEGIN + link->there + (end - link->back - link->there - BEGIN) * i / 20000;
		double off = size((double)(reckoned(shift, n, (int64_t)theirs(board, at)) - (int64_t)ours(board, at)));

		/* When it slept nobody can know better than from question to question. */
		if (board->slept && size(at - sleep) < size(board->slept) * SECOND + unsure)
			continue;
		*when = off > worst ? (at - BEGIN) / SECOND : *when;
		worst = off > worst ? off : worst;
	}
	/* Hours before anybody asked it is still reckoned without harm. */
	reckoned(shift, n, (int64_t)theirs(board, BEGIN) - (int64_t)(3600 * SECOND));
	return worst;
}

static void try(const char *what, const struct board *board, const struct link *link, double seconds, double bound_max)
{
	double end = ask_all(board, link, seconds), slept = size(board->slept) * SECOND, when = 0, worst;
	struct match_points points;
	struct buf shift = BUF_INIT;
	unsigned long long error;

	CHECK(!match_points(&match, &points) && points.n > 0, "%s: nothing is known", what);
	error = points.error;
	match_shift(points.all, points.n, 1, 1, &shift);
	CHECK(shift.len == 20 + 32 * (size_t)points.n, "%s: TIME_SHIFT has %zu bytes", what, shift.len);
	worst = look(board, link, end, &shift, (double)points.unsure, &when);
	if (*what)
		printf("%-44s %4d points, %u jumps, matched to %8llu ns, off by %.0f\n", what, points.n, points.jumps, error, worst);
	CHECK(worst <= (double)error + 3, "%s: off by %.0f ns at %.1f s, and matched to %llu", what, worst, when, error);
	CHECK((double)error <= bound_max, "%s: matched to %llu ns, and %.0f would do", what, error, bound_max);
	CHECK(points.jumps == (slept > 0), "%s: jumped %u times", what, points.jumps);
	/* In an hour of sleep they run apart, too. */
	CHECK(!points.jumps || size((double)points.jumped - slept) < slept / 1000, "%s: jumped by %llu ns", what, (unsigned long long)points.jumped);
	buf_fini(&shift);
	match_points_fini(&points);
}

static double some(double least, double most)
{
	double much = drand48(), step = 1 + 1e-3, all = most / least, to = 1, n = 0, at = 1;

	for (; to < all; n++)
		to *= step;
	for (double i = 0; i < much * n; i++)
		at *= step;
	return least * at;
}

/* Whatever may happen. */
static void try_anything(int seed)
{
	struct board board = { .offset = some(1e3, 1e18), .rate = { 100 * (drand48() - 0.5) } };
	struct link link = { some(3e3, 5e5), some(3e3, 5e5), drand48() / 2, some(1e4, 1e9), 0, 0 };
	double seconds = some(1, 2000);
	char name[32];

	srand48(seed);
	/* What changes is large enough to be seen through the gaps, before it changes again. */
	for (int i = 0; i < TURNS && seed % 3; i++) {
		double change = (1 + 8 * drand48()) * (link.there + link.back) / 3e3;

		board.turn[i] = (i ? board.turn[i - 1] : 0) + 20 + some(1, seconds);
		change = board.turn[i] > seconds - 20 || size(board.rate[i]) + change > 500 ? 0 : change;
		board.rate[i + 1] = board.rate[i] + (board.rate[i] > 0 ? -change : change);
	}
	if (seed % 4 == 1) {
		board.warmth = drand48() / 2;
		board.period = some(100, 10000);
	}
	if (seed % 3 == 0 && drand48() < 0.5) {
		link.jam = drand48() * seconds;
		link.jammed = some(1, 100);
	}
	snprintf(name, sizeof(name), "seed %d", seed);
	try(seed % 500 ? "" : name, &board, &link, seconds, 1e18);
}

static void contradictions(void)
{
	struct match_points points;

	memset(&match, 0, sizeof(match));
	CHECK(!match_add(&match, 100, 10, 9, 200), "answered before it was asked");
	CHECK(!match_add(&match, 200, 10, 20, 100), "heard before it was asked");
	CHECK(!match_add(&match, 100, 1000, 2000, 150), "it took longer there than here");
	CHECK(!match_add(&match, 0, 0, UINT64_MAX, UINT64_MAX), "it took an age");
	CHECK(!match_points(&match, &points) && !points.n && points.error == UINT64_MAX, "nothing tells something");
	match_points_fini(&points);
	CHECK(match_add(&match, 100, 1000, 1010, 150) && !match_add(&match, 100, 900, 910, 150), "its clock goes back");
}

/* Whatever somebody says, nothing overflows. */
static void nonsense(void)
{
	for (int i = 0; i < 300; i++) {
		struct match_points points;
		struct buf shift = BUF_INIT;

		memset(&match, 0, sizeof(match));
		for (int n = 0; n < 40; n++) {
			uint64_t t = (uint64_t)mrand48() << (lrand48() % 33), got = (uint64_t)(mrand48() % 1000 * (i % 2 ? 1ll << 52 : 100)) + (uint64_t)n * 1000;

			match_add(&match, t, got, got + (uint64_t)(lrand48() % 1000), t + (uint64_t)lrand48());
		}
		CHECK(!match_points(&match, &points), "no memory");
		match_shift(points.all, points.n, 1, 2, &shift);
		buf_fini(&shift);
		match_points_fini(&points);
	}
}

int main(void)
{
	const struct board same = { .offset = 1e12 }, far = { .offset = 9e17 }, fast = { .offset = 5e12, .rate = { 80 } };
	const struct board warm = { .offset = 5e12, .rate = { 20 }, .warmth = 0.4, .period = 900 };
	const struct board turns = { .offset = 1e11, .turn = { 150.3 }, .rate = { 50, -100 } };
	const struct board slewed = { .offset = 1e11, .turn = { 100.5, 120.2, 190 }, .rate = { 30, 530, 31, 28 } };
	const struct board sleeps = { .offset = 1e11, .rate = { 40 }, .sleep = 100.4, .slept = 3600 };
	const struct board we_sleep = { .offset = 1e11, .rate = { -40 }, .sleep = 100.4, .slept = -7 };
	const struct link near = { 10e3, 10e3, 0.3, 500e3, 0, 0 }, wired = { 100e3, 100e3, 0.3, 5e6, 0, 0 };
	const struct link skew = { 20e3, 400e3, 0.3, 5e6, 0, 0 }, jam = { 30e3, 30e3, 0.2, 1e6, 50, 40 }, busy = { 30e3, 30e3, 0.9, 50e6, 0, 0 };

	srand48(1);
	try("the same clock, on the loopback", &same, &near, 120, 20000);
	try("another one", &far, &near, 120, 20000);
	try("one that is 80 ppm fast", &fast, &near, 120, 20000);
	try("one that grows warm and cold", &warm, &near, 1200, 20000);
	try("for a second", &fast, &near, 1, 30000);
	try("an hour", &fast, &near, 3600, 20000);
	try("by wire", &fast, &wired, 300, 130000);
	try("farther one way than back", &fast, &skew, 300, 320000);
	try("the line is jammed for a while", &fast, &jam, 300, 100000);
	try("the machines are busy", &fast, &busy, 300, 2000000);
	try("another rate in the middle", &turns, &near, 300, 150000);
	try("set faster for a while", &slewed, &near, 300, 600000);
	try("the board sleeps for an hour", &sleeps, &near, 5000, 40000);
	try("we sleep", &we_sleep, &near, 200, 20000);
	if (!SANITIZED)
		try("three days", &fast, &near, 3 * 86400, 60000);
	for (int seed = 1; seed <= (SANITIZED ? 40 : 2000); seed++)
		try_anything(seed);
	contradictions();
	nonsense();
	return 0;
}
