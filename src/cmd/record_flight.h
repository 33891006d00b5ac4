/*
 * cmd/record_flight: the flight recorder: rings that overwrite, until a moment comes whose surroundings are saved.
 */
#ifndef CMD_RECORD_FLIGHT_H
#define CMD_RECORD_FLIGHT_H

#include "cmd/launch.h"
#include "cmd/record_ask.h"
#include "cmd/setup.h"

/*
 * From when the buffers are on until the command ends or somebody ends it; `launch` is NULL without a command. Of `ask`
 * the whole of `how` is filled in. An exit status.
 */
int record_flight(const struct record_ask *ask, const struct opts *opts, struct setup *setup, struct launch *launch);

#endif
