/*
 * control/buffer: see buffer.h.
 */
#include "control/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/clock.h"
#include "control/file.h"
#include "control/items.h"
#include "control/reclaim.h"
#include "control/rules.h"
#include "control/sets.h"
#include "control/space.h"

#define READER_WAIT_MS 2000

/* The clock to go on from: this buffer's, or one of another that shows the same time. */
static const struct state_clock *clock_before(const struct control *control,
					      const struct state_buffer *buffer)
{
	const struct control_state *state = &control->state;

	if (buffer->live.offset)
		return &buffer->live.clock;
	for (uint32_t i = 0; i < state->nbuffers; i++)
		if (state->buffers[i].live.offset &&
		    state->buffers[i].live.clock.flags & TRACE_CLOCK_BY_COUNTER)
			return &state->buffers[i].live.clock;
	return NULL;
}

/* A set as the buffer says. `cpus`, for each CPU its pages, comes before what all of them have. */
static int make(struct control *control, const struct state_buffer *buffer, const uint32_t *cpus,
		const uint64_t *lost, struct state_set *set, struct err *err)
{
	struct control_set_plan plan = {
		.npages = buffer->npages,
		.page_size = buffer->page_size,
		.clock = buffer->clock,
		.cpu_npages = cpus,
		.before = clock_before(control, buffer),
		.lost = lost,
	};

	for (uint32_t cpu = 0; cpus && cpu < control->dir.ncpu; cpu++)
		if (!cpu || cpus[cpu] > plan.npages)
			plan.npages = cpus[cpu];
	return control_set_make(control, set, &plan, err);
}

int control_buffer_expand(struct control *control, struct state_buffer *buffer, struct err *err)
{
	if (buffer->live.offset)
		return 0;
	return make(control, buffer, NULL, NULL, &buffer->live, err);
}

/* The first of the retired sets goes. */
static int drop_oldest(struct control *control, struct state_buffer *buffer, struct err *err)
{
	int r = control_limbo_add(control, &buffer->retired[0], err);

	if (r)
		return r;
	buffer->nretired--;
	memmove(&buffer->retired[0], &buffer->retired[1], buffer->nretired * sizeof(struct state_set));
	return 0;
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
		/* Who has taken out everything tells of the last losses with its next page, which may never come. */
		if (r && !control_set_emptied(control, oldest))
			return err_set(err, -EBUSY, "the buffer is being read and the reader is too "
				       "far behind: try again later");
		/* What cannot be read cannot be counted either. */
		if (control_set_unread(control, oldest, lost))
			memset(lost, 0, control->dir.ncpu * sizeof(*lost));
	}
	return drop_oldest(control, buffer, err);
}

/* A new live set; the one before is written no more but still to be read. */
static int replace(struct control *control, struct state_buffer *buffer, const uint32_t *cpus,
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
		r = make(control, buffer, cpus, lost, &set, err);
	if (!r) {
		buffer->retired[buffer->nretired++] = buffer->live;
		buffer->live = set;
	}
	free(lost);
	return r;
}

/* Pages of each CPU if they are not all the same; the caller frees them. NULL otherwise. */
static uint32_t *shape(const struct control *control, const struct state_buffer *buffer)
{
	uint32_t *cpus = calloc(control->dir.ncpu, sizeof(*cpus));

	if (cpus && buffer->live.offset && control_set_shape(control, &buffer->live, cpus))
		return cpus;
	free(cpus);
	return NULL;
}

static int check_npages(const struct state_buffer *buffer, uint64_t *npages, struct err *err)
{
	if (!*npages || *npages > RING_NPAGES_MAX)
		return err_set(err, -EINVAL, "a buffer can have %llu KiB a CPU at most",
			       (unsigned long long)control_kb_from_pages(RING_NPAGES_MAX,
									 buffer->page_size));
	if (*npages < RING_NPAGES_MIN)
		*npages = RING_NPAGES_MIN;
	return 0;
}

int control_buffer_resize(struct control *control, struct state_buffer *buffer, uint64_t npages,
			  struct err *err)
{
	uint32_t before = buffer->npages;
	uint32_t *cpus;
	int r = check_npages(buffer, &npages, err);

