/*
 * reader/open: files, and what they say of themselves. See reader.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader/reader.h"

static void fill_info(struct ringside_dat *file)
{
	const struct dat_info *info = dat_info(file->dat);

	file->info = (struct ringside_dat_info){
		.size = sizeof(file->info),
		.path = info->path,
		.bytes = info->size,
		.version = info->version,
		.big_endian = info->abi.big_endian,
		.long_size = info->abi.long_size,
		.page_size = info->page_size,
		.nr_cpus = info->nr_cpus,
		.compression = info->compressor,
		.clock = info->clock,
		.uname = info->uname,
		.writer = info->writer,
		.has_trace_id = info->has_traceid,
		.trace_id = info->traceid,
		.date = info->date,
		.offset = info->offset,
	};
	if (info->tsc2nsec.is_set) {
		file->info.tsc_mult = info->tsc2nsec.mult;
		file->info.tsc_shift = info->tsc2nsec.shift;
	}
}

static int fill_buffer(const struct ringside_dat *file, const struct dat_buffer *from,
		       struct ringside_dat_buffer *to)
{
	int *cpus = calloc(from->nr_cpus ? from->nr_cpus : 1, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nr_cpus; i++)
		cpus[i] = from->cpus[i].cpu;
	*to = (struct ringside_dat_buffer){
		.size = sizeof(*to),
		.name = from->name,
		.clock = *from->clock ? from->clock : file->info.clock,
		.page_size = from->page_size,
		.nr_cpus = from->is_text ? 0 : from->nr_cpus,
		.cpus = cpus,
		.is_text = from->is_text,
	};
	return 0;
}

static int fill_buffers(struct ringside_dat *file)
{
	size_t nr = 0;
	int r = 0;

	while (dat_buffer(file->dat, nr))
		nr++;
	file->buffers = calloc(nr ? nr : 1, sizeof(*file->buffers));
	if (!file->buffers)
		return -ENOMEM;
	for (; file->nr_buffers < nr && !r; file->nr_buffers += !r)
		r = fill_buffer(file, dat_buffer(file->dat, file->nr_buffers),
				&file->buffers[file->nr_buffers]);
	return r;
}

static int fill_guests(struct ringside_dat *file)
{
	const struct dat_guest *guest;
	size_t nr = 0;

	while (dat_guest(file->dat, nr))
		nr++;
	file->guests = calloc(nr ? nr : 1, sizeof(*file->guests));
	if (!file->guests)
		return -ENOMEM;
	for (; (guest = dat_guest(file->dat, file->nr_guests)); file->nr_guests++)
		file->guests[file->nr_guests] = (struct ringside_dat_guest){
			sizeof(*file->guests), guest->name, guest->traceid, guest->nr_cpus, guest->pids
		};
	return 0;
}

static int fill_events(struct ringside_dat *file)
{
	size_t nr = dat_nr_events(file->dat);

	file->events = calloc(nr ? nr : 1, sizeof(*file->events));
	if (!file->events)
		return -ENOMEM;
	for (; file->nr_events < nr; file->nr_events++)
		file->events[file->nr_events] = (struct ringside_dat_event){ file->dat,
									     file->nr_events };
	return 0;
}

/* Frees all but the words. */
static void empty(struct ringside_dat *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++)
		free((int *)file->buffers[i].cpus);
	free(file->buffers);
	free(file->guests);
	free(file->events);
	dat_close(file->dat);
	*file = (struct ringside_dat){ .err = file->err };
}

int ringside_dat_open(struct ringside_dat **out, const char *path)
{
	struct ringside_dat *file = calloc(1, sizeof(*file));
	int r;

	*out = file;
	if (!file)
		return -ENOMEM;
	file->err = (struct err)ERR_INIT;
	if (!path || !*path)
		return err_set(&file->err, -EINVAL, "an empty path names no file");
	r = dat_open(&file->dat, path, &file->err);
	if (r)
		return r;
	fill_info(file);
	if (fill_buffers(file) || fill_guests(file) || fill_events(file)) {
		r = err_set(&file->err, -ENOMEM, "out of memory");
		empty(file);
	}
	return r;
}

void ringside_dat_close(struct ringside_dat *file)
{
	if (!file)
		return;
	empty(file);
	free(file);
}

const char *ringside_dat_error(const struct ringside_dat *file)
{
	return file ? file->err.text : "out of memory";
}

const char *ringside_dat_warning(const struct ringside_dat *file, size_t i)
{
	return file->dat ? dat_warning(file->dat, i) : NULL;
}

const struct ringside_dat_info *ringside_dat_about(const struct ringside_dat *file)
{
	return &file->info;
}

const struct ringside_dat_buffer *ringside_dat_buffer_at(const struct ringside_dat *file, size_t i)
{
	return i < file->nr_buffers ? &file->buffers[i] : NULL;
}

const struct ringside_dat_guest *ringside_dat_guest_at(const struct ringside_dat *file, size_t i)
{
	return i < file->nr_guests ? &file->guests[i] : NULL;
}

const void *ringside_dat_option_at(const struct ringside_dat *file, size_t i, unsigned int *id,
				   size_t *len)
{
	const struct dat_option *option = file->dat ? dat_option(file->dat, i) : NULL;

	if (!option)
		return NULL;
	if (id)
		*id = option->id;
	if (len)
		*len = option->len;
	return option->data;
}
