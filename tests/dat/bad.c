/*
 * Damaged trace files of both versions, packed and not: cut at each byte, each bit of their
 * beginning turned, lengths that lie. Each ends in records or in words, soon, and within a bounded
 * address space; whatever can be asked of it is asked (walk.h).
 */
#include "dat/make.h"

#include "dat/child.h"

static void cut(const struct make *m, size_t step)
{
	child_put_all(&m->out);
	for (size_t len = m->out.len; len >= step; len -= step) {
		HERE("cut to %zu of %zu bytes", len, m->out.len);
		CHECK(!ftruncate(child_file, (off_t)len), "%s", strerror(errno));
		child_look();
	}
}

static void turn_bits(const struct make *m, size_t all, uint32_t sample)
{
	uint32_t seed = 1;

	child_put_all(&m->out);
	/* Threes go round: each place in a byte has its turn. */
	for (size_t bit = 0; bit < m->out.len * 8; bit += SANITIZED ? 3 : 1) {
		uint8_t byte = (uint8_t)m->out.data[bit / 8];

		seed = seed * 1664525 + 1013904223;
		if (bit / 8 >= all && seed >> 16 >= sample)
			continue;
		HERE("bit %zu of byte %zu turned", bit % 8, bit / 8);
		byte ^= (uint8_t)(1 << bit % 8);
		child_put(&byte, 1, bit / 8);
		child_look();
		child_put(m->out.data + bit / 8, 1, bit / 8);
	}
}

static void lie(const struct make *m)
{
	const uint64_t lies[] = { 0, 1, 2, 3, 7, 0x7f, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
				  0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
				  UINT64_MAX, m->out.len, m->out.len - 1, m->out.len - 16 };
	uint8_t word[8];

	child_put_all(&m->out);
	for (size_t i = 0; i < m->nr_spots; i++) {
		const struct make_spot *spot = &m->spots[i];

		for (size_t l = 0; l < sizeof(lies) / sizeof(lies[0]); l++) {
			HERE("the word of %u bytes at %zu is %llx", spot->size, spot->at,
			     (unsigned long long)lies[l]);
			make_set(m, word, lies[l], spot->size);
			child_put(word, spot->size, spot->at);
			child_look();
		}
		child_put(m->out.data + spot->at, spot->size, spot->at);
	}
}

/* Undamaged, it has what was put into it: else the rest would prove nothing. */
static void whole(const struct make *m)
{
	struct walk_count n;

	HERE("undamaged");
	child_put_all(&m->out);
	n = child_look();
	CHECK(!n.opened, "%s", n.err.text);
	CHECK(n.records > 60 && n.put >= n.records && !n.warnings, "%llu records, %llu put, %llu warnings",
	      (unsigned long long)n.records, (unsigned long long)n.put,
	      (unsigned long long)n.warnings);
}

struct kind {
	int version;
	const char *compressor;
	bool big_endian;
};

static void all_of(void *arg)
{
	const struct kind *kind = arg;
	struct make m;

	make_begin(&m, kind->version, kind->compressor);
	m.big_endian = kind->big_endian;
	m.long_size = kind->big_endian ? 4 : 8;
	m.page_size = 256;
	make_weave(&m, 4, 3, 1000, 100);
	make_file(&m);
	whole(&m);
	lie(&m);
	cut(&m, kind->big_endian ? 7 : SANITIZED ? 3 : 1);
	turn_bits(&m, kind->big_endian ? 0 : 512, 65536 / 128);
	make_end(&m);
}

int main(void)
{
	struct kind kinds[] = { { 6, NULL, false }, { 6, NULL, true }, { 7, NULL, false },
				{ 7, "zstd", false }, { 7, "zlib", true } };
	char name[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct err err = ERR_INIT;
		struct pack *pack = NULL;

		if (kinds[i].compressor && pack_open(&pack, kinds[i].compressor, &err))
			continue;
		pack_close(pack);
		snprintf(name, sizeof(name), "version %d, %s", kinds[i].version,
			 kinds[i].compressor ? kinds[i].compressor : "plain");
		child_run(name, all_of, &kinds[i]);
	}
	return 0;
}
