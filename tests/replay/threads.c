/*
 * Records come in the order of time, whoever asks for them and however the trace is cut into parts:
 * one by one, by one thread and by four, from any time on and up to any, with a look at the next
 * record if it is of the same CPU, which may be taken. What is right is found by walking the pages of
 * each CPU as they were made, and sorting.
 *
 * The traces have lanes that end early or are empty, pages and whole blocks without an event, and
 * times that are the same on several CPUs; some have a clock so coarse that most are.
 *
 *	threads [FILE...]	of these files only: one thread and four make the same text
 */
#include "dat/make.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/page.h"
#include "insist.h"
#include "replay/local.h"

#define LANES 5
#define PAGES 700
#define ALL_MAX 60000

struct one {
	uint64_t ts;
	uint32_t lane;
	uint32_t seq;		/* in its lane, from 0 */
	const uint8_t *data;
	uint32_t len;
};

static struct one all[ALL_MAX];
static size_t nr_all;
static uint32_t by_lane[LANES][ALL_MAX / 2];	/* places in `all` */
static uint32_t lane_len[LANES];

static uint32_t draw(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Of lane 2 the second half is missing, lane 3 is empty, lane 4 has long stretches of nothing. */
static void fill_lane(struct make *m, uint32_t lane, bool coarse)
{
	uint32_t seed = lane + 1, pages = lane == 2 ? PAGES / 2 : PAGES;
	uint64_t ts = coarse ? 1000 : 1000 + lane * 5000;
	uint8_t record[64];

	for (uint32_t page = 0; page < pages; page++) {
		uint32_t events = draw(&seed) % 7 ? 100 : draw(&seed) % 2;

		if (lane == 3 || (lane == 4 && page % 400 > 60))
			events = 0;
		make_page(m, lane, ts);
		for (uint32_t i = 0; i < events; i++) {
			uint32_t id = draw(&seed) % 3 ? 1 : MAKE_SWITCH;
			int pid = 30 + (int)(draw(&seed) % 900);
			uint32_t len = make_record(m, record, id, pid, draw(&seed));

			if (!make_event(m, lane, ts, record, len))
				break;
			ts += coarse ? draw(&seed) % 6 / 5 * 1000 : draw(&seed) % 4 * 50;
		}
		if (!events)
			ts += lane == 4 && !coarse ? 100 : 1000;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static void expect(const struct make *m)
{
	struct decode_abi abi = { m->big_endian, m->long_size };

	nr_all = 0;
	for (uint32_t lane = 0; lane < LANES; lane++) {
		uint32_t seq = 0;

		for (size_t at = 0; at < m->lanes[lane].len; at += m->page_size) {
			struct page_walk walk;
			struct page_event event;

			CHECK(!page_walk_init_abi(&walk, m->lanes[lane].data + at, m->page_size, &abi),
			      "no page");
			while (page_walk_next(&walk, &event) == 1) {
				CHECK(nr_all < ALL_MAX, "too many events");
				all[nr_all++] = (struct one){ event.ts, lane, seq++, event.data,
							      event.len };
			}
		}
		lane_len[lane] = 0;
	}
	qsort(all, nr_all, sizeof(*all), by_time);
	for (size_t i = 0; i < nr_all; i++)
		by_lane[all[i].lane][lane_len[all[i].lane]++] = (uint32_t)i;
}

static struct replay *begin(struct dat *dat, size_t part_bytes)
{
	struct replay_times times = { .raw = true };
	struct err err = ERR_INIT;
	struct replay *replay;

	CHECK(!replay_new(&replay), "no memory");
	replay->part_bytes = part_bytes;
	CHECK(!replay_add(replay, dat, &times, NULL, NULL, &err), "%s", err.text);
	return replay;
}

static void same(const struct replay_record *rec, const struct one *one)
{
	CHECK(rec->ts == one->ts && rec->lane->nr == one->lane && rec->len == one->len &&
	      !memcmp(rec->data, one->data, one->len),
	      "lane %u at %llu, where record %u of lane %u at %llu is right", rec->lane->nr,
	      (unsigned long long)rec->ts, one->seq, one->lane, (unsigned long long)one->ts);
}

static const struct one *behind_it(const struct one *one)
{
	return one + 1 < all + nr_all ? one + 1 : NULL;
}

/* All of them, each with a look at the next one. */
static void in_order(struct dat *dat, size_t part_bytes)
{
	struct replay *replay = begin(dat, part_bytes);
	struct err err = ERR_INIT;
	struct replay_record rec, next;

	for (size_t i = 0; i < nr_all; i++) {
		const struct one *ahead = behind_it(&all[i]);

		CHECK(replay_next(replay, &rec, &err) == 1, "the end, after %zu of %zu", i, nr_all);
		same(&rec, &all[i]);
		CHECK(replay_peek(&rec, &next) == !!ahead, "record %zu: whether one follows", i);
		if (ahead)
			same(&next, ahead);
	}
	CHECK(!replay_next(replay, &rec, &err) && !replay_next(replay, &rec, &err), "more than all");
	CHECK(!replay_warning(replay, 0), "%s", replay_warning(replay, 0));
	replay_free(replay);
}

/* By what is in the records: functions take a switch along, and no switch takes anything. */
static bool fits(const uint8_t *data, uint32_t len, uint32_t next_len)
{
	return len > 8 && len < 40 && next_len >= 40 && data[8] % 3 == 0;
}

static bool takes(const struct replay_record *rec, struct replay_record *next)
{
	return replay_peek(rec, next) && fits(rec->data, rec->len, next->len);
}

static bool one_takes(const struct one *one)
{
	const struct one *next = behind_it(one);

	return next && fits(one->data, one->len, next->len);
}

/* Each record that wants the next one takes it, in parts of any size. */
static void taking(struct dat *dat, size_t part_bytes)
{
	struct replay *replay = begin(dat, part_bytes);
	struct err err = ERR_INIT;
	struct replay_record rec, next;

	for (size_t i = 0; i < nr_all; i++) {
		CHECK(replay_next(replay, &rec, &err) == 1, "the end, before record %zu", i);
		same(&rec, &all[i]);
		CHECK(takes(&rec, &next) == one_takes(&all[i]), "record %zu: whether one follows", i);
		if (takes(&rec, &next)) {
			replay_take(&rec);
			i++;
		}
	}
	CHECK(!replay_next(replay, &rec, &err), "more than all");
	replay_free(replay);
}

static size_t first_at(uint64_t ts)
{
	size_t low = 0, high = nr_all;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].ts < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void seeking(struct dat *dat, size_t part_bytes, uint32_t times)
{
	struct replay *replay = begin(dat, part_bytes);
	uint64_t span = all[nr_all - 1].ts + 2000;
	struct err err = ERR_INIT;
	struct replay_record rec;
	uint32_t seed = 7;

	for (uint32_t n = 0; n < times; n++) {
		uint64_t from = draw(&seed) % span, to = from + draw(&seed) % 3000;
		size_t i = first_at(from), end = n % 2 ? first_at(to + 1) : nr_all;

		replay_until(replay, n % 2 ? to : UINT64_MAX);
		CHECK(!replay_seek(replay, from, &err), "%s", err.text);
		for (int k = 0; k < 40 && i < end; k++, i++) {
			CHECK(replay_next(replay, &rec, &err) == 1, "from %llu: the end, before record %zu",
			      (unsigned long long)from, i);
			same(&rec, &all[i]);
		}
		if (i == end)
			CHECK(!replay_next(replay, &rec, &err), "from %llu to %llu: more than all",
			      (unsigned long long)from, (unsigned long long)to);
	}
	replay_free(replay);
}

static void ends(struct dat *dat)
{
	struct replay *replay = begin(dat, PART_BYTES);
	uint64_t first, last;

	for (uint32_t lane = 0; lane < LANES; lane++) {
		bool any = replay_lane_ends(replay, lane, &first, &last);

		CHECK(any == !!lane_len[lane], "lane %u", lane);
		CHECK(!any || (first == all[by_lane[lane][0]].ts &&
			       last == all[by_lane[lane][lane_len[lane] - 1]].ts),
		      "lane %u from %llu to %llu", lane, (unsigned long long)first,
		      (unsigned long long)last);
	}
	replay_free(replay);
}

/* A run's text: each record with the name of its task, learned on the way, and what it takes. */
static void record_text(void *arg, void *own, const struct replay_record *rec, struct buf *out)
{
	const struct decode_format *format = dat_format(rec->lane->file, rec->id);
	int pid = rec->len < 8 ? 0 : (int)decode_abi_load(rec->data + 4, 4, false);
	struct decode_ctx ctx = { .arg = rec->lane->file, .symbol = dat_symbol,
				  .printk = dat_printk, .comm = dat_comm };
	const char *comm = replay_comm(rec, pid);
	struct replay_record next;

	(void)arg, (void)own;
	buf_printf(out, "%u %llu %s ", rec->lane->nr, (unsigned long long)rec->ts,
		   comm ? comm : "<...>");
	if (format)
		decode_print(format, rec->data, rec->len, &ctx, out);
	if (takes(rec, &next)) {
		buf_printf(out, " and %llu", (unsigned long long)next.ts);
		replay_take(rec);
	}
	buf_putc(out, '\n');
}

static void pass(void *arg, const struct replay_record *rec)
{
	char name[16];
	int pid = rec->len < 8 ? 0 : (int)decode_abi_load(rec->data + 4, 4, false);

	(void)arg;
	snprintf(name, sizeof(name), "at-%u", (unsigned int)(rec->ts % 100000));
	if (rec->len > 28)
		replay_learn(rec, pid, name, strlen(name));
}

static bool joins(void *arg, const struct replay_record *last, const struct replay_record *next)
{
	(void)arg;
	return fits(last->data, last->len, next->len);
}

static int put(void *arg, const char *bytes, size_t len)
{
	buf_add(arg, bytes, len);
	return buf_failed(arg) ? -ENOMEM : 0;
}

static void run_text(struct dat *dat, size_t part_bytes, unsigned int threads, struct buf *out)
{
	static uint8_t marks[65536];
	const uint8_t *const passes[] = { marks };
	struct replay_job job = { .arg = out, .passes = passes, .pass = pass,
				  .joins = joins, .record = record_text, .put = put };
	struct replay *replay = begin(dat, part_bytes);
	struct err err = ERR_INIT;

	/* Functions take records along and switches tell names; what is printed leaves nothing behind. */
	marks[1] = marks[MAKE_SWITCH] = 1;
	buf_reset(out);
	CHECK(!replay_run(replay, &job, threads, &err), "%s", err.text);
	replay_free(replay);
}

static void running(struct dat *dat, const char *what)
{
	static const size_t sizes[] = { PART_BYTES, 1, 5000, 1 << 22 };
	struct buf one = BUF_INIT, other = BUF_INIT;

	run_text(dat, PART_BYTES, 1, &one);
	CHECK(one.len, "%s: no text", what);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		run_text(dat, sizes[i], 4, &other);
		CHECK(one.len == other.len && !memcmp(one.data, other.data, one.len),
		      "%s: another text by 4 threads with parts of %zu", what, sizes[i]);
	}
	printf("%s: %zu bytes of text\n", what, one.len);
	buf_fini(&one);
	buf_fini(&other);
}

static int stop_at_once(void *arg, const char *bytes, size_t len)
{
	(void)arg, (void)bytes, (void)len;
	return -EPIPE;
}

/* Whoever has had enough stops all threads. */
static void stopping(struct dat *dat)
{
	struct replay_job job = { .record = record_text, .put = stop_at_once };
	struct replay *replay = begin(dat, 1);
	struct err err = ERR_INIT;

	CHECK(replay_run(replay, &job, 4, &err) == -EPIPE, "it runs on");
	replay_free(replay);
}

static struct dat *open_made(const struct make *m)
{
	int fd = memfd_create("threads", MFD_CLOEXEC);
	struct err err = ERR_INIT;
	struct dat *dat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(write(fd, m->out.data, m->out.len) == (ssize_t)m->out.len, "%s", strerror(errno));
	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	close(fd);
	return dat;
}

static void made(int version, const char *compressor, bool big_endian, bool coarse)
{
	static const size_t sizes[] = { PART_BYTES, 1 };
	struct make m;
	struct dat *dat;

	make_begin(&m, version, compressor);
	m.nr_cpus = LANES;
	m.chunk_pages = coarse ? 1 : 10;
	m.small = true;
	m.big_endian = big_endian;
	for (uint32_t lane = 0; lane < LANES; lane++)
		fill_lane(&m, lane, coarse);
	make_file(&m);
	expect(&m);
	dat = open_made(&m);
	for (size_t i = 0; i < 2; i++) {
		in_order(dat, sizes[i]);
		taking(dat, sizes[i]);
		seeking(dat, sizes[i], compressor ? 250 : 500);
	}
	ends(dat);
	stopping(dat);
	running(dat, compressor ? compressor : version == 6 ? "version 6" : "version 7");
	dat_close(dat);
	make_end(&m);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct err err = ERR_INIT;
		struct dat *dat;

		CHECK(!dat_open(&dat, argv[i], &err), "%s", err.text);
		running(dat, argv[i]);
		dat_close(dat);
	}
	if (argc > 1)
		return 0;
	made(6, NULL, false, false);
	made(7, NULL, true, false);
	for (size_t i = 0; pack_name(i); i++) {
		made(7, pack_name(i), false, false);
		made(7, pack_name(i), false, true);
	}
	return 0;
}
