/*
 * capture/stream: see stream.h. Runs in the tool; one thread at a time per stream. Runs of pages are in run.c, waiting is in
 * wait.c and sleep.c, counting in stats.c.
 *
 * Sets are asked in the order in which they were made, each time anew: a writer that was late for the switch may still add an
 * event to a retired one. Within a set the CPU's own ring sets the pace; records from overflow rings, and those told late, are
 * slipped in by time, never before what is known of the own ring, and time never goes back in what is handed out (R5).
 */
#include "capture/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/build.h"
#include "capture/lanes.h"

#define LOCK_TRIES 2000

/* Does another consumer have what we want to lock? A transaction that is about to give up the set locks all its bytes at
 * once, and that passes. */
static bool is_consumed(const struct stream *stream, struct flock lock)
{
	return fcntl(stream->rings, F_OFD_GETLK, &lock) || (lock.l_type != F_UNLCK && lock.l_len == 1);
}

/* The right to consume this CPU of this buffer: a lock on a byte of the set's head, which dies with its holder. */
static int lock_set(const struct stream *stream, const struct state_set *set, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(set->offset + 64 + stream->cpu % 4032),
		.l_len = 1,
	};

	for (int i = 0; fcntl(stream->rings, F_OFD_SETLK, &lock); i++) {
		int error = errno;

		if ((error != EAGAIN && error != EACCES) || i == LOCK_TRIES || is_consumed(stream, lock))
			return -error;
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	return 0;
}

static struct reader *reader_of(struct stream *stream, const struct state_set *set)
{
	for (uint32_t i = 0; i < stream->nreaders; i++)
		if (stream->reader[i].set.offset == set->offset &&
		    stream->reader[i].set.generation == set->generation)
			return &stream->reader[i];
	return NULL;
}

static int take_sets(struct stream *stream, const struct state_set *sets, uint32_t n, struct err *err)
{
	struct state_set last = stream->last.reader ? stream->last.reader->set : (struct state_set){ 0 };
	struct reader next[SETS_MAX];
	uint32_t count = 0;
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++) {
		struct reader *known;

		if (!sets[i].offset)
			continue;
		known = reader_of(stream, &sets[i]);
		if (known) {
			next[count++] = *known;
			memset(known, 0, sizeof(*known));
			continue;
		}
		ret = stream->consume ? lock_set(stream, &sets[i], F_WRLCK) : 0;
		if (ret == -EAGAIN || ret == -EACCES)
			ret = err_set(err, -EBUSY, "cpu %u is being read by somebody else", stream->cpu);
		else if (!ret)
			ret = stream_reader_open(stream, &next[count], &sets[i]);
		if (!ret)
			count++;
	}
	for (uint32_t i = 0; i < stream->nreaders; i++) {
		/* What is still locked is not freed: see control/reclaim. */
		if (stream->consume && stream->reader[i].set.offset)
			lock_set(stream, &stream->reader[i].set, F_UNLCK);
		stream_reader_close(stream, &stream->reader[i]);
	}
	memcpy(stream->reader, next, count * sizeof(next[0]));
	stream->nreaders = count;
	stream->last.reader = last.offset ? reader_of(stream, &last) : NULL;
	for (uint32_t i = 0; i < count; i++)
		if (next[i].set.page_size > stream->page_size)
			stream->page_size = next[i].set.page_size;
	return ret ? err_set(err, ret, "cannot read the rings of cpu %u: %s", stream->cpu, strerror(-ret)) : 0;
}

int stream_update(struct stream *stream, const struct state_buffer *buffer, struct err *err)
{
	struct state_set sets[SETS_MAX];
	uint32_t n = buffer->nretired <= STATE_RETIRED_MAX ? buffer->nretired : STATE_RETIRED_MAX;

	stream_run_settle(stream);
	memcpy(sets, buffer->retired, n * sizeof(sets[0]));
	sets[n] = buffer->live;
	/* Sets with larger pages than those to come may still have to be read. */
	stream->page_size = buffer->page_size >= PAGE_SIZE_MIN && buffer->page_size <= PAGE_SIZE_MAX ?
			    buffer->page_size : PAGE_SIZE_MIN;
	return take_sets(stream, sets, n + 1, err);
}

