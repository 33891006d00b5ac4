/*
 * control/look: see look.h.
 */
#include "control/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/file.h"
#include "control/hooks.h"

static uint32_t find(const struct control_items *items, uint32_t buffer, const char *system, const char *event,
		     uint32_t number)
{
	const struct control_state *state = &items->control->state;

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;
		const struct spec_trigger *trigger = items->specs[i].trigger;

		if (item->kind == STATE_ITEM_TRIGGER && item->buffer == buffer && trigger && trigger->kind == SPEC_HIST &&
		    !(item->flags & STATE_ITEM_HIDDEN) && !strcmp(item->system, system) && !strcmp(item->event, event) &&
		    !number--)
			return i;
	}
	return UINT32_MAX;
}

/* Values of the first variable that lie in their cells, as of now: others come and go meanwhile. */
static int count_waiting(struct control_look *look, const struct state_item *item, struct err *err)
{
	const struct segment_dir *dir = &look->items->control->dir;
	struct table_cells head;
	struct table_cell *cells;
	struct hook_var var;
	int r;

	if (!look->hist->nvars || !item->cells)
		return 0;
	lower_hist_var(look->hist, item->cells, 0, &var);
	cells = calloc(var.ncells, sizeof(*cells));
	if (!cells)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_file_read(dir, SEGMENT_TABLES, &head, sizeof(head), var.cells, err);
	if (!r)
		r = control_file_read(dir, SEGMENT_TABLES, cells, var.ncells * sizeof(*cells), var.cells + sizeof(head), err);
	for (uint32_t i = 0; !r && i < var.ncells; i++)
		look->waiting += cells[i].tag != 0;
	look->evicted = r ? 0 : head.evicted;
	free(cells);
	return r;
}

int control_look_open(struct control_look *look, struct control *control, const char *instance, const char *system,
		      const char *event, uint32_t number, struct err *err)
{
	uint32_t i = UINT32_MAX;
	int place, r;

	memset(look, 0, sizeof(*look));
	r = control_refresh(control, err);
	if (!r)
		r = control_items_open(&look->items, control, err);
	if (!r)
		r = control_ask(&look->asking, control, err);
	if (!r) {
		place = control_state_buffer(&control->state, instance);
		if (place >= 0)
			i = find(look->items, (uint32_t)place, system, event, number);
		if (i == UINT32_MAX)
			r = err_set(err, -ENOENT, "the histogram of %s:%s is gone", system, event);
	}
	if (!r) {
		look->hist = look->items->specs[i].trigger->hist;
		r = control_look_rows(look->items, i, &look->rows, err);
	}
	if (!r)
		r = count_waiting(look, items_at(look->items, i), err);
	if (!r)
		hist_sort(&look->rows, look->hist);
	else
		control_look_close(look);
	return r;
}

void control_look_close(struct control_look *look)
{
	hist_rows_fini(&look->rows);
	control_ask_fini(&look->asking);
	control_items_close(look->items);
	memset(look, 0, sizeof(*look));
}

static int hang(struct control_items *items, uint32_t buffer, const struct control_line *line, struct err *err)
{
	struct spec_error error = SPEC_ERROR_INIT;
	size_t len = strlen(line->text);
	int r;

	if (!line->system)
		r = control_synth_set(items, line->text, len, &error, err);
	else
		r = control_trigger_set(items, buffer, line->system, line->event, line->text, len,
					!control_items_format(items, line->system, line->event), &error, err);
	if (r)
		control_items_refuse(&error, r, err);
	spec_error_fini(&error);
	return r;
}

int control_hang(struct control *control, const char *instance, const struct control_line *lines, size_t n, struct err *err)
{
	struct control_items *items = NULL;
	int place = 0, r = control_begin(control, err);

	if (r)
		return r;
	r = control_items_open(&items, control, err);
	if (!r)
		place = control_state_buffer(&control->state, instance);
	if (!r && place < 0)
		r = err_set(err, -ENOENT, "there is no instance %s", instance);
	for (size_t i = 0; !r && i < n; i++)
		r = hang(items, (uint32_t)place, &lines[i], err);
	control_items_close(items);
	return control_end(control, r, err);
}
