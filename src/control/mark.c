/*
 * control/mark: see mark.h.
 *
 * A marker goes into a ring as any program's event does, so the tool becomes such a program for it:
 * it attaches to the directory and writes through the runtime. One directory a process.
 */
#include "control/mark.h"

#include <errno.h>
#include <string.h>

#include <ringside/print.h>

#include "control/buffer.h"
#include "runtime/runtime.h"

/* Text of one record: what is longer takes several, as it does in the kernel. */
#define CHUNK 4000u
static_assert(CHUNK + 32 <= RUNTIME_RECORD_MAX, "a chunk is not cut");

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
	return control_end(control, r, err);
}

int control_mark(struct control *control, const char *text, size_t len, struct err *err)
{
	char chunk[CHUNK + 1];
	int r = prepare(control, err);

	if (r)
		return r;
	r = runtime_attach(control->dir.path);
	if (r && r != -EALREADY)
		return err_set(err, r, "cannot attach to %s: %s", control->dir.path, strerror(-r));
	while (len) {
		size_t n = len < CHUNK ? len : CHUNK;

		memcpy(chunk, text, n);
		chunk[n] = '\0';
		ringside_mark(chunk);
		text += n;
		len -= n;
	}
	return 0;
}
