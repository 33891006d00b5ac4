/*
 * control/pipe: the tree's files that take events out: trace_pipe as text, trace_pipe_raw as pages. See pipe.h.
 */
#include "control/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/stream.h"
#include "control/buffer.h"
#include "control/hooks.h"
#include "control/map.h"
#include "control/rows.h"
#include "control/text.h"

/* ---- text ---- */

struct pipe {
	struct control_rows *rows;
	struct control_text text;
	bool read;		/* something was handed out */
	uint64_t left;		/* events that are still to be handed out, for those who want no more */
};

/* Events that there are now. */
static uint64_t count(struct stream *stream)
{
	struct stream_stats stats;

	return stream_stats(stream, &stats) ? 0 : stats.entries;
}

static int pipe_open(struct node_request *request, void **flow, struct err *err)
{
	struct control_rows_how how = { .buffer = request->buffer, .consume = true,
					.cpu = request->one_cpu ? (int)request->cpu : -1 };
	struct pipe *pipe = calloc(1, sizeof(*pipe));
	int r;

	if (!pipe)
		return err_set(err, -ENOMEM, "out of memory");
	r = control_rows_open(&pipe->rows, request->control, &how, err);
	if (r) {
		free(pipe);
		return r;
	}
	control_text_init(&pipe->text, node_buffer(request), &request->control->state.buffers[0],
			  pipe->rows, false);
	pipe->left = request->once ? control_rows_count(pipe->rows) : UINT64_MAX;
	*flow = pipe;
	return 0;
}

static int pipe_more(struct node_request *request, void *flow, size_t want, struct err *err)
{
	struct pipe *pipe = flow;
	struct control_row row;
	size_t start = request->out.len;
	int r = 1;

	while (request->out.len - start < want && pipe->left &&
	       (r = control_rows_next(pipe->rows, &row, err)) == 1) {
		r = control_text_row(&pipe->text, &request->out, &row, err);
		if (r < 0)
			break;
		pipe->left -= pipe->left < (uint64_t)r ? pipe->left : (uint64_t)r;
	}
	if (r < 0)
		return r;
	if (request->out.len > start) {
		pipe->read = true;
		return 1;
	}
	/* The end, in the kernel's way: nothing more will come, and something has. */
	if (pipe->read && !control_buffer_is_on(request->control, request->buffer))
		return 0;
	return -EAGAIN;
}

static void pipe_close(struct node_request *request, void *flow)
{
	struct pipe *pipe = flow;

	(void)request;
	control_text_fini(&pipe->text);
	control_rows_close(pipe->rows);
	free(pipe);
}

static int pipe_wait(struct node_request *request, void *flow, int timeout_ms, struct err *err)
{
	struct pipe *pipe = flow;

	if (pipe->read && !control_buffer_is_on(request->control, request->buffer))
		return 1;
	return control_rows_wait(pipe->rows, timeout_ms, err);
}

static bool pipe_ready(struct node_request *request, void *flow)
{
	const struct state_buffer *buffer = node_buffer(request);
	struct pipe *pipe = flow;

	return buffer->flags & BUFFER_BLOCK || (pipe->read && !control_buffer_is_on(request->control, request->buffer)) ||
	       control_rows_filled(pipe->rows, request->one_cpu ? buffer->percent : 0);
}

const struct node_flow node_pipe_flow = {
	pipe_open, pipe_more, pipe_close, pipe_wait, pipe_ready, NULL, NULL,
};

/* ---- pages ---- */

struct raw {
	struct stream *stream;
	uint64_t published;	/* the state that the stream was last told */
	bool snapshot;
	uint64_t left;		/* as above */
	void *page;
	uint32_t page_size;
	struct control_map map;
	bool mapped;
	uint64_t unread;	/* mapped: events that were there when they were last counted, less those since */
};

/* The buffer as the stream is to see it. */
static struct state_buffer shown(const struct node_request *request, bool snapshot)
{
	struct state_buffer buffer = *node_buffer(request);

	if (snapshot) {
		buffer.live = buffer.snapshot;
		buffer.nretired = 0;
	}
	return buffer;
}

/* A consumer's rings are locked first; after that the state must still be the same (rows.c). */
static int raw_follow(struct node_request *request, struct raw *raw, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer buffer;
	int r = 0;

	for (int i = 0; !r && i < 100; i++) {
		if (raw->published == control->state.published && control_current(control))
			return 0;
		r = node_refresh(request, err);
		buffer = shown(request, raw->snapshot);
		raw->published = control->state.published;
		if (!r)
			r = stream_update(raw->stream, &buffer, err);
	}
	return r ? r : err_set(err, -EBUSY, "the buffer changes too often to be read");
}

static void raw_close(struct node_request *request, void *flow)
{
	struct raw *raw = flow;

	(void)request;
	if (raw->stream)
		stream_accept(raw->stream);
	stream_close(raw->stream);
	free(raw->page);
	free(raw);
}

