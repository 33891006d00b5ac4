/*
 * control/sizes: the tree's files about how much a buffer holds.
 */
#include <errno.h>
#include <inttypes.h>

#include "control/buffer.h"
#include "control/hooks.h"
#include "control/node.h"

/* A size in the kernel's way: what there is, and what there will be once it is needed. */
static void put_size(struct node_request *request, uint64_t kb)
{
	if (node_buffer(request)->live.offset)
		buf_printf(&request->out, "%" PRIu64 "\n", kb);
	else
		buf_printf(&request->out, "0 (expanded: %" PRIu64 ")\n", kb);
}

static uint64_t cpu_kb(struct node_request *request, uint32_t cpu)
{
	const struct state_buffer *buffer = node_buffer(request);

	return control_kb_from_pages(control_buffer_cpu_npages(request->control, buffer, cpu),
				     buffer->page_size);
}

int node_size_read(struct node_request *request, struct err *err)
{
	const struct state_buffer *buffer = node_buffer(request);

	(void)err;
	if (control_buffer_cpus_differ(request->control, buffer))
		buf_puts(&request->out, "X\n");
	else
		put_size(request, control_kb_from_pages(buffer->npages, buffer->page_size));
	return 0;
}

int node_cpu_size_read(struct node_request *request, struct err *err)
{
	(void)err;
	put_size(request, cpu_kb(request, request->cpu));
	return 0;
}

int node_total_size_read(struct node_request *request, struct err *err)
{
	uint64_t sum = 0;

	(void)err;
	for (uint32_t cpu = 0; cpu < request->control->dir.ncpu; cpu++)
		sum += cpu_kb(request, cpu);
	put_size(request, sum);
	return 0;
}

static int resize(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer *buffer = node_buffer(request);
	uint64_t kb, npages;
	int r;

	r = node_number(request, &kb, err);
	if (!r && !kb)
		r = err_set(err, -EINVAL, "a buffer of size 0 cannot be: use tracing_on to stop");
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	npages = control_pages_from_kb(kb, buffer->page_size);
	if (request->one_cpu)
		r = control_buffer_resize_cpu(control, buffer, request->cpu, npages, err);
	else
		r = control_buffer_resize(control, buffer, npages, err);
	if (!r)
		r = control_buffer_expand(control, buffer, err);
	return control_end(control, r, err);
}

int node_size_write(struct node_request *request, struct err *err)
{
	return resize(request, err);
}

int node_cpu_size_write(struct node_request *request, struct err *err)
{
	return resize(request, err);
}

int node_subbuf_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%" PRIu32 "\n", node_buffer(request)->page_size / 1024);
	return 0;
}

int node_subbuf_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	uint32_t size = PAGE_SIZE_MIN;
	uint64_t kb;
	int r;

	r = node_number(request, &kb, err);
	if (!r && (!kb || kb > PAGE_SIZE_MAX / 1024))
		r = err_set(err, -EINVAL, "a page has 1 to %u KiB", PAGE_SIZE_MAX / 1024);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	while (size < kb * 1024)
		size *= 2;
	r = control_buffer_subbuf(control, node_buffer(request), size, err);
	return control_end(control, r, err);
}

int node_percent_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%" PRIu32 "\n", node_buffer(request)->percent);
	return 0;
}

int node_percent_write(struct node_request *request, struct err *err)
{
	uint64_t percent;
	int r;

	r = node_number(request, &percent, err);
	if (!r && percent > 100)
		r = err_set(err, -EINVAL, "a percentage is 0 to 100");
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	node_buffer(request)->percent = (uint32_t)percent;
	return control_commit(request->control, err);
}

/* Whatever was written: the memory goes back, and tracing stops if that was wished for. */
int node_free_buffer_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	struct state_buffer *buffer;
	int r = node_begin(request, err);

	if (r)
		return r;
	buffer = node_buffer(request);
	if (buffer->flags & BUFFER_DISABLE_ON_FREE)
		r = control_buffer_switch(control, request->buffer, false, err);
	if (!r)
		r = control_buffer_resize(control, buffer, RING_NPAGES_MIN, err);
	if (!r)
		r = control_buffer_clear(control, buffer, err);
	return control_end(control, r, err);
}
