/*
 * control/mark: see mark.h.
 *
 * A marker goes into a ring as any program's event does, so the tool becomes such a program for it:
 * it attaches to the directory and writes through the runtime. One directory a process.
 */
#include "control/mark.h"

#include <errno.h>
#include <string.h>

#include "control/buffer.h"
#include "layout/registry.h"
#include "runtime/runtime.h"

struct marker {
	struct record_head head;
	uint64_t ip;
	char text[RUNTIME_RECORD_MAX - sizeof(struct record_head) - sizeof(uint64_t)];
};
static_assert(sizeof(struct marker) == RUNTIME_RECORD_MAX, "the longest record");

/* Rings for the top buffer, and the state that says so. */
static int prepare(struct control *control, struct err *err)
{
	struct state_buffer *top = &control->state.buffers[0];
	int r;

	r = control_refresh(control, err);
	if (r)
		return r;
	if (!(top->flags & BUFFER_ON))
		return err_set(err, -EBADF, "tracing is off: `ringside write tracing_on 1` first");
	if (top->live.offset)
		return 0;
	r = control_begin(control, err);
	if (r)
		return r;
	r = control_buffer_expand(control, top, err);
	if (r) {
		control_cancel(control);
		return r;
	}
	return control_commit(control, err);
}

/* One record of as much of the text as it holds; gives how much that was. */
static size_t write_one(const char *text, size_t len)
{
	struct marker marker;
	size_t used;

	/* A line break and a NUL come behind the text. */
	if (len > sizeof(marker.text) - 2)
		len = sizeof(marker.text) - 2;
	memset(&marker.head, 0, sizeof(marker.head));
	marker.ip = MARKER_IP;
	memcpy(marker.text, text, len);
	used = len;
	if (!used || text[used - 1] != '\n')
		marker.text[used++] = '\n';
	do
		marker.text[used++] = '\0';
	while (used % 4);
	runtime_write(EVENT_ID_PRINT, &marker, offsetof(struct marker, text) + used);
	return len;
}

int control_mark(struct control *control, const char *text, size_t len, struct err *err)
{
	int r = prepare(control, err);

	if (r)
		return r;
	r = runtime_attach(control->dir.path);
	if (r && r != -EALREADY)
		return err_set(err, r, "cannot attach to %s: %s", control->dir.path, strerror(-r));
	while (len) {
		size_t n = write_one(text, len);

		text += n;
		len -= n;
	}
	return 0;
}
