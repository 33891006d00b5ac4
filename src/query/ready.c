/*
 * query/ready: see ready.h. Tables are memory of this process, laid out as the tables file is.
 */
#include "query/ready.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The file's names ---- */

static const struct decode_format *file_event(void *arg, const char *system, const char *name, unsigned int nth)
{
	struct dat *dat = arg;
	const char *its_system, *its_name;
	uint32_t id;

	for (size_t i = 0; i < dat_nr_events(dat); i++) {
		dat_event_name(dat, i, &its_system, &its_name, &id);
		if (!strcmp(its_name, name) && (!system || !strcmp(its_system, system)) && !nth--)
			return dat_event_format(dat, i, NULL);
	}
	return NULL;
}

static const struct decode_format *world_event(void *arg, const char *system, const char *name)
{
	struct ready *ready = arg;

	for (size_t i = 0; i < ready->nparsed; i++)
		if (ready->items[i].format && !strcmp(system, "synthetic") && !strcmp(ready->items[i].synth->name, name))
			return ready->items[i].format;
	return file_event(ready->dat, system, name, 0);
}

static const struct spec_hist *world_hist(void *arg, uint32_t i, const char **system, const char **event)
{
	const struct ready *ready = arg;

	for (size_t k = 0; k < ready->nparsed; k++) {
		if (!ready->items[k].trigger || i--)
			continue;
		*system = ready->items[k].item.system;
		*event = ready->items[k].item.event;
		return ready->items[k].trigger->hist;
	}
	return NULL;
}

static const struct spec_synth *world_synth(void *arg, const char *name)
{
	const struct ready *ready = arg;

	for (size_t i = 0; i < ready->nparsed; i++)
		if (ready->items[i].synth && !strcmp(ready->items[i].synth->name, name))
			return ready->items[i].synth;
	return NULL;
}

static bool world_clock(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return true;
}

/* ---- Lines to specs ---- */

static int refused(const struct spec_error *error, int r, const char *text, struct err *err)
{
	return err_set(err, r, "%s: %s", text, error->message ? error->message : error->text);
}

/* An id that the file does not use. */
static uint32_t free_id(const struct ready *ready)
{
	uint32_t id = 65535;
	size_t i;

	for (size_t k = 0; k < ready->nparsed; k++)
		id -= ready->items[k].synth != NULL;
	while (id && dat_event_find(ready->dat, id, &i))
		id--;
	return id;
}

static int make_synth(struct ready *ready, struct ready_item *item, struct spec_error *error, struct err *err)
{
	const char *text = item->line->text;
	struct buf whole = BUF_INIT;
	bool removes;
	int r = spec_synth_parse(&item->synth, &removes, &ready->world, true, text, strlen(text), error);

	if (r)
		return refused(error, r, text, err);
	item->item.kind = STATE_ITEM_SYNTH;
	item->item.event_id = free_id(ready);
	buf_printf(&whole, "name: %s\nID: %u\nformat:\n", item->synth->name, item->item.event_id);
	spec_synth_format(item->synth, &item->body);
	buf_add(&whole, item->body.data, item->body.len);
	r = buf_failed(&whole) || buf_failed(&item->body) ? -ENOMEM :
	    decode_format_parse("synthetic", whole.data, whole.len, NULL, &item->format, err);
	buf_fini(&whole);
	return r;
}

static int make_trigger(struct ready *ready, struct ready_item *item, struct spec_error *error, struct err *err)
{
	const char *text = item->line->text;
	int r = spec_trigger_parse(&item->trigger, &ready->world, item->item.system, item->item.event, text, strlen(text),
				   error);

	if (r)
		return refused(error, r, text, err);
	item->item.kind = STATE_ITEM_TRIGGER;
	item->trigger->hist->serial = item->item.serial;
	for (size_t i = 0; i < ready->nparsed; i++) {
		struct ready_item *synth = &ready->items[i];

		if (synth->synth && !strcmp(item->item.system, "synthetic") && !strcmp(item->item.event, synth->synth->name))
			synth->wanted = true;
	}
	return 0;
}

static int make_items(struct ready *ready, struct err *err)
{
	struct spec_error error = SPEC_ERROR_INIT;
	int r = 0;

	ready->items = calloc(ready->lines.n, sizeof(*ready->items));
	ready->nitems = ready->lines.n;
	if (!ready->items)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < ready->nitems && !r; i++) {
		struct ready_item *item = &ready->items[i];

		item->line = &ready->lines.line[i];
		item->item.serial = (uint32_t)i + 1;
		item->item.text_len = (uint32_t)strlen(item->line->text);
		snprintf(item->item.system, sizeof(item->item.system), "%.59s", item->line->system);
		snprintf(item->item.event, sizeof(item->item.event), "%.63s", item->line->event);
		r = item->line->what == SQL_SYNTH ? make_synth(ready, item, &error, err) :
						    make_trigger(ready, item, &error, err);
		ready->nparsed = i + 1;
	}
	spec_error_fini(&error);
	return r;
}

/* ---- Specs to hooks ---- */

/* As in the tables file: words, then tables and cells one behind the other. */
static int make_tables(struct ready *ready, struct err *err)
{
	struct table_shape shape;
	uint64_t size = TABLES_DATA_OFFSET;
	uint32_t word = 1;

	for (size_t i = 0; i < ready->nitems; i++) {
		struct state_item *item = &ready->items[i].item;

		if (!ready->items[i].trigger)
			continue;
		lower_hist_shape(ready->items[i].trigger->hist, 1, &shape);
		item->pause = word++;
		item->table = size;
		item->table_size = table_size(&shape);
		item->cells = size + item->table_size;
		item->cells_size = lower_hist_cells(ready->items[i].trigger->hist);
		size = item->cells + ((item->cells_size + 4095) & ~4095ull);
	}
	ready->tables.base = calloc(1, size);
	ready->tables.size = size;
	if (!ready->tables.base)
		return err_set(err, -ENOMEM, "out of memory");
	ready->words = ((struct tables_head *)ready->tables.base)->words;
	return 0;
}

