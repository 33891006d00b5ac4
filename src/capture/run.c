/*
 * capture/run: runs of a ring's own pages, for those who have the kernel copy them. See stream.h.
 *
 * Nothing of the pages is looked at. How many events they hold, and that none is missing, is told by the numbers of the pages' first
 * events; the steps are those of ring/read.c. One look serves for all pages that were closed then, however many runs
 * they are taken in:
 *
 *   look   a  the tail: which pages are closed
 *          -  overflow rings: an event that was written before one in these pages is there by now (R8)
 *          -  `dropped`: if a drop counts in the number of any of these pages, it is seen
 *   run    b  the numbers
 *          c  the copy, by the caller
 *          d  the tail again: is the run's first page still in reach?
 *
 * Whatever a run cannot be sure of is left to stream_next().
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/lanes.h"
#include "capture/stream.h"

/* The shortest event has a header and a word. */
#define EVENT_MIN 8u

void stream_run_unmap(struct reader *reader)
{
	if (reader->run.map)
		munmap((void *)(uintptr_t)reader->run.map, reader->run.len);
	free(reader->run.copy);
	reader->run.map = NULL;
	reader->run.copy = NULL;
}

/* Addresses for the ring's pages; false where there is no room for them. */
static bool map_ring(struct reader *reader)
{
	const struct ring_source *source = &reader->lane[0].cursor.source;
	uint64_t at = ring_pages_at(source), size = (uint64_t)source->npages * source->page_size;
	uint64_t skip = at & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	void *map;

	if (reader->run.tried)
		return reader->run.map;
	reader->run.tried = true;
	reader->run.copy = malloc(source->page_size);
	if (!reader->run.copy || size + skip > SIZE_MAX / 2)
		return false;
	map = mmap(NULL, (size_t)(size + skip), PROT_READ, MAP_SHARED, source->fd, (off_t)(at - skip));
	if (map == MAP_FAILED)
		return false;
	reader->run.map = map;
	reader->run.len = (size_t)(size + skip);
	reader->run.at = (const char *)map + skip;
	return true;
}

/* Time of the last event of a page, 0 when the page is gone. */
static uint64_t page_end_time(const struct ring_source *source, uint64_t page, void *copy)
{
	struct page_event event = { 0 };
	struct page_walk walk;
	uint64_t first;

	if (ring_page_copy(source, page, copy, &first) != 1 || page_walk_init(&walk, copy, source->page_size))
		return 0;
	while (page_walk_next(&walk, &event) > 0)
		;
	return event.ts;
}

/* When the run's last page is gone: nothing in it is later than any page that is left. The oldest of them is the next to go, so
 * that each time it went the distance becomes larger. */
static uint64_t oldest_time(const struct ring_source *source, void *copy)
{
	const struct page_head *head = copy;

	for (uint32_t tries = 0; tries < 32; tries++) {
		uint32_t ahead = tries < 16 ? (1u << tries) - 1 : UINT32_MAX;
		uint64_t tail, page, first;

		if (ahead > source->npages - 2)
			ahead = source->npages - 2;
		if (ring_read_tail(source, &tail))
			return 0;
		page = ring_page_step(source, ring_page_oldest(source, tail), ahead);
		if (ring_page_copy(source, page, copy, &first) == 1 && head->commit)
			return head->time_stamp;
	}
	return 0;
}

void stream_run_settle(struct stream *stream)
{
	struct reader *reader = stream->behind.reader;
	const struct ring_source *source;
	uint64_t ts;

	stream->run.n = 0;
	stream->look.reader = NULL;
	stream->behind.reader = NULL;
	if (!reader)
		return;
	source = &reader->lane[0].cursor.source;
	ts = page_end_time(source, stream->behind.page, reader->run.copy);
	if (!ts)
		ts = oldest_time(source, reader->run.copy);
	if (ts > stream->last_ts)
		stream->last_ts = ts;
}

/* Whether something was lost that the next page has to tell. */
static bool is_untold(const struct stream *stream, struct reader *reader, const struct ring_head *head)
{
	const struct lane *own = &reader->lane[0];

	reader->run.refused = own->open && (int64_t)(head->refused - own->cursor.refused_before - reader->refused) > 0;
	for (uint32_t n = 0; n < stream_lanes(stream); n++)
		if (reader->lane[n].open && reader->lane[n].cursor.lost)
			return true;
	return reader->run.refused;
}

