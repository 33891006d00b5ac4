/*
 * cmd/trace_open: see trace_open.h.
 */
#include "cmd/trace_open.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct trace_call *call)
{
	for (uint32_t i = 0; i < CALLS_ARGS; i++)
		free(call->data[i]);
}

struct trace_call *trace_open_add(struct trace_open *open)
{
	if (open->n == open->room) {
		uint32_t room = open->room ? 2 * open->room : 1;
		struct trace_call *more = realloc(open->calls, room * sizeof(*more));

		if (!more)
			return NULL;
		open->calls = more;
		open->room = room;
	}
	open->calls[open->n] = (struct trace_call){ 0 };
	return &open->calls[open->n++];
}

struct trace_call *trace_open_find(const struct trace_open *open, uint64_t number)
{
	for (uint32_t i = open->n; i-- > 0;)
		if (open->calls[i].number == number)
			return &open->calls[i];
	return NULL;
}

void trace_open_drop(struct trace_open *open)
{
	forget(&open->calls[0]);
	open->n--;
	memmove(open->calls, open->calls + 1, open->n * sizeof(*open->calls));
}

void trace_open_cut(struct trace_open *open, uint32_t n)
{
	while (open->n > n)
		forget(&open->calls[--open->n]);
}

void trace_open_fini(struct trace_open *open)
{
	trace_open_cut(open, 0);
	free(open->calls);
	*open = (struct trace_open){ 0 };
}
