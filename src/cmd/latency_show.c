/*
 * cmd/latency_show: see latency_show.h. Pure.
 */
#include "cmd/latency_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hist/bars.h"

#define LINES_OTHER 8u		/* title, head, quantiles, counts and what is between */

const char *latency_time(char text[16], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	int unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(text, 16, unit && value < 9.995 ? "%.2f %s" : unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return text;
}

void latency_add(struct latency_sums *sums, const struct latency_one *one)
{
	struct latency_one *worst = sums->worst;
	int at = LATENCY_WORST;

	for (int i = 0; i < LATENCY_WORST; i++) {
		if (worst[i].ns != one->ns || strcmp(worst[i].key, one->key))
			continue;
		/* The table may tell of it before its record comes, which is the one to know when. */
		if (!*worst[i].time)
			worst[i] = *one;
		if (!*one->time || !strcmp(worst[i].time, one->time))
			return;
	}
	while (at && worst[at - 1].ns < one->ns)
		at--;
	if (at == LATENCY_WORST)
		return;
	memmove(&worst[at + 1], &worst[at], (size_t)(LATENCY_WORST - 1 - at) * sizeof(*worst));
	worst[at] = *one;
}

/* Counts by powers of two: 0, 1, 2-3, 4-7 ... */
static void by_powers(const struct latency_sums *sums, uint64_t counts[65])
{
	memset(counts, 0, 65 * sizeof(*counts));
	for (uint32_t i = 0; i < TABLE_SPREAD; i++) {
		uint64_t low = table_spread_low(i);

		counts[low ? 64 - __builtin_clzll(low) : 0] += sums->spread[i];
	}
}

static void put_powers(const struct latency_sums *sums, uint32_t width, struct buf *out)
{
	uint64_t counts[65], most = 0;
	int first = -1, last = -1;
	char from[16], to[16];

	by_powers(sums, counts);
	for (int i = 0; i < 65; i++) {
		if (!counts[i])
			continue;
		first = first < 0 ? i : first;
		last = i;
		most = counts[i] > most ? counts[i] : most;
	}
	for (int i = first; i >= 0 && i <= last; i++) {
		buf_printf(out, "%8s .. %-8s %10" PRIu64 "  |", latency_time(from, i ? 1ull << (i - 1) : 0),
			   latency_time(to, i < 64 ? 1ull << i : UINT64_MAX), counts[i]);
		hist_bar(counts[i], most, width > 45 ? width - 35 : 10, out);
		buf_putc(out, '\n');
	}
}

static void put_quantiles(const struct latency_sums *sums, struct buf *out)
{
	static const struct {
		const char *name;
		uint32_t share;
	} shown[] = { { "p50", 50000 }, { "p90", 90000 }, { "p99", 99000 }, { "p99.9", 99900 } };
	char text[16];

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		uint64_t ns = hist_quantile(sums->spread, shown[i].share);

		/* The end of the last range may be above what ever was. */
		buf_printf(out, "%s %s   ", shown[i].name, latency_time(text, ns > sums->max ? sums->max : ns));
	}
	buf_printf(out, "max %s   ", latency_time(text, sums->max));
	buf_printf(out, "mean %s\n", latency_time(text, sums->total / sums->matched));
}

static void put_worst(const struct latency_sums *sums, uint32_t n, struct buf *out)
{
	int key_width = (int)strlen(sums->key), task_width = 4;
	char text[16];

	for (uint32_t i = 0; i < n; i++) {
		int key = (int)strlen(sums->worst[i].key), task = (int)strlen(sums->worst[i].task);

		key_width = key > key_width ? key : key_width;
		task_width = task > task_width ? task : task_width;
	}
	buf_printf(out, "\n%10s  %-*s  %-*s  %s\n", "the worst", key_width, sums->key, task_width, "task", "at");
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%10s  %-*s  %-*s  %s\n", latency_time(text, sums->worst[i].ns), key_width, sums->worst[i].key,
			   task_width, sums->worst[i].task, *sums->worst[i].time ? sums->worst[i].time : "?");
}

static void put_unmatched(const struct latency_sums *sums, struct buf *out)
{
	uint64_t known = sums->matched + sums->waiting + sums->evicted;

	buf_printf(out, "\n%" PRIu64 " starts, %" PRIu64 " met an end", sums->starts, sums->matched);
	if (sums->waiting)
		buf_printf(out, ", %" PRIu64 " wait for one", sums->waiting);
	if (sums->starts > known)
		buf_printf(out, ", %" PRIu64 " %s", sums->starts - known,
			   sums->is_exact ? "began anew before one" : "wait for one or began anew");
	if (sums->evicted)
		buf_printf(out, ", %" PRIu64 " forgotten: there were too many at once", sums->evicted);
	if (sums->ends > sums->matched)
		buf_printf(out, "; %" PRIu64 " ends without a start", sums->ends - sums->matched);
	buf_putc(out, '\n');
}

/* Lines that the powers of two take. */
static uint32_t count_powers(const struct latency_sums *sums)
{
	uint64_t counts[65];
	int first = 65, last = -1;

	by_powers(sums, counts);
	for (int i = 0; i < 65; i++)
		if (counts[i]) {
			first = i < first ? i : first;
			last = i;
		}
	return last < 0 ? 0 : (uint32_t)(last - first + 1);
}

void latency_show(const struct latency_sums *sums, uint32_t width, uint32_t height, struct buf *out)
{
	uint32_t worst = 0, powers = count_powers(sums);

	while (worst < LATENCY_WORST && sums->worst[worst].ns)
		worst++;
	if (height && powers + LINES_OTHER + worst > height)
		worst = height > powers + LINES_OTHER ? height - powers - LINES_OTHER : 0;
	buf_printf(out, "%s\n\n", sums->title);
	if (sums->matched) {
		put_powers(sums, width, out);
		buf_putc(out, '\n');
		put_quantiles(sums, out);
		if (worst)
			put_worst(sums, worst, out);
	} else {
		buf_puts(out, "no end has met a start yet\n");
	}
	put_unmatched(sums, out);
}
