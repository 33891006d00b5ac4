/*
 * control/measure_files: the tree's files about functions that are measured: function_profile_enabled, trace_stat/functionN,
 * stack_tracer_enabled, stack_trace and stack_max_size. Which functions: func_filter.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/file.h"
#include "control/measure.h"
#include "control/node.h"
#include "control/plans.h"
#include "control/space.h"
#include "control/symbols.h"

/* ---- The profile ---- */

int node_profile_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%" PRIu32 "\n", node_buffer(request)->profile);
	return 0;
}

typedef int switching(struct control *control, bool on, struct err *err);

/* Any number but 0 is 1. */
static int write_switch(struct node_request *request, switching *sw, struct err *err)
{
	uint64_t on;
	int r = node_number(request, &on, err);

	/* Programs are to find plans when they see it. */
	if (!r && on)
		r = control_plans_file(request->control, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	if (on)
		r = control_touched_make(request->control, err);
	if (!r)
		r = sw(request->control, on, err);
	return control_end(request->control, r, err);
}

int node_profile_write(struct node_request *request, struct err *err)
{
	return write_switch(request, control_profile_switch, err);
}

/* As function_graph prints durations, without a mark. */
static void put_duration(struct buf *out, uint64_t ns)
{
	char text[32], decimals[8];
	int len = snprintf(text, sizeof(text), "%" PRIu64, ns / 1000);

	/* Of the three as many as there is room for. */
	snprintf(decimals, sizeof(decimals), "%03u", (unsigned int)(ns % 1000));
	if (len < 7)
		len += snprintf(text + len, sizeof(text) - (size_t)len, ".%.*s", 7 - len, decimals);
	buf_printf(out, "%s us %*s", text, len < 8 ? 8 - len : 0, "");
}

static void put_row(struct node_request *request, const struct control_profile_row *row, bool self)
{
	long double variance = control_profile_variance(row, self) / 1000;
	struct decode_symbol symbol;
	char name[32];

	if (control_symbol(request->control, row->address, &symbol))
		buf_printf(&request->out, "  %-30.30s", symbol.name);
	else {
		snprintf(name, sizeof(name), "0x%" PRIx64, row->address);
		buf_printf(&request->out, "  %-30.30s", name);
	}
	buf_printf(&request->out, "  %10" PRIu64 "    ", row->hits);
	put_duration(&request->out, row->vals[self ? PROFILE_SELF : PROFILE_TIME]);
	buf_puts(&request->out, "    ");
	put_duration(&request->out, control_profile_average(row, self));
	buf_puts(&request->out, "    ");
	/* Square microseconds, with the decimals that durations have. */
	put_duration(&request->out, variance < 1e18L ? (uint64_t)variance : (uint64_t)1e18);
	buf_putc(&request->out, '\n');
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* The longest time first. */
static int by_time(const void *a, const void *b)
{
	const struct control_profile_row *x = a, *y = b;
	int r = compare(x->vals[PROFILE_TIME], y->vals[PROFILE_TIME]);

	return r ? r : compare(x->hits, y->hits);
}

static int by_self(const void *a, const void *b)
{
	const struct control_profile_row *x = a, *y = b;
	int r = compare(x->vals[PROFILE_SELF], y->vals[PROFILE_SELF]);

	return r ? r : compare(x->hits, y->hits);
}

int node_function_stat_read(struct node_request *request, struct err *err)
{
	const struct state_buffer *top = &request->control->state.buffers[0];
	const bool self = !(top->tracer_flags & TRACER_FLAG_GRAPH_TIME);
	struct control_profile profile;
	int r = control_profile_read(&profile, request->control, request->cpu, err);

	if (r)
		return r;
	buf_puts(&request->out, "  Function                               Hit    Time            Avg             s^2\n"
				"  --------                               ---    ----            ---             ---\n");
	if (profile.n)
		qsort(profile.rows, profile.n, sizeof(*profile.rows), self ? by_self : by_time);
	for (size_t i = 0; i < profile.n; i++)
		if (profile.rows[i].hits && (!top->thresh || control_profile_average(&profile.rows[i], self) >= top->thresh))
			put_row(request, &profile.rows[i], self);
	if (profile.drops)
		buf_printf(&request->out, "  (%" PRIu64 " calls are missing)\n", profile.drops);
	control_profile_fini(&profile);
	return 0;
}

/* ---- The deepest stack ---- */

static int make_deepest(struct control *control, struct err *err)
{
	struct state_measure *measure = &control->state.measure;
	uint64_t offset;
	int r = measure->deepest ? 0 : control_extent_make(control, TABLE_DEEPEST_SIZE, &offset, err);

	if (r || measure->deepest)
		return r;
	measure->deepest = offset;
	measure->deepest_size = TABLE_DEEPEST_SIZE;
	return 0;
}

static int switch_deep(struct control *control, bool on, struct err *err)
{
	int r = on ? make_deepest(control, err) : 0;

	if (!r)
		control->state.measure.deep = on;
	return r;
}

int node_stack_tracer_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%u\n", request->control->state.measure.deep ? 1u : 0u);
	return 0;
}

int node_stack_tracer_write(struct node_request *request, struct err *err)
{
	return write_switch(request, switch_deep, err);
}

static uint64_t offset_of(const struct control *control, size_t member)
{
	return control->state.measure.deepest + member;
}

static int read_current(const struct control *control, uint64_t *current, struct err *err)
{
	*current = 0;
	if (!control->state.measure.deepest)
		return 0;
	return control_file_read(&control->dir, SEGMENT_TABLES, current, sizeof(*current),
				 offset_of(control, offsetof(struct table_deepest, current)), err);
}

int node_stack_size_read(struct node_request *request, struct err *err)
{
	uint64_t current;
	int r = read_current(request->control, &current, err);

	buf_printf(&request->out, "%" PRIu64 "\n", current >> 1);
	return r;
}

/* Only stacks that are deeper count from now on. The trace stays until there is one. */
int node_stack_size_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	uint64_t size, current;
	int r = node_number(request, &size, err);

	if (!r && size > INT64_MAX)
		r = err_set(err, -ERANGE, "no stack is as deep as that");
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	r = make_deepest(control, err);
	if (!r)
		r = read_current(control, &current, err);
	if (!r) {
		current = size << 1 | (current & 1);
		r = control_file_publish(&control->dir, SEGMENT_TABLES, &current, sizeof(current),
					 offset_of(control, offsetof(struct table_deepest, current)), err);
	}
	return control_end(control, r, err);
}

