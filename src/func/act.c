/*
 * func/act: commands that functions set off (FUNCTION:traceoff and the like). Under func_aside().
 *
 * What there is to do is looked up in the view each time, by name: such functions are few, and words of the tables file may be
 * somebody else's under another state.
 */
#include <string.h>

#include "base/glob.h"
#include "func/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

struct line {
	struct state_func func;
	char name[256], module[128];
};

/* The i-th line of the view's state, if it is a command; false: it is none. */
static bool take_line(const struct view *view, uint32_t i, struct line *line)
{
	const struct state_head *state = (const struct state_head *)view->copy;
	const struct state_func *func = (const void *)((const char *)state + state->funcs + i * sizeof(*func));
	const char *end = (const char *)state + CONTROL_STATE_MAX;

	if ((const char *)(func + 1) > end || func->kind != STATE_FUNC_ACT || func->flags & STATE_FUNC_OUT)
		return false;
	line->func = *func;
	if (line->func.name >= CONTROL_STATE_MAX - sizeof(line->name) || line->func.module >= CONTROL_STATE_MAX - sizeof(line->module))
		return false;
	memcpy(line->name, (const char *)state + line->func.name, sizeof(line->name) - 1);
	memcpy(line->module, (const char *)state + line->func.module, sizeof(line->module) - 1);
	line->name[sizeof(line->name) - 1] = line->module[sizeof(line->module) - 1] = '\0';
	return true;
}

/* One less, if there is any. */
static bool take_count(uint64_t *words, uint32_t word)
{
	uint64_t now = word ? LOAD(words[word % TABLE_WORDS]) : 1;

	while (word && now)
		if (__atomic_compare_exchange_n(&words[word % TABLE_WORDS], &now, now - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return now;
}

static void act(struct view *view, uint64_t generation, const struct func_site *site, const struct state_func *func)
{
	struct thread *thread = &runtime_self;
	uint64_t *words = runtime_words(), *target = &words[func->target % TABLE_WORDS];

	if (runtime_gone(generation) || func->buffer >= view->nbuffers)
		return;
	switch (func->act) {
	case STATE_FUNC_STORE:
		/* What is so already counts for nothing. */
		if (func->target && !LOAD(*target) != !func->value && take_count(words, func->count))
			STORE(*target, func->value);
		break;
	case STATE_FUNC_STACK:
		if (take_count(words, func->count))
			runtime_write_stack(thread, view, generation, func->buffer, thread->tid, site->ip);
		break;
	case STATE_FUNC_SNAPSHOT:
		if (take_count(words, func->count))
			runtime_snapshot(view, func->buffer);
		break;
	}
}

/* By its place in the plan, which has the name. */
static const char *name_of(const struct func_site *site)
{
	const struct plan *plan = site->file->plan;
	const struct plan_site *found = plan_site_find(plan, site->ip - site->file->delta - site->file->load);

	return found && found->name < plan->names_size ? func_plan_name(plan, found) : "";
}

void func_act_aside(void *arg)
{
	const struct func_site *site = arg;
	struct view *view = func_current_view();
	const struct state_head *state = view ? (const struct state_head *)view->copy : NULL;
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0;
	uint32_t n = state && state->nfuncs <= STATE_FUNCS_MAX ? state->nfuncs : 0;
	const char *name = name_of(site);
	struct line line;

	for (uint32_t i = 0; i < n; i++)
		if (take_line(view, i, &line) && glob_match(line.name, name) &&
		    (!line.func.module || glob_match(line.module, site->file->name)))
			act(view, generation, site, &line.func);
}

#endif
