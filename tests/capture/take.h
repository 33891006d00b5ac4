/*
 * A recorder's loop: runs of pages copied by the kernel into a file, and single pages where there are none. All that was taken
 * is looked at afterwards, from the file.
 */
#ifndef TESTS_CAPTURE_TAKE_H
#define TESTS_CAPTURE_TAKE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/stream.h"
#include "decode/page.h"
#include "insist.h"

struct take {
	uint32_t max;		/* pages a run */
	void (*each)(const struct page_event *event, void *ctx);
	void (*page)(const void *page, uint32_t used, void *ctx);	/* may be NULL */
	void *ctx;
	int file;
	uint64_t runs, pages, singles, failed;
	uint64_t events, lost, last_ts;
	bool more;		/* lost_more was told */
};

static inline void take_init(struct take *take, uint32_t max)
{
	*take = (struct take){ .max = max, .file = memfd_create("taken", MFD_CLOEXEC) };
	CHECK(take->file >= 0, "%s", strerror(errno));
}

static inline void take_fini(struct take *take)
{
	close(take->file);
}

/* One page: whole events, in the order of time. Their number. */
static inline uint32_t take_look(struct take *take, const void *page, uint32_t size)
{
	struct page_walk walk;
	struct page_event event;
	uint32_t n = 0;
	int ret;

	CHECK(!page_walk_init(&walk, page, size), "R1: not a page");
	while ((ret = page_walk_next(&walk, &event)) > 0) {
		CHECK(event.ts >= take->last_ts, "R5: time goes back from %llu to %llu", (unsigned long long)take->last_ts,
		      (unsigned long long)event.ts);
		take->last_ts = event.ts;
		if (take->each)
			take->each(&event, take->ctx);
		n++;
	}
	CHECK(!ret, "R1: a page that does not parse");
	if (take->page)
		take->page(page, PAGE_HEAD_SIZE + walk.commit, take->ctx);
	take->events += n;
	return n;
}

/* What was copied of a run that was good. */
static inline void take_copied(struct take *take, const struct stream_run *run, uint32_t size)
{
	char *copy = malloc((size_t)run->n * size);
	uint32_t events = 0;

	CHECK(pread(take->file, copy, (size_t)run->n * size, 0) == (ssize_t)((size_t)run->n * size), "read back");
	for (uint32_t i = 0; i < run->n; i++)
		events += take_look(take, copy + (size_t)i * size, size);
	CHECK(events == run->events, "a run of %u pages has %u events and tells of %u", run->n, events, run->events);
	take->runs++;
	take->pages += run->n;
	free(copy);
}

/* One step: 1, or 0 when there is nothing more; without `open` what there is in an open page stays. */
static inline int take_step(struct take *take, struct stream *stream, bool open)
{
	uint32_t size = stream_page_size(stream);
	struct stream_page info;
	struct stream_run run;
	void *page;
	int ret = stream_run(stream, take->max, &run);

	CHECK(ret >= 0, "run: %s", strerror(-ret));
	if (ret) {
		CHECK(run.n && run.n <= take->max && run.events >= run.n, "a run of %u pages, %u events", run.n, run.events);
		CHECK(pwrite(take->file, run.pages, (size_t)run.n * size, 0) == (ssize_t)((size_t)run.n * size), "%s",
		      strerror(errno));
		if (stream_run_end(stream))
			take_copied(take, &run, size);
		else
			take->failed++;
		return 1;
	}
	if (run.idle && !open)
		return 0;
	page = malloc(size);
	ret = stream_next(stream, page, &info);
	CHECK(ret >= 0, "next: %s", strerror(-ret));
	if (ret) {
		take->lost += info.lost;
		take->more |= info.lost_more;
		CHECK(take_look(take, page, size) == info.events, "events of a page");
		take->singles++;
	}
	free(page);
	return ret;
}

#endif
