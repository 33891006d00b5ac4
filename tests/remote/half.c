/*
 * Tracing is begun in a memory under the eyes of the host, which looks at it after each store: where there was nothing before, there is
 * nothing until the last one; where there was something, that is all there until it is said to be another one, and not again behind that. What
 * was switched on stays on, also where that is cut short and done once more.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hosted_lab.h"
#include "remote/remote.h"

#define STEPS_MAX 4000000u

static const struct ringside_fw_hosted_how how = { .nr_rings = 2, .nr_pages = 4, .page_shift = 8, .nr_events = LAB_EVENTS, .on = 1 };
static size_t size;
static void *base;
static unsigned char *before;
static int dir;

/* ---- one that is begun, a store at a time ---- */

static bool step(pid_t child)
{
	int status;

	CHECK(!ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) && waitpid(child, &status, 0) == child, "%s", strerror(errno));
	CHECK(WIFSTOPPED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)), "the child: status %#x", (unsigned)status);
	return WIFSTOPPED(status);
}

static pid_t start(const struct ringside_fw_hosted_how *with)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0, "%s", strerror(errno));
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(ringside_fw_hosted_init(base, size, with));
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "the child: status %#x", (unsigned)status);
	return child;
}

/* Calls `look` after each store that changes something: how many there were. */
static uint32_t watch(const struct ringside_fw_hosted_how *with, void (*look)(void *data, uint32_t stores), void *data)
{
	pid_t child = start(with);
	uint32_t stores = 0, steps = 0;

	memcpy(before, base, size);
	while (step(child)) {
		CHECK(++steps < STEPS_MAX, "it does not end");
		if (!memcmp(before, base, size))
			continue;
		look(data, ++stores);
		memcpy(before, base, size);
	}
	return stores;
}

/* ---- what is seen of it ---- */

/* The last store that was one too few. */
struct seen {
	const char *where;
	uint32_t whole, last;	/* the first store with which it was whole, and the last one that was looked at */
};

static int read_header(char *words, size_t len)
{
	struct err err = ERR_INIT;
	struct remote_memory memory;
	struct remote_target target;
	int fd = openat(dir, "memory", O_RDWR | O_CLOEXEC), r;

	CHECK(fd >= 0 && !remote_memory_take(&memory, fd, true, &err), "%s", strerror(errno));
	r = remote_target_read(&target, &memory, 0, &err);
	CHECK(!r == !*err.text, "%d, and the words are '%s'", r, err.text);
	snprintf(words, len, "%s", err.text);
	if (!r)
		remote_target_fini(&target);
	remote_memory_close(&memory);
	return r;
}

static void see_nothing(void *data, uint32_t stores)
{
	struct seen *seen = data;
	char words[512];

	if (!read_header(words, sizeof(words)) && !seen->whole)
		seen->whole = stores;
	seen->last = stores;
}

/* Nothing is there, whatever was before, until all is. */
static void try_begin(const char *where, int fill)
{
	struct seen seen = { .where = where };

	for (size_t i = 0; i < size; i++)
		((unsigned char *)base)[i] = fill < 0 ? (unsigned char)(i * 0x9e3779b1u >> 13) : (unsigned char)fill;
	watch(&how, see_nothing, &seen);
	CHECK(seen.whole && seen.whole == seen.last, "%s: whole with store %u of %u", where, seen.whole, seen.last);
	printf("%s: %u stores\n", where, seen.last);
}

/* ---- over one that somebody reads ---- */

struct reading {
	const char *where;
	struct remote *remote;
	struct remote_reader *reader;
	uint32_t rows, stores, first_again;
};

static void write_events(uint32_t from, uint32_t n)
{
	struct ringside_fw_hosted fw;
	struct record record;

	CHECK(!ringside_fw_hosted_open(&fw, base, size), "writer");
	for (uint32_t i = 0; i < n; i++) {
		record_fill(&record, 0, from + i, 0, RECORD_MIN);
		ringside_fw_hosted_write(&fw, 0, &record, RECORD_MIN);
	}
}

/* Who looks at all of it now sees what was there from the beginning, up to some place, or words. */
static void see_all(const struct reading *reading)
{
	struct remote_how all = { .cpu = -1, .once = true };
	struct remote_reader *reader;
	struct remote *remote;
	struct err err = ERR_INIT;
	struct remote_row row;
	struct record record;
	uint32_t next = UINT32_MAX;
	int r = remote_open(&remote, dir, "half", &err);

	CHECK(!r, "%s", err.text);
	r = remote_reader_open(&reader, remote, &all, &err);
	while (!r && (r = remote_reader_next(reader, &row, &err)) == 1) {
		const char *wrong = record_wrong(row.data, row.len, row.ts, &record);

		CHECK(!wrong, "%s, store %u: %s", reading->where, reading->stores, wrong);
		CHECK(next == UINT32_MAX || record.seq == next, "%s, store %u: event %u where %u belongs", reading->where, reading->stores,
		      record.seq, next);
		next = record.seq + 1;
		r = 0;
	}
	CHECK(!r == !*err.text, "%d, and the words are '%s'", r, err.text);
	remote_reader_close(reader);
	remote_close(remote);
}

