/*
 * control/hints: see hints.h. In a transaction.
 *
 *   tool                                     program that brings an event
 *     read the slots, set words
 *     store published                          draw a number, mark the slot ready
 *     fence                                    fence
 *     read the slots, set and clear words      read published, set the word by it
 *
 * So the tool sees the slot, or the program sees the state; if both, they agree. The slots need not be read a second
 * time when no slot was half-way at the first and no number was drawn since.
 */
#include "control/hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/file.h"
#include "control/registry.h"
#include "control/rules.h"
#include "layout/hook.h"

struct control_hints {
	struct control_registry registry;	/* with the words as they are in the file */
	uint64_t number;
};

/* Does anything but a filter hang on this event? It runs whether or not a buffer takes the record. */
static bool hooked(const struct control_state *state, const char *system, const char *name)
{
	const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data;

	for (size_t n = state->hooks.len / sizeof(*hook); n; n--, hook++)
		if (hook->nacts && !strcmp(hook->system, system) && !strcmp(hook->event, name))
			return true;
	return false;
}

/* Does any buffer that is being written to have this event on? */
static bool wanted(const struct control_state *state, const struct control_event *event)
{
	if (hooked(state, event->system, event->name))
		return true;
	for (uint32_t b = 0; b < state->nbuffers; b++) {
		const struct state_buffer *buffer = &state->buffers[b];

		if (buffer->born && buffer_takes(buffer) &&
		    control_rules_on(state, b, event->system, event->name))
			return true;
	}
	return false;
}

static int put_word(struct control *control, uint64_t offset, uint32_t word, struct err *err)
{
	return control_file_publish(&control->dir, SEGMENT_REGISTRY, &word, sizeof(word), offset, err);
}

static int put_events(struct control *control, struct control_registry *registry, bool raise,
		      struct err *err)
{
	uint8_t *want = calloc(REGISTRY_EVENTS, 1);
	int r = 0;

	if (!want)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (!wanted(&control->state, event))
			continue;
		want[event->id - EVENT_ID_FIRST] |= CONTROL_HINT_ON;
		if (event->related >= EVENT_ID_FIRST && event->related < EVENT_ID_END)
			want[event->related - EVENT_ID_FIRST] |= CONTROL_HINT_RELATED;
	}
	for (uint32_t i = 0; !r && i < registry->nevents; i++) {
		struct control_event *event = &registry->events[i];
		uint32_t slot = event->id - EVENT_ID_FIRST;
		uint32_t hint = want[slot] | (raise ? event->hint : 0);

		if (event->hint == hint)
			continue;
		r = put_word(control, REGISTRY_EVENTS_OFFSET +
			     (uint64_t)slot * sizeof(struct registry_slot) +
			     offsetof(struct registry_slot, hint), hint, err);
		event->hint = hint;
	}
	free(want);
	return r;
}

/* One of ftrace's own events: these are always known. */
static int put_builtin(struct control *control, uint32_t id, bool on, bool raise, struct err *err)
{
	if (raise && !on)
		return 0;
	return put_word(control, offsetof(struct registry_head, builtin_hint) + id * sizeof(uint32_t),
			on ? CONTROL_HINT_ON : 0, err);
}

/* Marks go to the top buffer, printf there or where somebody wants it instead, copies of both to others: as in
 * runtime/view.c. */
static int put_builtins(struct control *control, bool raise, struct err *err)
{
	const struct state_buffer *top = &control->state.buffers[0], *dest = top;
	bool marks = buffer_takes(top) && top->flags & BUFFER_MARKERS, prints = false;
	int r;

	for (uint32_t b = 0; b < control->state.nbuffers; b++) {
		const struct state_buffer *buffer = &control->state.buffers[b];

		if (buffer->born && buffer->flags & BUFFER_PRINTK_DEST)
			dest = buffer;
		if (!buffer->born || !(buffer->flags & BUFFER_COPY_MARKERS) || !buffer_takes(buffer))
			continue;
		prints = true;
		marks = marks || buffer->flags & BUFFER_MARKERS;
	}
	prints |= buffer_takes(dest);
	marks |= hooked(&control->state, "ftrace", "print");
	prints |= hooked(&control->state, "ftrace", "bprint");
	r = put_builtin(control, EVENT_ID_PRINT, marks, raise, err);
	return r ? r : put_builtin(control, EVENT_ID_BPRINT, prints && top->flags & BUFFER_TRACE_PRINTK, raise, err);
}

static int put(struct control *control, struct control_hints *hints, bool raise, struct err *err)
{
	int r = put_events(control, &hints->registry, raise, err);

	return r ? r : put_builtins(control, raise, err);
}

/* The number first: what is brought after it makes the rest untrue. */
static struct control_hints *read_slots(const struct control *control, struct err *err)
{
	struct control_hints *hints = calloc(1, sizeof(*hints));

	if (!hints) {
		err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (control_registry_number(&control->dir, &hints->number, err) ||
	    control_registry_read(&hints->registry, &control->dir, CONTROL_REGISTRY_EVENTS, err)) {
		free(hints);
		return NULL;
	}
	return hints;
}

void control_hints_free(struct control_hints *hints)
{
	if (!hints)
		return;
	control_registry_fini(&hints->registry);
	free(hints);
}

struct control_hints *control_hints_raise(struct control *control)
{
	struct control_hints *hints = read_slots(control, NULL);

	if (hints && put(control, hints, true, NULL)) {
		control_hints_free(hints);
		return NULL;
	}
	return hints;
}

int control_hints_settle(struct control *control, struct control_hints *hints, struct err *err)
{
	struct err own = ERR_INIT;
	uint64_t number;
	int r = 0;

	err = err ? err : &own;
	if (!hints || hints->registry.unsettled ||
	    control_registry_number(&control->dir, &number, NULL) || number != hints->number) {
		control_hints_free(hints);
		hints = read_slots(control, err);
		r = hints ? 0 : err->code;
	}
	if (!r)
		r = put(control, hints, false, err);
	control_hints_free(hints);
	return r;
}
