/*
 * Sets of rings in the rings file: they never overlap, their first bytes are what writers expect,
 * and what is given up is given back.
 */
#include "control/room.h"

#include <sys/stat.h>

#include "control/buffer.h"
#include "control/sets.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static uint64_t used_kb(const struct control *control)
{
	struct stat st;

	CHECK(!fstat(control->dir.fd[SEGMENT_RINGS], &st), "fstat");
	return (uint64_t)st.st_blocks / 2;
}

static void check_heads(const struct control *control, const struct state_set *set)
{
	uint32_t ncpu = control->dir.ncpu;
	unsigned char *bytes = malloc(ring_pages_offset(ncpu, set->npages));

	for (uint32_t i = 0; i < 3 * ncpu; i++) {
		uint64_t at = set_ring_offset(set->offset, i, ncpu, set->npages, set->page_size);
		const struct ring_head *head = (const void *)bytes;
		const struct ring_stream *streams = (const void *)(bytes + RING_STREAMS_OFFSET);
		ssize_t size = (ssize_t)ring_pages_offset(ncpu, set->npages);

		CHECK(pread(control->dir.fd[SEGMENT_RINGS], bytes, (size_t)size, (off_t)at) == size,
		      "ring %u is not there", i);
		CHECK(head->tail == 0 && head->made == 0 && head->slot[0].tag == 0 &&
		      head->slot[1].tag == UINT64_MAX && head->read[0].pos == 0 &&
		      head->read[1].pos == UINT64_MAX && head->consumed == 0, "ring %u begins wrong", i);
		CHECK(head->cpu == i % ncpu && head->npages == set->npages && head->ncpu == ncpu &&
		      head->page_size == set->page_size, "ring %u has another shape", i);
		for (uint32_t cpu = 0; i >= ncpu && cpu < ncpu; cpu++)
			CHECK(streams[cpu].read[0].pos == 0 && streams[cpu].consumed == 0 &&
			      streams[cpu].read[1].pos == UINT64_MAX, "stream %u of ring %u", cpu, i);
		for (ssize_t b = (ssize_t)ring_head_size(ncpu); b < size; b++)
			CHECK(!bytes[b], "ring %u: first[] is not zero", i);
	}
	free(bytes);
}

static bool apart(const struct state_set *a, const struct state_set *b, uint32_t ncpu)
{
	return !a->offset || !b->offset || a->offset + control_set_size(a, ncpu) <= b->offset ||
	       b->offset + control_set_size(b, ncpu) <= a->offset;
}

static void check_apart(const struct control *control)
{
	const struct state_buffer *top = &control->state.buffers[0];
	const struct state_set *sets[2 + STATE_RETIRED_MAX];
	uint32_t n = 0;

	sets[n++] = &top->live;
	sets[n++] = &top->snapshot;
	for (uint32_t i = 0; i < top->nretired; i++)
		sets[n++] = &top->retired[i];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			CHECK(apart(sets[i], sets[j], control->dir.ncpu), "sets %u and %u overlap", i, j);
		for (uint32_t j = 0; j < control->state.nlimbo; j++)
			CHECK(!sets[i]->offset || control->state.limbo[j].offset >= sets[i]->offset +
			      control_set_size(sets[i], control->dir.ncpu) ||
			      control->state.limbo[j].offset + control->state.limbo[j].size <=
			      sets[i]->offset, "set %u is in limbo", i);
	}
}

/* A ring's pages as if somebody had written there. */
static void soil(const struct control *control, const struct state_set *set)
{
	char junk[4096];

	memset(junk, 0x5a, sizeof(junk));
	for (uint64_t at = set->offset; at < set->offset + control_set_size(set, control->dir.ncpu);
	     at += 4096)
		CHECK(pwrite(control->dir.fd[SEGMENT_RINGS], junk, 4096, (off_t)at) == 4096, "soil");
}

