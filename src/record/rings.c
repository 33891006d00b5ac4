/*
 * record/rings: the taps of a tracing directory. See tap.h.
 *
 *   ring   closed pages ----------- stream_run, one copy at most ---------- file
 *          gaps, open page, records of overflow rings ---- stream_next ---- record.c
 *
 * Beside a kernel that numbers ftrace's own records otherwise, each page is copied, and its records get their numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/page.h"
#include "layout/page.h"
#include "record/tap.h"

/* Memory that is given to rings before anybody writes to them. */
#define BACKED_BYTES (128ull << 20)

/* ---- following the directory ---- */

static const struct state_buffer *find_buffer(struct record *record, const struct tap *tap)
{
	const struct control_state *state = &record->control->state;
	int place = control_state_buffer(state, tap->instance);

	return place >= 0 && (!tap->born || state->buffers[place].born == tap->born) ? &state->buffers[place] : NULL;
}

static int tell_streams(struct record *record, struct tap *tap, struct err *err)
{
	const struct state_buffer *buffer = find_buffer(record, tap);
	int r = 0;

	if (!buffer)
		return err_set(err, -ENODEV, "the instance %s is gone", tap->instance);
	for (uint32_t cpu = 0; !r && cpu < record->control->dir.ncpu; cpu++)
		r = stream_update(tap->lanes[cpu].stream, buffer, err);
	for (uint32_t cpu = 0; !r && cpu < record->control->dir.ncpu; cpu++)
		if (stream_page_size(tap->lanes[cpu].stream) != tap->page_size)
			r = err_set(err, -EINVAL, "pages of %s have another size than when the recording began",
				    *tap->instance ? tap->instance : "the buffer");
	tap->published = record->control->state.published;
	return r;
}

/* Consumers lock first and look then: the state they were told must still be in force. */
int record_rings_follow(struct record *record, struct err *err)
{
	struct control *control = record->control;
	int r = 0;

	for (int i = 0; !r && i < 100; i++) {
		bool told = control_current(control);

		if (!told)
			r = control_refresh(control, err);
		for (size_t t = 0; !r && t < record->nr_taps; t++) {
			if (record->taps[t].kind != &tap_rings || record->taps[t].published == control->state.published)
				continue;
			told = false;
			r = tell_streams(record, &record->taps[t], err);
		}
		if (!r && told)
			return 0;
	}
	return r ? r : err_set(err, -EBUSY, "the buffers change too often to be recorded");
}

/* ---- pages ---- */

static int run(struct record *record, size_t t, uint32_t cpu, bool *idle, struct err *err)
{
	struct tap *tap = &record->taps[t];
	struct lane *lane = &tap->lanes[cpu];
	struct stream_run run;
	struct iovec iov;
	int r = 0;

	*idle = !lane->stream;
	if (!lane->stream || record_file_ids(record->file))
		return 0;
	r = stream_run(lane->stream, record_most_pages(record, tap), &run);
	*idle = !r && run.idle;
	if (r <= 0)
		return r ? err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r)) : 0;
	r = record_end_gather(record, t, cpu, err);
	if (r)
		return r;
	iov = (struct iovec){ (void *)(uintptr_t)run.pages, (size_t)run.n * tap->page_size };
	r = record_file_write(record->file, t, cpu, &iov, 1);
	if (r == -EFAULT)
		return err_set(err, r, "the rings were cut off under the recording");
	/* What is left of the disk is to be used: fewer of them may have room. */
	if (r == -ENOSPC && run.n > 1) {
		record->most = run.n / 2;
		return 1;
	}
	/* Overtaken while copying: the page behind the gap tells how many are lost. */
	if (!stream_run_end(lane->stream))
		return 1;
	r = record_file_accept(record->file, t, cpu, false, err);
	if (r)
		return r;
	record->sums.events += run.events;
	record->most = record->most * 2 < record->cap ? record->most * 2 : record->cap;
	return 1;
}

static void renumber(unsigned char *page, uint32_t size, const uint16_t ids[])
{
	struct page_event event;
	struct page_walk walk;

	if (page_walk_init(&walk, page, size))
		return;
	while (page_walk_next(&walk, &event) > 0) {
		unsigned char *record = page + ((const unsigned char *)event.data - page);
		uint16_t type;

		if (event.len < sizeof(type))
			continue;
		memcpy(&type, record, sizeof(type));
		if (type < EVENT_ID_BUILTIN_END)
			memcpy(record, &ids[type], sizeof(type));
	}
}

static int next(struct record *record, size_t t, uint32_t cpu, unsigned char *page, struct stream_page *info,
		struct err *err)
{
	struct lane *lane = &record->taps[t].lanes[cpu];
	const uint16_t *ids = record_file_ids(record->file);
	int r = lane->stream ? stream_next(lane->stream, page, info) : 0;

	if (r < 0)
		return err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r));
	if (r && ids)
		renumber(page, record->taps[t].page_size, ids);
	return r;
}

static void accept(struct lane *lane)
{
	stream_accept(lane->stream);
}

const struct tap_kind tap_rings = { run, next, accept };

/* ---- beginning ---- */

int record_rings_open(struct record *record, struct tap *tap, struct err *err)
{
	struct control *control = record->control;
	const struct state_buffer *buffer = find_buffer(record, tap);
	int r = 0;

	if (!buffer)
		return err_set(err, -ENOENT, "there is no instance %s", tap->instance);
	tap->born = buffer->born;
	tap->page_size = buffer->page_size;
	tap->published = control->state.published;
	tap->gathers = true;
	for (uint32_t cpu = 0; !r && cpu < control->dir.ncpu; cpu++) {
		struct lane *lane = &tap->lanes[cpu];

		r = stream_open(&lane->stream, control->dir.fd[SEGMENT_RINGS], buffer, control->dir.ncpu, cpu, true, err);
		if (!r)
			record->streams[record->nr_streams++] = lane->stream;
	}
	return r;
}

void record_rings_clock(struct record *record, const struct tap *tap, struct record_clock *clock)
{
	record_clock_init(clock, record->control, find_buffer(record, tap)->clock);
}

/* So that no program waits for it. Where there are many CPUs not all of them may ever write. */
void record_rings_back(struct record *record)
{
	uint64_t left = BACKED_BYTES;

	for (size_t t = 0; t < record->nr_taps; t++) {
		const struct tap *tap = &record->taps[t];
		const struct state_buffer *buffer = tap->kind == &tap_rings ? find_buffer(record, tap) : NULL;
		uint64_t size = buffer ? (uint64_t)buffer->npages * buffer->page_size : 0;

		for (uint32_t cpu = 0; size && size <= left && cpu < record->control->dir.ncpu; cpu++, left -= size)
			stream_back(tap->lanes[cpu].stream);
	}
}
