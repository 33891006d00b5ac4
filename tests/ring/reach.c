/*
 * R9: a copy counts only if the writer cannot have come round to its page: at most N-2 pages ahead
 * when it looks again.
 *
 * The reader's source is compiled in here with its reads rerouted, so that a writer can go on by
 * any number of pages right before any one of them: the points a, b, c, d of ring/read.c. Every
 * combination of a page's age, that point and the way the writer goes is tried; whether the copy is
 * accepted must be exactly what the rule says, and what is accepted must be whole. Then a cursor
 * reads on while the writer does as the dice say.
 */
#include <stdbool.h>
#include <unistd.h>

static ssize_t pread_at_point(int fd, void *to, size_t len, off_t at);
#define pread pread_at_point
#include "ring/read.c"
#undef pread

#include "ring/audit.h"

#define NPAGES_MAX 8u
#define IDS_MAX 400000u

static struct lab lab;
static unsigned char *snapshot;
static uint32_t next_id;
static uint64_t tail_now; /* the writer's own, never read back */
static struct {
	uint32_t first, count;
} entered[1 << 16]; /* pages by order of entering; [0] is the first */
static uint32_t nentered;

/* ---- the writer ---- */

static void write_one(uint32_t len)
{
	struct record record;
	struct ring_op op;
	const struct ring_head *head = lab_head(&lab, 0);

	record_fill(&record, next_id, len, 1000 + next_id);
	op = lab_op(&lab, &record, len);
	op.ts = 1000 + next_id;
	CHECK(ring_write(lab_fake_rseq(), &op) == RING_DONE, "write");
	if (head->tail != tail_now) {
		tail_now = head->tail;
		CHECK(nentered + 1 < sizeof(entered) / sizeof(entered[0]), "too many pages");
		entered[++nentered].first = next_id;
		entered[nentered].count = 0;
	}
	entered[nentered].count++;
	next_id++;
}

/* So many pages further, and some events into the last. */
static void go_on(uint32_t pages)
{
	uint32_t to = nentered + pages;

	while (nentered < to)
		write_one(RECORD_MIN + next_id % 50 * 16);
	for (int i = 0; i < 3; i++)
		write_one(RECORD_MIN + next_id % 5 * 4);
}

/* The stores of a page switch but the last: what a reader finds when the writer is right there. */
static void begin_switch(void)
{
	struct ring_source source = lab_source(&lab, 0);
	uint64_t next = ring_page_step(&source, tail_now, 1);
	struct page_head *page = (void *)(lab.refs[0].pages +
					  (next & RING_INDEX_MASK) * lab.page_size);

	page->commit = 0;
	lab.refs[0].first[next & RING_INDEX_MASK] = next_id;
}

/* ---- the points ---- */

static struct {
	bool on;
	int point; /* the writer goes on before this read */
	uint32_t pages;
	bool half; /* and has begun with one more */
	int reads;
} script;

static struct {
	bool on;
	uint64_t state;
} dice;

static ssize_t pread_at_point(int fd, void *to, size_t len, off_t at)
{
	if (script.on && script.reads++ == script.point) {
		go_on(script.pages);
		if (script.half)
			begin_switch();
	}
	if (dice.on) {
		uint32_t n = draw(&dice.state);

		/* Mostly little, now and then laps. */
		if (n % 4 == 0 && next_id < IDS_MAX)
			go_on(n % 64 == 0 ? n / 64 % 20 : n / 64 % 3 == 0);
	}
	return pread(fd, to, len, at);
}

/* ---- what was copied ---- */

/* Page `order` of those entered, with all its events if it was left before the copy. */
static void check_copy(const void *copy, uint64_t first, uint32_t order, bool closed)
{
	struct page_walk walk;
	struct page_event event;
	struct record record;
	uint32_t id = entered[order].first;

	CHECK(first == id, "R9: the copy's first number is %llu, not %u", (unsigned long long)first,
	      id);
	CHECK(!page_walk_init(&walk, copy, lab.page_size), "R9: no page");
	while (page_walk_next(&walk, &event) > 0) {
		const char *wrong = record_wrong(event.data, event.len, event.ts, &record);

		CHECK(!wrong && record.id == id, "R9: accepted torn: event %u, %s", id,
		      wrong ? wrong : "another");
		id++;
	}
	CHECK(id - entered[order].first <= entered[order].count &&
		      (!closed || id - entered[order].first == entered[order].count),
	      "R9: %u events in the copy of a page of %u", id - entered[order].first,
	      entered[order].count);
}

/* What the rule says. `ahead`: pages from the copied one to the tail before the reader came. */
static bool accepted(int64_t ahead, int64_t further, int point, int reads)
{
	int64_t reach = (int64_t)lab.npages - 2;
	int64_t at_a = ahead + (point == 0 ? further : 0);
	int64_t at_d = ahead + (point < reads ? further : 0);

	return at_a >= 0 && at_a <= reach && at_d <= reach;
}

static unsigned long tried, taken, at_limit;

