/*
 * control/clock: see clock.h. Blocks for up to about 60 ms.
 *
 * The counter's rate is measured against CLOCK_MONOTONIC over the longest base line there is: from
 * the directory's birth until now. That pair of readings may be worthless (the machine slept, was
 * booted anew, or the maker was interrupted between the two), so a short measurement of our own
 * decides whether it counts.
 *
 *   birth ........................................... a --20 ms-- b [--40 ms-- c]
 *     \______________ rate, if it agrees with a..b ______________/   else a..c
 */
#include "control/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/mono.h"
#include "control/file.h"
#include "layout/ring.h"
#include "ring/arch.h"

#define BRACKETS 50
#define BASE_NS 50000000ull
#define AGREE_PPM 5
#define RIGHT_NS 20000u

/* The counter and the time at one moment. */
struct moment {
	uint64_t counter;
	uint64_t ns;
};

/* The narrowest of many brackets: interruptions make some of them wide. */
static struct moment moment_take(void)
{
	struct moment best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = section_counter();
		uint64_t ns = mono_ns();
		uint64_t after = section_counter();

		if (after - before < width) {
			width = after - before;
			best.counter = before + width / 2;
			best.ns = ns;
		}
	}
	return best;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec pause = { 0, (long)ns };

	nanosleep(&pause, NULL);
}

/* Nanoseconds per count << 32, or 0 when the two moments are no base line. */
static uint64_t rate(const struct moment *from, const struct moment *to)
{
	uint64_t ns = to->ns - from->ns;
	uint64_t counts = to->counter - from->counter;
	uint64_t mult, rest;

	if (to->ns <= from->ns || to->counter <= from->counter || counts >> 62 || ns / counts >> 30)
		return 0;
	mult = ns / counts;
	rest = ns % counts;
	/* Bit by bit: not all processors divide longer numbers. */
	for (int i = 0; i < 32; i++) {
		rest <<= 1;
		mult = mult << 1 | (rest >= counts);
		rest -= rest >= counts ? counts : 0;
	}
	return mult ? mult + (rest >= counts - rest) : 0;
}

static bool agree(uint64_t a, uint64_t b)
{
	uint64_t apart = a > b ? a - b : b - a;

	return a && b && apart <= b / 1000000 * AGREE_PPM;
}

static uint64_t measure(const struct segment_dir *dir, struct moment *now)
{
	struct segment_head head;
	struct moment birth, a, b;
	uint64_t own, since_birth;

	a = moment_take();
	sleep_ns(BASE_NS * 2 / 5);
	b = moment_take();
	own = rate(&a, &b);
	*now = b;
	if (dir && !control_file_read(dir, SEGMENT_CONTROL, &head, sizeof(head), 0, NULL)) {
		birth = (struct moment){ head.birth_tsc, head.birth_mono };
		since_birth = rate(&birth, &b);
		if (b.ns - birth.ns >= BASE_NS && agree(since_birth, own))
			return since_birth;
	}
	sleep_ns(BASE_NS * 4 / 5);
	*now = moment_take();
	return rate(&a, now);
}

#if defined(__x86_64__) || defined(__i386__)
/* Does the counter run at one rate on all CPUs, whatever they do? Kernel and CPUID know. */
static bool counter_trusted(void)
{
	unsigned a, b, c, d;
	char name[32] = "";
	FILE *file;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;
	file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strcmp(name, "tsc\n");
}

static uint64_t known_rate(void)
{
	return 0;
}
#elif defined(__aarch64__)
static bool counter_trusted(void)
{
	return true;
}

/* The architecture's counter tells its frequency. */
static uint64_t known_rate(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz >= 1000000 && hz <= 10000000000ull ? (1000000000ull << 32) / hz : 0;
}
#else
static bool counter_trusted(void)
{
	return false;
}

static uint64_t known_rate(void)
{
	return 0;
}
#endif

static uint64_t scaled(const struct state_clock *clock, uint64_t counter)
{
	/* In two halves, without a 128-bit product; counts before counter0 are negative. */
	uint64_t counts = counter - clock->counter0;
	uint64_t high = (uint64_t)((int64_t)counts >> 32), low = counts & UINT32_MAX;

	return clock->ns0 + high * clock->mult + low * (clock->mult >> 32) +
	       (low * (clock->mult & UINT32_MAX) >> 32);
}

