/*
 * cmd/trace_open: the calls of a thread that have begun and not ended.
 *
 * There is more than one where a signal's handler runs in a call: the call's end is recorded when the handler is back, behind all
 * that the handler called.
 *
 *	enter kill | enter getppid, exit getppid | enter rt_sigreturn, exit rt_sigreturn | exit kill
 *
 * Handlers nest, and who leaves one by a jump leaves calls behind that never end. So an end is that of the innermost call of its
 * number, and those within it are none any more. There is a bound: of a program that jumps for ever the oldest are dropped.
 */
#ifndef CMD_TRACE_OPEN_H
#define CMD_TRACE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/trace_args.h"

#define TRACE_OPEN_MAX 64u

struct trace_open {
	struct trace_call *calls;	/* the outermost first */
	uint32_t n, room;
	/* A return from a handler into the innermost call, which is shown behind that if its end comes next, as it does unless the
	 * call is begun again. */
	struct trace_call back;
	uint64_t back_end;
	bool has_back;
};

/* A new innermost call, all zeros; there are less than TRACE_OPEN_MAX. NULL: no memory. */
struct trace_call *trace_open_add(struct trace_open *open);
/* The innermost of that number, or NULL. */
struct trace_call *trace_open_find(const struct trace_open *open, uint64_t number);
/* The outermost is dropped. */
void trace_open_drop(struct trace_open *open);
/* So many stay. */
void trace_open_cut(struct trace_open *open, uint32_t n);
void trace_open_fini(struct trace_open *open);

#endif
