/*
 * cmd/flight_event: see flight_event.h.
 */
#include "cmd/flight_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "cmd/events.h"
#include "control/buffer.h"
#include "control/enable.h"
#include "control/names.h"
#include "control/own.h"
#include "control/registry.h"
#include "control/rows.h"
#include "expr/filter.h"
#include "layout/page.h"

/* Of each CPU: what comes while a file is written has to find room. */
#define PAGES 16u
#define NAMES_MAX 100
static const char behind[] = " if ";

/* A format that events came with, and what the filter makes of it. */
struct fit {
	uint32_t id;
	struct filter *filter;	/* NULL: it does not fit */
};

struct flight_event {
	struct events_wish wish;
	char *condition;	/* NULL: none */
	struct control *control;
	char name[STATE_NAME_MAX + 1];	/* of the instance; "": there is none */
	struct control_rows *rows;
	struct control_names *names;	/* formats that filters are made for */
	struct fit *fits;
	size_t nr_fits;
};

/* ---- what is asked for ---- */

static void world_name(void *arg, size_t i, const char **system, const char **name)
{
	const struct decode_format *format = arg;

	(void)i;
	*system = format ? format->system : "a";
	*name = format ? format->name : "a";
}

static const struct decode_format *world_format(void *arg, size_t i)
{
	(void)i;
	return arg;
}

/* The filter for events of that format; NULL: of any, which tells only whether it can be read. */
static int make_filter(struct filter **out, const struct flight_event *event, const struct decode_format *format,
		       struct err *err)
{
	struct filter_world world = { (void *)(uintptr_t)format, 1, world_name, world_format };
	struct buf text = BUF_INIT;
	int r = filter_new(out, FILTER_STRICT);

	buf_printf(&text, ".*:%s", event->condition);
	if (r || buf_failed(&text))
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = filter_add(*out, text.data, &world, err);
	buf_fini(&text);
	if (r) {
		filter_free(*out);
		*out = NULL;
	}
	return r;
}

static int check_condition(struct flight_event *event, struct err *err)
{
	struct filter *filter;
	struct err why = ERR_INIT;
	int r;

	if (!event->condition)
		return 0;
	if (!*event->condition)
		return err_set(err, -EINVAL, "a filter is needed behind 'if'");
	r = make_filter(&filter, event, NULL, &why);
	if (!r)
		filter_free(filter);
	return r ? err_set(err, r == -ENOMEM ? r : -EINVAL, "'%.100s': %s", event->condition, why.text) : 0;
}

/* Where the event's name ends, or NULL: that is all. */
static const char *find_condition(const char *text)
{
	const char *found = strstr(text, behind);
	size_t len = strlen(text), word = strlen(behind) - 1;

	return found ? found : len > word && !strncmp(text + len - word, behind, word) ? text + len - word : NULL;
}

int flight_event_parse(struct flight_event **out, const char *text, struct err *err)
{
	struct flight_event *event = calloc(1, sizeof(*event));
	const char *condition = find_condition(text);
	size_t len = condition ? (size_t)(condition - text) : strlen(text);
	char *name = strndup(text, len);
	int r = 0;

	*out = event;
	if (condition && event) {
		condition += strlen(behind) - 1;
		event->condition = strdup(condition + strspn(condition, " "));
	}
	if (!event || !name || (condition && !event->condition))
		r = err_set(err, -ENOMEM, "out of memory");
	for (; !r && len && name[len - 1] == ' '; len--)
		name[len - 1] = '\0';
	if (!r && !events_wish_parse(&event->wish, name))
		r = err_set(err, -EINVAL, "'%.100s' is no event: SYSTEM:EVENT or EVENT is needed", name);
	if (!r)
		r = check_condition(event, err);
	free(name);
	if (r) {
		flight_event_close(event);
		*out = NULL;
	}
	return r;
}

/* ---- its instance ---- */

/* A name that nobody has. */
static int make_instance(struct flight_event *event, struct err *err)
{
	struct err refused;
	int r = -EEXIST;

	for (int i = 1; r == -EEXIST && i < NAMES_MAX; i++) {
		refused = (struct err)ERR_INIT;
		if (i > 1)
			snprintf(event->name, sizeof(event->name), "record-%d-on-%d", (int)getpid(), i);
		else
			snprintf(event->name, sizeof(event->name), "record-%d-on", (int)getpid());
		r = control_own_add(event->control, event->name, &refused);
	}
	if (r)
		event->name[0] = '\0';
	return r ? err_set(err, r, "%s", refused.text) : 0;
}

/* The threads that count in one buffer, for another. */
static int take_threads(struct control_state *state, uint32_t from, uint32_t to)
{
	uint32_t n = state->npids;
	struct state_pid *pids = calloc(n + 1u, sizeof(*pids));
	int r = pids ? 0 : -ENOMEM;

	/* A copy, since they move when one is added. */
	if (pids && n)
		memcpy(pids, state->pids, n * sizeof(*pids));
	for (uint32_t i = 0; !r && i < n; i++)
		if (pids[i].buffer == from)
			r = control_state_pid_add(state, to, pids[i].kind, pids[i].tid);
	free(pids);
	return r;
}

