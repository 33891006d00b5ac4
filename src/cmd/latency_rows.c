/*
 * cmd/latency_rows: see latency_local.h. What a tracing directory's tables hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/latency_local.h"
#include "decode/format.h"

int latency_rows_key(struct latency *l)
{
	const struct decode_format *format;
	const struct decode_field *field;
	struct control_items *items = NULL;
	char name[64];
	int r = control_refresh(l->live.control, &l->live.err);

	if (!r)
		r = control_items_open(&items, l->live.control, &l->live.err);
	if (r)
		return r;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(l->keys[1], ",."), l->keys[1]);
	format = control_items_format(items, l->system[1], l->event[1]);
	field = format ? decode_format_find(format, name) : NULL;
	l->known = live_knows(&l->live, l->system[0], l->event[0]) && live_knows(&l->live, l->system[1], l->event[1]);
	l->is_text = !l->known || (field && field->is_array && field->is_string);
	l->is_signed = field && field->is_signed;
	strcpy(l->type, "u64");
	control_items_close(items);
	return 0;
}

/* The largest of each power of two was saved with it, also when its record was overwritten. */
static void take_saved(struct latency *l, const struct control_look *look, const struct hist_row *row)
{
	const struct hist_names *names = &look->asking.ask;
	struct latency_one one = { .ns = 0 };
	int32_t pid;

	if (look->rows.shape.ntracks < 1 || look->rows.shape.nsaves < 2 || !row->tracks->is_set)
		return;
	one.ns = row->tracks->value;
	if (one.ns > l->sums.max)
		l->sums.max = one.ns;
	pid = (int32_t)row->saves[1].number;
	if (l->is_text)
		snprintf(one.key, sizeof(one.key), "%.55s", row->saves[0].text);
	else if (l->is_signed)
		snprintf(one.key, sizeof(one.key), "%" PRId64, (int64_t)row->saves[0].number);
	else
		snprintf(one.key, sizeof(one.key), "%" PRIu64, row->saves[0].number);
	snprintf(one.task, sizeof(one.task), "%.16s-%d", names->comm(names->arg, pid) ? names->comm(names->arg, pid) : "<...>",
		 pid);
	latency_add(&l->sums, &one);
}

static int look_at_times(struct latency *l)
{
	struct live *live = &l->live;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, "synthetic", l->synth, 0, &live->err);

	if (r)
		return r;
	l->sums.matched = look.rows.hits + look.rows.drops;
	l->sums.total = 0;
	memset(l->sums.spread, 0, sizeof(l->sums.spread));
	for (uint32_t i = 0; i < look.rows.nrows; i++) {
		const struct hist_row *row = &look.rows.rows[i];
		const uint64_t *spread = hist_spread(row, look.hist, 1);

		l->sums.total += hist_value(row, look.hist, 0);
		for (uint32_t n = 0; spread && n < TABLE_SPREAD; n++)
			l->sums.spread[n] += spread[n];
		take_saved(l, &look, row);
	}
	control_look_close(&look);
	return 0;
}

static int look_at_ends(struct latency *l)
{
	struct live *live = &l->live;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, l->system[0], l->event[0], 0, &live->err);

	if (r)
		return r;
	l->sums.starts = look.rows.hits + look.rows.drops;
	l->sums.waiting = look.waiting;
	l->sums.evicted = look.evicted;
	l->sums.is_exact = true;
	control_look_close(&look);
	r = control_look_open(&look, live->control, live->instance, l->system[1], l->event[1], 1, &live->err);
	if (r)
		return r;
	l->sums.ends = look.rows.hits + look.rows.drops;
	control_look_close(&look);
	return 0;
}

int latency_rows_look(struct latency *l)
{
	int r = look_at_times(l);

	return r ? r : look_at_ends(l);
}
