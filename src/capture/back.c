/*
 * capture/back: memory for a ring before anybody writes to it. See stream.h.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/lanes.h"
#include "capture/stream.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int stream_back(struct stream *stream)
{
	const struct reader *live = stream->nreaders ? &stream->reader[stream->nreaders - 1] : NULL;
	struct ring_source source;
	uint32_t made = 1;
	uint64_t size;
	void *ring;
	int r;

	/* Only a consumer's lock keeps the set from being freed. */
	if (!live || !stream->consume)
		return 0;
	source = stream_lane_source(stream, &live->set, stream->cpu);
	size = ring_pages_offset(stream->ncpu, source.npages) + (uint64_t)source.npages * source.page_size;
	ring = size > SIZE_MAX / 2 ? MAP_FAILED :
	       mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, stream->rings, (off_t)source.offset);
	if (ring == MAP_FAILED)
		return -ENOMEM;
	r = madvise(ring, (size_t)size, MADV_POPULATE_WRITE) ? -errno : 0;
	munmap(ring, (size_t)size);
	/* As the first writer would say. Partner: the acquiring load in runtime/buffer.c, far behind this system call. */
	if (!r && pwrite(stream->rings, &made, sizeof(made), (off_t)(source.offset + offsetof(struct ring_head, made))) < 0)
		r = -errno;
	return r;
}
