/*
 * dat/write6: where version 6 has what, for dat/write.
 *
 * One thing behind the other, without a table of contents: sections in a fixed order, the number of
 * CPUs, options, and the top buffer. Options end before data begins, so the places of the other
 * buffers, which options tell, are filled in later.
 */
#include <errno.h>
#include <string.h>

#include "dat/form.h"
#include "dat/seven.h"

#define TAG_SIZE 10

static void head(struct dat_write *write, const struct dat_write_how *how)
{
	struct out *out = &write->out;

	out_bytes(out, "\027\010\104tracing6", 12);
	out_word(out, 1, how->big_endian);
	out_word(out, 1, how->long_size);
	out_word(out, 4, how->page_size);
}

/* What stands for a section that there is not: as many zeros as its counts have bytes. */
static void empty_section(struct dat_write *write, enum dat_id id)
{
	static const char headers[] = "header_page\0\0\0\0\0\0\0\0\0header_event\0\0\0\0\0\0\0\0";

	if (id == DAT_HEADER_INFO)
		out_bytes(&write->out, headers, sizeof(headers));
	else
		out_word(&write->out, seven_prefix(id) ? (uint32_t)seven_prefix(id) : 4, 0);
	write->sections |= 1u << id;
}

static void fill_up(struct dat_write *write, unsigned int end)
{
	for (unsigned int id = DAT_HEADER_INFO; id < end; id++)
		if (!(write->sections >> id & 1))
			empty_section(write, id);
}

static void section(struct dat_write *write, enum dat_id id, const void *payload, size_t len)
{
	if (write->sections >> id) {
		err_set(&write->out.err, -EINVAL, "cannot write %.300s: version 6 has its sections "
			"in another order", write->out.place.path);
		return;
	}
	fill_up(write, id);
	form_payload(write, id, payload, len);
}

/* Readers look for the clock beside the data only when an option has told of clocks. */
static void tell_clock(struct dat_write *write)
{
	struct buf text = BUF_INIT;

	if (write->has_clock || !*write->buffers[0].clock || write->buffers[0].text)
		return;
	buf_printf(&text, "[%s]", write->buffers[0].clock);
	form_option(write, DAT_CLOCK, text.data, text.len + 1);
	write->has_clock = true;
	buf_fini(&text);
}

/* Of each buffer but the top one: its name, and its place once it is known. */
static void tell_buffers(struct dat_write *write)
{
	struct buf value = BUF_INIT;

	for (size_t i = 1; i < write->nr_buffers; i++) {
		buf_reset(&value);
		form_word(write, &value, 8, 0);
		buf_add(&value, write->buffers[i].name, strlen(write->buffers[i].name) + 1);
		form_option(write, DAT_BUFFER, value.data, value.len);
		write->buffers[i].patch = write->options.len - value.len;
	}
	buf_fini(&value);
}

static void meta_end(struct dat_write *write)
{
	struct out *out = &write->out;

	fill_up(write, DAT_CMDLINES + 1);
	out_word(out, 4, write->nr_cpus);
	tell_clock(write);
	tell_buffers(write);
	if (!write->options.len)
		return;
	out_bytes(out, "options  ", TAG_SIZE);
	for (size_t i = 1; i < write->nr_buffers; i++)
		write->buffers[i].patch += out_pos(out);
	out_bytes(out, write->options.data, write->options.len);
	out_word(out, 2, DAT_DONE);
}

/* The table of CPUs, all without data, and the clock. */
static void begin(struct dat_write *write, struct form_buffer *buffer)
{
	struct out *out = &write->out;

	if (buffer->text) {
		out_bytes(out, "latency  ", TAG_SIZE);
		return;
	}
	if (buffer->patch)
		out_patch(out, buffer->patch, 8, out_pos(out));
	out_bytes(out, "flyrecord", TAG_SIZE);
	write->section = out_pos(out);
	for (uint32_t i = 0; i < write->nr_cpus; i++) {
		out_word(out, 8, 0);
		out_word(out, 8, 0);
	}
	if (!write->has_clock)
		return;
	out_word(out, 8, strlen(buffer->clock) + 2);
	out_bytes(out, "[", 1);
	out_bytes(out, buffer->clock, strlen(buffer->clock));
	out_bytes(out, "]", 1);
}

static void end(struct dat_write *write, struct form_buffer *buffer)
{
	struct out *out = &write->out;

	if (buffer->text)
		return;
	/* A CPU without data lies where the next would: readers want all within the file. */
	out_align(out, write->page_size);
	for (uint32_t i = 0; i < write->nr_cpus; i++) {
		const struct form_cpu *cpu = &write->cpus[i];
		uint64_t at = write->section + (uint64_t)i * 16;

		out_patch(out, at, 8, cpu->offset ? cpu->offset : out_pos(out));
		out_patch(out, at + 8, 8, cpu->size);
	}
}

static void finish(struct dat_write *write)
{
	(void)write;
}

const struct form form_6 = {
	.head = head,
	.section = section,
	.meta_end = meta_end,
	.begin = begin,
	.end = end,
	.finish = finish,
	.holds = 1u << DAT_HEADER_INFO | 1u << DAT_FTRACE_EVENTS | 1u << DAT_EVENT_FORMATS |
		 1u << DAT_KALLSYMS | 1u << DAT_PRINTK | 1u << DAT_CMDLINES,
};
