/*
 * record: see record.h. Here is what becomes of pages on their way to file.c, and when they are taken; rings.c and pipes.c bring
 * them.
 *
 *	closed pages, many at once ------------- file
 *	others, one by one ---------- gather --- file
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
/* Whoever cannot send is looked at again after that. */
#define BEHIND_MS 100
/* Files do not tell of less than a part of the buffer: they are looked at. */
#define FILES_MS 250
/* Rings are emptied in fewer. */
#define FINISH_TURNS 64
/* Runs of one CPU before the others have their turn; with rotation, so that a file has about the same time of all. */
#define TURN_RUNS 16
#define TURN_RUNS_ROTATED 1

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
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

int record_end_gather(struct record *record, size_t t, uint32_t cpu, struct err *err)
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
		r = record_end_gather(record, t, cpu, err);
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
	int r = tap->kind->next(record, t, cpu, taken, &info, err);

	if (r <= 0)
		return r;
	/* A loss is told at the head of a page. */
	if (tap->gathers && !info.lost && !info.lost_more && info.bytes < tap->page_size / 4 * 3) {
		r = gather(record, t, cpu, taken, err);
	} else {
		r = record_end_gather(record, t, cpu, err);
		if (!r)
			r = put_pages(record, t, cpu, taken, tap->page_size, false, err);
	}
	/* What could not be written is not in the sums. */
	if (r && tap->kind == &tap_pipes)
		record_pipes_miss(record, info.events);
	if (r)
		return r;
	/* A kernel counts itself what is read and lost, but for what was set aside. */
	if (tap->kind != &tap_pipes || record->snapshot) {
		record->sums.events += info.events;
		record->sums.lost += info.lost;
		record->sums.lost_more |= info.lost_more;
	}
	tap->kind->accept(lane);
	return 1;
}

uint32_t record_most_pages(const struct record *record, const struct tap *tap)
{
	uint64_t room = record_file_room(record->file) / tap->page_size + 1;

	return room < record->most ? (uint32_t)room : record->most;
}

static int take_lane(struct record *record, size_t t, uint32_t cpu, bool all, struct err *err)
{
	bool idle;
	int r = 1;

	for (int i = 0; r > 0 && i < record->turn && record_file_room(record->file); i++) {
		r = record->taps[t].kind->run(record, t, cpu, &idle, err);
		if (!r && (all || !idle))
			r = take_page(record, t, cpu, err);
	}
	record->behind |= r > 0 && record_file_is_behind(record->file, 0);
	return r;
}

static int end_gathers(struct record *record, struct err *err)
{
	int r = 0;

	for (size_t t = 0; t < record->nr_taps; t++)
		for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++)
			r = record_end_gather(record, t, cpu, err);
	return r;
}

