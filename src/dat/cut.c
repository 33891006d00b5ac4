/*
 * dat/cut: see cut.h.
 *
 *	page	| head | event 0 | extend | event 1 | event 2 |     | lost |
 *	1 .. 2	| head'| event 1'|				time in the head, no delta
 */
#include "dat/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/block.h"
#include "dat/store.h"
#include "decode/page.h"
#include "layout/page.h"

/* Bytes looked at together. */
#define WINDOW ((size_t)1 << 20)

struct dat_cut {
	const struct dat *dat;
	const struct dat_buffer *buffer;
	struct dat_lane *lane;
	struct dat_block *block;	/* NULL: none yet, or the end */
	uint64_t next;			/* number of the block behind it */
	uint32_t at;			/* of the page in the block */
	uint64_t seq;			/* of its first event */
	uint32_t events;		/* in it, as far as it can be read */
	bool plain;			/* it can be copied as it is */
	uint8_t *out;			/* a page */
};

/* Where the bytes of an event end, from the end of the page's head on. */
static uint32_t end_of(const struct page_walk *walk, const struct page_event *event)
{
	return (uint32_t)((const uint8_t *)event->data - walk->data) + ((event->len + 3) & ~3u);
}

/* The event's first word, without the time since the one before. */
static void clear_delta(uint8_t *word, bool big_endian)
{
	uint64_t v = decode_abi_load(word, 4, big_endian);

	v &= big_endian ? ~(uint64_t)EVENT_DELTA_MAX : (1u << EVENT_TYPE_BITS) - 1;
	dat_store(word, 4, v, big_endian);
}

/* The flags of a commit word, and the number behind `used` bytes of data. */
static uint32_t put_lost(uint8_t *data, uint32_t used, uint32_t room, uint64_t lost,
			 const struct decode_abi *abi)
{
	if (!lost)
		return 0;
	if (lost == PAGE_LOST_UNKNOWN || room - used < abi->long_size)
		return PAGE_MISSED_EVENTS;
	dat_store(data + used, abi->long_size, lost, abi->big_endian);
	return PAGE_MISSED_EVENTS | PAGE_MISSED_STORED;
}

int dat_cut_page(uint8_t *out, const uint8_t *page, uint32_t len, uint32_t size,
		 const struct decode_abi *abi, uint32_t from, uint32_t to)
{
	uint32_t head = 8u + abi->long_size, used, flags;
	struct page_event first = { .len = 0 }, last = { .len = 0 };
	struct page_walk walk;

	if (from >= to || page_walk_init_abi(&walk, page, len, abi))
		return -EINVAL;
	for (uint32_t i = 0; i < to; i++) {
		if (page_walk_next(&walk, &last) != 1)
			return -EINVAL;
		if (i == from)
			first = last;
	}
	used = end_of(&walk, &last) - first.offset;
	memset(out, 0, size);
	memcpy(out + head, walk.data + first.offset, used);
	clear_delta(out + head, abi->big_endian);
	flags = put_lost(out + head, used, size - head, from ? 0 : walk.lost, abi);
	dat_store(out, 8, first.ts, abi->big_endian);
	dat_store(out + 8, abi->long_size, used | flags, abi->big_endian);
	return 0;
}

int dat_cut_open(struct dat_cut **out, const struct dat *dat, const struct dat_buffer *buffer,
		 uint32_t i, struct err *err)
{
	struct dat_cut *cut = calloc(1, sizeof(*cut));
	int r;

	*out = NULL;
	if (cut)
		cut->out = malloc(buffer->page_size);
	if (!cut || !cut->out) {
		dat_cut_close(cut);
		return err_set(err, -ENOMEM, "out of memory");
	}
	cut->dat = dat;
	cut->buffer = buffer;
	r = dat_lane_open(&cut->lane, dat, buffer, i, WINDOW, err);
	if (r) {
		dat_cut_close(cut);
		return r;
	}
	*out = cut;
	return 0;
}

void dat_cut_close(struct dat_cut *cut)
{
	if (!cut)
		return;
	dat_block_drop(cut->block);
	dat_lane_close(cut->lane);
	free(cut->out);
	free(cut);
}

static uint32_t page_len(const struct dat_cut *cut)
{
	uint32_t left = cut->block->len - cut->at;

	return left < cut->buffer->page_size ? left : cut->buffer->page_size;
}

/*
 * Counts the page's events. A page that tells of a loss and begins with a time instead of an event
 * is not copied as it is: stock readers would not see the loss.
 */
static void look(struct dat_cut *cut)
{
	const struct decode_abi *abi = &dat_info(cut->dat)->abi;
	struct page_event event;
	struct page_walk walk;

	cut->events = 0;
	cut->plain = page_len(cut) == cut->buffer->page_size;
	if (page_walk_init_abi(&walk, cut->block->data + cut->at, page_len(cut), abi))
		return;
	while (page_walk_next(&walk, &event) == 1)
		if (!cut->events++ && walk.lost && event.offset)
			cut->plain = false;
}

/* The next page: 1, 0 at the end, or an error. */
static int step(struct dat_cut *cut, struct err *err)
{
	int r;

	cut->seq += cut->events;
	cut->events = 0;
	if (cut->block)
		cut->at += cut->buffer->page_size;
	while (!cut->block || cut->at >= cut->block->len) {
		dat_block_drop(cut->block);
		cut->block = NULL;
		r = dat_lane_fetch(cut->lane, cut->next, &cut->block, err);
		if (r != 1)
			return r;
		cut->next++;
		cut->at = 0;
	}
	look(cut);
	return 1;
}

/* Of the page at hand what is in the stretch. */
static int put(struct dat_cut *cut, uint64_t from, uint64_t to, struct dat_write *write)
{
	uint64_t end = cut->seq + cut->events;
	const uint8_t *page = cut->block->data + cut->at;
	uint32_t first = from > cut->seq ? (uint32_t)(from - cut->seq) : 0;
	uint32_t last = to < end ? (uint32_t)(to - cut->seq) : cut->events;
	int r;

	if (cut->plain && !first && last == cut->events)
		return dat_write_pages(write, page, cut->buffer->page_size);
	if (first >= last)
		return 0;
	r = dat_cut_page(cut->out, page, page_len(cut), cut->buffer->page_size,
			 &dat_info(cut->dat)->abi, first, last);
	return r ? r : dat_write_pages(write, cut->out, cut->buffer->page_size);
}

int dat_cut_copy(struct dat_cut *cut, uint64_t from, uint64_t to, struct dat_write *write,
		 struct err *err)
{
	int r = 1;

	if (from >= to)
		return 0;
	if (!cut->block)
		r = step(cut, err);
	while (r == 1 && cut->seq + cut->events <= from)
		r = step(cut, err);
	while (r == 1) {
		r = put(cut, from, to, write);
		/* The rest of this page may be wanted next. */
		if (r || cut->seq + cut->events >= to)
			break;
		r = step(cut, err);
	}
	return r;
}