/* Locks belong to the open file: a consumer needs one of its own. */
static int reopen(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

int stream_open(struct stream **out, int rings, const struct state_buffer *buffer, uint32_t ncpu, uint32_t cpu,
		bool consume, struct err *err)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	struct stat file;
	int ret;

	if (!stream)
		return err_set(err, -ENOMEM, "out of memory");
	stream->consume = consume;
	stream->rings = consume ? reopen(rings) : rings;
	if (stream->rings < 0) {
		ret = err_set(err, -errno, "cannot open the rings: %s", strerror(errno));
		free(stream);
		return ret;
	}
	if (!fstat(stream->rings, &file)) {
		stream->device = file.st_dev;
		stream->inode = file.st_ino;
	}
	stream->ncpu = ncpu;
	stream->cpu = cpu;
	stream_settle(stream);
	stream->last.begin = calloc(stream_lanes(stream), sizeof(struct move));
	ret = stream->last.begin ? stream_update(stream, buffer, err) : err_set(err, -ENOMEM, "out of memory");
	if (ret) {
		stream_close(stream);
		return ret;
	}
	*out = stream;
	return 0;
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	for (uint32_t i = 0; i < stream->nreaders; i++)
		stream_reader_close(stream, &stream->reader[i]);
	if (stream->consume)
		close(stream->rings);
	moves_fini(&stream->last.moves);
	free(stream->last.begin);
	free(stream);
}

uint32_t stream_page_size(const struct stream *stream)
{
	return stream->page_size;
}

static uint64_t take_lost(struct lane *lane)
{
	uint64_t lost = lane->cursor.lost;

	lane->cursor.lost = 0;
	lane->lost += lost;
	return lost;
}

/* What was lost since it was last told: in the CPU's rings, in the overflow ring of the same number, and for want of any. */
static uint64_t reader_lost(const struct stream *stream, struct reader *reader)
{
	struct lane *own = &reader->lane[0];
	uint64_t told = own->cursor.refused_before + reader->refused;
	uint64_t lost = take_lost(own) + take_lost(&reader->lane[1 + stream->cpu]) + take_lost(&reader->lane[stream_lane_told(stream)]);
	struct ring_head head;

	/* Once a batch is often enough, unless a run waits for it to be told. */
	if (own->open && (reader->run.refused || !cursor_in_batch(&own->cursor)) && !ring_read_head(&own->cursor.source, &head) &&
	    (int64_t)(head.refused - told) > 0) {
		lost += head.refused - told;
		own->lost += head.refused - told;
		reader->refused += head.refused - told;
	}
	reader->run.refused = false;
	return lost;
}

/* Overflow rings hold events of several CPUs. The stream of the same number counts what is lost in one; the others can only
 * say that there may have been some of theirs. */
static bool lost_more(const struct stream *stream, struct reader *reader)
{
	bool more = false;

	for (uint32_t n = 1; n < stream_lanes(stream); n++) {
		if (!stream_lane_tells(stream, n) && reader->lane[n].cursor.lost) {
			reader->lane[n].cursor.lost = 0;
			/* Where it stands by number has changed, and is to be stored. */
			reader->lane[n].told = UINT64_MAX;
			more = true;
		}
	}
	return more;
}

/* The own ring's page as it is, when nothing has to be slipped in and nothing of it was read before. */
static bool pass_through(struct stream *stream, struct reader *reader, uint64_t lost, void *page,
			 struct stream_page *info)
{
	struct lane *own = &reader->lane[0];
	uint32_t bytes = cursor_whole_page(&own->cursor);
	uint32_t used = PAGE_HEAD_SIZE + bytes;

	/* Some of it may have to be held back. */
	if (!bytes || reader->until != UINT64_MAX || own->cursor.walk.time_stamp < stream->last_ts ||
	    (lost && used + sizeof(lost) > own->cursor.source.page_size))
		return false;
	memcpy(page, own->cursor.copy, used);
	memset((char *)page + used, 0, stream->page_size - used);
	*info = (struct stream_page){ .bytes = bytes, .lost = lost, .first_ts = own->cursor.walk.time_stamp };
	if (lost) {
		((struct page_head *)page)->commit |= PAGE_MISSED_EVENTS | PAGE_MISSED_STORED;
		memcpy((char *)page + used, &lost, sizeof(lost));
	}
	stream->last.reader = reader;
	stream->last.page = own->cursor.page;
	info->events = cursor_pass_page(&own->cursor, &info->last_ts);
	own->read += info->events;
	stream->last.events = info->events;
	stream->last.nr = own->cursor.nr;
	stream->last.read = own->read;
	return true;
}

/* Where the lane stands. */
static struct move standing(const struct reader *reader, uint32_t n)
{
	const struct cursor *cursor = &reader->lane[n].cursor;

