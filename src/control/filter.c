/*
 * control/filter: the tree's files about filters: events/SYSTEM/EVENT/filter, events/SYSTEM/filter, show_event_filters.
 */
#include <errno.h>
#include <string.h>

#include "control/hooks.h"
#include "control/node.h"

static const char global_filter[] = "### global filter ###\n"
				    "# Use this to set filters for multiple events.\n"
				    "# Only events with the given fields will be affected.\n"
				    "# If no events are modified, an error message will be displayed here\n";

static const char *find(const struct node_request *request, const char *event)
{
	const struct control_state *state = &request->control->state;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind == STATE_ITEM_FILTER && item->buffer == request->buffer &&
		    !strcmp(item->system, request->part[0]) && !strcmp(item->event, event))
			return state->items[i].text;
	}
	return NULL;
}

/* Of an event in a large system: what that has for all of them. */
static int read_wide(struct node_request *request, struct err *err)
{
	struct control_items *items = NULL;
	const char *text;
	int r = control_items_open(&items, request->control, err);

	if (r)
		return r;
	text = control_filter_wide(items, request->buffer, request->part[0], request->part[1]);
	buf_printf(&request->out, "%s\n", text ? text : "none");
	control_items_close(items);
	return 0;
}

int node_filter_read(struct node_request *request, struct err *err)
{
	const char *text = find(request, request->part[1]);

	if (!text && request->part[1][0] && find(request, ""))
		return read_wide(request, err);
	if (text)
		buf_printf(&request->out, "%s\n", text);
	else
		buf_puts(&request->out, request->part[1][0] ? "none\n" : global_filter);
	return 0;
}

int node_filter_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	struct control_items *items = NULL;
	bool bad;
	int r;

	if (!request->len)
		return 0;
	r = node_begin(request, err);
	if (r)
		return r;
	r = control_items_open(&items, control, err);
	if (!r && request->part[1][0])
		r = control_filter_set(items, request->buffer, request->part[0], request->part[1], request->text,
				       request->len, false, &request->error, err);
	else if (!r)
		r = control_filter_set_system(items, request->buffer, request->part[0], request->text, request->len,
					      &request->error, err);
	control_items_close(items);
	/* One that was refused is shown, and nothing is filtered by it: that much of it is done. */
	bad = r == 1;
	r = control_end(control, bad ? 0 : r, err);
	if (!r && bad)
		r = control_items_refuse(&request->error, request->error.code ? request->error.code : -EINVAL, err);
	return r;
}

static void list_wide(struct node_request *request, struct control_items *items, const char *system)
{
	const struct control_registry *events = items->events;
	const char *text;

	for (uint32_t i = control_registry_system(events, system);
	     i < events->nevents && !strcmp(events->events[i].system, system); i++) {
		const char *name = events->events[i].name;

		if (!events->events[i].shown ||
		    control_items_find(items, STATE_ITEM_FILTER, request->buffer, system, name) != UINT32_MAX)
			continue;
		text = control_filter_wide(items, request->buffer, system, name);
		if (text)
			buf_printf(&request->out, "%s:%s\t%s\n", system, name, text);
	}
}

int node_filters_read(struct node_request *request, struct err *err)
{
	const struct control_state *state = &request->control->state;
	struct control_items *items = NULL;
	int r = control_items_open(&items, request->control, err);

	for (uint32_t i = 0; i < state->nitems && !r; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind != STATE_ITEM_FILTER || item->buffer != request->buffer)
			continue;
		if (item->flags & STATE_ITEM_WIDE)
			list_wide(request, items, item->system);
		else if (item->event[0] && !(item->flags & (STATE_ITEM_BAD | STATE_ITEM_NONE)))
			buf_printf(&request->out, "%s:%s\t%s\n", item->system, item->event, state->items[i].text);
	}
	control_items_close(items);
	return r;
}
