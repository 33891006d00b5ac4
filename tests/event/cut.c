/*
 * Records of every length: what a site puts together on the stack and what the library puts
 * together in staging memory are the same bytes; what is too long is cut and still whole; NULL is
 * no reason to crash.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include <ringside/event.h>

RINGSIDE_EVENT(cut, one, field(int, a), string(s))
RINGSIDE_EVENT(cut, two, string(first), field(char, c), string(second))
RINGSIDE_EVENT(cut, mix, string_n(piece), sequence(uint64_t, longs), bitmask(bits), sequence(short, odd),
	       string(last))
RINGSIDE_EVENT(cut, large, array(int, many, 200), field(char, c), string(s))
RINGSIDE_EVENT(cut, edge, array(char, full, 240), string(s))

static char long_text[9000];

/* Offset and length of the dynamic part that a word of the record names. */
static uint32_t part_at(const struct mock_record *r, uint32_t offset)
{
	return mock_u32(r, offset) & 0xffff;
}

static uint32_t part_len(const struct mock_record *r, uint32_t offset)
{
	return mock_u32(r, offset) >> 16;
}

static void want(const char *name, uint32_t hint)
{
	mock_find("cut", name)->hint = hint;
}

static void check_lengths(void)
{
	struct mock_record site;

	for (size_t len = 0; len < 300; len++) {
		const char *text = long_text + 4500 - len;

		want("one", 1);
		trace_cut_one((int)len, text);
		site = *mock_take();
		want("one", 3);
		trace_cut_one((int)len, text);
		CHECK(site.len == 16 + (len + 4) / 4 * 4, "len %zu: %u", len, site.len);
		CHECK(!memcmp(&site, mock_take(), sizeof(site)), "len %zu: two ways, two records", len);
		CHECK(part_len(&site, 12) == len + 1 && part_at(&site, 12) == 16, "len %zu", len);
		CHECK(!strcmp((char *)site.data + 16, text), "len %zu", len);
	}
}

static void check_mix(void)
{
	static const uint64_t longs[40] = { 1, 2, 3, 4, 5, 6, 7, 8, ~0ull };
	static const short odd[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const unsigned long bits[8] = { ~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul };
	struct mock_record site;

	for (size_t n = 0; n < 9; n++) {
		want("mix", 1);
		trace_cut_mix(long_text, n * 3, longs, n, bits, n * 17, odd, n, long_text + 4480);
		site = *mock_take();
		want("mix", 2 | 1);
		trace_cut_mix(long_text, n * 3, longs, n, bits, n * 17, odd, n, long_text + 4480);
		CHECK(!memcmp(&site, mock_take(), sizeof(site)), "n %zu: two ways, two records", n);
		CHECK(part_len(&site, 12) == n * 8 && part_len(&site, 16) == (n * 17 + 63) / 64 * 8,
		      "n %zu", n);
	}
}

static void check_null(void)
{
	for (uint32_t hint = 1; hint < 4; hint += 2) {
		const struct mock_record *r;

		want("one", hint);
		trace_cut_one(1, NULL);
		r = mock_take();
		CHECK(r->len == 24 && !strcmp((const char *)r->data + 16, "(null)"), "hint %u", hint);
		want("mix", hint);
		trace_cut_mix(NULL, 77, NULL, 5, NULL, 99, NULL, 3, NULL);
		r = mock_take();
		CHECK(!strcmp((const char *)r->data + part_at(r, 8), "(null)"), "hint %u", hint);
		CHECK(!part_len(r, 12) && !part_len(r, 16) && !part_len(r, 20), "hint %u", hint);
		CHECK(!strcmp((const char *)r->data + part_at(r, 24), "(null)"), "hint %u", hint);
		want("large", hint);
		trace_cut_large(NULL, 'x', "");
		r = mock_take();
		CHECK(!mock_u32(r, 8) && r->data[808] == 'x', "hint %u", hint);
	}
}

static void check_too_long(void)
{
	static uint64_t longs[1000];
	const struct mock_record *r;

	want("one", 1);
	trace_cut_one(1, long_text);
	r = mock_take();
	CHECK(r->len == RINGSIDE_RECORD_MAX, "%u", r->len);
	CHECK(part_len(r, 12) == RINGSIDE_RECORD_MAX - 16 && !r->data[r->len - 1], "%u", part_len(r, 12));
	CHECK(!memcmp(r->data + 16, long_text, part_len(r, 12) - 1), "the beginning is kept");

	want("two", 1);
	trace_cut_two(long_text, 'c', "behind");
	r = mock_take();
	CHECK(r->len == RINGSIDE_RECORD_MAX, "%u", r->len);
	CHECK(part_len(r, 16) <= 4 && !strncmp((const char *)r->data + part_at(r, 16), "behind", 3),
	      "a long string takes all from the one behind it");

	want("mix", 1);
	for (size_t i = 0; i < 1000; i++)
		longs[i] = i;
	trace_cut_mix("p", 1, longs, 1000, NULL, 0, NULL, 0, "end");
	r = mock_take();
	CHECK(part_len(r, 12) % 8 == 0 && part_len(r, 12) > 3900, "%u: whole elements", part_len(r, 12));
	CHECK(mock_u64(r, part_at(r, 12) + part_len(r, 12) - 8) == part_len(r, 12) / 8 - 1, "the last");
	CHECK(r->len <= RINGSIDE_RECORD_MAX && !strncmp((const char *)r->data + part_at(r, 24), "end", 3),
	      "the end");
	trace_cut_mix(long_text, SIZE_MAX / 2, longs, SIZE_MAX / 4, NULL, SIZE_MAX, NULL, SIZE_MAX, NULL);
	CHECK(mock_take()->len <= RINGSIDE_RECORD_MAX, "lengths of nonsense");
}

static void check_edges(void)
{
	static const int many[200] = { 1, 2, 3 };
	char full[240];
	const struct mock_record *r;

	memset(full, 'f', sizeof(full));
	for (uint32_t hint = 1; hint < 4; hint += 2) {
		want("large", hint);
		trace_cut_large(many, 'x', "text");
		r = mock_take();
		CHECK(r->len == 8 + 800 + 4 + 4 + 8 && mock_u32(r, 16) == 3, "%u", r->len);
		want("edge", hint);
		trace_cut_edge(full, "abc");
		r = mock_take();
		CHECK(r->len == 256 && !memcmp(r->data + 8, full, 240), "%u", r->len);
		trace_cut_edge(full, "abcd");
		CHECK(mock_take()->len == 260, "one more");
		trace_cut_edge("short", "abc");
		r = mock_take();
		CHECK(!strcmp((const char *)r->data + 8, "short") && !r->data[247], "ends at its NUL");
	}
}

static void check_no_stage(void)
{
	mock_stages = 0;
	want("one", 1);
	trace_cut_one(1, long_text);
	CHECK(!mock_nrecords && mock_lost == 1, "%u lost", mock_lost);
	trace_cut_one(1, "short");
	CHECK(mock_take()->len == 24 && mock_lost == 1, "needs no staging memory");
	mock_stages = 4;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(long_text) - 1; i++)
		long_text[i] = (char)('a' + i % 26);
	long_text[4500] = '\0';
	check_lengths();
	check_mix();
	check_null();
	long_text[4500] = 'a';
	check_too_long();
	check_edges();
	check_no_stage();
	return mock_failures != 0;
}
