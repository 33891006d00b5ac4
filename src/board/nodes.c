/*
 * board/nodes: the files of a tracing directory's tree that a board's recorder reads and writes. See control/nodes.c.
 */
#include <errno.h>

#include "control/table.h"

static int nothing(struct node_request *request, struct err *err)
{
	(void)request;
	(void)err;
	return 0;
}

static int no_tracer(struct node_request *request, struct err *err)
{
	(void)err;
	buf_puts(&request->out, "nop\n");
	return 0;
}

static int refuse(struct node_request *request, struct err *err)
{
	(void)request;
	return err_set(err, -EOPNOTSUPP, "filters, triggers and tracers for programs are not in a board's ringside: of a kernel's events its own hold");
}

const struct node control_nodes[] = {
	{ "available_events", node_available_read, NULL, NULL, NODE_TOP, "" },
	{ "buffer_percent", node_percent_read, node_percent_write, NULL, 0, "" },
	{ "buffer_size_kb", node_size_read, node_size_write, NULL, 0, "" },
	{ "buffer_subbuf_size_kb", node_subbuf_read, node_subbuf_write, NULL, 0, "" },
	{ "current_tracer", no_tracer, refuse, NULL, 0, "" },
	{ "events/enable", node_enable_read, node_enable_write, NULL, 0, "" },
	{ "events/ftrace/bprint/format", node_bprint_format_read, NULL, NULL, 0, "" },
	{ "events/ftrace/kernel_stack/format", node_kernel_stack_format_read, NULL, NULL, 0, "" },
	{ "events/ftrace/print/format", node_print_format_read, NULL, NULL, 0, "" },
	{ "events/ftrace/raw_data/format", node_raw_data_format_read, NULL, NULL, 0, "" },
	{ "events/header_event", node_header_event_read, NULL, NULL, 0, "" },
	{ "events/header_page", node_header_page_read, NULL, NULL, 0, "" },
	{ "events/*/enable", node_enable_read, node_enable_write, NULL, 0, "" },
	{ "events/*/filter", nothing, refuse, NULL, 0, "" },
	{ "events/*/*/enable", node_enable_read, node_enable_write, NULL, 0, "" },
	{ "events/*/*/filter", nothing, refuse, NULL, 0, "" },
	{ "events/*/*/format", node_format_read, NULL, NULL, 0, "" },
	{ "events/*/*/id", node_id_read, NULL, NULL, 0, "" },
	{ "events/*/*/trigger", nothing, refuse, NULL, 0, "" },
	{ "options/@", node_option_read, node_option_write, NULL, 0, "" },
	{ "per_cpu/cpu#/buffer_size_kb", node_cpu_size_read, node_cpu_size_write, NULL, 0, "" },
	{ "per_cpu/cpu#/stats", node_stats_read, NULL, NULL, 0, "" },
	{ "printk_formats", node_printk_formats_read, NULL, NULL, NODE_TOP, "" },
	{ "saved_cmdlines", node_cmdlines_read, NULL, NULL, NODE_TOP, "" },
	{ "saved_tgids", node_tgids_read, NULL, NULL, NODE_TOP, "" },
	{ "set_event", node_set_event_read, node_set_event_write, NULL, NODE_AT_OPEN, "" },
	{ "set_event_notrace_pid", node_not_pids_read, node_not_pids_write, NULL, NODE_AT_OPEN, "" },
	{ "set_event_pid", node_only_pids_read, node_only_pids_write, NULL, NODE_AT_OPEN, "" },
	{ "trace_clock", node_clock_read, node_clock_write, NULL, 0, "" },
	{ "trace_options", node_options_read, node_options_write, NULL, 0, "" },
	{ "tracing_cpumask", node_cpumask_read, node_cpumask_write, NULL, 0, "" },
	{ "tracing_on", node_tracing_on_read, node_tracing_on_write, NULL, 0, "" },
};

const uint32_t control_nodes_nr = sizeof(control_nodes) / sizeof(control_nodes[0]);
