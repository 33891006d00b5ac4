/*
 * cmd/report_tail: where the last N records begin. Looks back over twice as much time again and again,
 * from the end, until there are enough; so it reads little more than it prints.
 */
#include <errno.h>

#include "cmd/report.h"


#define FIRST_LOOK 1000000u	/* nanoseconds */

static bool ends(struct report *report, uint64_t *first, uint64_t *last)
{
	uint64_t a, b;
	bool any = false;

	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; replay_lane(report->replay, i); i++) {
		if (!replay_lane_ends(report->replay, i, &a, &b))
			continue;
		any = true;
		*first = a < *first ? a : *first;
		*last = b > *last ? b : *last;
	}
	return any;
}

/* Those that are wanted from `from` on. Functions that end there count with those that begin. */
static int count(struct report *report, uint64_t from, uint64_t *nr)
{
	struct report_own *own = report_own_new(report);
	struct replay_record rec;
	const struct line_entry *entry;
	int r;

	*nr = 0;
	if (!own)
		return err_set(&report->err, -ENOMEM, "out of memory");
	r = replay_seek(report->replay, from, &report->err);
	while (!r && (r = replay_next(report->replay, &rec, &report->err)) == 1) {
		entry = report_entry(report, &report->files[rec.lane->file_nr], rec.id);
		*nr += entry && report_wanted(report, own, &rec, entry);
		r = 0;
	}
	report_own_free(own);
	return r;
}

int report_tail(struct report *report, uint64_t n)
{
	uint64_t first, last, from, nr = 0, look = FIRST_LOOK;
	int r = 0;

	if (!ends(report, &first, &last))
		return 0;
	do {
		from = last - first > look ? last - look : 0;
		r = count(report, from, &nr);
		look *= 4;
	} while (!r && nr < n && from);
	if (r)
		return r;
	report->skip = nr > n ? nr - n : 0;
	return replay_seek(report->replay, from, &report->err);
}
