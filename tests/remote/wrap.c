/*
 * Numbers of pages and of events have 32 bits and come round: a ring that was written for days is read as one that was just begun. What
 * is lost is told, to the event, and nobody says that the target was started again.
 */
#include "remote/hosted_lab.h"

#define PAGES 4u
#define SHIFT 8u

static struct lab lab;

/* As if the ring had been written until page `tail` would come next, and `count` events. */
static void age(uint32_t tail, uint32_t count)
{
	struct ringside_fw_ring *ring = lab.fw.rings;

	for (uint32_t number = tail - PAGES; number != tail; number++) {
		unsigned char *page = (unsigned char *)lab.base + ring->pages + ((size_t)(number % PAGES) << SHIFT);
		struct ringside_fw_seal seal = { number, count };
		uint64_t commit = 0, stamp = lab_now();

		memcpy(page, &stamp, 8);
		memcpy(page + 8, &commit, sizeof(uintptr_t));
		memcpy(page + (1u << SHIFT) - sizeof(seal), &seal, sizeof(seal));
	}
	ring->tail = tail - 1;
	ring->first = 0;
	ring->count = count;
	ring->time = lab_now();
}

static void write_events(uint32_t n)
{
	static uint32_t seq;
	struct record record;

	for (uint32_t i = 0; i < n; i++) {
		record_fill(&record, 0, seq++, 0, 10);
		ringside_fw_hosted_write(&lab.fw, 0, &record, 10);
	}
}

/* Takes all that is there: how many, and how many were lost. */
static uint32_t take(struct remote_cursor *cursor, uint64_t *lost)
{
	uint32_t bytes[TARGET_PAGE_MAX / 4], events, all = 0;
	struct remote_page page = { .bytes = (unsigned char *)bytes };
	struct err err = ERR_INIT;
	struct page_event event;
	struct page_walk walk;
	int r;

	*lost = 0;
	while ((r = remote_ring_next(&lab.target, &lab.memory, 0, cursor, &page, &err)) > 0) {
		CHECK(!page_walk_init_abi(&walk, page.bytes, lab.target.page_size, &lab.target.abi), "no page");
		for (events = 0; page_walk_next(&walk, &event) > 0;)
			events += event.offset >= page.from;
		*lost += page.lost;
		all += events;
		remote_ring_taken(&lab.target, cursor, &page, page.commit, events);
	}
	CHECK(!r, "%s", err.text);
	return all;
}

/* A reader that was there just before, at `tail`, sees a gap as one. */
static void try_gap(uint32_t tail, uint32_t count)
{
	struct remote_cursor cursor = { 0 };
	uint64_t lost;
	uint32_t got;

	age(tail, count);
	write_events(3);
	take(&cursor, &lost);
	write_events(2);
	got = take(&cursor, &lost);
	CHECK(got == 2 && !lost, "page %#x: %u events, %llu lost", tail, got, (unsigned long long)lost);
	write_events(1000);
	got = take(&cursor, &lost);
	CHECK(got && got + lost == 1000, "page %#x, event %#x: %u events, %llu lost", tail, count, got, (unsigned long long)lost);
}

/* One that was away for long, while all this happened. */
static void try_absence(uint32_t pages, uint32_t events)
{
	struct remote_cursor cursor = { 0 };
	uint32_t tail = lab.fw.rings->tail, got;
	uint64_t lost;

	write_events(5);
	take(&cursor, &lost);
	age(tail + pages, lab.fw.rings->count + events);
	write_events(7);
	got = take(&cursor, &lost);
	CHECK(got == 7 && lost == events, "%#x pages later: %u events, %llu lost, not %u", pages, got, (unsigned long long)lost, events);
}

/* What a reset threw away is not lost, what was overwritten behind it is. */
static void try_reset(uint32_t tail)
{
	struct remote_cursor cursor = { 0 };
	uint64_t lost;
	uint32_t got;

	age(tail, 77);
	write_events(3);
	take(&cursor, &lost);
	write_events(1000);
	lab.fw.rings->asked |= 1;
	lab.fw.rings->asked += 2;
	ringside_fw_hosted_tick(&lab.fw, 0);
	write_events(4);
	got = take(&cursor, &lost);
	CHECK(got == 4 && !lost, "page %#x, reset: %u events, %llu lost", tail, got, (unsigned long long)lost);
}

/* A memory that was put back to what it was: times went back, and so did numbers. */
static void try_going_back(void)
{
	struct remote_cursor cursor = { 0 };
	uint32_t bytes[TARGET_PAGE_MAX / 4];
	struct remote_page page = { .bytes = (unsigned char *)bytes };
	unsigned char *before = malloc(lab.size);
	struct err err = ERR_INIT;
	uint64_t lost;
	int r;

	CHECK(before, "out of memory");
	age(100, 1000);
	write_events(1);
	memcpy(before, lab.base, lab.size);
	write_events(1000);
	take(&cursor, &lost);
	memcpy(lab.base, before, lab.size);
	free(before);
	r = remote_ring_next(&lab.target, &lab.memory, 0, &cursor, &page, &err);
	CHECK(r == -ESTALE, "went back: %d, not -ESTALE: %s", r, err.text);
}

int main(void)
{
	static const uint32_t tails[] = { 8, 0x7ffffff0, 0x7fffffff, 0x80000000, 0x80000100, 0xc0000000, 0xfffffff0, 0xffffffff };

	lab_open(&lab, 1, PAGES, SHIFT, 0);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		try_gap(tails[i], 100);
		try_gap(tails[i], 0x7ffffff0);
		try_gap(tails[i], 0xfffffff0);
		try_reset(tails[i]);
	}
	age(8, 100);
	try_absence(1u << 27, 0x7fffffff);
	try_absence(1u << 28, 0x80000000);
	try_absence(0x7fffffff, 0xf0000000);
	try_absence(0x80000010, 1u << 30);
	try_absence(0xf0000000, 0x80000000);
	try_going_back();
	lab_close(&lab);
	return 0;
}
