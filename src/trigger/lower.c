/*
 * trigger/lower: see lower.h. One table of hooks, one area of code; children are put down before what points at them.
 *
 * An item that cannot be lowered any more, because the event it hangs on came in another shape, costs nobody else's: it is
 * tried again with its names believed, and left out if that fails. Only what is new is refused.
 */
#include "trigger/lower.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/lower_local.h"
#include "trigger/read.h"

void lower_refuse(struct lowering *low, int code, const char *message)
{
	if (low->failed)
		return;
	low->failed = code;
	if (low->error)
		read_refuse_at(low->error, code, message, 0);
}

uint32_t lower_put(struct lowering *low, const void *bytes, size_t len)
{
	static const char zeros[8];
	uint32_t at;

	if (low->code->len % 8)
		buf_add(low->code, zeros, 8 - low->code->len % 8);
	at = (uint32_t)low->code->len;
	if (!len)
		return 0;
	buf_add(low->code, bytes, len);
	return at;
}

uint32_t lower_program(struct lowering *low, struct program_build *build)
{
	uint32_t at;
	int r;

	lower_put(low, "", 0);
	at = (uint32_t)low->code->len;
	r = program_build_finish(build, low->code);
	if (r && !low->failed)
		low->failed = r;
	return at;
}

/* A filter or a condition; 0 when there is none. */
static uint32_t compile(struct lowering *low, const struct lower_item *of, const char *system, const char *event,
			const char *text)
{
	const struct decode_format *format = low->world->event(low->world->arg, system, event);
	struct spec_world trusting = *low->world;
	struct spec_error own = SPEC_ERROR_INIT;
	uint32_t at;
	int r;

	if (!text)
		return 0;
	trusting.anything = true;
	lower_put(low, "", 0);
	at = (uint32_t)low->code->len;
	if (of->item->flags & STATE_ITEM_AHEAD)
		format = NULL;
	r = spec_filter_compile(format ? low->world : &trusting, format, text, strlen(text), low->code, &own);
	if (r && of->is_old) {
		low->code->len = at;
		spec_error_fini(&own);
		own = (struct spec_error)SPEC_ERROR_INIT;
		r = spec_filter_compile(&trusting, NULL, text, strlen(text), low->code, &own);
	}
	if (r && !of->is_old && !low->failed && low->error) {
		struct spec_error before = *low->error;

		*low->error = own;
		own = before;
	}
	spec_error_fini(&own);
	if (!r)
		return at;
	low->code->len = at;
	if (!of->is_old && !low->failed)
		low->failed = r;
	return UINT32_MAX;
}

static const struct lower_item *find(const struct lowering *low, enum state_item_kind kind, uint32_t buffer,
				     const char *system, const char *event)
{
	for (size_t i = 0; i < low->n; i++) {
		const struct state_item *item = low->items[i].item;

		if (item->kind == kind && item->buffer == buffer && !strcmp(item->system, system) &&
		    !strcmp(item->event, event))
			return &low->items[i];
	}
	return NULL;
}

/* ---- one hook ---- */

struct hooking {
	struct lowering *low;
	struct state_hook hook;
	struct buf acts;	/* struct hook_act[] */
};

static void act_put(struct hooking *on, const struct hook_act *act)
{
	buf_add(&on->acts, act, sizeof(*act));
	on->hook.nacts++;
}

static enum hook_kind act_kind(enum spec_trigger_kind kind)
{
	switch (kind) {
	case SPEC_TRACEON:
		return HOOK_TRACEON;
	case SPEC_TRACEOFF:
		return HOOK_TRACEOFF;
	case SPEC_SNAPSHOT:
		return HOOK_SNAPSHOT;
	case SPEC_STACKTRACE_TRIGGER:
		return HOOK_STACKTRACE;
	case SPEC_ENABLE_EVENT:
		return HOOK_ENABLE_EVENT;
	case SPEC_DISABLE_EVENT:
		return HOOK_DISABLE_EVENT;
	case SPEC_ENABLE_HIST:
		return HOOK_ENABLE_HIST;
	case SPEC_DISABLE_HIST:
		return HOOK_DISABLE_HIST;
	default:
		return HOOK_HIST;
	}
}