static void see_rows(struct reading *reading)
{
	struct err err = ERR_INIT;
	struct remote_row row;
	struct record record;
	int r;

	while ((r = remote_reader_next(reading->reader, &row, &err)) == 1) {
		const char *wrong = record_wrong(row.data, row.len, row.ts, &record);

		CHECK(!wrong, "%s, store %u: %s", reading->where, reading->stores, wrong);
		if (row.restarted && !reading->first_again)
			reading->first_again = record.seq + 1;
		CHECK(!reading->first_again == (record.seq < 1000), "%s, store %u: event %u, %s", reading->where, reading->stores, record.seq,
		      reading->first_again ? "behind the restart" : "and nobody says that it was started again");
		CHECK(record.seq >= 1000 || record.seq == reading->rows, "%s, store %u: event %u where %u belongs", reading->where,
		      reading->stores, record.seq, reading->rows);
		reading->rows++;
		/* Half of it while it changes. */
		if (reading->stores && reading->stores % 3)
			return;
	}
	CHECK(!r, "%s, store %u: %s", reading->where, reading->stores, err.text);
}

static void see_change(void *data, uint32_t stores)
{
	struct reading *reading = data;

	reading->stores = stores;
	if (stores % 2)
		see_rows(reading);
	see_all(reading);
}

static void try_again(const char *where, const struct ringside_fw_hosted_how *with, uint32_t events)
{
	struct reading reading = { .where = where };
	struct remote_how all = { .cpu = -1, .consume = true };
	struct err err = ERR_INIT;
	uint32_t was;

	memset(base, 0, size);
	CHECK(!ringside_fw_hosted_init(base, size, &how), "init");
	CHECK(!remote_open(&reading.remote, dir, "half", &err) && !remote_reset(reading.remote, -1, &err) &&
	      !remote_reader_open(&reading.reader, reading.remote, &all, &err), "%s", err.text);
	write_events(0, 2);
	see_rows(&reading);
	CHECK(reading.rows == 2, "%s: %u of two", where, reading.rows);
	write_events(2, events);
	was = reading.rows;
	watch(with, see_change, &reading);
	CHECK(reading.rows <= was + events, "%s: more than there were", where);
	write_events(1000, 3);
	reading.stores = 0;
	see_rows(&reading);
	CHECK(reading.first_again == 1001 && reading.rows >= 3, "%s: the first event of the new life is %u", where, reading.first_again - 1);
	remote_reader_accept(reading.reader, NULL);
	remote_reader_close(reading.reader);
	remote_close(reading.remote);
}

/* ---- cut short, and begun once more ---- */

static void see_kept(void *data, uint32_t stores)
{
	struct ringside_fw_hosted fw;

	memcpy(data, base, size);
	CHECK(!ringside_fw_hosted_init(data, size, &how) && !ringside_fw_hosted_open(&fw, data, size), "store %u: writer", stores);
	CHECK(fw.control->on == 1 && fw.control->enable[0] == 5, "store %u: %u %#x", stores, fw.control->on, fw.control->enable[0]);
}

static void try_cut(void)
{
	void *copy = aligned_alloc(RINGSIDE_FW_ALIGN, size);
	struct ringside_fw_hosted fw;

	memset(base, 0, size);
	CHECK(copy && !ringside_fw_hosted_init(base, size, &how) && !ringside_fw_hosted_open(&fw, base, size), "writer");
	fw.control->enable[0] = 5;
	CHECK(watch(&how, see_kept, copy), "nothing is stored");
	free(copy);
}

int main(void)
{
	struct ringside_fw_hosted_how other = how, large = how;
	const char *place = getenv("RINGSIDE_DIR");
	struct remote_place at;
	struct err err = ERR_INIT;
	char path[4096];
	int fd;

	CHECK(place, "RINGSIDE_DIR");
	setvbuf(stdout, NULL, _IONBF, 0);
	mkdir(place, 0700);
	snprintf(path, sizeof(path), "%s/memory", place);
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* Fewer pages, fewer rings, and an order of words that lie elsewhere. */
	other.nr_pages = 2;
	large.nr_rings = 1;
	large.page_shift = 9;
	size = ringside_fw_hosted_size(&large) > ringside_fw_hosted_size(&how) ? ringside_fw_hosted_size(&large) : ringside_fw_hosted_size(&how);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s", strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	before = malloc(size);
	CHECK(base != MAP_FAILED && before, "memory");
	try_begin("zeros", 0);
	try_begin("ones", 0xff);
	try_begin("garbage", -1);
	try_cut();
	at = (struct remote_place){ .memory = path, .at = &(uint64_t){ 0 } };
	CHECK(!remote_add(dir, "half", &at, &err), "%s", err.text);
	try_again("the same sizes", &how, 20);
	try_again("the same sizes, an empty ring", &how, 0);
	try_again("fewer pages", &other, 20);
	try_again("fewer rings", &large, 20);
	return 0;
}
