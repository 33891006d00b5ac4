/*
 * control/mark: the tree's files that put something into a buffer: trace_marker, trace_marker_raw, inject.
 *
 * What they write goes into a ring as any program's event does, so the tool becomes such a program for it:
 * it attaches to the directory and writes through the runtime. One directory a process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control/buffer.h"
#include "control/hooks.h"
#include "control/inject.h"
#include "control/named.h"
#include "control/node.h"
#include "control/registry.h"
#include "layout/page.h"
#include "runtime/runtime.h"

/* Text of one record: what is longer takes several, as it does in the kernel. */
#define TEXT_MAX 4000u
/* The kernel's longest raw marker: what fits into a page of 4 KiB. */
#define RAW_MAX 3072u

struct mark {
	struct record_head head;
	uint64_t ip;
	char text[TEXT_MAX + 8];
};
static_assert(sizeof(struct mark) <= RUNTIME_RECORD_MAX, "a record of any size fits into any page");

struct raw {
	struct record_head head;
	char id_and_data[RAW_MAX + 4];
};

/* Does the buffer, as it is now, take what is written to such a file? */
static int check_open(struct node_request *request, bool marker, struct err *err)
{
	const struct state_buffer *buffer = node_buffer(request);
	int r = node_refresh(request, err);

	if (r)
		return r;
	if (marker && !(buffer->flags & BUFFER_MARKERS))
		return err_set(err, -EINVAL, "markers are off: `ringside write options/markers 1` "
			       "first");
	if (!control_buffer_is_on(request->control, request->buffer))
		return err_set(err, -EBADF, "tracing is off: `ringside write tracing_on 1` first");
	return 0;
}

/* The process attaches once, whichever of its threads is first. */
static int attach(const char *path, struct err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int r;

	pthread_mutex_lock(&lock);
	r = runtime_attach(path);
	pthread_mutex_unlock(&lock);
	if (!r || r == -EALREADY)
		return 0;
	return err_set(err, r, "cannot attach to %s: %s", path, strerror(-r));
}

/* Rings for the buffer, the state that says so, and the runtime attached: when all else is known to be right. */
static int prepare(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	int r = 0;

	if (!node_buffer(request)->live.offset) {
		r = node_begin(request, err);
		if (r)
			return r;
		r = control_end(control, control_buffer_expand(control, node_buffer(request), err),
				err);
	}
	return r ? r : attach(control->dir.path, err);
}

static int put(struct node_request *request, uint32_t id, void *record, size_t len, struct err *err)
{
	const struct tree_caller *caller = request->caller;
	int r;

	if (caller && request->control->state.buffers[0].flags & BUFFER_RECORD_CMD)
		runtime_tell_name(caller->tid, caller->tgid, 0, caller->comm);
	r = runtime_write_to(request->buffer, request->born, id, record, len,
			     caller ? caller->tid : 0);
	if (r == -EBADF)
		return err_set(err, r, "the buffer takes nothing now: it is full, or paused, or off on this "
			       "CPU");
	return r ? err_set(err, r, "cannot be written: %s", strerror(-r)) : 0;
}

/* What is marked at the top goes to instances that want it, too. Whether they could take it is nobody's business here. */
static int put_mark(struct node_request *request, uint32_t id, void *record, size_t len, struct err *err)
{
	const struct control_state *state = &request->control->state;
	int r = put(request, id, record, len, err);

	for (uint32_t b = 1; !request->buffer && b < state->nbuffers; b++) {
		const struct state_buffer *buffer = &state->buffers[b];

		if (buffer->born && buffer->flags & BUFFER_COPY_MARKERS && buffer->flags & BUFFER_MARKERS &&
		    buffer_takes(buffer))
			runtime_write_to(b, buffer->born, id, record, len, request->caller ? request->caller->tid : 0);
	}
	return r;
}

static size_t round_up(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

int node_marker_write(struct node_request *request, struct err *err)
{
	size_t len = request->len < TEXT_MAX ? request->len : TEXT_MAX;
	struct mark mark = { .ip = MARKER_IP };
	int r;

	if (!len)
		return 0;
	r = check_open(request, true, err);
	if (!r)
		r = prepare(request, err);
	if (r)
		return r;
	memcpy(mark.text, request->text, len);
	request->taken = len;
	if (mark.text[len - 1] != '\n')
		mark.text[len++] = '\n';
	mark.text[len++] = '\0';
	return put_mark(request, EVENT_ID_PRINT, &mark, offsetof(struct mark, text) + round_up(len), err);
}

int node_marker_raw_write(struct node_request *request, struct err *err)
{
	struct raw raw = { .head = { 0 } };
	int r;

	if (!request->len)
		return 0;
	r = check_open(request, true, err);
	if (!r && (request->len < 4 || request->len > sizeof(raw.id_and_data)))
		r = err_set(err, -EINVAL, "four bytes of id and up to %u of data are needed", RAW_MAX);
	if (!r)
		r = prepare(request, err);
	if (r)
		return r;
	memcpy(raw.id_and_data, request->text, request->len);
	return put_mark(request, EVENT_ID_RAW_DATA, &raw,
			offsetof(struct raw, id_and_data) + round_up(request->len), err);
}

int node_inject_write(struct node_request *request, struct err *err)
{
	const struct control_event *event;
	const struct control_registry *events;
	struct control_injection injection;
	struct err own = ERR_INIT;
	int r;

	if (!request->len)
		return 0;
	err = err ? err : &own;
	r = check_open(request, false, err);
	if (r)
		return r;
	events = control_events(request->control, err);
	if (!events)
		return err->code;
	event = control_registry_find(events, request->part[0], request->part[1]);
	if (!event)
		return err_set(err, -ENODEV, "is gone");
	r = control_inject(&injection, event, request->text, request->len, err);
	if (!r)
		r = prepare(request, err);
	if (!r)
		r = control_named_adopt(&request->control->dir, event, err);
	return r ? r : put(request, event->id, injection.record, injection.len, err);
}