/* Every histogram of the target: they share the count. */
static void put_hist_switch(struct hooking *on, const struct lower_item *item, struct hook_act *act)
{
	const struct lowering *low = on->low;

	for (size_t i = 0; i < low->n; i++) {
		const struct lower_item *other = &low->items[i];

		if (other->item->kind != STATE_ITEM_TRIGGER || !other->trigger || other->trigger->kind != SPEC_HIST ||
		    other->item->buffer != item->item->buffer || !other->item->pause ||
		    other->item->flags & STATE_ITEM_HIDDEN ||
		    strcmp(other->item->system, item->trigger->target_system) ||
		    strcmp(other->item->event, item->trigger->target_event))
			continue;
		act->target = other->item->pause;
		act_put(on, act);
	}
}

static void put_trigger(struct hooking *on, const struct lower_item *item)
{
	const struct spec_trigger *trigger = item->trigger;
	const struct lower_item *target;
	struct hook_act act = { .kind = (uint8_t)act_kind(trigger->kind) };
	const char *filter = trigger->kind == SPEC_HIST && trigger->hist->filter ? trigger->hist->filter : trigger->filter;

	act.cond = compile(on->low, item, item->item->system, item->item->event, filter);
	if (act.cond == UINT32_MAX)
		return;
	if (trigger->counted) {
		act.flags |= HOOK_ACT_COUNTED;
		act.count = item->item->count;
	}
	switch (trigger->kind) {
	case SPEC_TRACEON:
	case SPEC_TRACEOFF:
		target = find(on->low, STATE_ITEM_OFF, item->item->buffer, "", "");
		act.target = target ? target->item->count : 0;
		break;
	case SPEC_ENABLE_EVENT:
	case SPEC_DISABLE_EVENT:
		target = find(on->low, STATE_ITEM_SOFT, item->item->buffer, trigger->target_system, trigger->target_event);
		act.target = target ? target->item->count : 0;
		break;
	case SPEC_ENABLE_HIST:
	case SPEC_DISABLE_HIST:
		put_hist_switch(on, item, &act);
		return;
	case SPEC_HIST:
		act.hist = lower_hist(on->low, item);
		if (!act.hist) {
			if (!item->is_old)
				lower_refuse(on->low, -EINVAL, "Too many variables in one histogram");
			return;
		}
		break;
	default:
		break;
	}
	act_put(on, &act);
}

static void put_probe(struct hooking *on, const struct lower_item *item)
{
	struct hook_act act = { .kind = HOOK_EMIT };

	act.cond = compile(on->low, item, item->probe->on_system, item->probe->on_event, item->probe->filter);
	if (act.cond == UINT32_MAX)
		return;
	act.hist = lower_probe(on->low, item);
	if (act.hist)
		act_put(on, &act);
}

static bool hangs_on_event(const struct lower_item *item)
{
	return item->probe && !spec_probe_is_code(item->probe);
}

/* Does the item hang on the hook's event, in its buffer? */
static bool hangs(const struct hooking *on, const struct lower_item *item)
{
	const struct state_hook *hook = &on->hook;

	if (item->item->flags & STATE_ITEM_WIDE)
		return item->item->buffer == hook->buffer && !strcmp(item->item->system, hook->system) &&
		       !strcmp(hook->event, HOOK_ANY_EVENT);
	if (item->item->kind == STATE_ITEM_PROBE)
		return hangs_on_event(item) && hook->buffer == HOOK_ANY_BUFFER &&
		       !strcmp(item->probe->on_system, hook->system) && !strcmp(item->probe->on_event, hook->event);
	return item->item->buffer == hook->buffer && !strcmp(item->item->system, hook->system) &&
	       !strcmp(item->item->event, hook->event);
}

/* As the kernel lists and runs them: the newest first, but for histograms, which come last and in their order. */
static void put_acts(struct hooking *on)
{
	const struct lowering *low = on->low;

	for (size_t i = low->n; i-- > 0;)
		if (low->items[i].trigger && low->items[i].trigger->kind != SPEC_HIST && hangs(on, &low->items[i]))
			put_trigger(on, &low->items[i]);
	for (size_t i = 0; i < low->n; i++) {
		const struct lower_item *item = &low->items[i];

		if (!hangs(on, item))
			continue;
		if (item->trigger && item->trigger->kind == SPEC_HIST && item->trigger->hist)
			put_trigger(on, item);
		else if (item->item->kind == STATE_ITEM_PROBE)
			put_probe(on, item);
		else if (item->item->kind == STATE_ITEM_FILTER && !(item->item->flags & (STATE_ITEM_BAD | STATE_ITEM_NONE)))
			on->hook.filter = compile(on->low, item, item->item->system,
						  item->item->event, item->text);
	}
}

