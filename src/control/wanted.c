/*
 * control/wanted: see wanted.h. Works on a state in memory only.
 *
 * A buffer that is switched off wants what it has on: it is switched by one store, and code can only be patched while threads stand
 * still. So recorders make programs ready and then begin. See doc/design/probes.md.
 */
#include "control/wanted.h"

#include <string.h>

#include "control/rules.h"
#include "layout/hook.h"
#include "layout/probe.h"

static bool is_wanted(const struct control_state *state, const struct state_item *probe, int depth);

static bool code_copy(const struct control_state *state, uint64_t at, void *to, size_t size)
{
	if (!at || at > state->code.len || size > state->code.len - at)
		return false;
	memcpy(to, state->code.data + at, size);
	return true;
}

static bool is_wanted_by_id(const struct control_state *state, uint32_t id, int depth)
{
	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind == STATE_ITEM_PROBE && item->event_id == id && is_wanted(state, item, depth))
			return true;
	}
	return false;
}

/* Event probes hang on it: they are asleep while nobody wants them in turn. */
static bool is_used(const struct control_state *state, const struct state_hook *hook, int depth)
{
	struct hook_act act;
	struct hook_emit emit;

	for (uint32_t i = 0; i < hook->nacts && i < HOOK_ACTS_MAX; i++)
		if (code_copy(state, hook->acts ? hook->acts + (uint64_t)i * sizeof(act) : 0, &act, sizeof(act)) &&
		    act.kind == HOOK_EMIT && code_copy(state, act.hist, &emit, sizeof(emit)) &&
		    is_wanted_by_id(state, emit.event, depth))
			return true;
	return false;
}

static bool is_wanted(const struct control_state *state, const struct state_item *probe, int depth)
{
	const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data;

	if (control_rules_any(state, probe->system, probe->event))
		return true;
	for (size_t n = state->hooks.len / sizeof(*hook); n; n--, hook++) {
		if (!hook->nacts || strcmp(hook->system, probe->system) != 0 || strcmp(hook->event, probe->event) != 0)
			continue;
		if (hook->buffer != HOOK_ANY_BUFFER || (depth < HOOK_DEPTH_MAX && is_used(state, hook, depth + 1)))
			return true;
	}
	return false;
}

/* Points are in the order of their items. */
void control_wanted_fill(struct control_state *state)
{
	struct state_probe *probe = (struct state_probe *)(void *)state->probes.data;
	const size_t n = state->probes.len / sizeof(*probe);

	for (size_t i = 0, p = 0; p < n && i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->serial != probe[p].serial)
			continue;
		if (is_wanted(state, item, 0))
			probe[p].flags |= PROBE_WANTED;
		else
			probe[p].flags &= ~(uint32_t)PROBE_WANTED;
		p++;
	}
}
