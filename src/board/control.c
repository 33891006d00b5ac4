/*
 * board/control: in place of what control does with functions, probes, histograms and the kernel's names for events of programs. A
 * recording of events that programs bring needs none of it; what a whole ringside set in the same directory stays as it is.
 */
#include <errno.h>
#include <stdio.h>

#include "control/calls.h"
#include "control/errors.h"
#include "control/func.h"
#include "control/hooks.h"
#include "control/memory.h"
#include "control/named.h"
#include "control/poke.h"
#include "control/remotes.h"
#include "control/rules.h"
#include "control/stamp.h"
#include "control/symbols.h"
#include "plan/plan.h"
#include "trigger/spec.h"

/* ---- hooks ---- */

bool control_buffer_is_on(const struct control *control, uint32_t buffer)
{
	return control->state.buffers[buffer].flags & BUFFER_ON;
}

int control_buffer_switch(struct control *control, uint32_t buffer, bool on, struct err *err)
{
	struct state_buffer *of = &control->state.buffers[buffer];

	if (of->off)
		return err_set(err, -EOPNOTSUPP, "triggers switch this buffer, and they are not in a board's ringside: record into another (-B)");
	of->flags = on ? of->flags | BUFFER_ON : of->flags & ~(uint32_t)BUFFER_ON;
	return 0;
}

int control_condition_set(struct control *control, const char *instance, const char *system, const char *event, bool trigger, const char *text,
			  struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "%ss of programs' events are not in a board's ringside: a kernel's are its own", trigger ? "trigger" : "filter");
}

bool control_event_is_on(const struct control *control, uint32_t buffer, const char *system, const char *event, bool *soft)
{
	if (soft)
		*soft = false;
	return control_rules_on(&control->state, buffer, system, event);
}

void spec_error_fini(struct spec_error *error)
{
}

/* ---- error_log, which tells others what was refused here: our own caller is told anyway ---- */

void control_errors_add(const struct node_request *request, const char *path, const struct err *err)
{
}

void control_errors_add_spec(const struct node_request *request)
{
}

void control_errors_forget(const struct control *control)
{
}

void control_errors_clear(const struct control *control, uint64_t born)
{
}

/* ---- functions and probes ---- */

bool control_tracer_is_here(uint32_t tracer)
{
	return tracer == TRACER_NOP;
}

uint64_t control_traced(const struct control_state *state)
{
	return 0;
}

void control_poke(struct control *control)
{
	control->retell = false;
}

bool control_probe_is_stale(const struct control *control, const char *system, const char *event, const char *file)
{
	return false;
}

void control_symbols_close(struct control_symbols *symbols)
{
}

void plan_memory_close(struct plan_memory *memory)
{
}

/* ---- the kernel's names ---- */

int control_calls_fill(struct control *control, struct err *err)
{
	return 0;
}

int control_memory_fill(struct control *control, struct err *err)
{
	return 0;
}

bool control_event_has_source(const struct control_event *event)
{
	return !event->named;
}

int control_named_ensure(const struct segment_dir *dir, struct err *err)
{
	return 0;
}

bool control_named_system(const char *system)
{
	return false;
}

/* ---- files that are not in the tree ---- */

const struct node_flow node_raw_flow, node_snapshot_raw_flow;

int node_hist_read(struct node_request *request, struct err *err)
{
	return 0;
}

bool node_hist_mark(struct node_request *request, uint64_t *mark)
{
	return false;
}

int node_print_hist_read(struct node_request *request, struct err *err)
{
	return 0;
}

bool node_print_hist_mark(struct node_request *request, uint64_t *mark)
{
	return false;
}

int control_remotes_find(struct node_request *request, const char *const parts[], int n, const struct node **found, struct err *err)
{
	return -ENOENT;
}

int control_remotes_list(struct node_request *request, const char *const parts[], int n, control_remotes_put *put, void *ctx, struct err *err)
{
	return 0;
}
