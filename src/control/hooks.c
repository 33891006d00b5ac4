/*
 * control/hooks: triggers; see hooks.h. Filters are in filters.c, synthetic events and probes in dynamic.c.
 *
 * Two things that a trigger, or a function (func_act.c), switches live in words of the tables file while there is such a one:
 * whether an event is on (STATE_ITEM_SOFT; the rules then say yes) and whether a buffer is off (STATE_ITEM_OFF; the buffer's flag
 * then says on). With the last of them they are folded into the plain state again.
 */
#include "control/hooks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/buffer.h"
#include "control/clock.h"
#include "control/enable.h"
#include "control/rules.h"
#include "control/space.h"

/* ---- what triggers switch ---- */

static const struct state_item *find_word(const struct control_state *state, enum state_item_kind kind, uint32_t buffer,
					  const char *system, const char *event)
{
	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind == kind && item->buffer == buffer && !strcmp(item->system, system) &&
		    !strcmp(item->event, event))
			return item;
	}
	return NULL;
}

bool control_buffer_is_on(const struct control *control, uint32_t buffer)
{
	const struct state_buffer *of = &control->state.buffers[buffer];

	return of->flags & BUFFER_ON && !(of->off && control_word(control, of->off));
}

int control_buffer_switch(struct control *control, uint32_t buffer, bool on, struct err *err)
{
	struct state_buffer *of = &control->state.buffers[buffer];

	if (of->off)
		return control_word_change(control, of->off, !on, err);
	if (on)
		of->flags |= BUFFER_ON;
	else
		of->flags &= ~(uint32_t)BUFFER_ON;
	return 0;
}

bool control_event_is_on(const struct control *control, uint32_t buffer, const char *system, const char *event,
			 bool *soft)
{
	const struct state_item *item = find_word(&control->state, STATE_ITEM_SOFT, buffer, system, event);

	if (soft)
		*soft = item || control_state_has_item(&control->state, STATE_ITEM_TRIGGER, buffer, system, event);
	return control_rules_on(&control->state, buffer, system, event) && (!item || control_word(control, item->count));
}

uint32_t control_soft_word(const struct control_state *state, uint32_t buffer, const char *system, const char *event)
{
	const struct state_item *item = find_word(state, STATE_ITEM_SOFT, buffer, system, event);

	return item ? item->count : 0;
}

int control_soft_begin(struct control_items *items, uint32_t buffer, const char *system, const char *event, struct err *err)
{
	struct control *control = items->control;
	bool on = control_rules_on(&control->state, buffer, system, event);
	uint32_t word;
	int r;

	if (find_word(&control->state, STATE_ITEM_SOFT, buffer, system, event))
		return 0;
	r = control_word_deal(control, on, &word, err);
	if (!r)
		r = control_items_add(items, STATE_ITEM_SOFT, buffer, system, event, "", 0, NULL, err);
	if (r)
		return r;
	items_at(items, control->state.nitems - 1)->count = word;
	if (!on)
		r = control_rules_set(&control->state, buffer, system, event, true, err);
	return r ? r : control_buffer_expand(control, &control->state.buffers[buffer], err);
}

int control_off_begin(struct control_items *items, uint32_t buffer, struct err *err)
{
	struct state_buffer *of = &items->control->state.buffers[buffer];
	uint32_t word;
	int r;

	if (of->off)
		return 0;
	r = control_word_deal(items->control, !(of->flags & BUFFER_ON), &word, err);
	if (!r)
		r = control_items_add(items, STATE_ITEM_OFF, buffer, "", "", "", 0, NULL, err);
	if (r)
		return r;
	items_at(items, items->control->state.nitems - 1)->count = word;
	of->off = word;
	of->flags |= BUFFER_ON;
	return 0;
}

static bool takes_snapshots(const struct spec_trigger *trigger)
{
	if (trigger->kind == SPEC_SNAPSHOT)
		return true;
	for (uint32_t i = 0; trigger->kind == SPEC_HIST && i < trigger->hist->nactions; i++)
		if (trigger->hist->actions[i]->doing == HOOK_DO_SNAPSHOT)
			return true;
	return false;
}

/* Does a trigger of that buffer, or a function, still switch this? */
static bool is_switched(const struct control_items *items, const struct state_item *word)
{
	const struct control_state *state = &items->control->state;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct spec_trigger *trigger = items->specs[i].trigger;

		if (!trigger || state->items[i].item.buffer != word->buffer)
			continue;
		if (word->kind == STATE_ITEM_OFF && (trigger->kind == SPEC_TRACEON || trigger->kind == SPEC_TRACEOFF))
			return true;
		if (word->kind == STATE_ITEM_SOFT &&
		    (trigger->kind == SPEC_ENABLE_EVENT || trigger->kind == SPEC_DISABLE_EVENT) &&
		    !strcmp(trigger->target_system, word->system) && !strcmp(trigger->target_event, word->event))
			return true;
	}
	for (uint32_t i = 0; i < state->nfuncs; i++)
		if (state->funcs[i].func.target == word->count)
			return true;
	return false;
}

