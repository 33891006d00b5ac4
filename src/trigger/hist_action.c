/*
 * trigger/hist_action: onmatch(), onmax() and onchange() with what they do. The syntax first, while nothing else is known;
 * then, with values and keys at hand, what parameters mean and whether they suit the synthetic event.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trigger/hist.h"

#define PARAMS_MAX 64

/* ---- Syntax ---- */

static int read_params(struct hist_read *read, struct spec_action *action, char *list)
{
	bool first = action->doing == HOOK_DO_TRACE && !action->legacy;
	char *param;

	while ((param = strsep(&list, ",")) != NULL) {
		if (action->nparams == PARAMS_MAX)
			return read_refuse(read->error, -EINVAL, "Too many action params", NULL);
		param = read_strip(param);
		if (strlen(param) < 2)
			return read_refuse(read->error, -EINVAL, "Invalid action param", param);
		if (!first)
			action->param_texts[action->nparams++] = param;
		else if (!read_copy_name(action->synth, param))
			return read_refuse(read->error, -EINVAL, "Couldn't find synthetic event", param);
		first = false;
	}
	return 0;
}

/* `.save(a,b)`, with whatever stands before the point. */
static int read_doing(struct hist_read *read, struct spec_action *action, char *text)
{
	char *name, *params;
	int ret = 0;

	strsep(&text, ".");
	name = text ? strsep(&text, "(") : NULL;
	if (!text)
		return read_refuse(read->error, -EINVAL, "No action found", NULL);
	params = strsep(&text, ")");
	if (read_after(name, "save")) {
		action->doing = HOOK_DO_SAVE;
		ret = read_params(read, action, params);
	} else if (read_after(name, "snapshot")) {
		action->doing = HOOK_DO_SNAPSHOT;
		if (!text)
			ret = read_refuse(read->error, -EINVAL, "No closing paren found", params);
	} else {
		action->doing = HOOK_DO_TRACE;
		action->legacy = !read_after(name, "trace");
		ret = read_params(read, action, params);
		if (!ret && action->legacy && !read_copy_name(action->synth, name))
			ret = read_refuse(read->error, -EINVAL, "Couldn't find synthetic event", name);
		return ret;
	}
	if (!ret && action->handler == HOOK_ONMATCH)
		ret = read_refuse(read->error, -EINVAL, "Handler doesn't support action", name);
	return ret;
}

static bool is_event(const struct hist_read *read, const char *system, const char *event)
{
	return read->world->anything || (read->world->event && read->world->event(read->world->arg, system, event));
}

static int read_onmatch(struct hist_read *read, struct spec_action *action, char *text)
{
	char *event = strsep(&text, ")"), *system;

	if (!text)
		return read_refuse(read->error, -EINVAL, "No closing paren found", event);
	system = strsep(&event, ".");
	if (!event)
		return read_refuse(read->error, -EINVAL, "Missing subsystem", system);
	if (!read_copy_name(action->match_system, system) || !read_copy_name(action->match_event, event) ||
	    !is_event(read, system, event))
		return read_refuse(read->error, -EINVAL, "Invalid subsystem or event name", event);
	return read_doing(read, action, text);
}

/* onmax($v) and onchange($v). The name is kept aside until variables are known. */
static int read_ontrack(struct hist_read *read, struct spec_action *action, char *text, const char **tracked)
{
	*tracked = strsep(&text, ")");
	if (!text)
		return read_refuse_silently(read->error, -EINVAL, "no closing bracket behind the variable");
	return read_doing(read, action, text);
}

