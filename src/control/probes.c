/*
 * control/probes: probes of all kinds are made: lines of dynamic_events, kprobe_events, uprobe_events. See hooks.h. And what they
 * counted: kprobe_profile, uprobe_profile.
 *
 * An event may be at several points: each is an item of its own, and they share the event's name and id.
 */
#include <errno.h>
#include <string.h>

#include "control/file.h"
#include "control/hooks.h"
#include "control/node.h"
#include "control/probe_world.h"
#include "control/space.h"
#include "layout/probe.h"

/* ---- making ---- */

/* What other points of its event say to it, or other events. */
static int meet(struct control_items *items, const struct spec_probe *probe, struct spec_error *error)
{
	const struct control_state *state = &items->control->state;
	bool any = false;
	int r = 0;

	for (uint32_t i = 0; !r && i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind != STATE_ITEM_PROBE || !items->specs[i].probe || strcmp(item->system, probe->group) ||
		    strcmp(item->event, probe->name))
			continue;
		any = true;
		r = spec_probe_join(probe, items->specs[i].probe, error);
	}
	return any ? r : spec_probe_meet(probe, control_items_world(items, 0, false), error);
}

/* Of the newest item. */
static int give_counts(struct control_items *items, struct err *err)
{
	uint64_t size = ((items->control->dir.ncpu + 1) * sizeof(struct probe_count) + 4095) & ~4095ull, at;
	struct state_item *item;
	int r = control_extent_make(items->control, size, &at, err);

	if (r)
		return r;
	item = items_at(items, items->control->state.nitems - 1);
	item->table = at;
	item->table_size = size;
	return 0;
}

static int add(struct control_items *items, struct spec_probe *probe, const char *line, size_t len, struct err *err)
{
	struct item_spec spec = { .probe = probe };
	struct buf body = BUF_INIT, text = BUF_INIT;
	const bool is_code = spec_probe_is_code(probe);
	int r = -ENOMEM;

	control_probe_keep(items, probe, line, len, &text);
	spec_probe_format(probe, &body);
	if (!buf_failed(&text) && !buf_failed(&body))
		r = control_dynamic_add(items, STATE_ITEM_PROBE, probe->group, probe->name, text.data, text.len, &spec, &body, err);
	else
		spec_probe_free(probe);
	buf_fini(&body);
	buf_fini(&text);
	if (r == -ENOMEM)
		return err_set(err, r, "out of memory");
	return !r && is_code ? give_counts(items, err) : r;
}

int control_probe_set(struct control_items *items, char file, const char *text, size_t len, struct spec_error *error,
		      struct err *err)
{
	struct spec_probe *probe = NULL;
	int r = spec_probe_parse(&probe, control_items_world(items, 0, false), file, text, len, error);

	if (r == -ECANCELED)
		r = error->code = -EINVAL;
	if (!r)
		r = meet(items, probe, error);
	if (r) {
		spec_probe_free(probe);
		return control_items_refuse(error, r, err);
	}
	if (spec_probe_is_code(probe))
		r = control_point_check(items, probe, error, err);
	if (r) {
		spec_probe_free(probe);
		return r;
	}
	r = add(items, probe, text, len, err);
	return r ? r : control_items_lower(items, error, err);
}

/* ---- what they counted ---- */

static struct probe_count sum(const struct control *control, const struct state_item *item)
{
	struct probe_count all = { 0 }, one;

	for (uint32_t cpu = 0; item->table && cpu <= control->dir.ncpu; cpu++) {
		if (control_file_read(&control->dir, SEGMENT_TABLES, &one, sizeof(one), item->table + cpu * sizeof(one), NULL))
			break;
		all.hits += one.hits;
		all.missed += one.missed;
	}
	return all;
}

static int list_counts(struct node_request *request, enum spec_probe_kind kind, struct err *err)
{
	struct control_items *items = NULL;
	int r = control_items_open(&items, request->control, err);

	for (uint32_t i = 0; !r && i < request->control->state.nitems; i++) {
		const struct spec_probe *probe = items->specs[i].probe;
		struct probe_count count;

		if (!probe || probe->kind != kind)
			continue;
		count = sum(request->control, items_at(items, i));
		if (kind == SPEC_PROBE_FILE)
			buf_printf(&request->out, "  %s %-44s %15llu\n", probe->path, probe->name, (unsigned long long)count.hits);
		else
			buf_printf(&request->out, "  %-44s %15llu %15llu\n", probe->name, (unsigned long long)count.hits,
				   (unsigned long long)count.missed);
	}
	control_items_close(items);
	return r;
}

int node_kprobe_profile_read(struct node_request *request, struct err *err)
{
	return list_counts(request, SPEC_PROBE_CODE, err);
}

int node_uprobe_profile_read(struct node_request *request, struct err *err)
{
	return list_counts(request, SPEC_PROBE_FILE, err);
}
