/*
 * What an event costs: ours, LTTng-UST's with the same fields, and the counter read that both contain.
 *
 * All are measured in one process, in short alternating rounds, so that a busy machine hits all of them alike; the median of
 * the rounds is told, and a round in which the thread was preempted is thrown away. One line a measurement: NAME NS, where NS is
 * nanoseconds an event (with two threads: of wall time, for the events of both).
 *
 *	emit [--rounds N] [--events N]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringside/ringside.h>

#include "measure.h"
#include "pair.h"

#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng.h"
#endif

RINGSIDE_EVENT(bench, plain, field(int, value))
RINGSIDE_EVENT(bench, text, field(int, value), string(name))
RINGSIDE_EVENT(idle, off, field(int, value), string(name))

static const char name16[] = "0123456789abcdef";
static int rounds = 400, events = 5000;

static inline uint64_t counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

/* What is measured: n times, in a loop that no compiler can shorten. */
static void do_nothing(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i), "r"(name16) : "memory");
}

static void do_counter(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(counter()) : "memory");
}

static void do_disabled(int n)
{
	for (int i = 0; i < n; i++) {
		__asm__ volatile("" : : "r"(i), "r"(name16) : "memory");
		trace_idle_off(i, name16);
	}
}

static void do_int(int n)
{
	for (int i = 0; i < n; i++)
		trace_bench_plain(i);
}

static void do_text(int n)
{
	for (int i = 0; i < n; i++)
		trace_bench_text(i, name16);
}

#ifdef WITH_LTTNG
static void do_lttng_int(int n)
{
	for (int i = 0; i < n; i++)
		lttng_ust_tracepoint(bench, plain, i);
}

static void do_lttng_text(int n)
{
	for (int i = 0; i < n; i++)
		lttng_ust_tracepoint(bench, text, i, name16);
}
#endif

static struct pair pair;

static double both(void (*what)(int))
{
	return pair_run(&pair, what, events);
}

static double alone(void (*what)(int))
{
	double start = now();

	what(events);
	return (now() - start) / events;
}

static const struct {
	const char *name;
	void (*what)(int);
	double (*how)(void (*)(int));
} table[] = {
	{ "loop", do_nothing, alone },
	{ "rdtsc", do_counter, alone },
	{ "disabled_loop", do_disabled, alone },
	{ "event_int", do_int, alone },
	{ "event_int_str", do_text, alone },
#ifdef WITH_LTTNG
	{ "lttng_int", do_lttng_int, alone },
	{ "lttng_int_str", do_lttng_text, alone },
#endif
	{ "rdtsc_2t", do_counter, both },
	{ "event_int_str_2t", do_text, both },
#ifdef WITH_LTTNG
	{ "lttng_int_str_2t", do_lttng_text, both },
#endif
};
#define KINDS (sizeof(table) / sizeof(table[0]))

int main(int argc, char **argv)
{
	struct laps laps[KINDS];

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--rounds"))
			rounds = atoi(argv[i + 1]);
		if (!strcmp(argv[i], "--events"))
			events = atoi(argv[i + 1]);
	}
	pair_open(&pair, 0);
	pin(1);
	for (size_t k = 0; k < KINDS; k++)
		laps_open(&laps[k], rounds);
	for (int r = 0; r < rounds; r++) {
		for (size_t k = 0; k < KINDS; k++) {
			long before = switches();
			double value = table[k].how(table[k].what);

			/* The barriers of two threads are switches of their own. */
			laps_add(&laps[k], value, switches() == before || table[k].how == both);
		}
	}
	pair_close(&pair);
	for (size_t k = 0; k < KINDS; k++)
		printf("%s %.3f\n", table[k].name, laps_close(&laps[k]));
	return 0;
}
