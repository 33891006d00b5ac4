/*
 * capture/cursor: see cursor.h. One thread at a time per cursor.
 */
#include "capture/cursor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_head(const struct ring_source *source, uint64_t at, void *to, size_t len)
{
	ssize_t n = pread(source->fd, to, len, (off_t)(source->offset + at));

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENODATA;
}

/* The record that belongs to the consumed word, if one does: a reader may have died between storing the two. */
static bool find_record(const struct ring_read records[2], uint64_t consumed, struct ring_read *record)
{
	for (int i = 0; i < 2; i++) {
		if (records[i].pos == consumed) {
			*record = records[i];
			return true;
		}
	}
	*record = (struct ring_read){ .pos = consumed };
	return false;
}

int cursor_open(struct cursor *cursor, const struct ring_source *source, uint64_t consumed_at, uint64_t records_at)
{
	struct ring_read records[2], record;
	uint64_t consumed, tail;
	int ret;

	memset(cursor, 0, sizeof(*cursor));
	cursor->source = *source;
	ret = read_head(source, consumed_at, &consumed, sizeof(consumed));
	if (!ret)
		ret = read_head(source, records_at, records, sizeof(records));
	if (!ret)
		ret = ring_read_tail(source, &tail);
	if (ret)
		return ret;
	cursor->numbered = find_record(records, consumed, &record);
	cursor->nr = record.nr;
	cursor->lost_before = record.lost;
	cursor->read_before = record.read;
	cursor->refused_before = record.refused;
	cursor->ts_before = record.ts;
	cursor->page = ring_pos_page(source, consumed, tail, &cursor->offset);
	cursor->copy = malloc(source->page_size);
	return cursor->copy ? 0 : -ENOMEM;
}

void cursor_close(struct cursor *cursor)
{
	free(cursor->copy);
	cursor->copy = NULL;
}

/* Goes to the start of a page; what lies between is lost. */
static void go_to(struct cursor *cursor, uint64_t page)
{
	cursor->page = page;
	cursor->offset = 0;
	cursor->loaded = false;
	cursor->peeked = false;
}

/* The page's own number decides what the next event's is. */
static void take_number(struct cursor *cursor, uint64_t first)
{
	if (cursor->numbered && first > cursor->nr && first - cursor->nr < 1ull << 62)
		cursor->lost += first - cursor->nr;
	cursor->nr = first;
	cursor->numbered = true;
}

/* Copies the page in hand, or, when it is gone, the oldest there is. */
static int load(struct cursor *cursor)
{
	for (int tries = 0; tries < 64; tries++) {
		uint64_t first = 0, tail;
		int ret = ring_page_copy(&cursor->source, cursor->page, cursor->copy, &first);

		if (ret < 0)
			return ret;
		if (ret) {
			cursor->recount = cursor->offset && !cursor->numbered;
			if (!cursor->offset || cursor->recount)
				take_number(cursor, first);
			cursor->loaded = true;
			return page_walk_init(&cursor->walk, cursor->copy, cursor->source.page_size);
		}
		ret = ring_read_tail(&cursor->source, &tail);
		if (ret)
			return ret;
		go_to(cursor, ring_page_oldest(&cursor->source, tail));
	}
	/* Writers go round faster than we copy: what they overwrite will be counted when a page holds still. */
	return -EAGAIN;
}

static uint32_t event_end(const struct page_event *event, const struct page_walk *walk)
{
	return (uint32_t)((const uint8_t *)event->data - walk->data) + ((event->len + 3) & ~3u);
}

/* The next unread event of the copy. */
static int walk_on(struct cursor *cursor)
{
	int ret;

	while ((ret = page_walk_next(&cursor->walk, &cursor->event)) > 0) {
		if (cursor->event.offset < cursor->offset) {
			cursor->nr += cursor->recount;
			continue;
		}
		cursor->end = event_end(&cursor->event, &cursor->walk);
		cursor->peeked = true;
		return 1;
	}
	/* A torn page: nothing behind the damage can be trusted, whoever did it. */
	if (ret < 0)
		cursor->offset = cursor->walk.commit;
	return 0;
}

int cursor_peek(struct cursor *cursor)
{
	for (uint32_t turns = 0; turns <= cursor->source.npages + 64; turns++) {
		uint32_t seen = cursor->walk.commit;
		uint64_t tail;
		int ret;

		if (cursor->peeked || (cursor->loaded && walk_on(cursor)))
			return 1;
		/* A page behind the tail is closed: its commit, read after that tail, is its last. */
		ret = ring_read_tail(&cursor->source, &tail);
		if (ret)
			return ret;
		if (cursor->loaded && ring_distance(&cursor->source, cursor->page, tail) == 0 &&
		    ring_page_commit(&cursor->source, cursor->page) <= seen)
			return 0;
		ret = load(cursor);
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
		if (walk_on(cursor))
			return 1;
		if (ring_distance(&cursor->source, cursor->page, tail) <= 0)
			return 0;
		go_to(cursor, ring_page_step(&cursor->source, cursor->page, 1));
	}
	return 0;
}

void cursor_pass(struct cursor *cursor)
{
	cursor->offset = cursor->end;
	cursor->nr++;
	cursor->peeked = false;
}

uint32_t cursor_whole_page(const struct cursor *cursor)
{
	return cursor->peeked && !cursor->offset ? cursor->walk.commit : 0;
}

uint32_t cursor_pass_page(struct cursor *cursor, uint64_t *ts)
{
	uint32_t events = 0;

	while (cursor->peeked || walk_on(cursor)) {
		*ts = cursor->event.ts;
		cursor_pass(cursor);
		events++;
	}
	return events;
}

static int write_head(const struct ring_source *source, uint64_t at, const void *from, size_t len)
{
	return pwrite(source->fd, from, len, (off_t)(source->offset + at)) == (ssize_t)len ? 0 : -EIO;
}

int cursor_store(const struct cursor *cursor, uint64_t consumed_at, uint64_t records_at, const struct ring_read *record)
{
	struct ring_read records[2];
	uint64_t consumed;
	int now, slot, ret;

	ret = read_head(&cursor->source, consumed_at, &consumed, sizeof(consumed));
	if (!ret)
		ret = read_head(&cursor->source, records_at, records, sizeof(records));
	if (ret)
		return ret;
	now = records[0].pos == consumed ? 0 : 1;
	slot = record->pos == consumed ? now : !now;
	/* The record, then the word that puts it in force: the writer's slots, for readers. */
	ret = write_head(&cursor->source, records_at + (uint64_t)slot * sizeof(*record), record, sizeof(*record));
	atomic_thread_fence(memory_order_seq_cst);
	if (!ret && record->pos != consumed)
		ret = write_head(&cursor->source, consumed_at, &record->pos, sizeof(record->pos));
	return ret;
}
