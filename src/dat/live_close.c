/*
 * dat/live_close: cuts the holes out of a growing file when nothing is added any more. See live_file.h.
 *
 * The options go behind all data first. Then sections come together, with room for the options behind them, and the
 * holes go, in one of two ways.
 *
 * A file system that can cut pieces out of a file moves all that lies behind them, and nothing is copied. That and what
 * the options tell have to change in one step. So the options are behind the data, at X, and those that will be right
 * lie exactly as far behind them as the next hole is long: cutting it out brings them to X, where the link leads.
 *
 *	| ... data ... hole ... data | options | ... | next options
 *	                             X <---- hole ---->
 *	| ... data data              | next options
 *
 * Elsewhere a CPU's data is copied to where it belongs, if it has room there beside itself, and then its row changes.
 *
 * At last the options go to their room in front. Whatever is under way, the file is whole: whoever finds it so can
 * begin here again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/live_file.h"

/* What must not be lost: [from, to). */
struct range {
	uint64_t from, to;
};

struct closing {
	struct live_file *f;
	struct buf options;		/* as they are to be in the end */
	uint64_t room;			/* for them, behind the sections */
	struct range *ranges;		/* all that stays, by place: the first one has the sections */
	size_t nr_ranges;
};

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* The sections by place. */
static size_t find_sections(const struct live_file *f, struct range *out)
{
	size_t n = 0;

	for (int id = 0; id < DAT_NR_IDS; id++)
		if (f->parts[id].len)
			out[n++] = (struct range){ f->parts[id].at, f->parts[id].at + f->parts[id].len };
	qsort(out, n, sizeof(*out), by_place);
	return n;
}

static uint64_t first_section(const struct closing *c)
{
	struct range parts[DAT_NR_IDS];

	return find_sections(c->f, parts) ? parts[0].from : c->room;
}

/* Behind the options in front, with room for the head of an unused section. */
static uint64_t end_of_front(const struct closing *c)
{
	return c->room + c->options.len + SEVEN_HEAD;
}

static int find_ranges(struct closing *c)
{
	const struct live_file *f = c->f;
	size_t n = 0;

	free(c->ranges);
	c->ranges = calloc(f->nr_buffers + live_nr_lanes(f) + 1, sizeof(*c->ranges));
	if (!c->ranges)
		return -ENOMEM;
	c->ranges[n++] = (struct range){ first_section(c), end_of_front(c) };
	for (size_t i = 0; i < f->nr_buffers; i++)
		c->ranges[n++] = (struct range){ f->buffers[i].section, f->buffers[i].section + SEVEN_HEAD };
	for (size_t i = 0; i < live_nr_lanes(f); i++)
		if (f->lanes[i].size)
			c->ranges[n++] = (struct range){ f->lanes[i].offset, live_end(f, &f->lanes[i]) };
	qsort(c->ranges, n, sizeof(*c->ranges), by_place);
	c->nr_ranges = n;
	return 0;
}

/* Where the file is to end. A buffer without data has more than its head: readers want that. */
static uint64_t end_of_data(const struct live_file *f)
{
	uint64_t end = f->buffers[f->nr_buffers - 1].section + f->step;

	for (size_t i = 0; i < live_nr_lanes(f); i++)
		if (f->lanes[i].size && live_end(f, &f->lanes[i]) > end)
			end = live_end(f, &f->lanes[i]);
	return end;
}

/* Are the sections together, at a multiple of steps, with room behind them? */
static bool is_settled(struct closing *c)
{
	const struct live_file *f = c->f;
	struct range parts[DAT_NR_IDS];
	size_t n = find_sections(f, parts);

	for (size_t i = 1; i < n; i++)
		if (parts[i].from != parts[i - 1].to)
			return false;
	c->room = n ? parts[n - 1].to : f->front;
	return (!n || (parts[0].from - f->front) % f->step == 0) && end_of_front(c) <= f->data;
}

/* The lowest place for all sections and options together. */
static int find_place(const struct closing *c, uint64_t len, uint64_t *at)
{
	const struct live_file *f = c->f;
	struct range parts[DAT_NR_IDS];
	size_t n = find_sections(f, parts);

	*at = f->front;
	for (size_t i = 0; i <= n; i++) {
		uint64_t to = i < n ? parts[i].from : f->data;

		if (*at + len + SEVEN_HEAD <= to)
			return 0;
		if (i < n)
			*at = f->front + live_up(parts[i].to - f->front, f->step);
	}
	return -ENOSPC;
}