static int take(struct record *record, bool all, struct err *err)
{
	bool more = true, is_full = false;
	int r = record->control ? record_rings_follow(record, err) : 0;

	record->behind = false;
	if (all)
		record->all_at = mono_ms();
	/* Writers may be as fast as we are: a few turns, and whoever called looks around. */
	for (int turn = 0; !r && more && turn < 4; turn++) {
		more = false;
		for (size_t t = 0; !r && t < record->nr_taps; t++) {
			if (record->only_remotes && !record->taps[t].far)
				continue;
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
	/* Whoever has no room has none a moment later. */
	return r ? r : more && !record_file_is_behind(record->file, 0);
}

int record_take(struct record *record, bool all, struct err *err)
{
	int r = record->failed.code ? record->failed.code : take(record, all, &record->failed);

	return r < 0 ? err_set(err, r, "%s", record->failed.text) : r;
}

/* Beside rings: whichever has something first. */
static int sleep_once(struct record *record, struct stream_sleep *how)
{
	how->bell = record->pipes ? record_pipes_bell(record) : NULL;
	how->bell_seen = how->bell ? __atomic_load_n(how->bell, __ATOMIC_ACQUIRE) : 0;
	if (record->pipes)
		record_pipes_hush(record);
	return stream_sleep(record->streams, record->nr_streams, how);
}

/* Without rings: they have enough, or were not looked at for long. */
static int sleep_for_files(struct record *record, struct stream_sleep *how, bool *all)
{
	int64_t left = record->all_at + FILES_MS - mono_ms();
	int r;

	left = left < 0 ? 0 : left;
	if (how->timeout_ms < 0 || left < how->timeout_ms)
		how->timeout_ms = (int)left;
	r = sleep_once(record, how);
	*all = mono_ms() - record->all_at >= FILES_MS;
	return how->also && __atomic_load_n(how->also, __ATOMIC_ACQUIRE) != how->seen ? -EINTR : r;
}

int record_sleep(struct record *record, int timeout_ms, const uint32_t *also, uint32_t seen, bool *all)
{
	struct stream_sleep how = { .percent = 0, .timeout_ms = timeout_ms, .also = also, .seen = seen };
	int64_t start = mono_ms(), left;
	int remotes = record_remotes_wait(record), r;

	*all = false;
	/* Buffers that are full and cannot be emptied are no reason to get up. */
	if (record_file_is_behind(record->file, timeout_ms < 0 || timeout_ms > BEHIND_MS ? BEHIND_MS : timeout_ms))
		return also && __atomic_load_n(also, __ATOMIC_ACQUIRE) != seen ? -EINTR : 1;
	if (remotes >= 0 && (timeout_ms < 0 || timeout_ms > remotes))
		timeout_ms = how.timeout_ms = remotes;
	if (!record->control)
		return sleep_for_files(record, &how, all);
	if (record->pipes && (timeout_ms < 0 || timeout_ms > FILES_MS))
		timeout_ms = how.timeout_ms = FILES_MS;
	r = sleep_once(record, &how);
	if (also && __atomic_load_n(also, __ATOMIC_ACQUIRE) != seen)
		return -EINTR;
	if (r <= 0) {
		*all = record->pipes && (remotes < 0 || mono_ms() - record->all_at >= FILES_MS);
		return r;
	}
	left = timeout_ms < 0 ? GATHER_MS : timeout_ms - (mono_ms() - start);
	how.percent = WAKE_PERCENT;
	how.timeout_ms = left < 0 ? 0 : left < GATHER_MS ? (int)left : GATHER_MS;
	r = sleep_once(record, &how);
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

void record_sums_so_far(const struct record *record, struct record_sums *sums)
{
	uint64_t events = 0, lost = 0;

	*sums = record->sums;
	if (record->pipes)
		record_pipes_counted(record, &events, &lost);
	sums->events += events;
	sums->lost += lost;
}

void record_sums(struct record *record, struct record_sums *sums)
{
	if (record->pipes)
		record_pipes_count(record, false);
	record_sums_so_far(record, sums);
	sums->bytes = record_file_bytes(record->file);
	sums->files = record_file_count(record->file);
}

/* ---- beginning and end ---- */

static int open_file(struct record *record, const struct record_how *how, struct err *err)
{
	struct record_clock *clocks = calloc(how->nr_buffers, sizeof(*clocks));
	uint32_t *sizes = calloc(how->nr_buffers, sizeof(*sizes));
	int r = clocks && sizes ? 0 : out_of_memory(err);

	for (size_t t = 0; !r && t < how->nr_buffers; t++) {
		struct tap *tap = &record->taps[t];

		sizes[t] = tap->page_size;
		if (tap->far)
			clocks[t] = clocks[0];
		else if (tap->kind == &tap_rings)
			record_rings_clock(record, tap, &clocks[t]);
		else
			r = record_clock_of_files(&clocks[t], tap->source, tap->instance, err);
	}
	record->clock = clocks ? clocks[0] : record->clock;
	if (!r)
		r = record_remotes_begin(record, &record->clock, err);
	if (!r)
		r = record_file_open(&record->file, how, sizes, record->nr_cpus, clocks, record, err);
	free(clocks);
	free(sizes);
	return r;
}

static int open_tap(struct record *record, struct tap *tap, const struct record_buffer *buffers, size_t i, struct err *err)
{
	const struct record_buffer *buffer = &buffers[i];
	bool rings = !buffer->remote && source_control(buffer->source);
	int r;

	tap->kind = buffer->remote ? &tap_remotes : rings ? &tap_rings : &tap_pipes;
	tap->source = buffer->source;
	tap->instance = strdup(buffer->instance);
	tap->lanes = calloc(record->nr_cpus, sizeof(*tap->lanes));
	if (!tap->instance || !tap->lanes)
		return out_of_memory(err);
	if (buffer->remote)
		r = record_remotes_open(record, tap, buffers, i, err);
	else
		r = rings ? record_rings_open(record, tap, err) : record_pipes_open(record, tap, err);
	for (uint32_t cpu = 0; !r && cpu < record->nr_cpus; cpu++) {
		tap->lanes[cpu].page = calloc(2, tap->page_size);
		if (!tap->lanes[cpu].page)
			r = out_of_memory(err);
	}
	return r;
}

/* The directory, if there is one, and as many CPUs as the source that has most. */
static int look_at_sources(struct record *record, const struct record_how *how, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < how->nr_buffers; i++) {
		struct source *source = how->buffers[i].source;
		struct control *control = how->buffers[i].remote ? NULL : source_control(source);
		int cpus;

		if (control && control == record->control)
			continue;
		if (how->buffers[i].remote)
			r = cpus = record_remotes_cpus(how->buffers[i].remote, err);
		else
			r = cpus = control ? (int)control->dir.ncpu : record_pipes_cpus(source, err);
		if (r < 0)
			return r;
		r = control ? control_refresh(control, err) : 0;
		if (control)
			record->control = control;
		record->nr_cpus = (uint32_t)cpus > record->nr_cpus ? (uint32_t)cpus : record->nr_cpus;
	}
	return r;
}

int record_open(struct record **out, const struct record_how *how, struct err *err)
{
	struct record *record = calloc(1, sizeof(*record));
	int r;

	*out = NULL;
	if (!record)
		return out_of_memory(err);
	/* What is let go again soon is taken in small steps. */
	record->cap = how->keep || how->spool ? KEEP_PAGES : RUN_PAGES;
	record->most = record->cap;
	record->turn = how->rotate_bytes ? TURN_RUNS_ROTATED : TURN_RUNS;
	record->snapshot = how->snapshot;
	record->far = how->spool;
	r = look_at_sources(record, how, err);
	/* One more: the one that could not be opened is closed, too. */
	record->taps = calloc(how->nr_buffers + 1, sizeof(*record->taps));
	record->nr_lanes = how->nr_buffers * record->nr_cpus;
	record->streams = calloc(record->nr_lanes + 1, sizeof(*record->streams));
	if (!r && (!record->taps || !record->streams))
		r = out_of_memory(err);
	for (; !r && record->nr_taps < how->nr_buffers; record->nr_taps++)
		r = open_tap(record, &record->taps[record->nr_taps], how->buffers, record->nr_taps, err);
	if (!r && record->control)
		r = record_rings_follow(record, err);
	if (!r)
		r = open_file(record, how, err);
	if (!r && record->control)
		record_rings_back(record);
	if (!r)
		record_pipes_begin(record);
	if (r) {
		record_close(record);
		return r;
	}
	*out = record;
	return 0;
}

/* As record_take(), and there is room for it, however often that has to be waited for. */
static int take_rest(struct record *record, struct err *err)
{
	int r = record_take(record, true, err);

	while (r >= 0 && record->behind) {
		record_file_is_behind(record->file, BEHIND_MS);
		r = record_file_failed(record->file, err) ? err->code : record_take(record, true, err);
	}
	return r;
}

int record_finish(struct record *record, struct err *err)
{
	int r = 1, end;

	record_pipes_end(record);
	for (uint32_t i = 0; i < record->nr_streams; i++)
		stream_settle(record->streams[i]);
	/* Of a buffer that somebody has switched on again, no more than rings can hold. */
	record_remotes_last(record);
	for (int i = 0; i < FINISH_TURNS && r > 0; i++)
		r = take_rest(record, err);
	/* Rings of remotes hold what they like, and are read to where they ended just now. */
	for (record->only_remotes = true; r > 0;)
		r = take_rest(record, err);
	if (r >= 0)
		r = end_gathers(record, err);
	/* Some of what the buffers still have, and of what was on its way. */
	record->sums.lost_more |= r < 0 && record->far;
	if (record->pipes && r < 0)
		record_pipes_forsake(record);
	if (record->pipes)
		record_pipes_count(record, true);
	record_remotes_end(record);
	/* What is in the file is closed up, whatever came in between. */
	end = record_file_finish(record->file, err);
	return r ? r : end;
}

void record_close(struct record *record)
{
	if (!record)
		return;
	record_pipes_close(record);
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
	for (size_t t = 0; record->taps && t <= record->nr_taps; t++)
		record_remotes_close(&record->taps[t]);
	free(record->taps);
	free(record->streams);
	free(record);
}
