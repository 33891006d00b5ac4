/*
 * Instances that come and go while events flow: five processes make, fill, list, read and remove instances of the same five
 * names, against each other, and programs write all the time. The top buffer loses nothing that is not counted, every making
 * and every removing that was said to have worked has, and nothing stays behind.
 *
 *	instances [SECONDS]
 *
 * instances_mounted.c does half of it through a mount.
 */
#include "storm/storm.h"

#ifndef STORM_MOUNTED
#define STORM_MOUNTED 0
#endif

#define LOOPS 5u
#define NAMES 5u
#define MADE_MIN 100u	/* before it counts as a storm */

static struct {
	uint64_t made, removed, busy, lists, readings, notes;
} *sums;

static struct storm_mount mount;
static struct control *control;

static void add(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* It went well, or somebody else was faster. EBUSY: its events are being read, or too much waits to be given back. */
static void expect(int r, const char *what, const char *path)
{
	CHECK(!r || r == -ENOENT || r == -ENODEV || r == -EEXIST || r == -EBUSY, "%s %s: %s", what, path, strerror(-r));
	if (r == -EBUSY)
		add(&sums->busy, 1);
}

static int do_write(bool mounted, const char *path, const char *text)
{
	return mounted ? storm_mount_write(&mount, path, text) :
			 tree_write(control, path, text, strlen(text), TREE_TRUNC, NULL);
}

static void make(bool mounted, const char *path)
{
	char file[128];
	int r;

	if (mounted)
		r = mkdir(storm_mount_path(&mount, path), 0755) ? -errno : 0;
	else
		r = tree_mkdir(control, path, NULL);
	expect(r, "mkdir", path);
	if (r)
		return;
	add(&sums->made, 1);
	snprintf(file, sizeof(file), "%s/buffer_size_kb", path);
	expect(do_write(mounted, file, "64"), "write", file);
	snprintf(file, sizeof(file), "%s/events/test/steady/enable", path);
	expect(do_write(mounted, file, "1"), "write", file);
}

static void take_away(bool mounted, const char *path)
{
	int r;

	if (mounted)
		r = rmdir(storm_mount_path(&mount, path)) ? -errno : 0;
	else
		r = tree_rmdir(control, path, NULL);
	expect(r, "rmdir", path);
	if (!r)
		add(&sums->removed, 1);
}

/* Names of a directory; how many. */
static int list(bool mounted, const char *path)
{
	struct buf names = BUF_INIT;
	struct dirent *entry;
	bool alive = false;
	int n = 0, r;
	DIR *dir;

	if (!mounted) {
		r = tree_list(control, path, &names, NULL);
		for (size_t i = 0; i < names.len; i++)
			n += names.data[i] == '\n';
		buf_fini(&names);
		return r ? r : n;
	}
	dir = opendir(storm_mount_path(&mount, path));
	if (!dir)
		return -errno;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		alive |= !strcmp(entry->d_name, ".");
		n += entry->d_name[0] != '.';
	}
	r = -errno;
	closedir(dir);
	/* To libc a directory that was removed is one in which there is nothing, not even itself. */
	return r ? r : alive ? n : -ENOENT;
}

static void list_all(bool mounted, const char *path)
{
	int n = list(mounted, "instances");

	CHECK(n >= 0 && n <= (int)NAMES, "%d instances", n);
	n = list(mounted, path);
	expect(n < 0 ? n : 0, "ls", path);
	/* What is there has all that an instance has. */
	CHECK(n < 0 || n > 15, "%s lists %d files", path, n);
	add(&sums->lists, 1);
}

/* What is recorded in an instance are whole notes, each once, and in order. */
static void read_trace(bool mounted, const char *path)
{
	struct buf text = BUF_INIT;
	char file[128];
	int r;

	snprintf(file, sizeof(file), "%s/trace", path);
	r = mounted ? storm_mount_read(&mount, file, &text) : tree_read(control, file, &text, NULL);
	expect(r, "read", file);
	if (!r)
		add(&sums->notes, storm_text_check(&text, control->dir.ncpu, NULL));
	add(&sums->readings, !r);
	buf_fini(&text);
}

