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
/* What is taken for one line: so long, and no fewer gaps. */
#define LINE_NS 64e9
#define LINE_GAPS 16u
/* Points are no nearer to each other, and not many more than so many. */
#define POINT_NS 16e9
#define POINTS_MAX 256
#define ANSWER_NS 1000000000u
/* Times that a clock can have, and whose differences are numbers still: 73 years. */
#define TIME_MAX (UINT64_C(1) << 61)

/* What may be added at a gap, from `base` on; and what is on the way from there to the next one. */
struct known {
	double low, high;
	double rate, loose;	/* by how much it changes, and how well that is known */
	double slack;		/* how far it may be off what lies between its ends */
	bool bends, jumps;
};

/* Gaps, and how steep lines through all of them are. */
struct line {
	size_t from, to;
	double least, most;
	bool apart;		/* the next one has no gap of it */
	size_t sure;		/* up to there: behind it the next one may have begun */
};

struct work {
	const struct match_gap *gaps;
	size_t n;
	int64_t base;
	struct known *known;
	struct line *lines;
	size_t nr_lines;
};

/* They are anybody's: nothing overflows. */
static double apart(int64_t a, int64_t b)
{
	return (double)(int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t add(int64_t to, double what)
{
	int64_t whole = what > -4e18 && what < 4e18 ? (int64_t)what : 0;

	return (int64_t)((uint64_t)to + (uint64_t)whole);
}

static double least_of(double a, double b)
{
	return a < b ? a : b;
}

static double most_of(double a, double b)
{
	return a > b ? a : b;
}

static double size(double a)
{
	return a < 0 ? -a : a;
}

static double way(const struct work *work, size_t i)
{
	return apart(work->gaps[i + 1].at, work->gaps[i].at);
}

static double middle(const struct known *known)
{
	return (known->low + known->high) / 2;
}

/* One more; of those of the same time the narrower one stays. */
static void keep(struct match *match, const struct match_gap *gap)
{
	struct match_gap *last = &match->gaps[match->n ? match->n - 1 : 0];
	int64_t first = match->gaps[0].at;

	match->more = match->n > 1 && match->space &&
		      ((uint64_t)gap->at - (uint64_t)first) / match->space == ((uint64_t)last->at - (uint64_t)first) / match->space;
	if (match->more && apart(gap->most, gap->least) <= apart(last->most, last->least)) {
		*last = *gap;
		match->more = false;
	} else {
		match->gaps[match->n] = *gap;
		match->n += !match->more;
	}
}

/* There is no room: half as many, evenly over the time. */
static void thin(struct match *match)
{
	size_t n = match->n;

	match->space = ((uint64_t)match->gaps[n - 1].at - (uint64_t)match->gaps[0].at) / (MATCH_MAX / 2) + 1;
	match->n = 1;
	for (size_t i = 1; i < n; i++) {
		struct match_gap gap = match->gaps[i];

		keep(match, &gap);
	}
}

bool match_add(struct match *match, uint64_t t1, uint64_t got, uint64_t sent, uint64_t t4)
{
	int64_t drift = (int64_t)((double)(sent - got) * APART / 2) + 1;
	struct match_gap gap = { .at = (int64_t)(got + (sent - got) / 2), .least = (int64_t)(t1 - got), .most = (int64_t)(t4 - sent) };

	if (got > TIME_MAX || sent > TIME_MAX || t4 < t1 || sent < got || sent - got > ANSWER_NS || t4 - t1 < sent - got)
		return false;
	if (match->n && gap.at <= match->gaps[match->n - !match->more].at)
		return false;
	/* One is of `got`, the other of `sent`. */
	gap.least = add(gap.least, -(double)drift);
	gap.most = add(gap.most, (double)drift);
	if (match->n == MATCH_MAX)
		thin(match);
	keep(match, &gap);
	return true;
}

int match_restore(struct match *match, const struct match_gap *gaps, size_t n)
{
	struct match *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n + match->n + match->more; i++) {
		const struct match_gap *gap = i < n ? &gaps[i] : &match->gaps[i - n];

		if (all->n && gap->at <= all->gaps[all->n - !all->more].at)
			continue;
		if (all->n == MATCH_MAX)
			thin(all);
		keep(all, gap);
	}
	*match = *all;
	free(all);
	return 0;
}

/* ---- lines ---- */

/* One gap more. False: no line goes through all. */
static bool widen(const struct work *work, struct line *line)
{
	const struct match_gap *b = &work->gaps[line->to];
	double least = line->least, most = line->most;

	for (size_t i = line->from; i < line->to; i++) {
		const struct match_gap *a = &work->gaps[i];
		double run = apart(b->at, a->at), steep = apart(b->most, a->least) / run, flat = apart(b->least, a->most) / run;

		most = steep < most ? steep : most;
		least = flat > least ? flat : least;
	}
	if (least > most)
		return false;
	line->least = least;
	line->most = most;
	line->to++;
	return true;
}

/* Long enough; but what is left should be long enough, too. */
static bool is_long(const struct work *work, const struct line *line)
{
	return line->to - line->from >= LINE_GAPS && apart(work->gaps[line->to].at, work->gaps[line->from].at) > LINE_NS &&
	       apart(work->gaps[work->n - 1].at, work->gaps[line->to].at) > LINE_NS / 2;
}

static double rate_of(const struct line *line)
{
	return (line->least + line->most) / 2;
}

static double loose_of(const struct line *line)
{
	return (line->most - line->least) / 2 + MATCH_WANDER;
}

/* Not the same rate any more. */
static bool differ(const struct line *a, const struct line *b)
{
	return size(rate_of(a) - rate_of(b)) > loose_of(a) + loose_of(b);
}

static void draw_lines(struct work *work)
{
	for (size_t from = 0; from < work->n;) {
		struct line line = { .from = from, .to = from, .least = -APART, .most = APART }, *last = NULL;

		while (!line.apart && line.to < work->n && !is_long(work, &line))
			line.apart = !widen(work, &line);
		if (work->nr_lines && !work->lines[work->nr_lines - 1].apart)
			last = &work->lines[work->nr_lines - 1];
		/* Where the one before ends nobody looked for a bend: as far as it goes there is none. */
		if (last && differ(last, &line)) {
			while (last->to < work->n && widen(work, last))
				;
			last->apart = last->to < work->n;
			last->sure = from = last->to;
			continue;
		}
		line.sure = line.to;
		work->lines[work->nr_lines++] = line;
		/* The next one begins where this one ends. */
		from = line.apart || line.to == work->n ? line.to : line.to - 1;
	}
}

/* What is allowed `run` before or behind. */
static struct known carried(const struct known *from, double rate, double loose, double run)
{
	return (struct known){ .low = from->low + rate * run - loose * size(run), .high = from->high + rate * run + loose * size(run) };
}

static struct known gap_of(const struct work *work, size_t i)
{
	return (struct known){ .low = apart(work->gaps[i].least, work->base), .high = apart(work->gaps[i].most, work->base) };
}

static void narrow(struct known *known, const struct known *by)
{
	known->low = by->low > known->low ? by->low : known->low;
	known->high = by->high < known->high ? by->high : known->high;
}

/* What a line's gaps alone allow at one, its own or another. */
static struct known reach(const struct work *work, const struct line *line, size_t at, double rate, double loose)
{
	struct known there = { .low = -INFINITY, .high = INFINITY };

	for (size_t i = line->from; i < line->sure; i++) {
		struct known gap = gap_of(work, i);

		gap = carried(&gap, rate, loose, apart(work->gaps[at].at, work->gaps[i].at));
		narrow(&there, &gap);
	}
	return there;
}

/* ---- where they bend ---- */

/* No clock runs so fast. */
static bool is_jump(const struct work *work, const struct line *line)
{
	struct known before = reach(work, line, line->to, 0, APART), behind = reach(work, line + 1, line->to, 0, APART);

	return behind.low > before.high || behind.high < before.low;
}

/* The next line may have begun before: as far back as it goes through the gaps. This one is what goes through those before. */
static void draw_back(const struct work *work, struct line *line)
{
	struct line again = { .from = line->from, .to = line->from, .least = -APART, .most = APART, .apart = line->apart };

	while (line->sure > line->from) {
		struct known there = reach(work, line + 1, line->sure - 1, rate_of(line + 1), loose_of(line + 1)), gap = gap_of(work, line->sure - 1);

		narrow(&there, &gap);
		if (there.low > there.high)
			break;
		line->sure--;
	}
	while (again.to < line->sure && widen(work, &again))
		;
	line->least = again.least;
	line->most = again.most;
}

/* From the last one on: each has to be right for the one before. */
static void draw_bends(struct work *work)
{
	for (size_t i = work->nr_lines - 1; i--;) {
		struct line *line = &work->lines[i];

		if (line->apart && is_jump(work, line))
			work->known[line->to - 1].jumps = true;
		else if (line->apart)
			draw_back(work, line);
	}
}

/* ---- the band ---- */

/* How fast it may change on the ways between a line's gaps, and to the next one: there as on either. */
static void begin_line(struct work *work, const struct line *line)
{
	const struct line *next = line == &work->lines[work->nr_lines - 1] ? line : line + 1;
	double least = least_of(rate_of(line) - loose_of(line), rate_of(next) - loose_of(next));
	double most = most_of(rate_of(line) + loose_of(line), rate_of(next) + loose_of(next));

	for (size_t i = line->from; i < line->to; i++) {
		struct known *known = &work->known[i], gap = gap_of(work, i);

		known->low = gap.low;
		known->high = gap.high;
		known->rate = rate_of(line);
		known->loose = loose_of(line);
		known->bends = next != line && !known->jumps && line->apart && i + 1 >= line->sure;
		if (known->bends) {
			known->rate = (least + most) / 2;
			known->loose = (most - least) / 2;
		}
		if (i + 1 < work->n)
			known->slack = known->loose * way(work, i) / 2;
	}
}

static void draw_band(struct work *work)
{
	struct known *known = work->known, there;

	for (size_t i = 0; i < work->nr_lines; i++)
		begin_line(work, &work->lines[i]);
	for (size_t i = 0; i + 1 < work->n; i++) {
		if (known[i].jumps)
			continue;
		there = carried(&known[i], known[i].rate, known[i].loose, way(work, i));
		narrow(&known[i + 1], &there);
	}
	for (size_t i = work->n - 1; i--;) {
		if (known[i].jumps)
			continue;
		there = carried(&known[i + 1], known[i].rate, known[i].loose, -way(work, i));
		narrow(&known[i], &there);
	}
	/* Their rates have wandered after all: either may be true. */
	for (size_t i = 0; i < work->n; i++) {
		if (known[i].low > known[i].high) {
			double low = known[i].high;

			known[i].high = known[i].low;
			known[i].low = low;
		}
	}
}

/* ---- points ---- */

/* The next gap that is made a point, of those up to `end`: the best known one about there. */
static size_t pick(const struct work *work, size_t at, size_t end, double space)
{
	const struct known *known = work->known;
	size_t best = at + 1;

	for (size_t i = at + 1; i <= end; i++) {
		double run = apart(work->gaps[i].at, work->gaps[at].at);

		if (run > space && i > at + 1)
			return best;
		if (run < space / 2 || known[i].high - known[i].low <= known[best].high - known[best].low)
			best = i;
		if (i == end || known[i].bends || known[at].bends)
			return i;
	}
	return best;
}

/* How far the straight way from one point to another may be off. */
static double straight(const struct work *work, size_t from, size_t to)
{
	const struct known *known = work->known;
	double start = middle(&known[from]), slope = (middle(&known[to]) - start) / apart(work->gaps[to].at, work->gaps[from].at);
	double worst = 0;

	for (size_t i = from; i <= to; i++) {
		double there = start + slope * apart(work->gaps[i].at, work->gaps[from].at);
		double off = most_of(known[i].high - there, there - known[i].low);
		double slack = most_of(i < to ? known[i].slack : 0, i > from ? known[i - 1].slack : 0);

		worst = most_of(worst, off + slack);
	}
	return worst;
}

static void put(struct match_points *out, int64_t at, int64_t offset, double error)
{
	out->all[out->n++] = (struct match_point){ at, offset, error < 1e18 ? (uint64_t)error + 2 : (uint64_t)1e18 };
}

/* Where it jumped: once, in the middle of the time within which that was. */
static void put_jump(const struct work *work, size_t at, struct match_points *out)
{
	const struct known *known = &work->known[at];
	double run = way(work, at), jumped = size(middle(known + 1) - middle(known));
	int64_t half = (int64_t)(run / 2);

	out->jumps++;
	out->jumped = jumped > (double)out->jumped ? (uint64_t)jumped : out->jumped;
	out->unsure = run > (double)out->unsure ? (uint64_t)run : out->unsure;
	if (half < 2)
		return;
	put(out, work->gaps[at].at + half, add(work->base, middle(known) + known->rate * (double)half),
	    (known->high - known->low) / 2 + known->loose * (double)half);
	known++;
	put(out, work->gaps[at].at + half + 1, add(work->base, middle(known) - known->rate * (run - (double)half)),
	    (known->high - known->low) / 2 + known->loose * (double)half);
}

uint64_t match_error(const struct match_point *points, int n)
{
	uint64_t worst = 0;

	for (int i = 0; i < n; i++)
		worst = points[i].error > worst ? points[i].error : worst;
	return n ? worst : UINT64_MAX;
}

static void put_points(const struct work *work, struct match_points *out)
{
	double all = apart(work->gaps[work->n - 1].at, work->gaps[0].at), space = most_of(POINT_NS, all / POINTS_MAX);
	const struct known *known = work->known;

	for (size_t at = 0, end; at < work->n; at = end + 1) {
		for (end = at; end + 1 < work->n && !known[end].jumps; end++)
			;
		put(out, work->gaps[at].at, add(work->base, middle(&known[at])), (known[at].high - known[at].low) / 2);
		while (at < end) {
			size_t next = pick(work, at, end, space);
			double error = straight(work, at, next);
			struct match_point *last = &out->all[out->n - 1];

			put(out, work->gaps[next].at, add(work->base, middle(&known[next])), error);
			last->error = last->error > last[1].error ? last->error : last[1].error;
			at = next;
		}
		if (end + 1 < work->n)
			put_jump(work, end, out);
	}
	out->error = match_error(out->all, out->n);
}

/*
 * Whoever reads them goes from point to point in 64 bits: the way in time by the way in what is added, which has to stay far below that.
 * What lies before the first point is reckoned from the first way, and may lie hours before.
 */
#define PRODUCT_MAX 4e18
#define PIECES_MAX 256
#define BEFORE 1000000000

static int pieces(const struct match_point *a)
{
	double product = apart(a[1].at, a->at) * size(apart(a[1].offset, a->offset));
	int n = 1;

	while (n < PIECES_MAX && product / n / n > PRODUCT_MAX)
		n++;
	return n;
}

static int spread(struct match_points *points)
{
	struct match_points out = *points;
	const struct match_point *from = points->all;
	size_t n = 2;

	if (points->n < 2)
		return 0;
	for (int i = 0; i + 1 < points->n; i++)
		n += (size_t)pieces(&from[i]);
	out.all = calloc(n, sizeof(*out.all));
	out.n = 0;
	if (!out.all)
		return -ENOMEM;
	put(&out, add(from->at, -BEFORE), add(from->offset, -apart(from[1].offset, from->offset) / apart(from[1].at, from->at) * BEFORE),
	    (double)from->error);
	for (int i = 0; i + 1 < points->n; i++) {
		int of = pieces(&from[i]);

		for (int piece = 0; piece < of; piece++)
			put(&out, add(from[i].at, (apart(from[i + 1].at, from[i].at) * piece / of)),
			    add(from[i].offset, apart(from[i + 1].offset, from[i].offset) * piece / of), (double)from[i].error);
	}
	out.all[out.n++] = from[points->n - 1];
	free(points->all);
	*points = out;
	return 0;
}

int match_points(const struct match *match, struct match_points *out)
{
	struct work work = { .gaps = match->gaps, .n = match->n + match->more, .base = match->gaps[0].least };
	int r = 0;

	*out = (struct match_points){ .error = UINT64_MAX };
	if (!match->n)
		return 0;
	work.known = calloc(work.n, sizeof(*work.known));
	out->all = calloc(3 * work.n, sizeof(*out->all));
	work.lines = calloc(work.n, sizeof(*work.lines));
	if (!work.known || !work.lines || !out->all) {
		r = -ENOMEM;
	} else {
		draw_lines(&work);
		draw_bends(&work);
		draw_band(&work);
		put_points(&work, out);
		r = spread(out);
	}
	free(work.known);
	free(work.lines);
	if (r)
		match_points_fini(out);
	return r;
}

void match_points_fini(struct match_points *points)
{
	free(points->all);
	*points = (struct match_points){ .error = UINT64_MAX };
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
