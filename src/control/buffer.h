/*
 * control/buffer: what can be done to a buffer's rings. Nothing is ever changed in place: each of
 * these builds a new set beside the old one, and the published state says which of them is which.
 * All of them work on the state of a transaction.
 *
 *   expand    none -> live                     the first enable or marker
 *   resize    live -> retired, new -> live     retired sets are read before the live one
 *   clear     live, retired -> limbo, new -> live
 *   turn      live -> retired, new -> live; retired ones of long ago -> limbo
 *   snapshot  snapshot -> limbo, live -> snapshot, new -> live
 *   remove    all -> limbo
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
/* Of one CPU alone; lasts until all are resized, or pages change their size. */
int control_buffer_resize_cpu(struct control *control, struct state_buffer *buffer, uint32_t cpu,
			      uint64_t npages, struct err *err);
uint64_t control_buffer_cpu_npages(const struct control *control, const struct state_buffer *buffer,
				   uint32_t cpu);
bool control_buffer_cpus_differ(const struct control *control, const struct state_buffer *buffer);

/* Bytes of a page, a power of two; discards what is there, as the kernel does. */
int control_buffer_subbuf(struct control *control, struct state_buffer *buffer, uint32_t page_size,
			  struct err *err);

/* TRACE_CLOCK_*; discards what is there, as the kernel does. */
int control_buffer_clock(struct control *control, struct state_buffer *buffer, uint32_t id,
			 struct err *err);

/* When it is full: overwrite the oldest, or refuse the newest. Nothing is lost by the change. */
int control_buffer_overwrite(struct control *control, struct state_buffer *buffer, bool on,
			     struct err *err);

int control_buffer_clear(struct control *control, struct state_buffer *buffer, struct err *err);

/*
 * For those who want what is there to stand still while recording goes on: new rings take what comes. Of sets that had been
 * retired before the newest `keep` stay, fewer than STATE_RETIRED_MAX; others are thrown away as by clear.
 */
int control_buffer_turn(struct control *control, struct state_buffer *buffer, uint32_t keep, struct err *err);

int control_buffer_snapshot(struct control *control, struct state_buffer *buffer,
			    struct err *err);
/* Empties it, making it if there is none; gives it back. */
int control_buffer_snapshot_clear(struct control *control, struct state_buffer *buffer,
				  struct err *err);
int control_buffer_snapshot_free(struct control *control, struct state_buffer *buffer,
				 struct err *err);

/* Sets for snapshots that triggers take, as many as there can be, like the live one; or none any more. */
int control_buffer_spares(struct control *control, struct state_buffer *buffer, struct err *err);
int control_buffer_spares_free(struct control *control, struct state_buffer *buffer,
			       struct err *err);

/* Does somebody take events out of it? Nobody will until the transaction ends. */
bool control_buffer_is_read(const struct control *control, const struct state_buffer *buffer);

/* An instance. -EEXIST, -EINVAL, -ENOSPC. */
int control_buffer_add(struct control *control, const char *name, struct err *err);
/* With everything in it. -EBUSY: somebody takes its events out. */
int control_buffer_remove(struct control *control, uint32_t place, struct err *err);

/* The default state. All of the rings file is given up, so it does not matter what the state was. */
int control_buffers_drop(struct control *control, struct err *err);

#endif