static int make_hooks(struct ready *ready, struct err *err)
{
	struct lower_item *items = calloc(ready->nitems, sizeof(*items));
	struct spec_error error = SPEC_ERROR_INIT;
	int r = items ? 0 : -ENOMEM;

	for (size_t i = 0; i < ready->nitems && !r; i++)
		items[i] = (struct lower_item){ .item = &ready->items[i].item, .text = ready->items[i].line->text,
						.trigger = ready->items[i].trigger, .synth = ready->items[i].synth };
	if (!r)
		r = lower(items, ready->nitems, &ready->world, 1, &ready->hooks, NULL, &ready->code, &error);
	if (r)
		refused(&error, r, "this cannot be run", err);
	spec_error_fini(&error);
	free(items);
	return r;
}

/* ---- Hooks to events of the file ---- */

static int bind(struct ready *ready, const struct state_hook *hook, uint32_t id, const char *body, size_t len,
		struct err *err)
{
	struct hook_code code = { (unsigned char *)ready->code.data, (uint32_t)ready->code.len };
	struct hook_bound *bound = &ready->bounds[ready->nbounds];
	int r = hook_bind(bound, hook, &code, id, body, len, &ready->tables, &ready->room);

	if (!r && bound->sound != (bound->nacts < 64 ? (1ull << bound->nacts) - 1 : UINT64_MAX))
		r = -EBADMSG;
	if (r)
		return err_set(err, r, "records of %s:%s are not what the statement needs", hook->system, hook->event);
	bound->next = ready->first[id];
	ready->first[id] = (uint32_t)++ready->nbounds;
	return 0;
}

/* Every layout that the file has of the event. */
static int bind_file(struct ready *ready, const struct state_hook *hook, struct err *err)
{
	const char *system, *name, *text, *body;
	uint32_t id;
	size_t len;
	int r = 0;

	for (size_t i = 0; i < dat_nr_events(ready->dat) && !r; i++) {
		dat_event_name(ready->dat, i, &system, &name, &id);
		if (strcmp(system, hook->system) || strcmp(name, hook->event) || id > 65535)
			continue;
		text = dat_event_text(ready->dat, i, &len);
		body = memmem(text, len, "\tfield:", 7);
		r = body ? bind(ready, hook, id, body, len - (size_t)(body - text), err) : 0;
	}
	return r;
}

static int bind_all(struct ready *ready, struct err *err)
{
	const struct state_hook *hooks = (const struct state_hook *)ready->hooks.data;
	size_t n = ready->hooks.len / sizeof(*hooks), events = dat_nr_events(ready->dat);
	int r = 0;

	ready->room.fields_max = UINT16_MAX + PROGRAM_FIELDS_MAX;
	ready->room.fields = calloc(ready->room.fields_max, sizeof(*ready->room.fields));
	ready->room.links_max = UINT16_MAX;
	ready->room.links = calloc(ready->room.links_max, sizeof(*ready->room.links));
	ready->bounds = calloc(n * (events + 1), sizeof(*ready->bounds));
	if (!ready->room.fields || !ready->room.links || !ready->bounds)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n && !r; i++) {
		struct ready_item *synth = NULL;

		for (size_t k = 0; k < ready->nitems; k++)
			if (ready->items[k].synth && !strcmp(hooks[i].system, "synthetic") &&
			    !strcmp(hooks[i].event, ready->items[k].synth->name))
				synth = &ready->items[k];
		r = synth ? bind(ready, &hooks[i], synth->item.event_id, synth->body.data, synth->body.len, err) :
			    bind_file(ready, &hooks[i], err);
	}
	return r;
}

struct ready_item *query_ready_synth(struct ready *ready, uint32_t id)
{
	for (size_t i = 0; i < ready->nitems; i++)
		if (ready->items[i].synth && ready->items[i].item.event_id == id)
			return &ready->items[i];
	return NULL;
}

int query_ready(struct ready *ready, const struct query_ask *ask, struct err *err)
{
	const struct sql_world world = { ask->dat, file_event };
	int r;

	ready->dat = ask->dat;
	ready->world = (struct spec_world){ .arg = ready, .event = world_event, .hist = world_hist, .synth = world_synth,
					    .clock = world_clock };
	r = sql_translate(&ready->lines, &world, ask->statement, ask->options, err);
	if (!r)
		r = make_items(ready, err);
	if (!r)
		r = make_tables(ready, err);
	if (!r)
		r = make_hooks(ready, err);
	return r ? r : bind_all(ready, err);
}

void query_ready_fini(struct ready *ready)
{
	for (size_t i = 0; i < ready->nitems && ready->items; i++) {
		spec_trigger_free(ready->items[i].trigger);
		spec_synth_free(ready->items[i].synth);
		decode_format_free(ready->items[i].format);
		buf_fini(&ready->items[i].body);
	}
	free(ready->items);
	sql_lines_fini(&ready->lines);
	buf_fini(&ready->hooks);
	buf_fini(&ready->code);
	free(ready->tables.base);
	free(ready->bounds);
	free(ready->room.fields);
	free(ready->room.links);
}