	if (r)
		return r;
	cpus = shape(control, buffer);
	buffer->npages = (uint32_t)npages;
	if (buffer->live.offset && (cpus || buffer->live.npages != npages))
		r = replace(control, buffer, NULL, err);
	if (r)
		buffer->npages = before;
	free(cpus);
	return r;
}

int control_buffer_resize_cpu(struct control *control, struct state_buffer *buffer, uint32_t cpu,
			      uint64_t npages, struct err *err)
{
	uint32_t *cpus;
	int r = check_npages(buffer, &npages, err);

	if (!r)
		r = control_buffer_expand(control, buffer, err);
	if (r)
		return r;
	cpus = calloc(control->dir.ncpu, sizeof(*cpus));
	if (!cpus)
		return err_set(err, -ENOMEM, "out of memory");
	control_set_shape(control, &buffer->live, cpus);
	if (cpus[cpu] != npages) {
		cpus[cpu] = (uint32_t)npages;
		r = replace(control, buffer, cpus, err);
	}
	/* All alike again: that is the buffer's size from now on. */
	if (!r && !control_set_shape(control, &buffer->live, cpus))
		buffer->npages = (uint32_t)npages;
	free(cpus);
	return r;
}

uint64_t control_buffer_cpu_npages(const struct control *control, const struct state_buffer *buffer,
				   uint32_t cpu)
{
	uint32_t *cpus = shape(control, buffer);
	uint64_t npages = cpus ? cpus[cpu] : buffer->npages;

	free(cpus);
	return npages;
}

