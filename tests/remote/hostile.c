/*
 * Memories that lie: each bit of a sound one turned over, one after the other, and shapes that cannot be. Whatever is there, looking at it
 * comes to an end, and what is handed out is one of the events that were written, with no more of them than there were, or words say what
 * is wrong; never both the words and nothing, and never an event that nobody wrote where that could be known.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>

#include "insist.h"
#include "made.h"
#include "remote/ring.h"
#include "remote/local.h"

#define EVENTS 60u
#define WORDS 5u

static int dir;
static char path[4096];

/* ---- a memory, as a file ---- */

static struct made made;
static int fd;

static void put_events(uint32_t ring, uint32_t n)
{
	uint32_t seq = (uint32_t)made_get(&made, made_ring(&made, ring), MADE_AT(ringside_fw_ring, count));

	for (uint32_t i = 0; i < n; i++, seq++) {
		uint32_t words[WORDS] = { 1, ring, seq, ~seq, seq * 0x9e3779b1u };

		if (!made_fits(&made, ring, 4 + sizeof(words)))
			made_enter(&made, ring, made_tail(&made, ring) + 1, 1000 + seq * 10);
		made_record(&made, ring, made_commit(&made, ring) ? 10 : 0, words, WORDS, false);
		made_put(&made, made_ring(&made, ring), MADE_AT(ringside_fw_ring, time), 1000 + seq * 10);
	}
}

static void write_all(void)
{
	CHECK(!ftruncate(fd, (off_t)made.size) && pwrite(fd, made.bytes, made.size, 0) == (ssize_t)made.size, "%s", strerror(errno));
}

static void begin_empty(uint32_t rings, uint32_t pages, uint32_t flags)
{
	free(made.bytes);
	made = (struct made){ .abi = DECODE_ABI_NATIVE, .nr_rings = rings, .nr_pages = pages, .page_shift = 8, .nr_events = 32, .clock_bits = 64,
			      .boots = 1, .tick_hz = 1000000000, .flags = flags };
	made_places(&made);
	made.bytes = malloc(made.size);
	CHECK(made.bytes, "memory");
	made_begin(&made, 1000);
}

static void begin(uint32_t rings, uint32_t pages, uint32_t flags)
{
	begin_empty(rings, pages, flags);
	for (uint32_t i = 0; i < rings; i++)
		put_events(i, EVENTS);
	write_all();
}

/* ---- looking at it ---- */

struct found {
	uint32_t events, strange;
	uint64_t lost;
	int r;
	struct err err;
	bool restarted;
};

/* Was it written? Which CPU a ring is of is known from one word alone. */
static bool is_known(const struct remote_row *row)
{
	uint32_t words[WORDS];

	if (row->len != sizeof(words))
		return false;
	memcpy(words, row->data, sizeof(words));
	return words[0] == 1 && words[1] < made.nr_rings && words[2] < EVENTS && words[3] == ~words[2] && words[4] == words[2] * 0x9e3779b1u &&
	       row->ts == 1000 + words[2] * 10;
}

static struct found look(const char *name, bool consume)
{
	struct remote_how how = { .cpu = -1, .consume = consume, .once = true };
	struct found found = { .err = ERR_INIT };
	struct remote_reader *reader = NULL;
	struct remote *remote;
	uint64_t ts[2] = { 0 };
	struct remote_row row;

	found.r = remote_open(&remote, dir, name, &found.err);
	if (found.r)
		return found;
	found.r = remote_reader_open(&reader, remote, &how, &found.err);
	while (!found.r && (found.r = remote_reader_next(reader, &row, &found.err)) == 1) {
		found.events++;
		found.strange += !is_known(&row);
		found.lost += row.lost;
		found.restarted |= row.restarted;
		/* Of the two that there are at most, one bit may change a CPU's number, but not to that of the other. */
		CHECK(row.restarted || row.ts >= ts[row.cpu % 2], "cpu %u: time goes back from %llu to %llu", row.cpu,
		      (unsigned long long)ts[row.cpu % 2], (unsigned long long)row.ts);
		ts[row.cpu % 2] = row.ts;
		found.r = 0;
		CHECK(found.events < 100000, "events without end");
	}
	if (!found.r)
		found.r = remote_reader_accept(reader, &found.err);
	remote_reader_close(reader);
	remote_close(remote);
	CHECK(!found.r == !*found.err.text, "%d, and the words are '%s'", found.r, found.err.text);
	return found;
}

