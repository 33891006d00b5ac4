/*
 * control/rules: which events are on. An enable is a pattern, so that it also holds for programs
 * that come later; the last rule that matches an event decides, and what no rule matches is off.
 */
#ifndef CONTROL_RULES_H
#define CONTROL_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "control/state.h"

/* Is this event on in the buffer with that index, by the rules alone? */
bool control_rules_on(const struct control_state *state, uint32_t buffer, const char *system,
		      const char *event);

/* The same in any buffer, which may be switched off: what is to be patched does not change with that. */
bool control_rules_any(const struct control_state *state, const char *system, const char *event);
/* Does anything hang on it that acts? */
bool control_hooks_on(const struct control_state *state, const char *system, const char *event);

/*
 * One more rule; earlier ones that it makes useless go. -EINVAL: a pattern is too long or empty.
 * -ENOSPC: too many rules.
 */
int control_rules_set(struct control_state *state, uint32_t buffer, const char *system,
		      const char *event, bool on, struct err *err);

/* Nothing is on in the buffer any more. */
void control_rules_clear(struct control_state *state, uint32_t buffer);

#endif
