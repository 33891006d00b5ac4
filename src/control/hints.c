/*
 * control/hints: see hints.h. In a transaction, after publishing.
 *
 *   tool                                     program that brings an event
 *     store published                          mark the slot ready
 *     fence                                    fence
 *     read the slots                           read published, set the word by it
 *
 * So the tool sees the slot, or the program sees the state; if both, they agree.
 */
#include "control/hints.h"

#include <errno.h>
#include <stdlib.h>

#include "control/file.h"
#include "control/registry.h"
#include "control/rules.h"

/* Does any buffer that is being written to have this event on? */
static bool wanted(const struct control_state *state, const struct control_event *event)
{
	for (uint32_t b = 0; b < state->nbuffers; b++) {
		const struct state_buffer *buffer = &state->buffers[b];

		if (buffer->born && buffer_takes(buffer) &&
		    control_rules_on(state, b, event->system, event->name))
			return true;
	}
	return false;
}

static int sync_events(struct control *control, const struct control_registry *registry,
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
		const struct control_event *event = &registry->events[i];
		uint32_t slot = event->id - EVENT_ID_FIRST;
		uint32_t hint = want[slot];

		if (event->hint != hint)
			r = control_file_publish(&control->dir, SEGMENT_REGISTRY, &hint,
						 sizeof(hint), REGISTRY_EVENTS_OFFSET +
						 (uint64_t)slot * sizeof(struct registry_slot) +
						 offsetof(struct registry_slot, hint), err);
	}
	free(want);
	return r;
}

static int sync_builtin(struct control *control, uint32_t id, bool on, struct err *err)
{
	uint32_t hint = on ? CONTROL_HINT_ON : 0;

	return control_file_publish(&control->dir, SEGMENT_REGISTRY, &hint, sizeof(hint),
				    offsetof(struct registry_head, builtin_hint) + id * sizeof(hint),
				    err);
}

/* Marks go to the top buffer, printf there or where somebody wants it instead: as in runtime/view.c. */
static int sync_builtins(struct control *control, struct err *err)
{
	const struct state_buffer *top = &control->state.buffers[0], *dest = top;
	int r;

	for (uint32_t b = 0; b < control->state.nbuffers; b++)
		if (control->state.buffers[b].born &&
		    control->state.buffers[b].flags & BUFFER_PRINTK_DEST)
			dest = &control->state.buffers[b];
	r = sync_builtin(control, EVENT_ID_PRINT, buffer_takes(top) && top->flags & BUFFER_MARKERS,
			 err);
	return r ? r : sync_builtin(control, EVENT_ID_BPRINT, buffer_takes(dest) &&
				    top->flags & BUFFER_TRACE_PRINTK, err);
}

int control_hints_sync(struct control *control, struct err *err)
{
	struct control_registry registry;
	int r;

	r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	r = sync_events(control, &registry, err);
	if (!r)
		r = sync_builtins(control, err);
	control_registry_fini(&registry);
	return r;
}
