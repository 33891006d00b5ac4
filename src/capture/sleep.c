/*
 * capture/sleep: a consumer that works in batches waits for the next one. See stream.h.
 *
 *   sleeper                                   writer (runtime/buffer.c)
 *     seen <- the sets' `wakes`
 *     waiters <- how many pages it wants        enters a page: tail
 *     membarrier                                waiters? tail - consumed enough?
 *     looks: enough? then it does not sleep     waiters <- 0, wakes <- +1, futex_wake
 *     sleeps on all `wakes`, unless not `seen`
 *
 * Where writers enter a page, either the sleeper's look sees it or they see `waiters`. The position that they compare with is the
 * one that was stored, so that all that was yielded counts as read first.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "capture/lanes.h"
#include "capture/stream.h"

/* In case that a writer could not wake. */
#define NET_MS 1000
/* For what nobody wakes, or not through all we would have to listen to. */
#define LOOK_MS 100

/* futex_waitv(2), which not all headers have. */
#define WAITV_CALL 449
#define WAITV_MAX 128u
#define WAITV_32_BITS 2u
struct waitv {
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};
struct waitv_time {
	int64_t seconds, nanoseconds;
};

struct bed {
	struct waitv wait[WAITV_MAX];
	uint32_t n;
	bool partly;		/* not all that may come wakes it */
};

static void bed_add(struct bed *bed, const uint32_t *word, uint32_t seen)
{
	if (bed->n == WAITV_MAX)
		bed->partly = true;
	else
		bed->wait[bed->n++] = (struct waitv){ seen, (uintptr_t)word, WAITV_32_BITS, 0 };
}

static bool same_set(const struct stream *a, const struct stream *b)
{
	return a->nreaders && b->nreaders && a->device == b->device && a->inode == b->inode &&
	       a->reader[a->nreaders - 1].set.offset == b->reader[b->nreaders - 1].set.offset;
}

/* Streams of a buffer have one place to sleep. */
static void make_bed(struct bed *bed, struct stream *const *streams, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct stream *stream = streams[i];
		const struct reader *live = stream->nreaders ? &stream->reader[stream->nreaders - 1] : NULL;
		uint32_t seen;

		if (stream->consume && i && same_set(stream, streams[i - 1]))
			continue;
		if (live && stream->consume && live->wakes &&
		    pread(stream->rings, &seen, sizeof(seen), (off_t)live->set.offset) == sizeof(seen))
			bed_add(bed, live->wakes, seen);
		else
			bed->partly = true;
	}
}

/* Closed pages that make a batch. One that discards comes no further than to the last but one. */
static uint32_t batch(const struct ring_source *source, uint32_t percent)
{
	uint64_t pages = ((uint64_t)source->npages * percent + 99) / 100;

	if (pages > source->npages - 2)
		pages = source->npages - 2;
	return pages ? (uint32_t)pages : 1;
}

static void arm(const struct stream *stream, uint32_t percent)
{
	const struct reader *live = &stream->reader[stream->nreaders - 1];
	struct ring_source source = stream_lane_source(stream, &live->set, stream->cpu);
	uint32_t wait = RING_WAIT_EVENT;
	struct ring_head head;

	if (percent && !ring_read_head(&source, &head)) {
		source.npages = ring_npages(head.npages, source.room);
		wait = RING_WAIT_PAGE | batch(&source, percent) << RING_WAIT_SHIFT;
	}
	if (pwrite(stream->rings, &wait, sizeof(wait), (off_t)(source.offset + offsetof(struct ring_head, waiters))) < 0)
		return;
}

/* Whether the lane has something that is unread, or so many pages of it; and may hand it out. */
static bool lane_filled(const struct stream *stream, const struct reader *reader, uint32_t n, uint32_t percent)
{
	const struct cursor *cursor = &reader->lane[n].cursor;
	uint64_t page, tail;

	if (!percent || reader->until != UINT64_MAX) {
		bool something = stream_lane_peek(stream, reader, n) > 0;

		if (!percent || !something)
			return something;
	}
	if (stream_lane_open(stream, reader, n) || !reader->lane[n].open || ring_read_tail(&cursor->source, &tail))
		return false;
	cursor_at_page(cursor, &page);
	return ring_distance(&cursor->source, page, tail) >= batch(&cursor->source, percent);
}

