/*
 * cmd/hist_live: `ringside hist EVENT --keys ...`: a histogram of events as they come.
 */
#ifndef CMD_HIST_LIVE_H
#define CMD_HIST_LIVE_H

#include "cmd/cmd.h"

/* An exit status. */
int hist_live_run(const struct cmd *cmd, const struct opts *opts);

#endif
