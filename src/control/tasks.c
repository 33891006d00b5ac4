/*
 * control/tasks: the tree's files about threads, and about what their printfs look like.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/node.h"
#include "control/registry.h"

static uint32_t cmdlines_size(const struct node_request *request)
{
	uint32_t size = request->control->state.cmdlines;

	return size ? size : REGISTRY_TASKS;
}

static int put_tasks(struct node_request *request, bool tgids, struct err *err)
{
	struct control_registry registry;
	uint32_t size = cmdlines_size(request), from;
	int r;

	r = control_registry_read(&registry, &request->control->dir, CONTROL_REGISTRY_TASKS, err);
	if (r)
		return r;
	from = registry.ntasks > size ? registry.ntasks - size : 0;
	for (uint32_t i = from; i < registry.ntasks; i++) {
		if (tgids)
			buf_printf(&request->out, "%" PRId32 " %" PRId32 "\n", registry.tasks[i].tid,
				   registry.tasks[i].tgid);
		else
			buf_printf(&request->out, "%" PRId32 " %s\n", registry.tasks[i].tid,
				   registry.tasks[i].comm);
	}
	control_registry_fini(&registry);
	return 0;
}

int node_cmdlines_read(struct node_request *request, struct err *err)
{
	return put_tasks(request, false, err);
}

int node_tgids_read(struct node_request *request, struct err *err)
{
	const struct control_state *state = &request->control->state;

	for (uint32_t i = 0; i < state->nbuffers; i++)
		if (state->buffers[i].born && state->buffers[i].flags & BUFFER_RECORD_TGID)
			return put_tasks(request, true, err);
	return 0;
}

int node_cmdlines_size_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%" PRIu32 "\n", cmdlines_size(request));
	return 0;
}

int node_cmdlines_size_write(struct node_request *request, struct err *err)
{
	uint64_t size;
	int r;

	r = node_number(request, &size, err);
	if (!r && (!size || size > REGISTRY_TASKS))
		r = err_set(err, -EINVAL, "names of 1 to %u threads can be kept", REGISTRY_TASKS);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	request->control->state.cmdlines = (uint32_t)size;
	return control_commit(request->control, err);
}

static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '\n':
			buf_puts(out, "\\n");
			break;
		case '\t':
			buf_puts(out, "\\t");
			break;
		case '\\':
		case '"':
			buf_putc(out, '\\');
			buf_putc(out, *text);
			break;
		default:
			if ((unsigned char)*text < ' ')
				buf_printf(out, "\\%03o", (unsigned char)*text);
			else
				buf_putc(out, *text);
		}
	}
}

int node_printk_formats_read(struct node_request *request, struct err *err)
{
	struct control_registry registry;
	int r;

	r = control_registry_read(&registry, &request->control->dir, CONTROL_REGISTRY_FORMATS, err);
	if (r)
		return r;
	for (uint32_t i = 0; i < registry.nformats; i++) {
		buf_printf(&request->out, "0x%" PRIx64 " : \"", registry.formats[i].address);
		put_escaped(&request->out, registry.formats[i].text);
		buf_puts(&request->out, "\"\n");
	}
	control_registry_fini(&registry);
	return 0;
}

/* ---- whose events are taken ---- */

static void put_pids(struct node_request *request, uint32_t kind)
{
	const struct control_state *state = &request->control->state;

	for (uint32_t i = 0; i < state->npids; i++)
		if (state->pids[i].buffer == request->buffer && state->pids[i].kind == kind)
			buf_printf(&request->out, "%" PRId32 "\n", state->pids[i].tid);
}

/* The next number of the text: 1, 0 at the end, -EINVAL. */
static int next_pid(const char **at, const char *end, int32_t *pid, struct err *err)
{
	const char *start;
	uint64_t value = 0;

	while (*at < end && strchr(" \t\n", **at))
		(*at)++;
	if (*at == end || !**at)
		return 0;
	for (start = *at; *at < end && **at && !strchr(" \t\n", **at); (*at)++) {
		if (**at < '0' || **at > '9' || value > INT32_MAX)
			return err_set(err, -EINVAL, "'%.*s' is no thread's number",
				       end - start < 20 ? (int)(end - start) : 20, start);
		value = value * 10 + (uint64_t)(**at - '0');
	}
	if (value > INT32_MAX)
		return err_set(err, -EINVAL, "no thread has so large a number");
	*pid = (int32_t)value;
	return 1;
}

static int add_pids(struct node_request *request, uint32_t kind, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len;
	int32_t pid = 0;
	int r;

	while ((r = next_pid(&at, end, &pid, err)) == 1) {
		r = control_state_pid_add(&request->control->state, request->buffer, kind, pid);
		if (r)
			return err_set(err, r, "there is no room for so many threads");
	}
	return r;
}

static int write_pids(struct node_request *request, uint32_t kind, struct err *err)
{
	int r = node_begin(request, err);

	if (r)
		return r;
	if (request->trunc)
		control_state_pids_clear(&request->control->state, request->buffer, kind);
	return control_end(request->control, add_pids(request, kind, err), err);
}

int node_only_pids_read(struct node_request *request, struct err *err)
{
	(void)err;
	put_pids(request, STATE_PID_ONLY);
	return 0;
}

int node_only_pids_write(struct node_request *request, struct err *err)
{
	return write_pids(request, STATE_PID_ONLY, err);
}

int node_not_pids_read(struct node_request *request, struct err *err)
{
	(void)err;
	put_pids(request, STATE_PID_NOT);
	return 0;
}

int node_not_pids_write(struct node_request *request, struct err *err)
{
	return write_pids(request, STATE_PID_NOT, err);
}

/* Of functions an empty list says so. */
static int read_func_pids(struct node_request *request, uint32_t kind)
{
	size_t before = request->out.len;

	put_pids(request, kind);
	if (request->out.len == before)
		buf_puts(&request->out, "no pid\n");
	return 0;
}

int node_only_func_pids_read(struct node_request *request, struct err *err)
{
	(void)err;
	return read_func_pids(request, STATE_PID_FUNC_ONLY);
}

int node_only_func_pids_write(struct node_request *request, struct err *err)
{
	return write_pids(request, STATE_PID_FUNC_ONLY, err);
}

int node_not_func_pids_read(struct node_request *request, struct err *err)
{
	(void)err;
	return read_func_pids(request, STATE_PID_FUNC_NOT);
}

int node_not_func_pids_write(struct node_request *request, struct err *err)
{
	return write_pids(request, STATE_PID_FUNC_NOT, err);
}