/* The side in force, as it was at one moment. n 0: there is none. */
static int read_side(const struct control *control, struct table_deep_side *side, struct err *err)
{
	uint64_t before, after, at;
	int r;

	for (int tries = 0; tries < 100; tries++) {
		r = read_current(control, &before, err);
		at = offset_of(control, offsetof(struct table_deepest, side)) + (before & 1) * sizeof(*side);
		if (!r && control->state.measure.deepest)
			r = control_file_read(&control->dir, SEGMENT_TABLES, side, sizeof(*side), at, err);
		if (!r)
			r = read_current(control, &after, err);
		if (r || before == after)
			break;
	}
	if (side->n > TABLE_DEEP_MAX)
		side->n = 0;
	return r;
}

static void put_frame(struct node_request *request, const struct table_deep_side *side, uint32_t i)
{
	uint64_t depth = side->frames[i].depth, next = i + 1 < side->n ? side->frames[i + 1].depth : 0;
	struct decode_symbol symbol;

	buf_printf(&request->out, "%3" PRIu32 ") %8" PRIu64 "   %5" PRIu64 "   ", i, depth, depth > next ? depth - next : 0);
	if (control_symbol(request->control, side->frames[i].address, &symbol))
		decode_symbol_text(&symbol, true, &request->out);
	else
		buf_printf(&request->out, "0x%" PRIx64, side->frames[i].address);
	buf_putc(&request->out, '\n');
}

int node_stack_trace_read(struct node_request *request, struct err *err)
{
	const struct state_measure *measure = &request->control->state.measure;
	struct table_deep_side *side = calloc(1, sizeof(*side));
	int r = side ? read_side(request->control, side, err) : err_set(err, -ENOMEM, "out of memory");

	if (!r) {
		buf_printf(&request->out, "        Depth    Size   Location    (%" PRIu32 " entries)\n"
					  "        -----    ----   --------\n", side->n);
		if (!measure->deep && !side->n)
			buf_puts(&request->out, "#\n# Stack tracer disabled\n#\n"
						"# To enable it, write 1 to the file stack_tracer_enabled\n#\n");
		for (uint32_t i = 0; i < side->n; i++)
			put_frame(request, side, i);
	}
	free(side);
	return r;
}
