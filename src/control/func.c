/*
 * control/func: the tree's files about the tracers `function` and `function_graph`: which one is chosen, and the numbers that go
 * with it. Which functions: func_filter.c.
 */
#include "control/func.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "control/buffer.h"
#include "control/measure.h"
#include "control/node.h"
#include "control/plans.h"

static const char *const tracers[TRACERS] = {
	[TRACER_NOP] = "nop",
	[TRACER_FUNCTION] = "function",
	[TRACER_GRAPH] = "function_graph",
};

/* Entries of functions are patched on this processor alone. */
bool control_tracer_is_here(uint32_t tracer)
{
#if defined(__x86_64__)
	return tracer < TRACERS;
#else
	return tracer == TRACER_NOP;
#endif
}

const char *control_tracer_name(uint32_t tracer)
{
	return tracers[tracer < TRACERS ? tracer : TRACER_NOP];
}

/* The newest first, as in the kernel. */
int node_tracers_read(struct node_request *request, struct err *err)
{
	const char *blank = "";

	(void)err;
	for (uint32_t i = TRACERS; i-- > 0;) {
		if (!control_tracer_is_here(i))
			continue;
		buf_printf(&request->out, "%s%s", blank, tracers[i]);
		blank = " ";
	}
	buf_putc(&request->out, '\n');
	return 0;
}

int node_tracer_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%s\n", tracers[node_buffer(request)->tracer]);
	return 0;
}

/* As in the kernel, whoever chooses a tracer gets the rings that it needs, and empty ones if it is another than before. */
static int choose(struct node_request *request, uint32_t tracer, struct err *err)
{
	struct state_buffer *buffer = node_buffer(request);

	/* The same again: for programs that had no plans when it was chosen. */
	request->control->retell = tracer != TRACER_NOP;
	if (buffer->tracer == tracer)
		return control_buffer_expand(request->control, buffer, err);
	if (control_buffer_is_read(request->control, buffer))
		return err_set(err, -EBUSY, "its events are being read: end the reader first");
	buffer->tracer = tracer;
	if (buffer->live.offset)
		return control_buffer_clear(request->control, buffer, err);
	return control_buffer_expand(request->control, buffer, err);
}

int node_tracer_write(struct node_request *request, struct err *err)
{
	uint32_t tracer = 0;
	int r = 0;

	while (tracer < TRACERS && (!control_tracer_is_here(tracer) || !node_is(request, tracers[tracer])))
		tracer++;
	if (tracer == TRACERS)
		return err_set(err, -EINVAL, "there is no such tracer: see available_tracers");
	/* Programs are to find plans when they see the tracer. */
	if (tracer != TRACER_NOP)
		r = control_plans_file(request->control, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	if (tracer != TRACER_NOP)
		r = control_touched_make(request->control, err);
	if (!r)
		r = choose(request, tracer, err);
	return control_end(request->control, r, err);
}

/* ---- numbers; of the top buffer, for all ---- */

static int read_number(struct node_request *request, uint64_t value)
{
	buf_printf(&request->out, "%" PRIu64 "\n", value);
	return 0;
}

int node_graph_depth_read(struct node_request *request, struct err *err)
{
	(void)err;
	return read_number(request, node_buffer(request)->graph_depth);
}

int node_graph_depth_write(struct node_request *request, struct err *err)
{
	uint64_t depth;
	int r = node_number(request, &depth, err);

	if (!r && depth > INT32_MAX)
		r = err_set(err, -ERANGE, "nothing is as deep as that");
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	node_buffer(request)->graph_depth = (uint32_t)depth;
	return control_commit(request->control, err);
}

int node_thresh_read(struct node_request *request, struct err *err)
{
	(void)err;
	return read_number(request, node_buffer(request)->thresh / 1000);
}

int node_thresh_write(struct node_request *request, struct err *err)
{
	uint64_t us;
	int r = node_number(request, &us, err);

	if (!r && us > INT64_MAX / 1000)
		r = err_set(err, -ERANGE, "nothing takes as long as that");
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	node_buffer(request)->thresh = us * 1000;
	return control_commit(request->control, err);
}
