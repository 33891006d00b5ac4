/*
 * Runs of pages are what single pages would have been: the same bytes, in the same order, counted as read in the same way; what
 * was lost, dropped or written elsewhere meanwhile comes where it belongs.
 */
#include "capture/take.h"
#include "ring/lab.h"

enum { NPAGES = 32, PAGE = 4096 };

static struct lab lab;
static struct state_buffer buffer;
static uint64_t number, ts;

static void scene_open_cpus(uint32_t ncpu, uint32_t npages, uint32_t flags)
{
	lab_open(&lab, ncpu, npages, PAGE, flags);
	buffer = (struct state_buffer){ .page_size = PAGE };
	buffer.live = (struct state_set){ .offset = LAB_SET, .npages = npages, .page_size = PAGE, .generation = 1 };
	number = 0;
	ts = 1000;
}

static void scene_open(uint32_t npages, uint32_t flags)
{
	scene_open_cpus(1, npages, flags);
}

static struct stream *open_stream(bool consume)
{
	struct err err = ERR_INIT;
	struct stream *stream;

	CHECK(!stream_open(&stream, lab.fd, &buffer, lab.ncpu, 0, consume, &err), "%s", err.text);
	return stream;
}

/* Records of several lengths. In discard mode one may find no room. */
static enum ring_result emit_one(bool overflow)
{
	uint64_t record[20] = { number };
	struct ring_op op = lab_op(&lab, record, 8 + (uint32_t)(number * 7 % 19) * 8);
	enum ring_result result;

	op.ts = ts += 1 + number % 5;
	if (!overflow) {
		result = ring_write(lab_fake_rseq(), &op);
	} else {
		CHECK(ring_overflow_take(lab.slots, 1, 0, 1, NULL) == 0, "slot");
		result = ring_twin_write(&lab.refs[1], &op, 0);
		ring_overflow_release(&lab.slots[0]);
	}
	CHECK(result == RING_DONE || result == RING_DROPPED, "write: %d", result);
	number++;
	return result;
}

/* Until `pages` were entered. */
static void emit_pages(uint32_t pages)
{
	struct ring_source source = lab_source(&lab, 0);
	uint64_t tail = lab_head(&lab, 0)->tail;

	while (ring_distance(&source, tail, lab_head(&lab, 0)->tail) < pages)
		emit_one(false);
}

static void in_order(const struct page_event *event, void *ctx)
{
	uint64_t *next = ctx, got;

	memcpy(&got, event->data, sizeof(got));
	CHECK(got == *next, "event %llu comes where %llu should", (unsigned long long)got, (unsigned long long)*next);
	++*next;
}

/* ---- */

struct bytes {
	unsigned char *at;
	size_t len;
};

static void keep_page(const void *page, uint32_t used, void *ctx)
{
	struct bytes *bytes = ctx;

	bytes->at = realloc(bytes->at, bytes->len + used);
	memcpy(bytes->at + bytes->len, page, used);
	bytes->len += used;
}

static void check_stats(struct stream *stream, uint64_t entries, uint64_t read, uint64_t overrun, uint64_t dropped)
{
	struct stream_stats stats;

	CHECK(!stream_stats(stream, &stats), "stats");
	CHECK(stats.entries == entries && stats.read == read && stats.overrun == overrun && stats.dropped == dropped,
	      "%llu entries %llu read %llu overrun %llu dropped, not %llu %llu %llu %llu", (unsigned long long)stats.entries,
	      (unsigned long long)stats.read, (unsigned long long)stats.overrun, (unsigned long long)stats.dropped,
	      (unsigned long long)entries, (unsigned long long)read, (unsigned long long)overrun, (unsigned long long)dropped);
}

