/*
 * control/buffer: see buffer.h.
 */
#include "control/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/file.h"
#include "control/reclaim.h"
#include "control/sets.h"

#define READER_WAIT_MS 2000

static int make(struct control *control, const struct state_buffer *buffer, uint32_t npages,
		uint32_t page_size, const uint64_t *lost, struct state_set *set, struct err *err)
{
	const struct state_clock *before = buffer->live.offset ? &buffer->live.clock : NULL;

	return control_set_make(control, set, npages, page_size, before, lost, err);
}

int control_buffer_expand(struct control *control, struct state_buffer *buffer, struct err *err)
{
	if (buffer->live.offset)
		return 0;
	return make(control, buffer, buffer->npages, buffer->page_size, NULL, &buffer->live, err);
}

/*
 * Makes room among the retired sets: the oldest goes. Whoever is reading it gets time to come to its
 * end; what nobody reads is lost, for each CPU, and the next set's rings will tell so.
 */
static int push_out(struct control *control, struct state_buffer *buffer, uint64_t *lost,
		    struct err *err)
{
	struct timespec pause = { 0, 10000000 };
	struct state_set *oldest = &buffer->retired[0];
	int r = 0;

	for (int i = 0; i < READER_WAIT_MS / 10 && !control_set_consumed(control, oldest); i++) {
		if (!control_set_lock(control, oldest))
			break;
		nanosleep(&pause, NULL);
	}
	if (!control_set_consumed(control, oldest)) {
		r = control_set_lock(control, oldest);
		if (r)
			return err_set(err, -EBUSY, "the buffer is being read and the reader is too "
				       "far behind: try again later");
		/* What cannot be read cannot be counted either. */
		if (control_set_unread(control, oldest, lost))
			memset(lost, 0, control->dir.ncpu * sizeof(*lost));
	}
	r = control_limbo_add(control, oldest, err);
	if (r)
		return r;
	buffer->nretired--;
	memmove(&buffer->retired[0], &buffer->retired[1],
		buffer->nretired * sizeof(struct state_set));
	return 0;
}

/* A new live set; the one before is written no more but still to be read. */
static int replace(struct control *control, struct state_buffer *buffer, uint32_t npages,
		   struct err *err)
{
	uint64_t *lost = calloc(control->dir.ncpu, sizeof(*lost));
	struct state_set set;
	int r = 0;

	if (!lost)
		return err_set(err, -ENOMEM, "out of memory");
	if (buffer->nretired == STATE_RETIRED_MAX)
		r = push_out(control, buffer, lost, err);
	if (!r)
		r = make(control, buffer, npages, buffer->page_size, lost, &set, err);
	if (!r) {
		buffer->retired[buffer->nretired++] = buffer->live;
		buffer->live = set;
	}
	free(lost);
	return r;
}

int control_buffer_resize(struct control *control, struct state_buffer *buffer, uint64_t npages,
			  struct err *err)
{
	int r = 0;

	if (!npages || npages > RING_NPAGES_MAX)
		return err_set(err, -EINVAL, "a buffer can have %llu KiB a CPU at most",
			       (unsigned long long)control_kb_from_pages(RING_NPAGES_MAX,
									 buffer->page_size));
	if (npages < RING_NPAGES_MIN)
		npages = RING_NPAGES_MIN;
	if (buffer->live.offset && buffer->live.npages != npages)
		r = replace(control, buffer, (uint32_t)npages, err);
	if (!r)
		buffer->npages = (uint32_t)npages;
	return r;
}

static int give_up_retired(struct control *control, struct state_buffer *buffer, struct err *err)
{
	while (buffer->nretired) {
		int r = control_limbo_add(control, &buffer->retired[buffer->nretired - 1], err);

		if (r)
			return r;
		buffer->nretired--;
	}
	return 0;
}

/* A new live set instead of all that there is. */
static int renew(struct control *control, struct state_buffer *buffer, uint32_t npages,
		 uint32_t page_size, struct err *err)
{
	struct state_set set;
	int r;

	r = make(control, buffer, npages, page_size, NULL, &set, err);
	if (!r)
		r = give_up_retired(control, buffer, err);
	if (!r)
		r = control_limbo_add(control, &buffer->live, err);
	if (!r)
		buffer->live = set;
	return r;
}

int control_buffer_subbuf(struct control *control, struct state_buffer *buffer, uint32_t page_size,
			  struct err *err)
{
	uint64_t kb = control_kb_from_pages(buffer->npages, buffer->page_size);
	uint64_t npages;
	int r;

	if (!control_geometry_valid(RING_NPAGES_MIN, page_size))
		return err_set(err, -EINVAL, "a page has 4 to %u KiB, a power of two",
			       PAGE_SIZE_MAX / 1024);
	if (page_size == buffer->page_size)
		return 0;
	npages = control_pages_from_kb(kb, page_size);
	if (npages > RING_NPAGES_MAX)
		npages = RING_NPAGES_MAX;
	if (buffer->live.offset) {
		r = renew(control, buffer, (uint32_t)npages, page_size, err);
		if (r)
			return r;
	}
	buffer->npages = (uint32_t)npages;
	buffer->page_size = page_size;
	return 0;
}

int control_buffer_clear(struct control *control, struct state_buffer *buffer, struct err *err)
{
	if (!buffer->live.offset)
		return 0;
	return renew(control, buffer, buffer->npages, buffer->page_size, err);
}

int control_buffer_snapshot(struct control *control, struct state_buffer *buffer, struct err *err)
{
	struct state_set set;
	int r;

	r = make(control, buffer, buffer->npages, buffer->page_size, NULL, &set, err);
	if (!r)
		r = control_limbo_add(control, &buffer->snapshot, err);
	if (!r)
		r = give_up_retired(control, buffer, err);
	if (r)
		return r;
	buffer->snapshot = buffer->live;
	buffer->live = set;
	return 0;
}

int control_buffers_drop(struct control *control, struct err *err)
{
	struct control_state *state = &control->state;
	uint64_t data = rings_data_offset(control->dir.ncpu);
	struct state_limbo limbo;
	uint64_t size;
	int r;

	r = control_file_size(&control->dir, SEGMENT_RINGS, &size, err);
	if (r)
		return r;
	size = size < CONTROL_RINGS_MAX ? ring_align(size) : CONTROL_RINGS_MAX;
	state->nlimbo = 0;
	if (size > data)
		control_limbo_add_extent(control, data, size - data, NULL);
	limbo = state->limbo[0];
	size = state->nlimbo;
	control_state_default(state);
	state->limbo[0] = limbo;
	state->nlimbo = (uint32_t)size;
	return 0;
}
