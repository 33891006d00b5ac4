/*
 * control/trigger: the tree's files about triggers: events/SYSTEM/EVENT/trigger, the same of ftrace's own print, and
 * show_event_triggers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/hooks.h"
#include "control/node.h"
#include "control/space.h"

static const char available[] = "# Available triggers:\n"
				"# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n";

static bool is_listed(const struct control_items *items, uint32_t i, uint32_t buffer)
{
	const struct state_item *item = &items->control->state.items[i].item;

	return item->kind == STATE_ITEM_TRIGGER && item->buffer == buffer && items->specs[i].trigger;
}

static bool is_of(const struct control_items *items, uint32_t i, const char *system, const char *event)
{
	const struct state_item *item = &items->control->state.items[i].item;

	return !*system || (!strcmp(item->system, system) && !strcmp(item->event, event));
}

void node_trigger_show(const struct control_items *items, uint32_t i, struct buf *out)
{
	const struct control *control = items->control;
	const struct state_item *item = &control->state.items[i].item;

	spec_trigger_show(items->specs[i].trigger, item->count ? control_word(control, item->count) : 0,
			  item->pause && control_word(control, item->pause), out);
}

static void put(const struct control_items *items, uint32_t i, bool named, struct buf *out)
{
	const struct state_item *item = &items->control->state.items[i].item;

	if (named)
		buf_printf(out, "%s:%s\t", item->system, item->event);
	node_trigger_show(items, i, out);
	buf_putc(out, '\n');
}

/* As the kernel has them: the newest first, but for histograms, which come last and in their order. */
static int list(struct node_request *request, const char *system, const char *event, struct err *err)
{
	struct control_items *items = NULL;
	int r = control_items_open(&items, request->control, err);
	uint32_t n = request->control->state.nitems;

	if (r)
		return r;
	for (uint32_t i = n; i-- > 0;)
		if (is_listed(items, i, request->buffer) && is_of(items, i, system, event) &&
		    items->specs[i].trigger->kind != SPEC_HIST)
			put(items, i, !*system, &request->out);
	for (uint32_t i = 0; i < n; i++)
		if (is_listed(items, i, request->buffer) && is_of(items, i, system, event) &&
		    items->specs[i].trigger->kind == SPEC_HIST)
			put(items, i, !*system, &request->out);
	control_items_close(items);
	return 0;
}

int node_trigger_read(struct node_request *request, struct err *err)
{
	if (!control_state_has_item(&request->control->state, STATE_ITEM_TRIGGER, request->buffer, request->part[0],
				    request->part[1])) {
		buf_puts(&request->out, available);
		return 0;
	}
	return list(request, request->part[0], request->part[1], err);
}

int node_trigger_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	struct control_items *items = NULL;
	int r;

	if (!request->len && !request->trunc)
		return 0;
	r = node_begin(request, err);
	if (r)
		return r;
	r = control_items_open(&items, control, err);
	if (!r && request->trunc)
		r = control_triggers_clear(items, request->buffer, request->part[0], request->part[1], err);
	if (!r && request->len)
		r = control_trigger_set(items, request->buffer, request->part[0], request->part[1], request->text,
					request->len, false, &request->error, err);
	control_items_close(items);
	return control_end(control, r, err);
}

int node_triggers_read(struct node_request *request, struct err *err)
{
	return list(request, "", "", err);
}

/* The table's path has the names of ftrace's own event in it, and no stars. */
static void name_print(struct node_request *request)
{
	strcpy(request->part[0], "ftrace");
	strcpy(request->part[1], "print");
}

int node_print_trigger_read(struct node_request *request, struct err *err)
{
	name_print(request);
	return node_trigger_read(request, err);
}

int node_print_trigger_write(struct node_request *request, struct err *err)
{
	name_print(request);
	return node_trigger_write(request, err);
}

int node_print_hist_read(struct node_request *request, struct err *err)
{
	name_print(request);
	return node_hist_read(request, err);
}

bool node_print_hist_mark(struct node_request *request, uint64_t *mark)
{
	name_print(request);
	return node_hist_mark(request, mark);
}
