/*
 * cmd/report_wakeup: `report -w`: how long tasks that were woken waited for a CPU.
 *
 * In: records in the order of time, of any events. Out: what comes behind the line of a switch to a
 * task that was woken, and a summary at the end. trace-cmd does this for one file only; here each
 * file's tasks are its own.
 */
#ifndef CMD_REPORT_WAKEUP_H
#define CMD_REPORT_WAKEUP_H

#include "base/buf.h"
#include "decode/format.h"
#include "replay/replay.h"

struct report_wakeup;

struct report_wakeup *report_wakeup_new(void);
void report_wakeup_free(struct report_wakeup *wakeup);

/* Appends " Latency: 3767.537 usecs", or nothing. */
void report_wakeup_feed(struct report_wakeup *wakeup, const struct replay_record *rec,
			const struct decode_format *format, struct buf *out);
/* The summary; nothing when nobody waited. */
void report_wakeup_end(const struct report_wakeup *wakeup, struct buf *out);

#endif
