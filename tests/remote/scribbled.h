/*
 * A memory with anything in it: whatever stands in a ring, in its pages and in the header, and whichever of it changed since, an event or a
 * tick ends, and stores nowhere but in the ring of the core that it happens on and in that ring's pages.
 *
 * Tests bring a memory that nothing may be stored around, the places in it, and the writer.
 */
#ifndef TESTS_REMOTE_SCRIBBLED_H
#define TESTS_REMOTE_SCRIBBLED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "fw/layout.h"
#include "insist.h"

struct scribbled {
	unsigned char *memory;
	size_t size;
	struct ringside_fw_ring *rings;
	uint32_t nr_rings;
	unsigned char *pages;	/* of ring 0 */
	uint32_t nr_pages, page_shift;
	uint32_t *on;
	uint32_t words_max;
	void (*write)(uint32_t ring, const void *record, uint32_t words);
	void (*tick)(uint32_t ring);
};

static uint64_t scribbled_state = 0x9e3779b97f4a7c15ull;

static uint32_t scribbled_draw(void)
{
	scribbled_state ^= scribbled_state << 13;
	scribbled_state ^= scribbled_state >> 7;
	scribbled_state ^= scribbled_state << 17;
	return (uint32_t)(scribbled_state * 0x2545f4914f6cdd1dull >> 32);
}

/* Of what is near a limit more than chance has. */
static uint32_t scribbled_word(uint32_t near)
{
	uint32_t by = scribbled_draw() % 64;

	switch (scribbled_draw() % 8) {
	case 0:
		return by;
	case 1:
		return near - by;
	case 2:
		return near + by;
	case 3:
		return 0u - by;
	case 4:
		return 0x80000000u - 32 + by;
	case 5:
		return scribbled_draw() & 0xfff;
	default:
		return scribbled_draw();
	}
}

static void scribble(void *at, size_t bytes, uint32_t near)
{
	for (size_t i = 0; i < bytes / 4; i++) {
		uint32_t word = scribbled_word(near);

		if (scribbled_draw() % 4)
			memcpy((char *)at + 4 * i, &word, 4);
	}
}

static uintptr_t scribbled_commit(const unsigned char *page)
{
	uintptr_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	return commit;
}

/* Time stamp, commit and a few words; the seal. */
static void scribble_page(unsigned char *page, uint32_t size)
{
	/* A number with a sign, mostly: what is wide is seldom near anything. */
	uintptr_t commit = (uintptr_t)(intptr_t)(int32_t)scribbled_word(size);

	scribble(page, 32, size);
	if (scribbled_draw() % 4)
		memcpy(page + 8, &commit, sizeof(commit));
	scribble(page + size - sizeof(struct ringside_fw_seal), sizeof(struct ringside_fw_seal), size);
}

/* From a memory that was as a writer leaves it: part of it, or all. */
static void scribble_ring(const struct scribbled *all, uint32_t i)
{
	uint32_t page = 1u << all->page_shift;
	unsigned char *pages = all->pages + ((size_t)i * all->nr_pages << all->page_shift);

	if (scribbled_draw() % 2)
		scribble(&all->rings[i], sizeof(all->rings[i]), all->nr_pages);
	if (scribbled_draw() % 8 == 0)
		scribble(all->memory, sizeof(struct ringside_fw_header), page);
	for (uint32_t n = 0; n < all->nr_pages; n++)
		if (scribbled_draw() % 4)
			scribble_page(pages + ((size_t)n << all->page_shift), page);
}

static bool is_within(const struct scribbled *all, uint32_t i, size_t at)
{
	size_t ring = (size_t)((unsigned char *)&all->rings[i] - all->memory);
	size_t bytes = (size_t)all->nr_pages << all->page_shift;
	size_t pages = (size_t)(all->pages - all->memory) + i * bytes;

	return (at >= ring && at < ring + sizeof(*all->rings)) || (at >= pages && at < pages + bytes);
}

static void scribbled_try(const struct scribbled *all, const unsigned char *good, unsigned char *before)
{
	static uint32_t record[1024];
	uint32_t i = scribbled_draw() % all->nr_rings, stores = 1 + scribbled_draw() % 4;

	memcpy(all->memory, good, all->size);
	*all->on = 1;
	scribble_ring(all, i);
	memcpy(before, all->memory, all->size);
	while (stores--) {
		if (scribbled_draw() % 4)
			all->write(i, record, 1 + scribbled_draw() % (scribbled_draw() % 2 ? 32 : all->words_max));
		else
			all->tick(i);
	}
	for (size_t at = 0; at < all->size; at++)
		CHECK(before[at] == all->memory[at] || is_within(all, i, at), "an event in ring %u stores at %zu of %zu", i, at, all->size);
	/* There are machines that end where a word is stored in between. */
	for (unsigned char *page = all->pages; page < all->pages + ((all->nr_rings * all->nr_pages) << all->page_shift);
	     page += 1u << all->page_shift)
		CHECK(scribbled_commit(page) % 4 == 0 || scribbled_commit(page) == scribbled_commit(before + (page - all->memory)),
		      "an event is written behind %zx", (size_t)scribbled_commit(before + (page - all->memory)));
}

static inline void scribbled_all(const struct scribbled *all)
{
	unsigned char *good = malloc(2 * all->size), *before = good + all->size;

	CHECK(good, "memory");
	memcpy(good, all->memory, all->size);
	alarm(50);
	for (int tries = 0; tries < (SANITIZED ? 10000 : 50000); tries++)
		scribbled_try(all, good, before);
	free(good);
}

#endif