/*
 * Closed pages from *page on. -1: there is something that stream_next() has to get out of the way; 0: there is nothing but
 * perhaps a page that is open.
 */
static int64_t count_closed(const struct reader *reader, bool live, uint64_t tail, uint64_t *page)
{
	const struct cursor *cursor = &reader->lane[0].cursor;
	bool whole = cursor_at_page(cursor, page);
	int64_t closed = ring_distance(&cursor->source, *page, tail);
	uint32_t passed = *page == cursor->page ? cursor->offset : 0;

	if (((uint32_t)*page & RING_INDEX_MASK) >= cursor->source.npages || closed < 0 ||
	    closed > (int64_t)cursor->source.npages - 2 || (closed && !whole))
		return -1;
	/* An open page grows, but for one of a retired set. */
	if (!closed && !live && ring_page_commit(&cursor->source, *page) > passed)
		return -1;
	return closed;
}

/* Do numbers from that page on count drops as events? A drop lies in the page that was the last when it happened. */
static bool is_doubtful(struct reader *reader, const struct ring_head *head, uint64_t page)
{
	const struct ring_source *source = &reader->lane[0].cursor.source;

	if (head->dropped != reader->run.dropped) {
		/* Read after the drops: no page behind this one has any. */
		if (ring_read_tail(source, &reader->run.doubt))
			return true;
		reader->run.dropped = head->dropped;
	}
	return reader->run.dropped && ring_distance(source, page, reader->run.doubt) >= 0;
}

/* Time never goes back: not within a ring, and not to what came from elsewhere. */
static bool is_in_time(struct stream *stream, struct reader *reader, uint64_t page)
{
	const struct ring_source *source = &reader->lane[0].cursor.source;
	struct page_head head;

	if (stream->behind.reader == reader && ring_page_step(source, stream->behind.page, 1) == page)
		return true;
	stream_run_settle(stream);
	return !ring_page_head(source, page, &head) && head.time_stamp >= stream->last_ts;
}

/* Is there something that a run can be made of, from where the reader stands? 1, 0, -errno; if 0 and idle, there may be in a later set. */
static int reader_look(struct stream *stream, struct reader *reader, bool *idle)
{
	const struct ring_source *source = &reader->lane[0].cursor.source;
	bool live = reader == &stream->reader[stream->nreaders - 1];
	struct ring_head head = { 0 };
	uint64_t tail = 0, page = 0;
	int64_t closed = 0;
	uint32_t other;
	int ret = stream_lane_open(stream, reader, 0);

	*idle = false;
	stream_reader_limit(stream, reader);
	if (reader->until != UINT64_MAX)
		return ret;
	if (!ret && reader->lane[0].open) {
		ret = ring_read_tail(source, &tail);						/* a */
		closed = ret ? 0 : count_closed(reader, live, tail, &page);
	}
	if (!ret)
		ret = stream_lane_earliest(stream, reader, &other);
	for (uint32_t n = 0; !ret && !live && n < stream_lanes(stream); n++)
		if (reader->lane[n].open)
			cursor_finish(&reader->lane[n].cursor);
	if (!ret && reader->lane[0].open)
		ret = ring_read_head(source, &head);
	if (ret)
		return ret;
	*idle = !is_untold(stream, reader, &head) && closed >= 0 && !other;
	if (!*idle || !closed)
		return 0;
	*idle = false;
	if (reader->set.page_size != stream->page_size || is_doubtful(reader, &head, page) || !is_in_time(stream, reader, page) ||
	    !map_ring(reader))
		return 0;
	stream->look.reader = reader;
	stream->look.until = stream->look.tail = tail;
	stream->look.n = 0;
	return 1;
}

static int look(struct stream *stream, bool *idle)
{
	int ret = 0;

	stream->look.reader = NULL;
	*idle = true;
	for (struct reader *reader = stream->reader; !ret && *idle && reader < stream->reader + stream->nreaders; reader++)
		ret = reader_look(stream, reader, idle);
	return ret;
}

/* Pages that are left of what was seen in the last look, from *page on. */
static int64_t count_left(const struct stream *stream, uint64_t *page)
{
	const struct cursor *cursor = &stream->look.reader->lane[0].cursor;

	return cursor_at_page(cursor, page) ? ring_distance(&cursor->source, *page, stream->look.until) : 0;
}

