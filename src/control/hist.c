/*
 * control/hist: the tree's files about histograms: events/SYSTEM/EVENT/hist and hist_debug.
 *
 * Tables are copied out of the file while programs go on counting; hist/rows makes sense of the copy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/file.h"
#include "control/items.h"
#include "control/look.h"
#include "control/names.h"
#include "control/node.h"
#include "control/space.h"
#include "control/symbols.h"
#include "hist/show.h"

static const char *name_of(void *arg, int32_t pid)
{
	const struct control_asking *asking = arg;

	return control_names_comm(asking->names, pid);
}

static bool symbol_of(void *arg, uint64_t address, bool offset, struct buf *out)
{
	const struct control_asking *asking = arg;
	struct decode_symbol symbol;

	if (!control_symbol(asking->control, address, &symbol))
		return false;
	decode_symbol_text(&symbol, offset, out);
	return true;
}

int control_ask(struct control_asking *asking, struct control *control, struct err *err)
{
	*asking = (struct control_asking){ .control = control };
	asking->ask = (struct hist_names){ .arg = asking, .comm = name_of, .symbol = symbol_of };
	return control_names_open(&asking->names, control, err);
}

void control_ask_fini(struct control_asking *asking)
{
	control_names_close(asking->names);
}

static bool is_mine(const struct control_items *items, uint32_t i, const struct node_request *request)
{
	const struct state_item *item = &items->control->state.items[i].item;
	const struct spec_trigger *trigger = items->specs[i].trigger;

	return item->kind == STATE_ITEM_TRIGGER && item->buffer == request->buffer && trigger &&
	       trigger->kind == SPEC_HIST && !strcmp(item->system, request->part[0]) &&
	       !strcmp(item->event, request->part[1]);
}

int control_look_rows(const struct control_items *items, uint32_t i, struct hist_rows *rows, struct err *err)
{
	const struct control *control = items->control;
	const struct state_item *item = &control->state.items[i].item;
	const struct spec_hist *hist = items->specs[i].trigger->hist;
	struct hook_key keys[HOOK_KEYS_MAX];
	struct table_shape shape;
	uint32_t hash_size;
	void *bytes;
	int r;

	lower_hist_shape(hist, control_items_parts(control), &shape);
	if (!item->table || table_size(&shape) != item->table_size)
		return err_set(err, -EUCLEAN, "its table is not what it should be");
	lower_hist_keys(hist, keys, &hash_size);
	bytes = malloc(item->table_size);
	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_file_read(&control->dir, SEGMENT_TABLES, bytes, item->table_size, item->table, err);
	if (!r) {
		r = hist_rows_read(rows, bytes, &shape, hash_size);
		if (r)
			err_set(err, r, "its table cannot be read: %s", strerror(-r));
	}
	free(bytes);
	return r;
}

static int show(struct control_items *items, uint32_t i, const struct hist_names *names, struct buf *out, struct err *err)
{
	struct buf info = BUF_INIT;
	struct hist_rows rows;
	int r = control_look_rows(items, i, &rows, err);

	if (r)
		return r;
	node_trigger_show(items, i, &info);
	if (buf_failed(&info)) {
		r = err_set(err, -ENOMEM, "out of memory");
	} else {
		hist_sort(&rows, items->specs[i].trigger->hist);
		hist_show(&rows, items->specs[i].trigger->hist, info.data ? info.data : "", names, out);
	}
	buf_fini(&info);
	hist_rows_fini(&rows);
	return r;
}

int node_hist_read(struct node_request *request, struct err *err)
{
	struct control_items *items = NULL;
	struct control_asking asking = { .names = NULL };
	uint32_t shown = 0;
	int r = 0;

	if (!control_state_has_item(&request->control->state, STATE_ITEM_TRIGGER, request->buffer, request->part[0],
				    request->part[1]))
		return 0;
	r = control_items_open(&items, request->control, err);
	if (!r)
		r = control_ask(&asking, request->control, err);
	for (uint32_t i = 0; !r && i < request->control->state.nitems; i++) {
		if (!is_mine(items, i, request))
			continue;
		if (shown++)
			buf_puts(&request->out, "\n\n");
		r = show(items, i, &asking.ask, &request->out, err);
	}
	control_ask_fini(&asking);
	control_items_close(items);
	return r;
}

/* What poll(2) goes by: hits of all of them. */
bool node_hist_mark(struct node_request *request, uint64_t *mark)
{
	struct control_items *items = NULL;
	struct hist_rows rows;
	uint64_t sum = 0;

	if (control_items_open(&items, request->control, NULL))
		return false;
	for (uint32_t i = 0; i < request->control->state.nitems; i++) {
		if (!is_mine(items, i, request) || control_look_rows(items, i, &rows, NULL))
			continue;
		sum += rows.hits + rows.drops;
		hist_rows_fini(&rows);
	}
	control_items_close(items);
	*mark = sum;
	return true;
}

static void debug_term(const char *what, uint32_t n, const struct spec_term *term, struct buf *out)
{
	static const char *const forms[] = { "number", "text", "stack", "real" };

	buf_printf(out, "    %s %" PRIu32 ": %s (%s, %u bytes)\n", what, n, term->name[0] ? term->name : "expression",
		   forms[term->form & 3], term->size);
}

static void debug(const struct control_items *items, uint32_t i, struct buf *out)
{
	const struct state_item *item = &items->control->state.items[i].item;
	const struct spec_hist *hist = items->specs[i].trigger->hist;
	struct table_shape shape;

	lower_hist_shape(hist, control_items_parts(items->control), &shape);
	buf_puts(out, "# event histogram\n#\n# trigger info: ");
	node_trigger_show(items, i, out);
	buf_printf(out, "\n#\n\nhist_data: %" PRIu32 "%s\n\n", item->serial, item->flags & STATE_ITEM_HIDDEN ? " (hidden)" : "");
	buf_printf(out, "  table: %" PRIu32 " parts of %" PRIu32 " rows of %" PRIu32 " bytes\n", shape.parts, shape.elements,
		   shape.element_size);
	for (uint32_t n = 0; n < hist->nkeys; n++)
		debug_term("key", n, hist->keys[n], out);
	for (uint32_t n = 0; n < hist->nvals; n++)
		debug_term("value", n, hist->vals[n], out);
	for (uint32_t n = 0; n < hist->nvars; n++)
		buf_printf(out, "    variable %" PRIu32 ": %s\n", n, hist->vars[n].name);
	for (uint32_t n = 0; n < hist->nactions; n++)
		buf_printf(out, "    action %" PRIu32 ": %s\n", n,
			   hist->actions[n]->doing == HOOK_DO_TRACE ? hist->actions[n]->synth :
			   hist->actions[n]->doing == HOOK_DO_SAVE ? "save()" : "snapshot()");
}

int node_hist_debug_read(struct node_request *request, struct err *err)
{
	struct control_items *items = NULL;
	uint32_t shown = 0;
	int r = control_items_open(&items, request->control, err);

	for (uint32_t i = 0; !r && i < request->control->state.nitems; i++) {
		if (!is_mine(items, i, request))
			continue;
		if (shown++)
			buf_puts(&request->out, "\n\n");
		debug(items, i, &request->out);
	}
	control_items_close(items);
	return r;
}
