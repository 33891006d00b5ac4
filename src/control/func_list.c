/*
 * control/func_list: the tree's files that list functions.
 *
 * What programs do is what the state selects of the functions that can be patched: it is computed here, nobody is asked.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/func_set.h"
#include "control/measure.h"
#include "control/node.h"
#include "control/space.h"

typedef void put_function(struct node_request *request, const struct control_functions *functions);

static int with_functions(struct node_request *request, put_function *put, struct err *err)
{
	struct control_functions functions = { 0 };
	int r = control_functions_read(&functions, request->control, err);

	if (!r)
		put(request, &functions);
	control_functions_fini(&functions);
	return r;
}

static void put_line(struct node_request *request, const struct control_function *function)
{
	control_function_put(&request->out, function);
	buf_putc(&request->out, '\n');
}

/* ---- all of them ---- */

static void put_available(struct node_request *request, const struct control_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++)
		if (control_function_is_there(&functions->all[i]))
			put_line(request, &functions->all[i]);
}

static void put_addresses(struct node_request *request, const struct control_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++) {
		if (!control_function_is_there(&functions->all[i]))
			continue;
		buf_printf(&request->out, "%" PRIx64 " ", functions->all[i].address);
		put_line(request, &functions->all[i]);
	}
}

/* Pages of sites, and files that have any. */
static void put_total(struct node_request *request, const struct control_functions *functions)
{
	size_t n = 0, files = 0, per_page = 4096 / sizeof(struct plan_site);
	const char *last = NULL;

	for (size_t i = 0; i < functions->n; i++) {
		if (!control_function_is_there(&functions->all[i]))
			continue;
		n++;
		if (!last || strcmp(last, functions->all[i].module))
			files++;
		last = functions->all[i].module;
	}
	buf_printf(&request->out, "%zu pages:%zu groups: %zu\n", n, (n + per_page - 1) / per_page, files);
}

/* How many want it: tracers, by buffer, commands, the profile and the stack tracer, each once. */
static uint32_t count_users(const struct control_state *state, const struct control_function *function)
{
	uint32_t n = 0;

	if (state->buffers[0].profile && control_funcs_wanted(state, 0, function))
		n++;
	if (state->measure.deep && (!control_funcs_any(state, 0, STATE_FUNC_DEEP) ||
				    control_funcs_has(state, 0, STATE_FUNC_DEEP, function)))
		n++;

	for (uint32_t b = 0; b < state->nbuffers; b++)
		if (state->buffers[b].born && state->buffers[b].tracer != TRACER_NOP && control_funcs_wanted(state, b, function))
			n++;
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (state->funcs[i].func.kind == STATE_FUNC_ACT && control_func_matches(&state->funcs[i], function))
			n++;
	return n;
}

/* With the kernel's columns for R I D O M, none of which there is. */
static void put_enabled(struct node_request *request, const struct control_functions *functions)
{
	for (size_t i = 0; i < functions->n; i++) {
		const struct control_function *function = &functions->all[i];
		uint32_t users = control_function_is_there(function) ? count_users(&request->control->state, function) : 0;

		if (!users)
			continue;
		control_function_put(&request->out, function);
		buf_printf(&request->out, " (%" PRIu32 ")%11s\n", users, "");
	}
}

int node_functions_touched_read(struct node_request *request, struct err *err)
{
	struct control_functions functions = { 0 };
	struct err trouble = ERR_INIT;
	unsigned char *bits = control_touched_read(request->control, &trouble);
	int r = trouble.code ? err_set(err, trouble.code, "%s", trouble.text) : 0;

	if (bits)
		r = control_functions_read(&functions, request->control, err);
	for (size_t i = 0; !r && i < functions.n; i++) {
		uint64_t bit = table_touched_bit(functions.all[i].site);
		uint32_t users;

		if (bit / 8 >= TABLE_TOUCHED_SIZE || !(bits[bit / 8] >> bit % 8 & 1))
			continue;
		users = count_users(&request->control->state, &functions.all[i]);
		control_function_put(&request->out, &functions.all[i]);
		buf_printf(&request->out, " (%" PRIu32 ")%11s\n", users, "");
	}
	control_functions_fini(&functions);
	free(bits);
	return r;
}

int node_functions_read(struct node_request *request, struct err *err)
{
	return with_functions(request, put_available, err);
}

