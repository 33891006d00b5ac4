/*
 * report/graph_head: what stands above the records of a function graph. See graph.h.
 */
#include <string.h>

#include "layout/control.h"
#include "report/graph.h"
#include "report/line.h"

/* Columns by the option that brings them, 0: always; those of latency-format, which is none of these, by ~0. */
static const struct {
	uint32_t option;
	const char *first, *second;
} columns[] = {
	{ TRACER_FLAG_GRAPH_ABSTIME, "     TIME       ", "      |         " },
	{ TRACER_FLAG_GRAPH_CPU, " CPU", " |  " },
	{ TRACER_FLAG_GRAPH_PROC, "  TASK/PID       ", "   |    |        " },
	{ ~(uint32_t)0, "||||   ", "||||   " },
	{ TRACER_FLAG_GRAPH_DURATION, "  DURATION   ", "   |   |      " },
	{ 0, "               FUNCTION CALLS\n", "               |   |   |   |\n" },
};
#define NCOLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool has_column(size_t i, uint32_t options, bool latency)
{
	if (columns[i].option == ~(uint32_t)0)
		return latency;
	return !columns[i].option || options & columns[i].option;
}

/* Behind as many blanks as the columns before the flags are wide. */
static void put_legend(struct buf *out, uint32_t options)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off        \n", " / _----=> need-resched    \n", "| / _---=> hardirq/softirq \n",
		"|| / _--=> preempt-depth   \n", "||| /                      \n",
	};
	size_t width = 0;

	for (size_t i = 0; columns[i].option != ~(uint32_t)0; i++)
		width += has_column(i, options, false) ? strlen(columns[i].second) : 0;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		buf_printf(out, "#%*s%s", (int)width, "", lines[i]);
}

void report_graph_header(struct buf *out, const struct report_trace_head *head, uint32_t options, unsigned int flags)
{
	bool latency = flags & REPORT_LATENCY;

	buf_printf(out, "# tracer: %s\n#\n", head->tracer);
	if (flags & REPORT_NO_CONTEXT || (latency && (!head->entries || head->empty)))
		return;
	if (latency) {
		report_head_latency(out, head);
		put_legend(out, options);
	}
	buf_putc(out, '#');
	for (size_t i = 0; i < NCOLUMNS; i++)
		buf_puts(out, has_column(i, options, latency) ? columns[i].first : "");
	buf_putc(out, '#');
	for (size_t i = 0; i < NCOLUMNS; i++)
		buf_puts(out, has_column(i, options, latency) ? columns[i].second : "");
}
