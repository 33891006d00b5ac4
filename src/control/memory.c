/*
 * control/memory: see memory.h. In a transaction.
 */
#include "control/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/calls.h"
#include "control/named.h"
#include "control/plans.h"
#include "control/registry.h"
#include "control/rules.h"

#define SYSTEM "kmem"

/* By a rule that says so, not just because everything is on: it is dear. */
static bool is_named(const struct control_state *state, const char *event)
{
	for (uint32_t i = 0; i < state->nrules; i++) {
		const struct state_rule *rule = &state->rules[i];

		if (rule->on && (strcmp(rule->system, "*") || strcmp(rule->event, "*")) && glob_match(rule->system, SYSTEM) &&
		    glob_match(rule->event, event))
			return true;
	}
	return false;
}

static bool is_wanted(const struct control_state *state, const char *event)
{
	return control_hooks_on(state, SYSTEM, event) || (is_named(state, event) && control_rules_any(state, SYSTEM, event));
}

/* The one that has the fields which programs fill in: others may be called so, too. 0: there is none. */
static uint16_t id_of(const struct control_registry *registry, const char *name)
{
	const struct named_event *known = named_kmem;
	struct buf body = BUF_INIT;
	uint16_t id = 0;

	while (known->name && strcmp(known->name, name) != 0)
		known++;
	if (known->name)
		named_text(known, &body);
	for (uint32_t i = 0; body.len && !buf_failed(&body) && i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (!strcmp(event->system, SYSTEM) && !strcmp(event->name, name) && event->body_len == body.len &&
		    !memcmp(event->body, body.data, body.len))
			id = (uint16_t)event->id;
	}
	buf_fini(&body);
	return id;
}

/* Nearly every program's allocator is the C library's, and nearly always it is the one that we have ourselves. */
static void plan(struct control *control)
{
	Dl_info info;

	if (dladdr((void *)(uintptr_t)&free, &info) && info.dli_fname && *info.dli_fname == '/')
		(void)control_plans_library(control, info.dli_fname, NULL);
	else
		(void)control_plans_file(control, NULL);
}

int control_memory_fill(struct control *control, struct err *err)
{
	struct control_state *state = &control->state;
	const bool kmalloc = is_wanted(state, "kmalloc"), kfree = is_wanted(state, "kfree"), before = state->kmalloc || state->kfree;
	struct control_registry registry;
	int r;

	state->kmalloc = state->kfree = 0;
	/* Where no program can be patched there are no system calls either. */
	if (control_call_number("read") < 0 || (!kmalloc && !kfree))
		return 0;
	control_named_ensure(&control->dir, NULL);
	r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	state->kmalloc = kmalloc ? id_of(&registry, "kmalloc") : 0;
	state->kfree = kfree ? id_of(&registry, "kfree") : 0;
	control_registry_fini(&registry);
	if (!before && (state->kmalloc || state->kfree))
		plan(control);
	return 0;
}
