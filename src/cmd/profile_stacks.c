/*
 * cmd/profile_stacks: see profile_stacks.h. The picture, where a function with one caller only has
 * it right behind it:
 *
 *	| 
 *	+ innermost (0x1)
 *	    100% (3) time:6 max:3(ts:1.000000) min:1(ts:1.000000) avg:2
 *	     its caller (0x2)
 *	      | 
 *	      + one of the callers' callers (0x3)
 *	      |   67% (2) ...
 *	      | 
 *	      + another (0x4)
 *	          33% (1) ...
 */
#include "cmd/profile_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/tracecmd.h"

void profile_times_add(struct profile_times *times, uint64_t time, uint64_t at)
{
	if (!times->timed || time > times->max) {
		times->max = time;
		times->max_at = at;
	}
	if (!times->timed || time < times->min) {
		times->min = time;
		times->min_at = at;
	}
	times->timed = true;
	times->total += time;
	times->nr++;
}

void profile_times_merge(struct profile_times *to, const struct profile_times *from)
{
	struct profile_times sum = *to;

	if (from->timed && (!to->timed || from->max > to->max)) {
		sum.max = from->max;
		sum.max_at = from->max_at;
	}
	if (from->timed && (!to->timed || from->min < to->min)) {
		sum.min = from->min;
		sum.min_at = from->min_at;
	}
	sum.timed |= from->timed;
	sum.total += from->total;
	sum.nr += from->nr;
	*to = sum;
}

/* The frame of an address among its neighbours, a new one if need be. */
static struct profile_frame *frame_of(struct profile_frame **first, uint64_t addr)
{
	struct profile_frame **at = first;

	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at)
			(*at)->addr = addr;
	}
	return *at;
}

bool profile_stacks_add(struct profile_frame **stacks, const uint64_t *addrs, size_t nr,
			const uint64_t *time, uint64_t at)
{
	struct profile_frame *frame;

	for (size_t i = 0; i < nr; i++) {
		frame = frame_of(stacks, addrs[i]);
		if (!frame)
			return false;
		if (time)
			profile_times_add(&frame->times, *time, at);
		else
			frame->times.nr++;
		stacks = &frame->callers;
	}
	return true;
}

/* Stacks are no deeper than the kernel's records allow: recursion is bounded by them. */
bool profile_stacks_merge(struct profile_frame **to, const struct profile_frame *from)
{
	struct profile_frame *frame;

	for (; from; from = from->next) {
		frame = frame_of(to, from->addr);
		if (!frame)
			return false;
		profile_times_merge(&frame->times, &from->times);
		if (!profile_stacks_merge(&frame->callers, from->callers))
			return false;
	}
	return true;
}

void profile_stacks_free(struct profile_frame *stacks)
{
	struct profile_frame *next;

	for (; stacks; stacks = next) {
		next = stacks->next;
		profile_stacks_free(stacks->callers);
		free(stacks);
	}
}

/* What weighs more comes first: time, else number; of equal ones the lower address. */
static bool before(const struct profile_frame *a, const struct profile_frame *b)
{
	if (a->times.total != b->times.total)
		return a->times.total > b->times.total;
	if (a->times.nr != b->times.nr)
		return a->times.nr > b->times.nr;
	return a->addr < b->addr;
}

void profile_stacks_sort(struct profile_frame **first)
{
	struct profile_frame *sorted = NULL, *frame, **at;

	while ((frame = *first)) {
		*first = frame->next;
		for (at = &sorted; *at && before(*at, frame); at = &(*at)->next)
			;
		frame->next = *at;
		*at = frame;
	}
	*first = sorted;
}

struct picture {
	struct buf *out;
	struct buf indent;
	bool (*name)(void *arg, uint64_t addr, struct buf *out);
	void *arg;
};

static void put_line(struct picture *p, const char *text)
{
	buf_add(p->out, p->indent.data, p->indent.len);
	buf_puts(p->out, text);
}

static void put_name(struct picture *p, uint64_t addr)
{
	if (p->name(p->arg, addr, p->out))
		buf_printf(p->out, " (0x%" PRIx64 ")\n", addr);
	else
		buf_printf(p->out, "0x%" PRIx64 "\n", addr);
}

static void put_extreme(struct picture *p, const char *which, uint64_t time, uint64_t at)
{
	uint64_t us = tracecmd_shown(at, 0);

	buf_printf(p->out, " %s:%" PRIu64 "(ts:%" PRIu64 ".%06" PRIu64 ")", which, time,
		   us / 1000000, us % 1000000);
}

/* Of what it belongs to. */
static uint64_t percent(const struct profile_times *times, const struct profile_times *all)
{
	double share = all->timed && all->total ? (double)times->total / (double)all->total :
						  (double)times->nr / (double)all->nr;

	return (uint64_t)(share * 100 + 0.5);
}

static void put_times(struct picture *p, const struct profile_times *times,
		      const struct profile_times *all)
{
	put_line(p, "   ");
	buf_printf(p->out, "%" PRIu64 "%% (%" PRIu64 ")", percent(times, all), times->nr);
	if (times->timed) {
		buf_printf(p->out, " time:%" PRIu64, times->total);
		put_extreme(p, "max", times->max, times->max_at);
		put_extreme(p, "min", times->min, times->min_at);
		buf_printf(p->out, " avg:%" PRIu64, times->total / times->nr);
	}
	buf_putc(p->out, '\n');
}

static void put_frames(struct picture *p, struct profile_frame **first,
		       const struct profile_times *all);

static void put_frame(struct picture *p, struct profile_frame *frame,
		      const struct profile_times *all)
{
	struct profile_times times = frame->times;

	put_line(p, "+ ");
	put_name(p, frame->addr);
	buf_putc(&p->indent, frame->next ? '|' : ' ');
	put_times(p, &times, all);
	while (frame->callers && !frame->callers->next && frame->callers->times.nr == times.nr) {
		frame = frame->callers;
		put_line(p, "    ");
		put_name(p, frame->addr);
	}
	if (frame->callers)
		put_frames(p, &frame->callers, &times);
	put_line(p, " \n");
}

/* Frames side by side, and the line that ends them. */
static void put_frames(struct picture *p, struct profile_frame **first,
		       const struct profile_times *all)
{
	size_t indent = p->indent.len;

	profile_stacks_sort(first);
	buf_puts(&p->indent, "     ");
	put_line(p, "| \n");
	for (struct profile_frame *f = *first; f; f = f->next) {
		put_frame(p, f, all);
		p->indent.len = indent + 5;
	}
	p->indent.len = indent;
	put_line(p, " \n");
}

void profile_stacks_put(struct profile_frame **stacks, bool (*name)(void *arg, uint64_t addr,
			struct buf *out), void *arg, struct buf *out)
{
	struct picture p = { .out = out, .indent = BUF_INIT, .name = name, .arg = arg };
	struct profile_times all = { 0 };

	if (!*stacks)
		return;
	for (const struct profile_frame *f = *stacks; f; f = f->next)
		profile_times_merge(&all, &f->times);
	buf_puts(&p.indent, "     ");
	put_frames(&p, stacks, &all);
	if (buf_failed(&p.indent))
		out->failed = true;
	buf_fini(&p.indent);
}
