/*
 * What an event costs by where it goes: to the top buffer, to one instance alone, to both, and to an instance that takes only
 * the events of some threads, of which this is one.
 *
 * Four events with the same field, measured as rounds.h tells.
 *
 *	buffers [--rounds N] [--events N]
 */
#include <unistd.h>

#include <ringside/ringside.h>

#include "rounds.h"

RINGSIDE_EVENT(buffers, top, field(int, value))
RINGSIDE_EVENT(buffers, instance, field(int, value))
RINGSIDE_EVENT(buffers, both, field(int, value))
RINGSIDE_EVENT(buffers, chosen, field(int, value))

static void do_top(int n)
{
	for (int i = 0; i < n; i++)
		trace_buffers_top(i);
}

static void do_instance(int n)
{
	for (int i = 0; i < n; i++)
		trace_buffers_instance(i);
}

static void do_both(int n)
{
	for (int i = 0; i < n; i++)
		trace_buffers_both(i);
}

static void do_chosen(int n)
{
	for (int i = 0; i < n; i++)
		trace_buffers_chosen(i);
}

static const struct kind table[] = {
	{ "event_top", do_top },
	{ "event_instance", do_instance },
	{ "event_two_buffers", do_both },
	{ "event_chosen_pid", do_chosen },
};

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

/* The newest events of each buffer are this program's last. */
static void check(const char *path, const char *event)
{
	char last[64];

	snprintf(last, sizeof(last), "%s: value=%d\n", event, events - 1);
	must_have(path, last);
}

int main(int argc, char **argv)
{
	rounds_options(argc, argv);
	set_up();
	pin(sched_getcpu());
	rounds_run(table, sizeof(table) / sizeof(table[0]));
	check("trace", "both");
	check("instances/one/trace", "both");
	check("instances/some/trace", "chosen");
	must(tree_rmdir(control, "instances/one", &err));
	must(tree_rmdir(control, "instances/some", &err));
	control_close(control);
	return 0;
}
