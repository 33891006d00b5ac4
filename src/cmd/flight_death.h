/*
 * cmd/flight_death: processes that may die, and the last that they did.
 *
 * A command is a child and tells how it ended; of other processes (-P) no more can be known than that they are gone.
 */
#ifndef CMD_FLIGHT_DEATH_H
#define CMD_FLIGHT_DEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "cmd/launch.h"
#include "control/control.h"

struct flight_watch {
	pid_t pid;
	int fd;		/* -1: it is gone, and that was told */
};

struct flight_death {
	struct flight_watch *watches;
	size_t n, left;
	uint64_t oom_kills;	/* in our control group, before */
};

/* The processes of the threads that -P names. -ESRCH: one of them is not there; if not `all` have to be, none is. */
int flight_death_watch(struct flight_death *death, const struct opts *opts, bool all, struct err *err);
void flight_death_fini(struct flight_death *death);

/* One that is gone since this was last asked; 0: none. */
pid_t flight_death_gone(struct flight_death *death);

/* Until one of them, or the command, is gone, a signal comes, or the time is over. */
void flight_death_sleep(const struct flight_death *death, const struct launch *launch, int timeout_ms);

/* How a command ended, in words: "was killed by SIGSEGV (segmentation fault)". False: by itself. */
bool flight_death_words(struct flight_death *death, int status, char text[128]);

/* The newest events of the process in that trace file, on stderr as `ringside report` prints them. */
int flight_death_print(struct control *control, pid_t pid, const char *path, struct err *err);

#endif
