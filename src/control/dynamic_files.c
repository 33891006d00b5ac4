/*
 * control/dynamic_files: synthetic_events, kprobe_events, uprobe_events and dynamic_events: lines, each of which is a change of its
 * own, but for probes in code, of which people write many. As in the kernel those before one that is refused stay.
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

/* The line at *at, without comments and blanks; *at is behind it. */
static int next_line(const char **at, const char *end, const char **line, size_t *len, struct err *err)
{
	const char *eol = memchr(*at, '\n', (size_t)(end - *at)), *comment;

	*line = *at;
	*len = (size_t)((eol ? eol : end) - *at);
	*at = eol ? eol + 1 : end;
	if (*len > LINE_MAX_LEN)
		return err_set(err, -EINVAL, "a line has %d characters at most", LINE_MAX_LEN);
	comment = memchr(*line, '#', *len);
	if (comment)
		*len = (size_t)(comment - *line);
	while (*len && strchr(" \t\r", (*line)[*len - 1]))
		--*len;
	while (*len && strchr(" \t\r", **line)) {
		++*line;
		--*len;
	}
	return 0;
}

/* ---- probes in code: many of them are one change ---- */

struct run {
	struct node_request *request;
	enum dynamic_list list;
	struct control_items *items;	/* NULL: it has not begun */
	uint32_t done;
};

static bool is_point(enum dynamic_list list, const char *line)
{
	return list != DYNAMIC_SYNTH && (*line == 'p' || *line == 'r' || (*line == 'f' && list == DYNAMIC_ALL));
}

/* `rest`: all that is still to come, which may be more of the kind. */
static int run_begin(struct run *run, const char *rest, size_t len, struct err *err)
{
	int r = run->items ? 0 : node_begin(run->request, err);

	if (r || run->items)
		return r;
	run->done = 0;
	r = control_items_open(&run->items, run->request->control, err);
	if (r)
		return control_end(run->request->control, r, err);
	if (memchr(rest, '\n', len))
		control_points_foresee(run->items, (char)run->list, rest, len);
	return 0;
}

/* What was taken stays, whatever became of the line behind it. */
static int run_end(struct run *run, int r, struct err *err)
{
	struct err own = ERR_INIT;
	int ended;

	if (!run->items)
		return r;
	control_items_close(run->items);
	run->items = NULL;
	if (!r || !run->done)
		return control_end(run->request->control, r, err);
	ended = control_end(run->request->control, 0, &own);
	return ended ? err_set(err, ended, "%s", own.text) : r;
}

static int run_line(struct run *run, const char *line, size_t len, struct err *err)
{
	const uint32_t before = run->request->control->state.nitems;
	int r = control_dynamic_set(run->items, run->list, line, len, &run->request->error, err);

	run->done += !r;
	/* Nothing was made of it yet. */
	while (r && run->request->control->state.nitems > before)
		if (control_items_remove(run->items, run->request->control->state.nitems - 1, NULL)) {
			run->done = 0;
			break;
		}
	return r;
}

static int write_lines(struct node_request *request, enum dynamic_list list, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len, *line;
	struct run run = { .request = request, .list = list };
	size_t len;
	int r = 0;

	while (!r && at < end) {
		r = next_line(&at, end, &line, &len, err);
		if (r || !len)
			continue;
		if (is_point(list, line)) {
			r = run_begin(&run, line, (size_t)(end - line), err);
			if (!r)
				r = run_line(&run, line, len, err);
			continue;
		}
		r = run_end(&run, 0, err);
		if (!r)
			r = change(request, list, line, len, err);
	}
	return run_end(&run, r, err);
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
