/*
 * control/dynamic: synthetic events and probes: events that the directory itself brings. See hooks.h.
 *
 * Such an event gets its place in the registry when it is first made, as a program's would, and keeps it: records of it may
 * be anywhere. It is shown for as long as an item has it (control_events()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/hooks.h"
#include "control/named.h"

#define SYNTHETIC "synthetic"

/* ---- which lists have it ---- */

static bool is_listed(const struct control_items *items, uint32_t i, enum dynamic_list list)
{
	const enum state_item_kind kind = items->control->state.items[i].item.kind;
	const struct spec_probe *probe = items->specs[i].probe;

	switch (list) {
	case DYNAMIC_SYNTH:
		return kind == STATE_ITEM_SYNTH;
	case DYNAMIC_CODE:
		return probe && probe->kind == SPEC_PROBE_CODE;
	case DYNAMIC_FILE:
		return probe && probe->kind == SPEC_PROBE_FILE;
	default:
		return kind == STATE_ITEM_SYNTH || kind == STATE_ITEM_PROBE;
	}
}

/* ---- in use? ---- */

static bool is_event_used(const struct control_items *items, uint32_t which)
{
	const struct control_state *state = &items->control->state;
	const char *system = state->items[which].item.system, *event = state->items[which].item.event;

	for (uint32_t b = 0; b < state->nbuffers; b++)
		if (state->buffers[b].born && control_event_is_on(items->control, b, system, event, NULL))
			return true;
	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;
		const struct spec_probe *probe = items->specs[i].probe;

		if ((item->kind == STATE_ITEM_TRIGGER || item->kind == STATE_ITEM_SOFT) && !strcmp(item->system, system) &&
		    !strcmp(item->event, event))
			return true;
		if (probe && !strcmp(probe->on_system, system) && !strcmp(probe->on_event, event))
			return true;
		if (state->items[which].item.kind == STATE_ITEM_SYNTH && control_items_uses(items, i, 0, event))
			return true;
	}
	return false;
}

/* An event at several points is there for as long as one of them is. */
static bool has_more_points(const struct control_items *items, uint32_t which)
{
	const struct control_state *state = &items->control->state;
	const struct state_item *one = &state->items[which].item;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (i != which && item->kind == one->kind && !strcmp(item->system, one->system) && !strcmp(item->event, one->event))
			return true;
	}
	return false;
}

/* Removes it, and its filters, which may lie anywhere: what was behind it is at *at then. */
static int dynamic_remove(struct control_items *items, uint32_t *at, struct err *err)
{
	struct control_state *state = &items->control->state;
	char system[64], event[64];
	int r;

	if (has_more_points(items, *at))
		return control_items_remove(items, *at, err);
	if (is_event_used(items, *at))
		return err_set(err, -EBUSY, "%.64s:%.64s is in use: it is on, has a trigger, or one makes it",
			       state->items[*at].item.system, state->items[*at].item.event);
	strcpy(system, state->items[*at].item.system);
	strcpy(event, state->items[*at].item.event);
	r = control_items_remove(items, *at, err);
	for (uint32_t i = 0; !r && i < state->nitems;) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind == STATE_ITEM_FILTER && !strcmp(item->system, system) && !strcmp(item->event, event)) {
			r = control_items_remove(items, i, err);
			*at -= i < *at;
		} else {
			i++;
		}
	}
	return r;
}

static int lower_end(struct control_items *items, int r, struct spec_error *error, struct err *err)
{
	return r ? r : control_items_lower(items, error, err);
}

/* ---- making ---- */

int control_dynamic_add(struct control_items *items, enum state_item_kind kind, const char *system, const char *event,
			const char *text, size_t len, const struct item_spec *spec, const struct buf *body, struct err *err)
{
	uint32_t id = 0;
	int r = control_named_bring(&items->control->dir, system, event, body, &id, err);

	if (r) {
		if (spec->synth)
			spec_synth_free(spec->synth);
		if (spec->probe)
			spec_probe_free(spec->probe);
		return r;
	}
	r = control_items_add(items, kind, 0, system, event, text, len, spec, err);
	if (!r)
		items_at(items, items->control->state.nitems - 1)->event_id = id;
	return r;
}

static int synth_set(struct control_items *items, bool dynamic, const char *text, size_t len, struct spec_error *error,
		     struct err *err)
{
	struct item_spec spec = { 0 };
	struct buf body = BUF_INIT;
	bool remove = false;
	uint32_t i;
	int r;

	r = spec_synth_parse(&spec.synth, &remove, control_items_world(items, 0, false), dynamic, text, len, error);
	if (r)
		return control_items_refuse(error, r, err);
	i = control_items_find(items, STATE_ITEM_SYNTH, 0, SYNTHETIC, spec.synth->name);
	if (remove || i != UINT32_MAX) {
		if (!remove)
			r = err_set(err, -EEXIST, "there is an event %.64s already", spec.synth->name);
		else if (i == UINT32_MAX)
			r = err_set(err, -ENOENT, "there is no synthetic event %.64s", spec.synth->name);
		else
			r = dynamic_remove(items, &i, err);
		spec_synth_free(spec.synth);
		return lower_end(items, r, error, err);
	}
	spec_synth_format(spec.synth, &body);
	r = control_dynamic_add(items, STATE_ITEM_SYNTH, SYNTHETIC, spec.synth->name, text, len, &spec, &body, err);
	buf_fini(&body);
	return lower_end(items, r, error, err);
}

int control_synth_set(struct control_items *items, const char *text, size_t len, struct spec_error *error, struct err *err)
{
	return synth_set(items, false, text, len, error, err);
}

/* ---- removing by name ---- */

