/*
 * dat/write: see write.h. Here are the checks, the order of calls, and the pages; where the rest
 * lies is the matter of write6.c and write7.c.
 *
 *	META --begin--> BUFFER --cpu--> CPU --cpu--> CPU
 *	BETWEEN -begin-> BUFFER            \--end--> BETWEEN --finish--> DONE
 */
#include "dat/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/form.h"
#include "dat/seven.h"

/* Far more than any machine has: tables of them are kept, and in version 6 written. */
#define CPUS_MAX 65536

static const struct dat_write_buffer top = { .name = "" };

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static int check_buffer(const struct dat_write_how *how, const struct dat_write_buffer *buffer,
			struct err *err)
{
	if (buffer->page_size && !power_of_two(buffer->page_size))
		return err_set(err, -EINVAL, "buffer '%.100s': pages of %u bytes are none",
			       buffer->name, buffer->page_size);
	if (how->version == 7)
		return 0;
	if (buffer->page_size && buffer->page_size != how->page_size)
		return err_set(err, -ENOTSUP, "version 6 has one size of pages for all buffers, "
			       "and '%.100s' has its own", buffer->name);
	if (buffer->text && how->nr_buffers > 1)
		return err_set(err, -ENOTSUP, "version 6 has room for one buffer where it is "
			       "text");
	return 0;
}

int form_check(const struct dat_write_how *how, struct err *err)
{
	int r = 0;

	if (how->version != 6 && how->version != 7)
		return err_set(err, -ENOTSUP, "there is no version %d of trace files that could be "
			       "written: 6 and 7 can", how->version);
	if (!power_of_two(how->page_size))
		return err_set(err, -EINVAL, "pages of %u bytes are none", how->page_size);
	if (how->long_size != 4 && how->long_size != 8)
		return err_set(err, -EINVAL, "a long of %u bytes is none", how->long_size);
	if (how->nr_cpus > CPUS_MAX)
		return err_set(err, -E2BIG, "%u CPUs are more than a file may have", how->nr_cpus);
	if (how->nr_buffers && *how->buffers[0].name)
		return err_set(err, -EINVAL, "the first buffer is the top one and has no name");
	for (size_t i = 0; !r && i < how->nr_buffers; i++) {
		r = check_buffer(how, &how->buffers[i], err);
		if (!r && i && !*how->buffers[i].name)
			r = err_set(err, -EINVAL, "two buffers are without a name");
	}
	return r;
}

static bool copy_buffer(struct form_buffer *to, const struct dat_write_buffer *from,
			uint32_t page_size)
{
	to->name = strdup(from->name);
	to->clock = strdup(from->clock ? from->clock : "");
	to->page_size = from->page_size ? from->page_size : page_size;
	to->text = from->text;
	return to->name && to->clock;
}

static bool copy_how(struct dat_write *write, const struct dat_write_how *how)
{
	const struct dat_write_buffer *from = how->nr_buffers ? how->buffers : &top;
	bool ok;

	write->page_size = how->page_size;
	write->nr_cpus = how->nr_cpus;
	write->nr_buffers = how->nr_buffers ? how->nr_buffers : 1;
	write->buffers = calloc(write->nr_buffers, sizeof(*write->buffers));
	/* One more than there are: a text stands where CPU 0 would. */
	write->cpus = calloc((size_t)how->nr_cpus + 1, sizeof(*write->cpus));
	ok = write->buffers && write->cpus;
	for (size_t i = 0; ok && i < write->nr_buffers; i++) {
		ok = copy_buffer(&write->buffers[i], &from[i], how->page_size);
		if (write->buffers[i].page_size > write->chunk_room / FORM_CHUNK)
			write->chunk_room = (size_t)write->buffers[i].page_size * FORM_CHUNK;
	}
	return ok;
}

/* Finds the compressor, if there is to be one, and its memory. */
static int open_pack(struct dat_write *write, const struct dat_write_how *how, struct err *err)
{
	const char *name = how->compression;
	bool any = name && !strcmp(name, "any");

	if (any)
		name = write->form->packs ? pack_name(0) : NULL;
	if (!name || !strcmp(name, "none"))
		return 0;
	if (!write->form->packs)
		return err_set(err, -ENOTSUP, "version 6 knows no compression");
	if (pack_open(&write->pack, name, err))
		return err->code;
	write->chunk = malloc(write->chunk_room);
	return write->chunk ? 0 : err_set(err, -ENOMEM, "out of memory");
}

int dat_write_open(struct dat_write **out, const char *path, const struct dat_write_how *how,
		   struct err *err)
{
	struct err ours = ERR_INIT;
	struct dat_write *write;
	int r;

	if (!err)
		err = &ours;
	*out = NULL;
	r = form_check(how, err);
	if (r)
		return r;
	write = calloc(1, sizeof(*write));
	if (!write)
		return err_set(err, -ENOMEM, "out of memory");
	write->out.fd = -1;
	write->form = how->version == 6 ? &form_6 : &form_7;
	r = copy_how(write, how) ? 0 : err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = open_pack(write, how, err);
	if (!r)
		r = out_open(&write->out, path, how->big_endian, err);
	if (r) {
		dat_write_close(write);
		return r;
	}
	write->form->head(write, how);
	*out = write;
	return 0;
}

void dat_write_close(struct dat_write *write)
{
	if (!write)
		return;
	out_close(&write->out);
	pack_close(write->pack);
	for (size_t i = 0; write->buffers && i < write->nr_buffers; i++) {
		free(write->buffers[i].name);
		free(write->buffers[i].clock);
	}
	free(write->buffers);
	free(write->cpus);
	buf_fini(&write->packed);
	free(write->chunk);
	buf_fini(&write->options);
	buf_fini(&write->strings);
	free(write);
}