int hist_read_actions(struct hist_read *read)
{
	for (uint32_t i = 0; i < read->nactions; i++) {
		struct spec_action *action = read_alloc(read->mem, sizeof(*action));
		char *text = read->actions[i], *rest;
		const char *tracked = NULL;
		struct spec_term *value;
		int ret;

		if (!action)
			return -ENOMEM;
		read->hist->actions[read->hist->nactions++] = action;
		if ((rest = read_after(text, "onmatch("))) {
			action->handler = HOOK_ONMATCH;
			ret = read_onmatch(read, action, rest);
		} else {
			action->handler = (rest = read_after(text, "onmax(")) ? HOOK_ONMAX : HOOK_ONCHANGE;
			ret = read_ontrack(read, action, rest ? rest : read_after(text, "onchange("), &tracked);
		}
		if (ret)
			return ret;
		/* What to compare, by name alone; hist_make_actions() finds out who that is. */
		if (tracked) {
			value = read_alloc(read->mem, sizeof(*value));
			if (!value)
				return -ENOMEM;
			value->what = SPEC_VAR;
			value->type = tracked;
			if (tracked[0] == '$')
				read_copy_name(value->name, tracked + 1);
			action->value = value;
		}
	}
	return 0;
}

/* ---- Parameters ---- */

static const struct spec_field *field_of(const struct spec_synth *synth, uint32_t i)
{
	return i < synth->nfields ? &synth->fields[i] : NULL;
}

/* As the kernel compares a parameter with the field that it is for: of the event's own fields it does not know the sign. */
static bool suits(const struct spec_field *field, const struct spec_term *term, bool believed)
{
	bool is_text, is_stack, is_signed = term->what == SPEC_VAR && term->is_signed;

	if (!field)
		return false;
	if (believed)
		return true;
	is_text = field->form == HOOK_FIELD_TEXT || field->form == HOOK_FIELD_DYN_TEXT;
	is_stack = field->form == HOOK_FIELD_DYN_STACK;
	if (strstr(term->type, "char[") && field->form == HOOK_FIELD_DYN_TEXT)
		return true;
	if (is_stack || term->form == HOOK_STACK)
		return is_stack && term->form == HOOK_STACK;
	if (!strcmp(field->type, term->type))
		return true;
	return field->value_size == term->width && (is_text ? term->form == HOOK_TEXT : field->is_signed == is_signed) &&
	       field->form != HOOK_FIELD_DYN_TEXT;
}

static bool keys_agree(const struct spec_hist *a, const struct spec_hist *b)
{
	if (a->nkeys != b->nkeys)
		return false;
	for (uint32_t i = 0; i < a->nkeys; i++) {
		const struct spec_term *one = a->keys[i], *other = b->keys[i];

		if (strcmp(one->type, other->type) || one->is_signed != other->is_signed ||
		    ((one->width + 7) & ~7) != ((other->width + 7) & ~7))
			return false;
	}
	return true;
}

/* A histogram of that event with keys like ours: what is kept by its keys, we can ask for by ours. */
static const struct spec_hist *find_like(const struct hist_read *read, const char *system, const char *event)
{
	const struct spec_hist *hist;
	const char *its_system, *its_event;

	for (uint32_t i = 0; read->world->hist && (hist = read->world->hist(read->world->arg, i, &its_system, &its_event)); i++) {
		if (!strcmp(its_system, system) && !strcmp(its_event, event) && keys_agree(read->hist, hist))
			return hist;
	}
	return NULL;
}

static int hide(struct hist_read *read, const struct spec_hist *like, const char *system, const char *event,
		const char *field)
{
	struct spec_hidden *hidden = read_alloc(read->mem, sizeof(*hidden));
	struct buf text = BUF_INIT;
	int ret = 0;

	if (!hidden)
		return -ENOMEM;
	buf_puts(&text, "hist:keys=");
	for (uint32_t i = 0; i < like->nkeys; i++) {
		buf_puts(&text, i ? "," : "");
		hist_echo_name(like->keys[i], &text);
	}
	buf_printf(&text, ":synthetic_%s=%s", field, field);
	if (like->filter)
		buf_printf(&text, " if %s", like->filter);
	if (buf_failed(&text))
		ret = -ENOMEM;
	else if (text.len >= sizeof(hidden->text) || !read_copy_name(hidden->system, system) ||
		 !read_copy_name(hidden->event, event) || read->hist->nhidden == HOOK_EMIT_MAX)
		ret = read_refuse(read->error, -E2BIG, "Couldn't create histogram for field", field);
	else
		memcpy(hidden->text, text.data, text.len + 1);
	buf_fini(&text);
	for (uint32_t i = 0; !ret && i < read->hist->nhidden; i++) {
		const struct spec_hidden *other = read->hist->hidden[i];

		if (!strcmp(other->system, hidden->system) && !strcmp(other->event, hidden->event) &&
		    !strcmp(other->text, hidden->text))
			return 0;
	}
	if (!ret)
		read->hist->hidden[read->hist->nhidden++] = hidden;
	return ret;
}