static void loop(uint32_t number)
{
	uint64_t dice = (number + 7) * 0x2545f4914f6cdd1dull;
	struct control *parents = control;

	control = tool_open();
	while (!storm_stopped()) {
		uint32_t n = draw(&dice);
		bool mounted = STORM_MOUNTED && n & 1;
		char path[64];

		snprintf(path, sizeof(path), "instances/i%u", (n >> 1) % NAMES);
		switch ((n >> 8) % 8) {
		case 0:
		case 1:
		case 2:
			make(mounted, path);
			break;
		case 3:
		case 4:
			take_away(mounted, path);
			break;
		case 5:
			read_trace(mounted, path);
			break;
		default:
			list_all(mounted, path);
		}
	}
	control_close(control);
	/* Not ours to close, and not lost. */
	control = parents;
}

static uint64_t there(void)
{
	int n = list(false, "instances");

	CHECK(n >= 0, "%s", strerror(-n));
	return (uint64_t)n;
}

static void remove_rest(void)
{
	char path[64];

	for (uint32_t i = 0; i < NAMES; i++) {
		int r;

		snprintf(path, sizeof(path), "instances/i%u", i);
		do
			r = tree_rmdir(control, path, NULL);
		while (r == -EBUSY);
		CHECK(!r || r == -ENOENT, "rmdir %s: %s", path, strerror(-r));
	}
}

static void check_sums(void)
{
	uint64_t written = storm_written(), untold = storm_buffer_unread(control, 0), refused = storm_refused(control);
	uint64_t sum = storm->read + storm->lost + untold;

	printf("%llu made, %llu removed, %llu times busy, %llu lists, %llu readings of %llu notes\n",
	       (unsigned long long)sums->made, (unsigned long long)sums->removed, (unsigned long long)sums->busy,
	       (unsigned long long)sums->lists, (unsigned long long)sums->readings, (unsigned long long)sums->notes);
	printf("top: %llu written, %llu read, %llu lost, %llu untold; %llu refused anywhere\n", (unsigned long long)written,
	       (unsigned long long)storm->read, (unsigned long long)storm->lost, (unsigned long long)untold,
	       (unsigned long long)refused);
	/* What was refused may have been an instance's, and in the top buffer nevertheless. */
	CHECK(sum <= written && written <= sum + refused, "the sum does not balance");
	CHECK(storm->read > 1000, "hardly anything was read");
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? (uint64_t)atoi(argv[1]) : 4, start = now_ns();
	pid_t writer[STORM_WRITERS], looper[LOOPS], consumer;

	storm = shared_memory(sizeof(*storm));
	sums = shared_memory(sizeof(*sums));
	control = tool_open();
	steady = note_event("steady");
	tool_enable(control, "test", "steady", true);
	if (STORM_MOUNTED)
		storm_mount_open(&mount);
	consumer = storm_start(storm_consume, 0);
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		writer[i] = storm_start(storm_write, i);
	for (uint32_t i = 0; i < LOOPS; i++)
		looper[i] = storm_start(loop, i);
	while (now_ns() - start < seconds * 1000000000 ||
	       (__atomic_load_n(&sums->made, __ATOMIC_RELAXED) < MADE_MIN &&
		now_ns() - start < STORM_PATIENCE_S * 1000000000ull))
		pause_us(10000);
	storm_stop();
	for (uint32_t i = 0; i < LOOPS; i++)
		expect_exit(looper[i], STORM_PATIENCE_S, "a loop");
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		expect_exit(writer[i], STORM_PATIENCE_S, "a writer");
	__atomic_store_n(&storm->done, 1, __ATOMIC_SEQ_CST);
	expect_exit(consumer, STORM_PATIENCE_S, "the consumer");
	CHECK(sums->made - sums->removed == there(), "%llu made, %llu removed, %llu there",
	      (unsigned long long)sums->made, (unsigned long long)sums->removed, (unsigned long long)there());
	check_sums();
	remove_rest();
	storm_mount_close(&mount);
	storm_tidy(control);
	control_close(control);
	return 0;
}
