/*
 * cmd/probe_why: why a kernel takes no probe, where it does not say so itself.
 */
#ifndef CMD_PROBE_WHY_H
#define CMD_PROBE_WHY_H

#include "cmd/probe_local.h"

/* The event was refused, and `why` is what the source says of it: err gets that, and what else can be found out. */
void probe_why(struct source *source, const struct probe_event *event, const struct err *why, struct err *err);

#endif
