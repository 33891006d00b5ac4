/*
 * control/rows: see rows.h. One thread.
 */
#include "control/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/told.h"
#include "control/clock.h"
#include "control/names.h"
#include "decode/page.h"

#define FOLLOW_TRIES 100

/* One CPU: a page of its stream, and the event of it that is next. */
struct lane {
	struct stream *stream;
	uint32_t cpu;
	void *page;
	uint32_t page_size;
	struct page_walk walk;
	struct page_event event;
	uint64_t lost;
	bool lost_more;		/* and an unknown number besides */
	bool walking;		/* the page has events that were not looked at */
	bool has_event;
	bool handed_out;	/* events of the page left this room: */
	uint32_t given;		/* so many, */
	uint32_t given_end;	/* up to there, */
	uint64_t given_ts;	/* until then */
	bool began;
	uint64_t left;		/* of those who peek: events that they have not seen yet */
};

struct control_rows {
	struct control *control;
	struct control_rows_how how;
	struct control_names *names;
	struct lane *lanes;
	uint32_t nlanes;
	struct stream **streams;	/* of the lanes */
	bool ending;		/* no further pages are begun */
	bool settled;		/* nothing was handed out since positions were last stored */
	struct stream_stats sum;	/* of all lanes when they were opened */
	uint64_t born;
	uint64_t published;	/* the state that the lanes were last told: the handle's may be newer */
	struct state_buffer shown;	/* the buffer as the lanes see it */
};

/* The buffer in the state last read, with its snapshot in the place of all else if that is to be read. -ENODEV: gone. */
static int look(struct control_rows *rows, struct err *err)
{
	const struct control_state *state = &rows->control->state;
	const struct state_buffer *buffer = &state->buffers[rows->how.buffer];

	if (rows->how.buffer >= state->nbuffers || !buffer->born ||
	    (rows->born && buffer->born != rows->born))
		return err_set(err, -ENODEV, "the instance is gone");
	rows->born = buffer->born;
	rows->shown = *buffer;
	if (rows->how.snapshot) {
		rows->shown.live = buffer->snapshot;
		rows->shown.nretired = 0;
	}
	return 0;
}

static int lane_open(struct control_rows *rows, struct lane *lane, uint32_t cpu, struct err *err)
{
	struct control *control = rows->control;
	int r;

	lane->cpu = cpu;
	r = stream_open(&lane->stream, control->dir.fd[SEGMENT_RINGS],
			&rows->shown, control->dir.ncpu, cpu, rows->how.consume, err);
	return r;
}

/* Room for a page of the size that the stream yields now. What was in it before is not needed. */
static int lane_room(struct lane *lane, struct err *err)
{
	uint32_t size = stream_page_size(lane->stream);

	if (size <= lane->page_size)
		return 0;
	free(lane->page);
	lane->page_size = 0;
	lane->page = aligned_alloc(64, (size + 63u) & ~63u);
	if (!lane->page)
		return err_set(err, -ENOMEM, "out of memory");
	lane->page_size = size;
	return 0;
}

/* Is a set of the one description missing in the other? */
static bool lost_sets(const struct state_buffer *before, const struct state_buffer *now)
{
	for (uint32_t i = 0; i <= before->nretired; i++) {
		const struct state_set *set = i < before->nretired ? &before->retired[i] : &before->live;
		bool found = !set->offset || (set->offset == now->live.offset &&
					      set->generation == now->live.generation);

		for (uint32_t j = 0; j < now->nretired && !found; j++)
			found = set->offset == now->retired[j].offset &&
				set->generation == now->retired[j].generation;
		if (!found)
			return true;
	}
	return false;
}

/*
 * The buffer may have got other rings since. A consumer locks them, and then the state must still be
 * the same: what is locked and in use is not freed (control/reclaim). 1 when some rings are gone.
 */
static int follow(struct control_rows *rows, struct err *err)
{
	struct control *control = rows->control;
	int gone = 0, r = 0;

	for (int i = 0; i < FOLLOW_TRIES && !r; i++) {
		struct state_buffer before = rows->shown;

		if (rows->published == control->state.published && control_current(control))
			return gone;
		r = control_refresh(control, err);
		if (!r)
			r = look(rows, err);
		gone |= lost_sets(&before, &rows->shown);
		for (uint32_t j = 0; !r && j < rows->nlanes; j++)
			r = stream_update(rows->lanes[j].stream, &rows->shown, err);
		if (!r)
			rows->published = control->state.published;
	}
	return r ? r : err_set(err, -EBUSY, "the buffer changes too often to be read");
}

