/*
 * plan/names: functions that are known by name for what they do to stacks. Within this room.
 */
#ifndef PLAN_NAMES_H
#define PLAN_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* PLAN_SITE_* of a function of this name, without its version. */
uint16_t names_flags(const char *name);
/* Nothing that is called there: a signal's way back, code that takes its arguments where calls have none, a part of a function. */
bool names_special(const char *name);
/* Not even its instructions are to be touched: all of the above but parts, and what the kernel or a signal handler knows by address. */
bool names_untouchable(const char *name);

#endif
