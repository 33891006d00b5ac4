/*
 * capture/lanes: see lanes.h.
 */
#include "capture/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool shape_ok(const struct state_set *set)
{
	uint32_t size = set->page_size;

	return set->offset && size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && !(size & (size - 1)) &&
	       set->npages >= RING_NPAGES_MIN && set->npages <= RING_NPAGES_MAX;
}

struct ring_source stream_lane_source(const struct stream *stream, const struct state_set *set, uint32_t ring)
{
	return (struct ring_source){
		.fd = stream->rings,
		.ncpu = stream->ncpu,
		.offset = set_ring_offset(set->offset, ring, stream->ncpu, set->npages, set->page_size),
		.npages = set->npages,
		.page_size = set->page_size,
		.room = set->npages,
	};
}

/* A ring without memory has no events: its lane opens when it gets some. */
static int lane_open(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	struct lane *lane = &reader->lane[n];
	struct ring_source source = stream_lane_source(stream, &reader->set, n ? stream->ncpu + n - 1 : stream->cpu);
	struct ring_head head;
	int ret = ring_read_head(&source, &head);

	/* What was refused is told with the own ring, even if all that came through took other ways. */
	if (ret || (!head.made && (n || !head.refused)))
		return ret;
	source.npages = ring_npages(head.npages, source.room);
	lane->consumed_at = offsetof(struct ring_head, consumed);
	lane->records_at = offsetof(struct ring_head, read);
	if (n) {
		uint64_t at = RING_STREAMS_OFFSET + (uint64_t)stream->cpu * sizeof(struct ring_stream);

		lane->consumed_at = at + offsetof(struct ring_stream, consumed);
		lane->records_at = at + offsetof(struct ring_stream, read);
	}
	ret = cursor_open(&lane->cursor, &source, lane->consumed_at, lane->records_at);
	lane->open = !ret;
	return ret;
}

int stream_reader_open(const struct stream *stream, struct reader *reader, const struct state_set *set)
{
	void *page;

	memset(reader, 0, sizeof(*reader));
	if (!shape_ok(set))
		return -EBADMSG;
	reader->set = *set;
	reader->lane = calloc(1 + stream->ncpu, sizeof(*reader->lane));
	if (!reader->lane)
		return -ENOMEM;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, stream->rings, (off_t)set->offset);
	reader->wakes = page == MAP_FAILED ? NULL : &((struct set_head *)page)->wakes;
	return 0;
}

void stream_reader_close(const struct stream *stream, struct reader *reader)
{
	for (uint32_t i = 0; reader->lane && i < 1 + stream->ncpu; i++)
		if (reader->lane[i].open)
			cursor_close(&reader->lane[i].cursor);
	free(reader->lane);
	if (reader->wakes)
		munmap((void *)(uintptr_t)reader->wakes, 4096);
	memset(reader, 0, sizeof(*reader));
}

int stream_lane_peek(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	struct lane *lane = &reader->lane[n];
	int ret;

	if (!lane->open) {
		ret = lane_open(stream, reader, n);
		if (ret || !lane->open)
			return ret;
	}
	while ((ret = cursor_peek(&lane->cursor)) > 0) {
		const struct page_event *event = &lane->cursor.event;
		uint32_t cpu;

		if (!n)
			return 1;
		if (event->len > sizeof(cpu)) {
			memcpy(&cpu, event->data, sizeof(cpu));
			if (cpu == stream->cpu || (cpu >= stream->ncpu && !stream->cpu))
				return 1;
		}
		cursor_pass(&lane->cursor);
	}
	return ret;
}
