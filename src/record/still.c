/*
 * record/still: see still.h.
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

struct still {
	struct control *control;
	struct state_buffer *buffers;
	size_t nr_buffers;
	uint32_t nr_cpus;
	struct stream **streams;	/* nr_cpus of each buffer */
	uint64_t from, to;		/* of the buffer at hand, by its clock */
	unsigned char *taken, *cut;	/* a page, and what is within the window of one */
	struct record_file *file;
	struct record_sums *sums;
};

static int put_page(struct still *still, size_t b, uint32_t cpu, const unsigned char *page, uint32_t size,
		    struct err *err)
{
	struct iovec iov = { (void *)(uintptr_t)page, size };

	record_file_write(still->file, b, cpu, &iov, 1);
	return record_file_accept(still->file, b, cpu, false, err);
}

/* The events of the page that are within the window. */
static int put_part(struct still *still, size_t b, uint32_t cpu, uint32_t size, uint64_t lost, struct err *err)
{
	struct page_event event;
	struct page_walk walk;
	struct build build;
	int r = page_walk_init(&walk, still->taken, size);

	build_begin(&build, still->cut, size);
	while (!r && page_walk_next(&walk, &event) > 0)
		if (event.ts >= still->from && event.ts <= still->to &&
		    !build_add(&build, event.ts, event.data, event.len, 0))
			r = -EMSGSIZE;
	if (r)
		return err_set(err, r, "a page of cpu %u cannot be cut: %s", cpu, strerror(-r));
	build_end(&build, lost);
	still->sums->events += build.events;
	return build.events ? put_page(still, b, cpu, still->cut, size, err) : 0;
}

static int put_cpu(struct still *still, size_t b, uint32_t cpu, struct err *err)
{
	struct stream *stream = still->streams[b * still->nr_cpus + cpu];
	uint32_t size = stream_page_size(stream);
	struct stream_page info;
	int r;

	while ((r = stream_next(stream, still->taken, &info)) > 0 && info.first_ts <= still->to) {
		if (info.last_ts < still->from)
			continue;
		still->sums->lost += info.lost;
		still->sums->lost_more |= info.lost_more;
		if (info.first_ts < still->from || info.last_ts > still->to) {
			r = put_part(still, b, cpu, size, info.lost, err);
		} else {
			still->sums->events += info.events;
			r = put_page(still, b, cpu, still->taken, size, err);
		}
		if (r)
			return r;
	}
	return r < 0 ? err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r)) : 0;
}

/* By the buffer's own clock: what was asked is by that of the first. */
static void set_window(struct still *still, size_t b, const struct record_clock *clocks,
		       const struct record_window *window)
{
	const struct state_buffer *buffer = &still->buffers[b];
	uint64_t now = control_clock_now(&buffer->live.clock, &still->control->dir), span;

	still->from = 0;
	still->to = now;
	if (window->moment && clocks[b].id == clocks[0].id)
		now = window->moment;
	span = record_clock_counts(&clocks[b], window->before_ns);
	if (window->before_ns != UINT64_MAX)
		still->from = span < now ? now - span : 0;
	span = record_clock_counts(&clocks[b], window->after_ns);
	if (window->after_ns != UINT64_MAX && now + span >= now && now + span < still->to)
		still->to = now + span;
}

static int look(struct still *still, const struct record_how *how, bool snapshot, struct err *err)
{
	for (size_t b = 0; b < how->nr_buffers; b++) {
		const char *name = how->buffers[b].instance;
		int place = control_state_buffer(&still->control->state, name);

		if (place < 0)
			return err_set(err, -ENOENT, "there is no instance %s", name);
		still->buffers[b] = still->control->state.buffers[place];
		if (!snapshot)
			continue;
		still->buffers[b].live = still->buffers[b].snapshot;
		still->buffers[b].nretired = 0;
	}
	return 0;
}

static int open_streams(struct still *still, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < still->nr_buffers * still->nr_cpus; i++)
		r = stream_open(&still->streams[i], still->control->dir.fd[SEGMENT_RINGS],
				&still->buffers[i / still->nr_cpus], still->nr_cpus, (uint32_t)(i % still->nr_cpus),
				false, err);
	return r;
}

static int make_file(struct still *still, const struct record_how *how, struct record_clock *clocks, struct err *err)
{
	uint32_t *sizes = calloc(how->nr_buffers, sizeof(*sizes)), largest = 0;
	int r = sizes ? 0 : err_set(err, -ENOMEM, "out of memory");

	for (size_t b = 0; !r && b < how->nr_buffers; b++) {
		sizes[b] = stream_page_size(still->streams[b * still->nr_cpus]);
		largest = sizes[b] > largest ? sizes[b] : largest;
		record_clock_init(&clocks[b], still->control, still->buffers[b].clock);
	}
	still->taken = malloc(largest + 1);
	still->cut = malloc(largest + 1);
	if (!r && (!still->taken || !still->cut))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = record_file_open(&still->file, how, sizes, still->nr_cpus, clocks, err);
	free(sizes);
	return r;
}

static int fill(struct still *still, const struct record_clock *clocks, const struct record_window *window,
		struct err *err)
{
	int r = 0;

	for (size_t b = 0; !r && b < still->nr_buffers; b++) {
		set_window(still, b, clocks, window);
		for (uint32_t cpu = 0; !r && cpu < still->nr_cpus; cpu++)
			r = put_cpu(still, b, cpu, err);
	}
	return r;
}

static void still_fini(struct still *still)
{
	for (size_t i = 0; still->streams && i < still->nr_buffers * still->nr_cpus; i++)
		stream_close(still->streams[i]);
	record_file_close(still->file);
	free(still->streams);
	free(still->buffers);
	free(still->taken);
	free(still->cut);
}

int record_still(const struct record_how *how, const struct record_window *window, bool snapshot,
		 struct record_sums *sums, struct err *err)
{
	struct still still = { .control = source_control(how->source), .nr_buffers = how->nr_buffers, .sums = sums };
	struct record_clock *clocks = calloc(how->nr_buffers, sizeof(*clocks));
	int r = control_refresh(still.control, err), end;

	*sums = (struct record_sums){ 0 };
	still.nr_cpus = still.control->dir.ncpu;
	still.buffers = calloc(how->nr_buffers, sizeof(*still.buffers));
	still.streams = calloc(how->nr_buffers * still.nr_cpus, sizeof(*still.streams));
	if (!r && (!clocks || !still.buffers || !still.streams))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = look(&still, how, snapshot, err);
	if (!r)
		r = open_streams(&still, err);
	if (!r)
		r = make_file(&still, how, clocks, err);
	if (!r) {
		r = fill(&still, clocks, window, err);
		end = record_file_finish(still.file, err);
		r = r ? r : end;
		sums->bytes = record_file_bytes(still.file);
	}
	still_fini(&still);
	free(clocks);
	return r;
}
