/*
 * cmd/setup: what `start` and `set` have in common: buffers made ready as the command line says.
 */
#ifndef CMD_SETUP_H
#define CMD_SETUP_H

#include <stdbool.h>

#include "cmd/cmd.h"

extern const struct opt setup_opts[];
#define SETUP_SYNOPSIS "[-e SYSTEM[:EVENT] [-f FILTER]]... [-p TRACER] [-O OPTION]... [-C CLOCK] [-b KB] " \
	"[-B INSTANCE ...]..."

/* With `on`, recording is switched on at the end. An exit status. */
int setup_run(const struct cmd *cmd, const struct opts *opts, bool on);

#endif
