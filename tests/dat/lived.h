/*
 * A recording of known pages into a growing trace file, and the same pages looked for in a file.
 */
#ifndef TESTS_DAT_LIVED_H
#define TESTS_DAT_LIVED_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/block.h"
#include "dat/live.h"
#include "made.h"

#define LIVED_PAGE_MAX 65536u
#define LIVED_LANES 64

struct lived {
	const char *path;
	const char *compression;
	size_t nr_buffers;		/* the top one, and more */
	uint32_t nr_cpus, page_size;
	uint64_t keep;
	size_t fat;			/* bytes of an option, for options that are long */
	int rounds, batch;		/* of pages for each CPU that has some */
	/* What came of it, for others to see. */
	int *accepted;			/* pages of each lane; may be NULL */
	int *published;
};

static const struct decode_abi lived_abi = {
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = sizeof(long),
};

static inline size_t lived_lane(const struct lived *l, size_t buffer, uint32_t cpu)
{
	return buffer * l->nr_cpus + cpu;
}

/* CPU 1 has nothing, and of the second buffer nobody has. */
static inline bool lived_has(size_t buffer, uint32_t cpu)
{
	return cpu != 1 && buffer != 1;
}

/* So many pages does a batch have: not all CPUs are equally busy. */
static inline int lived_batch(const struct lived *l, size_t buffer, uint32_t cpu)
{
	return lived_has(buffer, cpu) ? l->batch + (int)cpu : 0;
}

static inline void lived_page(const struct lived *l, uint8_t *page, size_t buffer, uint32_t cpu, int i, int count)
{
	made_page(page, l->page_size, &lived_abi, 1000000000ull + (uint64_t)i * 100000 + cpu,
		  (int)buffer * 1000000 + (int)cpu * 100000 + i * 100, count);
}

static inline void lived_how(const struct lived *l, struct dat_write_buffer *buffers, struct dat_live_how *how)
{
	static const char *const names[] = { "", "idle", "other", "more" };

	for (size_t i = 0; i < l->nr_buffers; i++)
		buffers[i] = (struct dat_write_buffer){ .name = names[i], .clock = "mono" };
	*how = (struct dat_live_how){
		.page_size = l->page_size, .nr_cpus = l->nr_cpus, .compression = l->compression,
		.buffers = buffers, .nr_buffers = l->nr_buffers, .keep = l->keep,
	};
}

static inline struct dat_live *lived_open(const struct lived *l)
{
	struct dat_write_buffer buffers[4];
	struct dat_live_how how;
	struct err err = ERR_INIT;
	struct dat_live *live;

	lived_how(l, buffers, &how);
	CHECK(!dat_live_open(&live, l->path, &how, &err), "%s", err.text);
	return live;
}

static inline int lived_section(struct dat_live *live, enum dat_id id, struct buf *payload)
{
	int r = dat_live_section(live, id, payload->data, payload->len);

	buf_reset(payload);
	return r;
}

static inline int lived_meta(const struct lived *l, struct dat_live *live)
{
	struct buf buf = BUF_INIT;
	uint64_t traceid = 0x1122334455667788;
	int r;

	made_headers(&buf, &lived_abi, l->page_size);
	r = lived_section(live, DAT_HEADER_INFO, &buf);
	made_word(&buf, &lived_abi, 4, 0);
	if (!r)
		r = lived_section(live, DAT_FTRACE_EVENTS, &buf);
	made_events(&buf, &lived_abi);
	if (!r)
		r = lived_section(live, DAT_EVENT_FORMATS, &buf);
	if (!r)
		r = dat_live_option(live, DAT_TRACEID, &traceid, 8);
	if (!r)
		r = dat_live_option(live, DAT_CLOCK, "local [mono]", 13);
	while (buf.len < l->fat)
		buf_puts(&buf, "a version, and more of it; ");
	if (!r && l->fat)
		r = dat_live_option(live, DAT_VERSION, buf.data, buf.len + 1);
	buf_fini(&buf);
	return r;
}

/* What becomes known later, another each time. */
static inline int lived_more(struct dat_live *live, int round)
{
	struct buf buf = BUF_INIT;
	int r;

	buf_printf(&buf, "1 init\n2 round%d\n", round);
	r = lived_section(live, DAT_CMDLINES, &buf);
	buf_printf(&buf, "ffff0000 T first\nffff1000 t round%d\n", round);
	if (!r)
		r = lived_section(live, DAT_KALLSYMS, &buf);
	dat_live_forget(live, DAT_UNAME);
	buf_printf(&buf, "round%d", round);
	if (!r)
		r = dat_live_option(live, DAT_UNAME, buf.data, buf.len + 1);
	if (!r)
		r = dat_live_publish(live);
	buf_fini(&buf);
	return r;
}

