/*
 * cmd/report: what the files of `ringside report` share.
 *
 *   report.c		the command, and what is done in which order
 *   report_ask.c	what the command line asks for
 *   report_entry.c	what is known of an event: found once, then used for each of its records
 *   report_line.c	a record: whether it is wanted, and its text (line.h)
 *   report_rows.c	or its row of JSON or CSV
 *   report_tail.c	--tail: where the last records begin
 *   report_follow.c	--follow, and `show -p` of a file: what comes to a file that is being recorded
 *   report_info.c	those options that print what the file says, and no records
 */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/line.h"
#include "cmd/pager.h"
#include "dat/dat.h"
#include "decode/plugin.h"
#include "expr/filter.h"
#include "replay/replay.h"
#include "report/tracecmd.h"

#define REPORT_IDS 65536
#define REPORT_USUAL_FILE "trace.dat"

struct report_file;

struct report_file {
	const char *path;
	const char *base;		/* its last part */
	struct dat *dat;
	struct replay_times times;
	struct filter *filter, *filter_out;	/* NULL: none */
	bool ticks;			/* the clock counts no nanoseconds */
	_Atomic(struct line_entry *) *entries;	/* by ID */
	uint8_t *marks;			/* by ID: must be passed; see replay_job */
};

/* PIPE: as the kernel's trace_pipe has it. */
enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_PIPE };

struct follow_lane;

/* Of a file that grows: what was printed, and up to where no event will come any more that is not there yet. */
struct report_follow {
	bool headed;
	bool grows, grew;	/* when it was last opened, and in the beginning of this round */
	bool closed;		/* it was closed up when it was last opened, and may have been just then */
	bool last;		/* this round prints all there is */
	char *path;		/* the one file that is followed; NULL: there are several */
	struct follow_lane *lanes;
	size_t nr_lanes;
	uint64_t to;		/* of this round */
	uint64_t newest;	/* time of the last event that was there when it began */
	int64_t newest_at;	/* and when that was */
	int64_t deadline_ms;	/* -1: none */
	struct buf held;	/* text of this round, */
	bool out;		/* of which some has gone out, */
	unsigned int again;	/* or how often it was read in vain */
	uint64_t lost, lost_unknown;
};

struct report {
	struct report_file *files;
	size_t nr_files;
	struct line_look look;
	enum report_form form;
	bool no_irqs, no_softirqs;	/* -I, -S */
	bool boundary, ts_check, quiet;
	bool went_back;			/* what ts_check found */
	size_t bad_events;		/* what --check-events found */
	const int *pids;
	size_t nr_pids;
	const char **comms;
	size_t nr_comms;
	const bool *cpus;		/* by number; NULL: all */
	size_t nr_cpus;
	const char *instance;		/* NULL: all */
	size_t prefix;			/* width of the name before a line; 0: none */
	size_t file_width;		/* of files alone */
	bool choosy;			/* not every record is wanted */

	struct replay *replay;
	struct pager pager;
	struct report_own *passing;	/* of the thread that cuts the parts */
	uint64_t skip;			/* records that are not printed, for --tail */
	struct report_follow *follow;	/* --follow: this is one round of many; NULL: it is not */
	uint64_t *new_from, *printed;	/* by lane: what is older was printed; the newest of this round */
	struct line_before before;	/* of --ts-diff */
	struct report_wakeup *wakeup;	/* -w */
	struct report_profile *profile;	/* --profile: nothing else is printed */
	struct err err;
};

/* report_ask.c: all of it, or words about what is wrong. First what needs no file, -EINVAL: misuse. */
int report_ask(struct report *report, const struct opts *opts);
/* Then, with the files open: */
int report_ask_times(struct report *report, const struct opts *opts);
int report_ask_filters(struct report *report, const struct opts *opts);
int report_ask_plugins(struct report *report, const struct opts *opts);
/* And with the replay: where it begins and ends, and what adds up. */
int report_ask_range(struct report *report, const struct opts *opts);
int report_ask_summaries(struct report *report, const struct opts *opts);

/* report_entry.c: NULL only when memory is out. Any thread. */
const struct line_entry *report_entry_make(const struct report *report,
					     struct report_file *file, uint32_t id);
static inline const struct line_entry *report_entry(const struct report *report,
						      struct report_file *file, uint32_t id)
{
	const struct line_entry *entry;

	id = id < REPORT_IDS ? id : REPORT_IDS - 1;
	entry = atomic_load_explicit(&file->entries[id], memory_order_acquire);
	return entry ? entry : report_entry_make(report, file, id);
}
int report_entries_new(struct report_file *file);
void report_entries_free(struct report_file *file);

/* report_line.c */
extern const struct replay_job report_job;
/* What a thread has for itself: names found so far, above all. */
struct report_own;
struct report_own *report_own_new(struct report *report);
void report_own_free(struct report_own *own);
/* report_rows.c: `text` is what stands behind the columns; of use for CSV only. */
extern const char report_csv_head[];
void report_row(const struct report *report, const struct report_file *file,
		const struct replay_record *rec, const struct line_entry *entry,
		const struct decode_ctx *ctx, const struct buf *text, struct buf *out);

/* report_tail.c: has the replay begin so that `n` records that are wanted come. */
int report_tail(struct report *report, uint64_t n);

/* report.c: one round, for a command, of the file that is followed or of those that its options name. An exit status. */
struct report_by {
	const struct cmd *cmd;
	enum report_form form;
	struct report_follow *follow;	/* NULL: there is one round */
};
int report_once(const struct report_by *by, const struct opts *opts);

/* report_follow.c: round for round, until nobody writes to it any more, a signal, or then. */
int report_follow(const struct cmd *cmd, const struct opts *opts, enum report_form form, int64_t deadline_ms);
/* What of a file that grows is printed now: 1, 0 when nothing is. */
int report_follow_range(struct report *report);
bool report_follow_new(const struct report *report, const struct replay_record *rec);
/* Text goes out when the round is through, if what it was made of has stayed where it was. */
int report_follow_put(struct report *report, const char *bytes, size_t len);
int report_follow_end(struct report *report, int r);
/* Whether the file that cannot be read is one that somebody is about to begin. */
bool report_follow_begins(const struct report *report);

bool report_wanted(struct report *report, struct report_own *own, const struct replay_record *rec,
		   const struct line_entry *entry);

#endif
