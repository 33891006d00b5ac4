/*
 * control/state_func: see state_func.h.
 */
#include "control/state_func.h"

#include <stdlib.h>
#include <string.h>

static void func_free(struct control_func *func)
{
	free(func->name);
	free(func->module);
	free(func->text);
}

void state_funcs_drop(struct control_state *state)
{
	for (uint32_t i = 0; i < state->nfuncs; i++)
		func_free(&state->funcs[i]);
	state->nfuncs = 0;
}

static bool reserve(struct control_state *state, uint32_t count)
{
	uint32_t cap = state->funcs_cap ? state->funcs_cap : 16;
	struct control_func *funcs;

	while (cap < count)
		cap *= 2;
	if (cap == state->funcs_cap)
		return true;
	funcs = realloc(state->funcs, cap * sizeof(*funcs));
	if (!funcs)
		return false;
	state->funcs = funcs;
	state->funcs_cap = cap;
	return true;
}

struct control_func *control_state_func_add(struct control_state *state, const char *name, const char *module,
					    const char *text)
{
	struct control_func *func;

	if (state->nfuncs >= STATE_FUNCS_MAX || !reserve(state, state->nfuncs + 1))
		return NULL;
	func = &state->funcs[state->nfuncs];
	memset(func, 0, sizeof(*func));
	func->name = strdup(name);
	func->module = module ? strdup(module) : NULL;
	func->text = strdup(text);
	if (!func->name || !func->text || (module && !func->module)) {
		func_free(func);
		return NULL;
	}
	state->nfuncs++;
	return func;
}

void control_state_func_remove(struct control_state *state, uint32_t i)
{
	func_free(&state->funcs[i]);
	state->nfuncs--;
	memmove(&state->funcs[i], &state->funcs[i + 1], (state->nfuncs - i) * sizeof(*state->funcs));
}

void control_state_funcs_clear(struct control_state *state, uint32_t buffer, uint32_t kind)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->nfuncs; i++) {
		if (state->funcs[i].func.buffer == buffer && (!kind || state->funcs[i].func.kind == kind))
			func_free(&state->funcs[i]);
		else
			state->funcs[kept++] = state->funcs[i];
	}
	state->nfuncs = kept;
}

bool state_func_valid(const struct state_func *func)
{
	if (func->kind < STATE_FUNC_ONLY || func->kind > STATE_FUNC_DEEP || func->flags & ~(uint32_t)STATE_FUNC_OUT)
		return false;
	if (func->kind != STATE_FUNC_ACT)
		return !func->act && !func->count && !func->target;
	return func->act >= STATE_FUNC_STORE && func->act <= STATE_FUNC_SNAPSHOT && func->count < TABLE_WORDS &&
	       func->target < TABLE_WORDS && (func->act == STATE_FUNC_STORE) == (func->target != 0);
}

/* The text at that offset, if it ends inside. */
static const char *text_at(const struct state_head *head, const char *bytes, uint32_t at)
{
	if (at < sizeof(*head) || at >= head->size || !memchr(bytes + at, '\0', head->size - at))
		return NULL;
	return bytes + at;
}

const char *state_funcs_take(struct control_state *state, const struct state_head *head, const char *bytes)
{
	state_funcs_drop(state);
	for (uint32_t i = 0; i < head->nfuncs; i++) {
		const char *name, *module, *text;
		struct control_func *to;
		struct state_func func;

		memcpy(&func, bytes + head->funcs + i * sizeof(func), sizeof(func));
		name = text_at(head, bytes, func.name);
		module = func.module ? text_at(head, bytes, func.module) : NULL;
		text = text_at(head, bytes, func.text);
		if (!name || !text || (func.module && !module))
			return "a function's name without end";
		to = control_state_func_add(state, name, module, text);
		if (!to)
			return "no memory for it";
		to->func = func;
	}
	return NULL;
}

uint32_t state_funcs_texts(const struct control_state *state)
{
	size_t size = 0;

	for (uint32_t i = 0; i < state->nfuncs; i++) {
		const struct control_func *func = &state->funcs[i];

		size += strlen(func->name) + strlen(func->text) + 2 + (func->module ? strlen(func->module) + 1 : 0);
	}
	return (uint32_t)size;
}

static uint32_t put_text(char *bytes, uint32_t *at, const char *text)
{
	uint32_t here = *at, len;

	if (!text)
		return 0;
	len = (uint32_t)strlen(text) + 1;
	memcpy(bytes + here, text, len);
	*at += len;
	return here;
}

void state_funcs_put(const struct control_state *state, const struct state_head *head, uint32_t at, char *bytes)
{
	for (uint32_t i = 0; i < state->nfuncs; i++) {
		struct state_func func = state->funcs[i].func;

		func.name = put_text(bytes, &at, state->funcs[i].name);
		func.module = put_text(bytes, &at, state->funcs[i].module);
		func.text = put_text(bytes, &at, state->funcs[i].text);
		memcpy(bytes + head->funcs + i * sizeof(func), &func, sizeof(func));
	}
}
