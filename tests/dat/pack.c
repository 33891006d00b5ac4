/*
 * What a compressor made it reads again, whatever the bytes, and for bytes that it did not make, or
 * that were damaged or cut, it ends within the room it was given.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "dat/pack.h"
#include "insist.h"

#define SIZE 50000

static uint8_t plain[SIZE], again[SIZE + 64];

/* Bytes of some order: half of them repeat, so that they shrink, but not to nothing. */
static void fill(uint32_t seed)
{
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		plain[i] = i & 64 ? plain[i - 64] : (uint8_t)(seed >> 24);
	}
}

static uint8_t *room_for(const struct pack *pack, size_t len)
{
	uint8_t *room = malloc(pack_bound(pack, len));

	CHECK(room, "no memory");
	return room;
}

static void round_trip(struct pack *pack, size_t len)
{
	uint8_t *packed = room_for(pack, len);
	long n = pack_shrink(pack, plain, len, packed, pack_bound(pack, len)), got;

	CHECK(n > 0, "%zu bytes: %ld", len, n);
	memset(again, 0xee, sizeof(again));
	got = pack_expand(pack, packed, (size_t)n, again, len);
	CHECK(got == (long)len, "%zu bytes: %ld", len, got);
	CHECK(!memcmp(again, plain, len), "%zu bytes came back as others", len);
	CHECK(again[len] == 0xee, "%zu bytes: more was written", len);
	if (len > 1) {
		CHECK(pack_expand(pack, packed, (size_t)n, again, len - 1) == -E2BIG,
		      "%zu bytes fit into fewer", len);
		CHECK(again[len] == 0xee, "%zu bytes: more was written than fits", len);
	}
	CHECK(pack_shrink(pack, plain, len, packed, (size_t)n - 1) == -E2BIG,
	      "%zu bytes shrank into less than they need", len);
	free(packed);
}

/* A cut frame is refused; a damaged one is refused or wrong, but stays within its room. */
static void damage(struct pack *pack)
{
	uint8_t *packed = room_for(pack, SIZE);
	long n = pack_shrink(pack, plain, SIZE, packed, pack_bound(pack, SIZE));

	CHECK(n > 0, "%ld", n);
	for (long cut = 0; cut < n; cut += 1 + cut / 7)
		CHECK(pack_expand(pack, packed, (size_t)cut, again, SIZE) < 0, "cut to %ld", cut);
	for (long i = 0; i < n; i += 1 + i / 50) {
		long r;

		packed[i] ^= 0x55;
		again[SIZE] = 0xee;
		r = pack_expand(pack, packed, (size_t)n, again, SIZE);
		CHECK(r <= SIZE && again[SIZE] == 0xee, "byte %ld changed: %ld", i, r);
		packed[i] ^= 0x55;
	}
	CHECK(pack_expand(pack, packed, (size_t)n, again, SIZE) == SIZE, "not usable afterwards");
	CHECK(pack_expand(pack, plain, SIZE, again, SIZE) < 0, "plain bytes were taken for packed");
	free(packed);
}

/* A megabyte of one letter is a few bytes: they do not come out into less room. */
static void bomb(struct pack *pack)
{
	size_t size = 1 << 20;
	uint8_t *zeros = calloc(1, size), *packed = room_for(pack, size);
	long n = pack_shrink(pack, zeros, size, packed, pack_bound(pack, size));

	CHECK(zeros && n > 0 && n < 4096, "%ld", n);
	again[100] = 0xee;
	CHECK(pack_expand(pack, packed, (size_t)n, again, 100) == -E2BIG, "it all fit");
	CHECK(again[100] == 0xee, "more was written");
	free(packed);
	free(zeros);
}

/* As trace-cmd writes them: the frame does not say how much is in it. */
static void no_content_size(struct pack *pack)
{
	uint8_t packed[128];
	long n = pack_shrink(pack, "0123456789abcdef", 16, packed, sizeof(packed));

	CHECK(n > 5, "%ld", n);
	CHECK(!memcmp(packed, "\x28\xb5\x2f\xfd", 4), "not a zstd frame");
	CHECK(!(packed[4] & 0xe0), "the frame says its size: %02x", packed[4]);
}

static void refused(void)
{
	struct err err = ERR_INIT;
	struct pack *pack = (struct pack *)&err;

	CHECK(pack_open(&pack, "lzma", &err) == -ENOTSUP && !pack, "lzma was taken");
	CHECK(strstr(err.text, "lzma"), "%s", err.text);
	for (size_t i = 0; i < 2; i++) {
		const char *name = i ? "zlib" : "zstd";
		struct err words = ERR_INIT;
		int r = pack_open(&pack, name, &words);

		CHECK(!r || (r == -ENOTSUP && strstr(words.text, "this build cannot")), "%s: %s",
		      name, words.text);
		pack_close(pack);
	}
	pack_close(NULL);
}

int main(void)
{
	static const size_t sizes[] = { 1, 2, 63, 4096, 40960, SIZE };
	struct err err = ERR_INIT;
	const char *name;
	size_t tried = 0;

	fill(1);
	refused();
	for (; (name = pack_name(tried)); tried++) {
		struct pack *pack;

		CHECK(!pack_open(&pack, name, &err), "%s", err.text);
		CHECK(strchr(pack_version(pack), '.'), "%s", pack_version(pack));
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			round_trip(pack, sizes[i]);
		damage(pack);
		bomb(pack);
		if (!strcmp(name, "zstd"))
			no_content_size(pack);
		pack_close(pack);
	}
	if (tried)
		return 0;
	puts("this build has no compressor");
	return 77;
}
