/*
 * runtime/clock: what time it is for a buffer, by its clock. All of it may be asked in a signal handler.
 */
#include <time.h>

#include "ring/arch.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

/* One for all programs of the directory, as the kernel has one: where the words lie that no generation frees. */
static uint64_t next_count(void)
{
	struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));

	return rings ? __atomic_add_fetch(&rings->counter, 1, __ATOMIC_RELAXED) : 0;
}

/* Ticks of the kernel, which tells how long one takes: the grain of its coarse clock. */
static uint64_t ticks(const struct timespec *now)
{
	struct timespec grain;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &grain) || grain.tv_sec || grain.tv_nsec <= 0)
		return 0;
	return ((uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec) / (uint64_t)grain.tv_nsec;
}

uint64_t runtime_clock(uint32_t id)
{
	static const clockid_t clocks[] = {
		[TRACE_CLOCK_LOCAL] = CLOCK_MONOTONIC,	 [TRACE_CLOCK_GLOBAL] = CLOCK_MONOTONIC,
		[TRACE_CLOCK_UPTIME] = CLOCK_MONOTONIC_COARSE,
		[TRACE_CLOCK_MONO] = CLOCK_MONOTONIC,	 [TRACE_CLOCK_MONO_RAW] = CLOCK_MONOTONIC_RAW,
		[TRACE_CLOCK_BOOT] = CLOCK_BOOTTIME,	 [TRACE_CLOCK_TAI] = CLOCK_TAI,
		[TRACE_CLOCK_X86_TSC] = CLOCK_MONOTONIC,
	};
	struct timespec now;

	if (id == TRACE_CLOCK_COUNTER)
		return next_count();
	if (LOAD(runtime.timeless)) {
		/* Coarse, but readable. Where there is nothing of the kind, time stands still. */
		if (id >= sizeof(clocks) / sizeof(clocks[0]) || clocks[id] != CLOCK_MONOTONIC ||
		    id == TRACE_CLOCK_X86_TSC)
			return 0;
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		return id == TRACE_CLOCK_UPTIME ? ticks(&now)
						: (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	clock_gettime(id < sizeof(clocks) / sizeof(clocks[0]) ? clocks[id] : CLOCK_MONOTONIC, &now);
	if (id == TRACE_CLOCK_UPTIME)
		return ticks(&now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* (a * mult) >> 32 for a signed a, without 128-bit arithmetic. */
static uint64_t scale(uint64_t a, uint64_t mult)
{
	uint64_t low = a & UINT32_MAX, high = (uint64_t)((int64_t)a >> 32);

	return high * mult + low * (mult >> 32) + (low * (mult & UINT32_MAX) >> 32);
}

uint64_t runtime_moment_time(const struct view_buffer *buffer, const struct ring_ref *ref, const struct runtime_moment *moment)
{
	if (!buffer->by_counter)
		return moment->clock[buffer->clock < RUNTIME_CLOCKS ? buffer->clock : TRACE_CLOCK_MONO];
	return ref->ns0 + scale(moment->counter - ref->counter0, ref->mult);
}

uint64_t runtime_buffer_time(const struct view_buffer *buffer, const struct ring_ref *ref)
{
	if (runtime_self.told)
		return runtime_moment_time(buffer, ref, &runtime_self.told->at);
	if (!buffer->by_counter)
		return runtime_clock(buffer->clock);
	return ref->ns0 + scale(section_counter() - ref->counter0, ref->mult);
}
