/*
 * R13: the page walker on pages made by hand, good and torn, and on bytes made by chance.
 */
#include <errno.h>

#include "decode/page.h"
#include "event.h"

struct page {
	uint8_t bytes[4096];
	size_t len; /* of events so far */
	const struct decode_abi *abi;
};

static void put(uint8_t *to, uint64_t v, unsigned int size, bool big_endian)
{
	for (unsigned int i = 0; i < size; i++)
		to[big_endian ? size - 1 - i : i] = (uint8_t)(v >> i * 8);
}

static size_t head_size(const struct page *p)
{
	return 8u + p->abi->long_size;
}

static void word(struct page *p, uint32_t v)
{
	put(p->bytes + head_size(p) + p->len, v, 4, p->abi->big_endian);
	p->len += 4;
}

static void event(struct page *p, uint32_t type, uint32_t delta)
{
	word(p, p->abi->big_endian ? type << 27 | delta : type | delta << 5);
}

static void close_page(struct page *p, uint64_t ts, uint64_t flags)
{
	put(p->bytes, ts, 8, p->abi->big_endian);
	put(p->bytes + 8, p->len + flags, p->abi->long_size, p->abi->big_endian);
}

static void all_kinds(const struct decode_abi *abi)
{
	struct page p = {.abi = abi};
	struct page_walk w;
	struct page_event e;

	event(&p, 2, 0); /* two words */
	word(&p, 0x11);
	word(&p, 0x22);
	event(&p, 0, 7); /* 120 bytes, with a length of their own */
	word(&p, 124);
	p.len += 120;
	event(&p, 29, 5); /* a discarded event of 8 bytes */
	word(&p, 4);
	event(&p, 30, 3); /* 2^27 * 2 + 3 later */
	word(&p, 2);
	event(&p, 1, 1);
	word(&p, 0x33);
	event(&p, 31, 9); /* at 2^27 * 1000 + 9 */
	word(&p, 1000);
	event(&p, 1, 1);
	word(&p, 0x44);
	event(&p, 29, 0); /* nothing behind this */
	p.len += 40;
	close_page(&p, 1000, 0);

	check(page_walk_init_abi(&w, p.bytes, sizeof(p.bytes), abi) == 0);
	check(w.lost == 0 && w.time_stamp == 1000 && w.commit == p.len);
	check(page_walk_next(&w, &e) == 1 && e.ts == 1000 && e.len == 8 && e.offset == 0);
	check((const uint8_t *)e.data == p.bytes + head_size(&p) + 4);
	check(page_walk_next(&w, &e) == 1 && e.ts == 1007 && e.len == 120 && e.offset == 12);
	check(page_walk_next(&w, &e) == 1 && e.ts == 1012 + (2u << 27) + 4 && e.len == 4);
	check(decode_abi_load(e.data, 4, abi->big_endian) == 0x33);
	check(page_walk_next(&w, &e) == 1 && e.ts == ((uint64_t)1000 << 27) + 10 && e.len == 4);
	check(decode_abi_load(e.data, 4, abi->big_endian) == 0x44);
	check(page_walk_next(&w, &e) == 0);
	check(page_walk_next(&w, &e) == 0);
}

/*
 * An absolute stamp has 59 bits; the five above come from the stamp before, and may have moved on
 * by one.
 */
static void high_stamps(void)
{
	static const struct decode_abi abi = {false, 8};
	struct page p = {.abi = &abi};
	struct page_walk w;
	struct page_event e;
	uint64_t near_end = (3ull << 59) - 10;

	event(&p, 1, 0);
	word(&p, 0);
	event(&p, 31, 5);
	word(&p, 0);
	event(&p, 1, 0);
	word(&p, 0);
	close_page(&p, near_end, 0);
	check(page_walk_init_abi(&w, p.bytes, sizeof(p.bytes), &abi) == 0);
	check(page_walk_next(&w, &e) == 1 && e.ts == near_end);
	check(page_walk_next(&w, &e) == 1 && e.ts == (3ull << 59) + 5);
}