int control_fold(struct control_items *items, struct err *err)
{
	struct control *control = items->control;
	int r = 0;

	for (uint32_t i = 0; !r && i < control->state.nitems;) {
		struct state_item item = *items_at(items, i);
		bool set;

		if ((item.kind != STATE_ITEM_SOFT && item.kind != STATE_ITEM_OFF) || is_switched(items, &item)) {
			i++;
			continue;
		}
		set = control_word(control, item.count);
		r = control_items_remove(items, i, err);
		if (!r && item.kind == STATE_ITEM_OFF) {
			control->state.buffers[item.buffer].off = 0;
			r = control_buffer_switch(control, item.buffer, !set, err);
		} else if (!r && !set) {
			r = control_rules_set(&control->state, item.buffer, item.system, item.event, false, err);
		}
	}
	return r;
}

/* ---- triggers ---- */

static bool is_hist(const struct control_items *items, uint32_t i)
{
	return items->specs[i].trigger && items->specs[i].trigger->kind == SPEC_HIST;
}

/* The trigger on that event that says the same, or one that excludes it. */
static uint32_t find_trigger(const struct control_items *items, uint32_t buffer, const char *system, const char *event,
			     const struct spec_trigger *trigger,
			     bool (*like)(const struct spec_trigger *a, const struct spec_trigger *b))
{
	const struct control_state *state = &items->control->state;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind == STATE_ITEM_TRIGGER && item->buffer == buffer && !strcmp(item->system, system) &&
		    !strcmp(item->event, event) && items->specs[i].trigger && like(items->specs[i].trigger, trigger))
			return i;
	}
	return UINT32_MAX;
}

static bool is_needed(const struct control_items *items, uint32_t which)
{
	const struct control_state *state = &items->control->state;
	uint32_t serial = state->items[which].item.serial;

	for (uint32_t i = 0; i < state->nitems; i++)
		if (i != which && state->items[i].item.owner != serial && control_items_uses(items, i, serial, NULL))
			return true;
	return false;
}

static int trigger_remove(struct control_items *items, uint32_t i, struct err *err)
{
	int r;

	/* What it owns is needed by itself alone. */
	if (is_hist(items, i) && is_needed(items, i))
		return err_set(err, -EBUSY, "another histogram uses its variables: remove that first");
	r = control_items_remove(items, i, err);
	return r ? r : control_fold(items, err);
}

/* A table of its own, or the one that its name stands for. */
static int hist_table(struct control_items *items, struct state_item *item, const struct spec_hist *hist, struct err *err)
{
	const struct control_state *state = &items->control->state;
	struct table_shape shape, other;
	int r;

	lower_hist_shape(hist, control_items_parts(items->control), &shape);
	for (uint32_t i = 0; hist->name[0] && i < state->nitems; i++) {
		const struct state_item *named = &state->items[i].item;

		if (named->serial == item->serial || named->buffer != item->buffer || !is_hist(items, i) ||
		    strcmp(items->specs[i].trigger->hist->name, hist->name))
			continue;
		lower_hist_shape(items->specs[i].trigger->hist, control_items_parts(items->control), &other);
		if (memcmp(&shape, &other, sizeof(shape)))
			return err_set(err, -EINVAL, "the histogram of that name has other keys or values");
		item->table = named->table;
		item->table_size = named->table_size;
		item->pause = named->pause;
		return 0;
	}
	r = control_extent_make(items->control, table_size(&shape), &item->table, err);
	if (!r)
		item->table_size = table_size(&shape);
	return r ? r : control_word_deal(items->control, hist->pause, &item->pause, err);
}

/* Times of two events are compared: all of the buffer by the clock that it says. */
static int hist_clock(struct control_items *items, uint32_t buffer, const struct spec_hist *hist, struct err *err)
{
	const char *name, *want = hist->clock[0] ? hist->clock : "global";
	uint32_t id = 0;

	if (!hist->uses_time)
		return 0;
	while ((name = control_clock_name(id)) && strcmp(name, want))
		id++;
	if (!name)
		return err_set(err, -EINVAL, "there is no clock '%.15s'", want);
	return control_buffer_clock(items->control, &items->control->state.buffers[buffer], id, err);
}

