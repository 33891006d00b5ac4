/*
 * control/wanted: which probes at instructions somebody wants, so that programs patch these and no others.
 */
#ifndef CONTROL_WANTED_H
#define CONTROL_WANTED_H

#include "control/state.h"

/* Marks them, PROBE_WANTED, by the state's rules and by what hangs on their events. Before it is published. */
void control_wanted_fill(struct control_state *state);

#endif