static void losses(void)
{
	static const struct decode_abi abi = {false, 8}, small = {true, 4};
	struct page p = {.abi = &abi}, q = {.abi = &small};
	struct page_walk w;

	event(&p, 1, 0);
	word(&p, 0);
	put(p.bytes + 16 + p.len, 77, 8, false);
	close_page(&p, 1, 1u << 31 | 1u << 30);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0 && w.lost == 77 && w.commit == 8);
	close_page(&p, 1, 1u << 31);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0 && w.lost == PAGE_LOST_UNKNOWN);
	/* As kernels really store it: bit 31 of an int, added to a long. */
	close_page(&p, 1, (uint64_t)INT32_MIN + (1u << 30));
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0 && w.lost == 77 && w.commit == 8);
	put(p.bytes + 16 + p.len, 0, 8, false);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0 && w.lost == PAGE_LOST_UNKNOWN);
	/* Flagged as stored where there is no room for it. */
	close_page(&p, 1, 1u << 31 | 1u << 30);
	check(page_walk_init(&w, p.bytes, 16 + 8) == 0 && w.lost == PAGE_LOST_UNKNOWN);

	put(q.bytes + 12, 5, 4, true);
	close_page(&q, 1, 1u << 31 | 1u << 30);
	check(page_walk_init_abi(&w, q.bytes, sizeof(q.bytes), &small) == 0 && w.lost == 5);
}

/* `words` after a good event, and the walk must stop there. */
static void torn(uint32_t first, uint32_t second, size_t more, size_t cut)
{
	static const struct decode_abi abi = {false, 8};
	struct page p = {.abi = &abi};
	struct page_walk w;
	struct page_event e;

	event(&p, 1, 0);
	word(&p, 0);
	word(&p, first);
	word(&p, second);
	p.len += more;
	p.len -= cut;
	close_page(&p, 1, 0);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0);
	check(page_walk_next(&w, &e) == 1);
	check(page_walk_next(&w, &e) == -EBADMSG);
	check(page_walk_next(&w, &e) == -EBADMSG);
}

static void bad_heads(void)
{
	static const struct decode_abi abi = {false, 8};
	struct page p = {.abi = &abi};
	struct page_event e;
	struct page_walk w;

	check(page_walk_init(&w, p.bytes, 15) == -EINVAL);
	check(page_walk_next(&w, &e) == 0);
	close_page(&p, 1, 4081);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == -EBADMSG);
	check(page_walk_next(&w, &e) == 0);
	close_page(&p, 1, 4080);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == 0);
	close_page(&p, 1, 1ull << 32);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == -EBADMSG);
	close_page(&p, 1, UINT64_MAX << 32);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == -EBADMSG);
	close_page(&p, 1, 1u << 28);
	check(page_walk_init(&w, p.bytes, sizeof(p.bytes)) == -EBADMSG);
}

static uint64_t seed = 88172645463325252ull;

static uint32_t chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* Copies of their exact size, so that the sanitizers see a step outside. */
static void random_pages(void)
{
	for (int round = 0; round < 20000; round++) {
		size_t size = 16 + chance() % 600, steps = 0;
		uint8_t *page = malloc(size);
		struct page_walk w;
		struct page_event e;

		for (size_t i = 0; i < size; i++)
			page[i] = (uint8_t)(chance() % 3 ? chance() : chance() % 32);
		put(page + 8, chance() % (size - 15), 8, false);
		check(page_walk_init(&w, page, size) == 0);
		while (page_walk_next(&w, &e) > 0) {
			const uint8_t *p = e.data;

			if (++steps > size / 4 || p < page + 16 || e.len > size ||
			    p + e.len > page + size) {
				check(!"an event outside the page");
				break;
			}
		}
		free(page);
	}
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		all_kinds(&(struct decode_abi){.big_endian = i & 1, .long_size = i & 2 ? 4 : 8});
	high_stamps();
	losses();
	torn(28, 0, 0, 0); /* 112 bytes where 4 are */
	torn(0, 3, 0, 0);  /* a length that does not count itself */
	torn(0, 0xffffffff, 0, 0);
	torn(0, 12, 4, 0);
	torn(29 | 1 << 5, 0xfffffffc, 0, 0);
	torn(30, 0, 0, 4); /* half an extend */
	torn(31, 0, 0, 4);
	torn(1, 0, 0, 5); /* three bytes are no word */
	bad_heads();
	random_pages();
	return failures ? 1 : 0;
}
