/*
 * dat/live_front: what a growing file tells, and how that changes. See live_file.h.
 *
 * Sections and options are written one behind the other. What they replace stays as it is, for readers that have the
 * file open, until the front is full; then it is written over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/live_file.h"

/* In which order options tell of sections: as stock writers do. */
static const enum dat_id order[] = {
	DAT_HEADER_INFO, DAT_FTRACE_EVENTS, DAT_EVENT_FORMATS, DAT_KALLSYMS, DAT_PRINTK, DAT_MODULES,
	DAT_BTF, DAT_CMDLINES,
};

static int by_place(const void *a, const void *b)
{
	const struct live_part *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* All that is not to be written over, by place. */
static size_t parts_in_force(const struct live_file *f, struct live_part *out)
{
	size_t n = 0;

	for (int id = 0; id < DAT_NR_IDS; id++) {
		if (f->parts[id].len)
			out[n++] = f->parts[id];
		if (f->told[id].len && f->told[id].at != f->parts[id].at)
			out[n++] = f->told[id];
	}
	if (f->options.len)
		out[n++] = f->options;
	qsort(out, n, sizeof(*out), by_place);
	return n;
}

/* What is left behind a section has room for the head of another, or is nothing. */
static bool fits(uint64_t from, uint64_t to, uint64_t len)
{
	return to >= from && (to - from == len || (to - from > len && to - from - len >= SEVEN_HEAD));
}

/* Where a section in the gap has to end. */
static uint64_t end_of(const struct live_file *f, uint64_t gap_end)
{
	return f->data && gap_end == f->data ? gap_end - f->ballast : gap_end;
}

/* The first place between what is in force that has room. */
static int find_gap(struct live_file *f, uint64_t len)
{
	struct live_part parts[2 * DAT_NR_IDS + 1];
	size_t n = parts_in_force(f, parts);
	uint64_t from = f->front;

	for (size_t i = 0; i <= n; i++) {
		uint64_t to = i < n ? parts[i].at : f->data;

		if (fits(from, end_of(f, to), len)) {
			f->gap = from;
			f->gap_end = to;
			return 0;
		}
		if (i < n)
			from = parts[i].at + parts[i].len;
	}
	return -EFBIG;
}

int live_put_unused(const struct live_file *f, uint64_t from, uint64_t to)
{
	uint8_t head[SEVEN_HEAD];

	if (from == to)
		return 0;
	seven_head(head, DAT_DONE, false, f->unused, to - from - SEVEN_HEAD, LIVE_BIG);
	return live_put(f, head, sizeof(head), from);
}

int live_room(struct live_file *f, uint64_t len, uint64_t *at)
{
	int r = 0;

	if (f->data && !fits(f->gap, end_of(f, f->gap_end), len))
		r = find_gap(f, len);
	if (r)
		return r;
	*at = f->gap;
	if (f->data)
		r = live_put_unused(f, f->gap + len, f->gap_end);
	if (!r)
		f->gap += len;
	return r;
}

int live_section(struct live_file *f, enum dat_id id, struct iovec *body, int n)
{
	uint8_t head[SEVEN_HEAD];
	struct iovec all[4] = { { head, sizeof(head) } };
	uint64_t len = 0, at;
	int r;

	for (int i = 0; i < n; i++) {
		all[i + 1] = body[i];
		len += body[i].iov_len;
	}
	r = live_room(f, SEVEN_HEAD + len, &at);
	if (r)
		return r;
	seven_head(head, id, f->packed, f->names[id], len, LIVE_BIG);
	r = live_put_all(f, all, n + 1, at);
	if (!r)
		f->parts[id] = (struct live_part){ at, SEVEN_HEAD + len };
	return r;
}

static void add_rows(struct live_file *f, struct buf *out, struct live_lane *lanes, bool all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nr_cpus; i++)
		n += all || lanes[i].size;
	seven_word(out, 4, n, LIVE_BIG);
	for (uint32_t i = 0; i < f->nr_cpus; i++) {
		lanes[i].row = 0;
		if (!all && !lanes[i].size)
			continue;
		seven_word(out, 4, i, LIVE_BIG);
		lanes[i].row = out->len;
		seven_word(out, 8, lanes[i].offset, LIVE_BIG);
		seven_word(out, 8, lanes[i].size, LIVE_BIG);
	}
}

static void add_buffer(struct live_file *f, struct buf *out, size_t i, bool all)
{
	struct live_buffer *buffer = &f->buffers[i];
	size_t from;

	seven_option(out, DAT_BUFFER, NULL, 0, LIVE_BIG);
	from = out->len;
	buffer->told = from;
	seven_word(out, 8, buffer->section, LIVE_BIG);
	buf_add(out, buffer->name, strlen(buffer->name) + 1);
	buf_add(out, buffer->clock, strlen(buffer->clock) + 1);
	seven_word(out, 4, buffer->page_size, LIVE_BIG);
	add_rows(f, out, &f->lanes[i * f->nr_cpus], all);
	if (!buf_failed(out))
		dat_store(out->data + from - 4, 4, out->len - from, LIVE_BIG);
}

int live_options(struct live_file *f, struct buf *out, bool all)
{
	uint8_t head[SEVEN_HEAD] = { 0 }, word[8];

	buf_reset(out);
	buf_add(out, head, sizeof(head));
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (!f->parts[order[i]].len)
			continue;
		dat_store(word, 8, f->parts[order[i]].at, LIVE_BIG);
		seven_option(out, order[i], word, 8, LIVE_BIG);
	}
	if (f->more.len)
		buf_add(out, f->more.data, f->more.len);
	dat_store(word, 4, f->nr_cpus, LIVE_BIG);
	seven_option(out, DAT_CPUCOUNT, word, 4, LIVE_BIG);
	for (size_t i = 0; i < f->nr_buffers; i++)
		add_buffer(f, out, i, all);
	dat_store(word, 8, 0, LIVE_BIG);
	seven_option(out, DAT_DONE, word, 8, LIVE_BIG);
	if (buf_failed(out) || buf_failed(&f->more))
		return -ENOMEM;
	seven_head(head, DAT_DONE, false, f->names[DAT_DONE], out->len - SEVEN_HEAD, LIVE_BIG);
	memcpy(out->data, head, sizeof(head));
	return 0;
}

/* From here on the options at `at` count. */
int live_turn(struct live_file *f, uint64_t at)
{
	return live_put_word(f, at, f->link);
}

int live_tell_at(struct live_file *f, uint64_t at, const struct buf *options)
{
	int r = live_put(f, options->data, options->len, at);

	if (!r)
		r = live_turn(f, at);
	if (r)
		return r;
	f->options = (struct live_part){ at, options->len };
	memcpy(f->told, f->parts, sizeof(f->told));
	return 0;
}

int live_tell(struct live_file *f)
{
	struct buf options = BUF_INIT;
	uint64_t at;
	int r = live_options(f, &options, true);

	if (!r)
		r = live_room(f, options.len, &at);
	if (!r)
		r = live_tell_at(f, at, &options);
	buf_fini(&options);
	return r;
}

int live_tell_lane(const struct live_file *f, const struct live_lane *lane)
{
	uint64_t row[2] = { lane->offset, lane->size };

	return lane->row ? live_put(f, row, sizeof(row), f->options.at + lane->row) : 0;
}