static void add(const char *name)
{
	struct remote_place place = { .memory = path, .at = &(uint64_t){ 0 } };
	struct err err = ERR_INIT;

	CHECK(!remote_add(dir, name, &place, &err), "%s", err.text);
}

/* ---- every bit ---- */

/* What a bit means, as far as what comes of it could be told. */
enum part { HEADER, CONTROL, RING, STAMP, COMMIT, SEAL, EVENT, UNUSED };

static enum part part_of(size_t at)
{
	size_t in;

	if (at < made.control)
		return HEADER;
	if (at < made.rings)
		return CONTROL;
	if (at < made.pages)
		return RING;
	in = (at - made.pages) % made_page_size(&made);
	if (in < 16)
		return in < 8 ? STAMP : COMMIT;
	if (in >= made_page_size(&made) - 8)
		return SEAL;
	return in < 16 + made_room(&made) / 24 * 24 ? EVENT : UNUSED;
}

static void check_bit(size_t at, int bit, const struct found *found, uint32_t all)
{
	enum part part = part_of(at);
	/* A lower commit word hides events, and the number in the next seal tells of that, but of the last page. */
	bool told = found->r || found->lost || found->restarted;

	CHECK(found->events <= all, "byte %zu bit %d: %u events of %u", at, bit, found->events, all);
	switch (part) {
	case HEADER:
		CHECK(found->r && !found->events, "byte %zu bit %d of the header: %u events, %s", at, bit, found->events, found->err.text);
		return;
	case CONTROL:
	case UNUSED:
		CHECK(!found->r && found->events == all, "byte %zu bit %d, which is of no matter: %u events, %s", at, bit, found->events,
		      found->err.text);
		return;
	case RING:
	case SEAL:
	case COMMIT:
		CHECK(!found->strange, "byte %zu bit %d: %u events that nobody wrote", at, bit, found->strange);
		return;
	case STAMP:
	case EVENT:
		/* One word is no more than that, unless it says how long an event is: then what is behind it is another one. */
		CHECK(found->events + found->lost + 12 >= all || told, "byte %zu bit %d: %u events of %u, and no words", at, bit,
		      found->events, all);
	}
}

static void turn_bits(void)
{
	struct found sound;
	uint32_t refused = 0;

	begin(2, 4, 0);
	add("bits");
	sound = look("bits", false);
	CHECK(!sound.r && !sound.strange && !sound.lost && sound.events > 2 * 3 * 9, "%u events, %s", sound.events, sound.err.text);
	for (size_t at = 0; at < made.size; at++)
		for (int bit = 0; bit < 8; bit++) {
			unsigned char was = made.bytes[at], is = was ^ (unsigned char)(1 << bit);
			struct found found;

			CHECK(pwrite(fd, &is, 1, (off_t)at) == 1, "%s", strerror(errno));
			found = look("bits", false);
			check_bit(at, bit, &found, sound.events);
			refused += !!found.r;
			CHECK(pwrite(fd, &was, 1, (off_t)at) == 1, "%s", strerror(errno));
		}
	printf("%zu bits: %u refused\n", made.size * 8, refused);
	sound = look("bits", true);
	CHECK(!sound.r && !sound.strange && sound.events > 2 * 3 * 9, "in the end: %s", sound.err.text);
}

/* ---- shapes ---- */

static struct err why;

static int read_target(void)
{
	struct remote_memory memory;
	struct remote_target target;
	int r;

	why = (struct err)ERR_INIT;
	CHECK(!remote_memory_open(&memory, path, &why), "%s", why.text);
	r = remote_target_read(&target, &memory, 0, &why);
	if (!r)
		remote_target_fini(&target);
	remote_memory_close(&memory);
	CHECK(!r == !*why.text, "%d, and the words are '%s'", r, why.text);
	return r;
}

#define HEAD(member) 0, MADE_AT(ringside_fw_header, member)
#define RING_WORD(i, member) made_ring(&made, i), MADE_AT(ringside_fw_ring, member)

