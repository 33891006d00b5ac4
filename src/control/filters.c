/*
 * control/filters: changes of filters; see hooks.h.
 */
#include <errno.h>
#include <string.h>

#include "control/hooks.h"

static int filter_remove(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			 struct err *err)
{
	uint32_t i = control_items_find(items, STATE_ITEM_FILTER, buffer, system, event);

	return i == UINT32_MAX ? 0 : control_items_remove(items, i, err);
}

/* What the file shows of one that was refused: as the kernel, the text, a caret below it, and why. */
static void show_refused(const struct spec_error *error, const char *text, size_t len, struct buf *out)
{
	size_t pos = error->pos < len ? error->pos : len;

	buf_add(out, text, len);
	buf_printf(out, "\n%*s\nparse_error: %s", (int)(pos ? pos + 1 : 0), "^", error->message);
}

/* Every layout of that name must be able to be filtered. */
static int filter_check(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			const char *text, size_t len, bool ahead, struct spec_error *error)
{
	const struct decode_format *format = control_items_format(items, system, event);
	const struct spec_world *world = control_items_world(items, buffer, ahead && !format);
	struct buf program = BUF_INIT;
	int r = spec_filter_compile(world, format, text, len, &program, error);

	buf_fini(&program);
	return r;
}

const char *control_filter_wide(struct control_items *items, uint32_t buffer, const char *system, const char *event)
{
	uint32_t i = control_items_find(items, STATE_ITEM_FILTER, buffer, system, "");
	struct spec_error error = SPEC_ERROR_INIT;
	const char *text;
	int r;

	if (i == UINT32_MAX || !(items_at(items, i)->flags & STATE_ITEM_WIDE))
		return NULL;
	text = items->control->state.items[i].text;
	r = filter_check(items, buffer, system, event, text, strlen(text), false, &error);
	spec_error_fini(&error);
	return r ? NULL : text;
}

/* The system's is not for this event. */
static int add_none(struct control_items *items, uint32_t buffer, const char *system, const char *event, struct err *err)
{
	int r = control_items_add(items, STATE_ITEM_FILTER, buffer, system, event, "none", 4, NULL, err);

	if (!r)
		items_at(items, items->control->state.nitems - 1)->flags = STATE_ITEM_NONE;
	return r;
}

int control_filter_set(struct control_items *items, uint32_t buffer, const char *system, const char *event,
		       const char *text, size_t len, bool ahead, struct spec_error *error, struct err *err)
{
	struct buf shown = BUF_INIT;
	bool bad;
	int r;

	control_items_trim(&text, &len);
	if (!len || (len == 1 && *text == '0')) {
		r = filter_remove(items, buffer, system, event, err);
		if (!r && control_filter_wide(items, buffer, system, event))
			r = add_none(items, buffer, system, event, err);
		return r ? r : control_items_lower(items, error, err);
	}
	bad = filter_check(items, buffer, system, event, text, len, ahead, error) != 0;
	if (bad && (!error->message || ahead))
		return control_items_refuse(error, error->code, err);
	r = filter_remove(items, buffer, system, event, err);
	if (bad)
		show_refused(error, text, len, &shown);
	if (!r)
		r = control_items_add(items, STATE_ITEM_FILTER, buffer, system, event, bad ? shown.data : text,
				      bad ? shown.len : len, NULL, err);
	buf_fini(&shown);
	if (!r)
		items_at(items, items->control->state.nitems - 1)->flags =
			bad ? STATE_ITEM_BAD : control_items_format(items, system, event) ? 0 : STATE_ITEM_AHEAD;
	if (!r && bad) {
		struct spec_error again = SPEC_ERROR_INIT;

		r = control_items_lower(items, &again, err);
		spec_error_fini(&again);
		return r ? r : 1;
	}
	return r ? r : control_items_lower(items, error, err);
}

#define SYSTEM_LARGE 128u

/* Has the system that begins at that event very many? */
static bool is_large(const struct control_registry *events, uint32_t first)
{
	return first + SYSTEM_LARGE < events->nevents &&
	       !strcmp(events->events[first].system, events->events[first + SYSTEM_LARGE].system);
}

/* Of hundreds of events, most of which are but names (syscalls), the state has no room: one filter is there for `many`. */
static int set_each(struct control_items *items, uint32_t buffer, const char *system, const char *text, size_t len,
		    bool many, uint32_t *taken, struct spec_error *error, struct err *err)
{
	uint32_t i = control_registry_system(items->events, system);
	bool clear = len == 1 && *text == '0';
	int r = 0;

	for (; !r && i < items->events->nevents && !strcmp(items->events->events[i].system, system); i++) {
		const struct control_event *event = &items->events->events[i];
		struct spec_error own = SPEC_ERROR_INIT;

		if (!event->shown)
			continue;
		if (clear || !filter_check(items, buffer, system, event->name, text, len, false, &own)) {
			++*taken;
			r = filter_remove(items, buffer, system, event->name, err);
			if (!r && !clear && !many)
				r = control_items_add(items, STATE_ITEM_FILTER, buffer, system, event->name, text, len, NULL,
						      err);
		} else if (!error->message && own.message) {
			*error = own;
			own = (struct spec_error)SPEC_ERROR_INIT;
		}
		spec_error_fini(&own);
	}
	return r;
}

int control_filter_set_system(struct control_items *items, uint32_t buffer, const char *system, const char *text,
			      size_t len, struct spec_error *error, struct err *err)
{
	bool many = is_large(items->events, control_registry_system(items->events, system));
	uint32_t taken = 0;
	int r;

	control_items_trim(&text, &len);
	if (!len)
		return 0;
	r = filter_remove(items, buffer, system, "", err);
	if (!r)
		r = set_each(items, buffer, system, text, len, many, &taken, error, err);
	if (!r && !taken)
		return control_items_refuse(error, -EINVAL, err);
	spec_error_fini(error);
	*error = (struct spec_error)SPEC_ERROR_INIT;
	if (!r && !(len == 1 && *text == '0')) {
		r = control_items_add(items, STATE_ITEM_FILTER, buffer, system, "", text, len, NULL, err);
		if (!r && many)
			items_at(items, items->control->state.nitems - 1)->flags = STATE_ITEM_WIDE;
	}
	return r ? r : control_items_lower(items, error, err);
}
