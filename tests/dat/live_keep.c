/*
 * A growing trace file that keeps the newest pages only: at least as many as were asked for, not many more, the rest is
 * given back to the disk, and it goes on for longer than the file has room for.
 */
#include <sys/resource.h>

#include "lived_kill.h"

#define KEEP (400u << 10)
#define SLIDE (64u * 4096)
#define ROOM (8u << 20)
#define BATCH 8
#define PAGES 3000		/* more than ROOM */

/* The newest pages up to `last`, as many as are wanted. */
static void look(const struct lived *l, int last)
{
	int counts[LIVED_LANES], firsts[LIVED_LANES];
	uint64_t want = (uint64_t)last * 4096 < KEEP ? (uint64_t)last * 4096 : KEEP;
	struct stat st;

	dat_close(lived_read(l, counts, firsts));
	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++) {
		CHECK((uint64_t)counts[cpu] * 4096 >= want && (uint64_t)counts[cpu] * 4096 < KEEP + SLIDE + BATCH * 4096,
		      "CPU %u has %d pages of %d", cpu, counts[cpu], last);
		CHECK(firsts[cpu] + counts[cpu] == last, "CPU %u has pages up to %d, not %d", cpu,
		      firsts[cpu] + counts[cpu], last);
	}
	CHECK(!stat(l->path, &st) && (uint64_t)st.st_blocks * 512 < l->nr_cpus * (KEEP + SLIDE + BATCH * 4096) + (512u << 10),
	      "%llu bytes are taken", (unsigned long long)st.st_blocks * 512);
}

static void keep(const char *dir)
{
	char path[700];
	struct lived l = { .path = path, .compression = "any", .nr_buffers = 1, .nr_cpus = 2, .page_size = 4096,
			   .keep = KEEP };
	struct err err = ERR_INIT;
	struct dat_live *live;

	snprintf(path, sizeof(path), "%s/keep.dat", dir);
	live = lived_open(&l);
	CHECK(!lived_meta(&l, live) && !dat_live_publish(live), "publish");
	for (int i = 0; i < PAGES; i += BATCH) {
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			CHECK(!lived_write(&l, live, 0, cpu, i, BATCH) && !dat_live_accept(live, 0, cpu), "page %d", i);
		if (i % 96 == 0)
			look(&l, i + BATCH);
		CHECK(dat_live_bytes(live) <= 2 * (KEEP + SLIDE + BATCH * 4096), "%llu bytes",
		      (unsigned long long)dat_live_bytes(live));
	}
	look(&l, PAGES);
	CHECK(!dat_live_finish(live, &err), "%s", err.text);
	dat_live_close(live);
	look(&l, PAGES);
	unlink(path);
}

static void refused(const char *dir, const char *compression, uint64_t how_much, const char *words)
{
	char path[700];
	struct dat_live_how how = { .page_size = 4096, .nr_cpus = 1, .compression = compression, .keep = how_much };
	struct err err = ERR_INIT;
	struct dat_live *live;
	int r;

	snprintf(path, sizeof(path), "%s/refused.dat", dir);
	r = dat_live_open(&live, path, &how, &err);
	if (!r) {
		r = dat_live_publish(live);
		CHECK(r && dat_live_failed(live, &err) == r, "it was taken: %s", words);
		dat_live_close(live);
	}
	CHECK(strstr(err.text, words), "%s", err.text);
	CHECK(access(path, F_OK), "something was left");
}

int main(void)
{
	struct rlimit limit = { ROOM, ROOM };
	const char *base = getenv("RINGSIDE_SCRATCH");
	char there[600];

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	lived_make_dir(there);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit), "%s", strerror(errno));
	keep(base);
	keep(there);
	refused(base, "zstd", 1 << 20, "either a limit or compression");
	refused(base, "none", 1 << 30, "no room for");
	lived_remove_dir(there);
	return 0;
}
