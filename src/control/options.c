/*
 * control/options: trace_options and options/: what is listed here does what the kernel's option of that name does.
 */
#include <errno.h>
#include <string.h>

#include "control/buffer.h"
#include "control/func.h"
#include "control/node.h"

#define OF_BUFFERS false, TRACER_NOP
#define OF_TRACERS true, TRACER_NOP
#define OF_FUNCTION true, TRACER_FUNCTION
#define OF_GRAPH true, TRACER_GRAPH

/*
 * In the kernel's order. Those behind the buffers' own are of tracers (`tracer`): trace_options has them while their tracer is
 * chosen, options/ always.
 */
static const struct option {
	const char *name;
	uint32_t flag;
	enum { ANYWHERE, TOP, INSTANCES } where;
	bool of_tracer;		/* the flag is one of TRACER_FLAG_* */
	uint32_t tracer;	/* whose it is; TRACER_NOP: everybody's */
} options[] = {
	{ "print-parent", BUFFER_PRINT_PARENT, ANYWHERE, OF_BUFFERS },
	{ "sym-offset", BUFFER_SYM_OFFSET, ANYWHERE, OF_BUFFERS },
	{ "sym-addr", BUFFER_SYM_ADDR, ANYWHERE, OF_BUFFERS },
	{ "verbose", BUFFER_VERBOSE, ANYWHERE, OF_BUFFERS },
	{ "raw", BUFFER_RAW, ANYWHERE, OF_BUFFERS },
	{ "hex", BUFFER_HEX, ANYWHERE, OF_BUFFERS },
	{ "bin", BUFFER_BIN, ANYWHERE, OF_BUFFERS },
	{ "block", BUFFER_BLOCK, ANYWHERE, OF_BUFFERS },
	{ "fields", BUFFER_FIELDS, ANYWHERE, OF_BUFFERS },
	{ "trace_printk", BUFFER_TRACE_PRINTK, TOP, OF_BUFFERS },
	{ "annotate", BUFFER_ANNOTATE, ANYWHERE, OF_BUFFERS },
	{ "printk-msg-only", BUFFER_PRINTK_MSG_ONLY, TOP, OF_BUFFERS },
	{ "context-info", BUFFER_CONTEXT_INFO, ANYWHERE, OF_BUFFERS },
	{ "latency-format", BUFFER_LATENCY_FORMAT, ANYWHERE, OF_BUFFERS },
	{ "record-cmd", BUFFER_RECORD_CMD, TOP, OF_BUFFERS },
	{ "record-tgid", BUFFER_RECORD_TGID, ANYWHERE, OF_BUFFERS },
	{ "overwrite", BUFFER_OVERWRITE, ANYWHERE, OF_BUFFERS },
	{ "disable_on_free", BUFFER_DISABLE_ON_FREE, ANYWHERE, OF_BUFFERS },
	{ "irq-info", BUFFER_IRQ_INFO, ANYWHERE, OF_BUFFERS },
	{ "markers", BUFFER_MARKERS, ANYWHERE, OF_BUFFERS },
	{ "event-fork", BUFFER_EVENT_FORK, ANYWHERE, OF_BUFFERS },
	{ "trace_printk_dest", BUFFER_PRINTK_DEST, ANYWHERE, OF_BUFFERS },
	{ "pause-on-trace", BUFFER_PAUSE_ON_TRACE, ANYWHERE, OF_BUFFERS },
	{ "function-trace", TRACER_FLAG_FUNCTION_TRACE, ANYWHERE, OF_TRACERS },
	{ "function-fork", TRACER_FLAG_FUNCTION_FORK, ANYWHERE, OF_TRACERS },
	{ "stacktrace", BUFFER_STACKTRACE, ANYWHERE, OF_BUFFERS },
	{ "copy_trace_marker", BUFFER_COPY_MARKERS, INSTANCES, OF_BUFFERS },
	{ "func_stack_trace", TRACER_FLAG_FUNC_STACK, ANYWHERE, OF_FUNCTION },
	{ "func-args", TRACER_FLAG_FUNC_ARGS, ANYWHERE, OF_FUNCTION },
	{ "funcgraph-overrun", TRACER_FLAG_GRAPH_OVERRUN, ANYWHERE, OF_GRAPH },
	{ "funcgraph-cpu", TRACER_FLAG_GRAPH_CPU, ANYWHERE, OF_GRAPH },
	{ "funcgraph-overhead", TRACER_FLAG_GRAPH_OVERHEAD, ANYWHERE, OF_GRAPH },
	{ "funcgraph-proc", TRACER_FLAG_GRAPH_PROC, ANYWHERE, OF_GRAPH },
	{ "funcgraph-duration", TRACER_FLAG_GRAPH_DURATION, ANYWHERE, OF_GRAPH },
	{ "funcgraph-abstime", TRACER_FLAG_GRAPH_ABSTIME, ANYWHERE, OF_GRAPH },
	{ "funcgraph-irqs", TRACER_FLAG_GRAPH_IRQS, ANYWHERE, OF_GRAPH },
	{ "funcgraph-tail", TRACER_FLAG_GRAPH_TAIL, ANYWHERE, OF_GRAPH },
	{ "funcgraph-args", TRACER_FLAG_GRAPH_ARGS, ANYWHERE, OF_GRAPH },
	{ "funcgraph-retval", TRACER_FLAG_GRAPH_RETVAL, ANYWHERE, OF_GRAPH },
	{ "funcgraph-retval-hex", TRACER_FLAG_GRAPH_RETVAL_HEX, ANYWHERE, OF_GRAPH },
	{ "sleep-time", TRACER_FLAG_SLEEP_TIME, ANYWHERE, OF_GRAPH },
	{ "graph-time", TRACER_FLAG_GRAPH_TIME, ANYWHERE, OF_GRAPH },
};

