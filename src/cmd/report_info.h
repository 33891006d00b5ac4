/*
 * cmd/report_info: what `report` tells of a file instead of its events: the options after which it
 * is done. Each function appends its text for one file, to the byte as trace-cmd 3.1.6 prints it;
 * where that prints nothing or nonsense, the comment says what is printed here.
 *
 * Not in the text: the line "cpus=N", which trace-cmd has before --stat, --uname and --version and
 * before none of the others. -e, -p, -f, -P and -E tell of the first of several files only.
 */
#ifndef CMD_REPORT_INFO_H
#define CMD_REPORT_INFO_H

#include "base/buf.h"
#include "base/err.h"
#include "dat/dat.h"
#include "replay/replay.h"

void report_info_endian(const struct dat *dat, struct buf *out);	/* -e */
void report_info_page_size(const struct dat *dat, struct buf *out);	/* -p */
void report_info_functions(struct dat *dat, struct buf *out);		/* -f */
void report_info_printks(struct dat *dat, struct buf *out);		/* -P */
int report_info_events(const struct dat *dat, struct buf *out);		/* -E: 0 or -ENOMEM */

/*
 * --events, or with `re` --event: formats. `re` is SYSTEM:EVENT, two regular expressions, or one
 * that either is to match. In trace-cmd files of version 7 have none; here both versions have.
 */
int report_info_formats(const struct dat *dat, const char *re, struct buf *out, struct err *err);

/*
 * --check-events: the number of formats that cannot be used; out has a line of words for each,
 * where trace-cmd only has an exit status.
 */
size_t report_info_check(struct dat *dat, struct buf *out);

int report_info_stat(const struct dat *dat, struct buf *out, struct err *err);	/* --stat */

/* --uname, behind which trace-cmd prints what --version alone prints, too. */
void report_info_uname(const struct dat *dat, struct buf *out);
void report_info_version(const struct dat *dat, struct buf *out);

/*
 * --cpus, --first-event, --last-event: the CPUs of the top buffer, and when their first and last
 * events were. A time is one even if the event is not known, where trace-cmd has [UNKNOWN EVENT].
 */
struct report_info_cpus {
	bool first, last;
	unsigned int flags;		/* TRACECMD_TICKS, TRACECMD_NS: of the times */
	struct replay_times times;
};
int report_info_cpus(struct dat *dat, const struct report_info_cpus *how, struct buf *out,
		     struct err *err);

#endif
