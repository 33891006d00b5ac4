/*
 * control/files: the tree's files about a buffer as a whole that are about nothing else.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/buffer.h"
#include "control/clock.h"
#include "control/hooks.h"
#include "control/node.h"

int node_tracing_on_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_printf(&request->out, "%d\n", control_buffer_is_on(request->control, request->buffer) ? 1 : 0);
	return 0;
}

int node_tracing_on_write(struct node_request *request, struct err *err)
{
	uint64_t on;
	int r;

	/* Unlike the other switches it takes any number. */
	r = node_number(request, &on, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	return control_end(request->control, control_buffer_switch(request->control, request->buffer, on, err), err);
}

int node_clock_read(struct node_request *request, struct err *err)
{
	uint32_t now = node_buffer(request)->clock;
	const char *name;

	(void)err;
	for (uint32_t id = 0; (name = control_clock_name(id)); id++)
		buf_printf(&request->out, "%s%s%s%s", id ? " " : "", id == now ? "[" : "", name,
			   id == now ? "]" : "");
	buf_putc(&request->out, '\n');
	return 0;
}

int node_clock_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	const char *name;
	uint32_t id = 0;
	int r;

	while ((name = control_clock_name(id)) && !node_is(request, name))
		id++;
	if (!name)
		return err_set(err, -EINVAL, "there is no such clock: read the file for those there "
			       "are");
	r = node_begin(request, err);
	if (r)
		return r;
	return control_end(control, control_buffer_clock(control, node_buffer(request), id, err),
			   err);
}

int node_timestamp_mode_read(struct node_request *request, struct err *err)
{
	(void)err;
	buf_puts(&request->out, "[delta] absolute\n");
	return 0;
}

/* Groups of 32 CPUs, the highest first, as many digits as its CPUs need. */
int node_cpumask_read(struct node_request *request, struct err *err)
{
	const struct state_buffer *buffer = node_buffer(request);
	uint32_t ncpu = request->control->dir.ncpu, groups = (ncpu + 31) / 32;

	(void)err;
	for (uint32_t g = groups; g-- > 0;) {
		uint32_t bits = g + 1 == groups ? ncpu - g * 32 : 32, mask = 0;

		for (uint32_t i = 0; i < bits; i++)
			mask |= buffer_cpu_off(buffer, g * 32 + i) ? 0 : 1u << i;
		buf_printf(&request->out, "%0*" PRIx32 "%s", (int)(bits + 3) / 4, mask,
			   g ? "," : "\n");
	}
	return 0;
}

static int digit_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Reads the mask from its end; a comma stands between groups of one to eight digits. */
static int parse_cpumask(const char *text, uint64_t on[SEGMENT_NCPU_MAX / 64], uint32_t ncpu,
			 struct err *err)
{
	size_t at = strlen(text);
	uint32_t bit = 0, digits = 0;

	if (!at)
		return err_set(err, -EINVAL, "which CPUs? A mask in hexadecimal is needed");
	while (at-- > 0) {
		if (text[at] == ',' && at && digits) {
			bit = (bit + 31) / 32 * 32;
			digits = 0;
			continue;
		}
		if (!isxdigit((unsigned char)text[at]) || digits++ == 8)
			return err_set(err, -EINVAL, "'%.40s' is no mask in hexadecimal, with a comma "
				       "before each eight digits", text);
		for (int i = 0; i < 4; i++, bit++) {
			if (!(digit_of(text[at]) >> i & 1))
				continue;
			if (bit >= ncpu)
				return err_set(err, -EOVERFLOW, "there is no CPU %" PRIu32, bit);
			on[bit / 64] |= 1ull << bit % 64;
		}
	}
	return 0;
}

int node_cpumask_write(struct node_request *request, struct err *err)
{
	uint64_t on[SEGMENT_NCPU_MAX / 64] = { 0 };
	char word[SEGMENT_NCPU_MAX / 2];
	uint32_t ncpu = request->control->dir.ncpu;
	struct state_buffer *buffer;
	int r;

	if (request->len >= sizeof(word))
		return err_set(err, -EOVERFLOW, "there are not so many CPUs");
	node_word(request, word, sizeof(word));
	r = parse_cpumask(word, on, ncpu, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	buffer = node_buffer(request);
	memset(buffer->cpus_off, 0, sizeof(buffer->cpus_off));
	for (uint32_t cpu = 0; cpu < ncpu; cpu++)
		if (!(on[cpu / 64] >> cpu % 64 & 1))
			buffer->cpus_off[cpu / 64] |= 1ull << cpu % 64;
	return control_commit(request->control, err);
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
