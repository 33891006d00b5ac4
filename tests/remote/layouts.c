/*
 * Memories of every kind of target, big- and little-endian, of 32 and 64 bits, with pages of each size and each width of counter, that hold
 * records of every kind, read back to the byte, the tick and the number that is missing.
 *
 *	layouts [SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "insist.h"
#include "made.h"
#include "remote/remote.h"

#define RINGS 3u
#define PAGES 8u
#define WORDS_MAX 1024u
#define ROWS_MAX 20000u

struct wrote {
	uint64_t ts, lost;
	uint32_t cpu, words;
	uint32_t word[WORDS_MAX];
};

static struct wrote *wrote;
static uint32_t nr_wrote;
static uint64_t dice;
static int dir;
static char path[4096];
static const char *what;

static uint32_t draw(uint32_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (uint32_t)(dice * 0x2545f4914f6cdd1dull >> 32) % below;
}

/* ---- writing ---- */

/* What it is that comes next; `ts` goes on. */
enum kind { SHORT, LONG, EXTENDED, EXTENDED_LONG, FILLED, KINDS };

static void put_event(struct made *made, uint32_t ring, uint64_t *ts, uint64_t lost, bool first)
{
	struct wrote *row = &wrote[nr_wrote];
	enum kind kind = first ? SHORT + draw(2) : draw(KINDS);
	bool is_long = kind == LONG || kind == EXTENDED_LONG;
	uint32_t most = (made_room(made) - made_commit(made, ring)) / 4, words;
	uint64_t delta = first ? 0 : draw(4) ? draw(1000) : draw(MADE_DELTA_MAX + 1);

	if (most < 3 || (kind >= EXTENDED && most < 16))
		return;
	words = 1 + draw(is_long ? most - (kind == LONG ? 2 : 4) : 28);
	if (kind == EXTENDED || kind == EXTENDED_LONG) {
		uint64_t more = (uint64_t)draw(1u << 30) << draw(28);

		made_extend(made, ring, more);
		*ts += more;
	}
	if (kind == FILLED) {
		uint32_t before = 1 + draw(500);

		made_fill(made, ring, draw(6), before);
		*ts += before;
	}
	most = (made_room(made) - made_commit(made, ring)) / 4 - 1 - is_long;
	words = words > most ? most : words;
	*row = (struct wrote){ .ts = *ts += delta, .lost = lost, .cpu = made->cpu + ring, .words = words };
	for (uint32_t i = 0; i < words; i++)
		row->word[i] = draw(UINT32_MAX);
	made_record(made, ring, (uint32_t)delta, row->word, words, is_long);
	CHECK(++nr_wrote < ROWS_MAX, "rows");
}

/* A ring that came round, or not; some pages come behind a gap. What was gone before anybody looked is lost. */
static void put_ring(struct made *made, uint32_t ring, uint64_t now)
{
	uint32_t last = draw(2) ? draw(PAGES) : draw(4 * PAGES), lost = 0;
	size_t at = made_ring(made, ring);
	uint64_t ts = now;

	for (uint32_t number = 0; number <= last; number++) {
		uint32_t begun = nr_wrote, gap = draw(3) ? 0 : draw(100000);
		bool is_first = number == 0 || number + PAGES - 1 == last;

		ts += draw(100000);
		made_put(made, at, MADE_AT(ringside_fw_ring, count), made_get(made, at, MADE_AT(ringside_fw_ring, count)) + gap);
		made_enter(made, ring, number, ts);
		lost = is_first ? (uint32_t)made_get(made, at, MADE_AT(ringside_fw_ring, count)) : lost + gap;
		for (uint32_t n = draw(60) + is_first; n; n--) {
			put_event(made, ring, &ts, lost, nr_wrote == begun);
			if (nr_wrote > begun)
				lost = 0;
		}
		/* The rest of it, as the kernel says that it is not used. */
		if (nr_wrote > begun && !draw(4) && made_fits(made, ring, 4))
			made_first(made, ring, 29, 0);
		/* It is gone by the time that somebody looks. */
		if (last - number >= PAGES)
			nr_wrote = begun;
		made_put(made, at, MADE_AT(ringside_fw_ring, time), ts);
	}
}

/* ---- reading ---- */

static int by_time(const void *a, const void *b)
{
	const struct wrote *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts ? 1 : x->cpu < y->cpu ? -1 : x->cpu > y->cpu ? 1 : 0;
}

/* The n-th that was written by this CPU, or by all. */
static const struct wrote *next_of(int cpu, uint32_t *at)
{
	while (*at < nr_wrote && cpu >= 0 && wrote[*at].cpu != (uint32_t)cpu)
		++*at;
	return *at < nr_wrote ? &wrote[(*at)++] : NULL;
}

