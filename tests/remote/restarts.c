/*
 * A target that starts again while somebody reads is told to have done so, once, however far its new life has come by then, and by whatever
 * way: over what there was, over what was damaged, in another file of the same name, in memory that was cleared, so that its header is the same
 * again. What the new life has lost is told.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "remote/hosted_lab.h"
#include "remote/remote.h"

#define PAGES 4u
#define SHIFT 8u

static struct ringside_fw_hosted_how how = {
	.nr_rings = 1, .nr_pages = PAGES, .page_shift = SHIFT, .nr_events = LAB_EVENTS, .on = 1,
};
static char path[4096];
static struct ringside_fw_hosted fw;
static void *base;
static size_t size;
static struct remote *remote;
static struct remote_reader *reader;

/* Between events the target looks at what it is asked. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ticks;

static void *tick(void *unused)
{
	while (ticks) {
		pthread_mutex_lock(&turn);
		for (uint32_t ring = 0; ring < fw.nr_rings; ring++)
			ringside_fw_hosted_tick(&fw, ring);
		pthread_mutex_unlock(&turn);
		usleep(200);
	}
	return unused;
}

static void start_target(void)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	pthread_mutex_lock(&turn);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s", strerror(errno));
	if (base)
		munmap(base, size);
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED, "%s", strerror(errno));
	close(fd);
	CHECK(!ringside_fw_hosted_init(base, size, &how) && !ringside_fw_hosted_open(&fw, base, size), "writer");
	pthread_mutex_unlock(&turn);
}

static void put_event(uint32_t ring, uint32_t seq)
{
	struct record record;

	record_fill(&record, 0, seq, 0, 10);
	pthread_mutex_lock(&turn);
	ringside_fw_hosted_write(&fw, ring, &record, 10);
	pthread_mutex_unlock(&turn);
}

static void write_events(uint32_t n)
{
	for (uint32_t seq = 0; seq < n; seq++)
		put_event(0, seq);
}

/* What comes until nothing more does: that many, with those that are lost. */
static uint64_t take(const char *what, bool wait, uint32_t *restarts)
{
	uint64_t until = lab_now() + 1000000000u, all = 0;
	struct err err = ERR_INIT;
	struct remote_row row;
	bool some = false;
	int r = 1;

	*restarts = 0;
	while (r > 0 || (wait && !some && lab_now() < until)) {
		r = remote_reader_next(reader, &row, &err);
		CHECK(r >= 0, "%s: %s", what, err.text);
		if (!r)
			continue;
		some = true;
		*restarts += row.restarted;
		all += row.lost + 1;
	}
	CHECK(!remote_reader_accept(reader, &err), "%s: %s", what, err.text);
	return all;
}

static void expect(const char *what, uint64_t events, uint32_t restarts)
{
	uint32_t told;
	uint64_t all = take(what, events, &told);

	CHECK(all == events && told == restarts, "%s: %llu events, not %llu, and %u restarts, not %u", what, (unsigned long long)all,
	      (unsigned long long)events, told, restarts);
}

static void damage_header(void)
{
	fw.header->crc ^= 1;
}

/* As a loader does it, or a power cycle. */
static void clear(void)
{
	pthread_mutex_lock(&turn);
	memset(base, 0, size);
	pthread_mutex_unlock(&turn);
}

static void replace(void)
{
	CHECK(!unlink(path), "%s", strerror(errno));
}

/* Nobody looked while it happened. `before` and `behind`: events of both lives. */
static void try(const char *what, void (*between)(void), uint32_t before, uint32_t behind)
{
	write_events(before);
	expect(what, before, 0);
	if (between)
		between();
	start_target();
	write_events(behind);
	expect(what, behind, 1);
	write_events(3);
	expect(what, 3, 0);
}

/* The next row of a reader: 1, 0 when there is none. */
static int next(struct remote_reader *one, struct remote_row *row)
{
	struct err err = ERR_INIT;
	int r = 0;

	for (int tries = 0; !r && tries < 3; tries++)
		r = remote_reader_next(one, row, &err);
	CHECK(r >= 0, "%s", err.text);
	return r;
}

