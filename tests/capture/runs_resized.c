/*
 * Runs over sets that follow one another: what is left in older ones comes first, and all of it; what was lost there is told.
 * Everything in the order in which it was written.
 */
#include "capture/take.h"
#include "runtime/trace.h"

#include <sched.h>

static struct control *control;
static struct note_event event;
static struct stream *stream, **others;	/* CPU 0's, and those of CPUs that nothing happens on */
static struct take take;
static uint32_t written, next, missing;

static void in_order(const struct page_event *at, void *ctx)
{
	const struct note *note = at->data;
	const char *wrong = note_wrong(at->data, at->len);

	(void)ctx;
	if (note->head.type < EVENT_ID_BUILTIN_END && note->head.type)
		return;
	CHECK(!wrong, "R1: %s", wrong);
	CHECK(note->seq >= next, "event %u comes where %u should", note->seq, next);
	missing += note->seq - next;
	next = note->seq + 1;
	CHECK(missing <= take.lost, "%u are missing, and %llu were told", missing, (unsigned long long)take.lost);
}

static void emit(uint32_t n)
{
	while (n--)
		note_write(&event, 1, written++, 64);
}

/* As one who follows the buffer does it. */
static void follow(void)
{
	unsigned char page[PAGE_SIZE_MIN];
	struct err err = ERR_INIT;
	struct stream_page info;

	tool_refresh(control);
	CHECK(!stream_update(stream, &control->state.buffers[0], &err), "%s", err.text);
	/* Sets are kept until all have been through their overflow rings. */
	for (uint32_t cpu = 1; cpu < control->dir.ncpu; cpu++) {
		CHECK(!stream_update(others[cpu], &control->state.buffers[0], &err), "%s", err.text);
		CHECK(!stream_next(others[cpu], page, &info), "cpu %u has an event", cpu);
	}
}

static struct stream *open_stream(uint32_t cpu)
{
	struct err err = ERR_INIT;
	struct stream *opened;

	CHECK(!stream_open(&opened, control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0], control->dir.ncpu, cpu, true, &err),
	      "%s", err.text);
	return opened;
}

static void take_some(uint32_t steps, bool open)
{
	while (steps-- && take_step(&take, stream, open))
		;
}

static void overflowed(uint32_t n)
{
	runtime_guard_enter();
	emit(n);
	runtime_guard_leave();
}

static void resized(void)
{
	for (uint32_t i = 0; i < 60; i++) {
		emit(500 + i * 17 % 300);
		if (i % 4 == 0)
			overflowed(3);
		emit(i % 3 * 50);
		take_some(i % 4, i & 1);
		tool_resize(control, 64 + i % 2 * 40);
		if (i % 7 != 6)
			follow();
		emit(300 + i * 31 % 200);
		take_some(i % 5 * 4, false);
		follow();
		if (i % 3)
			take_some(UINT32_MAX, true);
	}
	take_some(UINT32_MAX, true);
	CHECK(next == written && !missing && !take.lost, "%u of %u, %u missing, %llu told", next, written, missing,
	      (unsigned long long)take.lost);
	CHECK(take.runs > 60, "%llu runs", (unsigned long long)take.runs);
	stream_accept(stream);
	/* The reader was told everything: nothing of the sets before is kept. */
	tool_begin(control);
	tool_commit(control);
	follow();
	CHECK(!control->state.buffers[0].nretired, "%u sets are still kept", control->state.buffers[0].nretired);
}

/* What was overwritten in a set before nobody had read of it is told with the next page, be it of the next set. */
static void lost_before(void)
{
	uint64_t before = missing;

	emit(20000);
	tool_resize(control, control->state.buffers[0].live.npages == 64 ? 80 : 64);
	follow();
	emit(2000);
	take_some(UINT32_MAX, true);
	CHECK(next == written && missing > before && take.lost == missing, "%u of %u, %u missing, %llu told", next, written, missing,
	      (unsigned long long)take.lost);
}

/* The same with what found no room behind the last event of a set. */
static void dropped_before(void)
{
	struct err err = ERR_INIT;

	tool_begin(control);
	CHECK(!control_buffer_overwrite(control, &control->state.buffers[0], false, &err), "%s", err.text);
	tool_commit(control);
	follow();
	lost_before();
}

int main(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		skip("CPU 0 is not ours");
	event = note_event("resized");
	control = tool_start(80);
	tool_refresh(control);
	stream = open_stream(0);
	others = calloc(control->dir.ncpu, sizeof(*others));
	for (uint32_t cpu = 1; cpu < control->dir.ncpu; cpu++)
		others[cpu] = open_stream(cpu);
	take_init(&take, 7);
	take.each = in_order;
	resized();
	lost_before();
	dropped_before();
	printf("%u events, %llu runs, %llu pages in them, %llu single ones\n", written, (unsigned long long)take.runs,
	       (unsigned long long)take.pages, (unsigned long long)take.singles);
	stream_close(stream);
	for (uint32_t cpu = 1; cpu < control->dir.ncpu; cpu++)
		stream_close(others[cpu]);
	free(others);
	take_fini(&take);
	control_close(control);
	return 0;
}
