/*
 * What filters and histograms cost at the event: one that a filter rejects by a number or by a string, one that is counted by an
 * int, on one thread and on two; beside the bare event and one that is switched off.
 *
 * One process that is the tool and the traced program at once. Measured as in emit.c: short alternating rounds, without those in
 * which the thread was preempted; medians. One line each: NAME NS. With --probed it only traces an event for somebody else's
 * probe and says what that took.
 *
 *	hooks [--rounds N] [--events N] [--probed]
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringside/ringside.h>

#include "control/tree.h"
#include "measure.h"

RINGSIDE_EVENT(hooks, bare, field(int, value))
RINGSIDE_EVENT(hooks, off, field(int, value))
RINGSIDE_EVENT(hooks, number, field(int, value))
RINGSIDE_EVENT(hooks, string, field(int, value), string(name))
RINGSIDE_EVENT(hooks, counted, field(int, value))
RINGSIDE_EVENT(hooks, both, field(int, value))
RINGSIDE_EVENT(hooks, probed, field(int, value))

static int rounds = 400, events = 5000;

static void do_loop(void)
{
	for (int i = 0; i < events; i++)
		__asm__ volatile("" : : "r"(i));
}

static void do_off(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_off(i & 63);
}

static void do_bare(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_bare(i & 63);
}

static void do_number(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_number(i & 63);
}

static void do_string(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_string(i & 63, "a name of it");
}

static void do_counted(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_counted(i & 63);
}

static void do_both(void)
{
	for (int i = 0; i < events; i++)
		trace_hooks_both(i & 63);
}

static const struct {
	const char *name;
	void (*what)(void);
} table[] = {
	{ "loop_hooks", do_loop },	   { "hook_off", do_off },	 { "hook_bare", do_bare },
	{ "hook_reject_number", do_number }, { "hook_reject_string", do_string }, { "hook_hist", do_counted },
	{ "hook_hist_recorded", do_both },
};
#define KINDS (sizeof(table) / sizeof(table[0]))

static struct control *control;
static struct err err = ERR_INIT;

static void must(int r)
{
	if (!r)
		return;
	fprintf(stderr, "hooks: %s\n", err.text);
	exit(1);
}

static void put(const char *path, const char *text)
{
	must(tree_write(control, path, text, strlen(text), TREE_TRUNC, &err));
}

static void set_up(void)
{
	must(control_open(&control, NULL, true, &err));
	put("set_event", "hooks:bare hooks:number hooks:string hooks:both");
	put("events/hooks/number/filter", "value > 1000");
	put("events/hooks/string/filter", "name == \"another name\"");
	put("events/hooks/counted/trigger", "hist:keys=value");
	put("events/hooks/both/trigger", "hist:keys=value");
}

/* What was measured was counted. */
static void check(const char *path, unsigned long long hits)
{
	struct buf text = BUF_INIT;
	char line[64];

	snprintf(line, sizeof(line), "Hits: %llu\n", hits);
	must(tree_read(control, path, &text, &err));
	if (!text.data || !strstr(text.data, line)) {
		fprintf(stderr, "hooks: %s has not '%s'\n", path, line);
		exit(1);
	}
	buf_fini(&text);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static pthread_barrier_t ready;

static void *second(void *arg)
{
	pin((int)(intptr_t)arg);
	for (int r = 0; r < rounds; r++) {
		pthread_barrier_wait(&ready);
		do_counted();
		pthread_barrier_wait(&ready);
	}
	return NULL;
}

/* Time by event of two threads that count at once. */
static void two_threads(int cpu)
{
	double *ns = calloc((size_t)rounds, sizeof(*ns));
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, 2);
	if (pthread_create(&thread, NULL, second, (void *)(intptr_t)(cpu ? 0 : 1)))
		exit(1);
	for (int r = 0; r < rounds; r++) {
		double start;

		pthread_barrier_wait(&ready);
		start = now();
		do_counted();
		pthread_barrier_wait(&ready);
		ns[r] = (now() - start) / (2 * events);
	}
	pthread_join(thread, NULL);
	qsort(ns, (size_t)rounds, sizeof(*ns), by_value);
	/* Waking each other takes long when somebody else runs: the better rounds tell. */
	printf("hook_hist_2t %.3f\n", ns[rounds / 4]);
	free(ns);
}

static int probed(void)
{
	double best = 0;

	for (int r = 0; r < 200; r++) {
		double start = now();

		for (int i = 0; i < 1000; i++)
			trace_hooks_probed(i & 63);
		start = (now() - start) / 1000;
		if (!best || start < best)
			best = start;
	}
	printf("bpftrace_count %.3f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	static double *ns[KINDS];
	double best[KINDS] = { 0 };
	int n[KINDS] = { 0 }, cpu = sched_getcpu();

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--probed"))
			return probed();
		if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
			rounds = atoi(argv[i + 1]);
		if (!strcmp(argv[i], "--events") && i + 1 < argc)
			events = atoi(argv[i + 1]);
	}
	set_up();
	pin(cpu);
	for (size_t k = 0; k < KINDS; k++)
		ns[k] = calloc((size_t)rounds, sizeof(double));
	for (int r = 0; r < rounds; r++) {
		for (size_t k = 0; k < KINDS; k++) {
			long before = switches();
			double start = now();

			table[k].what();
			start = (now() - start) / events;
			if (switches() == before)
				ns[k][n[k]++] = start;
			if (!best[k] || start < best[k])
				best[k] = start;
		}
	}
	check("events/hooks/counted/hist", (unsigned long long)rounds * (unsigned long long)events);
	check("events/hooks/both/hist", (unsigned long long)rounds * (unsigned long long)events);
	for (size_t k = 0; k < KINDS; k++) {
		qsort(ns[k], (size_t)n[k], sizeof(double), by_value);
		/* On a machine that leaves no round alone the best one has to do. */
		printf("%s %.3f\n", table[k].name, n[k] ? ns[k][n[k] / 2] : best[k]);
	}
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		two_threads(cpu);
	control_close(control);
	return 0;
}
