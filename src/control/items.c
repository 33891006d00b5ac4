/*
 * control/items: see items.h.
 */
#include "control/items.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/clock.h"
#include "control/enable.h"
#include "control/probe_world.h"
#include "control/space.h"
#include "control/symbols.h"
#include "layout/page.h"

#define PARTS_MAX 16u

uint32_t control_items_parts(const struct control *control)
{
	uint32_t parts = 1;

	while (parts < control->dir.ncpu && parts < PARTS_MAX)
		parts *= 2;
	return parts;
}

/* ---- the world of names ---- */

/* The text of its format file. */
static bool format_text(const struct control_items *items, const char *system, const char *name, struct buf *text)
{
	const struct control_event *event;

	if (!strcmp(system, "ftrace")) {
		uint32_t id = control_builtin_id(name);

		return id && control_builtin_format(id, text);
	}
	event = control_registry_find(items->events, system, name);
	if (!event)
		return false;
	control_event_format(event, text);
	return !buf_failed(text);
}

const struct decode_format *control_items_format(struct control_items *items, const char *system, const char *name)
{
	struct items_format *more, *slot;
	struct buf text = BUF_INIT;

	for (uint32_t i = 0; i < items->nformats; i++)
		if (!strcmp(items->formats[i].system, system) && !strcmp(items->formats[i].name, name))
			return items->formats[i].format;
	if (strlen(system) >= sizeof(slot->system) || strlen(name) >= sizeof(slot->name))
		return NULL;
	more = realloc(items->formats, (items->nformats + 1) * sizeof(*more));
	if (!more)
		return NULL;
	items->formats = more;
	slot = &more[items->nformats];
	memset(slot, 0, sizeof(*slot));
	strcpy(slot->system, system);
	strcpy(slot->name, name);
	if (!format_text(items, system, name, &text) ||
	    decode_format_parse(slot->system, text.data, text.len, NULL, &slot->format, NULL))
		slot->format = NULL;
	buf_fini(&text);
	/* What is not there may come. */
	if (slot->format)
		items->nformats++;
	return slot->format;
}

static const struct decode_format *world_event(void *arg, const char *system, const char *name)
{
	return control_items_format(arg, system, name);
}

static const struct spec_hist *world_hist(void *arg, uint32_t number, const char **system, const char **event)
{
	const struct control_items *items = arg;
	const struct control_state *state = &items->control->state;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;
		const struct spec_trigger *trigger = items->specs[i].trigger;

		if (item->kind != STATE_ITEM_TRIGGER || item->buffer != items->buffer || !trigger ||
		    trigger->kind != SPEC_HIST || (items->before && item->serial >= items->before) || number--)
			continue;
		*system = item->system;
		*event = item->event;
		return trigger->hist;
	}
	return NULL;
}

static const struct spec_synth *world_synth(void *arg, const char *name)
{
	const struct control_items *items = arg;

	for (uint32_t i = 0; i < items->control->state.nitems; i++)
		if (items->specs[i].synth && !strcmp(items->specs[i].synth->name, name))
			return items->specs[i].synth;
	return NULL;
}

static bool world_clock(void *arg, const char *name)
{
	const char *known;

	(void)arg;
	for (uint32_t id = 0; (known = control_clock_name(id)); id++)
		if (!strcmp(known, name))
			return true;
	return false;
}

static bool world_function(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	const struct control_items *items = arg;

	return control_function(items->control, name, start, end);
}

const struct spec_world *control_items_world(struct control_items *items, uint32_t buffer, bool anything)
{
	items->buffer = buffer;
	items->world = (struct spec_world){
		.arg = items,
		.event = world_event,
		.hist = world_hist,
		.synth = world_synth,
		.clock = world_clock,
		.function = world_function,
		.anything = anything,
	};
	control_probe_world(items, &items->world);
	return &items->world;
}

/* ---- specs ---- */

static void spec_drop(struct item_spec *spec)
{
	if (spec->trigger)
		spec_trigger_free(spec->trigger);
	if (spec->synth)
		spec_synth_free(spec->synth);
	if (spec->probe)
		spec_probe_free(spec->probe);
	memset(spec, 0, sizeof(*spec));
}

static int specs_reserve(struct control_items *items, uint32_t count)
{
	struct item_spec *more;

	if (count <= items->cap)
		return 0;
	more = realloc(items->specs, (count + 16) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + items->cap, 0, (count + 16 - items->cap) * sizeof(*more));
	items->specs = more;
	items->cap = count + 16;
	return 0;
}

