/*
 * agent/compat: one connection of a stock `trace-cmd record -A`. Runs in a jail.
 */
#ifndef AGENT_COMPAT_H
#define AGENT_COMPAT_H

#include "net/admit.h"

/* Is what waits there to be read a stock driver's first word? At most so long is waited for it. */
bool compat_speaks(int fd, int ms);
/* An exit status. */
int compat_run_agent(int fd, const struct admit_how *how);

#endif