/* What the newest item needs to live on. */
static int give(struct control_items *items, const struct spec_trigger *trigger, struct err *err)
{
	struct control *control = items->control;
	uint32_t last = control->state.nitems - 1, buffer = items_at(items, last)->buffer;
	struct state_buffer *of = &control->state.buffers[buffer];
	struct state_item item = *items_at(items, last);
	int r = 0;

	if (trigger->counted)
		r = control_word_deal(control, trigger->count, &item.count, err);
	items_at(items, last)->count = item.count;
	if (!r && trigger->kind == SPEC_HIST) {
		r = hist_table(items, &item, trigger->hist, err);
		*items_at(items, last) = item;
		item.cells_size = lower_hist_cells(trigger->hist);
		if (!r && item.cells_size)
			r = control_extent_make(control, item.cells_size, &item.cells, err);
		if (!r)
			r = hist_clock(items, buffer, trigger->hist, err);
	}
	*items_at(items, last) = item;
	if (!r && takes_snapshots(trigger)) {
		r = control_word_deal(control, 0, &item.snapshots, err);
		*items_at(items, last) = item;
	}
	if (!r && trigger->kind == SPEC_STACKTRACE_TRIGGER)
		r = control_buffer_expand(control, of, err);
	if (!r && (trigger->kind == SPEC_TRACEON || trigger->kind == SPEC_TRACEOFF))
		r = control_off_begin(items, buffer, err);
	if (!r && (trigger->kind == SPEC_ENABLE_EVENT || trigger->kind == SPEC_DISABLE_EVENT))
		r = control_soft_begin(items, buffer, trigger->target_system, trigger->target_event, err);
	return r;
}

/* The histograms that nobody wrote but that this one needs, before it. They get its serial as their owner when it has one. */
static int add_hidden(struct control_items *items, uint32_t buffer, const struct spec_hist *hist, struct spec_error *error,
		      struct err *err)
{
	const struct spec_world *world = control_items_world(items, buffer, false);
	int r = 0;

	for (uint32_t i = 0; !r && i < hist->nhidden; i++) {
		const struct spec_hidden *hidden = hist->hidden[i];
		struct item_spec spec = { 0 };

		r = spec_trigger_parse(&spec.trigger, world, hidden->system, hidden->event, hidden->text,
				       strlen(hidden->text), error);
		if (r)
			return control_items_refuse(error, r, err);
		r = control_items_add(items, STATE_ITEM_TRIGGER, buffer, hidden->system, hidden->event, hidden->text,
				      strlen(hidden->text), &spec, err);
		if (r)
			return r;
		items_at(items, items->control->state.nitems - 1)->flags = STATE_ITEM_HIDDEN;
		r = give(items, spec.trigger, err);
	}
	return r;
}

static void own_hidden(struct control_items *items, uint32_t serial)
{
	for (uint32_t i = 0; i < items->control->state.nitems; i++)
		if (items_at(items, i)->flags & STATE_ITEM_HIDDEN && !items_at(items, i)->owner)
			items_at(items, i)->owner = serial;
}

static int trigger_add(struct control_items *items, uint32_t buffer, const char *system, const char *event,
		       const char *text, size_t len, struct spec_trigger *trigger, bool ahead, struct spec_error *error,
		       struct err *err)
{
	struct item_spec spec = { .trigger = trigger };
	int r = 0;

	if (trigger->kind == SPEC_HIST && trigger->hist->nhidden) {
		r = add_hidden(items, buffer, trigger->hist, error, err);
		/* Once more, now that the variables that it refers to are there. */
		spec_trigger_free(trigger);
		if (!r && spec_trigger_parse(&spec.trigger, control_items_world(items, buffer, ahead), system, event, text, len,
					     error))
			r = control_items_refuse(error, error->code ? error->code : -EINVAL, err);
		if (r)
			return r;
	}
	r = control_items_add(items, STATE_ITEM_TRIGGER, buffer, system, event, text, len, &spec, err);
	if (r)
		return r;
	items_at(items, items->control->state.nitems - 1)->flags = ahead ? STATE_ITEM_AHEAD : 0;
	own_hidden(items, items_at(items, items->control->state.nitems - 1)->serial);
	r = give(items, spec.trigger, err);
	return r ? r : control_items_lower(items, error, err);
}

/* `:pause`, `:cont` and `:clear` are about a histogram that is there. */
static int hist_again(struct control_items *items, uint32_t i, const struct spec_hist *hist, struct err *err)
{
	struct control *control = items->control;
	struct state_item *item = items_at(items, i);
	uint64_t table = item->table, fresh;
	int r = 0;

	if (hist->pause || hist->cont)
		return control_word_change(control, item->pause, hist->pause, err);
	/* What somebody is about to count goes into the old one, and with it. */
	r = control_extent_make(control, item->table_size, &fresh, err);
	for (uint32_t j = 0; !r && j < control->state.nitems; j++)
		if (j != i && items_at(items, j)->table == table)
			items_at(items, j)->table = fresh;
	if (!r) {
		uint64_t size = item->table_size;

		item->table = fresh;
		r = control_extent_drop(control, &table, &size, err);
	}
	return r;
}

