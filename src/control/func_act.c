/*
 * control/func_act: commands of set_ftrace_filter: what a function sets off when it is called.
 *
 *   FUNCTION:traceon|traceoff|stacktrace|snapshot[:COUNT]
 *   FUNCTION:enable_event|disable_event:SYSTEM:EVENT[:COUNT]
 *
 * The text of such a line is FUNCTION:COMMAND[:SYSTEM:EVENT]. Counts, and what is switched, are words of the tables file, as
 * those of triggers are. All functions of one line share its count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/buffer.h"
#include "control/func_token.h"
#include "control/hooks.h"
#include "control/space.h"

enum what { STORE_OFF, STORE_EVENT, STACK, SNAPSHOT };

static const struct command {
	const char *name;
	enum what what;
	uint32_t act;
	uint32_t value;
} commands[] = {
	{ "traceon", STORE_OFF, STATE_FUNC_STORE, 0 },
	{ "traceoff", STORE_OFF, STATE_FUNC_STORE, 1 },
	{ "stacktrace", STACK, STATE_FUNC_STACK, 0 },
	{ "snapshot", SNAPSHOT, STATE_FUNC_SNAPSHOT, 0 },
	{ "enable_event", STORE_EVENT, STATE_FUNC_STORE, 1 },
	{ "disable_event", STORE_EVENT, STATE_FUNC_STORE, 0 },
};

/* A command, understood. */
struct act {
	const struct command *command;
	const char *system, *event;	/* of STORE_EVENT */
	bool counted;
	uint64_t count;
};

static int refuse(const struct func_token *token, const char *why, struct err *err)
{
	return err_set(err, -EINVAL, "'%.80s': %s", token->text, why);
}

/* As kstrtoul() with base 0: 0x and a leading 0 mean what they do in C. */
static int number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end)
		return -EINVAL;
	return errno ? -ERANGE : 0;
}

/* `rest` is cut up. */
static int parse(struct act *act, const struct func_token *token, char *rest, struct err *err)
{
	memset(act, 0, sizeof(*act));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, token->command))
			act->command = &commands[i];
	if (!act->command)
		return refuse(token, "there is no such command: traceon, traceoff, stacktrace, snapshot, enable_event, "
			      "disable_event, mod", err);
	if (act->command->what == STORE_EVENT) {
		act->system = strsep(&rest, ":");
		act->event = strsep(&rest, ":");
		if (!act->event || !*act->system || !*act->event)
			return refuse(token, "which event? FUNCTION:enable_event:SYSTEM:EVENT", err);
	}
	/* Behind an event nothing is no number, elsewhere it is none at all. To take one away any will do: also what is shown. */
	act->counted = rest && (*rest || act->system);
	if (act->counted && !token->out && number(rest, &act->count))
		return err_set(err, number(rest, &act->count), "'%.80s': its last part is no number of times", token->text);
	return 0;
}

/* The word that it switches, 0 if there is none yet. */
static uint32_t target(const struct control_state *state, uint32_t buffer, const struct act *act)
{
	if (act->command->what == STORE_OFF)
		return state->buffers[buffer].off;
	return act->command->what == STORE_EVENT ? control_soft_word(state, buffer, act->system, act->event) : 0;
}

static bool is_like(const struct control_func *line, uint32_t buffer, const struct act *act, uint32_t word)
{
	const struct state_func *func = &line->func;

	return func->kind == STATE_FUNC_ACT && func->buffer == buffer && func->act == act->command->act &&
	       func->value == act->command->value && func->target == word && !func->count == !act->counted;
}

static void put_text(char *text, size_t size, const char *name, const struct act *act)
{
	if (act->system)
		snprintf(text, size, "%s:%s:%s:%s", name, act->command->name, act->system, act->event);
	else
		snprintf(text, size, "%s:%s", name, act->command->name);
}

static struct control_func *add_line(struct control_state *state, uint32_t buffer, const struct act *act, const char *name,
				     const char *module)
{
	char text[3 * FUNC_TOKEN_MAX];
	struct control_func *line;

	put_text(text, sizeof(text), name, act);
	line = control_state_func_add(state, name, module, text);
	if (!line)
		return NULL;
	line->func.buffer = (uint16_t)buffer;
	line->func.kind = STATE_FUNC_ACT;
	line->func.act = act->command->act;
	line->func.value = act->command->value;
	return line;
}

