/*
 * record: see record.h. Here are the rings: what is taken from them, when, and what becomes of it on the way to file.c.
 *
 *   ring   closed pages ----------- stream_run, one copy at most ----------+
 *          gaps, open page, records of overflow rings -- stream_next -- gather -- file
 */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mono.h"
#include "decode/page.h"
#include "layout/page.h"
#include "record/tap.h"

/* Pages to a transfer: the more, the less each costs; of so many hardly less. */
#define RUN_PAGES 1024u
#define KEEP_PAGES 64u
/* A ring that is so full is worth getting up for. */
#define WAKE_PERCENT 25
/* What trickles in is in the file after that. */
#define GATHER_MS 100
/* Rings are emptied in fewer. */
#define FINISH_TURNS 64
/* Memory that is given to rings before anybody writes to them. */
#define BACKED_BYTES (128ull << 20)
/* Runs of one CPU before the others have their turn; with rotation, so that a file has about the same time of all. */
#define TURN_RUNS 16
#define TURN_RUNS_ROTATED 1

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

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
	for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++)
		r = stream_update(tap->lanes[cpu].stream, buffer, err);
	for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++)
		if (stream_page_size(tap->lanes[cpu].stream) != tap->page_size)
			r = err_set(err, -EINVAL, "pages of %s have another size than when the recording began",
				    *tap->instance ? tap->instance : "the buffer");
	tap->published = record->control->state.published;
	return r;
}

/* Consumers lock first and look then: the state they were told must still be in force. */
static int follow(struct record *record, struct err *err)
{
	struct control *control = record->control;
	int r = 0;

	for (int i = 0; !r && i < 100; i++) {
		bool told = control_current(control);

		if (!told)
			r = control_refresh(control, err);
		for (size_t t = 0; !r && t < record->nr_taps; t++) {
			if (record->taps[t].published == control->state.published)
				continue;
			told = false;
			r = tell_streams(record, &record->taps[t], err);
		}
		if (!r && told)
			return 0;
	}
	return r ? r : err_set(err, -EBUSY, "the buffers change too often to be recorded");
}

/* ---- pages on their way ---- */

static int put_pages(struct record *record, size_t t, uint32_t cpu, const void *pages, size_t bytes, bool open,
		     struct err *err)
{
	struct iovec iov = { (void *)(uintptr_t)pages, bytes };
	int r = record_file_write(record->file, t, cpu, &iov, 1);

	/* The words for it come with record_file_accept(). */
	(void)r;
	return record_file_accept(record->file, t, cpu, open, err);
}

static int end_gather(struct record *record, size_t t, uint32_t cpu, struct err *err)
{
	struct lane *lane = &record->taps[t].lanes[cpu];

	if (!lane->gather.events)
		return 0;
	build_end(&lane->gather, 0);
	lane->gather.events = 0;
	return put_pages(record, t, cpu, lane->page, record->taps[t].page_size, false, err);
}

/* Adds the events of a page that was taken to the one that is being filled. */
static int gather(struct record *record, size_t t, uint32_t cpu, const unsigned char *taken, struct err *err)
{
	struct tap *tap = &record->taps[t];
	struct lane *lane = &tap->lanes[cpu];
	struct page_event event;
	struct page_walk walk;
	int r = page_walk_init(&walk, taken, tap->page_size);

	while (!r && page_walk_next(&walk, &event) > 0) {
		if (!lane->gather.events)
			build_begin(&lane->gather, lane->page, tap->page_size);
		if (build_add(&lane->gather, event.ts, event.data, event.len, 0))
			continue;
		r = end_gather(record, t, cpu, err);
		build_begin(&lane->gather, lane->page, tap->page_size);
		if (!r && !build_add(&lane->gather, event.ts, event.data, event.len, 0))
			record->sums.lost++;
	}
	if (r || !lane->gather.events)
		return r;
	build_end(&lane->gather, 0);
	return put_pages(record, t, cpu, lane->page, tap->page_size, true, err);
}

/* One page, whatever is to be said of it. 1, 0 when there is none, -errno. */
static int take_page(struct record *record, size_t t, uint32_t cpu, struct err *err)
{
	struct tap *tap = &record->taps[t];
	struct lane *lane = &tap->lanes[cpu];
	unsigned char *taken = lane->page + tap->page_size;
	struct stream_page info;
	int r = stream_next(lane->stream, taken, &info);

	if (r < 0)
		return err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r));
	if (!r)
		return 0;
	/* A loss is told at the head of a page. */
	if (!info.lost && !info.lost_more && info.bytes < tap->page_size / 4 * 3) {
		r = gather(record, t, cpu, taken, err);
	} else {
		r = end_gather(record, t, cpu, err);
		if (!r)
			r = put_pages(record, t, cpu, taken, tap->page_size, false, err);
	}
	if (r)
		return r;
	/* What could not be written is not in the sums. */
	record->sums.events += info.events;
	record->sums.lost += info.lost;
	record->sums.lost_more |= info.lost_more;
	stream_accept(lane->stream);
	return 1;
}

