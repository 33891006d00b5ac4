/*
 * What filters and histograms cost at the event: one that a filter rejects by a number or by a string, one that is counted by an
 * int, on one thread and on two; beside the bare event and one that is switched off.
 *
 * Measured as rounds.h tells. With --probed it only traces an event for somebody else's probe and says what that took.
 *
 *	hooks [--rounds N] [--events N] [--probed]
 */
#include <unistd.h>

#include <ringside/ringside.h>

#include "pair.h"
#include "rounds.h"

RINGSIDE_EVENT(hooks, bare, field(int, value))
RINGSIDE_EVENT(hooks, off, field(int, value))
RINGSIDE_EVENT(hooks, number, field(int, value))
RINGSIDE_EVENT(hooks, string, field(int, value), string(name))
RINGSIDE_EVENT(hooks, counted, field(int, value))
RINGSIDE_EVENT(hooks, both, field(int, value))
RINGSIDE_EVENT(hooks, probed, field(int, value))

static void do_loop(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
}

static void do_off(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_off(i & 63);
}

static void do_bare(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_bare(i & 63);
}

static void do_number(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_number(i & 63);
}

static void do_string(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_string(i & 63, "a name of it");
}

static void do_counted(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_counted(i & 63);
}

static void do_both(int n)
{
	for (int i = 0; i < n; i++)
		trace_hooks_both(i & 63);
}

static const struct kind table[] = {
	{ "loop_hooks", do_loop },	   { "hook_off", do_off },	 { "hook_bare", do_bare },
	{ "hook_reject_number", do_number }, { "hook_reject_string", do_string }, { "hook_hist", do_counted },
	{ "hook_hist_recorded", do_both },
};

static void set_up(void)
{
	must(control_open(&control, NULL, true, &err));
	put("set_event", "hooks:bare hooks:number hooks:string hooks:both");
	put("events/hooks/number/filter", "value > 1000");
	put("events/hooks/string/filter", "name == \"another name\"");
	put("events/hooks/counted/trigger", "hist:keys=value");
	put("events/hooks/both/trigger", "hist:keys=value");
}

/* Two threads that count at once. */
static void two_threads(int cpu)
{
	double *ns = calloc((size_t)rounds, sizeof(*ns));
	struct pair pair = { 0 };

	pair_open(&pair, cpu ? 0 : 1);
	for (int r = 0; r < rounds; r++)
		ns[r] = pair_run(&pair, do_counted, events);
	pair_close(&pair);
	printf("hook_hist_2t %.3f\n", percentile(ns, rounds, 50));
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
	int cpu = sched_getcpu();
	char hits[64];

	if (argc > 1 && !strcmp(argv[1], "--probed"))
		return probed();
	rounds_options(argc, argv);
	set_up();
	pin(cpu);
	rounds_run(table, sizeof(table) / sizeof(table[0]));
	snprintf(hits, sizeof(hits), "Hits: %lld\n", (long long)rounds * events);
	must_have("events/hooks/counted/hist", hits);
	must_have("events/hooks/both/hist", hits);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		two_threads(cpu);
	control_close(control);
	return 0;
}
