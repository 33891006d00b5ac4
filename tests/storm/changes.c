/*
 * A buffer that is changed all the time: its size, the size of its pages, its clock, what happens when it is full, and
 * snapshots, a thousand times in all, while programs write and a consumer reads.
 *
 * Sizes and `overwrite` lose nothing that no reader is told of. The size of pages and clocks give up what was in the buffer, a
 * snapshot takes it out: that is kept from being freed here, by a lock such as a reader has, and counted when nobody writes or
 * reads it any more. So the sum is exact: read, told lost, given up.
 *
 *	changes [CHANGES]
 *
 * changes_mounted.c does half of it through a mount.
 */
#include "storm/storm.h"

#ifndef STORM_MOUNTED
#define STORM_MOUNTED 0
#endif

static struct control *control;
static struct storm_mount mount;
static uint64_t given_up, giving_up;	/* events, and how often there were some */

/* ---- what a change gives up ---- */

struct pins {
	struct state_set set[STATE_RETIRED_MAX + 1];
	uint32_t n;
	int fd;
};

/* Locks the last byte of each set that is read: no reader wants that one, and nothing that is locked is freed. */
static void pin(struct pins *pins)
{
	const struct state_buffer *buffer = &control->state.buffers[0];

	tool_refresh(control);
	pins->n = 0;
	pins->fd = openat(control->dir.dir, "rings", O_RDWR | O_CLOEXEC);
	CHECK(pins->fd >= 0, "%s", strerror(errno));
	for (uint32_t i = 0; i <= buffer->nretired; i++) {
		const struct state_set *set = i < buffer->nretired ? &buffer->retired[i] : &buffer->live;
		struct flock lock = {
			.l_type = F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = (off_t)(set->offset + control_set_size(set, control->dir.ncpu) - 1),
			.l_len = 1,
		};

		CHECK(!fcntl(pins->fd, F_OFD_SETLK, &lock), "%s", strerror(errno));
		pins->set[pins->n++] = *set;
	}
}

static bool is_read(const struct state_set *set)
{
	const struct state_buffer *buffer = &control->state.buffers[0];

	for (uint32_t i = 0; i < buffer->nretired; i++)
		if (buffer->retired[i].offset == set->offset && buffer->retired[i].generation == set->generation)
			return true;
	return buffer->live.offset == set->offset && buffer->live.generation == set->generation;
}

/* Counts what was in those sets that nobody reads any more, when nobody does; of a snapshot, which tells of the others, in it. */
static void unpin(struct pins *pins, bool snapshot)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull, n = 0;

	storm_await_consumer(control);
	while (!control_quiesce(control, false)) {
		CHECK(now_ns() < end, "a writer hangs");
		pause_us(1000);
	}
	for (uint32_t i = 0; i < pins->n; i++)
		if (!is_read(&pins->set[i]) &&
		    (!snapshot || pins->set[i].offset == control->state.buffers[0].snapshot.offset))
			n += storm_unread(control, &pins->set[i]);
	given_up += n;
	giving_up += n > 0;
	close(pins->fd);
}

/* ---- changes ---- */

/* A reader that gets hardly any time holds up the tool, which says so and must change nothing then. */
static void write_file(const char *path, const char *text, bool mounted)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;
	struct err err;
	int r;

	do {
		err = (struct err)ERR_INIT;
		if (mounted)
			r = storm_mount_write(&mount, path, text);
		else
			r = tree_write(control, path, text, strlen(text), TREE_TRUNC, &err);
	} while (r == -EBUSY && now_ns() < end);
	CHECK(!r, "%s <- %s: %s %s", path, text, strerror(-r), err.text);
}

static const struct {
	const char *path;
	bool gives_up;
	const char *text[8];
} changes[] = {
	{ "buffer_size_kb", false, { "40", "64", "128", "300", "1000", "2000" } },
	{ "buffer_size_kb", false, { "40", "64", "128", "300", "1000", "2000" } },
	{ "per_cpu/cpu0/buffer_size_kb", false, { "50", "500", "1500" } },
	{ "options/overwrite", false, { "0", "1" } },
	{ "trace_options", false, { "overwrite", "nooverwrite" } },
	{ "buffer_subbuf_size_kb", true, { "4", "8", "16", "32" } },
	{ "trace_clock", true, { "local", "global", "mono", "boot", "counter", "uptime", "mono_raw", "x86-tsc" } },
	{ "snapshot", true, { "1", "1", "2", "0" } },
};
#define KINDS (sizeof(changes) / sizeof(changes[0]))

static void change(uint64_t *dice)
{
	uint32_t n = draw(dice), kind = n % KINDS, texts = 0;
	struct pins pins;

	while (texts < 8 && changes[kind].text[texts])
		texts++;
	if (changes[kind].gives_up)
		pin(&pins);
	write_file(changes[kind].path, changes[kind].text[(n >> 8) % texts], STORM_MOUNTED && n & 1u << 31);
	if (changes[kind].gives_up)
		unpin(&pins, !strcmp(changes[kind].path, "snapshot"));
}

static void check_sums(uint32_t n)
{
	uint64_t written = storm_written(), untold = storm_buffer_unread(control, 0), refused = storm_refused(control);

	printf("%u changes: %llu written, %llu read in %llu pages, %llu lost, %llu given up in %llu of them, %llu untold, %llu refused\n",
	       n, (unsigned long long)written, (unsigned long long)storm->read, (unsigned long long)storm->pages,
	       (unsigned long long)storm->lost, (unsigned long long)given_up, (unsigned long long)giving_up,
	       (unsigned long long)untold, (unsigned long long)refused);
	CHECK(storm->read + storm->lost + given_up + untold + refused == written, "the sum does not balance by %lld",
	      (long long)(written - (storm->read + storm->lost + given_up + untold + refused)));
	CHECK(storm->read > 1000, "hardly anything was read");
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
	pid_t writer[STORM_WRITERS], consumer;
	uint64_t dice = 0x853c49e6748fea9bull;

	storm = shared_memory(sizeof(*storm));
	control = tool_open();
	steady = note_event("steady");
	tool_enable(control, "test", "steady", true);
	if (STORM_MOUNTED)
		storm_mount_open(&mount);
	consumer = storm_start(storm_consume, 0);
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		writer[i] = storm_start(storm_write, i);
	for (uint32_t i = 0; i < n; i++)
		change(&dice);
	storm_stop();
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		expect_exit(writer[i], STORM_PATIENCE_S, "a writer");
	__atomic_store_n(&storm->done, 1, __ATOMIC_SEQ_CST);
	expect_exit(consumer, STORM_PATIENCE_S, "the consumer");
	storm_mount_close(&mount);
	check_sums(n);
	storm_tidy(control);
	control_close(control);
	return 0;
}