/* The item of the world's histogram of that number. */
static uint32_t hist_item(const struct control_items *items, const struct spec_world *world, uint32_t number)
{
	const char *system, *event;
	const struct spec_hist *hist = world->hist(world->arg, number, &system, &event);

	for (uint32_t i = 0; hist && i < items->control->state.nitems; i++)
		if (items->specs[i].trigger && items->specs[i].trigger->hist == hist)
			return i;
	return UINT32_MAX;
}

static int hist_apply(struct control_items *items, uint32_t buffer, const char *system, const char *event,
		      const char *text, size_t len, struct spec_trigger *trigger, bool ahead, struct spec_error *error,
		      struct err *err)
{
	const struct spec_world *world = control_items_world(items, buffer, ahead);
	uint32_t number = 0, i;
	int r = spec_hist_meet(trigger->hist, world, system, event, text, len, &number, error);

	if (!r)
		return trigger_add(items, buffer, system, event, text, len, trigger, ahead, error, err);
	if (r < 0) {
		control_items_refuse(error, r, err);
	} else {
		i = hist_item(items, world, number);
		r = i == UINT32_MAX ? err_set(err, -ENOENT, "there is no such histogram") :
		    hist_again(items, i, trigger->hist, err);
	}
	spec_trigger_free(trigger);
	return r ? r : control_items_lower(items, error, err);
}

static int trigger_apply(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			 const char *text, size_t len, struct spec_trigger *trigger, bool ahead, struct spec_error *error,
			 struct err *err)
{
	uint32_t same;
	int r = 0;

	if (trigger->remove) {
		same = find_trigger(items, buffer, system, event, trigger, spec_trigger_same);
		if (same != UINT32_MAX)
			r = trigger_remove(items, same, err);
	} else if (trigger->kind == SPEC_HIST) {
		return hist_apply(items, buffer, system, event, text, len, trigger, ahead, error, err);
	} else if (find_trigger(items, buffer, system, event, trigger, spec_trigger_clash) != UINT32_MAX) {
		r = err_set(err, -EEXIST, "there is such a trigger already");
	} else {
		return trigger_add(items, buffer, system, event, text, len, trigger, ahead, error, err);
	}
	spec_trigger_free(trigger);
	return r ? r : control_items_lower(items, error, err);
}

int control_trigger_set(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			const char *text, size_t len, bool ahead, struct spec_error *error, struct err *err)
{
	struct spec_trigger *trigger = NULL;
	bool known = control_items_format(items, system, event);
	int r;

	control_items_trim(&text, &len);
	if (!len)
		return 0;
	r = spec_trigger_parse(&trigger, control_items_world(items, buffer, ahead && !known), system, event, text, len, error);
	if (r)
		return control_items_refuse(error, r, err);
	return trigger_apply(items, buffer, system, event, text, len, trigger, ahead && !known, error, err);
}

int control_triggers_clear(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			   struct err *err)
{
	struct spec_error error = SPEC_ERROR_INIT;
	bool any = true;
	int r = 0;

	/* One may need another's variables: the ones that nobody needs go first. */
	while (!r && any) {
		any = false;
		for (uint32_t i = 0; !r && i < items->control->state.nitems; i++) {
			const struct state_item *item = items_at(items, i);

			if (item->kind != STATE_ITEM_TRIGGER || item->buffer != buffer || !is_hist(items, i) ||
			    item->flags & STATE_ITEM_HIDDEN || strcmp(item->system, system) || strcmp(item->event, event) ||
			    is_needed(items, i))
				continue;
			r = trigger_remove(items, i, err);
			any = true;
			break;
		}
	}
	if (!r)
		r = control_items_lower(items, &error, err);
	spec_error_fini(&error);
	return r;
}

int control_condition_set(struct control *control, const char *instance, const char *system, const char *event, bool trigger,
			  const char *text, struct err *err)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct control_items *items = NULL;
	int place, r = control_begin(control, err);

	if (r)
		return r;
	place = control_state_buffer(&control->state, instance);
	if (place < 0)
		r = err_set(err, -ENOENT, "there is no instance '%.64s'", instance);
	if (!r)
		r = control_items_open(&items, control, err);
	if (!r && trigger)
		r = control_trigger_set(items, (uint32_t)place, system, event, text, strlen(text), true, &error, err);
	else if (!r)
		r = control_filter_set(items, (uint32_t)place, system, event, text, strlen(text), true, &error, err);
	control_items_close(items);
	spec_error_fini(&error);
	return control_end(control, r, err);
}
