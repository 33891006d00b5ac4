/*
 * cmd/reach: processes that run already, brought to the tracing directory for as long as a command wants, or for longer.
 */
#ifndef CMD_REACH_H
#define CMD_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cmd/cmd.h"

/* Those that joined because of us. */
struct reach {
	char *dir;
	pid_t *pids;
	size_t n;
};

#define REACH_NONE { NULL, NULL, 0 }

/* The processes of all -P of the line join the directory at `dir`. Of one that cannot, and has not by itself, there is a word
 * unless `quiet`: others are recorded all the same. -ESRCH: there is none of them. */
int reach_open(struct reach *reach, const struct opts *opts, const char *dir, bool quiet, struct err *err);
/* Whoever joined because of us is left alone again. */
void reach_close(struct reach *reach);

/* The whole of `attach` and `detach`: an exit status. */
int reach_run(const struct cmd *cmd, const struct opts *opts, bool join);

#endif
