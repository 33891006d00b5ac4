/*
 * control/options: trace_options and options/: what is listed here does what the kernel's option of that name does.
 */
#include <errno.h>
#include <string.h>

#include "control/buffer.h"
#include "control/node.h"

/* In the kernel's order. */
static const struct option {
	const char *name;
	uint32_t flag;
	enum { ANYWHERE, TOP, INSTANCES } where;
} options[] = {
	{ "print-parent", BUFFER_PRINT_PARENT, ANYWHERE },
	{ "sym-offset", BUFFER_SYM_OFFSET, ANYWHERE },
	{ "sym-addr", BUFFER_SYM_ADDR, ANYWHERE },
	{ "verbose", BUFFER_VERBOSE, ANYWHERE },
	{ "raw", BUFFER_RAW, ANYWHERE },
	{ "hex", BUFFER_HEX, ANYWHERE },
	{ "bin", BUFFER_BIN, ANYWHERE },
	{ "block", BUFFER_BLOCK, ANYWHERE },
	{ "fields", BUFFER_FIELDS, ANYWHERE },
	{ "trace_printk", BUFFER_TRACE_PRINTK, TOP },
	{ "annotate", BUFFER_ANNOTATE, ANYWHERE },
	{ "printk-msg-only", BUFFER_PRINTK_MSG_ONLY, TOP },
	{ "context-info", BUFFER_CONTEXT_INFO, ANYWHERE },
	{ "latency-format", BUFFER_LATENCY_FORMAT, ANYWHERE },
	{ "record-cmd", BUFFER_RECORD_CMD, TOP },
	{ "record-tgid", BUFFER_RECORD_TGID, ANYWHERE },
	{ "overwrite", BUFFER_OVERWRITE, ANYWHERE },
	{ "disable_on_free", BUFFER_DISABLE_ON_FREE, ANYWHERE },
	{ "irq-info", BUFFER_IRQ_INFO, ANYWHERE },
	{ "markers", BUFFER_MARKERS, ANYWHERE },
	{ "event-fork", BUFFER_EVENT_FORK, ANYWHERE },
	{ "trace_printk_dest", BUFFER_PRINTK_DEST, ANYWHERE },
	{ "pause-on-trace", BUFFER_PAUSE_ON_TRACE, ANYWHERE },
	{ "stacktrace", BUFFER_STACKTRACE, ANYWHERE },
	{ "copy_trace_marker", BUFFER_COPY_MARKERS, INSTANCES },
};

#define NOPTIONS (sizeof(options) / sizeof(options[0]))
#define WORD_MAX 64

static bool is_at(const struct option *option, bool top)
{
	return option->where != (top ? INSTANCES : TOP);
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
	if (option->flag == BUFFER_PRINTK_DEST)
		return printk_dest(&request->control->state) == request->buffer;
	return node_buffer(request)->flags & option->flag;
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

	if (option->flag == BUFFER_PRINTK_DEST)
		return set_printk_dest(request, on, err);
	if (option->flag == BUFFER_OVERWRITE)
		return control_buffer_overwrite(request->control, buffer, on, err);
	buffer->flags &= ~option->flag;
	if (on)
		buffer->flags |= option->flag;
	if (on && option->flag == BUFFER_COPY_MARKERS)
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
		if (is_at(&options[i], !request->buffer))
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
	if (!option)
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
