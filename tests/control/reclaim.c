/*
 * Room in the rings file is given back when nobody can be using it any more, and not before: not while
 * a live thread owns an overflow slot since before, nor while a consumer has the set locked.
 */
#include "control/room.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/stream.h"
#include "control/buffer.h"
#include "control/reclaim.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static struct control *control;

static void slot_set(uint32_t i, uint64_t owner, uint64_t taken)
{
	struct overflow_slot slot = { .owner = owner, .taken = taken };
	off_t at = (off_t)(offsetof(struct rings_head, slot) + i * sizeof(slot));

	CHECK(pwrite(control->dir.fd[SEGMENT_RINGS], &slot, sizeof(slot), at) ==
	      (ssize_t)sizeof(slot), "pwrite");
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *release_later(void *arg)
{
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	slot_set(1 % control->dir.ncpu, *(uint64_t *)arg, 8);
	return NULL;
}

/* A slot is released (0), or taken anew, while we look. A thread that gets no time may do so too early or too late. */
static bool quiet_with(uint64_t *owner)
{
	bool quiet = false;

	for (int tries = 0; tries < 50 && !quiet; tries++) {
		pthread_t thread;

		slot_set(1 % control->dir.ncpu, (uint64_t)getpid() << 32, 7);
		CHECK(!pthread_create(&thread, NULL, release_later, owner), "thread");
		quiet = control_quiesce(control, false);
		pthread_join(thread, NULL);
	}
	return quiet;
}

static void check_slots(void)
{
	uint64_t me = (uint64_t)getpid() << 32, zero = 0;
	uint32_t last = control->dir.ncpu - 1, other = 1 % control->dir.ncpu;
	double start;
	pid_t dead;

	CHECK(control_quiesce(control, false), "nobody is there");
	slot_set(last, me, 1);
	start = seconds();
	CHECK(!control_quiesce(control, false), "a live owner does not count");
	CHECK(seconds() - start < 30, "waited %f s for an owner", seconds() - start);
	/* Of another thread that had the number before. */
	slot_set(last, me | 0xffffffff, 1);
	CHECK(control_quiesce(control, false), "an owner of another start time is alive");
	dead = fork();
	CHECK(dead >= 0, "fork");
	if (!dead)
		_exit(0);
	CHECK(waitpid(dead, NULL, 0) == dead, "wait");
	slot_set(last, (uint64_t)dead << 32 | 7, 1);
	CHECK(control_quiesce(control, false), "the dead are waited for");
	slot_set(last, 0, 1);

	CHECK(quiet_with(&zero), "released in between");
	CHECK(quiet_with(&me), "taken anew in between");
	slot_set(other, 0, 8);
}

/* What a late writer may still use stays as it is through any number of changes. */
static void check_late_writer(void)
{
	struct state_set old = control->state.buffers[0].live;
	char mark[4096], found[4096];
	off_t at = (off_t)(old.offset + control_set_size(&old, control->dir.ncpu) - sizeof(mark));

	memset(mark, 0x77, sizeof(mark));
	CHECK(pwrite(control->dir.fd[SEGMENT_RINGS], mark, sizeof(mark), at) == 4096, "pwrite");
	slot_set(0, (uint64_t)getpid() << 32, 1);
	for (int i = 0; i < 3; i++) {
		room_write(control, "trace", "", 0);
		room_write(control, "buffer_size_kb", i % 2 ? "100" : "200", 0);
	}
	CHECK(control->state.nlimbo > 0, "given back although a writer may be there");
	CHECK(pread(control->dir.fd[SEGMENT_RINGS], found, sizeof(found), at) == 4096 &&
	      !memcmp(mark, found, sizeof(mark)), "somebody else got its room");
	slot_set(0, 0, 1);
	room_write(control, "trace", "", 0);
	CHECK(control->state.nlimbo == 0, "not given back");
	CHECK(pread(control->dir.fd[SEGMENT_RINGS], found, sizeof(found), at) != 4096 || !found[0],
	      "given back, but not emptied");
}

/* A retired set counts as read to its end only when nobody can add to it any more. */
static void check_retired(void)
{
	slot_set(0, (uint64_t)getpid() << 32, 1);
	room_write(control, "buffer_size_kb", "150", 0);
	room_write(control, "tracing_on", "1", 0);
	CHECK(control->state.buffers[0].nretired == 1, "given up although a writer may be there");
	slot_set(0, 0, 1);
	room_write(control, "tracing_on", "1", 0);
	CHECK(control->state.buffers[0].nretired == 0, "an empty set is kept");
}

/* Limbo has an end; then changes are refused and the state stays as it was. */
static void check_full(void)
{
	struct err err = ERR_INIT;
	uint64_t published = 0;
	int r = 0;

	slot_set(0, (uint64_t)getpid() << 32, 1);
	for (int i = 0; i < 30 && !r; i++) {
		published = control->state.published;
		r = tree_write(control, "trace", "", 0, TREE_TRUNC, &err);
	}
	CHECK(!r || (r == -EBUSY && err.text[0]), "%d %s", r, err.text);
	CHECK(!control_refresh(control, &err) && (!r || control->state.published == published),
	      "a refused change was published");
	slot_set(0, 0, 1);
	room_write(control, "tracing_on", "1", 0);
	CHECK(control->state.nlimbo == 0, "not given back");
}

static void check_reader(void)
{
	const struct state_buffer *top = &control->state.buffers[0];
	struct err err = ERR_INIT;
	struct stream *stream;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], top, control->dir.ncpu, 0, true,
			   &err), "%s", err.text);
	room_write(control, "trace", "", 0);
	CHECK(control->state.nlimbo > 0, "given back although a reader has it");
	room_write(control, "tracing_on", "1", 0);
	CHECK(control->state.nlimbo > 0, "given back although a reader has it");
	CHECK(!stream_update(stream, top, &err), "%s", err.text);
	room_write(control, "tracing_on", "1", 0);
	CHECK(control->state.nlimbo == 0, "the reader went on, but it is not given back");
	stream_close(stream);
}

int main(void)
{
	control = room_open();
	room_write(control, "buffer_size_kb", "100", 0);
	check_slots();
	check_late_writer();
	check_retired();
	check_full();
	check_reader();
	control_close(control);
	return 0;
}
