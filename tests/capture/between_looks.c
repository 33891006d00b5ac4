/*
 * A thread's events come in its order whichever rings they took, also when they are written while a stream is looking: here
 * between any two of its reads, three events in all ways over the CPU's own ring and two overflow rings (R8).
 */
#include "capture/stream.h"

#include <sys/syscall.h>

#include "ring/lab.h"

enum { NCPU = 2, RINGS = 3, COMING = 3, WAYS = 27 };

static struct lab lab;
static uint64_t written;
static int until = -1;	/* reads before the events come; below 0: they came */
static char coming[COMING + 1];	/* the rings they take, as digits */

/* Ring 0 is CPU 0's own; the others are overflow rings. */
static void emit(uint32_t ring)
{
	uint64_t number = written++;
	struct ring_op op = lab_op(&lab, &number, sizeof(number));
	int slot;

	op.ts = 1000 + number;
	if (!ring) {
		CHECK(ring_write(lab_fake_rseq(), &op) == RING_DONE, "own ring");
		return;
	}
	/* The other slot is somebody else's at the moment. */
	lab.slots[2 - ring].owner = 7;
	slot = ring_overflow_take(lab.slots, NCPU, 0, 1, NULL);
	CHECK(slot == (int)ring - 1, "slot %d", slot);
	CHECK(ring_twin_write(&lab.refs[NCPU + (uint32_t)slot], &op, 0) == RING_DONE, "overflow ring");
	ring_overflow_release(&lab.slots[slot]);
	lab.slots[2 - ring].owner = 0;
}

/* libc's, as the reader finds it. */
ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	if (until >= 0 && !until--)
		for (uint32_t i = 0; i < COMING; i++)
			emit((uint32_t)(coming[i] - '0'));
#if defined(__i386__)
	return syscall(SYS_pread64, fd, to, len, (long)at, (long)(at >> 32));
#else
	return syscall(SYS_pread64, fd, to, len, at);
#endif
}

static void drain(struct stream *stream, uint64_t *next, int reads)
{
	unsigned char page[4096] __attribute__((aligned(8)));
	struct stream_page info;

	while (stream_next(stream, page, &info) > 0) {
		struct page_walk walk;
		struct page_event event;

		CHECK(!page_walk_init(&walk, page, sizeof(page)), "page");
		while (page_walk_next(&walk, &event) > 0) {
			uint64_t number;

			memcpy(&number, event.data, sizeof(number));
			CHECK(number == *next, "R8: event %llu comes where %llu should, %s, after %d reads",
			      (unsigned long long)number, (unsigned long long)*next, coming, reads);
			++*next;
		}
	}
}

/* Whether the reader got as far as to the read that the events precede. */
static bool interleave(uint32_t way, bool fresh, int reads)
{
	struct state_buffer buffer = { .page_size = 4096 };
	struct stream *stream;
	struct err err = ERR_INIT;
	uint64_t next = 0;
	bool came;

	lab_open(&lab, NCPU, 8, 4096, RING_REF_OVERWRITE);
	written = 0;
	for (uint32_t i = 0; i < COMING; i++, way /= RINGS)
		coming[i] = (char)('0' + way % RINGS);
	until = -1;
	buffer.live = (struct state_set){ .offset = LAB_SET, .npages = 8, .page_size = 4096, .generation = 1 };
	CHECK(!stream_open(&stream, lab.fd, &buffer, NCPU, 0, true, &err), "%s", err.text);
	for (uint32_t ring = 0; ring < RINGS && !fresh; ring++)
		emit(ring);
	until = reads;
	drain(stream, &next, reads);
	came = until < 0;
	until = -1;
	drain(stream, &next, reads);
	CHECK(next == written, "%llu of %llu events", (unsigned long long)next, (unsigned long long)written);
	stream_close(stream);
	lab_close(&lab);
	return came;
}

int main(void)
{
	int most = 0;

	for (uint32_t i = 0; i < 2 * WAYS; i++) {
		int reads = 0;

		while (interleave(i % WAYS, i >= WAYS, reads))
			reads++;
		most = reads > most ? reads : most;
	}
	/* Both overflow rings were looked at, so that something could come between. */
	CHECK(most > 8, "only %d reads", most);
	printf("%d ways, events before each of up to %d reads\n", 2 * WAYS, most);
	return 0;
}
