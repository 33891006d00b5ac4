/*
 * dat/block: see block.h.
 *
 *   plain	block n is the n-th window of the CPU's bytes
 *   packed	block n is the n-th chunk: {packed size, size, bytes}, one behind the other, after their
 *		number. Where chunks begin is only known by going along them; every 16th place is kept.
 */
#include "dat/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/local.h"

#define INDEX_STEP 16
#define CHUNK_HEAD 8

/* A block, under way or idle; its bytes lie behind it. */
struct pooled {
	struct dat_block block;
	struct pooled *next;
	size_t room;
	uint8_t bytes[];
};

struct dat_lane {
	const struct dat *dat;
	const struct dat_buffer *buffer;
	struct dat_cpu cpu;
	size_t window;
	pthread_mutex_t lock;		/* of idle */
	struct pooled *idle;

	/* Packed lanes. */
	struct pack *pack;
	uint64_t nr_chunks;
	uint64_t *index;		/* place of every INDEX_STEP-th chunk */
	uint64_t nr_index, cap_index;
	uint64_t next_number, next_at;	/* the chunk behind the one looked at last */
	uint8_t *packed;
	size_t packed_room;
};

/* The size that files tell of packed data leaves out the number of chunks before it. */
static uint64_t end_of(const struct dat_lane *lane)
{
	uint64_t end = lane->cpu.offset + lane->cpu.size + sizeof(uint32_t);

	return end < lane->dat->info.size ? end : lane->dat->info.size;
}

static void give_up(struct dat_lane *lane, struct pooled *p)
{
	if (p)
		atomic_fetch_sub(lane->dat->held, p->room);
	free(p);
}

/* A block with room for `room` bytes, an idle one or a new one. */
static int take(struct dat_lane *lane, size_t room, struct pooled **out, struct err *err)
{
	struct pooled *p;

	pthread_mutex_lock(&lane->lock);
	p = lane->idle;
	if (p)
		lane->idle = p->next;
	pthread_mutex_unlock(&lane->lock);
	*out = p;
	if (p && p->room >= room)
		return 0;
	give_up(lane, p);
	if (atomic_fetch_add(lane->dat->held, room) + room > DAT_HELD_MAX) {
		atomic_fetch_sub(lane->dat->held, room);
		return dat_bad(lane->dat, err, -ENOMEM, lane->cpu.offset,
			       "CPU %d: more than %zu MB of pages at once", lane->cpu.cpu,
			       DAT_HELD_MAX >> 20);
	}
	*out = p = malloc(sizeof(*p) + room);
	if (!p) {
		atomic_fetch_sub(lane->dat->held, room);
		return err_set(err, -ENOMEM, "out of memory");
	}
	p->room = room;
	return 0;
}

void dat_block_hold(struct dat_block *block)
{
	__atomic_fetch_add(&block->refs, 1, __ATOMIC_RELAXED);
}

void dat_block_drop(struct dat_block *block)
{
	struct pooled *p = (struct pooled *)block;
	struct dat_lane *lane;

	if (!block || __atomic_sub_fetch(&block->refs, 1, __ATOMIC_ACQ_REL))
		return;
	lane = block->lane;
	pthread_mutex_lock(&lane->lock);
	p->next = lane->idle;
	lane->idle = p;
	pthread_mutex_unlock(&lane->lock);
}

static int fetch_plain(struct dat_lane *lane, uint64_t number, struct dat_block **out,
		       struct err *err)
{
	uint64_t from = number * lane->window;
	struct pooled *p;
	size_t len;
	int r;

	if (number > UINT64_MAX / lane->window || from >= lane->cpu.size)
		return 0;
	len = lane->cpu.size - from < lane->window ? (size_t)(lane->cpu.size - from) : lane->window;
	r = take(lane, len, &p, err);
	if (r)
		return r;
	p->block = (struct dat_block){ .data = p->bytes, .len = (uint32_t)len, .number = number,
				       .at = lane->cpu.offset + from, .lane = lane, .refs = 1 };
	r = dat_read(lane->dat, p->block.at, p->bytes, len, err);
	if (r) {
		dat_block_drop(&p->block);
		return r;
	}
	*out = &p->block;
	return 1;
}

/* Writers put ten pages into a chunk. */
static uint32_t chunk_max(const struct dat_lane *lane)
{
	uint32_t pages = lane->buffer->page_size * 10;

	return pages > DAT_CHUNK_MAX ? pages : DAT_CHUNK_MAX;
}

