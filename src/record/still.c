/*
 * record/still: see still.h.
 *
 *	ring   | page | page | page | page | ... being written
 *	            from |..............| to
 *	file          |part| page | part|
 *
 * Nothing is locked: after each page it is made sure that its rings are still in force. If not, all of it is done anew.
 */
#include "record/still.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/build.h"
#include "capture/stream.h"
#include "control/clock.h"
#include "decode/page.h"
#include "record/clock.h"
#include "record/file.h"

#define TRIES 5
/* A thread that is interrupted between two buffers comes back within that. */
#define APART_NS 5000000000u

struct buffer {
	struct state_buffer shown;	/* as the streams see it */
	struct record_clock clock;
	struct stream **streams;	/* one a CPU */
	uint32_t page_size;
	uint64_t now;			/* by its clock, when it was looked at */
	uint64_t from, to;
};

struct still {
	const struct record_how *how;
	struct control *control;
	struct buffer *buffers;
	uint32_t nr_cpus;
	bool snapshot;
	unsigned char *taken, *cut;	/* a page, and what is within the window of one */
	struct record_file *file;
	struct record_still_sums *sums;
};

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static const char *name_of(const struct still *still, size_t b)
{
	return *still->how->buffers[b].instance ? still->how->buffers[b].instance : "the top buffer";
}

/* ---- what is there ---- */

static int find(const struct still *still, size_t b, struct state_buffer *found, struct err *err)
{
	int place = control_state_buffer(&still->control->state, still->how->buffers[b].instance);

	if (place < 0)
		return err_set(err, -ENOENT, "there is no instance %s", still->how->buffers[b].instance);
	*found = still->control->state.buffers[place];
	if (!still->snapshot)
		return 0;
	if (!found->snapshot.offset)
		return err_set(err, -ENOENT, "nothing of %s was set aside: `ringside snapshot -s` does that",
			       name_of(still, b));
	found->live = found->snapshot;
	found->nretired = 0;
	return 0;
}

static int look(struct still *still, struct err *err)
{
	int r = control_refresh(still->control, err);

	for (size_t b = 0; !r && b < still->how->nr_buffers; b++) {
		struct buffer *buffer = &still->buffers[b];

		r = find(still, b, &buffer->shown, err);
		record_clock_init(&buffer->clock, still->control, buffer->shown.clock);
	}
	/* Behind one another, without anything that takes a while in between. */
	for (size_t b = 0; !r && b < still->how->nr_buffers; b++)
		still->buffers[b].now = control_clock_now(&still->buffers[b].shown.live.clock, &still->control->dir);
	return r;
}

static int open_streams(struct still *still, struct buffer *buffer, struct err *err)
{
	int r = 0;

	buffer->streams = calloc(still->nr_cpus, sizeof(struct stream *));
	if (!buffer->streams)
		return out_of_memory(err);
	for (uint32_t cpu = 0; !r && cpu < still->nr_cpus; cpu++)
		r = stream_open(&buffer->streams[cpu], still->control->dir.fd[SEGMENT_RINGS], &buffer->shown,
				still->nr_cpus, cpu, false, err);
	if (!r)
		buffer->page_size = stream_page_size(buffer->streams[0]);
	return r;
}

static bool has_set(const struct state_buffer *buffer, const struct state_set *set)
{
	bool found = !set->offset || (set->offset == buffer->live.offset && set->generation == buffer->live.generation);

	for (uint32_t i = 0; i < buffer->nretired && !found; i++)
		found = set->offset == buffer->retired[i].offset && set->generation == buffer->retired[i].generation;
	return found;
}

/* Rings that were given up may hold anything by the time they are read: -EAGAIN. */
static int check(struct still *still, struct err *err)
{
	int r = 0;

	if (control_current(still->control))
		return 0;
	r = control_refresh(still->control, err);
	for (size_t b = 0; !r && b < still->how->nr_buffers; b++) {
		const struct state_buffer *before = &still->buffers[b].shown;
		struct state_buffer now;
		bool same = !find(still, b, &now, NULL) && now.born == before->born && has_set(&now, &before->live);

		for (uint32_t i = 0; same && i < before->nretired; i++)
			same = has_set(&now, &before->retired[i]);
		if (!same)
			r = -EAGAIN;
	}
	return r;
}

/* ---- the window ---- */

