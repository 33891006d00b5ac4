/*
 * decode/plugin_sched: the scheduler's switches and wakeups as trace-cmd's plugin prints them; see
 * handler.h. They also tell the names of tasks.
 */
#include "decode/handler.h"

enum { PREV_PID, NEXT_PID, PREV_COMM, NEXT_COMM, PREV_PRIO, NEXT_PRIO, PREV_STATE };
enum { PID, COMM, PRIO, SUCCESS, TARGET_CPU };

static void learn(const struct handling *h, int pid, int comm)
{
	struct decode_bytes text = handler_text(h, comm);

	if (h->moment->learn && handler_has(h, comm))
		h->moment->learn(h->moment->arg, (int32_t)handler_num(h, pid),
				 (const char *)text.data, text.len);
}

static void missing(const struct handling *h, int field)
{
	const char *name = h->plugin->handler->fields[field];

	sink_puts(h->s, "<CANT FIND FIELD ");
	sink_puts(h->s, name + (*name == '?'));
	sink_putc(h->s, '>');
}

static void put_task(const struct handling *h, int comm, int pid)
{
	struct decode_bytes text;

	if (handler_has(h, comm)) {
		text = handler_text(h, comm);
		sink_text(h->s, text.data, text.len, h->f.escape);
		sink_putc(h->s, ':');
	}
	sink_dec(h->s, handler_num(h, pid));
}

/* Of switches it has a sign. */
static void put_prio(const struct handling *h, int prio)
{
	int32_t v = (int32_t)handler_num(h, prio);

	sink_putc(h->s, '[');
	if (v < 0)
		sink_putc(h->s, '-');
	sink_dec(h->s, v < 0 ? 0u - (uint32_t)v : (uint32_t)v);
	sink_putc(h->s, ']');
}

/* A letter for each bit, R for none of them. */
static void put_state(uint64_t state, struct sink *s)
{
	static const char letters[] = "SDTtZXxW";
	bool first = true;

	for (int i = 0; letters[i]; i++) {
		if (!(state & (uint64_t)1 << i))
			continue;
		if (!first)
			sink_putc(s, '|');
		sink_putc(s, letters[i]);
		first = false;
	}
	if (first)
		sink_putc(s, 'R');
}

static void pass_switch(const struct handling *h)
{
	learn(h, PREV_PID, PREV_COMM);
	learn(h, NEXT_PID, NEXT_COMM);
}

static enum handled print_switch(const struct handling *h)
{
	pass_switch(h);
	put_task(h, PREV_COMM, PREV_PID);
	sink_putc(h->s, ' ');
	if (handler_has(h, PREV_PRIO)) {
		put_prio(h, PREV_PRIO);
		sink_putc(h->s, ' ');
	} else {
		missing(h, PREV_PRIO);
	}
	if (handler_has(h, PREV_STATE))
		put_state(handler_num(h, PREV_STATE), h->s);
	else
		missing(h, PREV_STATE);
	sink_add(h->s, " ==> ", 5);
	put_task(h, NEXT_COMM, NEXT_PID);
	if (handler_has(h, NEXT_PRIO)) {
		sink_putc(h->s, ' ');
		put_prio(h, NEXT_PRIO);
	} else {
		missing(h, NEXT_PRIO);
	}
	return HANDLED;
}

static void pass_wakeup(const struct handling *h)
{
	learn(h, PID, COMM);
}

static enum handled print_wakeup(const struct handling *h)
{
	static const struct conv cpu = { .kind = 'u', .size = 8, .width = 3, .prec = -1,
					 .flags = CONV_ZERO };

	pass_wakeup(h);
	put_task(h, COMM, PID);
	if (handler_has(h, PRIO)) {
		sink_add(h->s, " [", 2);
		sink_dec(h->s, handler_num(h, PRIO));
		sink_putc(h->s, ']');
	} else {
		missing(h, PRIO);
	}
	if (handler_has(h, SUCCESS)) {
		sink_puts(h->s, " success=");
		sink_dec(h->s, handler_num(h, SUCCESS));
	}
	if (handler_has(h, TARGET_CPU)) {
		sink_puts(h->s, " CPU:");
		conv_int(h->s, &cpu, handler_num(h, TARGET_CPU), false);
	}
	return HANDLED;
}

#define WAKEUP_FIELDS { "pid", "?comm", "?prio", "?success", "?target_cpu" }

const struct handler sched_handlers[] = {
	{ "sched", "sched_switch", { "prev_pid", "next_pid", "?prev_comm", "?next_comm",
				     "?prev_prio", "?next_prio", "?prev_state" }, print_switch,
	  pass_switch },
	{ "sched", "sched_wakeup", WAKEUP_FIELDS, print_wakeup, pass_wakeup },
	{ "sched", "sched_wakeup_new", WAKEUP_FIELDS, print_wakeup, pass_wakeup },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