/* The head of the chunk at `at`: its sizes, checked. */
static int chunk_head(struct dat_lane *lane, uint64_t at, uint32_t *packed, uint32_t *len,
		      struct err *err)
{
	uint8_t head[CHUNK_HEAD];
	uint64_t end = end_of(lane);
	int r;

	if (at > end || end - at < CHUNK_HEAD)
		return dat_bad(lane->dat, err, -EBADMSG, at, "CPU %d: a chunk is missing",
			       lane->cpu.cpu);
	r = dat_read(lane->dat, at, head, sizeof(head), err);
	if (r)
		return r;
	*packed = (uint32_t)dat_word(lane->dat, head, 4);
	*len = (uint32_t)dat_word(lane->dat, head + 4, 4);
	if (*packed > end - at - CHUNK_HEAD || !*len || *len > chunk_max(lane) || !*packed ||
	    *packed / 2 > *len + 4096u)
		return dat_bad(lane->dat, err, -EBADMSG, at,
			       "CPU %d: a chunk that claims %u bytes, unpacked %u", lane->cpu.cpu,
			       *packed, *len);
	return 0;
}

static int note(struct dat_lane *lane, uint64_t number, uint64_t at, struct err *err)
{
	uint64_t cap = lane->cap_index ? lane->cap_index * 2 : 64, *more;

	if (number % INDEX_STEP || number / INDEX_STEP != lane->nr_index)
		return 0;
	if (lane->nr_index == lane->cap_index) {
		more = realloc(lane->index, cap * sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		lane->index = more;
		lane->cap_index = cap;
	}
	lane->index[lane->nr_index++] = at;
	return 0;
}

/* The number of chunks may be newer than what else is known of a file that grows. */
static bool is_end(const struct dat_lane *lane, uint64_t at)
{
	return lane->dat->grows && at == end_of(lane);
}

/* Moves next_number and next_at to a chunk, or to the end. */
static int go_to(struct dat_lane *lane, uint64_t number, struct err *err)
{
	uint64_t near = number / INDEX_STEP;
	uint32_t packed, len;
	int r = 0;

	if (near >= lane->nr_index)
		near = lane->nr_index - 1;
	if (number < lane->next_number || lane->next_number < near * INDEX_STEP) {
		lane->next_number = near * INDEX_STEP;
		lane->next_at = lane->index[near];
	}
	while (!r && lane->next_number < number && !is_end(lane, lane->next_at)) {
		r = chunk_head(lane, lane->next_at, &packed, &len, err);
		if (r)
			break;
		lane->next_at += CHUNK_HEAD + packed;
		r = note(lane, ++lane->next_number, lane->next_at, err);
	}
	return r;
}

static int read_packed(struct dat_lane *lane, uint64_t at, uint32_t packed, struct err *err)
{
	uint8_t *more;

	if (packed > lane->packed_room) {
		more = realloc(lane->packed, packed);
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		lane->packed = more;
		lane->packed_room = packed;
	}
	return dat_read(lane->dat, at, lane->packed, packed, err);
}

static int fetch_packed(struct dat_lane *lane, uint64_t number, struct dat_block **out,
			struct err *err)
{
	uint32_t packed = 0, len = 0;
	struct pooled *p;
	uint64_t at;
	int r;

	if (number >= lane->nr_chunks)
		return 0;
	r = go_to(lane, number, err);
	at = lane->next_at;
	if (!r && is_end(lane, at))
		return 0;
	if (!r)
		r = chunk_head(lane, at, &packed, &len, err);
	if (!r)
		r = read_packed(lane, at + CHUNK_HEAD, packed, err);
	if (r)
		return r;
	r = take(lane, len, &p, err);
	if (r)
		return r;
	p->block = (struct dat_block){ .data = p->bytes, .len = len, .number = number, .at = at,
				       .lane = lane, .refs = 1 };
	if (pack_expand(lane->pack, lane->packed, packed, p->bytes, len) != (long)len) {
		dat_block_drop(&p->block);
		return dat_bad(lane->dat, err, -EILSEQ, at, "CPU %d: a chunk cannot be unpacked",
			       lane->cpu.cpu);
	}
	lane->next_at = at + CHUNK_HEAD + packed;
	r = note(lane, ++lane->next_number, lane->next_at, err);
	if (r) {
		dat_block_drop(&p->block);
		return r;
	}
	*out = &p->block;
	return 1;
}

int dat_lane_fetch(struct dat_lane *lane, uint64_t number, struct dat_block **out, struct err *err)
{
	return lane->buffer->packed ? fetch_packed(lane, number, out, err) :
				      fetch_plain(lane, number, out, err);
}

/* The time of a block's first page: 1, 0 behind the last, or an error. */
static int time_of(struct dat_lane *lane, uint64_t number, uint64_t *time, struct err *err)
{
	struct dat_block *block;
	uint8_t word[8];
	int r;

	if (!lane->buffer->packed) {
		if (number * lane->window + sizeof(word) > lane->cpu.size)
			return 0;
		r = dat_read(lane->dat, lane->cpu.offset + number * lane->window, word, sizeof(word),
			     err);
		if (r)
			return r;
		*time = dat_word(lane->dat, word, sizeof(word));
		return 1;
	}
	r = fetch_packed(lane, number, &block, err);
	if (r != 1)
		return r;
	*time = block->len < 8 ? 0 : dat_word(lane->dat, block->data, 8);
	dat_block_drop(block);
	return 1;
}

uint64_t dat_lane_blocks(const struct dat_lane *lane)
{
	return lane->buffer->packed ? lane->nr_chunks :
				      (lane->cpu.size + lane->window - 1) / lane->window;
}

int dat_lane_length(struct dat_lane *lane, uint64_t *bytes, struct err *err)
{
	uint32_t packed, len;
	uint64_t at = lane->cpu.offset + 4;
	int r;

	*bytes = lane->buffer->packed ? 0 : lane->cpu.size;
	for (uint64_t i = 0; i < lane->nr_chunks && !is_end(lane, at); i++) {
		r = chunk_head(lane, at, &packed, &len, err);
		if (r)
			return r;
		at += CHUNK_HEAD + packed;
		*bytes += len;
	}
	return 0;
}

int dat_lane_seek(struct dat_lane *lane, bool (*later)(void *arg, uint64_t time), void *arg,
		  uint64_t *number, struct err *err)
{
	uint64_t low = 0, high = dat_lane_blocks(lane), time = 0;

	/* Blocks before low are not later, high and those behind it are, or cannot be read. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, at = middle;
		int r;

		/* One that has no time is asked for that of those behind it. */
		do
			r = time_of(lane, at++, &time, lane->buffer->packed ? NULL : err);
		while (r == -EILSEQ && at < high);
		if (r < 0 && !lane->buffer->packed)
			return r;
		if (r == 1 && !later(arg, time))
			low = at;
		else
			high = middle;
	}
	*number = low ? low - 1 : 0;
	return 0;
}