int node_functions_addrs_read(struct node_request *request, struct err *err)
{
	return with_functions(request, put_addresses, err);
}

int node_functions_enabled_read(struct node_request *request, struct err *err)
{
	return with_functions(request, put_enabled, err);
}

int node_functions_total_read(struct node_request *request, struct err *err)
{
	return with_functions(request, put_total, err);
}

/* ---- those that were chosen ---- */

static void put_set(struct node_request *request, uint32_t kind, const struct control_functions *functions)
{
	const struct control_state *state = &request->control->state;

	for (size_t i = 0; i < functions->n; i++)
		if (control_function_is_there(&functions->all[i]) &&
		    control_funcs_has(state, request->buffer, kind, &functions->all[i]))
			put_line(request, &functions->all[i]);
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		const struct control_func *line = &state->funcs[i];

		if (line->func.buffer == request->buffer && line->func.kind == kind && control_func_waits(line, functions))
			buf_printf(&request->out, "%s:mod:%s\n", line->name, line->module);
	}
}

/* A command, once for each function that sets it off, with how often it still will. */
static void put_command(struct node_request *request, const struct control_func *line, const struct control_functions *functions)
{
	/* FUNCTION:COMMAND...: the function is shown as it is called, not as it was written. */
	const char *command = strchr(line->text, ':');

	for (size_t i = 0; command && i < functions->n; i++) {
		if (!control_function_is_there(&functions->all[i]) || !control_func_matches(line, &functions->all[i]))
			continue;
		control_function_put(&request->out, &functions->all[i]);
		if (line->func.count)
			buf_printf(&request->out, "%s:count=%" PRIu64 "\n", command,
				   control_word(request->control, line->func.count));
		else
			buf_printf(&request->out, "%s:unlimited\n", command);
	}
}

static void put_filter(struct node_request *request, const struct control_functions *functions)
{
	const struct control_state *state = &request->control->state;

	if (!control_funcs_any(state, request->buffer, STATE_FUNC_ONLY))
		buf_puts(&request->out, "#### all functions enabled ####\n");
	put_set(request, STATE_FUNC_ONLY, functions);
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (state->funcs[i].func.buffer == request->buffer && state->funcs[i].func.kind == STATE_FUNC_ACT)
			put_command(request, &state->funcs[i], functions);
}

static void put_notrace(struct node_request *request, const struct control_functions *functions)
{
	put_set(request, STATE_FUNC_NOT, functions);
}

static void put_roots(struct node_request *request, const struct control_functions *functions)
{
	put_set(request, STATE_FUNC_ROOT, functions);
}

static void put_not_roots(struct node_request *request, const struct control_functions *functions)
{
	put_set(request, STATE_FUNC_NOT_ROOT, functions);
}

/* The text of an empty set needs no plans. */
static int read_set(struct node_request *request, uint32_t kind, const char *empty, put_function *put, struct err *err)
{
	if (control_funcs_any(&request->control->state, request->buffer, kind))
		return with_functions(request, put, err);
	buf_puts(&request->out, empty);
	return 0;
}

int node_ftrace_filter_read(struct node_request *request, struct err *err)
{
	if (control_funcs_any(&request->control->state, request->buffer, STATE_FUNC_ACT))
		return with_functions(request, put_filter, err);
	return read_set(request, STATE_FUNC_ONLY, "#### all functions enabled ####\n", put_filter, err);
}

int node_ftrace_notrace_read(struct node_request *request, struct err *err)
{
	return read_set(request, STATE_FUNC_NOT, "#### no functions disabled ####\n", put_notrace, err);
}

int node_graph_function_read(struct node_request *request, struct err *err)
{
	return read_set(request, STATE_FUNC_ROOT, "#### all functions enabled ####\n", put_roots, err);
}

int node_graph_notrace_read(struct node_request *request, struct err *err)
{
	return read_set(request, STATE_FUNC_NOT_ROOT, "#### no functions disabled ####\n", put_not_roots, err);
}

static void put_deep(struct node_request *request, const struct control_functions *functions)
{
	put_set(request, STATE_FUNC_DEEP, functions);
}

int node_stack_filter_read(struct node_request *request, struct err *err)
{
	return read_set(request, STATE_FUNC_DEEP, "#### all functions enabled ####\n", put_deep, err);
}