static void stats_add(struct stream_stats *sum, const struct stream_stats *one)
{
	sum->entries += one->entries;
	sum->written += one->written;
	sum->overrun += one->overrun;
	sum->dropped += one->dropped;
	sum->read += one->read;
	sum->bytes += one->bytes;
	if (one->oldest_ts && (!sum->oldest_ts || one->oldest_ts < sum->oldest_ts))
		sum->oldest_ts = one->oldest_ts;
}

/* As the kernel's, the header of one CPU's file tells about all of them. */
static int count_others(struct control_rows *rows, struct err *err)
{
	struct control *control = rows->control;
	struct stream_stats one = { 0 };
	struct stream *stream;
	int r = 0;

	for (uint32_t cpu = 0; !r && rows->how.cpu >= 0 && cpu < control->dir.ncpu; cpu++) {
		if (cpu == (uint32_t)rows->how.cpu)
			continue;
		r = stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &rows->shown,
				control->dir.ncpu, cpu, false, err);
		if (r)
			return r;
		r = stream_stats(stream, &one);
		stream_close(stream);
		stats_add(&rows->sum, &one);
	}
	return r ? err_set(err, r, "the rings cannot be read: %s", strerror(-r)) : 0;
}

/* Counts what is there now: who peeks sees no more than that, however fast more is written. */
static int count(struct control_rows *rows, struct err *err)
{
	for (uint32_t i = 0; i < rows->nlanes; i++) {
		struct lane *lane = &rows->lanes[i];
		struct stream_stats one;
		int r = stream_stats(lane->stream, &one);

		if (r)
			return err_set(err, r, "the ring of CPU %u cannot be read: %s", lane->cpu,
				       strerror(-r));
		lane->left = one.entries;
		stats_add(&rows->sum, &one);
	}
	return count_others(rows, err);
}

int control_rows_open(struct control_rows **out, struct control *control,
		      const struct control_rows_how *how, struct err *err)
{
	struct control_rows *rows = calloc(1, sizeof(*rows));
	int r;

	if (!rows)
		return err_set(err, -ENOMEM, "out of memory");
	rows->control = control;
	rows->how = *how;
	rows->settled = true;
	rows->nlanes = how->cpu < 0 ? control->dir.ncpu : 1;
	rows->lanes = calloc(rows->nlanes, sizeof(*rows->lanes));
	rows->streams = calloc(rows->nlanes, sizeof(struct stream *));
	r = rows->lanes && rows->streams ? 0 : err_set(err, -ENOMEM, "out of memory");
	if (!rows->lanes)
		rows->nlanes = 0;
	/* What is told late is to be counted, too. */
	if (!r && !how->consume)
		told_settle(control->dir.fd[SEGMENT_RINGS]);
	if (!r)
		r = look(rows, err);
	if (!r)
		r = control_names_open(&rows->names, control, err);
	for (uint32_t i = 0; !r && i < rows->nlanes; i++)
		r = lane_open(rows, &rows->lanes[i], how->cpu < 0 ? i : (uint32_t)how->cpu, err);
	for (uint32_t i = 0; !r && i < rows->nlanes; i++)
		rows->streams[i] = rows->lanes[i].stream;
	rows->published = control->state.published;
	if (!r)
		r = follow(rows, err);
	if (r >= 0)
		r = how->consume ? 0 : count(rows, err);
	if (r < 0) {
		control_rows_close(rows);
		return r;
	}
	*out = rows;
	return 0;
}

/* Is something of the lane's page still to be handed out? */
static bool lane_unfinished(struct lane *lane)
{
	struct page_walk walk = lane->walk;
	struct page_event event;

	return lane->has_event || (lane->walking && page_walk_next(&walk, &event) == 1);
}

