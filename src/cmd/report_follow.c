/*
 * cmd/report_follow: a file that is being recorded, round for round: what has come since goes out, in order of time, until nobody
 * writes to the file any more. See report.h.
 *
 * Events of CPUs come in no order, but mostly soon: what was the newest half a second ago has all before it by now. What comes later than
 * that, as after a cut, is printed when it is there, behind what is newer: how far each CPU was printed is known for itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/interrupt.h"
#include "cmd/report.h"
#include "collect/store.h"
#include "dat/live.h"

#define FOLLOW_MS 250
#define SETTLE_MS 500
/* Text of a round that waits for its end. */
#define HELD_MAX ((size_t)32 << 20)
#define AGAIN_MAX 20

/* Up to where a CPU was printed. */
struct follow_lane {
	unsigned int file_nr, buffer_nr;
	int cpu;
	uint64_t done;
};

static struct follow_lane *lane_of(struct report_follow *follow, const struct replay_lane *lane)
{
	struct follow_lane *more;

	for (size_t i = 0; i < follow->nr_lanes; i++) {
		more = &follow->lanes[i];
		if (more->cpu == lane->cpu && more->buffer_nr == lane->buffer_nr && more->file_nr == lane->file_nr)
			return more;
	}
	more = realloc(follow->lanes, (follow->nr_lanes + 1) * sizeof(*more));
	if (!more)
		return NULL;
	follow->lanes = more;
	more += follow->nr_lanes++;
	*more = (struct follow_lane){ lane->file_nr, lane->buffer_nr, lane->cpu, 0 };
	return more;
}

/* Up to which time this round prints. */
static uint64_t settled(struct report_follow *follow, uint64_t newest)
{
	int64_t now = mono_ms();

	if (!follow->grows || follow->last)
		return UINT64_MAX;
	if (!follow->newest_at || now - follow->newest_at >= SETTLE_MS) {
		follow->to = follow->newest_at ? follow->newest : 0;
		follow->newest = newest;
		follow->newest_at = now;
	}
	return follow->to;
}

/* What each CPU has that was not printed yet: from where on, in report->new_from, and the least of them. */
static int find_new(struct report *report, uint64_t to, uint64_t *from)
{
	struct report_follow *follow = report->follow;
	uint64_t first, last;
	size_t n = 0;

	while (replay_lane(report->replay, n))
		n++;
	report->new_from = calloc(n ? n : 1, sizeof(*report->new_from));
	report->printed = calloc(n ? n : 1, sizeof(*report->printed));
	if (!report->new_from || !report->printed)
		return err_set(&report->err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct follow_lane *lane = lane_of(follow, replay_lane(report->replay, i));

		if (!lane)
			return err_set(&report->err, -ENOMEM, "out of memory");
		report->new_from[i] = lane->done ? lane->done + 1 : 0;
		if (!replay_lane_ends(report->replay, i, &first, &last) || last < report->new_from[i])
			continue;
		if (first <= to)
			*from = report->new_from[i] < *from ? report->new_from[i] : *from;
	}
	return 0;
}

/* It may have been closed up while it was opened: it is looked at once more when it is. */
static bool is_still(struct report *report)
{
	struct report_follow *follow = report->follow;
	bool moved = false;

	follow->grows = follow->out = false;
	for (size_t i = 0; i < report->nr_files; i++) {
		moved |= dat_live_moved(report->files[i].dat);
		follow->grows |= dat_live_grows(report->files[i].dat);
	}
	moved |= !follow->grows && !follow->closed;
	moved &= !follow->last;
	follow->closed = !follow->grows;
	follow->grew = follow->grows;
	follow->grows |= moved;
	return !moved;
}

int report_follow_range(struct report *report)
{
	struct report_follow *follow = report->follow;
	uint64_t newest = 0, from = UINT64_MAX, to, first, last;
	int r;

	if (!is_still(report))
		return 0;
	for (size_t i = 0; replay_lane(report->replay, i); i++)
		if (replay_lane_ends(report->replay, i, &first, &last) && last > newest)
			newest = last;
	to = settled(follow, newest);
	r = find_new(report, to, &from);
	if (r)
		return r;
	/* In the last round also the lines that a file without events has. */
	if (from > to && (follow->headed || follow->grows))
		return 0;
	replay_until(report->replay, to);
	r = from && from <= to ? replay_seek(report->replay, from, &report->err) : 0;
	return r ? r : 1;
}

