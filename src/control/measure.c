/*
 * control/measure: see measure.h. Tables are copied out of the file while programs go on counting.
 */
#include "control/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "control/clock.h"
#include "control/file.h"
#include "control/space.h"
#include "hist/table.h"

#define ROWS_MAX (32u << 10)	/* of a CPU: functions that are called */
#define ROWS_MIN (4u << 10)
#define MEMORY (16ull << 20)	/* that all CPUs' together take, if that gives them so many */

/* ---- What was ever patched ---- */

int control_touched_make(struct control *control, struct err *err)
{
	struct state_measure *measure = &control->state.measure;
	int r;

	if (measure->touched)
		return 0;
	r = control_extent_make(control, TABLE_TOUCHED_SIZE, &measure->touched, err);
	measure->touched_size = r ? 0 : TABLE_TOUCHED_SIZE;
	if (r)
		measure->touched = 0;
	return r;
}

unsigned char *control_touched_read(const struct control *control, struct err *err)
{
	const struct state_measure *measure = &control->state.measure;
	unsigned char *bits;

	if (!measure->touched)
		return NULL;
	bits = malloc(TABLE_TOUCHED_SIZE);
	if (!bits)
		err_set(err, -ENOMEM, "out of memory");
	else if (control_file_read(&control->dir, SEGMENT_TABLES, bits, TABLE_TOUCHED_SIZE, measure->touched, err)) {
		free(bits);
		bits = NULL;
	}
	return bits;
}

/* ---- The profile ---- */

static struct table_shape choose_shape(const struct control *control)
{
	struct table_shape shape;
	uint32_t parts = 1, rows = ROWS_MAX;

	while (parts < control->dir.ncpu)
		parts *= 2;
	for (;; rows /= 2) {
		shape = table_profile_shape(parts, rows);
		if (rows == ROWS_MIN || table_size(&shape) <= MEMORY)
			return shape;
	}
}

int control_profile_switch(struct control *control, bool on, struct err *err)
{
	struct state_measure *measure = &control->state.measure;
	struct state_buffer *top = &control->state.buffers[0];
	const struct table_shape shape = choose_shape(control);
	struct state_clock clock;
	uint64_t fresh = 0;
	int r;

	if (!on || top->profile) {
		top->profile = on;
		return 0;
	}
	/* Another one, not the same emptied: somebody may be about to add to that. */
	r = control_extent_make(control, table_size(&shape), &fresh, err);
	if (!r)
		r = control_extent_drop(control, &measure->profile, &measure->profile_size, err);
	if (r)
		return r;
	control_clock_make(&clock, TRACE_CLOCK_LOCAL, &control->dir, top->live.offset ? &top->live.clock : NULL);
	measure->profile = fresh;
	measure->profile_size = table_size(&shape);
	measure->parts = shape.parts;
	measure->elements = shape.elements;
	measure->mult = clock.flags & TRACE_CLOCK_BY_COUNTER ? clock.mult : 0;
	top->profile = 1;
	return 0;
}

static void add_square(uint64_t sum[2], const uint64_t more[2])
{
	sum[0] += more[0];
	sum[1] += more[1] + (sum[0] < more[0]);
}

static void add_row(struct control_profile_row *to, const struct hist_row *from)
{
	to->hits += from->hits;
	to->vals[PROFILE_TIMED] += from->vals[PROFILE_TIMED];
	to->vals[PROFILE_TIME] += from->vals[PROFILE_TIME];
	to->vals[PROFILE_SELF] += from->vals[PROFILE_SELF];
	add_square(&to->vals[PROFILE_TIME_SQUARES], &from->vals[PROFILE_TIME_SQUARES]);
	add_square(&to->vals[PROFILE_SELF_SQUARES], &from->vals[PROFILE_SELF_SQUARES]);
	if (from->vals[PROFILE_MAX] > to->vals[PROFILE_MAX])
		to->vals[PROFILE_MAX] = from->vals[PROFILE_MAX];
}

/* Rows of one CPU, to those of others: `places` has the number of a function's row + 1. */
static int add_rows(struct control_profile *profile, struct map *places, const struct hist_rows *rows)
{
	struct control_profile_row *all = realloc(profile->rows, (profile->n + rows->nrows + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	profile->rows = all;
	profile->drops += rows->drops;
	for (uint32_t i = 0; i < rows->nrows; i++) {
		uint64_t address;
		size_t *place;

		memcpy(&address, rows->rows[i].key, sizeof(address));
		place = map_get(places, &address, sizeof(address), sizeof(*place));
		if (!place)
			return -ENOMEM;
		if (!*place) {
			all[profile->n++] = (struct control_profile_row){ .address = address };
			*place = profile->n;
		}
		add_row(&all[*place - 1], &rows->rows[i]);
	}
	return 0;
}

static int read_cpu(struct control_profile *profile, struct map *places, const struct control *control, uint32_t cpu,
		    struct err *err)
{
	const struct state_measure *measure = &control->state.measure;
	const struct table_shape shape = table_profile_shape(1, measure->elements);
	const uint64_t size = table_part_size(&shape);
	struct hist_rows rows;
	void *bytes = malloc(table_size(&shape));
	int r = bytes ? 0 : -ENOMEM;

	if (!r)
		r = control_file_read(&control->dir, SEGMENT_TABLES, bytes, size, measure->profile + cpu * size, err);
	else
		err_set(err, r, "out of memory");
	if (!r) {
		r = hist_rows_read(&rows, bytes, &shape, sizeof(uint64_t));
		if (!r) {
			r = add_rows(profile, places, &rows);
			hist_rows_fini(&rows);
		}
		if (r)
			err_set(err, r, "the profile cannot be read: %s", strerror(-r));
	}
	free(bytes);
	return r;
}

int control_profile_read(struct control_profile *profile, const struct control *control, uint32_t cpu, struct err *err)
{
	struct map places = { 0 };
	int r = 0;

	*profile = (struct control_profile){ 0 };
	for (uint32_t i = 0; !r && i < control->dir.ncpu && control->state.measure.profile; i++)
		if (cpu == CONTROL_PROFILE_ALL || cpu == i)
			r = read_cpu(profile, &places, control, i, err);
	map_fini(&places);
	if (r)
		control_profile_fini(profile);
	return r;
}

void control_profile_fini(struct control_profile *profile)
{
	free(profile->rows);
	*profile = (struct control_profile){ 0 };
}

uint64_t control_profile_average(const struct control_profile_row *row, bool self)
{
	uint64_t n = row->vals[PROFILE_TIMED];

	return n ? row->vals[self ? PROFILE_SELF : PROFILE_TIME] / n : 0;
}

/* (n * sum of squares - square of the sum) / (n * (n - 1)) */
long double control_profile_variance(const struct control_profile_row *row, bool self)
{
	const uint64_t *squares = &row->vals[self ? PROFILE_SELF_SQUARES : PROFILE_TIME_SQUARES];
	long double n = (long double)row->vals[PROFILE_TIMED], sum = (long double)row->vals[self ? PROFILE_SELF : PROFILE_TIME];
	long double above;

	if (n < 2)
		return 0;
	above = n * ((long double)squares[1] * 18446744073709551616.0L + (long double)squares[0]) - sum * sum;
	return above > 0 ? above / (n * (n - 1)) : 0;
}

/* By halving what is in doubt: the tool does without a library of mathematics. */
uint64_t control_profile_deviation(const struct control_profile_row *row, bool self)
{
	const long double variance = control_profile_variance(row, self);
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 63; bit; bit >>= 1)
		if ((long double)(root | bit) * (long double)(root | bit) <= variance)
			root |= bit;
	return root;
}