#define NOPTIONS (sizeof(options) / sizeof(options[0]))
#define WORD_MAX 64

static bool is_at(const struct option *option, bool top)
{
	return option->where != (top ? INSTANCES : TOP) && (!option->of_tracer || control_tracer_is_here(TRACER_FUNCTION));
}

/* Has trace_options it, too? */
static bool is_current(const struct node_request *request, const struct option *option)
{
	return option->tracer == TRACER_NOP || option->tracer == node_buffer(request)->tracer;
}

static const struct option *find(const char *name, bool top)
{
	for (size_t i = 0; i < NOPTIONS; i++)
		if (!strcmp(options[i].name, name) && is_at(&options[i], top))
			return &options[i];
	return NULL;
}

const char *node_option_name(uint32_t i, bool top)
{
	for (size_t j = 0; j < NOPTIONS; j++)
		if (is_at(&options[j], top) && !i--)
			return options[j].name;
	return NULL;
}

/* Of the buffer that has trace_printk_dest; the top one when none does. */
static uint32_t printk_dest(const struct control_state *state)
{
	for (uint32_t i = 1; i < state->nbuffers; i++)
		if (state->buffers[i].born && state->buffers[i].flags & BUFFER_PRINTK_DEST)
			return i;
	return 0;
}

static bool is_on(const struct node_request *request, const struct option *option)
{
	if (!option->of_tracer && option->flag == BUFFER_PRINTK_DEST)
		return printk_dest(&request->control->state) == request->buffer;
	return (option->of_tracer ? node_buffer(request)->tracer_flags : node_buffer(request)->flags) & option->flag;
}

static int set_printk_dest(struct node_request *request, bool on, struct err *err)
{
	struct control_state *state = &request->control->state;

	if (!on && printk_dest(state) == request->buffer)
		return err_set(err, -EINVAL, "it must go somewhere: switch it on where it is to go");
	if (on) {
		for (uint32_t i = 0; i < state->nbuffers; i++)
			state->buffers[i].flags &= ~(uint32_t)BUFFER_PRINTK_DEST;
		node_buffer(request)->flags |= BUFFER_PRINTK_DEST;
		return control_buffer_expand(request->control, node_buffer(request), err);
	}
	return 0;
}

static int set(struct node_request *request, const struct option *option, bool on, struct err *err)
{
	struct state_buffer *buffer = node_buffer(request);
	uint32_t *flags = option->of_tracer ? &buffer->tracer_flags : &buffer->flags;
	uint32_t own = option->of_tracer ? 0 : option->flag;

	if (own == BUFFER_PRINTK_DEST)
		return set_printk_dest(request, on, err);
	if (own == BUFFER_OVERWRITE)
		return control_buffer_overwrite(request->control, buffer, on, err);
	*flags &= ~option->flag;
	if (on)
		*flags |= option->flag;
	if (on && own == BUFFER_COPY_MARKERS)
		return control_buffer_expand(request->control, buffer, err);
	return 0;
}

static int change(struct node_request *request, const struct option *option, bool on,
		  struct err *err)
{
	int r = node_begin(request, err);

	if (r)
		return r;
	return control_end(request->control, set(request, option, on, err), err);
}

int node_options_read(struct node_request *request, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < NOPTIONS; i++)
		if (is_at(&options[i], !request->buffer) && is_current(request, &options[i]))
			buf_printf(&request->out, "%s%s\n", is_on(request, &options[i]) ? "" : "no",
				   options[i].name);
	return 0;
}

int node_options_write(struct node_request *request, struct err *err)
{
	const struct option *option;
	char word[WORD_MAX];
	bool on;

	if (request->len >= WORD_MAX)
		return err_set(err, -EINVAL, "no option has so long a name");
	node_word(request, word, sizeof(word));
	on = strncmp(word, "no", 2) != 0;
	option = find(word + (on ? 0 : 2), !request->buffer);
	if (!option || !is_current(request, option))
		return err_set(err, -EINVAL, "there is no option '%s': read the file for those there "
			       "are", word);
	return change(request, option, on, err);
}

int node_option_read(struct node_request *request, struct err *err)
{
	const struct option *option = find(request->part[0], !request->buffer);

	if (!option)
		return err_set(err, -ENODEV, "is gone");
	buf_puts(&request->out, is_on(request, option) ? "1\n" : "0\n");
	return 0;
}

int node_option_write(struct node_request *request, struct err *err)
{
	const struct option *option = find(request->part[0], !request->buffer);
	bool on;
	int r;

	r = option ? node_switch(request, &on, err) : err_set(err, -ENODEV, "is gone");
	return r ? r : change(request, option, on, err);
}
