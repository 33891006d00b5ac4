/*
 * Pages that are put into a growing trace file are found in it: while it grows, when it is closed up, and when it was left
 * behind; packed or not, with several buffers, CPUs and sizes of pages, by either way of closing up.
 */
#include "dat/pack.h"
#include "lived_kill.h"

/* All pages of all rounds, and the newest of what is told. */
static void same(const struct lived *l, int rounds)
{
	int counts[LIVED_LANES], firsts[LIVED_LANES];
	struct dat *dat = lived_read(l, counts, firsts);
	struct dat_part part;
	char want[64];

	for (size_t b = 0; b < l->nr_buffers; b++)
		for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++)
			CHECK(counts[lived_lane(l, b, cpu)] == rounds * lived_batch(l, b, cpu),
			      "buffer %zu, CPU %u: %d pages after %d rounds", b, cpu, counts[lived_lane(l, b, cpu)],
			      rounds);
	if (rounds) {
		snprintf(want, sizeof(want), "1 init\n2 round%d\n", (rounds - 1) / 2 * 2);
		CHECK(!dat_part_open(dat, DAT_CMDLINES, &part, NULL), "no names of tasks");
		CHECK(part.len == strlen(want) && !memcmp(part.data, want, part.len), "%.*s", (int)part.len, part.data);
		dat_part_close(&part);
		CHECK(!strncmp(dat_info(dat)->uname, "round", 5), "%s", dat_info(dat)->uname);
	}
	dat_close(dat);
}

/* Nothing but sections that lie one behind the other, and no more than the data needs. */
static void tidy(const struct lived *l)
{
	const struct dat_section *s;
	struct err err = ERR_INIT;
	struct dat *dat;
	uint64_t at = 0, data = 0, size;
	int unused = 0;

	CHECK(!dat_open(&dat, l->path, &err), "%s", err.text);
	size = dat_info(dat)->size;
	for (size_t i = 0; (s = dat_section(dat, i)); i++) {
		CHECK(!i || s->at == at, "a section at %" PRIu64 ", the one before ends at %" PRIu64, s->at, at);
		at = s->at + 16 + s->size;
		unused += s->id == DAT_DONE && !s->chained;
	}
	CHECK(unused <= 1, "%d sections are not used", unused);
	CHECK(at == size, "sections end at %" PRIu64 " of %" PRIu64, at, size);
	for (size_t b = 0; b < l->nr_buffers; b++) {
		const struct dat_buffer *buffer = dat_buffer(dat, b);

		for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
			CHECK(buffer->cpus[i].size, "a CPU without data has a row");
			data += buffer->cpus[i].size;
		}
	}
	CHECK(size < data + 65536 * 2 + (l->nr_buffers + 2 + l->nr_cpus * l->nr_buffers) * (l->page_size + 4096ull),
	      "%" PRIu64 " bytes for %" PRIu64 " of data", size, data);
	dat_close(dat);
}

static void round_trip(const char *dir, const char *compression, size_t nr_buffers, uint32_t nr_cpus,
		       uint32_t page_size)
{
	char path[600];
	struct lived l = { .path = path, .compression = compression, .nr_buffers = nr_buffers, .nr_cpus = nr_cpus,
			   .page_size = page_size, .rounds = 4, .batch = 3 };
	struct err err = ERR_INIT;
	struct dat_live *live;

	snprintf(path, sizeof(path), "%s/live.dat", dir);
	unlink(path);
	live = lived_open(&l);
	CHECK(!lived_meta(&l, live), "sections");
	CHECK(access(path, F_OK), "the file is there before it tells anything");
	CHECK(!dat_live_publish(live), "publish");
	same(&l, 0);
	for (int i = 0; i < l.rounds; i++) {
		CHECK(!lived_round(&l, live, i), "round %d", i);
		if (i % 2 == 0)
			CHECK(!lived_more(live, i), "more in round %d", i);
		same(&l, i + 1);
	}
	CHECK(dat_live_close_up(path, &err) == -EBUSY && strstr(err.text, "still"), "%s", err.text);
	CHECK(!dat_live_finish(live, &err), "%s", err.text);
	dat_live_close(live);
	same(&l, l.rounds);
	tidy(&l);
	CHECK(dat_live_close_up(path, NULL) == 0, "there was something left to do");

	/* And left behind. */
	live = lived_open(&l);
	CHECK(!lived_meta(&l, live) && !dat_live_publish(live), "publish");
	for (int i = 0; i < l.rounds; i++)
		CHECK(!lived_round(&l, live, i) && (i % 2 || !lived_more(live, i)), "round %d", i);
	dat_live_close(live);
	same(&l, l.rounds);
	err = (struct err)ERR_INIT;
	CHECK(dat_live_close_up(path, &err) == 1, "%s", err.text);
	same(&l, l.rounds);
	tidy(&l);
	CHECK(dat_live_close_up(path, NULL) == 0, "there was something left to do");
	unlink(path);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH"), *name = "none";
	char there[600];

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	lived_make_dir(there);
	for (size_t i = 0; name; name = pack_name(i++))
		for (size_t buffers = 1; buffers <= 3; buffers += 2)
			for (uint32_t cpus = 1; cpus <= 5; cpus += 2)
				for (uint32_t page = 4096; page <= 65536; page *= 16) {
					round_trip(base, name, buffers, cpus, page);
					round_trip(there, name, buffers, cpus, page);
				}
	lived_remove_dir(there);
	return 0;
}