/* One batch of one CPU, its pages here and there in memory. */
static inline int lived_write(const struct lived *l, struct dat_live *live, size_t buffer, uint32_t cpu, int first,
			      int n)
{
	static uint8_t pages[16][LIVED_PAGE_MAX];
	struct iovec parts[16];

	CHECK(n <= 16, "a batch of %d", n);
	for (int i = 0; i < n; i++) {
		lived_page(l, pages[i], buffer, cpu, first + i, 100);
		parts[i] = (struct iovec){ pages[i], l->page_size };
	}
	return dat_live_write(live, buffer, cpu, parts, n);
}

static inline int lived_round(const struct lived *l, struct dat_live *live, int round)
{
	int r = 0;

	for (size_t b = 0; !r && b < l->nr_buffers; b++)
		for (uint32_t cpu = 0; !r && cpu < l->nr_cpus; cpu++) {
			int n = lived_batch(l, b, cpu);

			if (!n)
				continue;
			r = lived_write(l, live, b, cpu, round * n, n);
			if (!r)
				r = dat_live_accept(live, b, cpu);
			if (!r && l->accepted)
				l->accepted[lived_lane(l, b, cpu)] = (round + 1) * n;
		}
	return r;
}

/* All of it, up to the end or the first failure. */
static inline int lived_record(const struct lived *l, struct err *err)
{
	struct dat_live *live = lived_open(l);
	int r = lived_meta(l, live), end;

	if (!r)
		r = dat_live_publish(live);
	if (!r && l->published)
		*l->published = 1;
	for (int i = 0; !r && i < l->rounds; i++) {
		r = lived_round(l, live, i);
		if (!r && i % 2 == 0)
			r = lived_more(live, i);
	}
	end = dat_live_finish(live, err);
	dat_live_close(live);
	return r ? r : end;
}

/* How many pages of a CPU there are, each as it was written; the first of them is `*first`. */
static inline int lived_pages(const struct lived *l, const struct dat *dat, size_t index, uint32_t i, int *first)
{
	const struct dat_buffer *buffer = dat_buffer(dat, index);
	uint32_t cpu = (uint32_t)buffer->cpus[i].cpu;
	static uint8_t page[LIVED_PAGE_MAX];
	struct err err = ERR_INIT;
	struct dat_block *block;
	struct dat_lane *lane;
	int r, n = 0;

	CHECK(buffer->cpus[i].offset % l->page_size == 0, "data at %" PRIu64, buffer->cpus[i].offset);
	CHECK(!dat_lane_open(&lane, dat, buffer, i, 65536, &err), "%s", err.text);
	for (uint64_t b = 0; (r = dat_lane_fetch(lane, b, &block, &err)) == 1; b++) {
		for (uint32_t at = 0; at < block->len; at += l->page_size, n++) {
			uint64_t ts = decode_abi_load(block->data + at, 8, lived_abi.big_endian) - 1000000000;

			if (!n)
				*first = (int)(ts / 100000);
			lived_page(l, page, index, cpu, *first + n, 100);
			CHECK(!memcmp(block->data + at, page, l->page_size), "buffer %zu, CPU %u, page %d", index, cpu,
			      *first + n);
		}
		dat_block_drop(block);
	}
	CHECK(!r, "%s", err.text);
	dat_lane_close(lane);
	return n;
}

/* Opens the file and counts the pages of each lane into `counts`, which all are what was written. */
static inline struct dat *lived_read(const struct lived *l, int counts[LIVED_LANES], int firsts[LIVED_LANES])
{
	const struct dat_buffer *buffer;
	struct err err = ERR_INIT;
	struct dat *dat;
	size_t b;

	memset(counts, 0, LIVED_LANES * sizeof(*counts));
	CHECK(!dat_open(&dat, l->path, &err), "%s", err.text);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	CHECK(dat_info(dat)->nr_cpus == l->nr_cpus && dat_info(dat)->page_size == l->page_size &&
	      dat_info(dat)->traceid == 0x1122334455667788 && !strcmp(dat_info(dat)->clock, "mono"),
	      "not the same machine");
	CHECK(dat_format(dat, MADE_ID), "the event is not known");
	for (b = 0; (buffer = dat_buffer(dat, b)); b++)
		for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
			size_t lane = lived_lane(l, b, (uint32_t)buffer->cpus[i].cpu);

			counts[lane] = lived_pages(l, dat, b, i, &firsts[lane]);
		}
	CHECK(b == l->nr_buffers, "%zu buffers", b);
	return dat;
}

#endif