/* Not more at a time than writers leave alone if they are half as fast as the copy: when they come round, all of it is for nothing. */
static uint32_t run_length(const struct stream *stream, uint64_t page, int64_t left, uint32_t max)
{
	const struct ring_source *source = &stream->look.reader->lane[0].cursor.source;
	int64_t behind = (int64_t)source->npages - 2 - ring_distance(source, page, stream->look.tail);
	int64_t n = behind > 0 ? 1 + 2 * behind : 1, rest = source->npages - ((uint32_t)page & RING_INDEX_MASK);

	n = n < left ? n : left;
	n = n < rest ? n : rest;
	n = n < RUN_MAX ? n : RUN_MAX;
	return n < max ? (uint32_t)n : max;
}

/* The numbers of `n` pages and of the one behind them; as many more as there are come with them. */
static int find_firsts(struct stream *stream, uint64_t page, int64_t left, uint32_t n, const uint64_t **firsts)
{
	const struct ring_source *source = &stream->look.reader->lane[0].cursor.source;
	int64_t at = stream->look.n ? ring_distance(source, stream->look.page, page) : 0, most;
	int ret;

	if (at < 0 || at + n > stream->look.n) {
		most = source->npages - ((uint32_t)page & RING_INDEX_MASK);
		most = most < left ? most : left;
		most = most < RUN_MAX ? most : RUN_MAX;
		ret = ring_pages_firsts(source, page, (uint32_t)most, stream->look.firsts);		/* b */
		if (ret)
			return ret;
		stream->look.page = page;
		stream->look.n = (uint32_t)most;
		at = 0;
	}
	*firsts = stream->look.firsts + at;
	return 0;
}

/* How many of the pages hold what numbers say they can hold; *events in them. */
static uint32_t count_events(const struct cursor *cursor, const uint64_t *firsts, uint32_t n, uint32_t *events)
{
	uint32_t i = 0;

	if (firsts[0] != cursor->nr)
		return 0;
	while (i < n && firsts[i + 1] - firsts[i] - 1 < cursor->source.page_size / EVENT_MIN)
		i++;
	*events = (uint32_t)(firsts[i] - firsts[0]);
	return i;
}

int stream_run(struct stream *stream, uint32_t max, struct stream_run *run)
{
	const struct cursor *cursor;
	const uint64_t *firsts;
	uint64_t page;
	int64_t left;
	int ret = 1;

	*run = (struct stream_run){ .idle = false };
	if (stream->unaccepted)
		stream_accept(stream);
	stream->last.reader = NULL;
	stream->last.moves.n = 0;
	stream->run.n = 0;
	if (!stream->look.reader || count_left(stream, &page) < max)
		ret = look(stream, &run->idle);
	if (ret <= 0)
		return ret;
	left = count_left(stream, &page);
	if (left <= 0 || !max)
		return 0;
	cursor = &stream->look.reader->lane[0].cursor;
	run->n = run_length(stream, page, left, max);
	ret = find_firsts(stream, page, left, run->n, &firsts);
	if (ret)
		return ret;
	run->n = count_events(cursor, firsts, run->n, &run->events);
	run->pages = stream->look.reader->run.at + (size_t)((uint32_t)page & RING_INDEX_MASK) * cursor->source.page_size;
	stream->run.page = page;
	stream->run.n = run->n;
	stream->run.events = run->events;
	return run->n > 0;
}

bool stream_run_end(struct stream *stream)
{
	struct reader *reader = stream->look.reader;
	uint32_t n = stream->run.n;
	struct lane *own;
	uint64_t next;

	stream->run.n = 0;
	if (!reader || !n)
		return false;
	own = &reader->lane[0];
	if (!ring_page_reached(&own->cursor.source, stream->run.page, &stream->look.tail)) {		/* d */
		stream->look.reader = NULL;
		return false;
	}
	next = ring_page_step(&own->cursor.source, stream->run.page, n);
	cursor_go(&own->cursor, next, own->cursor.nr + stream->run.events);
	own->read += stream->run.events;
	stream->behind.reader = reader;
	stream->behind.page = ring_page_step(&own->cursor.source, next, -1);
	stream_accept(stream);
	return true;
}
