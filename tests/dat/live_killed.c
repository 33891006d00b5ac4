/*
 * Whoever writes a growing trace file may be killed at any moment: before each call that changes the file it has no name
 * yet, or opens, and has all pages that were accepted, in either way of closing up. What was left behind can be closed up
 * later, and whoever does that may be killed, too.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "dat/pack.h"
#include "lived_kill.h"

struct seen {
	int accepted[LIVED_LANES];
	int published;
};

static struct seen *seen;

static void record(const struct lived *l)
{
	struct err err = ERR_INIT;

	CHECK(!lived_record(l, &err), "%s", err.text);
}

static void leave(const struct lived *l)
{
	struct dat_live *live = lived_open(l);
	int r = lived_meta(l, live);

	for (int i = 0; !r && i < l->rounds; i++) {
		r = lived_round(l, live, i);
		if (!r)
			r = lived_more(live, i);
	}
	CHECK(!r, "%d", r);
	dat_live_close(live);
}

static void close_up(const struct lived *l)
{
	struct err err = ERR_INIT;

	CHECK(dat_live_close_up(l->path, &err) >= 0, "%s", err.text);
}

/* All that was accepted, and no more than one batch beyond it. */
static void look(const struct lived *l, int counts[LIVED_LANES], const char *when, int at)
{
	int firsts[LIVED_LANES];

	dat_close(lived_read(l, counts, firsts));
	for (size_t b = 0; b < l->nr_buffers; b++)
		for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++) {
			size_t i = lived_lane(l, b, cpu);

			CHECK(counts[i] >= seen->accepted[i] &&
			      counts[i] <= seen->accepted[i] + lived_batch(l, b, cpu) && (!counts[i] || !firsts[i]),
			      "%s at %d: buffer %zu, CPU %u: %d pages of %d", when, at, b, cpu, counts[i],
			      seen->accepted[i]);
		}
}

static void same_counts(const int a[LIVED_LANES], const int b[LIVED_LANES], const char *when, int at)
{
	for (int i = 0; i < LIVED_LANES; i++)
		CHECK(a[i] == b[i], "%s at %d: lane %d has %d pages and had %d", when, at, i, b[i], a[i]);
}

static int killed_writer(const struct lived *l)
{
	int before[LIVED_LANES], after[LIVED_LANES], at = 0;
	bool more = true;

	for (; more; at++) {
		memset(seen, 0, sizeof(*seen));
		unlink(l->path);
		more = lived_run_up_to(record, l, at);
		if (access(l->path, F_OK)) {
			CHECK(!seen->published, "no file at %d", at);
			continue;
		}
		look(l, before, "killed", at);
		/* Those that are killed next to each other leave much the same. */
		if (at % 5)
			continue;
		close_up(l);
		look(l, after, "closed up", at);
		same_counts(before, after, "closed up", at);
	}
	return at;
}

static int killed_closer(const struct lived *l)
{
	int before[LIVED_LANES], after[LIVED_LANES], at = 0;
	bool more = true;

	for (; more; at++) {
		memset(seen, 0, sizeof(*seen));
		leave(l);
		if (!at)
			look(l, before, "left", 0);
		more = lived_run_up_to(close_up, l, at);
		look(l, after, "killed while closing up", at);
		same_counts(before, after, "killed while closing up", at);
		close_up(l);
		look(l, after, "closed up again", at);
		same_counts(before, after, "closed up again", at);
		CHECK(!dat_live_close_up(l->path, NULL), "at %d: there was something left to do", at);
	}
	return at;
}

static void both(const char *dir, const char *compression, size_t fat)
{
	char path[700];
	struct lived l = { .path = path, .compression = compression, .nr_buffers = 3, .nr_cpus = 3, .page_size = 4096,
			   .rounds = 2, .batch = 2, .fat = fat, .accepted = seen->accepted, .published = &seen->published };
	int writer, closer;

	snprintf(path, sizeof(path), "%s/killed.dat", dir);
	writer = killed_writer(&l);
	closer = killed_closer(&l);
	printf("%s, %s, options of %zu: killed at %d and %d places\n", dir, compression, fat, writer, closer);
	unlink(path);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	struct rlimit limit = { 3 << 20, 3 << 20 };
	char there[600];

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED, "%s", strerror(errno));
	lived_make_dir(there);
	both(base, "none", 0);
	both(there, "none", 0);
	if (pack_name(0)) {
		both(base, pack_name(0), 0);
		both(there, pack_name(0), 0);
	}
	/* Holes that are shorter than options. */
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit), "%s", strerror(errno));
	both(base, "none", 240000);
	both(there, "none", 240000);
	lived_remove_dir(there);
	return 0;
}