/* What is there was taken once: what does not make sense now is left alone, and does nothing. */
static void understand(struct control_items *items, uint32_t i)
{
	const struct control_item *from = &items->control->state.items[i];
	const struct state_item *item = &from->item;
	const struct spec_world *world;
	struct spec_error error = SPEC_ERROR_INIT;
	size_t len = strlen(from->text);
	struct item_spec spec = { 0 };
	bool remove = false;

	items->before = item->serial;
	world = control_items_world(items, item->buffer, false);
	if (item->kind == STATE_ITEM_TRIGGER && spec_trigger_parse(&spec.trigger, world, item->system, item->event,
								   from->text, len, &error)) {
		spec_error_fini(&error);
		error = (struct spec_error)SPEC_ERROR_INIT;
		world = control_items_world(items, item->buffer, true);
		spec.trigger = NULL;
		if (spec_trigger_parse(&spec.trigger, world, item->system, item->event, from->text, len, &error))
			spec.trigger = NULL;
	} else if (item->kind == STATE_ITEM_SYNTH &&
		   spec_synth_parse(&spec.synth, &remove, world, !strncmp(from->text, "s:", 2), from->text, len,
				    &error)) {
		spec.synth = NULL;
	} else if (item->kind == STATE_ITEM_PROBE && control_probe_recall(&spec.probe, world, from->text, &error)) {
		spec.probe = NULL;
	}
	if (spec.trigger && spec.trigger->hist)
		spec.trigger->hist->serial = item->serial;
	spec_error_fini(&error);
	items->specs[i] = spec;
	items->before = 0;
}

int control_items_open(struct control_items **out, struct control *control, struct err *err)
{
	struct control_items *items = calloc(1, sizeof(*items));
	struct err own = ERR_INIT;

	err = err ? err : &own;
	if (!items)
		return err_set(err, -ENOMEM, "out of memory");
	items->control = control;
	items->first_new = control->state.serial;
	items->events = control_events(control, err);
	if (!items->events || specs_reserve(items, control->state.nitems + 1)) {
		if (items->events)
			err_set(err, -ENOMEM, "out of memory");
		control_items_close(items);
		return err->code;
	}
	/* Synthetic events first: histograms name them, and they name nothing. */
	for (uint32_t i = 0; i < control->state.nitems; i++)
		if (control->state.items[i].item.kind == STATE_ITEM_SYNTH)
			understand(items, i);
	for (uint32_t i = 0; i < control->state.nitems; i++)
		if (control->state.items[i].item.kind != STATE_ITEM_SYNTH)
			understand(items, i);
	*out = items;
	return 0;
}

void control_items_close(struct control_items *items)
{
	if (!items)
		return;
	for (uint32_t i = 0; i < items->cap; i++)
		spec_drop(&items->specs[i]);
	for (uint32_t i = 0; i < items->nformats; i++)
		decode_format_free(items->formats[i].format);
	control_functions_fini(&items->functions);
	buf_fini(&items->member);
	free(items->formats);
	free(items->specs);
	free(items);
}

int control_items_add(struct control_items *items, enum state_item_kind kind, uint32_t buffer, const char *system,
		      const char *event, const char *text, size_t len, const struct item_spec *spec, struct err *err)
{
	struct control_state *state = &items->control->state;
	struct item_spec mine = spec ? *spec : (struct item_spec){ 0 };
	struct control_item *item = NULL;
	bool fits = strlen(system) < sizeof(item->item.system) && strlen(event) < sizeof(item->item.event);

	if (fits && !specs_reserve(items, state->nitems + 1))
		item = control_state_item_add(state, text, len);
	if (!item) {
		spec_drop(&mine);
		return fits ? err_set(err, -ENOSPC, "there are too many filters and triggers") :
			      err_set(err, -EINVAL, "no event has a name as long as %.80s:%.80s", system, event);
	}
	item->item.kind = (uint8_t)kind;
	item->item.buffer = (uint16_t)buffer;
	strcpy(item->item.system, system);
	strcpy(item->item.event, event);
	if (mine.trigger && mine.trigger->hist)
		mine.trigger->hist->serial = item->item.serial;
	items->specs[state->nitems - 1] = mine;
	return 0;
}

static int remove_one(struct control_items *items, uint32_t i, struct err *err)
{
	struct control_state *state = &items->control->state;
	int r = control_extents_drop(items->control, &state->items[i].item, err);

	if (r)
		return r;
	spec_drop(&items->specs[i]);
	memmove(&items->specs[i], &items->specs[i + 1], (items->cap - i - 1) * sizeof(*items->specs));
	memset(&items->specs[items->cap - 1], 0, sizeof(*items->specs));
	control_state_item_remove(state, i);
	return 0;
}

int control_items_remove(struct control_items *items, uint32_t i, struct err *err)
{
	struct control_state *state = &items->control->state;
	uint32_t serial = state->items[i].item.serial;
	int r = remove_one(items, i, err);

	for (i = 0; !r && i < state->nitems;) {
		if (state->items[i].item.flags & STATE_ITEM_HIDDEN && state->items[i].item.owner == serial)
			r = remove_one(items, i, err);
		else
			i++;
	}
	return r;
}

static bool is_on(const struct state_item *item, enum state_item_kind kind, uint32_t buffer, const char *system,
		  const char *event)
{
	return item->kind == kind && item->buffer == buffer && !strcmp(item->system, system) && !strcmp(item->event, event);
}

