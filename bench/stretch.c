/*
 * A trace file made as long as wanted: the pages of a short one again and again, each time later.
 *
 *	stretch FILE OUT TIMES
 *
 * So a bench has millions of events of a real kernel, of all the kinds that the short file has. OUT
 * is of version 6 and not packed, which every reader opens.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dat/block.h"
#include "dat/copy.h"

#define GAP 1000000	/* nanoseconds between two rounds */

static struct err err = ERR_INIT;

static void need(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "stretch: %s\n", err.text);
	exit(1);
}

/* All pages of one CPU. */
static uint8_t *load(struct dat *dat, const struct dat_buffer *buffer, uint32_t i, size_t *len)
{
	struct dat_lane *lane;
	struct dat_block *block;
	uint8_t *pages = NULL;
	int r;

	*len = 0;
	need(dat_lane_open(&lane, dat, buffer, i, 1 << 20, &err));
	for (uint64_t n = 0; (r = dat_lane_fetch(lane, n, &block, &err)) == 1; n++) {
		pages = realloc(pages, *len + block->len);
		if (!pages)
			exit(1);
		memcpy(pages + *len, block->data, block->len);
		*len += block->len;
		dat_block_drop(block);
	}
	need(r);
	dat_lane_close(lane);
	return pages;
}

/* Moves the times of pages: only pages have whole ones, events have what passed since. */
static void later(uint8_t *pages, size_t len, uint32_t page_size, uint64_t by)
{
	uint64_t ts;

	for (size_t at = 0; at + page_size <= len; at += page_size) {
		memcpy(&ts, pages + at, sizeof(ts));
		ts += by;
		memcpy(pages + at, &ts, sizeof(ts));
	}
}

static uint64_t span(uint8_t *const *pages, const size_t *len, uint32_t nr, uint32_t page_size)
{
	uint64_t first = UINT64_MAX, last = 0, ts;

	for (uint32_t i = 0; i < nr; i++)
		for (size_t at = 0; at + page_size <= len[i]; at += page_size) {
			memcpy(&ts, pages[i] + at, sizeof(ts));
			first = ts < first ? ts : first;
			last = ts > last ? ts : last;
		}
	/* The last page's events come after its own time. */
	return last - first + (last - first) / 10 + GAP;
}

int main(int argc, char **argv)
{
	const struct dat_buffer *buffer;
	struct dat_copy copy;
	struct dat_write *out;
	struct dat *dat;
	uint32_t left_out = 0;
	long times = argc == 4 ? atol(argv[3]) : 0;
	uint8_t *pages[64];
	size_t len[64];
	uint64_t by;

	if (times < 1) {
		fprintf(stderr, "usage: stretch FILE OUT TIMES\n");
		return 2;
	}
	need(dat_open(&dat, argv[1], &err));
	buffer = dat_buffer(dat, 0);
	need(dat_copy_init(&copy, dat, &err));
	copy.how.version = 6;
	copy.how.compression = "none";
	copy.how.nr_buffers = 1;
	need(dat_write_open(&out, argv[2], &copy.how, &err));
	need(dat_copy_sections(dat, out, &left_out, &err));
	need(dat_copy_options(dat, out));
	for (uint32_t i = 0; i < buffer->nr_cpus && i < 64; i++)
		pages[i] = load(dat, buffer, i, &len[i]);
	by = span(pages, len, buffer->nr_cpus, buffer->page_size);
	need(dat_write_begin(out, 0));
	for (uint32_t i = 0; i < buffer->nr_cpus && i < 64; i++) {
		need(dat_write_cpu(out, (uint32_t)buffer->cpus[i].cpu));
		for (long n = 0; n < times; n++) {
			if (dat_write_pages(out, pages[i], len[i]))
				need(dat_write_failed(out, &err));
			later(pages[i], len[i], buffer->page_size, by);
		}
		free(pages[i]);
	}
	need(dat_write_end(out));
	need(dat_write_finish(out, &err));
	dat_write_close(out);
	dat_copy_fini(&copy);
	dat_close(dat);
	return 0;
}
