/*
 * control/files: the tree's files that are not about single events or about the trace's content.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/buffer.h"
#include "control/mark.h"
#include "control/node.h"
#include "control/registry.h"

int node_tracing_on_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%d\n", node_buffer(request)->flags & BUFFER_ON ? 1 : 0);
	return 0;
}

int node_tracing_on_write(struct node_request *request, struct err *err)
{
	uint64_t on;
	int r;

	/* Unlike the other switches it takes any number. */
	r = node_number(request, &on, err);
	if (!r)
		r = control_begin(request->control, err);
	if (r)
		return r;
	if (on)
		node_buffer(request)->flags |= BUFFER_ON;
	else
		node_buffer(request)->flags &= ~(uint32_t)BUFFER_ON;
	return control_commit(request->control, err);
}

int node_tracer_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_puts(&request->out, "nop\n");
	return 0;
}

int node_tracer_write(struct node_request *request, struct err *err)
{
	if (!node_is(request, "nop"))
		return err_set(err, -EINVAL, "there is no such tracer: see available_tracers");
	return 0;
}

int node_clock_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_puts(&request->out, "[local]\n");
	return 0;
}

int node_clock_write(struct node_request *request, struct err *err)
{
	if (!node_is(request, "local"))
		return err_set(err, -EINVAL, "there is no such clock: read the file for those there "
			       "are");
	return 0;
}

/* A size in the kernel's way: what there is, and what there will be once it is needed. */
static void put_size(struct node_request *request, uint32_t times)
{
	const struct state_buffer *buffer = node_buffer(request);
	uint64_t kb = control_kb_from_pages(buffer->npages, buffer->page_size);

	if (buffer->live.offset)
		buf_printf(&request->out, "%" PRIu64 "\n", kb * times);
	else
		buf_printf(&request->out, "0 (expanded: %" PRIu64 ")\n", kb * times);
}

int node_size_read(struct node_request *request, struct err *err)
{
	(void)err;
	put_size(request, 1);
	return 0;
}

int node_total_size_read(struct node_request *request, struct err *err)
{
	(void)err;
	put_size(request, request->control->dir.ncpu);
	return 0;
}

int node_size_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer *buffer = node_buffer(request);
	uint64_t kb;
	int r;

	r = node_number(request, &kb, err);
	if (!r && !kb)
		r = err_set(err, -EINVAL, "a buffer of size 0 cannot be: use tracing_on to stop");
	if (!r)
		r = control_begin(control, err);
	if (r)
		return r;
	r = control_buffer_resize(control, buffer, control_pages_from_kb(kb, buffer->page_size),
				  err);
	if (!r)
		r = control_buffer_expand(control, buffer, err);
	return control_end(control, r, err);
}

int node_marker_write(struct node_request *request, struct err *err)
{
	return control_mark(request->control, request->text, request->len, err);
}

int node_cmdlines_read(struct node_request *request, struct err *err)
{
	struct control_registry registry;
	int r;

	r = control_registry_read(&registry, &request->control->dir, CONTROL_REGISTRY_TASKS, err);
	if (r)
		return r;
	for (uint32_t i = 0; i < registry.ntasks; i++)
		buf_printf(&request->out, "%" PRId32 " %s\n", registry.tasks[i].tid,
			   registry.tasks[i].comm);
	control_registry_fini(&registry);
	return 0;
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

int node_header_page_read(struct node_request *request, struct err *err)
{
	uint32_t data = node_buffer(request)->page_size - PAGE_HEAD_SIZE;

	(void)err;
	buf_printf(&request->out,
		   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		   "\tfield: char data;\toffset:16;\tsize:%" PRIu32 ";\tsigned:0;\n", data);
	return 0;
}

int node_header_event_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out,
		   "# compressed entry header\n"
		   "\ttype_len    :    %d bits\n"
		   "\ttime_delta  :   %d bits\n"
		   "\tarray       :   32 bits\n"
		   "\n"
		   "\tpadding     : type == %d\n"
		   "\ttime_extend : type == %d\n"
		   "\ttime_stamp : type == %d\n"
		   "\tdata max type_len  == %u\n",
		   EVENT_TYPE_BITS, EVENT_DELTA_BITS, EVENT_TYPE_PADDING, EVENT_TYPE_TIME_EXTEND,
		   EVENT_TYPE_TIME_STAMP, EVENT_LEN_MAX_SHORT / 4);
	return 0;
}
