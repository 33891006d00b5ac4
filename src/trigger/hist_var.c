/*
 * trigger/hist_var: who sets a variable. Names are looked up over all histograms of the buffer, of other events too;
 * onmatch() and the name of an event narrow that down.
 */
#include <errno.h>
#include <string.h>

#include "trigger/hist.h"

static const struct spec_hist *hist_at(const struct hist_read *read, uint32_t i, const char **system, const char **event)
{
	return read->world->hist ? read->world->hist(read->world->arg, i, system, event) : NULL;
}

static bool sets(const struct spec_hist *hist, const char *name, uint32_t *number)
{
	for (*number = 0; *number < hist->nvars; ++*number) {
		if (!strcmp(hist->vars[*number].name, name))
			return true;
	}
	return false;
}

int hist_own_var(const struct hist_read *read, const char *name)
{
	uint32_t number;

	return sets(read->hist, name, &number) ? (int)number : -1;
}

bool hist_event_sets(struct hist_read *read, const char *system, const char *event, const char *name,
		     struct hist_owner *owner)
{
	for (uint32_t i = 0; (owner->hist = hist_at(read, i, &owner->system, &owner->event)) != NULL; i++) {
		if (!strcmp(owner->system, system) && !strcmp(owner->event, event) &&
		    sets(owner->hist, name, &owner->number))
			return true;
	}
	return false;
}

static bool not_unique(struct hist_read *read, const char *name)
{
	static const char message[] =
		"Variable name not unique, need to use fully qualified name (subsys.event.var) for variable";

	read_refuse(read->error, -EINVAL, message, name);
	return false;
}

/* Among those of the events that onmatch() names. 1: found, -1: at two places. */
static int find_matched(struct hist_read *read, const char *name, struct hist_owner *owner)
{
	struct hist_owner one;
	int found = 0;

	for (uint32_t i = 0; i < read->hist->nactions; i++) {
		const struct spec_action *action = read->hist->actions[i];

		if (action->handler != HOOK_ONMATCH ||
		    !hist_event_sets(read, action->match_system, action->match_event, name, &one))
			continue;
		if (found) {
			not_unique(read, name);
			return -1;
		}
		*owner = one;
		found = 1;
	}
	return found;
}

bool hist_find_var(struct hist_read *read, const char *system, const char *event, const char *name,
		   struct hist_owner *owner)
{
	struct hist_owner one;
	bool found = false;
	int matched;

	if (system)
		return hist_event_sets(read, system, event, name, owner);
	matched = find_matched(read, name, owner);
	if (matched)
		return matched > 0;
	for (uint32_t i = 0; (one.hist = hist_at(read, i, &one.system, &one.event)) != NULL; i++) {
		if (!sets(one.hist, name, &one.number))
			continue;
		if (found && (strcmp(one.system, owner->system) || strcmp(one.event, owner->event)))
			return not_unique(read, name);
		if (!found)
			*owner = one;
		found = true;
	}
	return found;
}

static struct spec_term *var_term(struct hist_read *read, const char *name, const struct spec_term *value)
{
	struct spec_term *term = read_alloc(read->mem, sizeof(*term));

	if (!term)
		return NULL;
	term->what = SPEC_VAR;
	read_copy_name(term->name, name);
	if (hist_is_usecs(value))
		term->how = SPEC_USECS;
	term->form = value->form;
	term->is_signed = value->is_signed;
	term->size = value->size;
	term->width = value->width;
	term->type = read_dup(read->mem, value->type, strlen(value->type));
	return term->type ? term : NULL;
}

const struct spec_term *hist_refer(struct hist_read *read, const struct hist_owner *owner, bool full)
{
	struct spec_term *term;

	for (uint32_t i = 0; i < read->nrefs; i++) {
		if (read->refs[i]->var_serial == owner->hist->serial && read->refs[i]->var_number == owner->number &&
		    read->refs[i]->is_full == full)
			return read->refs[i];
	}
	if (read->nrefs == HOOK_REFS_MAX)
		return NULL;
	term = var_term(read, owner->hist->vars[owner->number].name, owner->hist->vars[owner->number].value);
	if (!term || !read_copy_name(term->system, owner->system) || !read_copy_name(term->event, owner->event))
		return NULL;
	term->var_serial = owner->hist->serial;
	term->var_number = owner->number;
	term->is_full = full;
	read->refs[read->nrefs++] = term;
	return term;
}

const struct spec_term *hist_refer_own(struct hist_read *read, uint32_t number)
{
	struct spec_term *term = var_term(read, read->hist->vars[number].name, read->hist->vars[number].value);

	if (!term || !read_copy_name(term->system, read->system) || !read_copy_name(term->event, read->event))
		return NULL;
	term->var_serial = read->hist->serial;
	term->var_number = number;
	term->is_own = true;
	return term;
}
