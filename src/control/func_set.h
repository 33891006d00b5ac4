/*
 * control/func_set: which functions the lines about functions mean: what the runtime does with them in programs, done to the
 * functions that are known here.
 */
#ifndef CONTROL_FUNC_SET_H
#define CONTROL_FUNC_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "control/plans.h"
#include "control/state.h"

/* Can it be traced at all? */
static inline bool control_function_is_there(const struct control_function *function)
{
	return function->kind != PLAN_NOT;
}

/* As available_filter_functions shows it: `name`, or `name [module]`. */
void control_function_put(struct buf *out, const struct control_function *function);

bool control_func_matches(const struct control_func *line, const struct control_function *function);

/* Has a kind any lines in that buffer? If not, its set is empty. */
bool control_funcs_any(const struct control_state *state, uint32_t buffer, uint32_t kind);
/* Is it in the set that the lines of a kind make? Not of STATE_FUNC_ACT, whose lines are no set. */
bool control_funcs_has(const struct control_state *state, uint32_t buffer, uint32_t kind,
		       const struct control_function *function);

/* Does the buffer want it, by the files set_ftrace_filter and set_ftrace_notrace? */
bool control_funcs_wanted(const struct control_state *state, uint32_t buffer, const struct control_function *function);

/* A line that waits for a file that no program has brought: it takes in, names a module and matches nothing. */
bool control_func_waits(const struct control_func *line, const struct control_functions *functions);

/* The kind of the lines that a file of the tree takes, 0: it takes none. */
uint32_t control_funcs_kind(const char *file);
/* Those lines as they would have to be written, in their order. */
void control_funcs_put_lines(const struct control_state *state, uint32_t buffer, uint32_t kind, struct buf *out);

#endif
