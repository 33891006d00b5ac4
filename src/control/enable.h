/*
 * control/enable: switching events on and off in a transaction, rings included.
 */
#ifndef CONTROL_ENABLE_H
#define CONTROL_ENABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"
#include "control/registry.h"

/* Events that match, also those to come. The first one that is switched on makes the rings. */
int control_enable(struct control *control, uint32_t buffer, const char *system, const char *event,
		   bool on, struct err *err);

/* Everything of a system of that name, and events of that name in any system. */
int control_enable_name(struct control *control, uint32_t buffer, const char *name, bool on,
			struct err *err);

/* An event's `format` file. */
void control_event_format(const struct control_event *event, struct buf *out);

/* The same for one of ftrace's own events, by its id; false when there is none. */
bool control_builtin_format(uint32_t id, struct buf *out);
/* Its id by its name; 0: there is none. */
uint32_t control_builtin_id(const char *name);

#endif
