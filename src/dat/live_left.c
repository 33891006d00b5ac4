/*
 * dat/live_left: a growing file that nobody writes any more. In: the file. Out: what live_close.c wants of it, or who goes on with it,
 * which is what our own reader finds in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dat/live.h"
#include "dat/live_file.h"
#include "dat/local.h"

bool dat_live_grows(const struct dat *dat)
{
	const struct dat_section *strings = dat_section(dat, 0);
	char mark[SEVEN_GROWS_SIZE];

	return dat_info(dat)->version == 7 && strings && strings->id == DAT_STRINGS && !strings->is_packed &&
	       strings->size >= sizeof(mark) &&
	       !dat_read(dat, strings->at + SEVEN_HEAD + strings->size - sizeof(mark), mark, sizeof(mark), NULL) &&
	       !memcmp(mark, SEVEN_GROWS, sizeof(mark));
}

bool dat_live_is_blank(int fd)
{
	static const char magic[] = "\027\010\104tracing7";
	uint8_t head[256];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	size_t at = sizeof(magic) + 1 + 1 + 4, end = n > 0 ? (size_t)n : 0;
	uint64_t link;

	if (n < 0 || memcmp(head, magic, end < sizeof(magic) ? end : sizeof(magic)))
		return false;
	/* How it is packed, by which version; and then the link. */
	for (int i = 0; i < 2 && at < end; i++)
		at += strnlen((char *)head + at, end - at) + 1;
	if (at + sizeof(link) > end)
		return end < sizeof(head);
	memcpy(&link, head + at, sizeof(link));
	return !link;
}

/* Closing up begins with options of its own, to which the link leads then. */
bool dat_live_moved(const struct dat *dat)
{
	const struct dat_section *strings = dat_section(dat, 0), *s;
	uint64_t link;

	if (dat_info(dat)->version != 7 || !strings || strings->at < sizeof(link) ||
	    dat_read(dat, strings->at - sizeof(link), &link, sizeof(link), NULL))
		return false;
	link = decode_abi_load((const uint8_t *)&link, sizeof(link), dat_info(dat)->abi.big_endian);
	for (size_t i = 0; (s = dat_section(dat, i)); i++)
		if (s->at == link)
			return false;
	return true;
}

/* Is it one of ours that still grows? Then its strings say so, right behind the link. */
static bool grows(struct live_file *f, const struct dat *dat)
{
	const struct dat_info *info = dat_info(dat);
	const struct dat_section *strings = dat_section(dat, 0);

	if (info->version != 7 || info->abi.big_endian != LIVE_BIG || !strings || strings->id != DAT_STRINGS ||
	    !dat_live_grows(dat))
		return false;
	f->link = strings->at - 8;
	f->front = strings->at + SEVEN_HEAD + strings->size;
	return true;
}

static void find_parts(struct live_file *f, const struct dat *dat)
{
	const struct dat_section *s;
	const struct dat_option *o;

	for (size_t i = 0; (o = dat_option(dat, i)); i++) {
		uint64_t at = o->len < 8 ? 0 : decode_abi_load(o->data, 8, LIVE_BIG);
		bool is_part = (o->id >= DAT_HEADER_INFO && o->id <= DAT_CMDLINES) || o->id == DAT_BTF ||
			       o->id == DAT_MODULES;

		if (!dat_write_owns(o->id))
			seven_option(&f->more, o->id, o->data, o->len, LIVE_BIG);
		for (size_t j = 0; is_part && (s = dat_section(dat, j)); j++)
			if (s->at == at && s->id == o->id)
				f->told[o->id] = (struct live_part){ at, SEVEN_HEAD + s->size };
	}
	for (size_t i = 0; (s = dat_section(dat, i)); i++)
		if (s->id == DAT_DONE && s->chained)
			f->options = (struct live_part){ s->at, SEVEN_HEAD + s->size };
}

static bool find_lanes(struct live_file *f, size_t i, const struct dat_buffer *from)
{
	struct live_buffer *to = &f->buffers[i];

	to->name = strdup(from->name);
	to->clock = strdup(from->clock);
	to->page_size = from->page_size;
	to->section = from->section;
	f->packed |= from->packed;
	for (uint32_t j = 0; j < from->nr_table; j++) {
		const struct dat_cpu *cpu = &from->table[j];

		if (cpu->cpu < 0 || (uint32_t)cpu->cpu >= f->nr_cpus)
			return false;
		f->lanes[i * f->nr_cpus + (uint32_t)cpu->cpu].offset = cpu->offset;
		f->lanes[i * f->nr_cpus + (uint32_t)cpu->cpu].size = cpu->size;
	}
	return to->name && to->clock;
}

