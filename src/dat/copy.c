/*
 * dat/copy: see copy.h.
 */
#include "dat/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/block.h"

/* Bytes looked at together. */
#define WINDOW ((size_t)1 << 20)

/* The file may have more CPUs than it says. */
static uint32_t count_cpus(const struct dat *dat)
{
	uint32_t n = dat_info(dat)->nr_cpus;
	const struct dat_buffer *buffer;

	for (size_t i = 0; (buffer = dat_buffer(dat, i)); i++)
		for (uint32_t c = 0; c < buffer->nr_cpus; c++)
			if (buffer->cpus[c].cpu >= 0 && (uint32_t)buffer->cpus[c].cpu >= n)
				n = (uint32_t)buffer->cpus[c].cpu + 1;
	return n;
}

static void add_buffer(struct dat_copy *copy, size_t to, const struct dat_buffer *buffer)
{
	copy->from[to] = buffer;
	copy->buffers[to] = (struct dat_write_buffer){
		.name = buffer->name, .clock = buffer->clock, .page_size = buffer->page_size,
		.text = buffer->is_text,
	};
}

/* The top one comes first, also where the file has it later or not at all. */
static size_t add_buffers(struct dat_copy *copy, const struct dat *dat)
{
	const struct dat_buffer *buffer;
	size_t n = 1;

	copy->buffers[0].name = "";
	for (size_t i = 0; (buffer = dat_buffer(dat, i)); i++)
		add_buffer(copy, *buffer->name || copy->from[0] ? n++ : 0, buffer);
	return n;
}

int dat_copy_init(struct dat_copy *copy, const struct dat *dat, struct err *err)
{
	const struct dat_info *info = dat_info(dat);
	size_t n = 0;

	while (dat_buffer(dat, n))
		n++;
	*copy = (struct dat_copy){ .buffers = calloc(n + 1, sizeof(*copy->buffers)),
				   .from = calloc(n + 1, sizeof(*copy->from)) };
	if (!copy->buffers || !copy->from) {
		dat_copy_fini(copy);
		return err_set(err, -ENOMEM, "out of memory");
	}
	n = add_buffers(copy, dat);
	copy->how = (struct dat_write_how){
		.version = info->version, .big_endian = info->abi.big_endian,
		.long_size = info->user_long, .page_size = info->page_size,
		.nr_cpus = count_cpus(dat), .buffers = copy->buffers, .nr_buffers = n,
	};
	return 0;
}

void dat_copy_fini(struct dat_copy *copy)
{
	free(copy->buffers);
	free(copy->from);
	*copy = (struct dat_copy){ .buffers = NULL };
}

static int copy_section(const struct dat *dat, enum dat_id id, struct dat_write *write,
			uint32_t *left_out, struct err *err)
{
	struct err unused = ERR_INIT;
	struct dat_part part;
	int r;

	r = dat_part_open(dat, id, &part, &unused);
	if (r == -ENOENT)
		return 0;
	if (r)
		return err_set(err, r, "%s", unused.text);
	if (dat_write_holds(write, id))
		r = dat_write_section(write, id, part.data, part.len);
	else
		*left_out |= 1u << id;
	dat_part_close(&part);
	return r;
}

int dat_copy_sections(const struct dat *dat, struct dat_write *write, uint32_t *left_out,
		      struct err *err)
{
	static const enum dat_id order[] = {
		DAT_HEADER_INFO, DAT_FTRACE_EVENTS, DAT_EVENT_FORMATS, DAT_KALLSYMS, DAT_PRINTK,
		DAT_MODULES, DAT_BTF, DAT_CMDLINES,
	};
	int r = 0;

	*left_out = 0;
	for (size_t i = 0; !r && i < sizeof(order) / sizeof(order[0]); i++)
		r = copy_section(dat, order[i], write, left_out, err);
	return r;
}

int dat_copy_option(const struct dat_option *option, struct dat_write *write)
{
	if (dat_write_owns(option->id))
		return 0;
	return dat_write_option(write, option->id, option->data, option->len);
}

int dat_copy_options(const struct dat *dat, struct dat_write *write)
{
	const struct dat_option *option;
	int r = 0;

	for (size_t i = 0; !r && (option = dat_option(dat, i)); i++)
		r = dat_copy_option(option, write);
	return r;
}

/* A file that ends within a page has it to its end, and then zeros. */
static int copy_rest(const uint8_t *bytes, size_t len, uint32_t page_size, struct dat_write *write)
{
	uint8_t *page = calloc(1, page_size);
	int r;

	if (!page)
		return -ENOMEM;
	memcpy(page, bytes, len);
	r = dat_write_pages(write, page, page_size);
	free(page);
	return r;
}

static int copy_block(const struct dat_buffer *buffer, const struct dat_block *block,
		      struct dat_write *write)
{
	size_t rest = buffer->is_text ? 0 : block->len % buffer->page_size;
	int r;

	r = dat_write_pages(write, block->data, block->len - rest);
	if (!r && rest)
		r = copy_rest(block->data + block->len - rest, rest, buffer->page_size, write);
	return r;
}

static int copy_cpu(const struct dat *dat, const struct dat_buffer *buffer, uint32_t i,
		    struct dat_write *write, struct err *err)
{
	struct dat_block *block;
	struct dat_lane *lane;
	int r;

	r = dat_lane_open(&lane, dat, buffer, i, WINDOW, err);
	if (r)
		return r;
	for (uint64_t n = 0; (r = dat_lane_fetch(lane, n, &block, err)) == 1; n++) {
		r = copy_block(buffer, block, write);
		dat_block_drop(block);
		if (r)
			break;
	}
	dat_lane_close(lane);
	return r;
}

static int copy_buffer(const struct dat *dat, const struct dat_buffer *buffer, size_t to,
		       struct dat_write *write, struct err *err)
{
	int r = dat_write_begin(write, to);

	for (uint32_t i = 0; !r && i < buffer->nr_cpus; i++) {
		if (!buffer->is_text)
			r = dat_write_cpu(write, (uint32_t)buffer->cpus[i].cpu);
		if (!r)
			r = copy_cpu(dat, buffer, i, write, err);
	}
	return r ? r : dat_write_end(write);
}

int dat_copy_buffers(const struct dat_copy *copy, const struct dat *dat, struct dat_write *write,
		     struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < copy->how.nr_buffers; i++)
		if (copy->from[i])
			r = copy_buffer(dat, copy->from[i], i, write, err);
	return r;
}