/*
 * Readers walk along the sections. Where that would lead them through what is about to change, a section ends behind
 * the file, and so does the walk.
 */
static int put_end(const struct closing *c, uint64_t at)
{
	return live_put_unused(c->f, at, 2 * (end_of_data(c->f) + ((uint64_t)1 << 42)));
}

/* Behind the sections that stand at the very beginning. */
static uint64_t first_gap(const struct closing *c)
{
	struct range parts[DAT_NR_IDS];
	size_t n = find_sections(c->f, parts);
	uint64_t at = c->f->front;

	for (size_t i = 0; i < n && parts[i].from == at; i++)
		at = parts[i].to;
	return at;
}

/* Takes the room for the options. */
static int put_room(struct closing *c)
{
	int r = put_end(c, c->room + c->options.len);

	return r ? r : live_put(c->f, c->options.data, c->options.len, c->room);
}

/* Sections once more, one behind the other, the first one at last. They are told with the next options. */
static int settle(struct closing *c)
{
	struct live_file *f = c->f;
	uint64_t len = 0, at;
	int r;

	for (int id = 0; id < DAT_NR_IDS; id++)
		len += f->parts[id].len;
	r = find_place(c, len + c->options.len, &at);
	/* Where they are is as good. */
	if (is_settled(c) && (r || at >= first_section(c)))
		return 0;
	c->room = at + len;
	if (!r)
		r = put_room(c);
	for (int id = DAT_NR_IDS - 1; !r && id >= 0; id--) {
		struct live_part *part = &f->parts[id];

		if (!part->len)
			continue;
		len -= part->len;
		r = live_copy(f, part->at, at + len, part->len);
		part->at = at + len;
	}
	return r;
}

/* The options go behind all data, and what is in front is free. */
static int tell_behind(struct closing *c)
{
	struct live_file *f = c->f;
	int r = live_options(f, &c->options, false);

	if (!r && f->options.at < f->data)
		r = live_tell_at(f, end_of_data(f), &c->options);
	if (r || is_settled(c))
		return r;
	r = put_end(c, first_gap(c));
	if (!r)
		r = settle(c);
	if (!r)
		r = live_options(f, &c->options, false);
	return r ? r : live_tell_at(f, f->options.at + f->options.len, &c->options);
}

/* Nobody is to walk where something is about to change. */
static int stop_walks(struct closing *c)
{
	int r = put_room(c);

	return !r && first_section(c) > c->f->front ? put_end(c, c->f->front) : r;
}

static void shift(uint64_t *at, uint64_t from, uint64_t by)
{
	if (*at >= from)
		*at += by;
}

/* Where everything behind a hole is when it is cut out; or was: `by` may be less than 0. */
static void move(struct closing *c, uint64_t from, uint64_t by)
{
	struct live_file *f = c->f;

	for (int id = 0; id < DAT_NR_IDS; id++)
		shift(&f->parts[id].at, from, by);
	for (size_t i = 0; i < f->nr_buffers; i++)
		shift(&f->buffers[i].section, from, by);
	for (size_t i = 0; i < live_nr_lanes(f); i++)
		shift(&f->lanes[i].offset, from, by);
	for (size_t i = 0; i < c->nr_ranges; i++) {
		shift(&c->ranges[i].from, from, by);
		shift(&c->ranges[i].to, from + 1, by);
	}
	shift(&c->room, from, by);
	shift(&f->data, from, by);
}

static int cut_out(struct closing *c, uint64_t from, uint64_t len)
{
	struct live_file *f = c->f;
	int r;

	move(c, from + len, -len);
	r = live_options(f, &c->options, false);
	if (!r)
		r = live_put(f, c->options.data, c->options.len, f->options.at + len);
	if (!r && fallocate(f->fd, FALLOC_FL_COLLAPSE_RANGE, (off_t)from, (off_t)len))
		r = -errno;
	if (r)
		move(c, from, len);
	else
		memcpy(f->told, f->parts, sizeof(f->told));
	return r;
}

/* The hole between two ranges, all of it or in pieces that the file has room for. */
static int cut_hole(struct closing *c, size_t i)
{
	struct live_file *f = c->f;
	uint64_t from = live_up(i ? c->ranges[i - 1].to : f->front, f->block), to, len, most = UINT64_MAX;
	/* The next options must not lie on those in force. */
	uint64_t least = f->options.len > c->options.len ? f->options.len : c->options.len;
	int r;

	for (;;) {
		to = live_down(c->ranges[i].from, f->block);
		len = to > from ? to - from : 0;
		len = live_down(len < most ? len : most, f->step);
		if (!len || len < least)
			return 0;
		r = cut_out(c, to - len, len);
		if (r && r != -EFBIG)
			return r;
		most = r ? len / 2 : most;
	}
}