bool control_buffer_cpus_differ(const struct control *control, const struct state_buffer *buffer)
{
	uint32_t *cpus = shape(control, buffer);

	free(cpus);
	return cpus != NULL;
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

/* A new live set, as the buffer says by now, instead of all that there is. */
static int renew(struct control *control, struct state_buffer *buffer, struct err *err)
{
	uint32_t *cpus = buffer->page_size == buffer->live.page_size ? shape(control, buffer) : NULL;
	struct state_set set;
	int r;

	r = make(control, buffer, cpus, NULL, &set, err);
	if (!r)
		r = give_up_retired(control, buffer, err);
	if (!r)
		r = control_limbo_add(control, &buffer->live, err);
	if (!r) {
		buffer->live = set;
		buffer->cleared = control_clock_now(&set.clock, &control->dir);
	}
	free(cpus);
	return r;
}

int control_buffer_subbuf(struct control *control, struct state_buffer *buffer, uint32_t page_size,
			  struct err *err)
{
	uint64_t kb = control_kb_from_pages(buffer->npages, buffer->page_size);
	uint64_t npages;
	int r = 0;

	if (!control_geometry_valid(RING_NPAGES_MIN, page_size))
		return err_set(err, -EINVAL, "a page has 4 to %u KiB, a power of two",
			       PAGE_SIZE_MAX / 1024);
	if (page_size == buffer->page_size)
		return 0;
	npages = control_pages_from_kb(kb, page_size);
	buffer->npages = (uint32_t)(npages < RING_NPAGES_MAX ? npages : RING_NPAGES_MAX);
	buffer->page_size = page_size;
	if (buffer->live.offset)
		r = renew(control, buffer, err);
	/* A snapshot of pages of another size would be no second buffer for this one. */
	if (!r && buffer->snapshot.offset)
		r = control_limbo_add(control, &buffer->snapshot, err);
	return r;
}

int control_buffer_clock(struct control *control, struct state_buffer *buffer, uint32_t id,
			 struct err *err)
{
	int r = 0;

	if (buffer->clock == id)
		return 0;
	buffer->clock = id;
	if (buffer->live.offset)
		r = renew(control, buffer, err);
	/* Times of two clocks do not compare. */
	if (!r && buffer->snapshot.offset)
		r = control_buffer_snapshot_clear(control, buffer, err);
	return r;
}

int control_buffer_overwrite(struct control *control, struct state_buffer *buffer, bool on,
			     struct err *err)
{
	uint32_t before = buffer->flags;
	uint32_t *cpus;
	int r = 0;

	if (!(before & BUFFER_OVERWRITE) == !on)
		return 0;
	buffer->flags ^= BUFFER_OVERWRITE;
	/* A ring in which events were overwritten has no place for those who wait for its reader. */
	if (buffer->live.offset) {
		cpus = shape(control, buffer);
		r = replace(control, buffer, cpus, err);
		free(cpus);
	}
	return r;
}

int control_buffer_clear(struct control *control, struct state_buffer *buffer, struct err *err)
{
	if (!buffer->live.offset)
		return 0;
	return renew(control, buffer, err);
}

int control_buffer_turn(struct control *control, struct state_buffer *buffer, uint32_t keep, struct err *err)
{
	uint32_t *cpus = shape(control, buffer);
	int r = control_buffer_expand(control, buffer, err);

	while (!r && buffer->nretired > keep)
		r = drop_oldest(control, buffer, err);
	if (!r)
		r = replace(control, buffer, cpus, err);
	free(cpus);
	return r;
}

/* All retired sets go. Adds what is lost with them, for each CPU, to `sum`. */
static int push_out_all(struct control *control, struct state_buffer *buffer, uint64_t *sum,
			struct err *err)
{
	uint32_t ncpu = control->dir.ncpu;
	uint64_t *lost = calloc(ncpu, sizeof(*lost));
	int r = lost ? 0 : err_set(err, -ENOMEM, "out of memory");

	while (!r && buffer->nretired) {
		memset(lost, 0, ncpu * sizeof(*lost));
		r = push_out(control, buffer, lost, err);
		for (uint32_t cpu = 0; cpu < ncpu; cpu++)
			sum[cpu] += lost[cpu];
	}
	free(lost);
	return r;
}

int control_buffer_snapshot(struct control *control, struct state_buffer *buffer, struct err *err)
{
	uint32_t *cpus = shape(control, buffer);
	uint64_t *lost = calloc(control->dir.ncpu, sizeof(*lost));
	struct state_set set;
	int r = lost ? 0 : err_set(err, -ENOMEM, "out of memory");

	/* There is room for one set in a snapshot: what older ones held is lost, and the next events tell so. */
	if (!r)
		r = push_out_all(control, buffer, lost, err);
	if (!r)
		r = make(control, buffer, cpus, lost, &set, err);
	free(cpus);
	free(lost);
	if (!r)
		r = control_limbo_add(control, &buffer->snapshot, err);
	if (r)
		return r;
	buffer->snapshot = buffer->live;
	buffer->live = set;
	/* Nothing was recorded yet: an empty buffer is what was swapped out. */
	if (!buffer->snapshot.offset)
		return make(control, buffer, NULL, NULL, &buffer->snapshot, err);
	return 0;
}

int control_buffer_snapshot_clear(struct control *control, struct state_buffer *buffer,
				  struct err *err)
{
	int r = control_limbo_add(control, &buffer->snapshot, err);

	return r ? r : make(control, buffer, NULL, NULL, &buffer->snapshot, err);
}

int control_buffer_snapshot_free(struct control *control, struct state_buffer *buffer,
				 struct err *err)
{
	return control_limbo_add(control, &buffer->snapshot, err);
}

/* Of the same clock, and of the same pages on each CPU. */
static bool is_like(const struct control *control, const struct state_set *a, const struct state_set *b)
{
	uint32_t *cpus = calloc(2 * (size_t)control->dir.ncpu, sizeof(*cpus));
	bool same = cpus && a->npages == b->npages && a->page_size == b->page_size &&
		    !memcmp(&a->clock, &b->clock, sizeof(a->clock));

	if (same) {
		control_set_shape(control, a, cpus);
		control_set_shape(control, b, cpus + control->dir.ncpu);
		same = !memcmp(cpus, cpus + control->dir.ncpu, control->dir.ncpu * sizeof(*cpus));
	}
	free(cpus);
	return same;
}

int control_buffer_spares(struct control *control, struct state_buffer *buffer, struct err *err)
{
	uint32_t *cpus;
	int r = control_buffer_expand(control, buffer, err);

	if (!r && buffer->nspares && !is_like(control, &buffer->spares[0], &buffer->live))
		r = control_buffer_spares_free(control, buffer, err);
	cpus = shape(control, buffer);
	while (!r && buffer->nspares < STATE_SPARES) {
		r = make(control, buffer, cpus, NULL, &buffer->spares[buffer->nspares], err);
		if (r)
			break;
		/* Times go on as they were: one clock for all of them. */
		buffer->spares[buffer->nspares++].clock = buffer->live.clock;
	}
	free(cpus);
	return r;
}

int control_buffer_spares_free(struct control *control, struct state_buffer *buffer,
			       struct err *err)
{
	int r = 0;

	while (buffer->nspares && !r) {
		r = control_limbo_add(control, &buffer->spares[buffer->nspares - 1], err);
		buffer->nspares -= !r;
	}
	return r;
}

static bool is_name(const char *name)
{
	if (!*name || *name == '.' || strlen(name) > STATE_NAME_MAX)
		return false;
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == '/' || *name == 0x7f)
			return false;
	return true;
}

