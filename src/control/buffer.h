/*
 * control/buffer: what can be done to a buffer's rings. Nothing is ever changed in place: each of
 * these builds a new set beside the old one, and the published state says which of them is which.
 * All of them work on the state of a transaction.
 *
 *   expand    none -> live                     the first enable or marker
 *   resize    live -> retired, new -> live     retired sets are read before the live one
 *   clear     live, retired -> limbo, new -> live
 *   snapshot  snapshot -> limbo, live -> snapshot, new -> live
 */
#ifndef CONTROL_BUFFER_H
#define CONTROL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "control/control.h"

int control_buffer_expand(struct control *control, struct state_buffer *buffer, struct err *err);

/* Pages a ring; a buffer without rings only remembers it. */
int control_buffer_resize(struct control *control, struct state_buffer *buffer, uint64_t npages,
			  struct err *err);

/* Bytes of a page, a power of two; discards what is there, as the kernel does. */
int control_buffer_subbuf(struct control *control, struct state_buffer *buffer, uint32_t page_size,
			  struct err *err);

int control_buffer_clear(struct control *control, struct state_buffer *buffer, struct err *err);
int control_buffer_snapshot(struct control *control, struct state_buffer *buffer,
			    struct err *err);

/* The default state. All of the rings file is given up, so it does not matter what the state was. */
int control_buffers_drop(struct control *control, struct err *err);

#endif