static void same_bytes(void)
{
	struct bytes by_page = { 0 }, by_run = { 0 };
	struct stream *stream, *peek;
	struct take one, run;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	emit_pages(NPAGES - 4);
	take_init(&one, 1);
	take_init(&run, 9);
	one.page = run.page = keep_page;
	one.ctx = &by_page;
	run.ctx = &by_run;
	peek = open_stream(false);
	for (;;) {
		unsigned char page[PAGE] __attribute__((aligned(8)));
		struct stream_page info;

		if (stream_next(peek, page, &info) <= 0)
			break;
		take_look(&one, page, PAGE);
	}
	stream_close(peek);
	stream = open_stream(true);
	while (take_step(&run, stream, false))
		;
	CHECK(run.pages == NPAGES - 4 && run.runs == 4 && !run.singles, "%llu pages in %llu runs, %llu single ones",
	      (unsigned long long)run.pages, (unsigned long long)run.runs, (unsigned long long)run.singles);
	CHECK(run.events < number, "the open page is left alone");
	check_stats(stream, number - run.events, run.events, 0, 0);
	while (take_step(&run, stream, true))
		;
	CHECK(run.singles == 1 && run.events == number && one.events == number, "%llu and %llu events of %llu",
	      (unsigned long long)run.events, (unsigned long long)one.events, (unsigned long long)number);
	CHECK(by_page.len == by_run.len && !memcmp(by_page.at, by_run.at, by_run.len), "the bytes differ");
	stream_accept(stream);
	check_stats(stream, 0, number, 0, 0);
	stream_close(stream);
	take_fini(&one);
	take_fini(&run);
	free(by_page.at);
	free(by_run.at);
	lab_close(&lab);
}

