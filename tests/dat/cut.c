/*
 * A page that is cut anywhere has the same events at the same times, and tells of a loss only before
 * the event that it was told before; for any bytes at all it stays within its pages.
 */
#include <errno.h>

#include "dat/cut.h"
#include "decode/page.h"
#include "layout/page.h"
#include "made.h"

#define SIZE 1024
#define EVENTS_MAX (SIZE / 8)

static uint32_t seed = 1;

static uint32_t chance(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * below) >> 32);
}

struct page {
	uint8_t bytes[SIZE];
	const struct decode_abi *abi;
	uint32_t head, used;
};

static void put_word(struct page *p, uint32_t v)
{
	dat_store(p->bytes + p->head + p->used, 4, v, p->abi->big_endian);
	p->used += 4;
}

static void put_first(struct page *p, uint32_t type, uint32_t delta)
{
	put_word(p, p->abi->big_endian ? type << 27 | delta : type | delta << 5);
}

/* One thing of any kind that fits. */
static void put_any(struct page *p)
{
	uint32_t type = chance(6), words = 1 + chance(6);

	switch (type) {
	case 0:	/* its length in a word of its own, and not a multiple of four */
		put_first(p, EVENT_TYPE_LONG, chance(1000));
		put_word(p, 4 + words * 4 - chance(4));
		break;
	case 1:
		put_first(p, EVENT_TYPE_PADDING, 1 + chance(1000));
		put_word(p, 4 + words * 4);
		break;
	case 2:
		put_first(p, EVENT_TYPE_TIME_EXTEND, chance(1000));
		put_word(p, chance(5));
		return;
	case 3:
		put_first(p, EVENT_TYPE_TIME_STAMP, chance(1000));
		put_word(p, 1000000 + p->used);
		return;
	default:
		put_first(p, words, chance(1000));
	}
	for (uint32_t i = 0; i < words; i++)
		put_word(p, seed + i);
}

static void fill(struct page *p, const struct decode_abi *abi)
{
	uint32_t end = chance(SIZE - 100), flags = 0;

	*p = (struct page){ .abi = abi, .head = 8u + abi->long_size };
	while (p->used < end)
		put_any(p);
	if (chance(2))
		flags = PAGE_MISSED_EVENTS | (chance(2) ? PAGE_MISSED_STORED : 0);
	if (flags & PAGE_MISSED_STORED)
		dat_store(p->bytes + p->head + p->used, abi->long_size, 1 + chance(99),
			  abi->big_endian);
	dat_store(p->bytes, 8, 5000000000000, abi->big_endian);
	dat_store(p->bytes + 8, abi->long_size, p->used | flags, abi->big_endian);
}

static uint32_t read_events(const uint8_t *bytes, const struct decode_abi *abi,
			    struct page_event *events, uint64_t *lost)
{
	struct page_walk walk;
	uint32_t n = 0;

	*lost = 0;
	if (page_walk_init_abi(&walk, bytes, SIZE, abi))
		return 0;
	*lost = walk.lost;
	while (n < EVENTS_MAX && page_walk_next(&walk, &events[n]) == 1)
		n++;
	return n;
}

static void same(const struct page_event *a, const struct page_event *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CHECK(a[i].ts == b[i].ts && a[i].len == b[i].len &&
		      !memcmp(a[i].data, b[i].data, a[i].len), "event %u is another", i);
}

/* All cuts of a page with a few events, some of others. */
static void cut_everywhere(const uint8_t *bytes, const struct decode_abi *abi)
{
	static struct page_event whole[EVENTS_MAX], part[EVENTS_MAX];
	uint64_t lost, after;
	uint32_t n = read_events(bytes, abi, whole, &lost), step = 1 + n / 8;
	uint8_t out[SIZE + 8];

	CHECK(dat_cut_page(out, bytes, SIZE, SIZE, abi, 0, n + 1) == -EINVAL, "more than it has");
	CHECK(dat_cut_page(out, bytes, SIZE, SIZE, abi, 0, 0) == -EINVAL, "nothing");
	for (uint32_t from = 0; from < n; from += step)
		for (uint32_t to = from + 1; to <= n; to += step) {
			memset(out, 0xee, sizeof(out));
			CHECK(!dat_cut_page(out, bytes, SIZE, SIZE, abi, from, to), "%u", from);
			CHECK(out[SIZE] == 0xee, "more than a page was written");
			CHECK(read_events(out, abi, part, &after) == to - from, "not as many");
			same(whole + from, part, to - from);
			CHECK(after == (from ? 0 : lost), "a loss of %" PRIu64, after);
			CHECK(!part[0].offset, "the page does not begin with its event");
		}
}

int main(void)
{
	static const struct decode_abi abis[] = { { false, 8 }, { true, 8 }, { false, 4 },
						  { true, 4 } };
	struct page page;

	for (int i = 0; i < 4000; i++) {
		fill(&page, &abis[i % 4]);
		cut_everywhere(page.bytes, page.abi);
		/* Then with something in it that nobody wrote. */
		for (int j = 0; j < 3; j++) {
			page.bytes[chance(SIZE)] = (uint8_t)chance(256);
			cut_everywhere(page.bytes, page.abi);
		}
	}
	return 0;
}
