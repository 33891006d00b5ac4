/*
 * cmd/switches: a process that tells when threads of attached programs come onto a CPU and go: sched:sched_switch, sched_waking,
 * sched_wakeup.
 *
 * Programs do not see that, but the kernel tells whoever may trace them, without root, by context-switch records of perf. They are
 * had some time after the fact, so they are told late (capture/told.h). A recording has such a process of its own, which
 * ends with it; else one goes on in the background until nobody wants these events any more. There is one in a directory.
 */
#ifndef CMD_SWITCHES_H
#define CMD_SWITCHES_H

#include <sys/types.h>

#include "base/err.h"
#include "control/control.h"
#include "source/source.h"

struct switches {
	pid_t pid;	/* 0: there is none */
	struct control *control;	/* where we tell, or somebody else does; NULL: nobody */
	struct source *source;	/* where somebody told in the background, and is to again; NULL */
};

/* If one of the events is on, by name and not just with all others: `root` is watched from now on with all that it will start, 0: nobody
 * is yet. Behind setup_apply(). Where they cannot be had it says so, and that is all. */
void switches_begin(struct switches *switches, struct source *source, pid_t root);
/* From now on all is told: behind setup_on(), and before a command runs. */
void switches_ready(const struct switches *switches);
/* All that happened so far is told. Before events are switched off. */
void switches_end(struct switches *switches);
/* Behind all else, before the source is closed: who told before us comes again. */
void switches_close(struct switches *switches);

/* The same in the background; the root is who called us, a shell perhaps. */
void switches_stay(struct source *source);
void switches_stay_for(struct source *source, pid_t root);

/* The same, time and again, for as long as a process lives that serves the tree: it keeps *keep open; -1: nothing comes of it. */
void switches_follow(struct control *control, int *keep);

#endif
