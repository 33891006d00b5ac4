/*
 * runtime/hooks: binding what hangs on events, in a view: the state's hooks (layout/hook.h) meet the layouts of the events that
 * this process can emit, and of those that hooks make.
 *
 * Runs while a view is built, in a signal handler too, and when an event becomes known while its view is in force. All of it
 * lies in the view; writers reach it through view->hooks once that is stored. What finds no room does not act, and an event
 * whose filter found none is not recorded.
 */
#include <sched.h>
#include <string.h>

#include "layout/page.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

#define WITH_IP RECORD_HEAD_FORMAT "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"

static const char print_body[] = WITH_IP "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n";
static const char bprint_body[] = WITH_IP "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
					  "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\n";

static const char *body_of(uint32_t id, size_t *len)
{
	if (id >= EVENT_ID_FIRST)
		return runtime_event_body(id, len);
	*len = id == EVENT_ID_PRINT ? sizeof(print_body) - 1 : sizeof(bprint_body) - 1;
	return id == EVENT_ID_PRINT ? print_body : id == EVENT_ID_BPRINT ? bprint_body : NULL;
}

bool runtime_hooks_lock(struct view *view)
{
	/* Signals are held off where that can be: its owner is another thread, and comes to its end. */
	for (uint32_t tries = 0; tries < 1000000; tries++) {
		uint32_t idle = 0;

		if (__atomic_compare_exchange_n(&view->binding, &idle, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (!LOAD(runtime.locked))
			sched_yield();
	}
	return false;
}

void runtime_hooks_unlock(struct view *view)
{
	STORE_RELEASE(view->binding, 0);
}

static bool is_named(const struct state_hook *hook, const char *system, const char *name)
{
	return !hook->system[sizeof(hook->system) - 1] && !hook->event[sizeof(hook->event) - 1] &&
	       !strcmp(hook->event, name) && !strcmp(hook->system, system);
}

/* Is the hook, one of `n` in all, for the event? */
static bool is_meant(const struct view *view, const struct state_hook *hook, const struct state_hook *all, uint32_t n,
		     const char *system, const char *name)
{
	if (is_named(hook, system, HOOK_ANY_EVENT)) {
		for (uint32_t i = 0; i < n; i++)
			if (all[i].buffer == hook->buffer && is_named(&all[i], system, name))
				return false;
	} else if (!is_named(hook, system, name)) {
		return false;
	}
	return hook->buffer == HOOK_ANY_BUFFER || (hook->buffer < view->nbuffers && view->buffer[hook->buffer].born);
}

/* A probe is asleep while nobody wants its events. */
static bool is_live(const struct view *view, const struct hook_bound *bound, uint64_t mask)
{
	if (bound->buffer)
		return bound->sound || ((bound->filter || bound->soft) && mask & bound->buffer);
	for (uint32_t i = 0; i < bound->nacts; i++) {
		uint32_t event = hook_probe_event(bound, &view->host.code, i);

		if (event && event < EVENT_ID_END && LOAD(view->mask[event]))
			return true;
	}
	return false;
}

/* Not marks, of which conditions do not see the newline. */
static bool is_simple(const struct view *view, const struct hook_bound *bound, uint64_t mask)
{
	return bound->event >= EVENT_ID_FIRST && !bound->next && bound->buffer &&
	       (!bound->nacts || bound->tally.shape.parts) && !bound->uses && !bound->soft &&
	       !(mask & ~bound->buffer) && !(bound->buffer & (view->choosy | view->switched)) && !view->unreachable;
}

uint64_t runtime_hooks_bind(struct view *view, uint32_t id, const char *system, const char *name, uint64_t mask)
{
	uint32_t n, first = 0, word;
	const struct state_hook *all = runtime_view_hooks(view, &n), *hook = all;
	size_t body_len = 0;
	const char *body = n ? body_of(id, &body_len) : NULL;
	bool live = false;

	for (uint32_t i = 0; i < n; i++, hook++) {
		uint32_t number = (view->nbound + 1) % VIEW_HOOKS_MAX;
		struct program_quick *quick = &view->quick[number];
		struct hook_bound *bound = &view->bound[number];
		struct hook_room before;

		if (!is_meant(view, hook, all, n, system, name))
			continue;
		if (!body || !number) {
			mask &= hook->buffer < STATE_BUFFERS_MAX ? ~(1ull << hook->buffer) : UINT64_MAX;
			continue;
		}
		before = view->room;
		hook_bind(bound, hook, &view->host.code, id, body, body_len, &view->host.tables, &view->room);
		if (!is_live(view, bound, mask)) {
			view->room = before;
			continue;
		}
		program_quick_make(NULL, 0, view->fields, quick);
		if (bound->filter && bound->filter != UINT32_MAX)
			program_quick_make(view->host.code.at + bound->filter, bound->filter_size,
					   view->fields + bound->first, quick);
		/* What is rejected is counted all the same. */
		if (bound->nacts)
			quick->kind = PROGRAM_QUICK_NONE;
		bound->next = first;
		first = view->nbound = number;
		live = true;
	}
	word = (uint32_t)(first * sizeof(view->quick[0]));
	if (first && is_simple(view, &view->bound[first], mask))
		word |= VIEW_SIMPLE | (view->quick[first].kind == PROGRAM_QUICK_FOUR ? VIEW_FOUR : 0);
	/* Partner: writers load it behind the mask. */
	STORE_RELEASE(view->hooks[id], word);
	return live || mask & (view->choosy | view->switched) ? mask | VIEW_SPECIAL : mask;
}
