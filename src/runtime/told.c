/*
 * runtime/told: records of other programs' events, told some time after they happened. For the tool; one thread.
 *
 * The event goes the slow way, which asks for its CPU, its time and its thread instead of this thread's own; at the end
 * lies a ring that nobody else writes (runtime/buffer.c). How far that is complete is stored where readers look (capture/told.c).
 */
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/arch.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

/* Of so many looks at two clocks the shortest counts. */
#define LOOKS 5

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The one that all others are held against, between two looks at the counter. */
static void look(struct runtime_moment *moment, uint64_t *width)
{
	uint64_t before = section_counter(), raw = clock_ns(CLOCK_MONOTONIC_RAW), mono = clock_ns(CLOCK_MONOTONIC);
	uint64_t after = section_counter();

	if (after - before >= *width)
		return;
	*width = after - before;
	moment->raw = raw;
	moment->mono = mono;
	moment->counter = before + *width / 2;
}

/* Of the clock `counter` the number that it stands at, without counting. */
static uint64_t other_clock(uint32_t id)
{
	const struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));

	if (id == TRACE_CLOCK_COUNTER)
		return rings ? LOAD(rings->counter) : 0;
	return runtime_clock(id);
}

void runtime_moment_now(struct runtime_moment *moment)
{
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++)
		look(moment, &width);
	for (uint32_t id = 0; id < RUNTIME_CLOCKS; id++)
		moment->clock[id] = id == TRACE_CLOCK_MONO_RAW ? moment->raw : other_clock(id);
}

/* a + (b - a) * part / whole; nobody asks for moments that are hours apart. */
static uint64_t between(uint64_t a, uint64_t b, double share)
{
	return a + (uint64_t)(int64_t)((double)(int64_t)(b - a) * share);
}

void runtime_moment_between(const struct runtime_moment *a, const struct runtime_moment *b, uint64_t raw, struct runtime_moment *out)
{
	const double share = b->raw == a->raw ? 0 : (double)(int64_t)(raw - a->raw) / (double)(int64_t)(b->raw - a->raw);

	out->raw = raw;
	out->mono = between(a->mono, b->mono, share);
	out->counter = between(a->counter, b->counter, share);
	for (uint32_t id = 0; id < RUNTIME_CLOCKS; id++)
		out->clock[id] = between(a->clock[id], b->clock[id], share);
}

void runtime_teller(void)
{
	runtime.tells = true;
	runtime_thread_ready(&runtime_self);
}

void runtime_tell(const struct runtime_told *told, uint32_t id, void *record, size_t len)
{
	struct writing writing = { .id = id, .record = record, .len = (uint32_t)len };

	if (told->cpu >= runtime.ncpu)
		return;
	runtime_guard_enter();
	runtime_self.told = told;
	runtime_write_slowly(&writing);
	runtime_self.told = NULL;
	runtime_guard_leave();
}

static uint64_t wanted(const struct view *view, uint32_t id)
{
	return view && id < EVENT_ID_END ? LOAD(view->mask[id]) : 0;
}

bool runtime_tell_wanted(uint32_t id)
{
	return wanted(runtime_view_refresh(), id);
}

void runtime_tell_lost(uint32_t id, uint32_t cpu, uint64_t n)
{
	const struct view *view = runtime_view_refresh();
	uint64_t mask = wanted(view, id) & ~VIEW_SPECIAL;

	for (; mask && cpu < runtime.ncpu; mask &= mask - 1)
		runtime_refuse(&view->buffer[__builtin_ctzll(mask)], cpu, LOAD_ACQUIRE(view->published), n);
}

/* Does a reader sleep until the next event, which this may have brought? */
static bool is_awaited(const struct view_buffer *buffer)
{
	/* A ring that no program has written to is waited for as well. */
	for (uint32_t cpu = 0; cpu < runtime.ncpu; cpu++)
		if (LOAD(runtime_ring_head(buffer, cpu)->waiters) & RING_WAIT_EVENT)
			return true;
	return false;
}

static void store_until(const struct view_buffer *buffer, uint64_t generation, const struct runtime_moment *moment, bool ever)
{
	struct set_head *head = (struct set_head *)(void *)((char *)buffer->wakes - offsetof(struct set_head, wakes));
	uint64_t until = ever ? UINT64_MAX : runtime_moment_time(buffer, &buffer->refs[0], moment);
	struct keeper keeper;
	bool wake;

	if (!runtime_keep(&keeper, generation))
		return;
	STORE_RELEASE(head->told_mono, moment->mono);
	/* Behind the records; a time of 0 is none. Partner: stream_reader_limit(). */
	STORE_RELEASE(head->told, until ? until : 1);
	wake = is_awaited(buffer);
	if (wake)
		__atomic_fetch_add(&head->wakes, 1, __ATOMIC_RELEASE);
	runtime_let_go(&keeper);
	if (wake)
		syscall(SYS_futex, &head->wakes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void runtime_told_until(const struct runtime_moment *moment, const uint32_t *ids, uint32_t n, bool ever)
{
	struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));
	struct view *view = runtime_view_refresh();
	uint64_t mask = 0;

	for (uint32_t i = 0; i < n; i++)
		mask |= wanted(view, ids[i]);
	/* What hangs on them may cause events anywhere. */
	if (mask & VIEW_SPECIAL)
		mask = view->usable;
	for (mask &= view ? view->usable : 0; mask; mask &= mask - 1)
		store_until(&view->buffer[__builtin_ctzll(mask)], LOAD_ACQUIRE(view->published), moment, ever);
	if (rings)
		__atomic_store_n(&rings->told_mono, moment->mono, __ATOMIC_SEQ_CST);
}
