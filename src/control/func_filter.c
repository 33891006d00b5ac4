/*
 * control/func_filter: writing set_ftrace_filter, set_ftrace_notrace, set_graph_function, set_graph_notrace and
 * stack_trace_filter. Reading them is in func_list.c, commands are in func_act.c.
 *
 * What is kept are the lines themselves, as patterns, for programs to come. The kernel keeps functions; so that both mean the
 * same for the programs that are there, lines that have come to nothing go: a set that lost its last function is no set.
 */
#include <errno.h>
#include <string.h>

#include "control/func_token.h"
#include "control/hooks.h"
#include "control/measure.h"

static int too_many(struct err *err)
{
	return err_set(err, -ENOSPC, "there are too many lines about functions: use wider patterns");
}

static bool is_same(const struct control_func *line, uint32_t buffer, uint32_t kind, const struct func_token *token)
{
	return line->func.buffer == buffer && line->func.kind == kind && !strcmp(line->name, token->name) &&
	       !line->module == !token->module && (!token->module || !strcmp(line->module, token->module));
}

/* An older line with the same words says nothing any more. */
static void drop_same(struct control_state *state, uint32_t buffer, uint32_t kind, const struct func_token *token)
{
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		if (!is_same(&state->funcs[i], buffer, kind, token))
			continue;
		control_state_func_remove(state, i);
		return;
	}
}

static bool is_graph(uint32_t kind)
{
	return kind == STATE_FUNC_ROOT || kind == STATE_FUNC_NOT_ROOT;
}

/* Is there anything in the set that it would take out? */
static bool takes_out(const struct control_state *state, uint32_t buffer, uint32_t kind, const struct func_token *token,
		      const struct control_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++)
		if (func_token_matches(token, &functions->all[i]) && control_funcs_has(state, buffer, kind, &functions->all[i]))
			return true;
	return false;
}

/* The kernel's rules: a plain pattern means something now, one with a module may wait for it. */
static int check(const struct control_state *state, uint32_t buffer, uint32_t kind, const struct func_token *token,
		 const struct control_functions *functions, struct err *err)
{
	bool found = func_token_count(token, functions);

	if (is_graph(kind) && token->out && found && !takes_out(state, buffer, kind, token, functions))
		return err_set(err, -EINVAL, "'%.80s': there is no such function in it", token->text);
	if (!found && token->module && !is_graph(kind)) {
		for (uint32_t i = 0; token->out && i < state->nfuncs && !found; i++)
			found = is_same(&state->funcs[i], buffer, kind, token);
		found |= !token->out;
	}
	if (found)
		return 0;
	return err_set(err, -EINVAL, "no program has such a function as '%.80s': ringside list -f; for a file that is loaded "
		       "later write FUNCTION:mod:FILE", token->text);
}

static int add_line(struct control_state *state, uint32_t buffer, uint32_t kind, const struct func_token *token,
		    const struct control_functions *functions, struct err *err)
{
	struct control_func *line;
	int r = check(state, buffer, kind, token, functions, err);

	if (r)
		return r;
	drop_same(state, buffer, kind, token);
	/* From nothing nothing can be taken, and one that waited does so no more. */
	if (token->out && (!control_funcs_any(state, buffer, kind) || !func_token_count(token, functions)))
		return 0;
	line = control_state_func_add(state, token->name, token->module, token->text + token->out);
	if (!line)
		return too_many(err);
	line->func.buffer = (uint16_t)buffer;
	line->func.kind = (uint8_t)kind;
	line->func.flags = token->out ? STATE_FUNC_OUT : 0;
	return 0;
}

/* Does any line still take something in, or wait? */
static bool is_alive(const struct control_state *state, uint32_t buffer, uint32_t kind, const struct control_functions *functions)
{
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		const struct control_func *line = &state->funcs[i];

		if (line->func.buffer == buffer && line->func.kind == kind && control_func_waits(line, functions))
			return true;
	}
	for (size_t i = 0; i < functions->n; i++)
		if (control_function_is_there(&functions->all[i]) && control_funcs_has(state, buffer, kind, &functions->all[i]))
			return true;
	return false;
}

static int is_command(uint32_t kind, const struct func_token *token, struct err *err)
{
	if (!token->command)
		return 0;
	if (kind == STATE_FUNC_ONLY)
		return 1;
	return err_set(err, -EINVAL, "'%.80s': commands are for set_ftrace_filter", token->text);
}

static int apply(struct node_request *request, uint32_t kind, const struct control_functions *functions, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len;
	struct control_state *state = &request->control->state;
	struct control_items *items = NULL;
	struct func_token token;
	bool changed = false;
	int r;

	while ((r = func_token_next(&at, end, functions, &token, err)) == 1) {
		r = is_command(kind, &token, err);
		if (r < 0)
			break;
		if (!r) {
			r = add_line(state, request->buffer, kind, &token, functions, err);
			changed = true;
		} else {
			r = items ? 0 : control_items_open(&items, request->control, err);
			if (!r)
				r = control_touched_make(request->control, err);
			if (!r)
				r = func_act_apply(items, request->buffer, &token, functions, err);
		}
		if (r)
			break;
	}
	if (!r && items)
		r = control_items_lower(items, &request->error, err);
	control_items_close(items);
	if (!r && changed && !is_alive(state, request->buffer, kind, functions))
		control_state_funcs_clear(state, request->buffer, kind);
	return r;
}

static bool is_empty(const struct node_request *request)
{
	for (size_t i = 0; i < request->len; i++)
		if (request->text[i] && !strchr(" \t\n\r", request->text[i]))
			return false;
	return true;
}

static int write_lines(struct node_request *request, uint32_t kind, struct err *err)
{
	struct control_functions functions = { 0 };
	int r = 0;

	/* Clearing needs no plans. They are made before the transaction: that takes a while, and the lock. */
	if (!is_empty(request))
		r = control_functions_read(&functions, request->control, err);
	if (!r)
		r = node_begin(request, err);
	if (!r) {
		if (request->trunc)
			control_state_funcs_clear(&request->control->state, request->buffer, kind);
		r = control_end(request->control, apply(request, kind, &functions, err), err);
	}
	control_functions_fini(&functions);
	return r;
}

int node_ftrace_filter_write(struct node_request *request, struct err *err)
{
	return write_lines(request, STATE_FUNC_ONLY, err);
}

int node_ftrace_notrace_write(struct node_request *request, struct err *err)
{
	return write_lines(request, STATE_FUNC_NOT, err);
}

int node_graph_function_write(struct node_request *request, struct err *err)
{
	return write_lines(request, STATE_FUNC_ROOT, err);
}

int node_graph_notrace_write(struct node_request *request, struct err *err)
{
	return write_lines(request, STATE_FUNC_NOT_ROOT, err);
}

int node_stack_filter_write(struct node_request *request, struct err *err)
{
	return write_lines(request, STATE_FUNC_DEEP, err);
}