void control_rows_close(struct control_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t i = 0; i < rows->nlanes; i++) {
		struct lane *lane = &rows->lanes[i];

		/* Who has to be asked first has not said that it is out. */
		if (!rows->how.consume || rows->how.settle || !lane->stream || !lane->handed_out)
			;
		else if (lane_unfinished(lane))
			stream_accept_part(lane->stream, lane->given, lane->given_end,
					   lane->given_ts);
		else
			stream_accept(lane->stream);
		if (rows->lanes[i].stream)
			stream_close(rows->lanes[i].stream);
		free(rows->lanes[i].page);
	}
	control_names_close(rows->names);
	free(rows->lanes);
	free(rows->streams);
	free(rows);
}

/* The next page of a lane. 1, 0 when there is none now. */
static int lane_page(struct control_rows *rows, struct lane *lane, struct err *err)
{
	struct stream_page info;
	int gone = 0, r;

	if (lane->handed_out) {
		lane->handed_out = false;
		lane->given = 0;
		r = rows->how.settle ? rows->how.settle(rows->how.ctx) : 0;
		if (r)
			return err_set(err, r, "cannot write: %s", strerror(-r));
		if (rows->how.consume)
			stream_accept(lane->stream);
	}
	r = follow(rows, err);
	if (r >= 0)
		r = lane_room(lane, err);
	if (r < 0)
		return r;
	r = stream_next(lane->stream, lane->page, &info);
	if (rows->how.consume ? r < 0 : r)
		gone = follow(rows, err);
	if (gone < 0)
		return gone;
	if (gone) {
		/* The page may have come from rings that were freed while it was copied. */
		lane->lost += r > 0 ? info.events : 0;
		return 1;
	}
	if (r < 0)
		return err_set(err, r, "the ring of CPU %u cannot be read: %s", lane->cpu,
			       strerror(-r));
	if (!r)
		return 0;
	lane->walking = !page_walk_init(&lane->walk, lane->page, lane->page_size);
	lane->lost += info.lost;
	lane->lost_more |= info.lost_more;
	return 1;
}

/* Makes sure that the lane has its next event, if there is one. */
static int lane_fill(struct control_rows *rows, struct lane *lane, struct err *err)
{
	while (!lane->has_event && (rows->how.consume || lane->left)) {
		int r;

		if (lane->walking && page_walk_next(&lane->walk, &lane->event) == 1) {
			lane->has_event = true;
			break;
		}
		lane->walking = false;
		if (rows->ending)
			return 0;
		r = lane_page(rows, lane, err);
		if (r <= 0)
			return r;
	}
	return 0;
}

/*
 * The next event of each lane. A lane that was empty when it was asked may have got an older one than a lane whose page was
 * copied after that: as long as there are new pages, it is asked again.
 */
static int fill(struct control_rows *rows, struct err *err)
{
	bool fresh = true;

	while (fresh) {
		fresh = false;
		for (uint32_t i = 0; i < rows->nlanes; i++) {
			struct lane *lane = &rows->lanes[i];
			bool empty = !lane->has_event && !lane->walking;
			int r = lane_fill(rows, lane, err);

			if (r)
				return r;
			fresh |= empty && lane->has_event;
		}
	}
	return 0;
}

/* The id in a record's first two bytes. */
static uint32_t event_id(const struct page_event *event)
{
	uint16_t type;

	if (event->len < sizeof(type))
		return 0;
	memcpy(&type, event->data, sizeof(type));
	return type;
}

/*
 * Everything was handed out. Streams also passed by events of others in overflow rings, which
 * writers wait for when the buffer does not overwrite: where they have come to is stored, too.
 */
static int settle(struct control_rows *rows, struct err *err)
{
	int r;

	if (!rows->how.consume || rows->settled)
		return 0;
	r = rows->how.settle ? rows->how.settle(rows->how.ctx) : 0;
	if (r)
		return err_set(err, r, "cannot write: %s", strerror(-r));
	for (uint32_t i = 0; i < rows->nlanes; i++) {
		stream_accept(rows->lanes[i].stream);
		rows->lanes[i].handed_out = false;
		rows->lanes[i].given = 0;
	}
	rows->settled = true;
	return 0;
}

void control_rows_end(struct control_rows *rows)
{
	rows->ending = true;
}

static struct control_row row_of(const struct control_rows *rows, const struct lane *lane)
{
	return (struct control_row){
		.row = {
			.ts = lane->event.ts,
			.cpu = (int)lane->cpu,
			.format = control_names_format(rows->names, event_id(&lane->event)),
			.data = lane->event.data,
			.len = lane->event.len,
		},
		.lost = lane->lost || !lane->lost_more ? lane->lost : PAGE_LOST_UNKNOWN,
		.first = !lane->began,
	};
}

