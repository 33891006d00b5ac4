/*
 * control/trace: the tree's files that show what was recorded and leave it there: trace, snapshot, stats.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/stream.h"
#include "control/buffer.h"
#include "control/clock.h"
#include "control/node.h"
#include "control/pause.h"
#include "control/pipe.h"
#include "control/rows.h"
#include "control/text.h"

/* A `trace` or `snapshot` that is being read. */
struct show {
	struct control_rows *rows;
	struct control_text text;
	bool headed;
	bool help;		/* there is nothing in the snapshot: say how it is used */
	bool paused;
};

static const char snapshot_help[] =
	"#\n"
	"# * Snapshot is %s *\n"
	"#\n"
	"# Snapshot commands:\n"
	"# echo 0 > snapshot : empties it and gives its memory back\n"
	"#%s\n"
	"# echo 1 > snapshot : makes one if there is none, and puts what was recorded into it\n"
	"#                     (all CPUs at once: not in per_cpu/cpuN/)\n"
	"# echo 2 > snapshot : empties it (any number but 0 and 1)\n";

static void put_help(struct node_request *request)
{
	bool made = node_buffer(request)->snapshot.offset;

	buf_printf(&request->out, snapshot_help, made ? "allocated" : "freed",
		   request->one_cpu ? "                     (not in per_cpu/cpuN/)" : "");
}

static int show_open(struct node_request *request, void **flow, bool snapshot, struct err *err)
{
	struct control_rows_how how = { .buffer = request->buffer, .snapshot = snapshot,
					.cpu = request->one_cpu ? (int)request->cpu : -1 };
	struct show *show = calloc(1, sizeof(*show));
	int r;

	if (!show)
		return err_set(err, -ENOMEM, "out of memory");
	if (!snapshot && node_buffer(request)->flags & BUFFER_PAUSE_ON_TRACE)
		show->paused = !control_pause(request->control, request->buffer, NULL);
	r = control_rows_open(&show->rows, request->control, &how, err);
	if (r) {
		if (show->paused)
			control_resume(request->control, request->buffer);
		free(show);
		return r;
	}
	control_text_init(&show->text, node_buffer(request), &request->control->state.buffers[0],
			  show->rows, !snapshot);
	show->help = snapshot && !control_rows_count(show->rows);
	*flow = show;
	return 0;
}

static int trace_open(struct node_request *request, void **flow, struct err *err)
{
	return show_open(request, flow, false, err);
}

static int snapshot_open(struct node_request *request, void **flow, struct err *err)
{
	return show_open(request, flow, true, err);
}

static int show_more(struct node_request *request, void *flow, size_t want, struct err *err)
{
	struct show *show = flow;
	struct control_row row;
	size_t start = request->out.len;
	int r = 1;

	if (!show->headed) {
		show->headed = true;
		if (show->help)
			put_help(request);
		else
			control_text_head(&show->text, &request->out,
					  request->one_cpu && !control_rows_count(show->rows));
	}
	while (!show->help && request->out.len - start < want &&
	       (r = control_rows_next(show->rows, &row, err)) == 1)
		if ((r = control_text_row(&show->text, &request->out, &row, err)) < 0)
			break;
	if (r < 0)
		return r;
	if (!r)
		control_text_end(&show->text, &request->out);
	return request->out.len > start;
}

static void show_close(struct node_request *request, void *flow)
{
	struct show *show = flow;

	control_text_fini(&show->text);
	control_rows_close(show->rows);
	if (show->paused)
		control_resume(request->control, request->buffer);
	free(show);
}

const struct node_flow node_trace_flow = {
	trace_open, show_more, show_close, NULL, NULL, NULL, NULL,
};
const struct node_flow node_snapshot_flow = {
	snapshot_open, show_more, show_close, NULL, NULL, NULL, NULL,
};

/* What is written does not matter, and without `>` it does nothing at all. */
int node_trace_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	int r;

	if (!request->trunc)
		return 0;
	/* One CPU alone is emptied by reading it. */
	if (request->one_cpu) {
		r = node_refresh(request, err);
		return r ? r : control_pipe_drain(request, false, err);
	}
	r = node_begin(request, err);
	if (r)
		return r;
	r = control_buffer_clear(control, node_buffer(request), err);
	return control_end(control, r, err);
}

static int snapshot_write(struct node_request *request, uint64_t value, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer *buffer = node_buffer(request);

	if (!value)
		return control_buffer_snapshot_free(control, buffer, err);
	if (value == 1)
		return control_buffer_snapshot(control, buffer, err);
	return buffer->snapshot.offset ? control_buffer_snapshot_clear(control, buffer, err) : 0;
}

int node_snapshot_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	uint64_t value;
	int r;

	r = node_number(request, &value, err);
	/* A set of rings is swapped as a whole. */
	if (!r && request->one_cpu && value <= 1)
		r = err_set(err, -EINVAL, "one CPU alone cannot be swapped or freed: write to "
			    "`snapshot` at the top");
	if (!r && request->one_cpu) {
		r = node_refresh(request, err);
		return r ? r : control_pipe_drain(request, true, err);
	}
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	return control_end(control, snapshot_write(request, value, err), err);
}

static void put_time(struct node_request *request, const char *what, uint64_t ts)
{
	uint64_t us = ts / 1000 + (ts % 1000 >= 500);

	if (control_clock_is_ns(node_buffer(request)->clock))
		buf_printf(&request->out, "%s: %5" PRIu64 ".%06" PRIu64 "\n", what, us / 1000000,
			   us % 1000000);
	else
		buf_printf(&request->out, "%s: %" PRIu64 "\n", what, ts);
}

int node_stats_read(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	const struct state_buffer *buffer = node_buffer(request);
	struct stream_stats stats;
	struct stream *stream;
	int r;

	r = stream_open(&stream, control->dir.fd[SEGMENT_RINGS], buffer, control->dir.ncpu,
			request->cpu, false, err);
	if (r)
		return r;
	r = stream_stats(stream, &stats);
	stream_close(stream);
	if (r)
		return err_set(err, r, "cannot be read: %s", strerror(-r));
	buf_printf(&request->out, "entries: %" PRIu64 "\n", stats.entries);
	buf_printf(&request->out, "overrun: %" PRIu64 "\n", stats.overrun);
	buf_puts(&request->out, "commit overrun: 0\n");
	buf_printf(&request->out, "bytes: %" PRIu64 "\n", stats.bytes);
	put_time(request, "oldest event ts", stats.oldest_ts);
	put_time(request, "now ts", control_clock_now(&buffer->live.clock, &control->dir));
	buf_printf(&request->out, "dropped events: %" PRIu64 "\n", stats.dropped);
	buf_printf(&request->out, "read events: %" PRIu64 "\n", stats.read);
	return 0;
}
