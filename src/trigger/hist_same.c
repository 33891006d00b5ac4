/*
 * trigger/hist_same: when two lines mean the same histogram, and what a new one meets among those that are there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trigger/hist.h"

static bool same_term(const struct spec_term *a, const struct spec_term *b)
{
	if (!a || !b)
		return a == b;
	if (a->what != b->what || a->how != b->how || a->number != b->number || a->op != b->op || a->form != b->form ||
	    a->is_signed != b->is_signed || a->width != b->width || (a->what != SPEC_CPU && strcmp(a->name, b->name)))
		return false;
	if (a->what == SPEC_VAR && (strcmp(a->system, b->system) || strcmp(a->event, b->event)))
		return false;
	return same_term(a->a, b->a) && same_term(a->b, b->b);
}

static bool same_action(const struct spec_action *a, const struct spec_action *b)
{
	if (a->handler != b->handler || a->doing != b->doing || a->nparams != b->nparams || strcmp(a->synth, b->synth) ||
	    strcmp(a->match_system, b->match_system) || strcmp(a->match_event, b->match_event))
		return false;
	if (a->value && b->value && strcmp(a->value->name, b->value->name))
		return false;
	for (uint32_t i = 0; i < a->nparams; i++) {
		if (strcmp(a->param_texts[i], b->param_texts[i]))
			return false;
	}
	return true;
}

static bool same_fields(const struct spec_hist *a, const struct spec_hist *b)
{
	for (uint32_t i = 0; i < a->nkeys; i++) {
		if (!same_term(a->keys[i], b->keys[i]))
			return false;
	}
	for (uint32_t i = 0; i < a->nvals; i++) {
		if (!same_term(a->vals[i], b->vals[i]))
			return false;
	}
	for (uint32_t i = 0; i < a->nvars; i++) {
		if (strcmp(a->vars[i].name, b->vars[i].name) || !same_term(a->vars[i].value, b->vars[i].value))
			return false;
	}
	return true;
}

/* All but names and conditions. */
static bool same_table(const struct spec_hist *a, const struct spec_hist *b)
{
	if (a->nkeys != b->nkeys || a->nvals != b->nvals || a->nvars != b->nvars || a->nsorts != b->nsorts ||
	    a->nactions != b->nactions || !same_fields(a, b))
		return false;
	for (uint32_t i = 0; i < a->nsorts; i++) {
		if (a->sorts[i].key != b->sorts[i].key || a->sorts[i].val != b->sorts[i].val ||
		    a->sorts[i].descending != b->sorts[i].descending)
			return false;
	}
	for (uint32_t i = 0; i < a->nactions; i++) {
		if (!same_action(a->actions[i], b->actions[i]))
			return false;
	}
	return true;
}

static bool same_filter(const struct spec_hist *a, const struct spec_hist *b)
{
	return !a->filter == !b->filter && (!a->filter || !strcmp(a->filter, b->filter));
}

bool spec_hist_same(const struct spec_hist *a, const struct spec_hist *b)
{
	return !strcmp(a->name, b->name) && same_filter(a, b) && same_table(a, b);
}

/* Another of this name, of any event, must be like it: they share a table. */
static bool name_is_taken(const struct spec_hist *hist, const struct spec_world *world)
{
	const struct spec_hist *other;
	const char *system, *event;

	for (uint32_t i = 0; hist->name[0] && world->hist && (other = world->hist(world->arg, i, &system, &event)); i++) {
		if (!strcmp(other->name, hist->name) && !same_table(hist, other))
			return true;
	}
	return false;
}

int hist_meet(const struct spec_hist *hist, const struct spec_world *world, const char *system, const char *event,
	      uint32_t *old, struct spec_error *error)
{
	const char *its_system, *its_event;
	const struct spec_hist *other;
	char named[SPEC_NAME_MAX + 8];

	if (name_is_taken(hist, world)) {
		snprintf(named, sizeof(named), "name=%s", hist->name);
		return read_refuse(error, -EINVAL,
				   "Named hist trigger doesn't match existing named trigger (includes variables)", named);
	}
	for (uint32_t i = 0; world->hist && (other = world->hist(world->arg, i, &its_system, &its_event)); i++) {
		if (strcmp(its_system, system) || strcmp(its_event, event) || !spec_hist_same(hist, other))
			continue;
		*old = i;
		if (hist->pause || hist->cont || hist->clear)
			return 1;
		return read_refuse(error, -EEXIST, "Hist trigger already exists", NULL);
	}
	if (hist->cont || hist->clear)
		return read_refuse(error, -ENOENT, "Can't clear or continue a nonexistent hist trigger", NULL);
	return 0;
}