static bool is_worth(struct stream *stream, uint32_t percent)
{
	stream_limit(stream);
	for (uint32_t i = 0; i < stream->nreaders; i++) {
		const struct reader *reader = &stream->reader[i];
		bool live = i + 1 == stream->nreaders;
		uint64_t taken;

		if (lane_filled(stream, reader, 0, live ? percent : 0))
			return true;
		taken = stream_slots_taken(stream);
		for (uint32_t n = 1; n < 1 + stream->ncpu && (!taken || taken != reader->taken); n++)
			if (lane_filled(stream, reader, n, live ? percent : 0))
				return true;
		if (reader->told && lane_filled(stream, reader, stream_lane_told(stream), live ? percent : 0))
			return true;
	}
	return false;
}

static bool any_worth(struct stream *const *streams, uint32_t n, const struct stream_sleep *how)
{
	if (how->also && __atomic_load_n(how->also, __ATOMIC_ACQUIRE) != how->seen)
		return true;
	if (how->bell && __atomic_load_n(how->bell, __ATOMIC_ACQUIRE) != how->bell_seen)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (is_worth(streams[i], how->percent))
			return true;
	return false;
}

/* 0, or -errno: -ETIMEDOUT, -EAGAIN: a word had changed before. */
static int sleep_on_all(const struct bed *bed, int64_t ms)
{
	uint64_t end = mono_ns() + (uint64_t)ms * 1000000;
	struct waitv_time until = { (int64_t)(end / 1000000000), (int64_t)(end % 1000000000) };

	if (!bed->n)
		return -EFAULT;
	return syscall(WAITV_CALL, bed->wait, bed->n, 0, &until, CLOCK_MONOTONIC) < 0 ? -errno : 0;
}

static int sleep_on_first(const struct bed *bed, int64_t ms)
{
	struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	int ret = -EFAULT;

	if (bed->n && !syscall(SYS_futex, (const uint32_t *)(uintptr_t)bed->wait[0].address, FUTEX_WAIT, (uint32_t)bed->wait[0].value,
			       &limit, NULL, 0))
		return 0;
	if (bed->n)
		ret = -errno;
	if (ret != -EFAULT)
		return ret;
	/* There is no such word, or no longer. */
	return nanosleep(&limit, NULL) ? -errno : -ETIMEDOUT;
}

static int sleep_in(const struct bed *bed, int64_t ms)
{
	int ret = sleep_on_all(bed, bed->partly && ms > LOOK_MS ? LOOK_MS : ms);

	if (!ret || ret == -ETIMEDOUT || ret == -EAGAIN || ret == -EINTR)
		return ret;
	/* A kernel that has no such call. */
	return sleep_on_first(bed, ms > LOOK_MS ? LOOK_MS : ms);
}

int stream_sleep(struct stream *const *streams, uint32_t n, const struct stream_sleep *how)
{
	int64_t ms = how->timeout_ms < 0 || how->timeout_ms > NET_MS ? NET_MS : how->timeout_ms, start = mono_ms();
	struct bed bed = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		stream_accept(streams[i]);
	make_bed(&bed, streams, n);
	if (how->also)
		bed_add(&bed, how->also, how->seen);
	if (how->bell)
		bed_add(&bed, how->bell, how->bell_seen);
	/* Only a consumer's lock keeps a set from being freed: who peeks looks by itself. */
	for (uint32_t i = 0; i < n; i++)
		if (streams[i]->consume && streams[i]->nreaders)
			arm(streams[i], how->percent);
	/* Partner: runtime_wake(). */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	atomic_thread_fence(memory_order_seq_cst);
	if (any_worth(streams, n, how))
		return 1;
	if (ms > 0 && sleep_in(&bed, ms) == -EINTR)
		return -EINTR;
	return any_worth(streams, n, how) || how->timeout_ms < 0 || mono_ms() - start < how->timeout_ms;
}

void stream_wake(int rings, uint64_t set)
{
	uint64_t skip = set & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint32_t wakes;
	char *map;

	/* The word by system calls, since the file may be cut off; the mapping is for its address only. */
	if (pread(rings, &wakes, sizeof(wakes), (off_t)set) != sizeof(wakes))
		return;
	wakes++;
	if (pwrite(rings, &wakes, sizeof(wakes), (off_t)set) != sizeof(wakes))
		return;
	map = mmap(NULL, (size_t)skip + 4096, PROT_READ, MAP_SHARED, rings, (off_t)(set - skip));
	if (map == MAP_FAILED)
		return;
	syscall(SYS_futex, map + skip + offsetof(struct set_head, wakes), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(map, (size_t)skip + 4096);
}