static int open_packed(struct dat_lane *lane, struct err *err)
{
	uint8_t word[4];
	int r;

	if (lane->cpu.size < sizeof(word))
		return 0;
	r = dat_pack_open(lane->dat, lane->cpu.offset, &lane->pack, err);
	if (!r)
		r = dat_read(lane->dat, lane->cpu.offset, word, sizeof(word), err);
	if (r)
		return r;
	lane->nr_chunks = dat_word(lane->dat, word, sizeof(word));
	lane->next_at = lane->cpu.offset + sizeof(word);
	return note(lane, 0, lane->next_at, err);
}

int dat_lane_open(struct dat_lane **out, const struct dat *dat, const struct dat_buffer *buffer,
		  uint32_t i, size_t window, struct err *err)
{
	struct dat_lane *lane = calloc(1, sizeof(*lane));
	int r = 0;

	*out = NULL;
	if (!lane)
		return err_set(err, -ENOMEM, "out of memory");
	lane->dat = dat;
	lane->buffer = buffer;
	lane->cpu = buffer->cpus[i];
	lane->window = window & ~(size_t)(buffer->page_size - 1);
	if (!lane->window)
		lane->window = buffer->page_size;
	pthread_mutex_init(&lane->lock, NULL);
	if (buffer->packed)
		r = open_packed(lane, err);
	if (r) {
		dat_lane_close(lane);
		return r;
	}
	*out = lane;
	return 0;
}

void dat_lane_close(struct dat_lane *lane)
{
	struct pooled *next;

	if (!lane)
		return;
	for (struct pooled *p = lane->idle; p; p = next) {
		next = p->next;
		give_up(lane, p);
	}
	pthread_mutex_destroy(&lane->lock);
	pack_close(lane->pack);
	free(lane->index);
	free(lane->packed);
	free(lane);
}
