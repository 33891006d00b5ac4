/*
 * report/head: what stands above the records of a `trace` file and between them. See trace.h.
 */
#include "report/line.h"

#include <inttypes.h>

#include "decode/page.h"

/* The task's process takes ten columns, which come into each line of the picture. */
struct tgid_columns {
	const char *blank, *title, *arrow;
};

static void put_columns(struct buf *out, const struct report_trace_head *head, unsigned int flags)
{
	static const struct tgid_columns without = { "", "", "" };
	static const struct tgid_columns with = { "          ", "     TGID ", "         |" };
	const struct tgid_columns *tgid = flags & REPORT_TGID ? &with : &without;
	const char *b = tgid->blank, *irq = flags & REPORT_NO_IRQ ? " " : "|||||";

	buf_printf(out,
		   "# entries-in-buffer/entries-written: %" PRIu64 "/%" PRIu64 "   #P:%u\n"
		   "#\n",
		   head->entries, head->written, head->cpus);
	if (!(flags & REPORT_NO_IRQ))
		buf_printf(out,
			   "#%s                                _-----=> irqs-off/BH-disabled\n"
			   "#%s                               / _----=> need-resched\n"
			   "#%s                              | / _---=> hardirq/softirq\n"
			   "#%s                              || / _--=> preempt-depth\n"
			   "#%s                              ||| / _-=> migrate-disable\n"
			   "#%s                              |||| /     delay\n",
			   b, b, b, b, b, b);
	buf_printf(out,
		   "#           TASK-PID  %s   CPU#  %s  TIMESTAMP  FUNCTION\n"
		   "#              | |  %s       |   %s     |         |\n",
		   tgid->title, irq, tgid->arrow, irq);
}

void report_head_latency(struct buf *out, const struct report_trace_head *head)
{
	buf_printf(out,
		   "# %s latency trace v1.1.5 on %s\n"
		   "# --------------------------------------------------------------------\n"
		   "# latency: %" PRIu64 " us, #%" PRIu64 "/%" PRIu64 ", CPU#%d |"
		   " (M:%s VP:0, KP:0, SP:0 HP:0 #P:%u)\n"
		   "#    -----------------\n"
		   "#    | task: %s-%d (uid:%u nice:%d policy:%d rt_prio:%d)\n"
		   "#    -----------------\n"
		   "#\n",
		   head->tracer, head->release ? head->release : "", head->latency.us,
		   head->entries, head->written, head->latency.cpu,
		   head->model ? head->model : "desktop", head->cpus,
		   head->latency.comm ? head->latency.comm : "", head->latency.pid,
		   head->latency.uid, head->latency.nice, head->latency.policy,
		   head->latency.rt_prio);
}

static void put_latency_columns(struct buf *out)
{
	buf_puts(out,
		 "#                    _------=> CPU#            \n"
		 "#                   / _-----=> irqs-off/BH-disabled\n"
		 "#                  | / _----=> need-resched    \n"
		 "#                  || / _---=> hardirq/softirq \n"
		 "#                  ||| / _--=> preempt-depth   \n"
		 "#                  |||| / _-=> migrate-disable \n"
		 "#                  ||||| /     delay           \n"
		 "#  cmd     pid     |||||| time  |   caller     \n"
		 "#     \\   /        ||||||  \\    |    /       \n");
}

void report_trace_header(struct buf *out, const struct report_trace_head *head, unsigned int flags)
{
	buf_printf(out, "# tracer: %s\n#\n", head->tracer);
	if (flags & REPORT_NO_CONTEXT)
		return;
	if (!(flags & REPORT_LATENCY)) {
		if (!(flags & REPORT_VERBOSE))
			put_columns(out, head, flags);
	} else if (head->entries && !head->empty) {
		report_head_latency(out, head);
		if (!(flags & REPORT_VERBOSE))
			put_latency_columns(out);
	}
}

void report_trace_lost(struct buf *out, int cpu, uint64_t lost)
{
	if (lost == PAGE_LOST_UNKNOWN)
		buf_printf(out, "CPU:%d [LOST EVENTS]\n", cpu);
	else
		buf_printf(out, "CPU:%d [LOST %" PRIu64 " EVENTS]\n", cpu, lost);
}

void report_trace_started(struct buf *out, int cpu, unsigned int flags)
{
	if (!(flags & (REPORT_NO_ANNOTATE | REPORT_BIN | REPORT_HEX | REPORT_RAW)))
		buf_printf(out, "##### CPU %d buffer started ####\n", cpu);
}
