/*
 * cmd/profile_hooks: two events of which the second ends what the first began. In: the text of -H,
 * [SYSTEM:]EVENT,MATCH[,PID]/[SYSTEM:]EVENT,MATCH[,FLAGS]. Out: its words, or what is wrong with
 * them.
 */
#ifndef CMD_PROFILE_HOOKS_H
#define CMD_PROFILE_HOOKS_H

#include <stdbool.h>

#include "base/err.h"
#include "dat/dat.h"

struct profile_side {
	const char *system;	/* NULL: any */
	const char *event;
	const char *match;	/* the field that has the same value in both events */
};

struct profile_hook {
	struct profile_side start, end;
	const char *pid;	/* the start's field with the task; NULL: the one that runs */
	bool pinned;		/* both happen on one CPU */
	bool global;		/* of no task */
	char *text;		/* to be freed; NULL: nothing is */
};

/* Words in err tell which part cannot be. */
int profile_hook_parse(struct profile_hook *hook, const char *text, struct err *err);
void profile_hook_fini(struct profile_hook *hook);

bool profile_side_is(const struct profile_side *side, const char *system, const char *event);
/* Both events are in the file. */
bool profile_hook_works(const struct profile_hook *hook, const struct dat *dat);
/* -EINVAL with words: the file has an event of the hook, but without the field. */
int profile_hook_check(const struct profile_hook *hook, struct dat *dat, struct err *err);

#endif