static void check_random(struct control *control)
{
	struct state_buffer *top = &control->state.buffers[0];
	struct err err = ERR_INIT;
	uint32_t seed = 5;
	struct stat st;

	for (int n = 0; n < 60; n++) {
		uint32_t what = room_random(&seed) % 10;
		int r;

		room_begin(control);
		if (what < 6)
			r = control_buffer_resize(control, top, 4 + room_random(&seed) % 400, &err);
		else if (what < 7)
			r = control_buffer_subbuf(control, top, 4096u << room_random(&seed) % 3, &err);
		else if (what < 9)
			r = control_buffer_clear(control, top, &err);
		else
			r = control_buffer_snapshot(control, top, &err);
		CHECK(!r, "%s", err.text);
		room_commit(control);
		CHECK(top->live.offset && top->live.npages == top->npages &&
		      top->live.page_size == top->page_size, "another shape than asked for");
		check_apart(control);
		check_heads(control, &top->live);
		CHECK(!control->state.nlimbo, "nobody writes, but limbo is not freed");
		/* The live set is left dirty: whoever gets its room later must find zeros. */
		if (n % 3 == 0) {
			room_begin(control);
			soil(control, &top->live);
			CHECK(!control_buffer_clear(control, top, &err), "%s", err.text);
			room_commit(control);
			check_heads(control, &top->live);
		}
	}
	CHECK(!fstat(control->dir.fd[SEGMENT_RINGS], &st) && st.st_size < 150 << 20,
	      "the file grew to %lld", (long long)st.st_size);
}

static void check_freed(struct control *control)
{
	struct state_buffer *top = &control->state.buffers[0];
	struct err err = ERR_INIT;
	uint64_t empty;

	CHECK(!control_reset(control, &err), "%s", err.text);
	empty = used_kb(control);
	CHECK(empty < 64, "%llu KiB are left after reset", (unsigned long long)empty);
	room_begin(control);
	CHECK(!control_buffer_expand(control, top, &err), "%s", err.text);
	room_commit(control);
	soil(control, &top->live);
	CHECK(used_kb(control) > 4000, "the soil is not there");
	room_write(control, "trace", "", 0);
	CHECK(used_kb(control) < 1000, "%llu KiB after clear", (unsigned long long)used_kb(control));
}

/* Whoever died while it built a set left bytes in free room. */
static void check_left_over(struct control *control)
{
	struct state_buffer *top = &control->state.buffers[0];
	struct state_set old = top->live;
	struct err err = ERR_INIT;

	CHECK(!control_reset(control, &err), "%s", err.text);
	old.offset = rings_data_offset(control->dir.ncpu);
	soil(control, &old);
	room_begin(control);
	CHECK(!control_buffer_expand(control, top, &err), "%s", err.text);
	room_commit(control);
	CHECK(top->live.offset == old.offset, "not the room that was soiled");
	check_heads(control, &top->live);
	CHECK(used_kb(control) < 1000, "what was left over stays");
}

/* A clock that follows another does not start before it, and tells CLOCK_MONOTONIC's time. */
static void check_clock(struct control *control)
{
	struct state_buffer *top = &control->state.buffers[0];
	struct state_clock before;
	struct err err = ERR_INIT;

	room_begin(control);
	CHECK(!control_buffer_expand(control, top, &err), "%s", err.text);
	top->live.clock.ns0 += 500000;
	before = top->live.clock;
	CHECK(!control_buffer_resize(control, top, 77, &err), "%s", err.text);
	if (before.flags & TRACE_CLOCK_BY_COUNTER) {
		uint64_t counts = top->live.clock.counter0 - before.counter0;
		uint64_t reached = before.ns0 + (uint64_t)((long double)counts *
							   (long double)before.mult / 4294967296.0L);

		CHECK(top->live.clock.ns0 + 2 >= reached, "starts %lld ns early",
		      (long long)(reached - top->live.clock.ns0));
	}
	control_cancel(control);
}

static void check_refused(struct control *control)
{
	struct state_buffer *top = &control->state.buffers[0];
	struct err err = ERR_INIT;

	room_begin(control);
	CHECK(control_buffer_resize(control, top, 0, NULL) == -EINVAL, "0 pages");
	CHECK(control_buffer_resize(control, top, RING_NPAGES_MAX + 1ull, NULL) == -EINVAL, "too many");
	CHECK(control_buffer_subbuf(control, top, 5000, NULL) == -EINVAL, "5000 bytes");
	CHECK(control_buffer_subbuf(control, top, PAGE_SIZE_MAX * 2, NULL) == -EINVAL, "huge pages");
	control_cancel(control);
	CHECK(!control_reset(control, &err), "%s", err.text);
}

int main(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;

	room_begin(control);
	CHECK(!control_buffer_expand(control, &control->state.buffers[0], &err), "%s", err.text);
	room_commit(control);
	check_random(control);
	check_freed(control);
	check_left_over(control);
	check_clock(control);
	check_refused(control);
	control_close(control);
	return 0;
}
