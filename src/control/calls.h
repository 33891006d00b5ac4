/*
 * control/calls: events of system calls: what programs have to know of those that somebody wants (layout/calls.h).
 */
#ifndef CONTROL_CALLS_H
#define CONTROL_CALLS_H

#include <stdint.h>

#include "control/control.h"
#include "layout/calls.h"

/* Makes the state's table what its rules and hooks ask for; none if they ask for none. In a transaction, before it is published. */
int control_calls_fill(struct control *control, struct err *err);

/* By its number; NULL: there is none. As programs call it. */
const char *control_call_name(uint64_t number);
/* Of the call that the kernel's events call so, as in sys_enter_NAME; -1: none of this machine's. */
int control_call_number(const char *event);
/* What its arguments point to: `data` of layout/calls.h. */
uint32_t control_call_data(const char *name);

#endif
