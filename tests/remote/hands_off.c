/*
 * A memory whose header is gone is somebody else's: whatever the host was doing with it, and goes on to try, no byte of it is stored to.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "remote/clock.h"
#include "remote/hosted_lab.h"
#include "remote/local.h"

static const struct ringside_fw_hosted_how how = {
	.nr_rings = 2, .nr_pages = 4, .page_shift = 8, .nr_events = LAB_EVENTS, .flags = RINGSIDE_FW_DISCARD, .on = 1,
};

static void write_events(struct ringside_fw_hosted *fw, uint32_t n)
{
	struct record record;

	for (uint32_t seq = 0; seq < n; seq++) {
		record_fill(&record, 0, seq, 0, 10);
		ringside_fw_hosted_write(fw, 0, &record, 10);
	}
}

static void try_all(struct remote *remote, struct remote_reader *reader, struct remote_clock *clock)
{
	struct remote_row row;

	remote_reader_accept(reader, NULL);
	remote_clock_match(clock, remote, 20000000, true);
	for (int i = 0; i < 5; i++)
		remote_reader_next(reader, &row, NULL);
	remote_reader_ready(reader);
	remote_reader_accept(reader, NULL);
	remote_reset(remote, -1, NULL);
	remote_enable_event(remote, 1, true, NULL);
	remote_enable_tracing(remote, true, NULL);
	remote_enable_tracing(remote, false, NULL);
	remote_set_size(remote, 4, NULL);
	remote_borrow(remote, NULL, NULL);
	remote_give_back(remote);
}

int main(void)
{
	const struct remote_how consume = { .cpu = -1, .consume = true };
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	size_t size = ringside_fw_hosted_size(&how);
	struct remote_clock clock;
	struct remote_place place;
	struct ringside_fw_hosted fw;
	struct err err = ERR_INIT;
	struct remote_reader *reader;
	struct remote *remote;
	struct remote_row row;
	char path[4096];
	unsigned char *base;
	int fd, dir;

	snprintf(path, sizeof(path), "%s/memory", scratch);
	place = (struct remote_place){ .memory = path };
	dir = open(scratch, O_RDONLY | O_DIRECTORY);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(dir >= 0 && fd >= 0 && !ftruncate(fd, (off_t)size), "%s: %s", path, strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED && !ringside_fw_hosted_init(base, size, &how) && !ringside_fw_hosted_open(&fw, base, size), "writer");
	CHECK(!remote_add(dir, "board", &place, &err) && !remote_open(&remote, dir, "board", &err) &&
	      !remote_reader_open(&reader, remote, &consume, &err), "%s", err.text);
	write_events(&fw, 40);
	remote_clock_init(&clock);
	remote_clock_match(&clock, remote, 2000000, true);
	for (int i = 0; i < 20; i++)
		CHECK(remote_reader_next(reader, &row, &err) == 1, "event %d: %s", i, err.text);
	/* Another program is loaded to where it was. */
	memset(base, 0xaa, size);
	try_all(remote, reader, &clock);
	for (size_t i = 0; i < size; i++)
		CHECK(base[i] == 0xaa, "byte %zu is %#x", i, base[i]);
	remote_reader_close(reader);
	remote_close(remote);
	munmap(base, size);
	return 0;
}