	return (struct move){ n, cursor->offset, reader->lane[n].open ? cursor->page : UINT64_MAX, cursor->nr };
}

/* Adds the next event of lane `n` to the page: 1, 0 when that is full, -ENOMEM. One that no page can hold is nobody's: it is
 * passed and counts as lost. */
static int move(struct stream *stream, const struct reader *reader, uint32_t n, struct build *build)
{
	struct lane *lane = &reader->lane[n];
	const struct page_event *event = &lane->cursor.event;
	uint64_t ts = event->ts > stream->last_ts ? event->ts : stream->last_ts;
	/* Behind the word that names the CPU. */
	uint32_t skip = n ? sizeof(uint32_t) : 0;
	bool added = build_add(build, ts, (const char *)event->data + skip, event->len - skip, sizeof(uint64_t));
	struct move now;

	if (!added && build->events)
		return 0;
	cursor_pass(&lane->cursor);
	if (!added) {
		lane->cursor.lost++;
		return 1;
	}
	lane->read++;
	now = standing(reader, n);
	return moves_add(&stream->last.moves, &now) ? -ENOMEM : 1;
}

/* Events of all lanes by time, until the page is full or the own ring's page in hand is through. `other` is the lane of the
 * others with the earliest event. */
static int merge(struct stream *stream, struct reader *reader, struct build *build, uint32_t other)
{
	struct lane *own = &reader->lane[0];
	uint64_t page = own->cursor.page;
	uint32_t loads = own->cursor.loads;

	for (;;) {
		struct lane *from;
		int look, ret = stream_lane_peek(stream, reader, 0);

		if (ret < 0)
			return ret;
		/* A copy made since may show what came after things in overflow rings that were not there yet (R8). */
		look = own->cursor.loads != loads ? stream_lane_earliest(stream, reader, &other) : 0;
		if (look < 0)
			return look;
		loads = own->cursor.loads;
		from = &reader->lane[other];
		if (ret && (!other || own->cursor.event.ts <= from->cursor.event.ts)) {
			/* A loss is told at the head of a page: what comes after one begins the next. */
			if (build->events && (own->cursor.page != page || own->cursor.lost))
				return 0;
			ret = move(stream, reader, 0, build);
			if (ret <= 0)
				return ret;
		} else if (other) {
			ret = move(stream, reader, other, build);
			if (ret <= 0)
				return ret;
			ret = stream_lane_earliest(stream, reader, &other);
			if (ret < 0)
				return ret;
		} else {
			return 0;
		}
	}
}

static void mark_more(void *page, struct stream_page *info, bool more)
{
	info->lost_more = more;
	if (more)
		((struct page_head *)page)->commit |= PAGE_MISSED_EVENTS;
}

static int reader_next(struct stream *stream, struct reader *reader, void *page, struct stream_page *info)
{
	struct build build;
	uint64_t lost = 0;
	bool more = false;
	uint32_t other;
	int own, ret;

	stream_reader_limit(stream, reader);
	own = stream_lane_peek(stream, reader, 0);
	ret = own < 0 ? own : stream_lane_earliest(stream, reader, &other);
	if (ret < 0)
		return ret;
	if (!own && !other)
		return 0;
	/* Before the merge: losses that it comes upon belong to the page after. Older sets may have ended with one. */
	for (struct reader *each = stream->reader; each <= reader; each++) {
		for (uint32_t n = 0; each < reader && n < stream_lanes(stream); n++)
			if (each->lane[n].open)
				cursor_finish(&each->lane[n].cursor);
		lost += reader_lost(stream, each);
		more |= lost_more(stream, each);
	}
	if (!other && pass_through(stream, reader, lost, page, info)) {
		mark_more(page, info, more);
		return 1;
	}
	for (uint32_t n = 0; n < stream_lanes(stream); n++)
		stream->last.begin[n] = standing(reader, n);
	build_begin(&build, page, stream->page_size);
	ret = merge(stream, reader, &build, other);
	if (ret < 0)
		return ret;
	build_end(&build, lost);
	stream->last.reader = reader;
	stream->last.events = build.events;
	*info = (struct stream_page){
		.bytes = build.len, .events = build.events, .lost = lost,
		.first_ts = build.first_ts, .last_ts = build.last_ts,
	};
	mark_more(page, info, more);
	return build.events > 0;
}

/* The rest of what was copied in one go comes first; a reader that dies on the way leaves it to be read again. */
static bool in_batch(const struct stream *stream)
{
	for (uint32_t i = 0; i < stream->nreaders; i++)
		if (stream->reader[i].lane[0].open && cursor_in_batch(&stream->reader[i].lane[0].cursor))
			return true;
	return false;
}

