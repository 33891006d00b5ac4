/*
 * Which events a filter names: systems, events and regular expressions for them, alone and in
 * lists.
 */
#include "world.h"

/* Numbers of the events that the filter says something of. */
static void names(const char *text, const char *want)
{
	struct sample rec = sample_record();
	struct buf got = BUF_INIT;
	struct err err;
	struct filter *filter = filter_of(text, 0, &err);

	buf_puts(&got, "");
	for (size_t i = 0; filter && i < NR_EVENTS; i++)
		if (verdict_of(filter, i, &rec, sizeof(rec)) != FILTER_NONE)
			buf_printf(&got, "%s%u", got.len ? " " : "", events[i].id);
	check_text(__FILE__, __LINE__, text, filter ? got.data : err.text, want);
	buf_fini(&got);
	filter_free(filter);
}

static void one_name(void)
{
	/* A name alone is a system's or an event's. */
	names("sched", "11 12 22");
	names("sched/", "11 12 22");
	names("/sched", "11 12 22");
	names("irq_entry", "13");
	names("sched/sched_switch", "11");
	names(" sched / sched_switch ", "11");
	names("sched/sched_switch: a == 1", "11");
	names("sched:b==1", "11 12 22");
	names("SCHED/Sched_Switch", "11");
	names("away,irq", "13");
}

static void expressions(void)
{
	names(".*", "32768 11 12 13 21 22");
	names("sched/.*", "11 12");
	names("sched.*/.*", "11 12 21");
	names(".*/.*sched.*", "11 12 21 22");
	names("s.*d", "11 12 22");
	names("[ik].*", "13 22");
	names("\\(sched\\|irq\\)", "11 12 13 22");
	/* The anchors are put around the text, as libtraceevent does: ^sched\|irq$. */
	names("sched\\|irq", "11 12 13 21 22");
}

static void lists(void)
{
	names("sched,irq", "11 12 13 22");
	names("sched/sched_switch , irq : b == 1", "11 13");
	names("irq,irq", "13");
	names("sched_.*,irq.*: b == 1", "11 12 13");
}

static void mistakes(void)
{
	refused("", -EBADMSG, 0, "missing");
	refused(":", -EBADMSG, 0, "missing");
	refused(" : a == 1", -EBADMSG, 1, "missing");
	refused("sched,,irq", -EBADMSG, 6, "missing");
	refused("sched,", -EBADMSG, 6, "missing");
	refused("/", -EBADMSG, 0, "missing");
	refused("sched/sched_switch/x", -EBADMSG, 6, "SYSTEM/EVENT");
	refused("sche", -ENOENT, 0, "no event sche");
	refused("irq, nothing", -ENOENT, 5, "no event nothing");
	refused("irq/sched_switch", -ENOENT, 0, "no event irq/sched_switch");
	refused("sched sched: a == 1", -ENOENT, 0, "no event");
	/* Basic regular expressions: these are characters. */
	refused("sched|irq", -ENOENT, 0, "no event");
	refused("(sched)", -ENOENT, 0, "no event");
	refused("*", -ENOENT, 0, "no event");
	refused("^sched$", -ENOENT, 0, "no event");
	refused("irq, [", -EBADMSG, 5, "bracket");
	refused("irq/ab\\(", -EBADMSG, 6, "group");
	refused("irq,[b-", -EBADMSG, 7, "range");
	/* The kernel's way to write an event is not trace-cmd's. */
	refused("sched:sched_switch", -EBADMSG, 18, "SYSTEM/EVENT");
}

int main(void)
{
	one_name();
	expressions();
	lists();
	mistakes();
	world_fini();
	return failures ? 1 : 0;
}
