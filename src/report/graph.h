/*
 * report/graph: records as the kernel's `trace` file shows them while function_graph is the tracer, to the column.
 *
 *    0)               |  take_order() {		an entry
 *    0)   0.312 us    |    lookup();			one whose exit is the next record of its CPU: a line for both
 *    0)               |    (order: n=3)		any other record, as a comment of C and not in parentheses
 *    0) + 15.204 us   |  }				an exit; with its name where the entry is not to be seen
 *
 * In: rows, in the order in which they are to appear, and for an entry its exit if that comes next on its CPU, which is then
 * not to come again. Options are TRACER_FLAG_GRAPH_* of layout/control.h and bits of report/trace.h. Out: text appended to a
 * buf. Any thread, each with its own graph. What records hold may be anything.
 *
 * As in the kernel records of functions and of stacks are no part of a graph, whose tracer never writes them: they have the
 * lines of report/trace.
 */
#ifndef REPORT_GRAPH_H
#define REPORT_GRAPH_H

#include "report/trace.h"

/* What each CPU was doing: its task, how deep it is, and in which functions. */
struct report_graph;
/* NULL: out of memory. */
struct report_graph *report_graph_new(uint32_t cpus);
void report_graph_free(struct report_graph *graph);

/* What stands above the records; the first two lines are those of any `trace`. */
void report_graph_header(struct buf *out, const struct report_trace_head *head, uint32_t options, unsigned int flags);

/* Is this a record of function_graph, an entry at that? */
bool report_graph_is_own(const struct report_row *row);
bool report_graph_is_entry(const struct report_row *row);
/* Is it printed by report_graph_line() when function_graph is the tracer? */
bool report_graph_has(const struct report_row *row);

/* `next` is the record that follows the entry on its CPU: is it the exit, and were they that close? */
bool report_graph_is_leaf(const struct report_row *entry, const struct report_row *next);

/* A row of which report_graph_has() says so; `exit` of a leaf, else NULL. */
void report_graph_line(struct report_graph *graph, struct buf *out, const struct report_row *row,
		       const struct report_row *exit, const struct decode_ctx *ctx, uint32_t options, unsigned int flags);

/*
 * A row of which report_graph_is_own() says so, in a buffer of another tracer: behind the columns of an ordinary line, with no
 * regard to what was before.
 */
void report_graph_alone(struct buf *out, const struct report_row *row, const struct report_row *exit,
			const struct decode_ctx *ctx, uint32_t cpus, uint32_t options, unsigned int flags);

#endif
