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
#include "trigger/spec.h"

/* One access to one file, or one file that is open. */
struct node_request {
	struct control *control;
	uint32_t buffer;		/* place of the buffer that it is about */
	uint64_t born;			/* and which one was there when the path was looked up */
	char part[2][64];		/* what stood in the place of the pattern's stars */
	uint32_t cpu;			/* of per_cpu/cpuN */
	bool one_cpu;			/* there was such a part */
	bool fleeting;			/* the path is of an event that somebody may remove */
	/* Reading: text is collected here, and handed on by node_flush() when there is somebody. */
	struct buf out;
	tree_put *put;
	void *ctx;
	bool once;			/* of files that are followed: what is there at the beginning, and no more */
	/* Writing. */
	const char *text;
	size_t len;
	bool trunc;
	const struct tree_caller *caller;	/* NULL: this thread */
	size_t taken;			/* out: how much of the text, if less than all */
	struct spec_error error;	/* out, of files that say so: what error_log shows of a refusal */
};

/*
 * A file whose text is made while it is read, or that blocks when there is none. State between open and close is
 * the file's own.
 */
struct node_flow {
	int (*open)(struct node_request *request, void **flow, struct err *err);
	/* Appends about `want` bytes: 1, 0 at the end, -EAGAIN when there is nothing now. */
	int (*more)(struct node_request *request, void *flow, size_t want, struct err *err);
	void (*close)(struct node_request *request, void *flow);
	/* Of those that block; see tree_wait() and tree_ready(). NULL of others. */
	int (*wait)(struct node_request *request, void *flow, int timeout_ms, struct err *err);
	bool (*ready)(struct node_request *request, void *flow);
	/* Of files of pages; see tree_map(). */
	int (*map)(struct node_request *request, void *flow, int fd, struct err *err);
	int (*turn)(struct node_request *request, void *flow, struct err *err);
};

/* Hands on what was collected, if somebody takes it piece by piece. */
int node_flush(struct node_request *request);

/* The buffer that the request is about, in the state last read. */
struct state_buffer *node_buffer(const struct node_request *request);

/* control_follow() and control_begin() for a file: -ENODEV when its buffer is no more. */
int node_refresh(struct node_request *request, struct err *err);
int node_begin(struct node_request *request, struct err *err);

/*
 * One unsigned decimal with an optional newline behind it, as the kernel reads one: -EINVAL or
 * -ERANGE, with words.
 */
int node_number(const struct node_request *request, uint64_t *value, struct err *err);

/* The same for files that take 0 or 1 only. */
int node_switch(const struct node_request *request, bool *on, struct err *err);

/* The text without surrounding blanks equals `word`. */
bool node_is(const struct node_request *request, const char *word);

/* The text without surrounding blanks, cut to fit. */
void node_word(const struct node_request *request, char *word, size_t size);

#define NODE_READ(name) int node_##name##_read(struct node_request *request, struct err *err)
#define NODE_WRITE(name) int node_##name##_write(struct node_request *request, struct err *err)
#define NODE_BOTH(name) NODE_READ(name); NODE_WRITE(name)

/* files.c */
NODE_BOTH(tracing_on);
NODE_BOTH(clock);
NODE_READ(timestamp_mode);
NODE_BOTH(cpumask);
NODE_READ(header_page);
NODE_READ(header_event);
NODE_READ(readme);

/* func.c */
NODE_READ(tracers);
NODE_BOTH(tracer);
NODE_BOTH(graph_depth);
NODE_BOTH(thresh);

/* measure_files.c */
NODE_BOTH(profile);
NODE_READ(function_stat);
NODE_BOTH(stack_tracer);
NODE_BOTH(stack_size);
NODE_READ(stack_trace);

/* func_list.c, and for writing func_filter.c */
NODE_READ(functions);
NODE_READ(functions_addrs);
NODE_READ(functions_enabled);
NODE_READ(functions_total);
NODE_BOTH(ftrace_filter);
NODE_BOTH(ftrace_notrace);
NODE_BOTH(graph_function);
NODE_BOTH(graph_notrace);
NODE_BOTH(stack_filter);
NODE_READ(functions_touched);

/* sizes.c */
NODE_BOTH(size);
NODE_BOTH(cpu_size);
NODE_READ(total_size);
NODE_BOTH(subbuf);
NODE_BOTH(percent);
NODE_WRITE(free_buffer);

/* tasks.c */
NODE_READ(cmdlines);
NODE_BOTH(cmdlines_size);
NODE_READ(tgids);
NODE_READ(printk_formats);
NODE_BOTH(only_pids);
NODE_BOTH(not_pids);
NODE_BOTH(only_func_pids);
NODE_BOTH(not_func_pids);

/* options.c */
NODE_BOTH(options);
NODE_BOTH(option);
/* The i-th option that a buffer has; NULL behind the last. */
const char *node_option_name(uint32_t i, bool top);

/* mark.c */
NODE_WRITE(marker);
NODE_WRITE(marker_raw);
NODE_WRITE(inject);

/* errors.c */
NODE_BOTH(errors);

/* events.c */
NODE_READ(available);
NODE_BOTH(set_event);
NODE_BOTH(enable);
NODE_READ(format);
NODE_READ(id);

/* filter.c */
NODE_BOTH(filter);
NODE_READ(filters);

/* trigger.c */
struct control_items;
NODE_BOTH(trigger);
NODE_BOTH(print_trigger);
NODE_READ(triggers);
NODE_READ(print_hist);
bool node_print_hist_mark(struct node_request *request, uint64_t *mark);
/* As `trigger` shows the i-th item, without newline. */
void node_trigger_show(const struct control_items *items, uint32_t i, struct buf *out);

/* hist.c */
NODE_READ(hist);
NODE_READ(hist_debug);
/* A number that is another one when there were hits since. False: it cannot be told. */
bool node_hist_mark(struct node_request *request, uint64_t *mark);

/* dynamic_files.c */
NODE_BOTH(synthetic);
NODE_BOTH(dynamic);
NODE_BOTH(kprobes);
NODE_BOTH(uprobes);
/* probes.c */
NODE_READ(kprobe_profile);
NODE_READ(uprobe_profile);

/* enable.c */
NODE_READ(function_format);
NODE_READ(graph_entry_format);
NODE_READ(graph_exit_format);
NODE_READ(print_format);
NODE_READ(bprint_format);
NODE_READ(kernel_stack_format);
NODE_READ(raw_data_format);

/* trace.c */
NODE_WRITE(trace);
NODE_READ(stats);
NODE_WRITE(snapshot);
extern const struct node_flow node_trace_flow, node_snapshot_flow;

/* pipe.c */
extern const struct node_flow node_pipe_flow, node_raw_flow, node_snapshot_raw_flow;

#endif
