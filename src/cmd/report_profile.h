/*
 * cmd/report_profile: `report --profile`: what tasks waited for, and how long.
 *
 * In: all records in the order of time. Out, at the end: for each task, how often each of its
 * events came, and of those that begin something that another one ends (a system call, a softirq,
 * sleep, a function) how long that took, with the stacks that were recorded at the beginning.
 *
 * Memory is for each task, event and different stack, and for what has begun and not ended.
 */
#ifndef CMD_REPORT_PROFILE_H
#define CMD_REPORT_PROFILE_H

#include "base/buf.h"
#include "base/err.h"
#include "decode/format.h"
#include "replay/replay.h"

struct report_profile;

enum {
	REPORT_PROFILE_GLOBAL = 1,	/* -G: interrupts belong to CPUs and not to tasks */
	REPORT_PROFILE_BY_COMM = 2,	/* --by-comm: tasks of one name together */
};
/* NULL: no memory. */
struct report_profile *report_profile_new(unsigned int flags);
void report_profile_free(struct report_profile *profile);

/* -H, before the first record: see profile_hooks.h. */
int report_profile_hook(struct report_profile *profile, const char *text, struct err *err);
/* The hooks' fields against a file's formats: -EINVAL with words. */
int report_profile_check(const struct report_profile *profile, struct dat *dat, struct err *err);

/* 0 or -ENOMEM. */
int report_profile_feed(struct report_profile *profile, const struct replay_record *rec,
			const struct decode_format *format);
int report_profile_end(struct report_profile *profile, struct buf *out);

#endif
