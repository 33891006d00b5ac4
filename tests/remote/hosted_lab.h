/*
 * What tests of the hosted writer share: a memory of its own, records that can be told from any others, and a watch on a ring, by the
 * host's own reader, that takes nothing on trust.
 */
#ifndef TESTS_REMOTE_HOSTED_LAB_H
#define TESTS_REMOTE_HOSTED_LAB_H

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "decode/page.h"
#include "fw/hosted.h"
#include "insist.h"
#include "remote/ring.h"

#define LAB_EVENTS 8u
#define LAB_ID 5u

struct lab {
	int fd;
	size_t size;
	void *base;
	struct ringside_fw_hosted fw;
	/* The reader's side. */
	struct remote_memory memory;
	struct remote_target target;
};

static inline void lab_open(struct lab *lab, uint32_t rings, uint32_t pages, uint32_t shift, uint32_t flags)
{
	struct ringside_fw_hosted_how how = {
		.nr_rings = rings, .nr_pages = pages, .page_shift = shift, .nr_events = LAB_EVENTS, .flags = flags, .on = 1,
	};
	struct err err = ERR_INIT;

	lab->size = ringside_fw_hosted_size(&how);
	lab->fd = memfd_create("lab", MFD_CLOEXEC);
	CHECK(lab->size && lab->fd >= 0 && !ftruncate(lab->fd, (off_t)lab->size), "%s", strerror(errno));
	lab->base = mmap(NULL, lab->size, PROT_READ | PROT_WRITE, MAP_SHARED, lab->fd, 0);
	CHECK(lab->base != MAP_FAILED, "%s", strerror(errno));
	CHECK(!ringside_fw_hosted_init(lab->base, lab->size, &how) && !ringside_fw_hosted_open(&lab->fw, lab->base, lab->size), "writer");
	CHECK(!remote_memory_take(&lab->memory, dup(lab->fd), true, &err) && !remote_target_read(&lab->target, &lab->memory, 0, &err),
	      "%s", err.text);
}

static inline void lab_close(struct lab *lab)
{
	remote_target_fini(&lab->target);
	remote_memory_close(&lab->memory);
	munmap(lab->base, lab->size);
	close(lab->fd);
}

static inline uint64_t lab_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Small, quick, and the same on every machine. */
static inline uint32_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state * 0x2545f4914f6cdd1dull >> 32);
}

/* ---- records ---- */

struct record {
	uint16_t id;
	uint16_t words;	   /* all of it */
	uint32_t writer;
	uint32_t seq;	   /* the writer's own count */
	uint32_t other;	   /* whatever the test wants to know later */
	uint32_t begun[2]; /* the clock before it was written */
	uint32_t word[1010];
};

#define RECORD_MIN 6u

static inline uint32_t record_word(const struct record *record, uint32_t i)
{
	return (record->writer + 1) * 0x9e3779b1u ^ (record->seq + i) * 0x85ebca6bu;
}

/* The time is the last to be filled in. */
static inline void record_fill(struct record *record, uint32_t writer, uint32_t seq, uint32_t other, uint32_t words)
{
	uint64_t now;

	record->id = LAB_ID;
	record->words = (uint16_t)words;
	record->writer = writer;
	record->seq = seq;
	record->other = other;
	for (uint32_t i = 0; i < words - RECORD_MIN; i++)
		record->word[i] = record_word(record, i);
	now = lab_now();
	memcpy(record->begun, &now, sizeof(now));
}

/* NULL when the bytes are a whole record, else what is wrong with them. */
static inline const char *record_wrong(const void *data, uint32_t len, uint64_t ts, struct record *record)
{
	uint64_t begun;

	if (len < RECORD_MIN * 4 || len > sizeof(*record))
		return "a length that nobody wrote";
	memcpy(record, data, len);
	if (record->id != LAB_ID || record->words * 4u != len)
		return "another length than it was written with";
	for (uint32_t i = 0; i < record->words - RECORD_MIN; i++)
		if (record->word[i] != record_word(record, i))
			return "torn";
	memcpy(&begun, record->begun, sizeof(begun));
	if (ts < begun)
		return "its time is before it was written";
	if (ts > lab_now())
		return "its time is yet to come";
	return NULL;
}

/* ---- watching ---- */

struct watch {
	struct lab *lab;
	uint32_t ring;
	const char *where; /* for messages */
	/* Called for each event; `index` counts all that were tried before it, but for those too long for a page since that was begun. */
	void (*see)(struct watch *watch, const struct record *record, uint32_t index, uint64_t ts);
	void *data;
	/* Found so far. */
	struct remote_cursor cursor;
	uint64_t events, lost, ts;
	uint32_t page; /* the event's */
	bool first;    /* it is the page's first */
};

/* One page: are there more? */
static inline bool watch_page(struct watch *watch)
{
	struct lab *lab = watch->lab;
	uint32_t page_words[TARGET_PAGE_MAX / 4];
	struct remote_page page = { .bytes = (unsigned char *)page_words };
	struct err err = ERR_INIT;
	uint32_t index, events = 0;
	struct page_event event;
	struct page_walk walk;
	struct record record;
	int r = remote_ring_next(&lab->target, &lab->memory, watch->ring, &watch->cursor, &page, &err);

	CHECK(r >= 0, "%s: ring %u: %s", watch->where, watch->ring, err.text);
	if (!r)
		return false;
	watch->lost += page.lost;
	index = page.from ? watch->cursor.count : page.count;
	CHECK(!page_walk_init_abi(&walk, page.bytes, lab->target.page_size, &lab->target.abi), "%s: no page", watch->where);
	while ((r = page_walk_next(&walk, &event)) > 0) {
		const char *wrong = record_wrong(event.data, event.len, event.ts, &record);

		if (event.offset < page.from)
			continue;
		CHECK(!wrong, "%s: ring %u page %u offset %u: %s", watch->where, watch->ring, page.number, event.offset, wrong);
		CHECK(event.ts >= watch->ts, "%s: ring %u page %u offset %u: time goes back from %llu to %llu", watch->where,
		      watch->ring, page.number, event.offset, (unsigned long long)watch->ts, (unsigned long long)event.ts);
		watch->page = page.number;
		watch->first = !page.from && !events;
		watch->ts = event.ts;
		watch->events++;
		watch->see(watch, &record, index + events++, event.ts);
	}
	CHECK(!r, "%s: ring %u: page %u does not parse to its end", watch->where, watch->ring, page.number);
	remote_ring_taken(&lab->target, &watch->cursor, &page, page.commit, events);
	return true;
}

#endif