/* The variable that a hidden histogram will set: known but for who that is. */
static const struct spec_term *hidden_var(struct hist_read *read, const char *system, const char *event, const char *field,
					  const struct spec_term *value)
{
	struct spec_term *term = read_alloc(read->mem, sizeof(*term));

	if (!term)
		return NULL;
	*term = *value;
	term->what = SPEC_VAR;
	term->is_full = true;
	snprintf(term->name, sizeof(term->name), "synthetic_%.50s", field);
	read_copy_name(term->system, system);
	read_copy_name(term->event, event);
	return term;
}

/* A field of another event. */
static int other_field(struct hist_read *read, const char *system, const char *event, const char *field,
		       const struct spec_term **out)
{
	const struct decode_format *format = read->world->event ? read->world->event(read->world->arg, system, event) : NULL;
	struct spec_term *value;
	const struct spec_hist *like;
	struct hist_owner owner;
	char name[SPEC_NAME_MAX];
	int ret;

	if (!format && !read->world->anything)
		return read_refuse(read->error, -EINVAL, "Event file not found", field);
	like = find_like(read, system, event);
	if (!like)
		return read_refuse(read->error, -EINVAL, "Matching event histogram not found", field);
	if ((size_t)snprintf(name, sizeof(name), "synthetic_%s", field) >= sizeof(name))
		return read_refuse(read->error, -EINVAL, "Couldn't create histogram for field", field);
	if (hist_event_sets(read, system, event, name, &owner)) {
		*out = hist_refer(read, &owner, true);
		return *out ? 0 : -ENOMEM;
	}
	if (!format)
		return read_refuse(read->error, -EINVAL, "Event file not found", field);
	value = hist_field_term(read->mem, format, field, &ret);
	if (!value)
		return read_refuse(read->error, -EINVAL, "Couldn't create histogram for field", field);
	ret = hide(read, like, system, event, field);
	*out = ret ? NULL : hidden_var(read, system, event, field, value);
	return *out ? 0 : ret ? ret : -ENOMEM;
}

/* A field of this event, under its own name also a variable: that name must be free. */
static int own_field(struct hist_read *read, const char *field, const struct spec_term **out)
{
	char *text = read_dup(read->mem, field, strlen(field));
	struct hist_owner owner;

	if (!text)
		return -ENOMEM;
	if (hist_read_atom(read, text, HIST_AS_VAR, out))
		return read_refuse(read->error, -EINVAL, "Couldn't parse field variable", field);
	if (!read->remove && (hist_own_var(read, field) >= 0 ||
			      hist_event_sets(read, read->system, read->event, field, &owner)))
		return read_refuse(read->error, -EINVAL, "Couldn't create or find variable", field);
	return 0;
}

static bool is_here(const struct hist_read *read, const char *system, const char *event)
{
	return !system || (!strcmp(system, read->system) && !strcmp(event, read->event));
}

static int field_param(struct hist_read *read, const struct spec_action *action, const char *system, const char *event,
		       const char *field, const struct spec_term **out)
{
	if (is_here(read, system, event) && !own_field(read, field, out))
		return 0;
	if (!system && action->handler == HOOK_ONMATCH) {
		system = action->match_system;
		event = action->match_event;
	}
	if (!system)
		return read_refuse_silently(read->error, -EINVAL, "no such field: %.80s", field);
	return other_field(read, system, event, field, out);
}

