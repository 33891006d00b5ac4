/*
 * What is told late comes in its place: a stream hands out nothing that is later than the teller has come to, all of it in order of
 * time with the times that it had, and what was lost is counted. It does not wait for a teller that is dead, or stopped, or has
 * turned to other sets. At the end all is there.
 */
#include <fcntl.h>

#include "base/mono.h"
#include "capture/stream.h"
#include "capture/told.h"
#include "ring/lab.h"

enum { NCPU = 2, NPAGES = 16, ROUNDS = 400, EVENTS = 4 * ROUNDS };

static struct lab lab;
static int teller;		/* holds the lock */
static uint64_t now;		/* by the set's clock */
static uint64_t ts_of[EVENTS];	/* by number, as written */
static bool seen[EVENTS];
static uint64_t written, handed, last;

static struct rings_head *rings(void)
{
	return (void *)lab.base;
}

static struct set_head *set(void)
{
	return (void *)(lab.base + LAB_SET);
}

static void open_teller(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", lab.fd);
	teller = open(path, O_RDWR | O_CLOEXEC);
	CHECK(teller >= 0 && !told_lock(teller), "the lock");
}

static void write_own(void)
{
	uint64_t number = written++;
	struct ring_op op = lab_op(&lab, &number, sizeof(number));

	op.ts = ts_of[number] = now += 10;
	CHECK(ring_write(lab_fake_rseq(), &op) == RING_DONE, "own ring");
}

static void tell(uint64_t ts)
{
	uint64_t number = written++;
	struct ring_op op = lab_op(&lab, &number, sizeof(number));

	op.ncpu = 1;
	op.ts = ts_of[number] = ts;
	CHECK(ring_twin_write(&lab.refs[2 * NCPU], &op, 0) == RING_DONE, "the ring for what is told");
}

static void say_until(uint64_t ts)
{
	set()->told_mono = mono_ns();
	set()->told = ts;
	rings()->told_mono = set()->told_mono;
}

/* All that there is now; none of it later than `until`. */
static void drain(struct stream *stream, uint64_t until)
{
	unsigned char page[4096] __attribute__((aligned(8)));
	struct stream_page info;

	while (stream_next(stream, page, &info) > 0) {
		struct page_walk walk;
		struct page_event event;

		CHECK(!info.lost && !info.lost_more, "%llu were lost", (unsigned long long)info.lost);
		CHECK(!page_walk_init(&walk, page, sizeof(page)), "page");
		while (page_walk_next(&walk, &event) > 0) {
			uint64_t number;

			memcpy(&number, event.data, sizeof(number));
			CHECK(number < written && !seen[number], "event %llu twice", (unsigned long long)number);
			CHECK(event.ts == ts_of[number], "event %llu has another time", (unsigned long long)number);
			CHECK(event.ts >= last && event.ts <= until, "event of %llu, behind %llu, told up to %llu",
			      (unsigned long long)event.ts, (unsigned long long)last, (unsigned long long)until);
			seen[number] = true;
			last = event.ts;
			handed++;
		}
	}
}

static void begin(struct stream **stream)
{
	struct state_buffer buffer = {
		.page_size = 4096, .live = { .offset = LAB_SET, .npages = NPAGES, .page_size = 4096, .generation = 1 },
	};
	struct err err = ERR_INIT;

	lab_open(&lab, NCPU, NPAGES, 4096, RING_REF_OVERWRITE);
	written = handed = last = 0;
	now = 1000;
	memset(seen, 0, sizeof(seen));
	open_teller();
	CHECK(!stream_open(&stream[0], lab.fd, &buffer, NCPU, 0, true, &err), "%s", err.text);
	/* Behind that: who opens one waits for all that has happened by then. */
	say_until(now);
}

static void end(struct stream *stream)
{
	stream_close(stream);
	close(teller);
	lab_close(&lab);
}

/* Own events run ahead; now and then the teller comes after, not all the way. */
static void check_order(void)
{
	struct stream *stream;
	uint64_t until = 1000;

	begin(&stream);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		write_own();
		write_own();
		if (i % 3 == 0) {
			uint64_t to = until + (now - until) * (i % 7 + 1) / 8;

			for (uint64_t ts = until + 5; ts <= to && written < EVENTS; ts += 30)
				tell(ts);
			until = to;
			say_until(until);
		}
		drain(stream, until);
	}
	CHECK(handed && handed < written, "nothing was held back");
	say_until(UINT64_MAX);
	drain(stream, UINT64_MAX);
	CHECK(handed == written, "%llu of %llu", (unsigned long long)handed, (unsigned long long)written);
	end(stream);
}

enum why { DEAD, STOPPED, TURNED };

/* What is held back, and who has said what, when there is nobody to wait for. */
static void check_free(enum why why)
{
	struct stream *stream;

	begin(&stream);
	write_own();
	drain(stream, 1000);
	CHECK(!handed, "not held back");
	if (why == DEAD)
		close(teller);
	else if (why == STOPPED)
		rings()->told_mono = set()->told_mono = mono_ns() - TOLD_PATIENCE_NS;
	else
		set()->told_mono = rings()->told_mono - TOLD_BEHIND_NS;
	drain(stream, UINT64_MAX);
	CHECK(handed == 1, "held back by one who is %s", why == DEAD ? "dead" : why == STOPPED ? "stopped" : "elsewhere");
	if (why == DEAD)
		teller = -1;
	end(stream);
}

/* A ring that came round before anybody read it. */
static void check_lost(void)
{
	unsigned char page[4096] __attribute__((aligned(8)));
	uint64_t lost = 0, events = 0;
	struct stream_page info;
	struct stream *stream;
	const uint64_t all = 10000;

	begin(&stream);
	for (uint64_t i = 0; i < all; i++) {
		written = 0;
		tell(1000 + i);
	}
	say_until(1000 + all);
	while (stream_next(stream, page, &info) > 0) {
		CHECK(!info.lost_more, "it is known whose they are");
		lost += info.lost;
		events += info.events;
	}
	CHECK(lost && events && lost + events == all, "%llu lost and %llu read of %llu", (unsigned long long)lost,
	      (unsigned long long)events, (unsigned long long)all);
	end(stream);
}

int main(void)
{
	check_order();
	check_free(DEAD);
	check_free(STOPPED);
	check_free(TURNED);
	check_lost();
	return 0;
}