static void set_window(struct still *still, size_t b, const struct record_window *window)
{
	const struct buffer *first = &still->buffers[0];
	struct buffer *buffer = &still->buffers[b];
	const struct record_clock *clock = &buffer->clock;
	uint64_t moment = buffer->now, age, span;

	buffer->from = 0;
	buffer->to = buffer->now;
	if (!record_clock_is_time(clock))
		return;
	/* The moment is by the first one's clock; another shows it as long ago. */
	if (window->moment && clock->id == first->clock.id) {
		moment = window->moment;
	} else if (window->moment && window->moment < first->now && record_clock_is_time(&first->clock)) {
		age = record_clock_counts(clock, record_clock_span(&first->clock, first->now - window->moment));
		moment -= age < moment ? age : moment;
	}
	span = record_clock_counts(clock, window->before_ns);
	if (window->before_ns != UINT64_MAX)
		buffer->from = span < moment ? moment - span : 0;
	span = record_clock_counts(clock, window->after_ns);
	if (window->after_ns != UINT64_MAX && moment < buffer->to && span < buffer->to - moment)
		buffer->to = moment + span;
}

/* ---- pages ---- */

static int put_page(struct still *still, size_t b, uint32_t cpu, const unsigned char *page, struct err *err)
{
	struct iovec iov = { (void *)(uintptr_t)page, still->buffers[b].page_size };

	/* What goes wrong is told by the next call. */
	record_file_write(still->file, b, cpu, &iov, 1);
	return record_file_accept(still->file, b, cpu, false, err);
}

/* The events of the page that are within the window. */
static int put_part(struct still *still, size_t b, uint32_t cpu, uint64_t lost, struct err *err)
{
	const struct buffer *buffer = &still->buffers[b];
	struct page_event event;
	struct page_walk walk;
	struct build build;
	int r = page_walk_init(&walk, still->taken, buffer->page_size);

	build_begin(&build, still->cut, buffer->page_size);
	while (!r && page_walk_next(&walk, &event) > 0)
		if (event.ts >= buffer->from && event.ts <= buffer->to &&
		    !build_add(&build, event.ts, event.data, event.len, 0))
			r = -EMSGSIZE;
	if (r)
		return err_set(err, r, "a page of cpu %u cannot be cut: %s", cpu, strerror(-r));
	build_end(&build, lost);
	still->sums->events += build.events;
	return build.events ? put_page(still, b, cpu, still->cut, err) : 0;
}

static int put_cpu(struct still *still, size_t b, uint32_t cpu, struct err *err)
{
	struct buffer *buffer = &still->buffers[b];
	struct record_still_sums *sums = still->sums;
	struct stream_page info;
	bool first = true;
	int r, checked;

	for (; (r = stream_next(buffer->streams[cpu], still->taken, &info)) > 0; first = false) {
		checked = check(still, err);
		if (checked)
			return checked;
		if (info.first_ts > buffer->to)
			return 0;
		if (info.last_ts < buffer->from)
			continue;
		/* What is missing before an event that is too early is no loss. */
		if (info.first_ts < buffer->from) {
			r = put_part(still, b, cpu, 0, err);
		} else {
			*(first ? &sums->overwritten : &sums->lost) += info.lost;
			sums->lost_more |= info.lost_more;
			sums->events += info.last_ts <= buffer->to ? info.events : 0;
			r = info.last_ts > buffer->to ? put_part(still, b, cpu, info.lost, err)
						      : put_page(still, b, cpu, still->taken, err);
		}
		if (r)
			return r;
	}
	return r < 0 ? err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r)) : 0;
}

/* ---- the file ---- */

static int make_file(struct still *still, struct err *err)
{
	size_t n = still->how->nr_buffers;
	uint32_t *sizes = calloc(n, sizeof(*sizes)), largest = 0;
	struct record_clock *clocks = calloc(n, sizeof(*clocks));
	int r = sizes && clocks ? 0 : out_of_memory(err);

	for (size_t b = 0; !r && b < n; b++) {
		sizes[b] = still->buffers[b].page_size;
		clocks[b] = still->buffers[b].clock;
		largest = sizes[b] > largest ? sizes[b] : largest;
		if (still->how->version == 6 && sizes[b] != sizes[0])
			r = err_set(err, -EINVAL, "pages of %s have another size than those of %s, which version 6 of "
				    "the file has no place for", name_of(still, b), name_of(still, 0));
	}
	still->taken = malloc(largest + 1);
	still->cut = malloc(largest + 1);
	if (!r && (!still->taken || !still->cut))
		r = out_of_memory(err);
	if (!r)
		r = record_file_open(&still->file, still->how, sizes, still->nr_cpus, clocks, NULL, err);
	free(clocks);
	free(sizes);
	return r;
}

