/*
 * library/rows: live records of a tracing directory: control/rows, with a handle of its own.
 */
#include <errno.h>
#include <inttypes.h>

#include "control/clock.h"
#include "control/rows.h"
#include "library/records.h"

static void close_rows(struct ringside_control_records *records)
{
	control_rows_close(records->state);
}

static int next(struct ringside_control_records *records, struct report_row *row, uint64_t *lost)
{
	struct control_row one;
	int r = control_rows_next(records->state, &one, &records->err);

	if (r == 1) {
		*row = one.row;
		*lost = one.lost;
	}
	return r;
}

static int wait(struct ringside_control_records *records, int timeout_ms)
{
	return control_rows_wait(records->state, timeout_ms, &records->err);
}

static void end(struct ringside_control_records *records)
{
	control_rows_end(records->state);
}

static const struct decode_ctx *names(struct ringside_control_records *records)
{
	return control_rows_ctx(records->state);
}

/* The handle follows the state as records are read. */
static bool ticks(struct ringside_control_records *records)
{
	const struct control_state *state = &source_control(records->source)->state;
	int place = control_state_buffer(state, records->instance);

	return place >= 0 && !control_clock_is_ns(state->buffers[place].clock);
}

static const struct records_kind kind = { close_rows, next, wait, end, names, ticks };

int records_rows_open(struct ringside_control_records *records)
{
	struct control *control = source_control(records->source);
	struct control_rows_how how = {
		.cpu = records->cpu,
		.consume = !(records->flags & RINGSIDE_CONTROL_PEEK),
		.snapshot = records->flags & RINGSIDE_CONTROL_SNAPSHOT,
	};
	struct control_rows *rows;
	int place, r;

	r = control_refresh(control, &records->err);
	if (r)
		return r;
	place = control_state_buffer(&control->state, records->instance);
	if (place < 0)
		return err_set(&records->err, -ENOENT, "there is no instance '%.80s'",
			       records->instance);
	if (how.cpu >= 0 && (uint32_t)how.cpu >= control->dir.ncpu)
		return err_set(&records->err, -ENXIO, "there is no CPU %d: the last one is %" PRIu32,
			       how.cpu, control->dir.ncpu - 1);
	how.buffer = (uint32_t)place;
	r = control_rows_open(&rows, control, &how, &records->err);
	if (r)
		return r;
	records->state = rows;
	records->kind = &kind;
	return 0;
}