/* Not far beyond what the file may have. */
static uint32_t most_pages(const struct record *record, const struct tap *tap)
{
	uint64_t room = record_file_room(record->file) / tap->page_size + 1;

	return room < record->most ? (uint32_t)room : record->most;
}

/* Closed pages as they lie there. 1; 0 when the next is not of that kind, or, which *idle tells, there is none; -errno. */
static int take_run(struct record *record, size_t t, uint32_t cpu, bool *idle, struct err *err)
{
	struct tap *tap = &record->taps[t];
	struct lane *lane = &tap->lanes[cpu];
	struct stream_run run;
	struct iovec iov;
	int r = stream_run(lane->stream, most_pages(record, tap), &run);

	*idle = !r && run.idle;
	if (r <= 0)
		return r ? err_set(err, r, "cannot read the ring of cpu %u: %s", cpu, strerror(-r)) : 0;
	r = end_gather(record, t, cpu, err);
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

static int take_lane(struct record *record, size_t t, uint32_t cpu, bool all, struct err *err)
{
	bool idle;
	int r = 1;

	for (int i = 0; r > 0 && i < record->turn && record_file_room(record->file); i++) {
		r = take_run(record, t, cpu, &idle, err);
		if (!r && (all || !idle))
			r = take_page(record, t, cpu, err);
	}
	return r;
}

static int end_gathers(struct record *record, struct err *err)
{
	int r = 0;

	for (size_t t = 0; t < record->nr_taps; t++)
		for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++)
			r = end_gather(record, t, cpu, err);
	return r;
}

static int take(struct record *record, bool all, struct err *err)
{
	bool more = true, is_full = false;
	int r = follow(record, err);

	if (all)
		record->all_at = mono_ms();
	/* Writers may be as fast as we are: a few turns, and whoever called looks around. */
	for (int turn = 0; !r && more && turn < 4; turn++) {
		more = false;
		for (size_t t = 0; !r && t < record->nr_taps; t++) {
			for (uint32_t cpu = 0; r >= 0 && cpu < record->nr_cpus; cpu++) {
				r = take_lane(record, t, cpu, all, err);
				more |= r > 0;
			}
			r = r > 0 ? 0 : r;
		}
	}
	if (!r)
		r = record_file_tend(record->file, &is_full, err);
	if (!r && is_full) {
		r = end_gathers(record, err);
		if (!r)
			r = record_file_rotate(record->file, err);
	}
	return r ? r : more;
}

int record_take(struct record *record, bool all, struct err *err)
{
	int r = record->failed.code ? record->failed.code : take(record, all, &record->failed);

	return r < 0 ? err_set(err, r, "%s", record->failed.text) : r;
}

int record_sleep(struct record *record, int timeout_ms, const uint32_t *also, uint32_t seen, bool *all)
{
	uint32_t n = (uint32_t)record->nr_taps * record->nr_cpus;
	struct stream_sleep how = { .percent = 0, .timeout_ms = timeout_ms, .also = also, .seen = seen };
	int64_t start = mono_ms(), left;
	int r = stream_sleep(record->streams, n, &how);

	*all = false;
	if (also && __atomic_load_n(also, __ATOMIC_ACQUIRE) != seen)
		return -EINTR;
	if (r <= 0)
		return r;
	left = timeout_ms < 0 ? GATHER_MS : timeout_ms - (mono_ms() - start);
	how.percent = WAKE_PERCENT;
	how.timeout_ms = left < 0 ? 0 : left < GATHER_MS ? (int)left : GATHER_MS;
	r = stream_sleep(record->streams, n, &how);
	/* Others may be busy enough to fill theirs each time: what is slow waits no longer for that. */
	*all = !r || mono_ms() - record->all_at >= GATHER_MS;
	if (also && __atomic_load_n(also, __ATOMIC_ACQUIRE) != seen)
		return -EINTR;
	return r;
}

int record_add_maps(struct record *record, int pid, struct err *err)
{
	return record_file_maps(record->file, pid, err);
}

void record_sums(const struct record *record, struct record_sums *sums)
{
	*sums = record->sums;
	sums->bytes = record_file_bytes(record->file);
	sums->files = record_file_count(record->file);
}

/* ---- beginning and end ---- */

static int open_lane(struct record *record, struct tap *tap, const struct state_buffer *buffer, uint32_t cpu,
		     struct err *err)
{
	struct lane *lane = &tap->lanes[cpu];
	int r;