static int fill(struct still *still, const struct record_window *window, struct err *err)
{
	const struct buffer *first = &still->buffers[0];
	int r = 0, end;

	still->sums->moment = record_clock_shown(&first->clock, window->moment ? window->moment : first->now) +
			      (uint64_t)still->how->ts_offset;
	for (size_t b = 0; !r && b < still->how->nr_buffers; b++) {
		set_window(still, b, window);
		for (uint32_t cpu = 0; !r && cpu < still->nr_cpus; cpu++)
			r = put_cpu(still, b, cpu, err);
	}
	if (r == -EAGAIN)
		return r;
	end = record_file_finish(still->file, err);
	still->sums->bytes = record_file_bytes(still->file);
	return r ? r : end;
}

static void close_streams(const struct still *still, struct buffer *buffer)
{
	for (uint32_t cpu = 0; buffer->streams && cpu < still->nr_cpus; cpu++)
		stream_close(buffer->streams[cpu]);
	free(buffer->streams);
}

static void still_fini(struct still *still)
{
	for (size_t b = 0; still->buffers && b < still->how->nr_buffers; b++)
		close_streams(still, &still->buffers[b]);
	record_file_close(still->file);
	free(still->buffers);
	free(still->taken);
	free(still->cut);
}

static int try(const struct record_how *how, const struct record_window *window, bool snapshot,
	       struct record_still_sums *sums, struct err *err)
{
	struct still still = {
		.how = how,
		.control = source_control(how->buffers[0].source),
		.buffers = calloc(how->nr_buffers, sizeof(*still.buffers)),
		.snapshot = snapshot,
		.sums = sums,
	};
	int r = still.buffers ? look(&still, err) : out_of_memory(err);

	*sums = (struct record_still_sums){ 0 };
	still.nr_cpus = still.control->dir.ncpu;
	for (size_t b = 0; !r && b < how->nr_buffers; b++)
		r = open_streams(&still, &still.buffers[b], err);
	if (!r)
		r = make_file(&still, err);
	if (!r)
		r = fill(&still, window, err);
	still_fini(&still);
	return r;
}

int record_still(const struct record_how *how, const struct record_window *window, bool snapshot,
		 struct record_still_sums *sums, struct err *err)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < TRIES; i++)
		r = try(how, window, snapshot, sums, err);
	return r == -EAGAIN ? err_set(err, r, "somebody empties the buffers again and again while they are read") : r;
}

/* ---- one event ---- */

struct sought {
	const void *record;
	size_t len;
	uint64_t from, to;
	uint64_t found;		/* 0: not yet */
};

static void search_page(struct sought *sought, const void *page, uint32_t size)
{
	struct page_event event;
	struct page_walk walk;

	if (page_walk_init(&walk, page, size))
		return;
	while (page_walk_next(&walk, &event) > 0 && event.ts <= sought->to)
		if (event.ts >= sought->from && event.ts > sought->found && event.len == sought->len &&
		    !memcmp(event.data, sought->record, event.len))
			sought->found = event.ts;
}

static int search(struct still *still, struct sought *sought, struct err *err)
{
	struct buffer *buffer = &still->buffers[0];
	uint64_t apart;
	int r = look(still, err);

	if (!r)
		r = open_streams(still, buffer, err);
	still->taken = r ? NULL : malloc(buffer->page_size);
	if (!still->taken)
		return r ? r : out_of_memory(err);
	apart = record_clock_counts(&buffer->clock, APART_NS);
	sought->from = record_clock_is_time(&buffer->clock) && apart < sought->to ? sought->to - apart : 0;
	for (uint32_t cpu = 0; !r && cpu < still->nr_cpus; cpu++) {
		struct stream_page info;

		while (!r && stream_next(buffer->streams[cpu], still->taken, &info) > 0 && info.first_ts <= sought->to) {
			r = check(still, err);
			if (!r && info.last_ts >= sought->from)
				search_page(sought, still->taken, buffer->page_size);
		}
	}
	return r;
}

uint64_t record_still_time(struct control *control, const char *instance, const void *record, size_t len, uint64_t ts)
{
	struct record_buffer one = { .instance = instance, .name = "" };
	struct record_how how = { .buffers = &one, .nr_buffers = 1 };
	struct buffer buffer = { .page_size = 0 };
	struct still still = { .how = &how, .control = control, .buffers = &buffer, .nr_cpus = control->dir.ncpu };
	struct sought sought = { .record = record, .len = len, .to = ts };
	int r = search(&still, &sought, NULL);

	still.buffers = NULL;
	close_streams(&still, &buffer);
	still_fini(&still);
	return !r && sought.found ? sought.found : ts;
}