int stream_next(struct stream *stream, void *page, struct stream_page *info)
{
	if (stream->unaccepted && !in_batch(stream))
		stream_accept(stream);
	stream_run_settle(stream);
	stream->last.reader = NULL;
	stream->last.moves.n = 0;
	do {
		for (uint32_t i = 0; i < stream->nreaders; i++) {
			int ret = reader_next(stream, &stream->reader[i], page, info);

			if (ret > 0) {
				stream->last_ts = info->last_ts;
				stream->unaccepted = stream->consume;
			}
			if (ret)
				return ret;
		}
	} while (stream_limit_wait(stream));
	/* What was passed by on the way, of other CPUs in overflow rings, counts as read also when nothing was yielded: a change
	 * of the buffer may wait for it. */
	stream_accept(stream);
	return 0;
}

static void lane_accept(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	struct lane *lane = &reader->lane[n];
	struct cursor *cursor = &lane->cursor;
	/* A loss that was come upon and not told yet is left to whoever reads on; of overflow rings one stream tells. */
	uint64_t untold = stream_lane_tells(stream, n) ? cursor->lost : 0;
	struct ring_read record = {
		.pos = ring_pos(cursor->page, cursor->offset),
		.nr = cursor->nr - untold,
		.lost = cursor->lost_before + lane->lost,
		.read = cursor->read_before + lane->read,
		.refused = cursor->refused_before + reader->refused,
		.ts = stream->last_ts,
	};

	if (lane->open && (record.pos != cursor->stored || lane->told != lane->lost + reader->refused)) {
		cursor_store(cursor, lane->consumed_at, lane->records_at, &record);
		lane->told = lane->lost + reader->refused;
	}
}

void stream_accept(struct stream *stream)
{
	if (!stream->consume)
		return;
	for (uint32_t i = 0; i < stream->nreaders; i++)
		for (uint32_t n = 0; n < stream_lanes(stream); n++)
			lane_accept(stream, &stream->reader[i], n);
	stream->unaccepted = false;
}

/* The first `bytes` of a ring's own page, which hold so many events. */
static void accept_part_own(struct stream *stream, uint32_t events, uint32_t bytes, uint64_t ts)
{
	const struct reader *reader = stream->last.reader;
	struct lane *lane = &reader->lane[0];
	struct ring_read record = {
		.pos = ring_pos(stream->last.page, bytes),
		.nr = stream->last.nr - (stream->last.events - events),
		.lost = lane->cursor.lost_before + lane->lost,
		.read = lane->cursor.read_before + stream->last.read - (stream->last.events - events),
		.refused = lane->cursor.refused_before + reader->refused,
		.ts = ts,
	};

	stream_accept(stream);
	cursor_store(&lane->cursor, lane->consumed_at, lane->records_at, &record);
}

/* Of a page that was put together: each lane goes back to behind the last event that it gave to the first `events`. */
static void accept_part_moved(struct stream *stream, uint32_t events, uint64_t ts)
{
	const struct reader *reader = stream->last.reader;

	for (uint32_t n = 0; n < stream_lanes(stream); n++) {
		struct lane *lane = &reader->lane[n];
		uint32_t rest;
		const struct move *at = moves_last(&stream->last.moves, n, events, &rest);
		struct ring_read record;

		at = at ? at : &stream->last.begin[n];
		if (!lane->open || at->page == UINT64_MAX)
			continue;
		record = (struct ring_read){
			.pos = ring_pos(at->page, at->offset),
			.nr = at->nr,
			.lost = lane->cursor.lost_before + lane->lost,
			.read = lane->cursor.read_before + lane->read - rest,
			.refused = lane->cursor.refused_before + reader->refused,
			.ts = ts,
		};
		cursor_store(&lane->cursor, lane->consumed_at, lane->records_at, &record);
	}
	for (const struct reader *older = stream->reader; older < reader; older++)
		for (uint32_t n = 0; n < stream_lanes(stream); n++)
			lane_accept(stream, older, n);
}

void stream_accept_part(struct stream *stream, uint32_t events, uint32_t bytes, uint64_t ts)
{
	const struct reader *reader = stream->last.reader;

	if (!stream->consume || !reader || events >= stream->last.events)
		stream_accept(stream);
	else if (stream->last.moves.n)
		accept_part_moved(stream, events, ts);
	else
		accept_part_own(stream, events, bytes, ts);
}
