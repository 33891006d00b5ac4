/*
 * trigger/lower: specs -> the bytes that programs run (layout/hook.h).
 *
 * In: every item of a directory with its spec and what it was given to live on. Out: the table of hooks and the code area
 * of a state. Pure.
 */
#ifndef TRIGGER_LOWER_H
#define TRIGGER_LOWER_H

#include "layout/control.h"
#include "trigger/spec.h"

/* One item and what it was understood as: one of the pointers is set, by its kind. */
struct lower_item {
	const struct state_item *item;
	const char *text;
	const struct spec_trigger *trigger;
	const struct spec_synth *synth;
	const struct spec_probe *probe;
	bool is_old;		/* was lowered before: what cannot be done with it now is left out, and nothing refused */
};

/*
 * How a histogram's keys lie in a row's key, and how many bytes of it are hashed and compared: names of tasks are not, so
 * the key that has one lies last. Where the key's hash is also that of variables, all histograms have their keys in the
 * order in which they were written, and a name is kept only of the last. Returns the size of the whole key.
 */
uint32_t lower_hist_keys(const struct spec_hist *hist, struct hook_key keys[HOOK_KEYS_MAX], uint32_t *hash_size);

/* What a histogram needs before it can be lowered. `parts`: by how many CPUs counting is spread. */
/* Of large ones it is made less, so that memory stays within bounds: the shape says. */
void lower_hist_shape(const struct spec_hist *hist, uint32_t parts, struct table_shape *shape);
/* Bytes of its variables' cells, 0 when it sets none; and where variable `number` has its own. */
uint64_t lower_hist_cells(const struct spec_hist *hist);
void lower_hist_var(const struct spec_hist *hist, uint64_t cells, uint32_t number, struct hook_var *var);

/* `probes`: struct state_probe[]; NULL: there are none. -E2BIG when there is too much of it for a state. */
int lower(const struct lower_item *items, size_t n, const struct spec_world *world, uint32_t parts, struct buf *hooks,
	  struct buf *probes, struct buf *code, struct spec_error *error);

#endif
