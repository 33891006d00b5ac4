/*
 * cmd/planner: a process that makes plans of functions for programs as they start, for as long as a recording lasts.
 *
 * Plans are read out of ELF files, which may hold anything: that is not done in the process that records. It ends with that one,
 * however that ends.
 */
#ifndef CMD_PLANNER_H
#define CMD_PLANNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "cmd/setup.h"
#include "source/source.h"

struct planner {
	pid_t pid;	/* 0: there is none */
	bool quiet;
	const struct control *control;
	uint32_t no_returns;	/* programs like that, so far */
};

/*
 * Where the setup is about functions of programs, or there are probes in code: those of the command that ends the line, and of the
 * processes that -P names; then the process for those to come. Before setup_apply(), which names functions, and before the command is
 * started.
 */
int planner_begin(struct planner *planner, const struct setup *setup, struct source *source, const struct opts *opts,
		  struct err *err);
/* The same whatever the setup is about. */
int planner_start(struct planner *planner, struct source *source, const struct opts *opts, bool quiet, struct err *err);
/* Says so if returns of functions could not be seen. */
void planner_end(struct planner *planner);

#endif