uint32_t control_items_find(const struct control_items *items, enum state_item_kind kind, uint32_t buffer,
			    const char *system, const char *event)
{
	const struct control_state *state = &items->control->state;

	for (uint32_t i = 0; i < state->nitems; i++)
		if (is_on(&state->items[i].item, kind, buffer, system, event))
			return i;
	return UINT32_MAX;
}

bool control_state_has_item(const struct control_state *state, enum state_item_kind kind, uint32_t buffer,
			    const char *system, const char *event)
{
	for (uint32_t i = 0; i < state->nitems; i++)
		if (is_on(&state->items[i].item, kind, buffer, system, event))
			return true;
	return false;
}

void control_items_trim(const char **text, size_t *len)
{
	while (*len && strchr(" \t\n", (*text)[*len - 1]))
		--*len;
	while (*len && strchr(" \t\n", **text)) {
		++*text;
		--*len;
	}
}

int control_items_refuse(const struct spec_error *error, int r, struct err *err)
{
	if (error->text[0])
		return err_set(err, r, "%s", error->text);
	if (error->message)
		return err_set_at(err, r, (int)error->pos, "%s", error->message);
	return err_set(err, r, "%s", strerror(-r));
}

int control_items_lower(struct control_items *items, struct spec_error *error, struct err *err)
{
	struct control_state *state = &items->control->state;
	struct lower_item *all = calloc(state->nitems + 1, sizeof(*all));
	struct buf hooks = BUF_INIT, probes = BUF_INIT, code = BUF_INIT;
	int r;

	if (!all)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < state->nitems; i++)
		all[i] = (struct lower_item){
			.item = &state->items[i].item,
			.text = state->items[i].text,
			.trigger = items->specs[i].trigger,
			.synth = items->specs[i].synth,
			.probe = items->specs[i].probe,
			.is_old = state->items[i].item.serial < items->first_new,
		};
	r = lower(all, state->nitems, control_items_world(items, 0, false), control_items_parts(items->control), &hooks,
		  &probes, &code, error);
	free(all);
	if (r) {
		buf_fini(&hooks);
		buf_fini(&probes);
		buf_fini(&code);
		if (r == -E2BIG)
			return err_set(err, r, "there are more filters and triggers than a directory can hold");
		return control_items_refuse(error, r, err);
	}
	buf_fini(&state->hooks);
	buf_fini(&state->probes);
	buf_fini(&state->code);
	state->hooks = hooks;
	state->probes = probes;
	state->code = code;
	return 0;
}

/* ---- who needs whom ---- */

static bool term_uses(const struct spec_term *term, uint32_t serial)
{
	if (!term)
		return false;
	if (term->what == SPEC_VAR)
		return !term->is_own && term->var_serial == serial;
	return (term->what == SPEC_MATH || term->what == SPEC_NEG) && (term_uses(term->a, serial) || term_uses(term->b, serial));
}

static bool action_uses(const struct spec_action *action, uint32_t serial, const char *synth)
{
	if (synth && action->doing == HOOK_DO_TRACE && !strcmp(action->synth, synth))
		return true;
	if (!serial)
		return false;
	if (term_uses(action->value, serial))
		return true;
	for (uint32_t i = 0; i < action->nparams; i++)
		if (term_uses(action->params[i], serial))
			return true;
	return false;
}

bool control_items_uses(const struct control_items *items, uint32_t i, uint32_t serial, const char *synth)
{
	const struct spec_trigger *trigger = items->specs[i].trigger;
	const struct spec_hist *hist = trigger ? trigger->hist : NULL;
	bool uses = false;

	if (!hist)
		return false;
	for (uint32_t n = 0; n < hist->nactions; n++)
		uses |= action_uses(hist->actions[n], serial, synth);
	for (uint32_t n = 0; serial && n < hist->nvars; n++)
		uses |= term_uses(hist->vars[n].value, serial);
	for (uint32_t n = 0; serial && n < hist->nkeys; n++)
		uses |= term_uses(hist->keys[n], serial);
	for (uint32_t n = 0; serial && n < hist->nvals; n++)
		uses |= term_uses(hist->vals[n], serial);
	return uses;
}

int control_items_drop_buffer(struct control *control, uint32_t buffer, struct err *err)
{
	struct control_state *state = &control->state;
	struct state_hook *hooks = (struct state_hook *)(void *)state->hooks.data;
	size_t n = state->hooks.len / sizeof(*hooks), kept = 0;
	int r = 0;

	for (uint32_t i = 0; !r && i < state->nitems;) {
		const struct state_item *item = &state->items[i].item;

		if (item->buffer != buffer || item->kind == STATE_ITEM_SYNTH || item->kind == STATE_ITEM_PROBE) {
			i++;
			continue;
		}
		r = control_extents_drop(control, item, err);
		if (!r)
			control_state_item_remove(state, i);
	}
	/* Code that nobody names any more goes with the next change. */
	for (size_t i = 0; !r && i < n; i++)
		if (hooks[i].buffer != buffer)
			hooks[kept++] = hooks[i];
	if (!r)
		state->hooks.len = kept * sizeof(*hooks);
	return r;
}
