/*
 * cmd/progress: see progress.h.
 */
#include "cmd/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/cmd.h"

/* Often enough to look alive. */
#define EVERY_MS 500

void progress_begin(struct progress *progress, bool quiet)
{
	*progress = (struct progress){ .on = !quiet && isatty(STDERR_FILENO), .began = mono_ms() };
	progress->shown_at = progress->began;
}

int progress_wait(const struct progress *progress)
{
	int64_t left = progress->shown_at + EVERY_MS - mono_ms();

	/* While nothing comes nothing is shown: the line already says so. */
	if (!progress->on || !progress->moving)
		return -1;
	return left > 0 ? (int)left : 0;
}

static const char *scaled(char text[32], double number, double step, const char *const *units)
{
	while (number >= step * 0.9995 && units[1]) {
		number /= step;
		units++;
	}
	snprintf(text, 32, number < 10 && units[0][0] ? "%.2f %s" : number < 100 && units[0][0] ? "%.1f %s" : "%.0f %s",
		 number, *units);
	return text;
}

const char *progress_bytes(char text[32], uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", NULL };

	if (bytes < 1000) {
		snprintf(text, 32, "%" PRIu64 " B", bytes);
		return text;
	}
	return scaled(text, (double)bytes, 1000, units);
}

const char *progress_count(char text[32], double count)
{
	static const char *const units[] = { "", "k", "M", "G", "T", NULL };
	char *end;

	scaled(text, count, 1000, units);
	/* No unit, no blank before it. */
	for (end = text; *end; end++)
		if (*end == ' ' && !end[1])
			*end = '\0';
	return text;
}

void progress_show(struct progress *progress, const struct record_sums *sums)
{
	int64_t now = mono_ms(), since = now - progress->shown_at;
	const char *loud = "", *calm = "";
	char events[32], rate[32], bytes[32], lost[32];

	if (!progress->on)
		return;
	if (since < EVERY_MS) {
		progress->moving |= sums->events != progress->shown_events;
		return;
	}
	if ((sums->lost || sums->lost_more) && cmd_colour(STDERR_FILENO)) {
		loud = "\033[1;31m";
		calm = "\033[0m";
	}
	progress->moving = sums->events != progress->shown_events;
	progress_count(events, (double)sums->events);
	progress_count(rate, (double)(sums->events - progress->shown_events) * 1000.0 / (double)since);
	progress_bytes(bytes, sums->bytes);
	progress_count(lost, (double)sums->lost);
	fprintf(stderr, "\r\033[K%.1f s   %s events   %s/s   %s   %slost %s%s%s", (double)(now - progress->began) / 1000,
		events, rate, bytes, loud, lost, sums->lost_more ? " or more" : "", calm);
	progress->shown_at = now;
	progress->shown_events = sums->events;
}

void progress_end(struct progress *progress)
{
	if (progress->on)
		fputs("\r\033[K", stderr);
	progress->on = false;
}