int control_buffer_add(struct control *control, const char *name, struct err *err)
{
	struct control_state *state = &control->state;
	uint32_t place = 1;

	if (control_state_buffer(state, name) >= 0)
		return err_set(err, -EEXIST, "there is an instance '%s' already", name);
	if (!is_name(name))
		return err_set(err, -EINVAL, "'%.80s' is no name for an instance: 1 to %d characters "
			       "without blanks, and no dot in front", name, STATE_NAME_MAX);
	while (place < state->nbuffers && state->buffers[place].born)
		place++;
	if (place == STATE_BUFFERS_MAX)
		return err_set(err, -ENOSPC, "there are %d instances, and there can be no more",
			       STATE_BUFFERS_MAX - 1);
	control_buffer_default(&state->buffers[place], control_state_generation(state) + 1);
	strcpy(state->buffers[place].name, name);
	/* As in the kernel, but for what only the top one has. */
	if (place == state->nbuffers)
		state->nbuffers++;
	return 0;
}

/* Nobody takes events out of any of its sets, and nobody will until the transaction ends. */
static bool is_unread(const struct control *control, const struct state_buffer *buffer)
{
	bool free = !buffer->live.offset || !control_set_lock(control, &buffer->live);

	free = free && (!buffer->snapshot.offset || !control_set_lock(control, &buffer->snapshot));
	for (uint32_t i = 0; free && i < buffer->nretired; i++)
		free = !control_set_lock(control, &buffer->retired[i]);
	return free;
}

bool control_buffer_is_read(const struct control *control, const struct state_buffer *buffer)
{
	return !is_unread(control, buffer);
}

int control_buffer_remove(struct control *control, uint32_t place, struct err *err)
{
	struct control_state *state = &control->state;
	struct state_buffer *buffer = &state->buffers[place];
	int r;

	if (!is_unread(control, buffer))
		return err_set(err, -EBUSY, "its events are being read: end the reader first");
	r = give_up_retired(control, buffer, err);
	if (!r)
		r = control_limbo_add(control, &buffer->live, err);
	if (!r)
		r = control_limbo_add(control, &buffer->snapshot, err);
	if (!r)
		r = control_buffer_spares_free(control, buffer, err);
	if (!r)
		r = control_items_drop_buffer(control, place, err);
	if (r)
		return r;
	control_rules_clear(state, place);
	control_state_funcs_clear(state, place, 0);
	for (uint32_t kind = STATE_PID_ONLY; kind <= STATE_PID_FUNC_NOT; kind++)
		control_state_pids_clear(state, place, kind);
	memset(buffer, 0, sizeof(*buffer));
	while (!state->buffers[state->nbuffers - 1].born)
		state->nbuffers--;
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
	control_space_drop(control);
	state->limbo[0] = limbo;
	state->nlimbo = (uint32_t)size;
	return 0;
}