static void read_back(struct remote *remote, int cpu, bool consume)
{
	struct remote_how how = { .cpu = cpu, .consume = consume, .once = true };
	struct remote_reader *reader;
	const struct wrote *want;
	struct err err = ERR_INIT;
	struct remote_row row;
	uint64_t lost;
	bool begun[RINGS] = { false };
	uint32_t at = 0, n = 0;
	int r;

	CHECK(!remote_reader_open(&reader, remote, &how, &err), "%s: %s", what, err.text);
	while ((r = remote_reader_next(reader, &row, &err)) == 1) {
		want = next_of(cpu, &at);
		CHECK(want, "%s, cpu %d: more than the %u that were written", what, cpu, n);
		/* Who only looks is told of what is missing in between. */
		lost = consume || begun[want->cpu % RINGS] ? want->lost : 0;
		begun[want->cpu % RINGS] = true;
		CHECK(row.cpu == want->cpu && row.ts == want->ts && row.lost == lost && row.len == want->words * 4 && !row.restarted,
		      "%s: row %u: cpu %u at %llu, %llu lost, %u bytes; it was cpu %u at %llu, %llu lost, %u bytes", what, n, row.cpu,
		      (unsigned long long)row.ts, (unsigned long long)row.lost, row.len, want->cpu, (unsigned long long)want->ts,
		      (unsigned long long)lost, want->words * 4);
		CHECK(!memcmp(row.data, want->word, row.len), "%s: row %u: other bytes than were written", what, n);
		n++;
	}
	CHECK(!r, "%s: %s", what, err.text);
	CHECK(!next_of(cpu, &at), "%s, cpu %d: no more than %u", what, cpu, n);
	CHECK(!remote_reader_accept(reader, &err), "%s", err.text);
	remote_reader_close(reader);
}

static void write_file(const struct made *made, size_t before)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && pwrite(fd, made->bytes, made->size, (off_t)before) == (ssize_t)made->size, "%s: %s", path, strerror(errno));
	close(fd);
}

static void try(struct made *made)
{
	struct remote_place place = { .memory = path };
	size_t before = (size_t)draw(100) * 8 + (draw(2) ? 5 << 20 : 0);
	char name[120];
	struct err err = ERR_INIT;
	struct remote *remote;
	bool on;

	snprintf(name, sizeof(name), "%s-endian, %u bits, pages of %u bytes, a counter of %u", made->abi.big_endian ? "big" : "little",
		 made->abi.long_size * 8u, made_page_size(made), made->clock_bits);
	what = name;
	made_places(made);
	made->bytes = malloc(made->size);
	CHECK(made->bytes, "memory");
	nr_wrote = 0;
	made_begin(made, 1000);
	for (uint32_t i = 0; i < RINGS; i++)
		put_ring(made, i, (uint64_t)draw(1000) << draw(40));
	qsort(wrote, nr_wrote, sizeof(*wrote), by_time);
	write_file(made, before);
	CHECK(!remote_add(dir, "made", &place, &err), "%s: %s", name, err.text);
	CHECK(!remote_open(&remote, dir, "made", &err), "%s: %s", name, err.text);
	CHECK(remote_target(remote, &err) && remote_at(remote) == before, "%s: %s", name, err.text);
	CHECK(remote_target(remote, NULL)->clock_bits == made->clock_bits && remote_target(remote, NULL)->tick_hz == made->tick_hz &&
	      remote_target(remote, NULL)->boots == made->boots && remote_cpus(remote) == RINGS, "%s: header", name);
	CHECK(!remote_tracing_on(remote, &on, &err) && on, "%s: not on", name);
	CHECK(!remote_event_is_on(remote, made->nr_events - 1, &on, &err) && on, "%s: the last event is not on", name);
	read_back(remote, -1, false);
	for (uint32_t i = 0; i < RINGS; i++)
		read_back(remote, (int)(made->cpu + i), false);
	read_back(remote, -1, true);
	nr_wrote = 0;
	read_back(remote, -1, false);
	/* What the host writes lies as the target wants it. */
	CHECK(!remote_enable_event(remote, 1, false, &err) && !remote_enable_tracing(remote, false, &err), "%s: %s", name, err.text);
	remote_close(remote);
	CHECK(!remote_remove(dir, "made", &err), "%s", err.text);
	free(made->bytes);
}

/* What the last one's control words are in the file. */
static void check_control(const struct made *made)
{
	unsigned char page[1 << 12];
	struct made now = *made;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t at = lseek(fd, 0, SEEK_DATA);

	CHECK(fd >= 0 && at >= 0, "%s", strerror(errno));
	for (ssize_t n; (n = pread(fd, page, sizeof(page), at)) > 0 && memcmp(page, RINGSIDE_FW_MAGIC, 8);)
		at += 8;
	now.bytes = page;
	CHECK(!made_get(&now, made->control, MADE_AT(ringside_fw_control, on)), "%s: still on", what);
	CHECK(made_get(&now, made->control + offsetof(struct ringside_fw_control, enable), 0, 4) == 0xfffffffd, "%s: enable bits", what);
	close(fd);
}

int main(int argc, char **argv)
{
	static const uint32_t bits[] = { 24, 32, 64 };
	const char *place = getenv("RINGSIDE_DIR");

	dice = argc > 1 ? strtoull(argv[1], NULL, 0) | 1 : 88172645463325252ull;
	wrote = calloc(ROWS_MAX, sizeof(*wrote));
	CHECK(place && wrote, "RINGSIDE_DIR");
	mkdir(place, 0700);
	snprintf(path, sizeof(path), "%s/memory", place);
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0, "%s: %s", place, strerror(errno));
	for (uint32_t kind = 0; kind < 4; kind++)
		for (uint32_t shift = 8; shift <= 12; shift++)
			for (uint32_t width = 0; width < 3; width++) {
				struct made made = {
					.abi = { .big_endian = kind & 1, .long_size = kind & 2 ? 4 : 8 }, .nr_rings = RINGS, .nr_pages = PAGES,
					.page_shift = shift, .nr_events = 1 + draw(3) * 40 + 1, .clock_bits = bits[width], .boots = 1 + draw(9),
					.self = (uint64_t)draw(2) * 0xffff800000000000ull + (uint64_t)draw(1u << 20) * 8, .tick_hz = 1 + draw(1u << 30),
					.cpu = draw(60000), .flags = draw(2),
				};

				try(&made);
				check_control(&made);
			}
	return 0;
}
