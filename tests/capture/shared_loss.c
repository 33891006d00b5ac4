/*
 * A loss is never silent: events of CPU 1 that are overwritten in the overflow ring of CPU 0 are told by CPU 1's stream, without a
 * number, even when CPU 0's stream has kept up and has nothing to tell.
 */
#include "capture/stream.h"
#include "ring/lab.h"

static struct lab lab;
static struct state_buffer buffer = { .page_size = 4096 };

static struct stream *open_stream(uint32_t cpu)
{
	struct err err = ERR_INIT;
	struct stream *stream;

	CHECK(!stream_open(&stream, lab.fd, &buffer, 2, cpu, true, &err), "%s", err.text);
	return stream;
}

static void emit(int count)
{
	static uint64_t ts = 1000;

	for (int i = 0; i < count; i++) {
		uint64_t record[8] = { 0 };
		struct ring_op op = lab_op(&lab, record, sizeof(record));

		op.ts = ts += 10;
		CHECK(ring_overflow_take(lab.slots, 2, 0, 1, NULL) == 0, "slot");
		CHECK(ring_twin_write(&lab.refs[2], &op, 1) == RING_DONE, "write");
		ring_overflow_release(&lab.slots[0]);
	}
}

/* Reads all; whether a page said that events may be missing. */
static bool drain(struct stream *stream, uint64_t *events, uint64_t *lost)
{
	unsigned char page[4096] __attribute__((aligned(8)));
	struct stream_page info;
	bool more = false;

	while (stream_next(stream, page, &info) > 0) {
		struct page_walk walk;

		CHECK(!page_walk_init(&walk, page, sizeof(page)), "page");
		CHECK(!info.lost_more || walk.lost, "the page does not say it");
		more |= info.lost_more;
		*events += info.events;
		*lost += info.lost;
	}
	return more;
}

int main(void)
{
	struct stream *home, *away;
	uint64_t home_events = 0, home_lost = 0, events = 0, lost = 0;

	lab_open(&lab, 2, 8, 4096, RING_REF_OVERWRITE);
	buffer.live = (struct state_set){ .offset = LAB_SET, .npages = 8, .page_size = 4096, .generation = 1 };
	home = open_stream(0);
	away = open_stream(1);
	emit(20);
	CHECK(!drain(away, &events, &lost) && events == 20, "all of the first are there");
	for (int i = 0; i < 50; i++) {
		emit(20);
		drain(home, &home_events, &home_lost);
	}
	CHECK(!home_events && !home_lost, "none of them is CPU 0's, and its stream kept up");
	CHECK(drain(away, &events, &lost), "CPU 1's stream says nothing of what it lost");
	CHECK(events < 20 + 1000, "nothing was overwritten: %llu", (unsigned long long)events);
	emit(1);
	CHECK(!drain(away, &events, &lost), "it says so once");
	stream_close(home);
	stream_close(away);
	lab_close(&lab);
	return 0;
}