static int raw_start(struct node_request *request, void **flow, bool snapshot, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer buffer = shown(request, snapshot);
	struct raw *raw = calloc(1, sizeof(*raw));
	int r;

	if (!raw)
		return err_set(err, -ENOMEM, "out of memory");
	raw->snapshot = snapshot;
	r = stream_open(&raw->stream, control->dir.fd[SEGMENT_RINGS], &buffer, control->dir.ncpu,
			request->cpu, true, err);
	if (!r)
		r = raw_follow(request, raw, err);
	if (r) {
		raw_close(request, raw);
		return r;
	}
	raw->left = request->once ? count(raw->stream) : UINT64_MAX;
	*flow = raw;
	return 0;
}

static int raw_open(struct node_request *request, void **flow, struct err *err)
{
	return raw_start(request, flow, false, err);
}

static int snapshot_raw_open(struct node_request *request, void **flow, struct err *err)
{
	return raw_start(request, flow, true, err);
}

static int raw_room(struct raw *raw)
{
	uint32_t size = stream_page_size(raw->stream);

	if (size <= raw->page_size)
		return 0;
	free(raw->page);
	raw->page_size = 0;
	raw->page = aligned_alloc(64, (size + 63u) & ~63u);
	if (!raw->page)
		return -ENOMEM;
	raw->page_size = size;
	return 0;
}

/* One page, or as many whole ones as are asked for. */
static int raw_more(struct node_request *request, void *flow, size_t want, struct err *err)
{
	struct raw *raw = flow;
	struct stream_page info;
	size_t made = 0, size = 0;
	int r = raw_follow(request, raw, err);

	if (!r)
		r = raw_room(raw);
	while (!r && raw->left && (!made || made + size <= want)) {
		r = stream_next(raw->stream, raw->page, &info);
		if (r <= 0)
			break;
		raw->left -= raw->left < info.events ? raw->left : info.events;
		size = stream_page_size(raw->stream);
		made += size;
		buf_add(&request->out, raw->page, size);
		r = buf_failed(&request->out) ? -ENOMEM : 0;
	}
	if (r < 0)
		return err && err->code ? r : err_set(err, r, "cannot be read: %s", strerror(-r));
	return made ? 1 : -EAGAIN;
}

static int raw_wait(struct node_request *request, void *flow, int timeout_ms, struct err *err)
{
	struct raw *raw = flow;
	int r = raw_follow(request, raw, err);

	return r ? r : stream_wait(raw->stream, timeout_ms);
}

static bool raw_ready(struct node_request *request, void *flow)
{
	struct raw *raw = flow;

	return !raw_follow(request, raw, NULL) &&
	       (node_buffer(request)->flags & BUFFER_BLOCK ||
		stream_is_filled(raw->stream, node_buffer(request)->percent));
}

static int raw_map(struct node_request *request, void *flow, int fd, struct err *err)
{
	const struct state_buffer *buffer = node_buffer(request);
	struct raw *raw = flow;
	uint32_t npages = (uint32_t)control_buffer_cpu_npages(request->control, buffer, request->cpu);
	int r = control_map_init(&raw->map, fd, buffer->page_size, npages, err);

	raw->mapped = !r;
	return r;
}

static int raw_turn(struct node_request *request, void *flow, struct err *err)
{
	struct raw *raw = flow;
	struct stream_page info = { 0 };
	int r = raw->mapped ? raw_follow(request, raw, err) : err_set(err, -ENODEV, "is not mapped");

	if (!r)
		r = raw_room(raw);
	/* Pages of another size do not fit into what is mapped: it is opened anew for those. */
	if (!r && stream_page_size(raw->stream) != raw->map.page_size)
		r = err_set(err, -ENODEV, "the buffer's pages have another size by now");
	if (!r)
		r = stream_next(raw->stream, raw->page, &info);
	if (r < 0)
		return r;
	stream_accept(raw->stream);
	/* Counting looks at all of them: only when those that are known of are through. */
	raw->unread -= raw->unread < info.events ? raw->unread : info.events;
	if (!raw->unread)
		raw->unread = count(raw->stream);
	return control_map_put(&raw->map, r ? raw->page : NULL, info.events, info.lost, raw->unread,
			       err);
}

const struct node_flow node_raw_flow = {
	raw_open, raw_more, raw_close, raw_wait, raw_ready, raw_map, raw_turn,
};
const struct node_flow node_snapshot_raw_flow = {
	snapshot_raw_open, raw_more, raw_close, raw_wait, raw_ready, NULL, NULL,
};

int control_pipe_drain(struct node_request *request, bool snapshot, struct err *err)
{
	void *flow;
	int r;

	request->once = true;
	r = raw_start(request, &flow, snapshot, err);
	while (!r && raw_more(request, flow, 0, err) == 1)
		buf_reset(&request->out);
	if (!r)
		raw_close(request, flow);
	request->once = false;
	return r;
}