/* As a recorder reads: one reader for each CPU, of one handle. */
static void try_two(int dir)
{
	const struct remote_place place = { .memory = path };
	struct remote_reader *of[2];
	struct err err = ERR_INIT;
	struct remote_row row;

	replace();
	how.nr_rings = 2;
	size = ringside_fw_hosted_size(&how);
	start_target();
	CHECK(!remote_add(dir, "two", &place, &err) && !remote_open(&remote, dir, "two", &err), "%s", err.text);
	for (int cpu = 0; cpu < 2; cpu++) {
		const struct remote_how consume = { .cpu = cpu, .consume = true };

		CHECK(!remote_reader_open(&of[cpu], remote, &consume, &err), "%s", err.text);
		for (int i = 0; i < 3; i++)
			put_event((uint32_t)cpu, 0);
		for (int i = 0; i < 3; i++)
			CHECK(next(of[cpu], &row) == 1 && !row.restarted && !row.lost, "cpu %d: event %d", cpu, i);
	}
	start_target();
	for (int cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < 4; i++)
			put_event((uint32_t)cpu, 0);
	for (int cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < 4; i++)
			CHECK(next(of[cpu], &row) == 1 && row.restarted == !i && !row.lost, "cpu %d: restart, event %d", cpu, i);
	/* Now it has one core less. */
	how.nr_rings = 1;
	start_target();
	put_event(0, 0);
	for (int i = 0; i < 3; i++)
		CHECK(remote_reader_next(of[1], &row, NULL) == -ENODEV, "cpu 1 is gone");
	CHECK(next(of[0], &row) == 1 && row.restarted, "cpu 0 is there");
	for (int cpu = 0; cpu < 2; cpu++)
		remote_reader_close(of[cpu]);
	remote_close(remote);
}

int main(void)
{
	const struct remote_place place = { .memory = path };
	const struct remote_how consume = { .cpu = -1, .consume = true };
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	struct err err = ERR_INIT;
	pthread_t thread;
	int dir;

	snprintf(path, sizeof(path), "%s/memory", scratch);
	size = ringside_fw_hosted_size(&how);
	start_target();
	dir = open(scratch, O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0 && !remote_add(dir, "board", &place, &err) && !remote_open(&remote, dir, "board", &err) &&
	      !remote_reader_open(&reader, remote, &consume, &err), "%s", err.text);
	expect("nothing yet", 0, 0);
	try("over a damaged header", damage_header, 3, 1000);
	try("fewer", NULL, 3, 1);
	try("as many", NULL, 3, 3);
	try("more", NULL, 3, 10);
	try("many more", NULL, 3, 1000);
	try("after a thousand", NULL, 1000, 1000);
	try("another file", replace, 3, 1);
	try("another file, more", replace, 3, 1000);
	try("cleared", clear, 3, 1);
	try("cleared, and nobody can be asked", clear, 1000, 2);
	try("cleared, and a few pages on", clear, 1000, 20);
	/* Another host could leave a mark, and it is the same life. */
	clear();
	start_target();
	write_events(3);
	expect("nobody answers", 3, 1);
	CHECK(!fw.control->mark, "marked");
	fw.control->mark = 7;
	remote_reader_close(reader);
	CHECK(!remote_reader_open(&reader, remote, &consume, &err), "%s", err.text);
	write_events(3);
	expect("others marked it", 3, 0);
	try("cleared where others marked it", clear, 3, 1000);
	ticks = true;
	CHECK(!pthread_create(&thread, NULL, tick, NULL), "thread");
	try("cleared where it answers", clear, 3, 1);
	try("cleared again, fewer", clear, 3, 1);
	try("as many", clear, 3, 7);
	try("and more", clear, 3, 10);
	try("and many more", clear, 3, 1000);
	try("far behind the first of them", clear, 1000, 20);
	CHECK(fw.header->boots == 1, "%u boots", fw.header->boots);
	ticks = false;
	pthread_join(thread, NULL);
	remote_reader_close(reader);
	remote_close(remote);
	try_two(dir);
	close(dir);
	return 0;
}