bool report_follow_new(const struct report *report, const struct replay_record *rec)
{
	uint64_t *newest = &report->printed[rec->lane->nr], old = __atomic_load_n(newest, __ATOMIC_RELAXED);

	if (rec->ts < report->new_from[rec->lane->nr])
		return false;
	while (old < rec->ts && !__atomic_compare_exchange_n(newest, &old, rec->ts, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return true;
}

/* ---- what goes out ---- */

int report_follow_put(struct report *report, const char *bytes, size_t len)
{
	struct report_follow *follow = report->follow;
	int r;

	buf_add(&follow->held, bytes, len);
	if (buf_failed(&follow->held))
		return err_set(&report->err, -ENOMEM, "out of memory");
	if (follow->held.len < HELD_MAX)
		return 0;
	r = pager_put(&report->pager, follow->held.data, follow->held.len);
	buf_reset(&follow->held);
	follow->out = true;
	return r;
}

/* Has what was read been moved meanwhile, because the file is closed up? Much that is read at once is not held back for that. */
static bool has_moved(const struct report *report)
{
	bool moved = false, grows = false;

	for (size_t i = 0; i < report->nr_files; i++) {
		moved |= dat_live_moved(report->files[i].dat);
		grows |= dat_live_grows(report->files[i].dat);
	}
	return (moved || (report->follow->grew && !grows)) && !report->follow->out;
}

int report_follow_end(struct report *report, int r)
{
	struct report_follow *follow = report->follow;
	uint64_t lost, unknown;

	if (has_moved(report) && follow->again++ < AGAIN_MAX) {
		follow->grows = true;
		report->err = (struct err)ERR_INIT;
		r = 0;
	} else {
		follow->again = 0;
		for (size_t i = 0; replay_lane(report->replay, i); i++) {
			struct follow_lane *lane = lane_of(follow, replay_lane(report->replay, i));

			if (lane && report->printed[i] > lane->done)
				lane->done = report->printed[i];
		}
		replay_lost(report->replay, &lost, &unknown);
		follow->lost += lost;
		follow->lost_unknown += unknown;
		r = r || !follow->held.len ? r : pager_put(&report->pager, follow->held.data, follow->held.len);
	}
	buf_reset(&follow->held);
	return r;
}

/* ---- all of it ---- */

/* Somebody has just made it, and is going to write to it. */
bool report_follow_begins(const struct report *report)
{
	int fd = open(report->files[0].path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* What a listener rotates goes on in another file, which is there before the one is closed. */
static bool go_on(struct report_follow *follow)
{
	char *next = follow->path ? store_next(follow->path) : NULL;

	if (!next || access(next, R_OK)) {
		free(next);
		return false;
	}
	free(follow->path);
	free(follow->lanes);
	follow->path = next;
	follow->lanes = NULL;
	follow->nr_lanes = 0;
	follow->newest_at = 0;
	follow->grows = true;
	follow->closed = false;
	return true;
}

/* The one file that is followed, for go_on(); of a board's directory the newest recording. */
static int find_file(struct report_follow *follow, const struct opts *opts, struct err *err)
{
	const char *path = REPORT_USUAL_FILE;
	size_t n = 0;
	int r;

	for (int i = 0; i < opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];

		if (item->opt && strcmp(item->opt->word, "input"))
			continue;
		path = item->value;
		n++;
	}
	if (n > 1)
		return 0;
	r = store_newest(path, &follow->path, err);
	if (!r && !follow->path)
		follow->path = strdup(path);
	return r ? r : follow->path ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Until there may be more. What is not closed when it is time to end is printed as it is. */
static void wait_round(struct report_follow *follow, int64_t ms)
{
	int64_t left = follow->deadline_ms < 0 ? ms : follow->deadline_ms - mono_ms();

	if (ms)
		poll(NULL, 0, left < 0 ? 0 : (int)(left < ms ? left : ms));
	follow->last = interrupt_end() || (follow->deadline_ms >= 0 && follow->deadline_ms <= mono_ms());
}

int report_follow(const struct cmd *cmd, const struct opts *opts, enum report_form form, int64_t deadline_ms)
{
	struct report_follow follow = { .grows = true, .deadline_ms = deadline_ms, .held = BUF_INIT };
	struct report_by by = { cmd, form, &follow };
	struct err err = ERR_INIT;
	int status = find_file(&follow, opts, &err) ? cmd_fail(&err) : CMD_DONE;

	interrupt_catch();
	while (!status && follow.grows) {
		bool ends = follow.last;

		status = report_once(&by, opts);
		if (ends)
			break;
		if (follow.grows)
			wait_round(&follow, follow.closed ? 0 : FOLLOW_MS);
		else if (go_on(&follow))
			wait_round(&follow, 0);
	}
	if (!opts_value(opts, "quiet"))
		line_tell_lost(follow.lost, follow.lost_unknown);
	buf_fini(&follow.held);
	free(follow.path);
	free(follow.lanes);
	return status;
}