static const struct {
	const char *name;
	bool ns;
	bool counter;	/* may be had from the CPU's counter */
	clockid_t id;
} clocks[] = {
	[TRACE_CLOCK_LOCAL] = { "local", true, true, CLOCK_MONOTONIC },
	[TRACE_CLOCK_GLOBAL] = { "global", true, true, CLOCK_MONOTONIC },
	[TRACE_CLOCK_COUNTER] = { "counter", false, false, CLOCK_MONOTONIC },
	[TRACE_CLOCK_UPTIME] = { "uptime", false, false, CLOCK_MONOTONIC_COARSE },
	[TRACE_CLOCK_MONO] = { "mono", true, false, CLOCK_MONOTONIC },
	[TRACE_CLOCK_MONO_RAW] = { "mono_raw", true, false, CLOCK_MONOTONIC_RAW },
	[TRACE_CLOCK_BOOT] = { "boot", true, false, CLOCK_BOOTTIME },
	[TRACE_CLOCK_TAI] = { "tai", true, false, CLOCK_TAI },
#if defined(__x86_64__) || defined(__i386__)
	[TRACE_CLOCK_X86_TSC] = { "x86-tsc", false, true, CLOCK_MONOTONIC },
#endif
};

#define NCLOCKS (sizeof(clocks) / sizeof(clocks[0]))

const char *control_clock_name(uint32_t id)
{
	return id < NCLOCKS ? clocks[id].name : NULL;
}

bool control_clock_is_ns(uint32_t id)
{
	return id >= NCLOCKS || clocks[id].ns;
}

const char *control_clock_cheapest(void)
{
	bool raw = TRACE_CLOCK_X86_TSC < NCLOCKS && counter_trusted();

	return clocks[raw ? TRACE_CLOCK_X86_TSC : TRACE_CLOCK_LOCAL].name;
}

/* As in runtime/clock.c. */
static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t control_clock_now(const struct state_clock *clock, const struct segment_dir *dir)
{
	struct timespec grain;
	uint64_t count;

	if (clock->flags & TRACE_CLOCK_BY_COUNTER)
		return scaled(clock, section_counter());
	if (clock->id == TRACE_CLOCK_COUNTER)
		return control_file_read(dir, SEGMENT_RINGS, &count, sizeof(count),
					 offsetof(struct rings_head, counter), NULL) ? 0 : count;
	if (clock->id == TRACE_CLOCK_UPTIME)
		return clock_getres(CLOCK_MONOTONIC_COARSE, &grain) || grain.tv_nsec <= 0 ?
		       0 : clock_ns(CLOCK_MONOTONIC_COARSE) / (uint64_t)grain.tv_nsec;
	return clock_ns(clock->id < NCLOCKS ? clocks[clock->id].id : CLOCK_MONOTONIC);
}

/* The counter as it is. */
static void make_raw(struct state_clock *clock)
{
	clock->flags = TRACE_CLOCK_BY_COUNTER;
	clock->mult = 1ull << 32;
}

/* Does the clock show CLOCK_MONOTONIC, as well as one can tell? */
static bool is_right(const struct state_clock *clock)
{
	struct moment now = moment_take();
	uint64_t shown = scaled(clock, now.counter);

	return (shown > now.ns ? shown - now.ns : now.ns - shown) < RIGHT_NS;
}

void control_clock_make(struct state_clock *clock, uint32_t id, const struct segment_dir *dir,
			const struct state_clock *before)
{
	struct moment now;
	uint64_t mult, reached;

	memset(clock, 0, sizeof(*clock));
	clock->id = id;
	if (id >= NCLOCKS || !clocks[id].counter || !counter_trusted())
		return;
	if (!clocks[id].ns) {
		make_raw(clock);
		return;
	}
	if (before && (!(before->flags & TRACE_CLOCK_BY_COUNTER) || !control_clock_is_ns(before->id)))
		before = NULL;
	if (before && is_right(before)) {
		*clock = *before;
		clock->id = id;
		return;
	}
	mult = known_rate();
	if (mult)
		now = moment_take();
	else
		mult = measure(dir, &now);
	if (!mult)
		return;
	clock->flags = TRACE_CLOCK_BY_COUNTER;
	clock->mult = mult;
	clock->counter0 = now.counter;
	clock->ns0 = now.ns;
	if (before) {
		reached = scaled(before, now.counter);
		/* A clock may be ahead of the true time by what its rate was off, not by more. */
		if (reached > clock->ns0 && reached - clock->ns0 < 1000000000u)
			clock->ns0 = reached;
	}
}
