/*
 * cmd/flight_event: an event that is waited for, in programs that run and in those to come.
 *
 * It has a small instance of its own with this event alone, so that nothing else wakes who waits; the instance goes with its
 * maker, however he ends (control/own).
 */
#ifndef CMD_FLIGHT_EVENT_H
#define CMD_FLIGHT_EVENT_H

#include <stdint.h>

#include "control/control.h"

struct flight_event;

/* EVENT, or EVENT if FILTER, as for -e and `report -F`. -EINVAL: it cannot be read, err->text tells. */
int flight_event_parse(struct flight_event **out, const char *text, struct err *err);

/* From now on; `like` is the instance whose clock and threads count. */
int flight_event_watch(struct flight_event *event, struct control *control, const char *like, struct err *err);

/*
 * Has a program brought such an event? Where the filter does not fit an event's format, `misfit` says so: here, if it is known by
 * now, else when it comes. Such events do not count.
 */
bool flight_event_is_known(struct flight_event *event, struct err *misfit);

/* What came; stays until the next is asked for. */
struct flight_sight {
	uint64_t ts;		/* by that clock */
	int32_t tid;
	const char *system, *name;
	const void *record;
	size_t len;
};

/* The next that passes the filter: 1, 0 when there is none now, -errno. */
int flight_event_next(struct flight_event *event, struct flight_sight *sight, struct err *misfit, struct err *err);

/* As control_rows_sleep(). */
int flight_event_sleep(struct flight_event *event, int timeout_ms, const uint32_t *also, uint32_t seen);

void flight_event_close(struct flight_event *event);

#endif