/* What a run has yielded counts as read at once: the next reader goes on there. What was not ended does not. */
static void handed_on(void)
{
	struct stream_run run;
	struct stream *stream;
	struct take take;
	uint64_t next = 0;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	emit_pages(20);
	take_init(&take, 3);
	take.each = in_order;
	take.ctx = &next;
	for (int i = 0; i < 6; i++) {
		stream = open_stream(true);
		CHECK(take_step(&take, stream, false) && take.pages == 3u * (unsigned)(i + 1), "a run of three");
		CHECK(stream_run(stream, 3, &run) == 1, "another that is not ended");
		stream_close(stream);
	}
	stream = open_stream(true);
	CHECK(!stream_run_end(stream), "there is none to end");
	CHECK(stream_run(stream, 9, &run) == 1 && run.n == 2, "two are left");
	while (take_step(&take, stream, true))
		;
	CHECK(!stream_run_end(stream), "there is none any more");
	CHECK(next == number, "%llu of %llu", (unsigned long long)next, (unsigned long long)number);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* A page that was read before it was full is finished by single pages. */
static void partly_read(void)
{
	struct stream *stream;
	struct take take;
	uint64_t next = 0;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 64);
	take.each = in_order;
	take.ctx = &next;
	for (int i = 0; i < 300; i++) {
		emit_pages(1 + (uint32_t)i % 7);
		for (int k = 0; k < i % 11; k++)
			emit_one(false);
		while (take_step(&take, stream, i % 3 == 0))
			;
	}
	while (take_step(&take, stream, true))
		;
	CHECK(next == number && !take.lost, "%llu of %llu", (unsigned long long)next, (unsigned long long)number);
	CHECK(take.pages > 600, "hardly any runs: %llu pages", (unsigned long long)take.pages);
	check_stats(stream, 0, number, 0, 0);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* Writers come round during the copy, or before it: what they wrote over is told, by number. */
static void overtaken(void)
{
	struct stream_run run;
	struct stream *stream;
	struct take take;
	uint64_t gone = 0;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 8);
	for (uint32_t i = 0; i < 40; i++) {
		emit_pages(5);
		CHECK(stream_run(stream, 4, &run) == 1, "a run");
		/* Its first page is out of reach when NPAGES - 1 pages are behind it. */
		emit_pages(NPAGES - 8 + i % 4);
		CHECK(stream_run_end(stream) == (i % 4 < 2), "R9: %u pages behind its first", NPAGES - 3 + i % 4);
		if (i % 4 < 2)
			take.events += run.events;
		gone += i % 4 >= 2;
		emit_pages(i % 5 * 10);
		while (take_step(&take, stream, false))
			;
	}
	while (take_step(&take, stream, true))
		;
	CHECK(gone == 20 && take.lost && take.events + take.lost == number, "R6: %llu read and %llu lost of %llu",
	      (unsigned long long)take.events, (unsigned long long)take.lost, (unsigned long long)number);
	check_stats(stream, 0, take.events, take.lost, 0);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* At the edge a long run would be overtaken each time. */
static void short_at_edge(void)
{
	struct stream_run run;
	struct stream *stream;
	unsigned char page[PAGE] __attribute__((aligned(8)));
	struct stream_page info;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	emit_pages(NPAGES + 10);
	CHECK(!stream_run(stream, 64, &run) && !run.idle, "something is lost");
	CHECK(stream_next(stream, page, &info) == 1 && info.lost, "and told");
	CHECK(stream_run(stream, 64, &run) == 1 && run.n == 3, "%u pages where one more is behind", run.n);
	CHECK(stream_run_end(stream), "good");
	CHECK(stream_run(stream, 64, &run) == 1 && run.n == 9, "%u pages where four more are behind", run.n);
	stream_close(stream);
	lab_close(&lab);
}

/* Records from overflow rings are slipped in where they belong, with runs in between. */
static void merged(void)
{
	struct stream *stream;
	struct take take;
	uint64_t next = 0;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 5);
	take.each = in_order;
	take.ctx = &next;
	for (uint32_t i = 0; i < 200; i++) {
		emit_pages(7);
		if (i % 3 == 0)
			emit_one(true);
		emit_pages(7);
		for (uint32_t k = 0; k < i % 6; k++)
			take_step(&take, stream, false);
		while (take_step(&take, stream, i % 4 == 0))
			;
		/* Later than all that was taken, and not by its clock. */
		if (i % 4 == 0) {
			ts -= 50;
			emit_one(true);
			ts += 50;
		}
	}
	while (take_step(&take, stream, true))
		;
	CHECK(next == number && !take.lost, "%llu of %llu, %llu lost", (unsigned long long)next, (unsigned long long)number,
	      (unsigned long long)take.lost);
	CHECK(take.runs > 200, "%llu runs", (unsigned long long)take.runs);
	check_stats(stream, 0, number, 0, 0);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* An event that came by an overflow ring with an earlier time than the run before it is not handed out as earlier. */
static void not_back(void)
{
	struct stream *stream;
	struct take take;
	uint64_t later;

	for (uint32_t gone = 0; gone < 2; gone++) {
		scene_open(NPAGES, RING_REF_OVERWRITE);
		stream = open_stream(true);
		take_init(&take, 64);
		emit_pages(10);
		while (take_step(&take, stream, false))
			;
		CHECK(take.pages == 10, "one run");
		/* Also when the run's last page is no more. */
		if (gone)
			emit_pages(NPAGES + 10);
		later = ts;
		ts = 1001;
		emit_one(true);
		ts = later;
		emit_one(false);
		while (take_step(&take, stream, true))
			;
		CHECK(take.events + take.lost == number && !take.lost == !gone, "%llu of %llu", (unsigned long long)take.events,
		      (unsigned long long)number);
		/* And pages that begin before the last that was handed out are made anew: take_look() sees to it. */
		stream_close(stream);
		take_fini(&take);
		lab_close(&lab);
	}
}

/* What came by an overflow ring with a later time than the pages after it: those are made anew. */
static void not_ahead(void)
{
	struct stream *stream;
	struct take take;
	uint64_t runs;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 64);
	emit_pages(3);
	while (take_step(&take, stream, true))
		;
	ts += 100000;
	emit_one(true);
	ts -= 100000;
	while (take_step(&take, stream, true))
		;
	runs = take.runs;
	emit_pages(5);
	while (take_step(&take, stream, false))
		;
	CHECK(take.runs == runs && take.events, "pages of earlier times as they are");
	ts += 100000;
	emit_pages(5);
	while (take_step(&take, stream, true))
		;
	CHECK(take.runs > runs && take.events == number, "%llu of %llu", (unsigned long long)take.events, (unsigned long long)number);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* A page's first event has the number of those before it, taken or told as lost. */
static void at_its_number(const void *page, uint32_t used, void *ctx)
{
	const struct take *take = ctx;
	struct page_walk walk;
	struct page_event event;
	uint64_t got;

	(void)used;
	CHECK(!page_walk_init(&walk, page, PAGE) && page_walk_next(&walk, &event) == 1, "an empty page");
	memcpy(&got, event.data, sizeof(got));
	CHECK(got == take->events + take->lost, "event %llu is told as %llu", (unsigned long long)got,
	      (unsigned long long)(take->events + take->lost));
}

/* Numbers count drops as well: where there are some, pages are counted one by one. */
static void discarded(void)
{
	struct stream *stream;
	struct take take;
	uint64_t dropped = 0;

	scene_open(NPAGES, 0);
	stream = open_stream(true);
	take_init(&take, 6);
	take.page = at_its_number;
	take.ctx = &take;
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t n = i % 10 == 9 ? 2000 : 20 + i * 37 % 900;

		for (uint32_t k = 0; k < n; k++)
			dropped += emit_one(false) == RING_DROPPED;
		for (uint32_t k = 0; (i % 3 || k < 1 + i % 5) && take_step(&take, stream, i % 7 == 0); k++)
			;
		CHECK(take.lost <= dropped, "more lost than dropped");
	}
	while (take_step(&take, stream, true))
		;
	emit_one(false);
	while (take_step(&take, stream, true))
		;
	CHECK(dropped && take.runs > 200, "%llu dropped, %llu runs", (unsigned long long)dropped, (unsigned long long)take.runs);
	CHECK(take.lost == dropped && take.events + dropped == number, "R6: %llu events, %llu lost, %llu dropped of %llu",
	      (unsigned long long)take.events, (unsigned long long)take.lost, (unsigned long long)dropped,
	      (unsigned long long)number);
	check_stats(stream, 0, take.events, 0, dropped);
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* What found no way into any ring is told with a page. */
static void refused(void)
{
	struct stream *stream;
	struct take take;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 64);
	emit_pages(10);
	lab_head(&lab, 0)->refused = 7;
	while (take_step(&take, stream, false))
		;
	CHECK(take.lost == 7 && take.singles && take.runs, "%llu lost", (unsigned long long)take.lost);
	emit_pages(10);
	while (take_step(&take, stream, false))
		;
	CHECK(take.lost == 7, "once");
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* The overflow ring of this CPU's number is counted with its stream, whoever's the events were. */
static void lost_aside(void)
{
	struct stream *stream;
	struct take take;

	scene_open_cpus(2, NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	take_init(&take, 64);
	emit_pages(2);
	for (int i = 0; i < 4000; i++) {
		uint64_t record[8] = { 0 };
		struct ring_op op = lab_op(&lab, record, sizeof(record));

		op.ts = ts;
		CHECK(ring_overflow_take(lab.slots, 2, 0, 1, NULL) == 0, "slot");
		CHECK(ring_twin_write(&lab.refs[2], &op, 1) == RING_DONE, "write");
		ring_overflow_release(&lab.slots[0]);
	}
	CHECK(take_step(&take, stream, false) && take.lost && !take.runs, "told with the next page: %llu", (unsigned long long)take.lost);
	CHECK(take_step(&take, stream, false) && take.runs, "and then a run");
	stream_close(stream);
	take_fini(&take);
	lab_close(&lab);
}

/* Pages of a set are handed out as they are only where all pages have their size. */
static void other_size(void)
{
	struct stream_run run;
	struct stream *stream;
	unsigned char page[2 * PAGE] __attribute__((aligned(8)));
	struct stream_page info;

	scene_open(NPAGES, RING_REF_OVERWRITE);
	buffer.page_size = 2 * PAGE;
	stream = open_stream(true);
	emit_pages(3);
	CHECK(stream_page_size(stream) == 2 * PAGE, "as large as the largest");
	CHECK(!stream_run(stream, 8, &run) && !run.idle, "a run of small pages");
	CHECK(stream_next(stream, page, &info) == 1 && info.events, "which are read one by one");
	stream_close(stream);
	lab_close(&lab);
}

/* A program may cut off the file that it shares: that is an error of the copy, and no signal. */
static void cut_off(void)
{
	struct stream_run run;
	struct stream *stream;
	int file = memfd_create("taken", MFD_CLOEXEC);

	scene_open(NPAGES, RING_REF_OVERWRITE);
	stream = open_stream(true);
	emit_pages(20);
	CHECK(stream_run(stream, 8, &run) == 1 && run.n == 8, "a run");
	CHECK(!ftruncate(lab.fd, LAB_SET), "%s", strerror(errno));
	CHECK(pwrite(file, run.pages, (size_t)run.n * PAGE, 0) == -1 && errno == EFAULT, "it is copied all the same");
	CHECK(!stream_run_end(stream), "and counts");
	CHECK(stream_run(stream, 8, &run) <= 0, "and again");
	stream_close(stream);
	close(file);
	lab_close(&lab);
}

/* Whatever words a program leaves there. */
static void garbage(void)
{
	static const uint64_t words[] = { 0, 1, ~0ull, 1ull << 63, RING_LAP, 0xfffffull, 0x123456789abcdefull, 31, 30, 5 };
	struct ring_head *head;
	struct stream_run run;
	struct stream *stream;
	unsigned char page[PAGE] __attribute__((aligned(8)));
	struct stream_page info;
	uint64_t state = 88172645463325252ull;
	int ret;

	for (int i = 0; i < 3000; i++) {
		scene_open(8, RING_REF_OVERWRITE);
		head = lab_head(&lab, 0);
		emit_pages(5);
		if (i & 1)
			head->consumed = words[i / 2 % 10] << (i / 20 % 3 * 20);
		/* A page that there is not, as far behind as one that there is. */
		if (i % 50 == 0) {
			head->tail = 4 * RING_LAP + 5;
			head->consumed = head->read[0].pos = ring_pos(31, 0);
		}
		stream = open_stream(true);
		for (int k = 0; k < 8; k++) {
			state ^= state << 13, state ^= state >> 7, state ^= state << 17;
			if (state % 3 == 0)
				head->tail = words[state / 3 % 10];
			if (state % 5 == 0)
				lab.refs[0].first[state / 5 % 8] = words[state / 40 % 10];
			if (state % 7 == 0)
				head->dropped = words[state / 7 % 10];
			ret = stream_run(stream, 8, &run);
			CHECK(ret >= 0, "run: %s", strerror(-ret));
			if (ret) {
				CHECK(run.n && run.n <= 8 && run.events >= run.n && run.events <= run.n * PAGE / 8 &&
				      (uintptr_t)run.pages % PAGE == 0, "%u pages, %u events", run.n, run.events);
				stream_run_end(stream);
			} else {
				stream_next(stream, page, &info);
			}
		}
		stream_close(stream);
		lab_close(&lab);
	}
}

int main(void)
{
	same_bytes();
	handed_on();
	partly_read();
	overtaken();
	short_at_edge();
	merged();
	not_back();
	not_ahead();
	discarded();
	refused();
	lost_aside();
	other_size();
	cut_off();
	garbage();
	return 0;
}
