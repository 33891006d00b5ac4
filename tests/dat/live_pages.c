/*
 * What becomes of pages on their way into a growing trace file: those that are not accepted are written over, a page that
 * was not full is replaced by its successor, and memory that is gone costs an error and nothing else.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "dat/pack.h"
#include "lived_kill.h"

static char path[600];
static struct lived l = { .path = path, .nr_buffers = 1, .nr_cpus = 1, .page_size = 4096 };

/* `full` pages, and then one with `count` events if that is not 0. */
static void look(int full, int count, const char *when)
{
	uint8_t want[4096];
	struct err err = ERR_INIT;
	struct dat_block *block;
	struct dat_lane *lane;
	struct dat *dat;
	int n = 0;

	CHECK(!dat_open(&dat, path, &err), "%s: %s", when, err.text);
	CHECK(!dat_warning(dat, 0), "%s: %s", when, dat_warning(dat, 0));
	if (dat_buffer(dat, 0)->nr_cpus) {
		CHECK(!dat_lane_open(&lane, dat, dat_buffer(dat, 0), 0, 65536, &err), "%s", err.text);
		for (uint64_t b = 0; dat_lane_fetch(lane, b, &block, &err) == 1; b++) {
			for (uint32_t at = 0; at < block->len; at += 4096, n++) {
				lived_page(&l, want, 0, 0, n, n < full ? 100 : count);
				CHECK(!memcmp(block->data + at, want, 4096), "%s: page %d", when, n);
			}
			dat_block_drop(block);
		}
		dat_lane_close(lane);
	}
	CHECK(!err.code && n == full + !!count, "%s: %d pages: %s", when, n, err.text);
	dat_close(dat);
}

static int put(struct dat_live *live, int page, int count)
{
	static uint8_t bytes[4096];
	struct iovec part = { bytes, sizeof(bytes) };

	lived_page(&l, bytes, 0, 0, page, count);
	return dat_live_write(live, 0, 0, &part, 1);
}

static struct dat_live *begun(void)
{
	struct dat_live *live = lived_open(&l);

	CHECK(!lived_meta(&l, live) && !dat_live_publish(live), "publish");
	return live;
}

static void ended(struct dat_live *live)
{
	struct err err = ERR_INIT;

	CHECK(!dat_live_finish(live, &err), "%s", err.text);
	dat_live_close(live);
}

static void not_accepted(void)
{
	struct dat_live *live = begun();

	CHECK(!put(live, 0, 100) && !dat_live_accept(live, 0, 0), "page 0");
	CHECK(!put(live, 7, 3), "a page that is no good");
	look(1, 0, "before it is accepted");
	CHECK(!put(live, 1, 100), "page 1");
	look(1, 0, "before it is accepted");
	CHECK(!dat_live_accept(live, 0, 0), "accept");
	look(2, 0, "accepted");
	CHECK(!dat_live_accept(live, 0, 0), "nothing more to be accepted");
	CHECK(!put(live, 9, 9), "a page that is no good");
	ended(live);
	look(2, 0, "the end");
}

static void open_pages(bool packed)
{
	struct dat_live *live = begun();
	/* Packed ones wait. */
	int shown = packed ? 0 : 1;

	CHECK(!put(live, 0, 10) && !dat_live_accept_open(live, 0, 0), "page 0");
	look(0, shown * 10, "a page that is not full");
	CHECK(!put(live, 0, 60) && !dat_live_accept_open(live, 0, 0), "page 0");
	look(0, shown * 60, "it has grown");
	CHECK(!put(live, 0, 100) && !dat_live_accept(live, 0, 0), "page 0");
	look(1, 0, "it is full");
	CHECK(!put(live, 1, 5) && !dat_live_accept_open(live, 0, 0), "page 1");
	CHECK(!lived_more(live, 1), "publish");
	look(1, shown * 5, "one more");
	ended(live);
	look(1, 5, "the end");
}

/* Pages of a file that becomes shorter: there is no memory behind them any more. */
static void memory_gone(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct dat_live *live = begun();
	struct iovec parts[4];
	uint8_t *ring;

	CHECK(fd >= 0 && !ftruncate(fd, 4 * 4096), "%s", strerror(errno));
	ring = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ring != MAP_FAILED, "%s", strerror(errno));
	for (int i = 0; i < 4; i++) {
		lived_page(&l, ring + i * 4096, 0, 0, i, 100);
		parts[i] = (struct iovec){ ring + i * 4096, 4096 };
	}
	CHECK(!dat_live_write(live, 0, 0, parts, 2) && !dat_live_accept(live, 0, 0), "two pages");
	CHECK(!ftruncate(fd, 3 * 4096), "%s", strerror(errno));
	CHECK(dat_live_write(live, 0, 0, parts + 2, 2) == -EFAULT, "half of them are gone");
	CHECK(!dat_live_failed(live, NULL), "that is no failure of the file");
	CHECK(!dat_live_accept(live, 0, 0), "nothing to be accepted");
	look(2, 0, "what is gone");
	CHECK(!dat_live_write(live, 0, 0, parts + 2, 1) && !dat_live_accept(live, 0, 0), "the third page");
	look(3, 0, "one more");
	ended(live);
	look(3, 0, "the end");
	munmap(ring, 4 * 4096);
	close(fd);
}

