/*
 * dat/live_room: where the data of a growing file lies. See live_file.h.
 *
 * Files have holes that cost nothing, so each CPU gets as much room as there can be. The last bytes of the front are
 * taken from the disk and not used: when the disk is full they are given back, and with them the file is closed up.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/live_file.h"

#define FRONT_MIN ((uint64_t)64 << 20)
#define REGION_MAX ((uint64_t)1 << 40)
#define SPARE ((uint64_t)64 << 10)	/* beside what the sections take */
#define PROBES 24

/* The size that a file may have, at most `want`. */
static uint64_t probe(const struct live_file *f, uint64_t want)
{
	uint64_t good = 0, bad = want + 1;
	struct rlimit limit;
	struct stat st;

	if (fstat(f->fd, &st))
		return 0;
	good = (uint64_t)st.st_size;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < want)
		bad = (uint64_t)limit.rlim_cur + 1;
	for (int i = 0; i < PROBES && good + 1 < bad; i++) {
		/* What is wanted is tried first. */
		uint64_t middle = i ? good + (bad - good) / 2 : bad - 1;

		if (ftruncate(f->fd, (off_t)middle))
			bad = middle;
		else
			good = middle;
	}
	if (ftruncate(f->fd, st.st_size))
		return 0;
	return good;
}

/* The head of each buffer, which reaches up to the next. */
static int put_heads(struct live_file *f, uint64_t region)
{
	uint64_t at = f->data, len = f->step + region * f->nr_cpus;
	uint8_t head[SEVEN_HEAD];
	int r = 0;

	for (size_t i = 0; !r && i < f->nr_buffers; i++, at += len) {
		seven_head(head, DAT_BUFFER, f->packed, f->buffers[i].called, len - SEVEN_HEAD, LIVE_BIG);
		r = live_put(f, head, sizeof(head), at);
		f->buffers[i].section = at;
		for (uint32_t cpu = 0; cpu < f->nr_cpus; cpu++) {
			struct live_lane *lane = &f->lanes[i * f->nr_cpus + cpu];

			lane->begin = lane->offset = at + f->step + region * cpu;
			lane->end = lane->begin + region;
		}
	}
	return r;
}

/* Bytes of sections and options so far. */
static uint64_t told_at_least(const struct live_file *f)
{
	return f->gap - f->front + f->more.len + live_nr_lanes(f) * SEVEN_ROW + LIVE_BLOCK;
}

int live_lay_out(struct live_file *f, struct err *err)
{
	uint64_t used = told_at_least(f), front = used * 4 > FRONT_MIN ? used * 4 : FRONT_MIN;
	uint64_t heads = f->nr_buffers * f->step, nr = live_nr_lanes(f), room;
	uint64_t region = REGION_MAX, most = (uint64_t)INT64_MAX / 4;
	int r;

	if (region > most / (nr + 1))
		region = most / (nr + 1);
	/* Twice as much, for closing up: what it writes lies as far behind the data as a hole is long. */
	f->max = probe(f, 2 * (f->front + front + heads + (nr + 1) * region));
	/* Where there is little room, the front takes not all of it. */
	if (front > f->max / 8)
		front = f->max / 8 > used * 2 + SPARE ? f->max / 8 : used * 2 + SPARE;
	f->data = live_up(f->front + front, f->step);
	room = f->max > f->data + heads ? f->max - f->data - heads : 0;
	/* One more than there are, where there is no more. */
	if (room / (nr + 1) < region)
		region = room / (nr + 1);
	region = live_down(region, f->step);
	if (!region) {
		f->data = 0;
		return err_set(err, -EFBIG, "cannot write %.300s: a file may have no more than %llu bytes here, which "
			       "is not enough for %llu CPUs", f->path, (unsigned long long)f->max, (unsigned long long)nr);
	}
	f->gap_end = f->data;
	r = put_heads(f, region);
	if (!r)
		r = live_put_unused(f, f->gap, f->gap_end);
	return r ? err_set(err, r, "cannot write %.300s: %s", f->path, strerror(-r)) : 0;
}

/* All sections once more, and the options several times. */
static uint64_t need(const struct live_file *f)
{
	uint64_t sum = 4 * f->options.len + SPARE;

	for (int id = 0; id < DAT_NR_IDS; id++)
		sum += f->told[id].len;
	return live_up(sum, f->step);
}

void live_take_ballast(struct live_file *f)
{
	uint64_t want = need(f), free_from = f->gap_end == f->data ? f->gap : f->data;

	if (want <= f->ballast || want + 2 * SEVEN_HEAD > f->data - free_from)
		return;
	if (!fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)(f->data - want), (off_t)(want - f->ballast)))
		f->ballast = want;
}

void live_drop_ballast(struct live_file *f)
{
	if (f->ballast)
		live_punch(f, f->data - f->ballast, f->data);
	f->ballast = 0;
}
