/*
 * cmd/hist_calls: see hist_calls.h.
 *
 * Without returns, a function that is called by one further out tells that all in between have
 * returned. One whose caller is not under way has interrupted what is: that caller becomes the
 * outermost of its own, on top of that. So it does when it is only known as the outermost of what
 * was interrupted, because then it may have returned long ago: page faults come that way.
 */
#include "cmd/hist_calls.h"

#include <string.h>

/* Makes room: what was interrupted goes first, then the outer ones. */
static void forget(struct hist_calls *calls)
{
	size_t n = calls->nr;

	while (n && !calls->calls[--n].outermost)
		;
	n = n ? n : 1;
	calls->nr -= n;
	memmove(&calls->calls[0], &calls->calls[n], calls->nr * sizeof(calls->calls[0]));
	calls->calls[0].outermost = true;
}

static void push(struct hist_calls *calls, uint64_t func, int depth, bool outermost)
{
	if (calls->nr == HIST_CALLS_MAX)
		forget(calls);
	calls->calls[calls->nr++] = (struct hist_call){ func, depth, outermost };
}

void hist_calls_leave(struct hist_calls *calls, int depth)
{
	while (calls->nr && calls->calls[calls->nr - 1].depth >= depth)
		calls->nr--;
}

void hist_calls_enter(struct hist_calls *calls, uint64_t func, int depth)
{
	hist_calls_leave(calls, depth);
	push(calls, func, depth, !calls->nr);
}

void hist_calls_call(struct hist_calls *calls, uint64_t func, uint64_t parent)
{
	size_t n = calls->nr;
	bool interrupted = false;

	for (; n; n--) {
		const struct hist_call *call = &calls->calls[n - 1];

		if (call->func == parent && !(interrupted && call->outermost))
			break;
		interrupted |= call->outermost;
	}
	if (n)
		calls->nr = n;
	else
		push(calls, parent, -1, true);
	push(calls, func, -1, false);
}

size_t hist_calls_list(const struct hist_calls *calls, size_t skip, uint64_t *all)
{
	size_t nr = 0;

	for (size_t n = calls->nr; n; n--) {
		if (skip)
			skip--;
		else
			all[nr++] = calls->calls[n - 1].func;
		if (calls->calls[n - 1].outermost)
			break;
	}
	return nr;
}