/* The lane's event is handed out. */
static void lane_take(struct control_rows *rows, struct lane *lane)
{
	rows->settled = false;
	lane->lost = 0;
	lane->lost_more = false;
	lane->began = true;
	lane->has_event = false;
	lane->handed_out = true;
	lane->given++;
	lane->given_end = (uint32_t)((const char *)lane->event.data - (const char *)lane->page) - PAGE_HEAD_SIZE +
			  lane->event.len;
	lane->given_ts = lane->event.ts;
	lane->left--;
}

int control_rows_next(struct control_rows *rows, struct control_row *row, struct err *err)
{
	struct lane *first = NULL;
	int r = fill(rows, err);

	if (r)
		return r;
	for (uint32_t i = 0; i < rows->nlanes; i++)
		if (rows->lanes[i].has_event && (!first || rows->lanes[i].event.ts < first->event.ts))
			first = &rows->lanes[i];
	if (!first)
		return settle(rows, err);
	*row = row_of(rows, first);
	lane_take(rows, first);
	return 1;
}

static struct lane *lane_of(struct control_rows *rows, int cpu)
{
	for (uint32_t i = 0; i < rows->nlanes; i++)
		if ((int)rows->lanes[i].cpu == cpu)
			return &rows->lanes[i];
	return NULL;
}

int control_rows_ahead(struct control_rows *rows, int cpu, struct control_row *row, struct err *err)
{
	struct lane *lane = lane_of(rows, cpu);
	int r = lane ? lane_fill(rows, lane, err) : 0;

	if (r || !lane || !lane->has_event)
		return r;
	*row = row_of(rows, lane);
	return 1;
}

void control_rows_take(struct control_rows *rows, int cpu)
{
	struct lane *lane = lane_of(rows, cpu);

	if (lane && lane->has_event)
		lane_take(rows, lane);
}

int control_rows_wait(struct control_rows *rows, int timeout_ms, struct err *err)
{
	int r = follow(rows, err);

	return r < 0 ? r : stream_wait_any(rows->streams, rows->nlanes, timeout_ms);
}

int control_rows_sleep(struct control_rows *const *rows, size_t n, const struct stream_sleep *how, struct err *err)
{
	struct stream **all;
	uint32_t nr = 0;
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = follow(rows[i], err);
		nr += rows[i]->nlanes;
	}
	all = r < 0 ? NULL : calloc(nr, sizeof(struct stream *));
	if (!all)
		return r < 0 ? r : err_set(err, -ENOMEM, "out of memory");
	nr = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < rows[i]->nlanes; j++)
			all[nr++] = rows[i]->streams[j];
	r = stream_sleep(all, nr, how);
	free(all);
	return r;
}

uint64_t control_rows_count(struct control_rows *rows)
{
	struct stream_stats one;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rows->nlanes; i++)
		sum += stream_stats(rows->streams[i], &one) ? 0 : one.entries;
	return sum;
}

bool control_rows_filled(struct control_rows *rows, uint32_t percent)
{
	if (follow(rows, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < rows->nlanes; i++)
		if (rows->lanes[i].has_event || rows->lanes[i].walking ||
		    stream_is_filled(rows->streams[i], percent))
			return true;
	return false;
}

const struct stream_stats *control_rows_stats(const struct control_rows *rows)
{
	return &rows->sum;
}

uint32_t control_rows_cpus(const struct control_rows *rows)
{
	return rows->control->dir.ncpu;
}

bool control_rows_is_ns(const struct control_rows *rows)
{
	return control_clock_is_ns(rows->shown.clock);
}

uint64_t control_rows_lost(struct control_rows *rows, uint32_t cpu)
{
	struct stream_stats stats;

	if (cpu >= rows->nlanes || stream_stats(rows->streams[cpu], &stats))
		return 0;
	return stats.overrun + stats.dropped;
}

const char *control_rows_comm(struct control_rows *rows, int pid)
{
	return control_names_comm(rows->names, pid);
}

const struct decode_ctx *control_rows_ctx(struct control_rows *rows)
{
	return control_names_ctx(rows->names);
}