static int set_up(struct flight_event *event, const char *like, struct err *err)
{
	struct control *control = event->control;
	struct control_state *state = &control->state;
	int from = control_state_buffer(state, like), place = control_state_buffer(state, event->name), r;
	struct state_buffer *buffer;

	if (from < 0 || place < 0)
		return err_set(err, -ENOENT, "the instance %s is gone", from < 0 ? like : event->name);
	buffer = &state->buffers[place];
	buffer->flags |= BUFFER_ON | BUFFER_OVERWRITE | (state->buffers[from].flags & BUFFER_EVENT_FORK);
	memcpy(buffer->cpus_off, state->buffers[from].cpus_off, sizeof(buffer->cpus_off));
	r = control_buffer_resize(control, buffer, PAGES, err);
	if (!r)
		r = control_buffer_clock(control, buffer, state->buffers[from].clock, err);
	if (!r && take_threads(state, (uint32_t)from, (uint32_t)place))
		r = err_set(err, -ENOMEM, "out of memory");
	if (r)
		return r;
	return event->wish.bare ? control_enable_name(control, (uint32_t)place, event->wish.system, true, err)
				: control_enable(control, (uint32_t)place, event->wish.system, event->wish.event, true, err);
}

int flight_event_watch(struct flight_event *event, struct control *control, const char *like, struct err *err)
{
	struct control_rows_how how = { .cpu = -1, .consume = true };
	int r;

	event->control = control;
	r = make_instance(event, err);
	if (!r)
		r = control_begin(control, err);
	if (!r)
		r = control_end(control, set_up(event, like, err), err);
	if (r)
		return r;
	r = control_names_open(&event->names, control, err);
	if (r)
		return r;
	how.buffer = (uint32_t)control_state_buffer(&control->state, event->name);
	return control_rows_open(&event->rows, control, &how, err);
}

/* ---- what comes ---- */

/* What the filter makes of events of that ID; NULL: nobody has told their format. */
static const struct fit *fit_of(struct flight_event *event, uint32_t id, struct err *misfit)
{
	const struct decode_format *format;
	struct err why = ERR_INIT;
	struct fit *more;

	for (size_t i = 0; i < event->nr_fits; i++)
		if (event->fits[i].id == id)
			return &event->fits[i];
	format = control_names_format(event->names, id);
	more = format ? realloc(event->fits, (event->nr_fits + 1) * sizeof(*more)) : NULL;
	if (!more)
		return NULL;
	event->fits = more;
	more += event->nr_fits++;
	*more = (struct fit){ .id = id };
	if (make_filter(&more->filter, event, format, &why))
		err_set(misfit, -EINVAL, "--on: '%.100s' does not fit %s:%s: %s", event->condition, format->system,
			format->name, why.text);
	return more;
}

bool flight_event_is_known(struct flight_event *event, struct err *misfit)
{
	const struct control_registry *registry = control_events(event->control, NULL);
	bool known = false;

	for (uint32_t i = 0; registry && i < registry->nevents; i++) {
		const struct control_event *one = &registry->events[i];
		bool system = glob_match(event->wish.system, one->system), name = glob_match(event->wish.event, one->name);

		if (event->wish.bare ? !system && !name : !system || !name)
			continue;
		known = true;
		if (event->condition)
			fit_of(event, one->id, misfit);
	}
	return known;
}

static bool passes(struct flight_event *event, const struct report_row *row, struct err *misfit)
{
	const struct fit *fit;

	if (!row->format)
		return false;
	if (!event->condition)
		return true;
	fit = fit_of(event, row->format->id, misfit);
	return fit && fit->filter &&
	       filter_match(fit->filter, row->format, row->data, row->len, row->cpu, row->ts,
			    control_rows_ctx(event->rows)) == FILTER_MATCH;
}

int flight_event_next(struct flight_event *event, struct flight_sight *sight, struct err *misfit, struct err *err)
{
	struct record_head head;
	struct control_row row;
	int r;

	while ((r = control_rows_next(event->rows, &row, err)) > 0) {
		if (row.row.len < sizeof(head) || !passes(event, &row.row, misfit))
			continue;
		memcpy(&head, row.row.data, sizeof(head));
		*sight = (struct flight_sight){ row.row.ts, head.pid, row.row.format->system, row.row.format->name,
						  row.row.data, row.row.len };
		return 1;
	}
	return r;
}

int flight_event_sleep(struct flight_event *event, int timeout_ms, const uint32_t *also, uint32_t seen)
{
	struct stream_sleep how = { .timeout_ms = timeout_ms, .also = also, .seen = seen };

	return control_rows_sleep(&event->rows, 1, &how, NULL);
}

static void remove_instance(struct flight_event *event)
{
	int place;

	if (control_begin(event->control, NULL))
		return;
	place = control_state_buffer(&event->control->state, event->name);
	control_end(event->control, place > 0 ? control_buffer_remove(event->control, (uint32_t)place, NULL) : -ENOENT, NULL);
}

void flight_event_close(struct flight_event *event)
{
	if (!event)
		return;
	control_rows_close(event->rows);
	if (event->name[0])
		remove_instance(event);
	for (size_t i = 0; i < event->nr_fits; i++)
		filter_free(event->fits[i].filter);
	control_names_close(event->names);
	free(event->fits);
	free(event->condition);
	free(event);
}