static void refuse(const char *what, size_t at, size_t in, size_t size, uint64_t value)
{
	uint64_t was = made_get(&made, at, in, size);

	made_put(&made, at, in, size, value);
	made_crc(&made);
	write_all();
	CHECK(read_target() == -EBADMSG, "%s: taken for sound, or %s", what, why.text);
	printf("%s: %s\n", what, why.text);
	made_put(&made, at, in, size, was);
	made_crc(&made);
	write_all();
}

static void odd_shapes(void)
{
	begin(2, 4, 0);
	CHECK(!read_target(), "%s", why.text);
	refuse("no rings", HEAD(nr_rings), 0);
	refuse("1025 rings", HEAD(nr_rings), 1025);
	refuse("65535 rings", HEAD(nr_rings), 65535);
	refuse("rings that are not there", HEAD(nr_rings), 1024);
	refuse("pages of 128 bytes", HEAD(page_shift), 7);
	refuse("pages of 8 KiB", HEAD(page_shift), 13);
	refuse("pages of 2^255 bytes", HEAD(page_shift), 255);
	refuse("words of no size", HEAD(long_size), 0);
	refuse("words of 2 bytes", HEAD(long_size), 2);
	refuse("another version", HEAD(version), 2);
	refuse("no rate", HEAD(tick_hz), 0);
	refuse("no such rate", HEAD(tick_hz), UINT64_MAX);
	refuse("rings one in the other", HEAD(ring_size), 60);
	refuse("rings at odd places", HEAD(ring_size), 66);
	refuse("rings on the same place", HEAD(ring_size), 0);
	refuse("rings behind all memory", HEAD(rings), UINT64_MAX - 63);
	refuse("rings before all memory", HEAD(rings), (uint64_t)-64);
	refuse("rings over the header", HEAD(rings), 0);
	refuse("rings across the header", HEAD(rings), 32);
	refuse("rings at an odd place", HEAD(rings), made.rings + 2);
	refuse("control words behind all", HEAD(control), UINT32_MAX - 3);
	refuse("control words over the header", HEAD(control), 0);
	refuse("control words over rings", HEAD(control), made.rings);
	refuse("control words that go into rings", HEAD(nr_events), 65535);
	refuse("another address", HEAD(self), UINT64_MAX);
	refuse("no pages", RING_WORD(0, mask), 0);
	refuse("three pages", RING_WORD(0, mask), 2);
	refuse("2^20 pages", RING_WORD(1, mask), (1u << 20) - 1);
	refuse("2^21 pages", RING_WORD(1, mask), (1u << 21) - 1);
	refuse("2^32 pages", RING_WORD(1, mask), UINT32_MAX);
	refuse("the same CPU twice", RING_WORD(1, cpu), 0);
	refuse("the same pages twice", RING_WORD(1, pages), made_page(&made, 0, 0));
	refuse("pages that overlap", RING_WORD(1, pages), made_page(&made, 0, 3));
	refuse("pages over the header", RING_WORD(0, pages), 0);
	refuse("pages over the rings", RING_WORD(0, pages), made.rings);
	refuse("pages behind all memory", RING_WORD(0, pages), made.size);
	refuse("pages that wrap around", RING_WORD(0, pages), UINT64_MAX - 255);
	refuse("pages at an odd place", RING_WORD(0, pages), made.pages + 1);
	CHECK(!read_target(), "%s", why.text);
}

