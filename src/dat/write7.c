/*
 * dat/write7: where version 7 has what, for dat/write.
 *
 * Sections one behind the other, each with a header. Options tell where sections lie, and are
 * sections themselves, each of which tells where the next is:
 *
 *	head -> 16 17 18 19 20 [25] [23] 21 | options -> buffer | options -> ... | strings
 */
#include <errno.h>
#include <string.h>

#include "dat/form.h"
#include "dat/seven.h"

static void head(struct dat_write *write, const struct dat_write_how *how)
{
	struct out *out = &write->out;
	struct buf start = BUF_INIT;

	seven_start(&start, how->big_endian, how->long_size, how->page_size, write->pack);
	if (buf_failed(&start))
		out_fail(out, -ENOMEM);
	else
		out_bytes(out, start.data, start.len);
	buf_fini(&start);
	write->next_options = out_pos(out);
	out_word(out, 8, 0);
}

/* Begins a section and returns where it is; its size comes with end_section(). */
static uint64_t begin_section(struct dat_write *write, enum dat_id id, bool packed,
			      const char *name, const char *more)
{
	struct out *out = &write->out;
	uint64_t at = out_pos(out);
	uint8_t bytes[SEVEN_HEAD];

	seven_head(bytes, id, packed, (uint32_t)write->strings.len, 0, out->big_endian);
	out_bytes(out, bytes, sizeof(bytes));
	buf_puts(&write->strings, name);
	buf_add(&write->strings, more, strlen(more) + 1);
	return at;
}

static void end_section(struct dat_write *write, uint64_t at)
{
	out_patch(&write->out, at + SEVEN_SIZE_AT, 8, out_pos(&write->out) - at - SEVEN_HEAD);
}

/* What is packed is packed as a whole, so it has to lie together. */
static void put_section_packed(struct dat_write *write, enum dat_id id, const void *payload,
			       size_t len)
{
	struct buf whole = BUF_INIT;

	if (!seven_prefix(id)) {
		form_packed(write, payload, len);
		return;
	}
	form_word(write, &whole, (uint32_t)seven_prefix(id), len);
	if (len)
		buf_add(&whole, payload, len);
	if (buf_failed(&whole))
		out_fail(&write->out, -ENOMEM);
	else
		form_packed(write, whole.data, whole.len);
	buf_fini(&whole);
}

static void section(struct dat_write *write, enum dat_id id, const void *payload, size_t len)
{
	uint64_t at = begin_section(write, id, write->pack, seven_name(id), "");
	uint8_t value[8];

	if (write->pack)
		put_section_packed(write, id, payload, len);
	else
		form_payload(write, id, payload, len);
	end_section(write, at);
	dat_store(value, 8, at, write->out.big_endian);
	form_option(write, id, value, 8);
}

/* Readers take them unpacked only. */
static void put_options(struct dat_write *write)
{
	struct out *out = &write->out;
	uint64_t at = out_pos(out);

	out_patch(out, write->next_options, 8, at);
	begin_section(write, DAT_DONE, false, seven_name(DAT_DONE), "");
	out_bytes(out, write->options.data, write->options.len);
	out_word(out, 2, DAT_DONE);
	out_word(out, 4, 8);
	write->next_options = out_pos(out);
	out_word(out, 8, 0);
	end_section(write, at);
	buf_reset(&write->options);
}

static void meta_end(struct dat_write *write)
{
	uint8_t value[4];

	dat_store(value, 4, write->nr_cpus, write->out.big_endian);
	form_option(write, DAT_CPUCOUNT, value, 4);
	put_options(write);
}

static enum dat_id kind_of(const struct form_buffer *buffer)
{
	return buffer->text ? DAT_BUFFER_TEXT : DAT_BUFFER;
}

static void begin(struct dat_write *write, struct form_buffer *buffer)
{
	write->section = begin_section(write, kind_of(buffer), write->pack,
				       buffer->text ? "buffer latency" : SEVEN_BUFFER,
				       buffer->text ? "" : buffer->name);
}

static void add_cpus(struct dat_write *write, struct buf *value)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < write->nr_cpus; i++)
		n += write->cpus[i].size > 0;
	form_word(write, value, 4, n);
	for (uint32_t i = 0; i < write->nr_cpus; i++) {
		if (!write->cpus[i].size)
			continue;
		form_word(write, value, 4, i);
		form_word(write, value, 8, write->cpus[i].offset);
		form_word(write, value, 8, write->cpus[i].size);
	}
}

static void end(struct dat_write *write, struct form_buffer *buffer)
{
	struct buf value = BUF_INIT;

	end_section(write, write->section);
	form_word(write, &value, 8, write->section);
	buf_add(&value, buffer->name, strlen(buffer->name) + 1);
	buf_add(&value, buffer->clock, strlen(buffer->clock) + 1);
	if (!buffer->text) {
		form_word(write, &value, 4, buffer->page_size);
		add_cpus(write, &value);
	}
	if (buf_failed(&value))
		out_fail(&write->out, -ENOMEM);
	else
		form_option(write, kind_of(buffer), value.data, value.len);
	buf_fini(&value);
	put_options(write);
}

static void put_strings(struct dat_write *write)
{
	uint64_t at = begin_section(write, DAT_STRINGS, write->pack, seven_name(DAT_STRINGS), "");

	if (write->pack)
		form_packed(write, write->strings.data, write->strings.len);
	else
		out_bytes(&write->out, write->strings.data, write->strings.len);
	end_section(write, at);
}

static void finish(struct dat_write *write)
{
	if (write->options.len)
		put_options(write);
	if (!buf_failed(&write->strings))
		put_strings(write);
}

const struct form form_7 = {
	.head = head,
	.section = section,
	.meta_end = meta_end,
	.begin = begin,
	.end = end,
	.finish = finish,
	.late_options = true,
	.packs = true,
	.holds = 1u << DAT_HEADER_INFO | 1u << DAT_FTRACE_EVENTS | 1u << DAT_EVENT_FORMATS |
		 1u << DAT_KALLSYMS | 1u << DAT_PRINTK | 1u << DAT_CMDLINES | 1u << DAT_BTF |
		 1u << DAT_MODULES,
};
