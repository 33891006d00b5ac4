/*
 * capture/wait: until there is something to read. See stream.h.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "capture/lanes.h"
#include "capture/stream.h"

#define SLEEP_MS 100

static int something(struct stream *stream)
{
	stream_limit(stream);
	for (uint32_t i = 0; i < stream->nreaders; i++)
		for (uint32_t n = 0; n < stream_lanes(stream); n++)
			if (stream_lane_peek(stream, &stream->reader[i], n) > 0)
				return 1;
	return 0;
}

bool stream_is_filled(struct stream *stream, uint32_t percent)
{
	const struct reader *live = stream->nreaders ? &stream->reader[stream->nreaders - 1] : NULL;
	struct ring_source source;
	struct ring_head head;
	uint32_t offset;
	int64_t dirty;

	if (!live)
		return false;
	stream_limit(stream);
	for (const struct reader *old = stream->reader; old < live; old++)
		for (uint32_t n = 0; n < stream_lanes(stream); n++)
			if (stream_lane_peek(stream, old, n) > 0)
				return true;
	if (!something(stream))
		return false;
	if (!percent)
		return true;
	source = stream_lane_source(stream, &live->set, stream->cpu);
	if (ring_read_head(&source, &head))
		return false;
	source.npages = ring_npages(head.npages, source.room);
	dirty = ring_distance(&source, ring_pos_page(&source, head.consumed, head.tail, &offset), head.tail);
	return (dirty + 1) * 100 >= (int64_t)percent * source.npages;
}

static void arm(const struct stream *stream)
{
	const struct state_set *set = &stream->reader[stream->nreaders - 1].set;
	struct ring_source source = stream_lane_source(stream, set, stream->cpu);
	uint32_t wait = RING_WAIT_EVENT;

	/* Only a consumer's lock keeps the set from being freed: who peeks looks by itself. */
	if (!stream->consume)
		return;
	if (pwrite(stream->rings, &wait, sizeof(wait),
		   (off_t)(source.offset + offsetof(struct ring_head, waiters))) < 0)
		return;
}

static void sleep_on(const struct reader *reader, uint32_t seen, int ms)
{
	struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	if (!reader || !reader->wakes || syscall(SYS_futex, reader->wakes, FUTEX_WAIT, seen, &limit, NULL, 0)) {
		if (reader && reader->wakes && errno != EFAULT)
			return;
		nanosleep(&limit, NULL);
	}
}

int stream_wait_any(struct stream *const *streams, uint32_t n, int timeout_ms)
{
	const struct stream *first = n ? streams[0] : NULL;
	const struct reader *live = first && first->nreaders ? &first->reader[first->nreaders - 1] : NULL;
	int64_t left = timeout_ms < 0 || timeout_ms > SLEEP_MS ? SLEEP_MS : timeout_ms, start = mono_ms();
	uint32_t seen = 0;

	if (live && pread(first->rings, &seen, sizeof(seen), (off_t)live->set.offset) != sizeof(seen))
		live = NULL;
	for (uint32_t i = 0; i < n; i++)
		if (streams[i]->nreaders)
			arm(streams[i]);
	/* Either a writer's commit is seen below, or it sees our waiters word. Partner: runtime_wake(). */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i < n; i++)
		if (something(streams[i]))
			return 1;
	if (left > 0) {
		errno = 0;
		sleep_on(live, seen, (int)left);
		if (errno == EINTR)
			return -EINTR;
	}
	for (uint32_t i = 0; i < n; i++)
		if (something(streams[i]))
			return 1;
	return timeout_ms >= 0 && mono_ms() - start >= timeout_ms ? 0 : 1;
}

int stream_wait(struct stream *stream, int timeout_ms)
{
	return stream_wait_any(&stream, 1, timeout_ms);
}