/* Pages out of a pipe: few through the cache, many past it where that can be, and behind a page that is open. */
static void spliced(void)
{
	struct dat_live *live = begun();
	static uint8_t bytes[100 * 4096];
	int ends[2], n = 0;

	CHECK(!pipe2(ends, O_CLOEXEC) && fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= (int)sizeof(bytes), "%s", strerror(errno));
	for (int round = 0; round < 6; round++) {
		int some = round % 2 ? 100 : 3;

		for (int i = 0; i < some; i++)
			lived_page(&l, bytes + i * 4096, 0, 0, n + i, 100);
		CHECK(write(ends[1], bytes, (size_t)some * 4096) == some * 4096, "%s", strerror(errno));
		CHECK(!dat_live_splice(live, 0, 0, ends[0], (size_t)some * 4096), "%d pages", some);
		look(n, 0, "before they are accepted");
		CHECK(!dat_live_accept(live, 0, 0), "accept");
		n += some;
		look(n, 0, "accepted");
	}
	CHECK(!put(live, n, 7) && !dat_live_accept_open(live, 0, 0), "one that is open");
	look(n, 7, "open");
	CHECK(!put(live, n, 100) && !dat_live_accept(live, 0, 0), "and full");
	CHECK(dat_live_splice(live, 0, 0, ends[0], 100) == -EINVAL && dat_live_splice(live, 0, 1, ends[0], 4096) == -EINVAL,
	      "what is no page, and no CPU");
	CHECK(!dat_live_failed(live, NULL), "that is no failure of the file");
	/* Nobody will ever write what is missing: what is whole counts, and the file has failed. */
	lived_page(&l, bytes, 0, 0, n + 1, 100);
	CHECK(write(ends[1], bytes, 4096 + 100) == 4096 + 100 && !close(ends[1]), "%s", strerror(errno));
	CHECK(dat_live_splice(live, 0, 0, ends[0], 2 * 4096) < 0 && dat_live_failed(live, NULL), "half a page");
	CHECK(dat_live_finish(live, NULL) < 0, "it is told again");
	dat_live_close(live);
	look(n + 2, 0, "the end");
	close(ends[0]);
}

static void spliced_packed(void)
{
	struct dat_live *live = begun();
	int ends[2];

	/* Nobody waits for what will never come. */
	CHECK(!pipe2(ends, O_CLOEXEC) && !close(ends[1]), "%s", strerror(errno));
	CHECK(dat_live_splice(live, 0, 0, ends[0], 4096) == -EINVAL && !dat_live_failed(live, NULL), "packed data");
	ended(live);
	close(ends[0]);
}

static void wrong_calls(void)
{
	struct dat_live *live = begun();
	struct iovec part = { path, 100 };

	CHECK(dat_live_write(live, 0, 0, &part, 1) == -EINVAL, "100 bytes are no page");
	CHECK(dat_live_write(live, 0, 1, &part, 0) == -EINVAL, "a CPU that there is not");
	CHECK(dat_live_accept(live, 1, 0) == -EINVAL, "a buffer that there is not");
	CHECK(dat_live_option(live, DAT_BUFFER, "x", 2) == -EINVAL, "an option of the writer's own");
	CHECK(dat_live_section(live, DAT_STRINGS, "x", 2) == -EINVAL, "a section of the writer's own");
	CHECK(!dat_live_failed(live, NULL), "that is no failure of the file");
	ended(live);
	look(0, 0, "the end");
}

/* More is told than there is room for in front: what was told before is written over. */
static void much_told(void)
{
	size_t len = 5 << 20;
	char *names = malloc(len);
	struct dat_live *live = begun();
	struct dat_part part;
	struct dat *dat;
	int round = 0;

	CHECK(names, "out of memory");
	for (; round < 40; round++) {
		memset(names, 'a' + round % 26, len);
		CHECK(!dat_live_section(live, round % 2 ? DAT_KALLSYMS : DAT_PRINTK, names, len), "section %d", round);
		CHECK(!dat_live_publish(live), "publish %d", round);
		CHECK(!put(live, round, 100) && !dat_live_accept(live, 0, 0), "page %d", round);
		if (round % 5 == 0)
			look(round + 1, 0, "in between");
	}
	ended(live);
	look(round, 0, "the end");
	CHECK(!dat_open(&dat, path, NULL) && !dat_part_open(dat, DAT_KALLSYMS, &part, NULL), "symbols");
	CHECK(part.len == len && !memcmp(part.data, names, len), "they are others");
	dat_part_close(&part);
	CHECK(dat_info(dat)->size < 3 * len, "%llu bytes", (unsigned long long)dat_info(dat)->size);
	dat_close(dat);
	free(names);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH"), *name = "none";

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	snprintf(path, sizeof(path), "%s/pages.dat", base);
	for (size_t i = 0; name; name = pack_name(i++)) {
		l.compression = name;
		not_accepted();
		open_pages(strcmp(name, "none"));
		memory_gone();
		wrong_calls();
		if (strcmp(name, "none"))
			spliced_packed();
		else
			spliced();
	}
	l.compression = "none";
	much_told();
	return 0;
}