/* What it needs to live on, before there is a line. */
static int give(struct control_items *items, uint32_t buffer, const struct act *act, struct err *err)
{
	struct control *control = items->control;

	switch (act->command->what) {
	case STORE_OFF:
		return control_off_begin(items, buffer, err);
	case STORE_EVENT:
		return control_soft_begin(items, buffer, act->system, act->event, err);
	default:
		return control_buffer_expand(control, &control->state.buffers[buffer], err);
	}
}

static int add(struct control_items *items, uint32_t buffer, const struct func_token *token, const struct act *act,
	       struct err *err)
{
	struct control_state *state = &items->control->state;
	struct control_func *line;
	uint32_t word;
	int r;

	/* Once is enough, and its count goes on. */
	word = target(state, buffer, act);
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (is_like(&state->funcs[i], buffer, act, word) && !strcmp(state->funcs[i].name, token->name) &&
		    !state->funcs[i].module == !token->module)
			return 0;
	r = give(items, buffer, act, err);
	if (r)
		return r;
	line = add_line(state, buffer, act, token->name, token->module);
	if (!line)
		return err_set(err, -ENOSPC, "there are too many lines about functions: use wider patterns");
	line->func.target = target(state, buffer, act);
	return act->counted ? control_word_deal(items->control, act->count, &line->func.count, err) : 0;
}

/* The functions of the i-th line that stay get lines of their own, with what that one had. */
static int keep_others(struct control_state *state, uint32_t i, uint32_t buffer, const struct func_token *token,
		       const struct act *act, const struct control_functions *functions, struct err *err)
{
	char name[2 * PLAN_NAME_MAX + 1];

	for (size_t f = 0; f < functions->n; f++) {
		const struct control_function *function = &functions->all[f];
		struct control_func *line;

		if (!control_function_is_there(function) || !control_func_matches(&state->funcs[i], function) ||
		    func_token_matches(token, function))
			continue;
		func_pattern(name, sizeof(name), function->name);
		line = add_line(state, buffer, act, name, function->module);
		if (!line)
			return err_set(err, -ENOSPC, "there are too many lines about functions: take all of '%.80s' away first",
				       state->funcs[i].name);
		line->func.target = state->funcs[i].func.target;
		line->func.count = state->funcs[i].func.count;
	}
	return 0;
}

static bool meets(const struct control_func *line, const struct func_token *token, const struct control_functions *functions)
{
	/* Also of programs whose files are no more. */
	if (!strcmp(line->name, token->name))
		return true;
	for (size_t f = 0; f < functions->n; f++)
		if (func_token_matches(token, &functions->all[f]) && control_func_matches(line, &functions->all[f]))
			return true;
	return false;
}

static int take_away(struct control_items *items, uint32_t buffer, const struct func_token *token, const struct act *act,
		     const struct control_functions *functions, struct err *err)
{
	struct control_state *state = &items->control->state;
	uint32_t word = target(state, buffer, act), n = state->nfuncs, gone = 0;
	int r = 0;

	for (uint32_t i = 0; !r && i < n - gone;) {
		if (!is_like(&state->funcs[i], buffer, act, word) || !meets(&state->funcs[i], token, functions)) {
			i++;
			continue;
		}
		r = keep_others(state, i, buffer, token, act, functions, err);
		control_state_func_remove(state, i);
		gone++;
	}
	if (!r && !gone)
		r = refuse(token, "there is nothing like that to take away; of one with a count say the count, too", err);
	return r ? r : control_fold(items, err);
}

int func_act_apply(struct control_items *items, uint32_t buffer, const struct func_token *token,
		   const struct control_functions *functions, struct err *err)
{
	char rest[FUNC_TOKEN_MAX + 1];
	struct act act;
	int r;

	snprintf(rest, sizeof(rest), "%s", token->rest ? token->rest : "");
	r = parse(&act, token, token->rest ? rest : NULL, err);
	if (r)
		return r;
	if (act.system && !control_registry_find(items->events, act.system, act.event))
		return refuse(token, "there is no such event", err);
	if (token->out)
		return take_away(items, buffer, token, &act, functions, err);
	if (!func_token_count(token, functions))
		return refuse(token, "no program has such a function: ringside list -f", err);
	return add(items, buffer, token, &act, err);
}
