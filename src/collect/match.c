/*
 * collect/match: see match.h.
 */
#include "collect/match.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No two clocks run apart faster than that: a crystal is off by a ten-thousandth, and a clock that is being set by five of them. */
#define APART 0.001
/* Times that a clock can have, and whose differences are numbers still: 73 years. */
#define TIME_MAX (UINT64_C(1) << 61)

bool match_add(struct match *match, uint64_t t1, uint64_t got, uint64_t sent, uint64_t t4)
{
	struct match_gap gap = {
		.at = (int64_t)(got + (sent - got) / 2), .least = (int64_t)(t1 - got), .most = (int64_t)(t4 - sent),
	};

	if (got > TIME_MAX || sent > TIME_MAX || t4 < t1 || sent < got || gap.least > gap.most || (match->n && gap.at <= match->gaps[match->n - 1].at))
		return false;
	/* Of two neighbours the wider one goes, but for the first. */
	if (match->n == MATCH_MAX) {
		size_t to = 1;

		for (size_t from = 1; from + 1 < match->n; from += 2) {
			const struct match_gap *a = &match->gaps[from], *b = a + 1;

			match->gaps[to++] = a->most - a->least <= b->most - b->least ? *a : *b;
		}
		match->n = to;
	}
	match->gaps[match->n++] = gap;
	return true;
}

/* A line has one height at `x` and goes through all gaps from the first to the last: how high and how low it can be there. */
struct band {
	const struct match_gap *gaps;
	size_t n;
	double least, most;	/* slopes */
};

/* One gap more. False: no line goes through all. */
static bool widen(struct band *band)
{
	const struct match_gap *b = &band->gaps[band->n];
	double least = band->least, most = band->most;

	for (size_t i = 0; i < band->n; i++) {
		const struct match_gap *a = &band->gaps[i];
		double run = (double)(b->at - a->at);
		double steep = (double)(b->most - a->least) / run, flat = (double)(b->least - a->most) / run;

		most = steep < most ? steep : most;
		least = flat > least ? flat : least;
	}
	if (least > most)
		return false;
	band->least = least;
	band->most = most;
	band->n++;
	return true;
}

/*
 * How low and how high those lines are at `x`, from `base` on. By its slope a line may be no lower than the least that all gaps ask for,
 * and the least of those is in a valley; so is the other side, upside down.
 */
static double height(const struct band *band, int64_t x, int64_t base, double slope, bool high)
{
	double bound = -INFINITY;

	for (size_t i = 0; i < band->n; i++) {
		const struct match_gap *gap = &band->gaps[i];
		double run = (double)(x - gap->at) * slope;
		double at = high ? -((double)(gap->most - base) + run) : (double)(gap->least - base) + run;

		bound = at > bound ? at : bound;
	}
	return bound;
}

static double bottom(const struct band *band, int64_t x, int64_t base, bool high)
{
	double from = band->least, to = band->most;

	for (int i = 0; i < 80; i++) {
		double third = (to - from) / 3;

		if (height(band, x, base, from + third, high) < height(band, x, base, to - third, high))
			to -= third;
		else
			from += third;
	}
	return height(band, x, base, (from + to) / 2, high);
}

static void add_point(const struct band *band, int64_t x, struct match_point *point)
{
	int64_t base = band->gaps[0].least;
	double low = bottom(band, x, base, false), high = -bottom(band, x, base, true);

	point->at = x;
	point->offset = base + (int64_t)((low + high) / 2);
	point->error = high > low ? (uint64_t)((high - low) / 2) + 2 : 2;
}

int match_points(const struct match *match, struct match_point **out)
{
	struct match_point *points = calloc(2 * match->n + 1, sizeof(*points));
	int n = 0;

	*out = points;
	if (!points)
		return -ENOMEM;
	for (size_t at = 0; at < match->n;) {
		struct band band = { .gaps = &match->gaps[at], .least = -APART, .most = APART };

		while (at + band.n < match->n && widen(&band))
			;
		add_point(&band, band.gaps[0].at, &points[n++]);
		if (band.n > 1)
			add_point(&band, band.gaps[band.n - 1].at, &points[n++]);
		at += band.n;
	}
	return n;
}

uint64_t match_error(const struct match_point *points, int n)
{
	uint64_t worst = 0;

	for (int i = 0; i < n; i++)
		worst = points[i].error > worst ? points[i].error : worst;
	return n ? worst : UINT64_MAX;
}

void match_shift(const struct match_point *points, int n, uint64_t machine, uint32_t nr_cpus, struct buf *out)
{
	uint32_t interpolate = 1, count = (uint32_t)n;
	int64_t scale = 1, fraction = 0;

	buf_add(out, &machine, sizeof(machine));
	buf_add(out, &interpolate, sizeof(interpolate));
	buf_add(out, &nr_cpus, sizeof(nr_cpus));
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		buf_add(out, &count, sizeof(count));
		for (int i = 0; i < n; i++)
			buf_add(out, &points[i].at, sizeof(points[i].at));
		for (int i = 0; i < n; i++)
			buf_add(out, &points[i].offset, sizeof(points[i].offset));
		for (int i = 0; i < n; i++)
			buf_add(out, &scale, sizeof(scale));
	}
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		for (int i = 0; i < n; i++)
			buf_add(out, &fraction, sizeof(fraction));
}