/* As large as it may be, and nothing in it: 1024 rings of 2^20 pages each, in a file with nothing but holes. */
static void huge(void)
{
	struct remote_place place = { .memory = path, .at = &(uint64_t){ 0 } };
	struct err err = ERR_INIT;
	struct made wide = { .abi = DECODE_ABI_NATIVE, .nr_rings = 1024, .nr_pages = 1u << 20, .page_shift = 8, .nr_events = 32, .clock_bits = 64,
			     .boots = 1, .tick_hz = 1 };
	uint64_t size = made_places(&wide);
	struct found found;

	if (size > INT64_MAX || sizeof(size_t) < 8)
		return;
	wide.bytes = calloc(1, wide.pages);
	CHECK(wide.bytes, "memory");
	made_header(&wide);
	for (uint32_t i = 0; i < wide.nr_rings; i++) {
		made_put(&wide, made_ring(&wide, i), MADE_AT(ringside_fw_ring, mask), wide.nr_pages - 1);
		made_put(&wide, made_ring(&wide, i), MADE_AT(ringside_fw_ring, cpu), i);
		made_put(&wide, made_ring(&wide, i), MADE_AT(ringside_fw_ring, pages), wide.pages + ((uint64_t)i << 28));
		made_put(&wide, made_ring(&wide, i), MADE_AT(ringside_fw_ring, tail), i);
	}
	CHECK(!ftruncate(fd, 0) && !ftruncate(fd, (off_t)size) && pwrite(fd, wide.bytes, wide.pages, 0) == (ssize_t)wide.pages, "%s",
	      strerror(errno));
	free(wide.bytes);
	CHECK(!remote_add(dir, "huge", &place, &err), "%s", err.text);
	/* No page but the first is what it should be. */
	found = look("huge", false);
	CHECK(found.r == -EBADMSG && !found.events, "%u events, %s", found.events, found.err.text);
}

/* ---- too short ---- */

static void each_length(void)
{
	struct found found;

	begin(1, 2, 0);
	add("short");
	for (size_t len = 0; len < made.size; len += len < 300 ? 1 : 37) {
		write_all();
		CHECK(!ftruncate(fd, (off_t)len), "%s", strerror(errno));
		found = look("short", true);
		CHECK(found.r && !found.events, "%zu bytes of %zu: %u events", len, made.size, found.events);
		CHECK(lseek(fd, 0, SEEK_END) == (off_t)len, "%zu bytes became %ld", len, (long)lseek(fd, 0, SEEK_END));
	}
	/* One that grows to what it should be. */
	write_all();
	found = look("short", false);
	CHECK(!found.r && found.events, "%s", found.err.text);
}

/* It is cut off while it is read: those that come before that are good, and then there are words. */
static void cut_off(void)
{
	enum { AFTER = 14 };
	uint32_t failed = 0;

	/* One in which the host stores how far it has read. */
	begin(1, 2, RINGSIDE_FW_DISCARD);
	for (size_t len = 0; len < made.size; len += 101) {
		struct remote_how how = { .cpu = -1, .consume = true, .once = true };
		struct err err = ERR_INIT;
		struct remote_reader *reader;
		struct remote *remote;
		struct remote_row row;
		uint32_t n = 0;
		int r;

		write_all();
		CHECK(!remote_open(&remote, dir, "short", &err) && !remote_reader_open(&reader, remote, &how, &err), "%s", err.text);
		CHECK(remote_reset(remote, -1, &err) == 0, "%s", err.text);
		remote_reader_close(reader);
		put_events(0, AFTER);
		write_all();
		CHECK(!remote_reader_open(&reader, remote, &how, &err), "%s", err.text);
		r = remote_reader_next(reader, &row, &err);
		CHECK(r == 1, "%s", err.text);
		CHECK(!ftruncate(fd, (off_t)len), "%s", strerror(errno));
		while ((r = remote_reader_next(reader, &row, &err)) == 1)
			CHECK(++n < AFTER, "events without end");
		/* Of what was copied already all is good. */
		CHECK(r < 0 || n == AFTER - 1, "cut to %zu: %u events of %u, and then %d", len, n + 1, AFTER, r);
		failed += r < 0;
		CHECK(!r == !*err.text, "cut to %zu: %d, and the words are '%s'", len, r, err.text);
		remote_reader_accept(reader, NULL);
		remote_enable_tracing(remote, false, NULL);
		remote_enable_event(remote, 1, false, NULL);
		remote_reset(remote, -1, NULL);
		CHECK(lseek(fd, 0, SEEK_END) == (off_t)len, "%zu bytes became %ld", len, (long)lseek(fd, 0, SEEK_END));
		remote_reader_close(reader);
		remote_close(remote);
	}
	CHECK(failed, "it was never too late");
}

/* ---- one after the other ---- */