struct removal {
	char group[64];		/* "": any */
	char name[64];		/* "": all of the group */
	char words[2048];	/* what stands behind: has to fit the probe's text */
};

/* `-:[GROUP/][NAME] ...`, or `!TYPE:[GROUP/]NAME ...`. */
static int removal_parse(struct removal *removal, const char *text, size_t len, struct err *err)
{
	const char *end = text + len, *colon, *at, *slash, *word = text;
	size_t n;

	memset(removal, 0, sizeof(*removal));
	while (word < end && *word != ' ' && *word != '\t')
		word++;
	colon = memchr(text, ':', (size_t)(word - text));
	if (!colon || (*text == '-' && colon != text + 1))
		return err_set(err, -EINVAL, "-:[GROUP/]NAME or !TYPE:[GROUP/]NAME removes an event");
	at = colon + 1;
	slash = memchr(at, '/', (size_t)(word - at));
	if (!slash)
		slash = memchr(at, '.', (size_t)(word - at));
	if (slash) {
		n = (size_t)(slash - at);
		if (!n || n >= sizeof(removal->group))
			return err_set(err, -EINVAL, "that is no name of a group");
		memcpy(removal->group, at, n);
		at = slash + 1;
	}
	n = (size_t)(word - at);
	if (n >= sizeof(removal->name) || (!n && !slash))
		return err_set(err, -EINVAL, "that is no name of an event");
	memcpy(removal->name, at, n);
	while (word < end && (*word == ' ' || *word == '\t'))
		word++;
	n = (size_t)(end - word);
	if (n >= sizeof(removal->words))
		return err_set(err, -EINVAL, "that is too long");
	memcpy(removal->words, word, n);
	return 0;
}

/* Do the words stand in the probe's own text, in this order and from the first one on? Places are written with . or /. */
static bool words_fit(const struct spec_probe *probe, const char *words)
{
	struct buf shown = BUF_INIT;
	char *mine, *theirs, *save_mine, *save_theirs, *copy = strdup(words);
	bool fit = copy != NULL;

	spec_probe_show(probe, &shown);
	mine = buf_failed(&shown) ? NULL : strtok_r(shown.data, " \t", &save_mine);
	theirs = copy ? strtok_r(copy, " \t", &save_theirs) : NULL;
	for (bool place = true; fit && theirs; theirs = strtok_r(NULL, " \t", &save_theirs), place = false) {
		mine = mine ? strtok_r(NULL, " \t", &save_mine) : NULL;
		for (char *c = theirs; place && *c; c++)
			if (*c == '/')
				*c = '.';
		for (char *c = mine; place && c && *c; c++)
			if (*c == '/')
				*c = '.';
		fit = mine && !strcmp(mine, theirs);
	}
	free(copy);
	buf_fini(&shown);
	return fit;
}

static bool removal_fits(const struct control_items *items, uint32_t i, enum dynamic_list list, const struct removal *removal)
{
	const struct state_item *item = &items->control->state.items[i].item;

	if (!is_listed(items, i, list))
		return false;
	if ((removal->group[0] && strcmp(removal->group, item->system)) ||
	    (removal->name[0] && strcmp(removal->name, item->event)))
		return false;
	return item->kind == STATE_ITEM_SYNTH || !items->specs[i].probe || words_fit(items->specs[i].probe, removal->words);
}

static int remove_named(struct control_items *items, enum dynamic_list list, const char *text, size_t len, struct err *err)
{
	struct removal removal;
	bool found = false;
	int r = removal_parse(&removal, text, len, err);

	for (uint32_t i = 0; !r && i < items->control->state.nitems;) {
		if (!removal_fits(items, i, list, &removal)) {
			i++;
			continue;
		}
		found = true;
		r = dynamic_remove(items, &i, err);
	}
	if (!r && !found)
		r = err_set(err, -ENOENT, "there is no such event");
	return r;
}

int control_dynamic_set(struct control_items *items, enum dynamic_list list, const char *text, size_t len,
			struct spec_error *error, struct err *err)
{
	switch (len ? *text : 0) {
	case '-':
	case '!':
		return lower_end(items, remove_named(items, list, text, len, err), error, err);
	case 's':
		if (list == DYNAMIC_ALL)
			return synth_set(items, true, text, len, error, err);
		/* fall through */
	default:
		return control_probe_set(items, (char)list, text, len, error, err);
	}
}

/* One may need another: an event that a probe hangs on goes behind the probe. */
int control_dynamic_clear(struct control_items *items, enum dynamic_list list, struct err *err)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct control_state *state = &items->control->state;
	const struct state_item *used = NULL;
	bool any = true;
	int r = 0;

	while (!r && any) {
		any = false;
		used = NULL;
		for (uint32_t i = state->nitems; !r && i-- > 0;) {
			if (!is_listed(items, i, list))
				continue;
			if (is_event_used(items, i)) {
				used = &state->items[i].item;
				continue;
			}
			r = dynamic_remove(items, &i, err);
			any = true;
		}
	}
	if (!r && used)
		r = err_set(err, -EBUSY, "%.64s:%.64s is in use, so that the file cannot be emptied first: append (-a, >>)", used->system,
			    used->event);
	r = lower_end(items, r, &error, err);
	spec_error_fini(&error);
	return r;
}

void control_dynamic_show(const struct control_items *items, uint32_t i, enum dynamic_list list, struct buf *out)
{
	if (!is_listed(items, i, list))
		return;
	if (items->specs[i].synth)
		spec_synth_show(items->specs[i].synth, list == DYNAMIC_ALL, out);
	else if (items->specs[i].probe)
		spec_probe_show(items->specs[i].probe, out);
	else
		return;
	buf_putc(out, '\n');
}