static int find_data(struct live_file *f, const struct dat *dat)
{
	const struct dat_buffer *buffer;

	f->nr_cpus = dat_info(dat)->nr_cpus;
	while (dat_buffer(dat, f->nr_buffers))
		f->nr_buffers++;
	f->buffers = calloc(f->nr_buffers + 1, sizeof(*f->buffers));
	f->lanes = calloc(live_nr_lanes(f) + 1, sizeof(*f->lanes));
	if (!f->buffers || !f->lanes)
		return -ENOMEM;
	for (size_t i = 0; (buffer = dat_buffer(dat, i)); i++)
		if (buffer->is_text || !find_lanes(f, i, buffer))
			return -EBADMSG;
	f->data = f->nr_buffers ? f->buffers[0].section : 0;
	return f->data && f->options.len && !buf_failed(&f->more) ? 0 : -EBADMSG;
}

static int find_all(struct live_file *f, const struct dat *dat)
{
	struct buf strings = BUF_INIT;
	int r;

	find_parts(f, dat);
	r = find_data(f, dat);
	if (!r)
		r = live_measure(f, dat_info(dat)->page_size);
	if (!r)
		live_strings(f, &strings);
	buf_fini(&strings);
	return r;
}

static int close_left(struct live_file *f, const struct dat *dat)
{
	struct rlimit limit;
	int r = find_all(f, dat);

	if (r)
		return r;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		f->max = (uint64_t)limit.rlim_cur;
	return live_close_up(f);
}

/* Where each CPU may lie, as live_room.c has laid it out. False: nobody has, or it was being closed up. */
static bool find_regions(struct live_file *f, const struct dat *dat)
{
	for (size_t i = 0; i < f->nr_buffers; i++) {
		const struct live_buffer *buffer = &f->buffers[i];
		const struct dat_section *s;
		uint64_t region = 0;

		for (size_t j = 0; (s = dat_section(dat, j)); j++)
			if (s->at == buffer->section && s->id == DAT_BUFFER && f->nr_cpus && s->size + SEVEN_HEAD > f->step)
				region = (s->size + SEVEN_HEAD - f->step) / f->nr_cpus;
		for (uint32_t cpu = 0; cpu < f->nr_cpus; cpu++) {
			struct live_lane *lane = &f->lanes[i * f->nr_cpus + cpu];

			lane->begin = buffer->section + f->step + region * cpu;
			lane->end = lane->begin + region;
			if (!lane->offset)
				lane->offset = lane->begin;
			if (lane->offset < lane->begin || lane->offset > lane->end || lane->size > lane->end - lane->offset ||
			    lane->size % buffer->page_size)
				return false;
		}
	}
	return true;
}

int live_find(struct live_file *f, struct err *err)
{
	struct dat *dat = NULL;
	int r = dat_open_fd(&dat, f->fd, f->path, err);

	if (!r && (!grows(f, dat) || find_all(f, dat) || f->packed || !find_regions(f, dat)))
		r = err_set(err, -EBADMSG, "%.300s: is no file that could be gone on with", f->path);
	dat_close(dat);
	memcpy(f->parts, f->told, sizeof(f->parts));
	/* Rows have their places when they are told. */
	if (!r && (r = live_tell(f)))
		err_set(err, r, "cannot write %.300s: %s", f->path, strerror(-r));
	return r;
}

int dat_live_close_up(const char *path, struct err *err)
{
	struct live_file f = { .fd = -1 };
	struct dat *dat = NULL;
	bool is_ours = false, is_free;
	int r = 0;

	/* Locked first: what is read then stays as it is. */
	f.fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	is_free = f.fd >= 0 && !flock(f.fd, LOCK_EX | LOCK_NB);
	if (f.fd < 0)
		r = -errno;
	if (!r)
		r = dat_open(&dat, path, err);
	if (!r)
		is_ours = grows(&f, dat);
	if (is_ours && !is_free)
		r = err_set(err, -EBUSY, "%.300s: is still being recorded", path);
	else if (is_ours)
		r = close_left(&f, dat);
	if (!r && is_ours)
		r = 1;
	if (r < 0)
		err_set(err, r, "cannot close up %.300s: %s", path, strerror(-r));
	live_file_fini(&f);
	dat_close(dat);
	return r;
}
