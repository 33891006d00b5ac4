/*
 * control/dynamic_files: synthetic_events and dynamic_events: lines, each of which is a change of its own. As in the kernel those
 * before one that is refused stay.
 */
#include <errno.h>
#include <string.h>

#include "control/hooks.h"
#include "control/node.h"

#define LINE_MAX_LEN 4094

typedef int line_function(struct control_items *items, const char *text, size_t len, struct spec_error *error,
			  struct err *err);

static int list(struct node_request *request, bool dynamic, struct err *err)
{
	struct control_items *items = NULL;
	int r = control_items_open(&items, request->control, err);

	for (uint32_t i = 0; !r && i < request->control->state.nitems; i++) {
		if (items->specs[i].synth)
			spec_synth_show(items->specs[i].synth, dynamic, &request->out);
		else if (items->specs[i].probe && dynamic)
			spec_probe_show(items->specs[i].probe, &request->out);
		else
			continue;
		buf_putc(&request->out, '\n');
	}
	control_items_close(items);
	return r;
}

int node_synthetic_read(struct node_request *request, struct err *err)
{
	return list(request, false, err);
}

int node_dynamic_read(struct node_request *request, struct err *err)
{
	return list(request, true, err);
}

/* One change. */
static int change(struct node_request *request, line_function *apply, const char *text, size_t len, struct err *err)
{
	struct control_items *items = NULL;
	int r = node_begin(request, err);

	if (r)
		return r;
	r = control_items_open(&items, request->control, err);
	if (!r)
		r = apply(items, text, len, &request->error, err);
	control_items_close(items);
	return control_end(request->control, r, err);
}

static int clear_synthetic(struct control_items *items, const char *text, size_t len, struct spec_error *error,
			   struct err *err)
{
	(void)text, (void)len, (void)error;
	return control_dynamic_clear(items, STATE_ITEM_SYNTH, err);
}

static int clear_all(struct control_items *items, const char *text, size_t len, struct spec_error *error, struct err *err)
{
	(void)text, (void)len, (void)error;
	return control_dynamic_clear(items, 0, err);
}

static int write_lines(struct node_request *request, line_function *apply, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len;
	int r = 0;

	while (!r && at < end) {
		const char *eol = memchr(at, '\n', (size_t)(end - at)), *next = eol ? eol + 1 : end, *comment;
		size_t len = (size_t)((eol ? eol : end) - at);

		if (len > LINE_MAX_LEN)
			return err_set(err, -EINVAL, "a line has %d characters at most", LINE_MAX_LEN);
		comment = memchr(at, '#', len);
		if (comment)
			len = (size_t)(comment - at);
		while (len && strchr(" \t\r", at[len - 1]))
			len--;
		while (len && strchr(" \t\r", *at)) {
			at++;
			len--;
		}
		if (len)
			r = change(request, apply, at, len, err);
		at = next;
	}
	return r;
}

int node_synthetic_write(struct node_request *request, struct err *err)
{
	int r = request->trunc ? change(request, clear_synthetic, "", 0, err) : 0;

	return r ? r : write_lines(request, control_synth_set, err);
}

int node_dynamic_write(struct node_request *request, struct err *err)
{
	int r = request->trunc ? change(request, clear_all, "", 0, err) : 0;

	return r ? r : write_lines(request, control_dynamic_set, err);
}
