/*
 * control/node: between the tree, which finds a file by its path, and the functions that read and
 * write its text. Private to the room.
 */
#ifndef CONTROL_NODE_H
#define CONTROL_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"
#include "control/tree.h"

/* One access to one file. */
struct node_request {
	struct control *control;
	uint32_t buffer;		/* index of the buffer it is about */
	char part[2][64];		/* what stood in the place of the pattern's stars */
	uint32_t cpu;			/* of per_cpu/cpuN */
	/* Reading: text is collected here, and handed on by node_flush() when there is somebody. */
	struct buf out;
	tree_put *put;
	void *ctx;
	/* Writing. */
	const char *text;
	size_t len;
	bool trunc;
};

/* Hands on what was collected, if somebody takes it piece by piece. */
int node_flush(struct node_request *request);

/* The buffer that the request is about, in the state last read. */
struct state_buffer *node_buffer(const struct node_request *request);

/*
 * One unsigned decimal with an optional newline behind it, as the kernel reads one: -EINVAL or
 * -ERANGE, with words.
 */
int node_number(const struct node_request *request, uint64_t *value, struct err *err);

/* The same for files that take 0 or 1 only. */
int node_switch(const struct node_request *request, bool *on, struct err *err);

/* The text without surrounding blanks equals `word`. */
bool node_is(const struct node_request *request, const char *word);

/* files.c */
int node_tracing_on_read(struct node_request *request, struct err *err);
int node_tracing_on_write(struct node_request *request, struct err *err);
int node_tracer_read(struct node_request *request, struct err *err);
int node_tracer_write(struct node_request *request, struct err *err);
int node_clock_read(struct node_request *request, struct err *err);
int node_clock_write(struct node_request *request, struct err *err);
int node_size_read(struct node_request *request, struct err *err);
int node_size_write(struct node_request *request, struct err *err);
int node_total_size_read(struct node_request *request, struct err *err);
int node_marker_write(struct node_request *request, struct err *err);
int node_cmdlines_read(struct node_request *request, struct err *err);
int node_printk_formats_read(struct node_request *request, struct err *err);
int node_header_page_read(struct node_request *request, struct err *err);
int node_header_event_read(struct node_request *request, struct err *err);

/* events.c */
int node_available_read(struct node_request *request, struct err *err);
int node_set_event_read(struct node_request *request, struct err *err);
int node_set_event_write(struct node_request *request, struct err *err);
int node_enable_read(struct node_request *request, struct err *err);
int node_enable_write(struct node_request *request, struct err *err);
int node_format_read(struct node_request *request, struct err *err);
int node_id_read(struct node_request *request, struct err *err);

/* enable.c */
int node_print_format_read(struct node_request *request, struct err *err);
int node_bprint_format_read(struct node_request *request, struct err *err);

/* trace.c */
int node_trace_read(struct node_request *request, struct err *err);
int node_trace_write(struct node_request *request, struct err *err);
int node_cpu_trace_read(struct node_request *request, struct err *err);
int node_cpu_trace_write(struct node_request *request, struct err *err);
int node_pipe_raw_read(struct node_request *request, struct err *err);
int node_stats_read(struct node_request *request, struct err *err);

#endif
