/*
 * control/dynamic_files: synthetic_events, kprobe_events, uprobe_events and dynamic_events: lines, each of which is a change of its
 * own. As in the kernel those before one that is refused stay.
 */
#include <errno.h>
#include <string.h>

#include "control/hooks.h"
#include "control/node.h"

#define LINE_MAX_LEN 4094

static int list(struct node_request *request, enum dynamic_list list, struct err *err)
{
	struct control_items *items = NULL;
	int r = control_items_open(&items, request->control, err);

	for (uint32_t i = 0; !r && i < request->control->state.nitems; i++)
		control_dynamic_show(items, i, list, &request->out);
	control_items_close(items);
	return r;
}

/* One change. text NULL: the list is emptied. */
static int change(struct node_request *request, enum dynamic_list list, const char *text, size_t len, struct err *err)
{
	struct control_items *items = NULL;
	int r = node_begin(request, err);

	if (r)
		return r;
	r = control_items_open(&items, request->control, err);
	if (!r && !text)
		r = control_dynamic_clear(items, list, err);
	else if (!r && list == DYNAMIC_SYNTH)
		r = control_synth_set(items, text, len, &request->error, err);
	else if (!r)
		r = control_dynamic_set(items, list, text, len, &request->error, err);
	control_items_close(items);
	return control_end(request->control, r, err);
}

static int write_lines(struct node_request *request, enum dynamic_list list, struct err *err)
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
			r = change(request, list, at, len, err);
		at = next;
	}
	return r;
}

static int write_list(struct node_request *request, enum dynamic_list list, struct err *err)
{
	int r = request->trunc ? change(request, list, NULL, 0, err) : 0;

	return r ? r : write_lines(request, list, err);
}

int node_synthetic_read(struct node_request *request, struct err *err)
{
	return list(request, DYNAMIC_SYNTH, err);
}

int node_synthetic_write(struct node_request *request, struct err *err)
{
	return write_list(request, DYNAMIC_SYNTH, err);
}

int node_kprobes_read(struct node_request *request, struct err *err)
{
	return list(request, DYNAMIC_CODE, err);
}

int node_kprobes_write(struct node_request *request, struct err *err)
{
	return write_list(request, DYNAMIC_CODE, err);
}

int node_uprobes_read(struct node_request *request, struct err *err)
{
	return list(request, DYNAMIC_FILE, err);
}

int node_uprobes_write(struct node_request *request, struct err *err)
{
	return write_list(request, DYNAMIC_FILE, err);
}

int node_dynamic_read(struct node_request *request, struct err *err)
{
	return list(request, DYNAMIC_ALL, err);
}

int node_dynamic_write(struct node_request *request, struct err *err)
{
	return write_list(request, DYNAMIC_ALL, err);
}
