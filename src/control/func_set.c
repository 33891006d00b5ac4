/*
 * control/func_set: see func_set.h.
 */
#include "control/func_set.h"

#include <string.h>

#include "base/glob.h"

void control_function_put(struct buf *out, const struct control_function *function)
{
	buf_puts(out, function->name);
	if (!function->program)
		buf_printf(out, " [%s]", function->module);
}

bool control_func_matches(const struct control_func *line, const struct control_function *function)
{
	return glob_match(line->name, function->name) && (!line->module || glob_match(line->module, function->module));
}

static bool is_of(const struct control_func *line, uint32_t buffer, uint32_t kind)
{
	return line->func.buffer == buffer && line->func.kind == kind;
}

bool control_funcs_any(const struct control_state *state, uint32_t buffer, uint32_t kind)
{
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (is_of(&state->funcs[i], buffer, kind))
			return true;
	return false;
}

/* The last line that matches decides. */
bool control_funcs_has(const struct control_state *state, uint32_t buffer, uint32_t kind,
		       const struct control_function *function)
{
	for (uint32_t i = state->nfuncs; i-- > 0;)
		if (is_of(&state->funcs[i], buffer, kind) && control_func_matches(&state->funcs[i], function))
			return !(state->funcs[i].func.flags & STATE_FUNC_OUT);
	return false;
}

bool control_funcs_wanted(const struct control_state *state, uint32_t buffer, const struct control_function *function)
{
	return (!control_funcs_any(state, buffer, STATE_FUNC_ONLY) ||
		control_funcs_has(state, buffer, STATE_FUNC_ONLY, function)) &&
	       !control_funcs_has(state, buffer, STATE_FUNC_NOT, function);
}

bool control_func_waits(const struct control_func *line, const struct control_functions *functions)
{
	if (!line->module || line->func.kind == STATE_FUNC_ACT || line->func.flags & STATE_FUNC_OUT)
		return false;
	for (size_t i = 0; i < functions->n; i++)
		if (control_function_is_there(&functions->all[i]) && control_func_matches(line, &functions->all[i]))
			return false;
	return true;
}

uint32_t control_funcs_kind(const char *file)
{
	static const char *const files[] = {
		[STATE_FUNC_ONLY] = "set_ftrace_filter",
		[STATE_FUNC_NOT] = "set_ftrace_notrace",
		[STATE_FUNC_ROOT] = "set_graph_function",
		[STATE_FUNC_NOT_ROOT] = "set_graph_notrace",
		[STATE_FUNC_DEEP] = "stack_trace_filter",
	};

	for (uint32_t kind = STATE_FUNC_ONLY; kind <= STATE_FUNC_DEEP; kind++)
		if (files[kind] && !strcmp(files[kind], file))
			return kind;
	return 0;
}

void control_funcs_put_lines(const struct control_state *state, uint32_t buffer, uint32_t kind, struct buf *out)
{
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		const struct control_func *line = &state->funcs[i];

		if (is_of(line, buffer, kind))
			buf_printf(out, "%s%s%s%s\n", line->func.flags & STATE_FUNC_OUT ? "!" : "", line->name,
				   line->module ? ":mod:" : "", line->module ? line->module : "");
	}
}
