/*
 * match: two clocks are never farther apart than it says: crystals that differ, one that changes its rate, answers that are late either
 * way, few questions and very many; and answers that contradict themselves are none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insist.h"
#include "collect/match.h"

#define SECOND 1000000000.0

static struct match match;

/* The board's clock at a time of ours: two rates, one after the other. */
struct board {
	double offset, rate[2], turn;
};

static uint64_t at(const struct board *board, double ours)
{
	double first = ours < board->turn ? ours : board->turn, rest = ours - first;

	return (uint64_t)(board->offset + first * board->rate[0] + rest * board->rate[1]);
}

static double late(double usual, double often)
{
	return usual * (0.5 + drand48()) + (drand48() < often ? 50 * usual * drand48() : 0);
}

/* Between two points on the line through them. */
static double offset_at(const struct match_point *points, int n, double theirs)
{
	int i = 0;

	while (i + 2 < n && (double)points[i + 1].at < theirs)
		i++;
	if (n == 1)
		return (double)points[0].offset;
	return (double)points[i].offset + (double)(points[i + 1].offset - points[i].offset) * (theirs - (double)points[i].at) /
					  (double)(points[i + 1].at - points[i].at);
}

static void try(const char *what, const struct board *board, int n, double each, double usual, double bound_max)
{
	struct match_point *points;
	double ours = 1000 * SECOND, worst = 0, allowed;
	int nr;

	memset(&match, 0, sizeof(match));
	for (int i = 0; i < n; i++, ours += each * SECOND) {
		double there = ours + late(usual, 0.3), back = there + 3000, home = back + late(usual, 0.3);

		match_add(&match, (uint64_t)ours, at(board, there), at(board, back), (uint64_t)home);
	}
	nr = match_points(&match, &points);
	CHECK(nr > 0, "%s: nothing is known", what);
	allowed = (double)match_error(points, nr);
	for (int i = 0; i <= 1000; i++) {
		double now = 1000 * SECOND + (ours - each * SECOND - 1000 * SECOND) * i / 1000, theirs = (double)at(board, now);
		double off = fabs(offset_at(points, nr, theirs) - (now - theirs));

		worst = off > worst ? off : worst;
	}
	printf("%-40s %d points, matched to %.0f ns, off by %.0f\n", what, nr, allowed, worst);
	CHECK(worst <= allowed + 2, "%s: off by %.0f ns, and matched to %.0f", what, worst, allowed);
	CHECK(allowed <= bound_max, "%s: matched to %.0f ns, and %.0f would do", what, allowed, bound_max);
	free(points);
}

static void contradictions(void)
{
	struct match_point *points;

	memset(&match, 0, sizeof(match));
	CHECK(!match_add(&match, 100, 10, 9, 200), "answered before it was asked");
	CHECK(!match_add(&match, 200, 10, 20, 100), "heard before it was asked");
	CHECK(!match_add(&match, 100, 1000, 2000, 150), "it took longer there than here");
	CHECK(match_points(&match, &points) == 0 && match_error(points, 0) == UINT64_MAX, "nothing tells something");
	free(points);
	CHECK(match_add(&match, 100, 1000, 1010, 150) && !match_add(&match, 100, 900, 910, 150), "its clock goes back");
}

int main(void)
{
	const struct board same = { 0, { 1, 1 }, 0 }, far = { 9e17, { 1, 1 }, 0 }, fast = { 5e12, { 1.00008, 1.00008 }, 0 };
	const struct board turns = { 1e11, { 1.00005, 0.9999 }, 1150 * SECOND };

	srand48(1);
	try("the same clock", &same, 300, 1, 30000, 30000);
	try("another one", &far, 300, 1, 30000, 30000);
	try("one that is 80 ppm fast", &fast, 300, 1, 30000, 30000);
	try("one question", &fast, 1, 1, 30000, 2000000);
	try("some at once", &fast, 16, 0.005, 30000, 100000);
	try("on the loopback", &fast, 60, 1, 10000, 20000);
	try("a day", &fast, 86400, 1, 30000, 60000);
	try("another rate in the middle", &turns, 300, 1, 30000, 400000);
	contradictions();
	return 0;
}
