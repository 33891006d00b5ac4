/*
 * cmd/events: see events.h.
 */
#include "cmd/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/enable.h"
#include "control/named.h"
#include "control/registry.h"
#include "control/rules.h"

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static void leave_out_gone(struct control_registry *registry, const struct control_state *state)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < registry->nevents; i++)
		if (control_event_is_there(state, &registry->events[i]))
			registry->events[kept++] = registry->events[i];
	registry->nevents = kept;
	control_registry_show(registry);
}

static int load_registry(struct events *events, struct control *control, struct err *err)
{
	int r;

	events->registry = calloc(1, sizeof(*events->registry));
	if (!events->registry)
		return out_of_memory(err);
	control_named_ensure(&control->dir, NULL);
	r = control_refresh(control, err);
	if (!r)
		r = control_registry_read(events->registry, &control->dir, CONTROL_REGISTRY_EVENTS,
					  err);
	if (r)
		return r;
	leave_out_gone(events->registry, &control->state);
	events->item = calloc(events->registry->nevents + 1, sizeof(*events->item));
	if (!events->item)
		return out_of_memory(err);
	for (uint32_t i = 0; i < events->registry->nevents; i++) {
		struct control_event *event = &events->registry->events[i];
		struct events_item *item = &events->item[events->n];

		if (!event->shown)
			continue;
		*item = (struct events_item){ strdup(event->system), strdup(event->name),
					      control_event_has_source(event), event };
		events->n++;
		if (!item->system || !item->name)
			return out_of_memory(err);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct events_item *x = a, *y = b;
	int r = strcmp(x->system, y->system);

	return r ? r : strcmp(x->name, y->name);
}

/* A line SYSTEM:EVENT of available_events. */
static int take_line(struct events *events, char *line, struct err *err)
{
	struct events_item *more, *item;
	char *colon = strchr(line, ':');

	if (!colon || colon == line || !colon[1])
		return 0;
	more = realloc(events->item, (events->n + 1) * sizeof(*more));
	if (!more)
		return out_of_memory(err);
	events->item = more;
	*colon = '\0';
	item = &more[events->n++];
	*item = (struct events_item){ strdup(line), strdup(colon + 1), true, NULL };
	return item->system && item->name ? 0 : out_of_memory(err);
}

static int load_files(struct events *events, struct err *err)
{
	struct buf text = BUF_INIT;
	char *save, *line;
	int r;

	r = source_read(events->source, "available_events", &text, err);
	for (line = r || !text.data ? NULL : strtok_r(text.data, "\n", &save); !r && line;
	     line = strtok_r(NULL, "\n", &save))
		r = take_line(events, line, err);
	if (!r && events->n)
		qsort(events->item, events->n, sizeof(*events->item), compare);
	buf_fini(&text);
	return r;
}

int events_load(struct events *events, struct source *source, struct err *err)
{
	struct control *control = source_control(source);
	int r;

	*events = (struct events){ .source = source };
	r = control ? load_registry(events, control, err) : load_files(events, err);
	if (r)
		events_fini(events);
	return r;
}

void events_fini(struct events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		free(events->item[i].system);
		free(events->item[i].name);
	}
	free(events->item);
	if (events->registry)
		control_registry_fini(events->registry);
	free(events->registry);
	*events = (struct events){ 0 };
}

static int read_of(const struct events *events, const struct events_item *item, const char *file,
		   struct buf *out, struct err *err)
{
	struct buf path = BUF_INIT;
	int r;

	buf_printf(&path, "events/%s/%s/%s", item->system, item->name, file);
	r = buf_failed(&path) ? out_of_memory(err) : source_read(events->source, path.data, out, err);
	buf_fini(&path);
	return r;
}

int events_format(const struct events *events, const struct events_item *item, struct buf *out,
		  struct err *err)
{
	if (!item->known)
		return read_of(events, item, "format", out, err);
	control_event_format(item->known, out);
	return 0;
}

int events_state(const struct events *events, const struct events_item *item, unsigned int *id,
		 bool *on, struct err *err)
{
	const struct control_event *event = item->known;
	struct buf text = BUF_INIT;
	int r;

	*id = 0;
	*on = false;
	if (event) {
		*id = event->id;
		*on = control_rules_on(&source_control(events->source)->state, 0, item->system,
				       item->name);
		return 0;
	}
	r = read_of(events, item, "id", &text, err);
	if (!r && text.data)
		*id = (unsigned int)strtoul(text.data, NULL, 10);
	buf_reset(&text);
	if (!r)
		r = read_of(events, item, "enable", &text, err);
	if (!r && text.data)
		*on = text.data[0] == '1';
	buf_fini(&text);
	return r;
}

bool events_wish_parse(struct events_wish *wish, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	const char *event = colon ? colon + 1 : "";

	if (!strcmp(text, "all")) {
		*wish = (struct events_wish){ "*", "*", false };
		return true;
	}
	/* The longest that a rule holds: layout/control.h. */
	if (!*text || len >= 60 || strlen(event) >= 60 || strchr(event, ':') ||
	    strpbrk(text, " \t\n/"))
		return false;
	wish->bare = !colon;
	snprintf(wish->system, sizeof(wish->system), "%.*s", (int)len, len ? text : "*");
	snprintf(wish->event, sizeof(wish->event), "%s",
		 !colon ? wish->system : *event ? event : "*");
	return true;
}

bool events_wish_matches(const struct events_wish *wish, const struct events_item *item)
{
	bool system = glob_match(wish->system, item->system);
	bool name = glob_match(wish->event, item->name);

	return wish->bare ? system || name : system && name;
}

bool events_wish_is_all(const struct events_wish *wish)
{
	return !strcmp(wish->system, "*") && !strcmp(wish->event, "*");
}
