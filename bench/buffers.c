/*
 * What an event costs by where it goes: to the top buffer, to one instance alone, to both, and to an instance that takes only
 * the events of some threads, of which this is one.
 *
 * Four events with the same field, in one process that is the tool and the traced program at once. Measured as in emit.c: short
 * alternating rounds, without those in which the thread was preempted; medians. One line each: NAME NS.
 *
 *	buffers [--rounds N] [--events N]
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringside/ringside.h>

#include "control/tree.h"
#include "measure.h"

RINGSIDE_EVENT(buffers, top, field(int, value))
RINGSIDE_EVENT(buffers, instance, field(int, value))
RINGSIDE_EVENT(buffers, both, field(int, value))
RINGSIDE_EVENT(buffers, chosen, field(int, value))

static int rounds = 400, events = 5000;

static void do_top(void)
{
	for (int i = 0; i < events; i++)
		trace_buffers_top(i);
}

static void do_instance(void)
{
	for (int i = 0; i < events; i++)
		trace_buffers_instance(i);
}

static void do_both(void)
{
	for (int i = 0; i < events; i++)
		trace_buffers_both(i);
}

static void do_chosen(void)
{
	for (int i = 0; i < events; i++)
		trace_buffers_chosen(i);
}

static const struct {
	const char *name;
	void (*what)(void);
} table[] = {
	{ "event_top", do_top },
	{ "event_instance", do_instance },
	{ "event_two_buffers", do_both },
	{ "event_chosen_pid", do_chosen },
};
#define KINDS (sizeof(table) / sizeof(table[0]))

static struct control *control;
static struct err err = ERR_INIT;

static void must(int r)
{
	if (!r)
		return;
	fprintf(stderr, "buffers: %s\n", err.text);
	exit(1);
}

static void put(const char *path, const char *text)
{
	must(tree_write(control, path, text, strlen(text), TREE_TRUNC, &err));
}

static void set_up(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)gettid());
	must(control_open(&control, NULL, true, &err));
	must(tree_mkdir(control, "instances/one", &err));
	must(tree_mkdir(control, "instances/some", &err));
	put("set_event", "buffers:top buffers:both");
	put("instances/one/set_event", "buffers:instance buffers:both");
	put("instances/some/set_event_pid", pid);
	put("instances/some/set_event", "buffers:chosen");
}

/* What was measured was recorded: the newest events of each buffer are this program's last. */
static void check(const char *path, const char *event)
{
	struct buf text = BUF_INIT;
	char last[64];

	snprintf(last, sizeof(last), "%s: value=%d\n", event, events - 1);
	must(tree_read(control, path, &text, &err));
	if (!text.data || !strstr(text.data, last)) {
		fprintf(stderr, "buffers: %s has no '%s'\n", path, event);
		exit(1);
	}
	buf_fini(&text);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	static double *ns[KINDS];
	double best[KINDS] = { 0 };
	int n[KINDS] = { 0 };
	cpu_set_t one;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--rounds"))
			rounds = atoi(argv[i + 1]);
		if (!strcmp(argv[i], "--events"))
			events = atoi(argv[i + 1]);
	}
	set_up();
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
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
	check("trace", "both");
	check("instances/one/trace", "both");
	check("instances/some/trace", "chosen");
	for (size_t k = 0; k < KINDS; k++) {
		qsort(ns[k], (size_t)n[k], sizeof(double), by_value);
		/* On a machine that leaves no round alone the best one has to do. */
		printf("%s %.3f\n", table[k].name, n[k] ? ns[k][n[k] / 2] : best[k]);
	}
	must(tree_rmdir(control, "instances/one", &err));
	must(tree_rmdir(control, "instances/some", &err));
	control_close(control);
	return 0;
}
