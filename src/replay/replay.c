/*
 * replay: see replay.h.
 */
#include "replay/replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "replay/local.h"

/* Pages that are read at once in all lanes together, and the least in each. */
#define WINDOWS_BYTES (4u << 20)
#define WINDOW_MAX (64u << 10)
#define WINDOW_MIN (16u << 10)

void replay_warn(struct replay *replay, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (replay->nr_warnings == WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	replay->warnings[replay->nr_warnings] = strdup(text);
	if (replay->warnings[replay->nr_warnings])
		replay->nr_warnings++;
}

int replay_new(struct replay **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->to = UINT64_MAX;
	(*out)->part_bytes = PART_BYTES;
	return 0;
}

static void free_lane(struct lane *lane)
{
	for (uint32_t i = 0; i < lane->nr_blocks; i++)
		dat_block_drop(lane->blocks[i]);
	free(lane->blocks);
	decode_carry_free(lane->carry);
	dat_lane_close(lane->dat);
	free(lane);
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	part_free(replay->part);
	for (size_t i = 0; i < replay->nr_lanes; i++)
		free_lane(replay->lanes[i]);
	for (size_t i = 0; i < replay->nr_files; i++) {
		names_free(replay->files[i]);
		free(replay->files[i]);
	}
	for (size_t i = 0; i < replay->nr_warnings; i++)
		free(replay->warnings[i]);
	free(replay->lanes);
	free(replay->files);
	free(replay);
}

static void set_times(struct lane *lane, const struct replay_times *how)
{
	const struct dat_info *info = dat_info(lane->pub.file);
	const struct dat_shift *shift = how->shift ? dat_shift(lane->pub.file) : NULL;
	struct times *t = &lane->times;
	uint32_t cpu = (uint32_t)lane->pub.cpu;

	t->plain = true;
	if (how->raw) {
		t->add = how->stock ? 0 : (uint64_t)how->offset;
		return;
	}
	t->add = (uint64_t)how->offset + (uint64_t)info->offset;
	if (!how->no_date)
		t->add += info->date;
	if (how->hz)
		t->factor = 1000000000.0 / (double)how->hz;
	if (info->tsc2nsec.is_set) {
		t->tsc = true;
		t->mult = info->tsc2nsec.mult;
		t->shift = info->tsc2nsec.shift;
	}
	if (shift && shift->nr_cpus) {
		/* One CPU's samples stand for all when a protocol took only those. */
		cpu = cpu < shift->nr_cpus ? cpu : 0;
		t->samples = shift->cpus[cpu].samples;
		t->nr_samples = shift->cpus[cpu].nr;
		t->interpolate = shift->interpolate;
	}
	t->plain = !t->factor && !t->tsc && !t->nr_samples;
}

static int add_lane(struct replay *replay, struct file *file, unsigned int buffer_nr, uint32_t i,
		    const struct replay_times *times, struct err *err)
{
	const struct dat_buffer *buffer = dat_buffer(file->dat, buffer_nr);
	struct lane **more = realloc(replay->lanes, (replay->nr_lanes + 1) * sizeof(*more));
	struct lane *lane = calloc(1, sizeof(*lane));
	size_t window = WINDOWS_BYTES / (buffer->nr_cpus + replay->nr_lanes);
	int r;

	if (more)
		replay->lanes = more;
	if (!more || !lane || !(lane->carry = decode_carry_new())) {
		free(lane);
		return err_set(err, -ENOMEM, "out of memory");
	}
	window = window > WINDOW_MAX ? WINDOW_MAX : window < WINDOW_MIN ? WINDOW_MIN : window;
	lane->pub = (struct replay_lane){ file->dat, buffer, buffer->cpus[i].cpu, file->nr,
					  buffer_nr, (unsigned int)replay->nr_lanes };
	lane->replay = replay;
	lane->file = file;
	lane->order = (uint32_t)replay->nr_lanes;
	set_times(lane, times);
	r = dat_lane_open(&lane->dat, file->dat, buffer, i, window, err);
	if (r) {
		free_lane(lane);
		return r;
	}
	replay->lanes[replay->nr_lanes++] = lane;
	return 0;
}

static int add_buffer(struct replay *replay, struct file *file, unsigned int nr,
		      const struct replay_times *times,
		      bool (*wanted)(void *arg, const struct dat_buffer *buffer, int cpu),
		      void *arg, struct err *err)
{
	const struct dat_buffer *buffer = dat_buffer(file->dat, nr);
	int r = 0;

	if (buffer->is_text)
		return 0;
	for (uint32_t i = 0; i < buffer->nr_cpus && !r; i++)
		if (!wanted || wanted(arg, buffer, buffer->cpus[i].cpu))
			r = add_lane(replay, file, nr, i, times, err);
	return r;
}

static void forget_part(struct replay *replay)
{
	part_free(replay->part);
	replay->part = NULL;
	replay->begun = false;
	replay->cut_to = 0;
}

int replay_add(struct replay *replay, struct dat *dat, const struct replay_times *times,
	       bool (*wanted)(void *arg, const struct dat_buffer *buffer, int cpu), void *arg,
	       struct err *err)
{
	static const struct replay_times plain;
	struct file **more = realloc(replay->files, (replay->nr_files + 1) * sizeof(*more));
	struct file *file = calloc(1, sizeof(*file));
	int r = 0;

	forget_part(replay);
	if (more)
		replay->files = more;
	if (!more || !file) {
		free(file);
		return err_set(err, -ENOMEM, "out of memory");
	}
	file->dat = dat;
	file->mixed = dat_info(dat)->mixed;
	file->nr = (unsigned int)replay->nr_files;
	if (getrandom(&file->salt, sizeof(file->salt), GRND_NONBLOCK) != sizeof(file->salt))
		file->salt = 0x9e3779b97f4a7c15;
	file->salt |= 1;
	replay->files[replay->nr_files++] = file;
	for (unsigned int i = 0; dat_buffer(dat, i) && !r; i++)
		r = add_buffer(replay, file, i, times ? times : &plain, wanted, arg, err);
	return r;
}

int replay_seek(struct replay *replay, uint64_t ts, struct err *err)
{
	forget_part(replay);
	replay->has_from = true;
	replay->from = ts;
	return feed_begin(replay, err);
}

void replay_until(struct replay *replay, uint64_t to)
{
	replay->to = to;
}

void replay_use(struct replay *replay, const struct replay_job *job)
{
	replay->job = job;
}

/* What was taken from beyond the end of a part does not come with the next one. */
static void catch_up(struct replay_part *part)
{
	for (size_t i = 0; i < part->nr_lanes; i++) {
		const struct cursor *c = &part->lanes[i].at;
		struct cursor *feed = &c->lane->at;

		while (feed->has && feed->seq < c->seq + c->taken)
			cursor_next(feed);
	}
	part->nr_lanes = 0;
}

int replay_next(struct replay *replay, struct replay_record *out, struct err *err)
{
	int r;

	if (!replay->part) {
		replay->part = part_new(replay);
		if (!replay->part)
			return err_set(err, -ENOMEM, "out of memory");
		part_begin(replay->part);
	}
	while (!part_next(replay->part, out)) {
		catch_up(replay->part);
		part_drop_blocks(replay->part);
		r = feed_cut(replay, replay->job, replay->part, err);
		if (r != 1)
			return r;
		part_begin(replay->part);
	}
	return 1;
}

const struct replay_lane *replay_lane(const struct replay *replay, size_t i)
{
	return i < replay->nr_lanes ? &replay->lanes[i]->pub : NULL;
}

/* Walks a block alone; false: it has no event. Its length is added to *bytes. */
static bool ends_of_block(struct lane *lane, uint64_t number, uint64_t *first, uint64_t *last,
			  uint64_t *bytes)
{
	struct dat_block *block;
	struct cursor c = { .lane = lane, .blocks = &block, .nr_blocks = 1 };
	bool any = false;

	if (dat_lane_fetch(lane->dat, number, &block, NULL) != 1)
		return false;
	for (cursor_resume(&c); c.has; cursor_next(&c)) {
		if (!any)
			*first = c.ts;
		*last = c.ts;
		any = true;
	}
	*bytes += block->len;
	dat_block_drop(block);
	return any;
}

static bool never_later(void *arg, uint64_t time)
{
	(void)arg, (void)time;
	return false;
}

bool replay_lane_ends(struct replay *replay, size_t i, uint64_t *first, uint64_t *last)
{
	struct lane *lane = replay->lanes[i];
	uint64_t n, m, unused, bytes = 0;

	/* The last block that can be read: a file may claim any number. */
	if (dat_lane_seek(lane->dat, never_later, NULL, &m, NULL))
		return false;
	for (n = 0; !ends_of_block(lane, n, first, &unused, &bytes); n++)
		if (n == m || bytes > REPLAY_IDLE_MAX)
			return false;
	while (!ends_of_block(lane, m, &unused, last, &bytes) && m > n && bytes <= REPLAY_IDLE_MAX)
		m--;
	return bytes <= REPLAY_IDLE_MAX;
}

const char *replay_warning(const struct replay *replay, size_t i)
{
	return i < replay->nr_warnings ? replay->warnings[i] : NULL;
}

void replay_lost(const struct replay *replay, uint64_t *count, uint64_t *unknown)
{
	*count = replay->lost;
	*unknown = replay->lost_unknown;
}