/* What comes while somebody takes out what was there is for the next one, also if it was copied already. */
static void next_in_turn(void)
{
	enum { MORE = 20 };
	struct remote_how how = { .cpu = -1, .consume = true, .once = true };
	struct err err = ERR_INIT;
	struct remote_reader *reader;
	struct remote *remote;
	struct remote_row row;
	struct found found;
	uint32_t n = 0;

	begin(2, 16, 0);
	add("turns");
	put_events(1, MORE);
	made_enter(&made, 0, made_tail(&made, 0) + 1, 1000 + EVENTS * 10);
	write_all();
	CHECK(!remote_open(&remote, dir, "turns", &err) && !remote_reader_open(&reader, remote, &how, &err), "%s", err.text);
	put_events(0, 3);
	write_all();
	while (remote_reader_next(reader, &row, &err) == 1)
		n++;
	CHECK(n == 2 * EVENTS + MORE, "%u events: %s", n, err.text);
	CHECK(!remote_reader_accept(reader, &err), "%s", err.text);
	remote_reader_close(reader);
	remote_close(remote);
	found = look("turns", true);
	CHECK(!found.r && found.events == 3 && !found.lost, "then %u events, %llu lost: %s", found.events, (unsigned long long)found.lost,
	      found.err.text);
}

/* ---- where it is looked for ---- */

static void found_once(void)
{
	static const size_t places[] = { 0, 8, (1u << 20) - 128, (1u << 20) - 72, (1u << 20) - 64, (1u << 20) - 56, (1u << 20) - 8, 1u << 20,
					 2 * ((1u << 20) - 64), 2 * ((1u << 20) - 56), (3u << 20) - 64 };
	uint64_t at, self;

	begin(1, 2, 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct remote_memory memory;
		struct err err = ERR_INIT;

		CHECK(!ftruncate(fd, 0) && !ftruncate(fd, 4 << 20) && pwrite(fd, made.bytes, made.size, (off_t)places[i]) == (ssize_t)made.size,
		      "%s", strerror(errno));
		CHECK(!remote_memory_open(&memory, path, &err), "%s", err.text);
		at = ~0ull;
		CHECK(!remote_target_find(&memory, NULL, &at, &err) && at == places[i], "at %zu: %s", places[i], err.text);
		self = 8;
		CHECK(remote_target_find(&memory, &self, &at, &err) == -ENOENT, "at %zu: found by another address", places[i]);
		remote_memory_close(&memory);
	}
}

/* ---- a copy that was made while the target ran ---- */

/* The ring's words first, its pages `late` events later: what the words tell of is there, and the rest is not, until they tell of it. */
static void copied_late(uint32_t late)
{
	unsigned char before[sizeof(struct ringside_fw_ring)], after[sizeof(before)];
	unsigned char *ring;
	struct found found;
	char name[32];

	begin_empty(1, 8, 0);
	ring = made.bytes + made_ring(&made, 0);
	put_events(0, EVENTS - late);
	memcpy(before, ring, sizeof(before));
	put_events(0, late);
	memcpy(after, ring, sizeof(after));
	memcpy(ring, before, sizeof(before));
	write_all();
	snprintf(name, sizeof(name), "copied%u", late);
	add(name);
	for (int consume = 0; consume < 3; consume++) {
		found = look(name, consume);
		CHECK(!found.r && !found.strange && !found.lost && found.events == (consume < 2 ? EVENTS - late : 0),
		      "%u late: %u events, %u strange, %llu lost, %s", late, found.events, found.strange, (unsigned long long)found.lost,
		      found.err.text);
	}
	memcpy(ring, after, sizeof(after));
	write_all();
	found = look(name, true);
	CHECK(!found.r && !found.strange && !found.lost && found.events == late, "the last %u: %u events, %u strange, %llu lost, %s", late,
	      found.events, found.strange, (unsigned long long)found.lost, found.err.text);
}

int main(void)
{
	const char *place = getenv("RINGSIDE_DIR");

	CHECK(place, "RINGSIDE_DIR");
	setvbuf(stdout, NULL, _IONBF, 0);
	mkdir(place, 0700);
	snprintf(path, sizeof(path), "%s/memory", place);
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(dir >= 0 && fd >= 0, "%s: %s", place, strerror(errno));
	found_once();
	odd_shapes();
	turn_bits();
	each_length();
	cut_off();
	huge();
	next_in_turn();
	for (uint32_t late = 1; late <= EVENTS / 2; late++)
		copied_late(late);
	return 0;
}