static int cut_holes(struct closing *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->nr_ranges; i++)
		r = cut_hole(c, i);
	return r;
}

/* The options to where they stay. */
static int tell_in_front(struct closing *c)
{
	int r = live_options(c->f, &c->options, false);

	return r ? r : live_tell_at(c->f, c->room, &c->options);
}

/* A buffer's head to `to`. */
static int copy_head(struct live_file *f, struct live_buffer *buffer, uint64_t to)
{
	int r;

	if (to >= buffer->section)
		return 0;
	r = live_copy(f, buffer->section, to, SEVEN_HEAD);
	if (!r)
		r = live_put_word(f, to, f->options.at + buffer->told);
	if (!r)
		buffer->section = to;
	return r;
}

/* A CPU's data to `to`. Where it overlaps with itself, or there is no room for a copy, it stays. */
static int copy_lane(struct live_file *f, struct live_lane *lane, uint64_t to)
{
	uint64_t old = lane->offset, len = live_end(f, lane) - old;
	int r;

	if (to + len > old)
		return 0;
	r = live_copy(f, old, to, len);
	if (r) {
		live_punch(f, to, to + len);
		return r == -ENOSPC || r == -EDQUOT ? 0 : r;
	}
	lane->offset = to;
	r = live_tell_lane(f, lane);
	if (!r)
		live_punch(f, old, old + len);
	return r;
}

static int copy_down(struct closing *c)
{
	struct live_file *f = c->f;
	uint64_t to = live_up(end_of_front(c), f->step);
	int r = 0;

	for (size_t i = 0; !r && i < f->nr_buffers; i++) {
		r = copy_head(f, &f->buffers[i], to);
		to = f->buffers[i].section + f->step;
		for (uint32_t cpu = 0; !r && cpu < f->nr_cpus; cpu++) {
			struct live_lane *lane = &f->lanes[i * f->nr_cpus + cpu];

			if (!lane->size)
				continue;
			r = copy_lane(f, lane, to);
			to = live_up(live_end(f, lane), f->step);
		}
	}
	return r;
}

/* What is left of holes costs nothing. */
static int cut_end(struct closing *c)
{
	struct live_file *f = c->f;
	int r = find_ranges(c);

	for (size_t i = 0; !r && i < c->nr_ranges; i++)
		live_punch(f, i ? c->ranges[i - 1].to : f->front + SEVEN_HEAD, c->ranges[i].from);
	if (!r && ftruncate(f->fd, (off_t)end_of_data(f)))
		r = -errno;
	return r;
}

/* Sections reach up to the next ones again: from the last to the first, as readers come from the first. */
static int link_sections(struct closing *c)
{
	struct live_file *f = c->f;
	uint64_t next = end_of_data(f);
	int r = 0;

	for (size_t i = f->nr_buffers; !r && i; i--) {
		uint64_t at = f->buffers[i - 1].section;

		r = live_put_word(f, next - at - SEVEN_HEAD, at + SEVEN_SIZE_AT);
		next = at;
	}
	if (!r)
		r = live_put_unused(f, c->room + c->options.len, next);
	if (!r)
		r = live_put_unused(f, f->front, first_section(c));
	return r;
}

static int put_closed(const struct live_file *f)
{
	static const uint8_t closed[SEVEN_GROWS_SIZE];

	return live_put(f, closed, sizeof(closed), f->front - SEVEN_GROWS_SIZE);
}

static int close_up(struct closing *c)
{
	bool in_place;
	int r = tell_behind(c);

	if (!r)
		r = stop_walks(c);
	if (!r)
		r = find_ranges(c);
	if (r)
		return r;
	in_place = !cut_holes(c);
	/* Now that nobody looks for them where they were, sections may have a better place. */
	if (!in_place)
		r = settle(c);
	if (!r)
		r = tell_in_front(c);
	if (!r && !in_place)
		r = copy_down(c);
	if (!r)
		r = cut_end(c);
	if (!r)
		r = link_sections(c);
	return r ? r : put_closed(c->f);
}

int live_close_up(struct live_file *f)
{
	struct closing c = { .f = f, .options = BUF_INIT };
	int r;

	if (!f->options.len)
		return 0;
	/* What was not told is not there. */
	memcpy(f->parts, f->told, sizeof(f->parts));
	r = close_up(&c);
	free(c.ranges);
	buf_fini(&c.options);
	return r;
}
