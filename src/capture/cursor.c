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
static int find_record(const struct ring_read records[2], uint64_t consumed, struct ring_read *record)
{
	for (int i = 0; i < 2; i++) {
		if (records[i].pos == consumed) {
			*record = records[i];
			return i;
		}
	}
	*record = (struct ring_read){ .pos = consumed };
	return -1;
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
	cursor->stored = consumed;
	cursor->record = find_record(records, consumed, &record);
	cursor->numbered = cursor->record >= 0;
	cursor->nr = record.nr;
	cursor->lost_before = record.lost;
	cursor->read_before = record.read;
	cursor->refused_before = record.refused;
	cursor->ts_before = record.ts;
	cursor->page = ring_pos_page(source, consumed, tail, &cursor->offset);
	cursor->copies = malloc((size_t)CURSOR_BATCH * source->page_size);
	return cursor->copies ? 0 : -ENOMEM;
}

void cursor_close(struct cursor *cursor)
{
	free(cursor->copies);
	cursor->copies = NULL;
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
	/* Numbers may wrap; one that goes back is somebody's garbage. */
	if (cursor->numbered && first - cursor->nr < 1ull << 62)
		cursor->lost += first - cursor->nr;
	cursor->nr = first;
	cursor->numbered = true;
}

/* Makes `copy` one of the page in hand: from the batch, a new batch, or by itself. 1, 0 when the page is gone, -errno. */
static int fetch(struct cursor *cursor, uint64_t *first)
{
	const struct ring_source *source = &cursor->source;
	int64_t at = ring_distance(source, cursor->batch, cursor->page);
	int ret;

	if (at < 0 || at >= cursor->nbatch) {
		ret = ring_pages_copy(source, cursor->page, CURSOR_BATCH, cursor->copies, cursor->first);
		if (ret < 0)
			return ret;
		cursor->batch = cursor->page;
		cursor->nbatch = (uint32_t)ret;
		at = 0;
	}
	cursor->copy = cursor->copies + (size_t)at * source->page_size;
	cursor->closed = at < cursor->nbatch;
	if (!cursor->closed)
		return ring_page_copy(source, cursor->page, cursor->copy, first);
	*first = cursor->first[at];
	return 1;
}

static int walk_from_start(struct cursor *cursor)
{
	struct page_head *head = cursor->copy;

	/* A commit that cannot be: somebody's garbage, not an error of ours. */
	if (head->commit > cursor->source.page_size - PAGE_HEAD_SIZE)
		head->commit = 0;
	return page_walk_init(&cursor->walk, cursor->copy, cursor->source.page_size);
}

/* Loads the page in hand, or, when it is gone, the oldest that can be had. */
static int load(struct cursor *cursor)
{
	for (uint32_t tries = 0; tries < 32; tries++) {
		uint64_t first = 0, tail;
		uint32_t ahead = tries < 16 ? (1u << tries) - 1 : UINT32_MAX;
		int ret = fetch(cursor, &first);

		if (ret < 0)
			return ret;
		if (ret) {
			cursor->recount = cursor->offset && !cursor->numbered;
			if (!cursor->offset || cursor->recount)
				take_number(cursor, first);
			cursor->loaded = true;
			cursor->loads++;
			return walk_from_start(cursor);
		}
		ret = ring_read_tail(&cursor->source, &tail);
		if (ret)
			return ret;
		/* The oldest page is the next to go: each time it went, keep more of a distance. */
		if (ahead > cursor->source.npages - 2)
			ahead = cursor->source.npages - 2;
		go_to(cursor, ring_page_step(&cursor->source, ring_page_oldest(&cursor->source, tail), ahead));
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

/* Whether the page in hand, still open when it was copied, has got more since: 1, 0, -errno. */
static int grown(const struct cursor *cursor)
{
	uint64_t tail;
	int ret = ring_read_tail(&cursor->source, &tail);

	if (ret)
		return ret;
	return ring_distance(&cursor->source, cursor->page, tail) != 0 ||
	       ring_page_commit(&cursor->source, cursor->page) > cursor->walk.commit;
}

int cursor_peek(struct cursor *cursor)
{
	for (uint32_t turns = 0; turns <= cursor->source.npages + 64; turns++) {
		int ret;

		if (cursor->peeked || (cursor->loaded && walk_on(cursor)))
			return 1;
		if (cursor->loaded && cursor->closed) {
			go_to(cursor, ring_page_step(&cursor->source, cursor->page, 1));
		} else if (cursor->loaded) {
			ret = grown(cursor);
			if (ret <= 0)
				return ret;
		}
		ret = load(cursor);
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
	}
	return 0;
}

void cursor_pass(struct cursor *cursor)
{
	cursor->offset = cursor->end;
	cursor->nr++;
	cursor->peeked = false;
}

void cursor_finish(struct cursor *cursor)
{
	struct ring_head head;

	if (cursor->peeked || !cursor->numbered || ring_read_head(&cursor->source, &head))
		return;
	for (int i = 0; i < 2; i++)
		if (head.slot[i].tag == ring_pos(cursor->page, cursor->offset))
			take_number(cursor, head.slot[i].nr + head.dropped);
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

bool cursor_at_page(const struct cursor *cursor, uint64_t *page)
{
	bool through = cursor->loaded && cursor->closed && !cursor->peeked && cursor->offset >= cursor->walk.commit;

	*page = through ? ring_page_step(&cursor->source, cursor->page, 1) : cursor->page;
	return cursor->numbered && !cursor->lost && (through || !cursor->offset);
}

void cursor_go(struct cursor *cursor, uint64_t page, uint64_t nr)
{
	go_to(cursor, page);
	cursor->nr = nr;
}

static int write_head(const struct ring_source *source, uint64_t at, const void *from, size_t len)
{
	return pwrite(source->fd, from, len, (off_t)(source->offset + at)) == (ssize_t)len ? 0 : -EIO;
}

int cursor_store(struct cursor *cursor, uint64_t consumed_at, uint64_t records_at, const struct ring_read *record)
{
	/* In place when only numbers changed; else the other record, then the word that puts it in force, as writers do. */
	int slot = record->pos == cursor->stored && cursor->record >= 0 ? cursor->record : cursor->record != 1;
	int ret = write_head(&cursor->source, records_at + (uint64_t)slot * sizeof(*record), record, sizeof(*record));

	atomic_thread_fence(memory_order_seq_cst);
	if (!ret && record->pos != cursor->stored)
		ret = write_head(&cursor->source, consumed_at, &record->pos, sizeof(record->pos));
	if (!ret) {
		cursor->stored = record->pos;
		cursor->record = slot;
	}
	return ret;
}