	lane->page = calloc(2, tap->page_size);
	if (!lane->page)
		return out_of_memory(err);
	r = stream_open(&lane->stream, record->control->dir.fd[SEGMENT_RINGS], buffer, record->nr_cpus, cpu, true, err);
	record->streams[(size_t)(tap - record->taps) * record->nr_cpus + cpu] = lane->stream;
	return r;
}

static int open_tap(struct record *record, struct tap *tap, const char *instance, struct err *err)
{
	const struct state_buffer *buffer;
	int r = 0;

	tap->instance = strdup(instance);
	tap->lanes = calloc(record->nr_cpus, sizeof(*tap->lanes));
	if (!tap->instance || !tap->lanes)
		return out_of_memory(err);
	buffer = find_buffer(record, tap);
	if (!buffer)
		return err_set(err, -ENOENT, "there is no instance %s", instance);
	tap->born = buffer->born;
	tap->page_size = buffer->page_size;
	tap->published = record->control->state.published;
	for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++)
		r = open_lane(record, tap, buffer, cpu, err);
	return r;
}

static int open_file(struct record *record, const struct record_how *how, struct err *err)
{
	struct record_clock *clocks = calloc(how->nr_buffers, sizeof(*clocks));
	uint32_t *sizes = calloc(how->nr_buffers, sizeof(*sizes));
	int r = clocks && sizes ? 0 : out_of_memory(err);

	for (size_t t = 0; !r && t < how->nr_buffers; t++) {
		sizes[t] = record->taps[t].page_size;
		record_clock_init(&clocks[t], record->control, find_buffer(record, &record->taps[t])->clock);
	}
	if (!r)
		r = record_file_open(&record->file, how, sizes, record->nr_cpus, clocks, err);
	free(clocks);
	free(sizes);
	return r;
}

/* So that no program waits for it. Where there are many CPUs not all of them may ever write. */
static void back_rings(struct record *record)
{
	uint64_t left = BACKED_BYTES;

	for (size_t t = 0; t < record->nr_taps; t++) {
		const struct state_buffer *buffer = find_buffer(record, &record->taps[t]);
		uint64_t size = buffer ? (uint64_t)buffer->npages * buffer->page_size : 0;

		for (uint32_t cpu = 0; size && size <= left && cpu < record->nr_cpus; cpu++, left -= size)
			stream_back(record->taps[t].lanes[cpu].stream);
	}
}

int record_open(struct record **out, const struct record_how *how, struct err *err)
{
	struct record *record = calloc(1, sizeof(*record));
	int r;

	*out = NULL;
	if (!record)
		return out_of_memory(err);
	record->source = how->source;
	/* What is let go again soon is taken in small steps. */
	record->cap = how->keep ? KEEP_PAGES : RUN_PAGES;
	record->most = record->cap;
	record->turn = how->rotate_bytes ? TURN_RUNS_ROTATED : TURN_RUNS;
	record->control = source_control(how->source);
	r = control_refresh(record->control, err);
	record->nr_cpus = record->control->dir.ncpu;
	/* One more: the one that could not be opened is closed, too. */
	record->taps = calloc(how->nr_buffers + 1, sizeof(*record->taps));
	record->streams = calloc(how->nr_buffers * record->nr_cpus, sizeof(*record->streams));
	if (!r && (!record->taps || !record->streams))
		r = out_of_memory(err);
	for (; !r && record->nr_taps < how->nr_buffers; record->nr_taps++)
		r = open_tap(record, &record->taps[record->nr_taps], how->buffers[record->nr_taps].instance, err);
	if (!r)
		r = follow(record, err);
	if (!r)
		r = open_file(record, how, err);
	if (!r)
		back_rings(record);
	if (r) {
		record_close(record);
		return r;
	}
	*out = record;
	return 0;
}

int record_finish(struct record *record, struct err *err)
{
	int r = 1, end;

	for (uint32_t i = 0; i < record->nr_taps * record->nr_cpus; i++)
		stream_settle(record->streams[i]);
	/* Of a buffer that somebody has switched on again, no more than rings can hold. */
	for (int i = 0; i < FINISH_TURNS && r > 0; i++)
		r = record_take(record, true, err);
	if (r >= 0)
		r = end_gathers(record, err);
	/* What is in the file is closed up, whatever came in between. */
	end = record_file_finish(record->file, err);
	return r ? r : end;
}

void record_close(struct record *record)
{
	if (!record)
		return;
	for (size_t t = 0; record->taps && t <= record->nr_taps; t++) {
		struct tap *tap = &record->taps[t];

		for (uint32_t cpu = 0; tap->lanes && cpu < record->nr_cpus; cpu++) {
			stream_close(tap->lanes[cpu].stream);
			free(tap->lanes[cpu].page);
		}
		free(tap->lanes);
		free(tap->instance);
	}
	record_file_close(record->file);
	free(record->taps);
	free(record->streams);
	free(record);
}
