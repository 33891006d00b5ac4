/*
 * agent/relay: one connection of a driver. Runs in a jail.
 */
#ifndef AGENT_RELAY_H
#define AGENT_RELAY_H

#include <stdbool.h>

#include "net/admit.h"

/* An exit status. */
int relay_run(int fd, const struct admit_how *how);

#endif
