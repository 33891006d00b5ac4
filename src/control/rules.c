/*
 * control/rules: see rules.h. Works on a state in memory only.
 */
#include "control/rules.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "layout/hook.h"

static bool is_literal(const char *pattern)
{
	return !strpbrk(pattern, "*?[\\");
}

/* Does `a` match everything that `b` matches? May say no where the answer is yes. */
static bool covers(const char *a, const char *b)
{
	return !strcmp(a, "*") || !strcmp(a, b) || (is_literal(b) && glob_match(a, b));
}

bool control_rules_on(const struct control_state *state, uint32_t buffer, const char *system,
		      const char *event)
{
	for (uint32_t i = state->nrules; i-- > 0;) {
		const struct state_rule *rule = &state->rules[i];

		if (rule->buffer == buffer && glob_match(rule->system, system) &&
		    glob_match(rule->event, event))
			return rule->on;
	}
	return false;
}

bool control_rules_any(const struct control_state *state, const char *system, const char *event)
{
	for (uint32_t b = 0; b < state->nbuffers; b++)
		if (state->buffers[b].born && control_rules_on(state, b, system, event))
			return true;
	return false;
}

bool control_hooks_on(const struct control_state *state, const char *system, const char *event)
{
	const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data;

	for (size_t n = state->hooks.len / sizeof(*hook); n; n--, hook++)
		if (hook->nacts && !strcmp(hook->system, system) && !strcmp(hook->event, event))
			return true;
	return false;
}

/* Can there be an event that both match? May say yes where the answer is no. */
static bool may_meet(const char *a, const char *b)
{
	if (is_literal(a))
		return glob_match(b, a);
	return !is_literal(b) || glob_match(a, b);
}

/* What does not change any answer: switching off what no earlier rule may have switched on. */
static bool is_idle(const struct control_state *state, uint32_t i)
{
	const struct state_rule *rule = &state->rules[i];

	if (rule->on)
		return false;
	while (i-- > 0) {
		const struct state_rule *before = &state->rules[i];

		if (before->on && before->buffer == rule->buffer &&
		    may_meet(before->system, rule->system) && may_meet(before->event, rule->event))
			return false;
	}
	return true;
}

static void compact(struct control_state *state)
{
	const struct state_rule last = state->rules[state->nrules - 1];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->nrules; i++) {
		const struct state_rule *rule = &state->rules[i];

		if (i + 1 < state->nrules && rule->buffer == last.buffer &&
		    covers(last.system, rule->system) &&
		    covers(last.event, rule->event))
			continue;
		state->rules[kept++] = *rule;
	}
	state->nrules = kept;
	kept = 0;
	for (uint32_t i = 0; i < state->nrules; i++) {
		/* Those before i are in their final places already: kept never runs ahead of i. */
		state->rules[kept] = state->rules[i];
		if (!is_idle(state, kept))
			kept++;
	}
	state->nrules = kept;
}

int control_rules_set(struct control_state *state, uint32_t buffer, const char *system,
		      const char *event, bool on, struct err *err)
{
	struct state_rule *rule;

	if (!*system || !*event || strlen(system) >= sizeof(rule->system) ||
	    strlen(event) >= sizeof(rule->event))
		return err_set(err, -EINVAL, "'%.70s:%.70s' is too long for an event's name", system,
			       event);
	rule = control_state_rule_add(state);
	if (!rule)
		return err_set(err, -ENOSPC, "too many single events are switched on: use patterns");
	rule->buffer = (uint16_t)buffer;
	rule->on = on;
	strcpy(rule->system, system);
	strcpy(rule->event, event);
	compact(state);
	return 0;
}

void control_rules_clear(struct control_state *state, uint32_t buffer)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->nrules; i++)
		if (state->rules[i].buffer != buffer)
			state->rules[kept++] = state->rules[i];
	state->nrules = kept;
}