/* What the system's filter is to this hook, if it has one. */
static void put_wide(struct hooking *on)
{
	const struct lower_item *wide = find(on->low, STATE_ITEM_FILTER, on->hook.buffer, on->hook.system, "");

	if (!wide || !(wide->item->flags & STATE_ITEM_WIDE))
		return;
	if (!strcmp(on->hook.event, HOOK_ANY_EVENT)) {
		on->hook.flags |= HOOK_WIDE;
	} else if (find(on->low, STATE_ITEM_FILTER, on->hook.buffer, on->hook.system, on->hook.event)) {
		on->hook.flags |= on->hook.filter ? 0 : HOOK_PLAIN;
	} else {
		on->hook.flags |= HOOK_WIDE;
		on->hook.filter = compile(on->low, wide, on->hook.system, "", wide->text);
	}
}

static void put_hook(struct lowering *low, uint32_t buffer, const char *system, const char *event)
{
	struct hooking on = { .low = low, .acts = BUF_INIT };
	const struct lower_item *soft;

	on.hook.buffer = (uint16_t)buffer;
	snprintf(on.hook.system, sizeof(on.hook.system), "%s", system);
	snprintf(on.hook.event, sizeof(on.hook.event), "%s", event);
	put_acts(&on);
	put_wide(&on);
	if (on.hook.nacts > HOOK_ACTS_MAX)
		lower_refuse(low, -ENOSPC, "Too many triggers or probes on one event");
	soft = find(low, STATE_ITEM_SOFT, buffer, system, event);
	if (soft) {
		on.hook.flags |= HOOK_SOFT;
		on.hook.soft = soft->item->count;
	}
	on.hook.acts = lower_put(low, on.acts.data, on.acts.len);
	if (buf_failed(&on.acts) && !low->failed)
		low->failed = -ENOMEM;
	if (on.hook.nacts || on.hook.filter || on.hook.flags)
		buf_add(low->hooks, &on.hook, sizeof(on.hook));
	buf_fini(&on.acts);
}

/* Which event, of which buffer, the item hangs on. False: on none. */
static bool hook_key(const struct lower_item *item, uint32_t *buffer, const char **system, const char **event)
{
	*buffer = item->item->buffer;
	*system = item->item->system;
	*event = item->item->event;
	switch (item->item->kind) {
	case STATE_ITEM_PROBE:
		*buffer = HOOK_ANY_BUFFER;
		*system = item->probe ? item->probe->on_system : "";
		*event = item->probe ? item->probe->on_event : "";
		return hangs_on_event(item);
	case STATE_ITEM_FILTER:
		if (item->item->flags & STATE_ITEM_WIDE)
			*event = HOOK_ANY_EVENT;
		return **event;
	case STATE_ITEM_TRIGGER:
	case STATE_ITEM_SOFT:
		return **event;
	default:
		return false;
	}
}

static bool seen_before(const struct lower_item *items, size_t i)
{
	const char *system, *event, *other_system, *other_event;
	uint32_t buffer, other;

	hook_key(&items[i], &buffer, &system, &event);
	for (size_t j = 0; j < i; j++)
		if (hook_key(&items[j], &other, &other_system, &other_event) && other == buffer &&
		    !strcmp(other_system, system) && !strcmp(other_event, event))
			return true;
	return false;
}

int lower(const struct lower_item *items, size_t n, const struct spec_world *world, uint32_t parts, struct buf *hooks,
	  struct buf *probes, struct buf *code, struct spec_error *error)
{
	struct lowering low = {
		.items = items, .n = n, .world = world, .parts = parts, .hooks = hooks, .probes = probes, .code = code,
		.error = error,
	};
	static const char nothing[8];
	const char *system, *event;
	uint32_t buffer;

	/* Offset 0 is nothing. */
	buf_add(code, nothing, sizeof(nothing));
	for (size_t i = 0; i < n && !low.failed; i++)
		if (hook_key(&items[i], &buffer, &system, &event) && !seen_before(items, i))
			put_hook(&low, buffer, system, event);
	for (size_t i = 0; probes && i < n && !low.failed; i++)
		if (items[i].probe && spec_probe_is_code(items[i].probe))
			lower_point(&low, &items[i]);
	lower_put(&low, "", 0);
	if (!low.failed && (buf_failed(hooks) || (probes && buf_failed(probes)) || buf_failed(code)))
		low.failed = -ENOMEM;
	if (hooks->len + (probes ? probes->len : 0) + code->len > CONTROL_STATE_MAX / 2)
		lower_refuse(&low, -E2BIG, "Too many filters and triggers");
	if (low.failed && error && !error->code)
		error->code = low.failed;
	return low.failed;
}
