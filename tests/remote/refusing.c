/*
 * A ring that refuses what comes when it is full has room again when it was reset, or read, whatever else happened meanwhile: the target slept
 * and somebody asked it for the time, or who had read it ended before he could tell.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "remote/hosted_lab.h"
#include "remote/local.h"

#define PAGES 4u
#define SHIFT 8u
#define FULL 100u

static const struct ringside_fw_hosted_how how = {
	.nr_rings = 1, .nr_pages = PAGES, .page_shift = SHIFT, .nr_events = LAB_EVENTS, .flags = RINGSIDE_FW_DISCARD, .on = 1,
};
static struct ringside_fw_hosted fw;
static struct remote *remote;

static void write_events(uint32_t n)
{
	struct record record;

	for (uint32_t seq = 0; seq < n; seq++) {
		record_fill(&record, 0, seq, 0, 10);
		ringside_fw_hosted_write(&fw, 0, &record, 10);
	}
}

/* How many are there, and were lost. */
static uint32_t take_and(uint64_t *lost)
{
	const struct remote_how consume = { .cpu = -1, .consume = true };
	struct remote_reader *reader;
	struct err err = ERR_INIT;
	struct remote_row row;
	uint32_t n = 0;
	int r;

	CHECK(!remote_reader_open(&reader, remote, &consume, &err), "%s", err.text);
	for (*lost = 0; (r = remote_reader_next(reader, &row, &err)) > 0; n++)
		*lost += row.lost;
	CHECK(!r && !remote_reader_accept(reader, &err), "%s", err.text);
	remote_reader_close(reader);
	return n;
}

static uint32_t take(void)
{
	uint64_t lost;

	return take_and(&lost);
}

/* The target sleeps until it was asked for the time, too. */
static void try_reset(void)
{
	struct err err = ERR_INIT;
	uint32_t asked;

	write_events(FULL);
	CHECK(!remote_reset(remote, -1, &err), "%s", err.text);
	CHECK(!remote_ask(remote, 0, false, &asked, &err), "%s", err.text);
	write_events(1);
	CHECK(take() == 1, "after a reset nothing comes");
}

static void try_death(void)
{
	struct remote_cursor cursor;
	struct err err = ERR_INIT;

	write_events(FULL);
	CHECK(!remote_ring_end(&remote->target, &remote->memory, 0, &cursor, &err) &&
	      !remote_store_set_cursor(remote, 0, &cursor, &err), "%s", err.text);
	take();
	write_events(1);
	CHECK(take() == 1, "behind who died nothing comes");
}

static uintptr_t *commit_word(void)
{
	return (uintptr_t *)((char *)fw.header + fw.rings->pages + ((fw.rings->tail & fw.rings->mask) << SHIFT) + 8);
}

/* A cursor is put behind all while an event is counted and not there yet: it comes, and counts once. */
static void try_on_its_way(void)
{
	struct remote_cursor cursor;
	struct err err = ERR_INIT;
	uintptr_t before, commit, *word;
	uint64_t lost, later;
	uint32_t got;

	/* Behind others, in the last page that is free. */
	take();
	for (uint32_t tail = fw.rings->tail; fw.rings->tail != tail + PAGES - 1;)
		write_events(1);
	word = commit_word();
	before = *word;
	write_events(1);
	commit = *word;
	*word = before;
	CHECK(!remote_ring_end(&remote->target, &remote->memory, 0, &cursor, &err) &&
	      !remote_store_set_cursor(remote, 0, &cursor, &err), "%s", err.text);
	*word = commit;
	write_events(FULL);
	got = take_and(&lost);
	write_events(1);
	got += take_and(&later);
	lost += later;
	CHECK(got + lost == FULL + 2, "%u events and %llu lost, of %u", got, (unsigned long long)lost, FULL + 2);
}

int main(void)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	char path[4096];
	const struct remote_place place = { .memory = path };
	size_t size = ringside_fw_hosted_size(&how);
	struct err err = ERR_INIT;
	void *base;
	int dir, fd;

	snprintf(path, sizeof(path), "%s/memory", scratch);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s", strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED, "%s", strerror(errno));
	CHECK(!ringside_fw_hosted_init(base, size, &how) && !ringside_fw_hosted_open(&fw, base, size), "writer");
	dir = open(scratch, O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0 && !remote_add(dir, "board", &place, &err) && !remote_open(&remote, dir, "board", &err), "%s", err.text);
	take();
	try_reset();
	try_on_its_way();
	try_death();
	remote_close(remote);
	close(dir);
	close(fd);
	munmap(base, size);
	return 0;
}
