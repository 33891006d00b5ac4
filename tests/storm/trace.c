/*
 * Reading `trace` while fast writers overwrite it: the reading ends with no more than the buffer can hold, each line of it is
 * one, times do not go back on a CPU, and no event is in it twice.
 *
 *	trace [READINGS]
 *
 * trace_mounted.c reads it through a mount.
 */
#include "storm/storm.h"

#ifndef STORM_MOUNTED
#define STORM_MOUNTED 0
#endif

static struct control *control;
static struct storm_mount mount;

static void write_fast(uint32_t number)
{
	for (uint32_t seq = 0; !storm_stopped(); seq++) {
		__atomic_store_n(&storm->written[number], seq, __ATOMIC_RELEASE);
		note_write(&steady, number, seq, NOTE_MIN);
	}
}

static int put(void *ctx, const void *bytes, size_t len)
{
	buf_add(ctx, bytes, len);
	return 0;
}

static int read_once(struct buf *text)
{
	struct err err = ERR_INIT;
	int r;

	if (STORM_MOUNTED)
		return storm_mount_read(&mount, "trace", text);
	r = tree_pump(control, "trace", put, text, &err);
	CHECK(!r, "%s", err.text);
	return r;
}

/* Events that all rings hold at most: who peeks is shown what there was, and not what was written meanwhile. */
static uint64_t capacity(void)
{
	const struct state_buffer *buffer = &control->state.buffers[0];

	tool_refresh(control);
	return (uint64_t)buffer->npages * (buffer->page_size / NOTE_MIN) * control->dir.ncpu;
}

int main(int argc, char **argv)
{
	uint32_t readings = argc > 1 ? (uint32_t)atoi(argv[1]) : 100;
	struct err err = ERR_INIT;
	uint64_t lines = 0, gaps = 0;
	pid_t writer[STORM_WRITERS];
	struct buf text = BUF_INIT;

	storm = shared_memory(sizeof(*storm));
	control = tool_open();
	steady = note_event("steady");
	CHECK(!tree_write(control, "buffer_size_kb", "64", 2, TREE_TRUNC, &err), "%s", err.text);
	tool_enable(control, "test", "steady", true);
	if (STORM_MOUNTED)
		storm_mount_open(&mount);
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		writer[i] = storm_start(write_fast, i);
	/* A reader that never came to an end would be killed by the clock of those who run tests. */
	for (uint32_t i = 0; i < readings; i++) {
		int r = read_once(&text);
		uint64_t n;

		CHECK(!r, "trace: %s", strerror(-r));
		n = storm_text_check(&text, control->dir.ncpu, &gaps);
		CHECK(n <= capacity(), "%llu lines of a buffer for %llu events", (unsigned long long)n,
		      (unsigned long long)capacity());
		lines += n;
		buf_reset(&text);
	}
	storm_stop();
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		expect_exit(writer[i], STORM_PATIENCE_S, "a writer");
	printf("%u readings of %llu lines, %llu told gaps, %llu notes written\n", readings, (unsigned long long)lines,
	       (unsigned long long)gaps, (unsigned long long)storm_written());
	CHECK(lines > readings, "hardly anything was read");
	buf_fini(&text);
	storm_mount_close(&mount);
	storm_tidy(control);
	control_close(control);
	return 0;
}
