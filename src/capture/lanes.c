/*
 * capture/lanes: see lanes.h.
 */
#include "capture/lanes.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static int lane_open(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	struct lane *lane = &reader->lane[n];
	struct ring_source source = stream_lane_source(stream, &reader->set, stream_lane_ring(stream, n));
	struct ring_head head;
	int ret = ring_read_head(&source, &head);

	/* What was refused is told with the own ring, even if all that came through took other ways. */
	if (ret || (!head.made && (n || !head.refused)))
		return ret;
	source.npages = ring_npages(head.npages, source.room);
	lane->consumed_at = offsetof(struct ring_head, consumed);
	lane->records_at = offsetof(struct ring_head, read);
	if (n) {
		/* What is told late has one stream that reads it, the first of that ring. */
		uint32_t of = n == stream_lane_told(stream) ? 0 : stream->cpu;
		uint64_t at = RING_STREAMS_OFFSET + (uint64_t)of * sizeof(struct ring_stream);

		lane->consumed_at = at + offsetof(struct ring_stream, consumed);
		lane->records_at = at + offsetof(struct ring_stream, read);
	}
	ret = cursor_open(&lane->cursor, &source, lane->consumed_at, lane->records_at);
	lane->open = !ret;
	return ret;
}

int stream_lane_open(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	return reader->lane[n].open ? 0 : lane_open(stream, reader, n);
}

int stream_reader_open(const struct stream *stream, struct reader *reader, const struct state_set *set)
{
	void *page;

	memset(reader, 0, sizeof(*reader));
	if (!shape_ok(set))
		return -EBADMSG;
	reader->set = *set;
	reader->until = UINT64_MAX;
	reader->lane = calloc(stream_lanes(stream), sizeof(*reader->lane));
	if (!reader->lane)
		return -ENOMEM;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, stream->rings, (off_t)set->offset);
	reader->wakes = page == MAP_FAILED ? NULL : &((struct set_head *)page)->wakes;
	return 0;
}

void stream_reader_close(const struct stream *stream, struct reader *reader)
{
	for (uint32_t i = 0; reader->lane && i < stream_lanes(stream); i++)
		if (reader->lane[i].open)
			cursor_close(&reader->lane[i].cursor);
	free(reader->lane);
	if (reader->wakes)
		munmap((void *)(uintptr_t)reader->wakes, 4096);
	stream_run_unmap(reader);
	memset(reader, 0, sizeof(*reader));
}

int stream_lane_peek(const struct stream *stream, const struct reader *reader, uint32_t n)
{
	struct lane *lane = &reader->lane[n];
	int ret = stream_lane_open(stream, reader, n);

	if (ret || !lane->open)
		return ret;
	while ((ret = cursor_peek(&lane->cursor)) > 0) {
		const struct page_event *event = &lane->cursor.event;
		uint32_t cpu;

		if (!n)
			return event->ts <= reader->until;
		if (event->len > sizeof(cpu)) {
			memcpy(&cpu, event->data, sizeof(cpu));
			if (cpu == stream->cpu || (cpu >= stream->ncpu && !stream->cpu))
				return event->ts <= reader->until;
		}
		cursor_pass(&lane->cursor);
	}
	return ret;
}

uint64_t stream_slots_taken(const struct stream *stream)
{
	struct overflow_slot slot[64];
	uint64_t sum = 1;

	for (uint32_t from = 0; from < stream->ncpu; from += 64) {
		uint32_t n = stream->ncpu - from < 64 ? stream->ncpu - from : 64;
		off_t at = (off_t)(offsetof(struct rings_head, slot) + from * sizeof(slot[0]));

		if (pread(stream->rings, slot, n * sizeof(slot[0]), at) != (ssize_t)(n * sizeof(slot[0])))
			return 0;
		for (uint32_t i = 0; i < n; i++) {
			/* Its owner may be about to commit. */
			if (slot[i].owner)
				return 0;
			sum += slot[i].taken;
		}
	}
	atomic_thread_fence(memory_order_acquire);
	return sum;
}

/* A lane that was empty when it was looked at may since have got an event that is older than what a lane after it shows: once
 * there is a candidate it stands when a whole round finds none before it (R8). */
int stream_lane_earliest(const struct stream *stream, struct reader *reader, uint32_t *which)
{
	uint64_t taken = stream_slots_taken(stream);
	bool empty = taken && taken == reader->taken;
	uint32_t first = empty ? stream_lane_told(stream) : 1, end = stream_lane_told(stream) + reader->told, candidate;

	*which = 0;
	do {
		candidate = *which;
		for (uint32_t n = first; n < end; n++) {
			int ret = stream_lane_peek(stream, reader, n);

			if (ret < 0)
				return ret;
			if (ret && (!*which ||
				    reader->lane[n].cursor.event.ts < reader->lane[*which].cursor.event.ts))
				*which = n;
		}
	} while (*which != candidate);
	/* What is held back is no emptiness. */
	if (!empty)
		reader->taken = *which || reader->until != UINT64_MAX ? 0 : taken;
	return 0;
}
