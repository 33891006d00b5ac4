/*
 * runtime/snapshot: setting aside what a buffer holds, when a trigger asks for it. Any thread, any handler.
 *
 * Sets for that lie ready (layout/control.h, state_buffer.side). Counting is all there is to do: whoever writes next builds a
 * view that has the next set in the buffer's place. The event that asked, and those that are on their way in other threads,
 * still go to the set that is set aside.
 */
#include "runtime/local.h"

bool runtime_snapshot(struct view *view, uint32_t b)
{
	const struct view_buffer *buffer = &view->buffer[b % STATE_BUFFERS_MAX];
	uint32_t side = LOAD(buffer->side);
	uint64_t turned = LOAD(buffer->turned);

	if (!side || side >= TABLE_WORDS || turned >= LOAD(buffer->nspares) || !view->host.words)
		return false;
	/* Somebody else's moment was the same as ours: one snapshot is enough for both. */
	return __atomic_compare_exchange_n(&view->host.words[side], &turned, turned + 1, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}
