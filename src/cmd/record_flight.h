/*
 * cmd/record_flight: the flight recorder: rings that overwrite, until a moment comes whose surroundings are saved.
 *
 *	record_flight_open()	before anything is on, so that no moment is missed
 *	record_flight_run()	armed | a moment | what comes after it | rings turned | a file | armed ...
 */
#ifndef CMD_RECORD_FLIGHT_H
#define CMD_RECORD_FLIGHT_H

#include "cmd/launch.h"
#include "cmd/record_ask.h"

struct flight;

/* Can --on be read? -EINVAL with words. Nothing is touched. */
int record_flight_check(const char *on, struct err *err);

/*
 * With the buffers made ready. Of `ask` the whole of `how` is filled in; it and `launch`, which is NULL without a command, have to
 * outlive it. To be closed also when it fails.
 */
int record_flight_open(struct flight **out, const struct record_ask *ask, const struct opts *opts, struct launch *launch,
		       struct err *err);

/* From when all is on until the command has ended or somebody ends it. 0, or -errno of what was told by then. */
int record_flight_run(struct flight *flight);

void record_flight_close(struct flight *flight);

#endif