/* A call that does not belong here. */
static int misplaced(struct dat_write *write, const char *what)
{
	if (out_failed(&write->out))
		return out_failed(&write->out);
	return err_set(&write->out.err, -EINVAL, "cannot write %.300s: %s at the wrong place",
		       write->out.place.path, what);
}

static int outcome(struct dat_write *write)
{
	if (buf_failed(&write->options) || buf_failed(&write->strings))
		out_fail(&write->out, -ENOMEM);
	return out_failed(&write->out);
}

void form_word(struct dat_write *write, struct buf *buf, uint32_t size, uint64_t value)
{
	seven_word(buf, size, value, write->out.big_endian);
}

void form_option(struct dat_write *write, enum dat_id id, const void *value, size_t len)
{
	seven_option(&write->options, id, value, len, write->out.big_endian);
}

void form_payload(struct dat_write *write, enum dat_id id, const void *payload, size_t len)
{
	if (seven_prefix(id))
		out_word(&write->out, (uint32_t)seven_prefix(id), len);
	out_bytes(&write->out, payload, len);
}

bool dat_write_holds(const struct dat_write *write, enum dat_id id)
{
	bool needs_pack = id == DAT_BTF || id == DAT_MODULES;

	return id < 32 && (write->form->holds >> id & 1) && (!needs_pack || write->pack);
}

int dat_write_section(struct dat_write *write, enum dat_id id, const void *payload, size_t len)
{
	if (write->stage != FORM_META || !dat_write_holds(write, id) || write->sections >> id & 1)
		return misplaced(write, "a section");
	if ((uint64_t)len > UINT32_MAX - 8)
		out_fail(&write->out, -EFBIG);
	if (out_failed(&write->out))
		return outcome(write);
	write->form->section(write, id, payload, len);
	write->sections |= 1u << id;
	return outcome(write);
}

bool dat_write_owns(enum dat_id id)
{
	return id == DAT_DONE || id == DAT_BUFFER || id == DAT_CPUCOUNT || id == DAT_BTF ||
	       id == DAT_MODULES || (id >= DAT_STRINGS && id <= DAT_BUFFER_TEXT);
}

int dat_write_option(struct dat_write *write, enum dat_id id, const void *value, size_t len)
{
	bool in_time = write->stage == FORM_META ||
		       (write->form->late_options && write->stage != FORM_DONE);

	if (dat_write_owns(id) || !in_time || len > FORM_OPTION_MAX)
		return misplaced(write, "an option");
	/* With it stock readers of version 6 take the first bytes of a text for a clock. */
	if (id == DAT_CLOCK && !write->form->late_options && write->buffers[0].text)
		return outcome(write);
	write->has_clock |= id == DAT_CLOCK;
	form_option(write, id, value, len);
	return outcome(write);
}

static void end_meta(struct dat_write *write)
{
	if (write->stage != FORM_META)
		return;
	write->form->meta_end(write);
	write->stage = FORM_BETWEEN;
}

static void begin(struct dat_write *write)
{
	memset(write->cpus, 0, sizeof(*write->cpus) * ((size_t)write->nr_cpus + 1));
	write->form->begin(write, form_buffer(write));
	write->stage = FORM_BUFFER;
}

static void end(struct dat_write *write)
{
	write->form->end(write, form_buffer(write));
	write->stage = FORM_BETWEEN;
	write->index++;
}

/* Those before `index` that have not been begun are empty. */
static void pass_over(struct dat_write *write, size_t index)
{
	end_meta(write);
	while (write->index < index && !outcome(write)) {
		begin(write);
		end(write);
	}
}

int dat_write_begin(struct dat_write *write, size_t index)
{
	if (write->stage > FORM_BETWEEN || index < write->index || index >= write->nr_buffers)
		return misplaced(write, "a buffer");
	pass_over(write, index);
	if (!outcome(write))
		begin(write);
	/* Text has no CPUs. */
	if (form_buffer(write)->text && !outcome(write))
		return dat_write_cpu(write, 0);
	return outcome(write);
}

int dat_write_cpu(struct dat_write *write, uint32_t cpu)
{
	if (write->stage != FORM_BUFFER && write->stage != FORM_CPU)
		return misplaced(write, "a CPU");
	if (write->stage == FORM_CPU)
		form_end_cpu(write);
	if (form_buffer(write)->text ? cpu : cpu >= write->nr_cpus || write->cpus[cpu].offset)
		return misplaced(write, "a CPU");
	write->cpu = cpu;
	write->stage = FORM_CPU;
	return outcome(write);
}

int dat_write_pages(struct dat_write *write, const void *pages, size_t len)
{
	const struct form_buffer *buffer = form_buffer(write);

	if (write->stage != FORM_CPU || (!buffer->text && len % buffer->page_size))
		return misplaced(write, "a page");
	if (len && !outcome(write))
		form_pages(write, pages, len);
	return outcome(write);
}

int dat_write_end(struct dat_write *write)
{
	if (write->stage != FORM_BUFFER && write->stage != FORM_CPU)
		return misplaced(write, "the end of a buffer");
	if (write->stage == FORM_CPU)
		form_end_cpu(write);
	end(write);
	return outcome(write);
}

int dat_write_failed(struct dat_write *write, struct err *err)
{
	if (outcome(write))
		err_set(err, write->out.err.code, "%s", write->out.err.text);
	return outcome(write);
}

int dat_write_finish(struct dat_write *write, struct err *err)
{
	if (write->stage > FORM_BETWEEN)
		misplaced(write, "the end");
	if (!outcome(write))
		pass_over(write, write->nr_buffers);
	if (!outcome(write))
		write->form->finish(write);
	write->stage = FORM_DONE;
	if (!outcome(write))
		out_commit(&write->out);
	return dat_write_failed(write, err);
}