static int var_param(struct hist_read *read, const struct spec_action *action, const char *system, const char *event,
		     const char *name, const struct spec_term **out)
{
	int own = is_here(read, system, event) ? hist_own_var(read, name) : -1;
	bool full = system != NULL;
	struct hist_owner owner;

	if (own >= 0) {
		*out = hist_refer_own(read, (uint32_t)own);
		return *out ? 0 : -ENOMEM;
	}
	if (!system && action->handler == HOOK_ONMATCH) {
		system = action->match_system;
		event = action->match_event;
	}
	if (!hist_find_var(read, system, event, name, &owner))
		return read_refuse(read->error, -EINVAL, "Couldn't find param", name);
	*out = hist_refer(read, &owner, full);
	return *out ? 0 : -ENOMEM;
}

static int make_param(struct hist_read *read, struct spec_action *action, uint32_t i, const struct spec_synth *synth)
{
	const char *written = action->param_texts[i];
	char *text = read_dup(read->mem, written, strlen(written)), *system, *event = NULL;
	bool believed;
	int ret;

	if (!text)
		return -ENOMEM;
	system = strsep(&text, ".");
	if (!text) {
		text = system;
		system = NULL;
	} else {
		event = strsep(&text, ".");
		if (!text)
			return read_refuse_silently(read->error, -EINVAL, "a field of another event is system.event.field");
	}
	if (text[0] == '$')
		ret = var_param(read, action, system, event, text + 1, &action->params[i]);
	else
		ret = field_param(read, action, system, event, text, &action->params[i]);
	if (ret)
		return ret;
	believed = !read->format && action->params[i]->what == SPEC_FIELD;
	if (!suits(field_of(synth, i), action->params[i], believed))
		return read_refuse(read->error, -EINVAL, "Param type doesn't match synthetic event field type", text);
	return 0;
}

static int make_trace(struct hist_read *read, struct spec_action *action)
{
	const struct spec_synth *synth = read->world->synth ? read->world->synth(read->world->arg, action->synth) : NULL;

	if (!synth)
		return read_refuse(read->error, -EINVAL, "Couldn't find synthetic event", action->synth);
	for (uint32_t i = 0; i < action->nparams; i++) {
		int ret = make_param(read, action, i, synth);

		if (ret)
			return ret;
	}
	if (action->nparams != synth->nfields)
		return read_refuse(read->error, -EINVAL, "Param count doesn't match synthetic event field count", synth->name);
	return 0;
}

static int make_save(struct hist_read *read, struct spec_action *action)
{
	if (read->saves)
		return read_refuse(read->error, -EEXIST, "Can't have more than one save() action per hist", NULL);
	for (uint32_t i = 0; i < action->nparams; i++) {
		if (own_field(read, action->param_texts[i], &action->params[i]))
			return read_refuse(read->error, -EINVAL, "Couldn't create field variable", action->param_texts[i]);
		read->saves = true;
	}
	return 0;
}

static int make_tracked(struct hist_read *read, struct spec_action *action)
{
	const char *written = action->value->type;
	int own;

	if (written[0] != '$')
		return read_refuse(read->error, -EINVAL, "For onmax(x) or onchange(x), x must be a variable", written);
	own = hist_own_var(read, written + 1);
	if (own < 0)
		return read_refuse(read->error, -EINVAL, "Couldn't find onmax or onchange variable", written + 1);
	action->value = hist_refer_own(read, (uint32_t)own);
	return action->value ? 0 : -ENOMEM;
}

int hist_make_actions(struct hist_read *read)
{
	for (uint32_t i = 0; i < read->hist->nactions; i++) {
		struct spec_action *action = read->hist->actions[i];
		int ret = 0;

		if (action->value)
			ret = make_tracked(read, action);
		if (!ret && action->doing == HOOK_DO_TRACE)
			ret = make_trace(read, action);
		else if (!ret && action->doing == HOOK_DO_SAVE)
			ret = make_save(read, action);
		if (ret)
			return ret;
	}
	return 0;
}