/* One page, by the copy of any page: reads a, b, c, c, c, d. */
static void try_copy(int64_t ahead, uint32_t further, int point, bool half)
{
	struct ring_source source = lab_source(&lab, 0);
	uint64_t page = ring_page_step(&source, tail_now, -ahead), first = 0;
	uint32_t order = (uint32_t)((int64_t)nentered - ahead);
	unsigned char copy[4096];
	int ret;

	script.on = true;
	script.point = point;
	script.pages = further;
	script.half = half;
	script.reads = 0;
	ret = ring_page_copy(&source, page, copy, &first);
	script.on = false;
	CHECK(ret == accepted(ahead, further, point, 6),
	      "R9: %u pages, %lld back, writer goes %u further at read %d: %s", lab.npages,
	      (long long)ahead, further, point, ret ? "accepted" : "refused");
	if (ret == 1)
		check_copy(copy, first, order, ahead > 0);
	tried++;
	taken += ret == 1;
	at_limit += ret == 1 && ahead + (point < 6 ? further : 0) == (int64_t)lab.npages - 2;
}

/* Several closed ones at once: reads a, bc, c, d. */
static void try_batch(int64_t ahead, uint32_t further, int point, bool half)
{
	static unsigned char copies[NPAGES_MAX * 4096];
	struct ring_source source = lab_source(&lab, 0);
	uint64_t page = ring_page_step(&source, tail_now, -ahead), firsts[NPAGES_MAX];
	uint32_t order = (uint32_t)((int64_t)nentered - ahead);
	bool ok = accepted(ahead, further, point, 4) && ahead + (point == 0 ? further : 0) > 0;
	int ret;

	script.on = true;
	script.point = point;
	script.pages = further;
	script.half = half;
	script.reads = 0;
	ret = ring_pages_copy(&source, page, NPAGES_MAX, copies, firsts);
	script.on = false;
	CHECK((ret > 0) == ok,
	      "R9: %u pages, %lld back, writer goes %u further at read %d: batch of %d", lab.npages,
	      (long long)ahead, further, point, ret);
	CHECK(ret <= (int64_t)lab.npages - 2, "R9: a batch of %d pages of %u", ret, lab.npages);
	for (int i = 0; i < ret; i++)
		check_copy(copies + i * 4096, firsts[i], order + (uint32_t)i, true);
	tried++;
	taken += ret > 0;
}

static void every_way(uint32_t npages)
{
	uint32_t id, order;
	uint64_t tail;

	for (uint32_t index = 0; index < npages; index++) {
		lab_open(&lab, 1, npages, 4096, RING_REF_OVERWRITE);
		snapshot = malloc(lab.size);
		tail_now = next_id = nentered = 0;
		entered[0].first = entered[0].count = 0;
		go_on(3 * npages + index);
		memcpy(snapshot, lab.base, lab.size);
		id = next_id;
		order = nentered;
		tail = tail_now;
		for (uint32_t i = 0; i < 2 * 7 * (npages + 4) * (npages + 4); i++) {
			int64_t ahead = (int64_t)(i / 14 % (npages + 4)) - 2;
			uint32_t further = i / 14 / (npages + 4), count = entered[order].count;

			try_copy(ahead, further, (int)(i / 2 % 7), i % 2);
			for (int again = 0; again < 2; again++) {
				memcpy(lab.base, snapshot, lab.size);
				next_id = id;
				nentered = order;
				tail_now = tail;
				entered[order].count = count;
				if (!again)
					try_batch(ahead, further, (int)(i / 2 % 7), i % 2);
			}
		}
		free(snapshot);
		lab_close(&lab);
	}
}

/* ---- by the dice ---- */

static void by_dice(uint32_t npages, uint64_t seed)
{
	struct cursor cursor;
	struct record record;
	uint64_t events = 0;
	int ret;

	lab_open(&lab, 1, npages, 4096, RING_REF_OVERWRITE);
	tail_now = next_id = nentered = 0;
	entered[0].first = entered[0].count = 0;
	dice.state = seed;
	dice.on = true;
	lab_cursor(&lab, 0, &cursor);
	while (next_id < IDS_MAX || cursor_peek(&cursor) > 0) {
		ret = cursor_peek(&cursor);
		CHECK(ret >= 0, "%s", strerror(-ret));
		if (!ret) {
			/* Nothing new: no read of ours may ever bring the writer on. */
			go_on(0);
			continue;
		}
		ret = record_wrong(cursor.event.data, cursor.event.len, cursor.event.ts, &record) !=
		      NULL;
		CHECK(!ret && record.id == (uint32_t)cursor.nr,
		      "R9: event %llu is torn or another: %u", (unsigned long long)cursor.nr,
		      record.id);
		CHECK(record.id == events + cursor.lost,
		      "R6: event %u after %llu read and %llu lost", record.id,
		      (unsigned long long)events, (unsigned long long)cursor.lost);
		cursor_pass(&cursor);
		events++;
	}
	dice.on = false;
	CHECK(events + cursor.lost == next_id && cursor.lost, "R6: %llu read and %llu lost of %u",
	      (unsigned long long)events, (unsigned long long)cursor.lost, next_id);
	printf("%u pages by the dice: %llu read, %llu lost\n", npages, (unsigned long long)events,
	       (unsigned long long)cursor.lost);
	cursor_close(&cursor);
	lab_close(&lab);
}

int main(void)
{
	for (uint32_t npages = RING_NPAGES_MIN; npages <= NPAGES_MAX; npages++)
		every_way(npages);
	printf("R9: %lu copies tried, %lu accepted, %lu of them at the limit\n", tried, taken,
	       at_limit);
	CHECK(at_limit, "none was accepted at the limit");
	by_dice(4, 1);
	by_dice(7, 2);
	by_dice(16, 3);
	return 0;
}
