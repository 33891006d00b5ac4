/*
 * collect/taker: see taker.h.
 */
#include "collect/taker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout/page.h"

static int nonsense(struct err *err, const char *what)
{
	return err_set(err, -EPROTO, "the sender's %s makes no sense", what);
}

/* ---- OPEN ---- */

static bool is_page_size(uint32_t size)
{
	return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && !(size & (size - 1));
}

static int check_open(const struct wire_open *open, struct err *err)
{
	if (open->flags & WIRE_BIG_ENDIAN)
		return err_set(err, -ENOTSUP, "recordings of big-endian machines cannot be taken");
	if ((open->long_size != 4 && open->long_size != 8) || !is_page_size(open->page_size))
		return nonsense(err, "description of itself");
	if (!open->nr_cpus || open->nr_cpus > TAKER_CPUS_MAX || !open->nr_buffers || open->nr_buffers > TAKER_BUFFERS_MAX ||
	    open->nr_cpus * open->nr_buffers > TAKER_LANES_MAX)
		return err_set(err, -E2BIG, "%u CPUs and %u buffers are more than can be taken", open->nr_cpus, open->nr_buffers);
	return 0;
}

static char *take_text(const uint8_t *from, size_t len)
{
	char *text = malloc(len + 1);

	if (text)
		frame_text(from, len, text, len + 1);
	return text;
}

/* It is the name of an instance, and whoever reads the file may make a path of it. */
static bool is_buffer(const uint8_t *name, size_t len)
{
	return len && *name != '.' && !memchr(name, '/', len) && !memchr(name, '\0', len);
}

static int take_buffers(struct taker *taker, const uint8_t *at, size_t len, struct err *err)
{
	for (uint32_t i = 0; i < taker->open.nr_buffers; i++) {
		struct wire_buffer buffer;
		size_t name, clock;

		if (len < sizeof(buffer))
			return nonsense(err, "list of buffers");
		memcpy(&buffer, at, sizeof(buffer));
		name = wire16(buffer.name_len);
		clock = wire16(buffer.clock_len);
		taker->page_sizes[i] = wire32(buffer.page_size);
		if (len - sizeof(buffer) < name + clock || name > 255 || clock > 64 || !is_page_size(taker->page_sizes[i]) ||
		    (!i && name) || (i && !is_buffer(at + sizeof(buffer), name)))
			return nonsense(err, "list of buffers");
		taker->names[i] = take_text(at + sizeof(buffer), name);
		taker->clocks[i] = take_text(at + sizeof(buffer) + name, clock);
		if (!taker->names[i] || !taker->clocks[i])
			return err_set(err, -ENOMEM, "out of memory");
		at += sizeof(buffer) + name + clock;
		len -= sizeof(buffer) + name + clock;
	}
	return len ? nonsense(err, "list of buffers") : 0;
}

int taker_open(struct taker *taker, const uint8_t *body, size_t len, struct err *err)
{
	struct wire_open *open = &taker->open;
	int r;

	*taker = (struct taker){ .section = BUF_INIT, .options = BUF_INIT, .shift = BUF_INIT };
	if (len < sizeof(*open))
		return nonsense(err, "first word");
	memcpy(open, body, sizeof(*open));
	open->at = wire64(open->at);
	open->page_size = wire32(open->page_size);
	open->nr_cpus = wire32(open->nr_cpus);
	open->nr_buffers = wire32(open->nr_buffers);
	r = check_open(open, err);
	if (r)
		return r;
	taker->nr_lanes = (size_t)open->nr_cpus * open->nr_buffers;
	taker->names = calloc(open->nr_buffers, sizeof(*taker->names));
	taker->clocks = calloc(open->nr_buffers, sizeof(*taker->clocks));
	taker->page_sizes = calloc(open->nr_buffers, sizeof(*taker->page_sizes));
	taker->lanes = calloc(taker->nr_lanes, sizeof(*taker->lanes));
	if (!taker->names || !taker->clocks || !taker->page_sizes || !taker->lanes)
		r = err_set(err, -ENOMEM, "out of memory");
	else
		r = take_buffers(taker, body + sizeof(*open), len - sizeof(*open), err);
	taker->at = open->at;
	taker->journal.fd = -1;
	return r;
}

void taker_close(struct taker *taker)
{
	dat_live_close(taker->live);
	dat_live_close(taker->next);
	for (size_t i = 0; i < DAT_NR_IDS; i++)
		buf_fini(&taker->kept[i]);
	for (uint32_t i = 0; taker->names && i < taker->open.nr_buffers; i++)
		free(taker->names[i]);
	for (uint32_t i = 0; taker->clocks && i < taker->open.nr_buffers; i++)
		free(taker->clocks[i]);
	for (size_t i = 0; taker->lanes && i < taker->nr_lanes; i++)
		free(taker->lanes[i].page);
	free(taker->names);
	free(taker->clocks);
	free(taker->page_sizes);
	free(taker->lanes);
	buf_fini(&taker->section);
	buf_fini(&taker->options);
	buf_fini(&taker->shift);
	*taker = (struct taker){ 0 };
}

/* ---- options ---- */

static int put_shift(struct taker *taker, struct dat_live *live)
{
	return taker->shift.len ? dat_live_option(live, DAT_TIME_SHIFT, taker->shift.data, taker->shift.len) : 0;
}

int taker_shift(struct taker *taker, const struct buf *shift)
{
	int r;

	buf_reset(&taker->shift);
	buf_add(&taker->shift, shift->data, shift->len);
	if (buf_failed(&taker->shift))
		return -ENOMEM;
	dat_live_forget(taker->live, DAT_TIME_SHIFT);
	r = put_shift(taker, taker->live);
	return r ? r : dat_live_publish(taker->live);
}

static int put_options(struct taker *taker, struct dat_live *live, struct err *err)
{
	const uint8_t *at = (const uint8_t *)taker->options.data;
	size_t left = taker->options.len;
	int r = 0;

	dat_live_forget(live, DAT_DONE);
	while (!r && left) {
		uint16_t id;
		uint32_t len;

		if (left < 6)
			return nonsense(err, "list of options");
		memcpy(&id, at, sizeof(id));
		memcpy(&len, at + 2, sizeof(len));
		id = wire16(id);
		len = wire32(len);
		/* Those that say where something is, and by how much clocks differ, are ours. */
		if (len > left - 6 || dat_write_owns(id) || id == DAT_TIME_SHIFT)
			return nonsense(err, "list of options");
		r = dat_live_option(live, (enum dat_id)id, at + 6, len);
		at += 6 + len;
		left -= 6 + len;
	}
	return r ? r : put_shift(taker, live);
}

/* ---- files ---- */

/* The page that is being filled, as it was last. */
static int load_open(struct taker *taker, struct taker_lane *lane, uint32_t buffer, uint32_t cpu, bool fresh)
{
	uint32_t size = taker->page_sizes[buffer];

	if (!lane->page)
		lane->page = malloc(size);
	if (!lane->page)
		return -ENOMEM;
	if (fresh)
		memset(lane->page, 0, size);
	if (fresh || lane->opened)
		return 0;
	return dat_live_read(taker->live, buffer, cpu, (lane->pages - 1) * size, lane->page, size);
}

static int adopt(struct taker *taker, struct dat_live **out, int fd, const char *name, struct err *err)
{
	struct dat_write_buffer *buffers = calloc(taker->open.nr_buffers, sizeof(*buffers));
	struct dat_live_how how = {
		.page_size = taker->open.page_size, .nr_cpus = taker->open.nr_cpus, .buffers = buffers,
		.nr_buffers = taker->open.nr_buffers, .long_size = taker->open.long_size,
	};
	int r;

	if (!buffers) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < taker->open.nr_buffers; i++)
		buffers[i] = (struct dat_write_buffer){
			.name = taker->names[i], .clock = taker->clocks[i], .page_size = taker->page_sizes[i],
		};
	r = dat_live_adopt(out, fd, name, &how, err);
	free(buffers);
	return r;
}

int taker_begin(struct taker *taker, int fd, const char *name, struct err *err)
{
	return adopt(taker, &taker->live, fd, name, err);
}

/* Its last page may still change, and so belongs to the next file. */
static bool is_carried(const struct taker_lane *lane)
{
	return lane->open || lane->unsure;
}

uint64_t taker_before(const struct taker *taker, size_t lane)
{
	return taker->lanes[lane].before + taker->lanes[lane].pages - is_carried(&taker->lanes[lane]);
}

static int carry(struct taker *taker, size_t i)
{
	uint32_t buffer = (uint32_t)(i / taker->open.nr_cpus), cpu = (uint32_t)(i % taker->open.nr_cpus);
	struct taker_lane *lane = &taker->lanes[i];
	struct iovec iov;
	int r;

	if (!is_carried(lane))
		return 0;
	r = load_open(taker, lane, buffer, cpu, false);
	if (r)
		return r;
	lane->opened = lane->open;
	iov = (struct iovec){ lane->page, taker->page_sizes[buffer] };
	r = dat_live_write(taker->next, buffer, cpu, &iov, 1);
	if (!r)
		r = lane->open ? dat_live_accept_open(taker->next, buffer, cpu) : dat_live_accept(taker->next, buffer, cpu);
	return r;
}

int taker_prepare(struct taker *taker, int fd, const char *name, struct err *err)
{
	int r = adopt(taker, &taker->next, fd, name, err);

	for (int id = DAT_HEADER_INFO; !r && id <= DAT_CMDLINES; id++)
		if (taker->kept[id].data)
			r = dat_live_section(taker->next, (enum dat_id)id, taker->kept[id].data, taker->kept[id].len);
	if (!r)
		r = put_options(taker, taker->next, err);
	if (!r)
		r = dat_live_publish(taker->next);
	for (size_t i = 0; !r && i < taker->nr_lanes; i++)
		r = carry(taker, i);
	return r && !dat_live_failed(taker->next, err) ? err_set(err, r, "%s", strerror(-r)) : r;
}

int taker_turn(struct taker *taker, struct err *err)
{
	struct dat_live *old = taker->live;
	int r = 0;

	taker->live = taker->next;
	taker->next = NULL;
	for (size_t i = 0; i < taker->nr_lanes; i++) {
		uint32_t buffer = (uint32_t)(i / taker->open.nr_cpus), cpu = (uint32_t)(i % taker->open.nr_cpus);
		struct taker_lane *lane = &taker->lanes[i];
		uint64_t full = lane->pages - is_carried(lane);

		if (is_carried(lane) && !r)
			r = dat_live_trim(old, buffer, cpu, full * taker->page_sizes[buffer]);
		lane->before += full;
		lane->pages = is_carried(lane);
	}
	if (!r)
		r = dat_live_finish(old, err);
	dat_live_close(old);
	return r;
}

/* What was told beside the pages, and is to be told to the next file, too. */
static int keep_again(struct taker *taker, int fd, const char *name, struct err *err)
{
	const struct dat_option *option;
	struct dat_part part;
	struct dat *dat = NULL;
	int r = dat_open_fd(&dat, fd, name, err);

	for (int id = DAT_HEADER_INFO; !r && id <= DAT_CMDLINES; id++) {
		r = dat_part_open(dat, (enum dat_id)id, &part, NULL);
		if (!r)
			buf_add(&taker->kept[id], part.data, part.len);
		r = r == -ENOENT || !r ? 0 : err_set(err, r, "%s: cannot be read", name);
		dat_part_close(&part);
	}
	for (size_t i = 0; !r && (option = dat_option(dat, i)); i++) {
		uint16_t id = wire16((uint16_t)option->id);
		uint32_t len = wire32((uint32_t)option->len);

		if (dat_write_owns(option->id) || option->id == DAT_TIME_SHIFT)
			continue;
		buf_add(&taker->options, &id, sizeof(id));
		buf_add(&taker->options, &len, sizeof(len));
		buf_add(&taker->options, option->data, option->len);
	}
	dat_close(dat);
	return r;
}

/* As many lanes can be had in other ways. */
static bool is_same_shape(const struct taker *taker)
{
	for (uint32_t i = 0; i < taker->open.nr_buffers; i++)
		if (dat_live_page_size(taker->live, i) != taker->page_sizes[i])
			return false;
	return !dat_live_page_size(taker->live, taker->open.nr_buffers) && dat_live_cpus(taker->live) == taker->open.nr_cpus;
}

static int take(struct taker *taker, const struct frame *frame, struct err *err);

static int take_again(void *ctx, const struct frame *frame, struct err *err)
{
	if (frame->kind != WIRE_SECTION && frame->kind != WIRE_OPTIONS)
		return nonsense(err, "note of what came");
	return take(ctx, frame, err);
}

static int replay(struct taker *taker, struct err *err)
{
	uint64_t after = 0;
	int r = journal_replay(&taker->journal, take_again, taker, &after, err);

	if (after > taker->at)
		taker->at = after;
	return r;
}

int taker_resume(struct taker *taker, int fd, const char *name, struct err *err)
{
	int r;

	if (dat_live_is_blank(fd)) {
		r = ftruncate(fd, 0) ? err_set(err, -errno, "cannot write %.300s: %s", name, strerror(errno)) : 0;
		if (r)
			close(fd);
		else
			r = taker_begin(taker, fd, name, err);
		return r ? r : replay(taker, err);
	}
	r = taker->keeps ? keep_again(taker, fd, name, err) : 0;

	if (r)
		close(fd);
	else
		r = dat_live_resume(&taker->live, fd, name, err);
	if (!r && !is_same_shape(taker))
		r = nonsense(err, "description of itself, of a recording that is there already,");
	for (size_t i = 0; !r && i < taker->nr_lanes; i++) {
		uint32_t buffer = (uint32_t)(i / taker->open.nr_cpus), cpu = (uint32_t)(i % taker->open.nr_cpus);

		taker->lanes[i].pages = dat_live_lane(taker->live, buffer, cpu) / taker->page_sizes[buffer];
		taker->lanes[i].unsure = taker->lanes[i].pages;
	}
	return r ? r : replay(taker, err);
}

uint64_t taker_bytes(const struct taker *taker)
{
	return taker->live ? dat_live_bytes(taker->live) : 0;
}

int taker_finish(struct taker *taker, struct err *err)
{
	return dat_live_finish(taker->live, err);
}

/* ---- what belongs beside the pages ---- */

/* A piece behind those before it. 1: it is whole; 0: more is to come. */
static int add_piece(struct buf *to, uint32_t flags, const uint8_t *bytes, size_t len, struct err *err)
{
	if (flags & WIRE_FIRST)
		buf_reset(to);
	if (len > TAKER_META_MAX - to->len)
		return err_set(err, -E2BIG, "the sender tells more than %zu MiB beside its pages", TAKER_META_MAX >> 20);
	if (len)
		buf_add(to, bytes, len);
	if (buf_failed(to))
		return err_set(err, -ENOMEM, "out of memory");
	return (flags & WIRE_LAST) != 0;
}

static int take_section(struct taker *taker, const struct frame *frame, struct err *err)
{
	struct wire_section section;
	uint32_t id, flags;
	int r;

	if (frame->len < sizeof(section))
		return nonsense(err, "section");
	memcpy(&section, frame->body, sizeof(section));
	id = wire32(section.id);
	flags = wire32(section.flags);
	if (id < DAT_HEADER_INFO || id > DAT_CMDLINES || (!(flags & WIRE_FIRST) && id != taker->section_id))
		return nonsense(err, "section");
	taker->section_id = id;
	r = add_piece(&taker->section, flags, frame->body + sizeof(section), frame->len - sizeof(section), err);
	if (r <= 0)
		return r;
	taker->section_id = 0;
	r = dat_live_section(taker->live, (enum dat_id)id, taker->section.data, taker->section.len);
	buf_fini(&taker->kept[id]);
	if (taker->keeps)
		taker->kept[id] = taker->section;
	else
		buf_fini(&taker->section);
	taker->section = (struct buf)BUF_INIT;
	return r;
}

static int take_options(struct taker *taker, const struct frame *frame, struct err *err)
{
	struct wire_options options;
	uint32_t flags;
	int r;

	if (frame->len < sizeof(options))
		return nonsense(err, "list of options");
	memcpy(&options, frame->body, sizeof(options));
	flags = wire32(options.flags);
	if (!(flags & WIRE_FIRST) && !taker->in_options)
		return nonsense(err, "list of options");
	taker->in_options = true;
	r = add_piece(&taker->options, flags, frame->body + sizeof(options), frame->len - sizeof(options), err);
	if (r <= 0)
		return r;
	taker->in_options = false;
	return put_options(taker, taker->live, err);
}

/* ---- pages ---- */

static struct taker_lane *lane_of(struct taker *taker, uint32_t buffer, uint32_t cpu)
{
	return buffer < taker->open.nr_buffers && cpu < taker->open.nr_cpus ?
	       &taker->lanes[(size_t)buffer * taker->open.nr_cpus + cpu] : NULL;
}

/* What is said of the last page of a file that was left behind shows whether it was open. */
static void make_sure(struct taker *taker, struct taker_lane *lane, uint32_t buffer, uint32_t cpu, uint64_t first, uint64_t n)
{
	uint64_t last = lane->before + lane->pages - 1;

	if (!lane->unsure || first + n <= last)
		return;
	lane->unsure = false;
	if (first <= last)
		lane->open = !dat_live_reopen(taker->live, buffer, cpu);
}

/* So many pages from that number on, whole. What is there already is left out, but for a last one that may have changed. */
static int take_pages(struct taker *taker, const struct frame *frame, struct err *err)
{
	struct wire_pages pages;
	uint32_t buffer, cpu, size;
	struct taker_lane *lane;
	uint64_t first, have, n, skip;
	struct iovec iov;
	int r;

	if (frame->len < sizeof(pages))
		return nonsense(err, "page");
	memcpy(&pages, frame->body, sizeof(pages));
	buffer = wire32(pages.buffer);
	cpu = wire32(pages.cpu);
	first = wire64(pages.first);
	lane = lane_of(taker, buffer, cpu);
	size = lane ? taker->page_sizes[buffer] : 1;
	n = (frame->len - sizeof(pages)) / size;
	if (!lane || (frame->len - sizeof(pages)) % size || !n)
		return nonsense(err, "page");
	if (first > UINT64_MAX / 2)
		return nonsense(err, "count of pages");
	make_sure(taker, lane, buffer, cpu, first, n);
	have = lane->before + lane->pages - lane->open;
	if (first > have)
		return nonsense(err, "count of pages");
	skip = have - first;
	if (skip >= n)
		return 0;
	iov = (struct iovec){ (uint8_t *)(uintptr_t)frame->body + sizeof(pages) + skip * size, (size_t)(n - skip) * size };
	r = dat_live_write(taker->live, buffer, cpu, &iov, 1);
	if (!r)
		r = dat_live_accept(taker->live, buffer, cpu);
	if (r)
		return r;
	lane->pages += n - skip - lane->open;
	lane->open = false;
	lane->opened = 0;
	taker->pages += n - skip;
	return 0;
}

/* One page, or what has come to it. */
static int take_page(struct taker *taker, const struct frame *frame, struct err *err)
{
	struct wire_page page;
	uint32_t buffer, cpu, size, head, at, flags;
	struct taker_lane *lane;
	uint64_t number, have;
	struct iovec iov;
	size_t rest;
	bool fresh;
	int r;

	if (frame->len < sizeof(page))
		return nonsense(err, "page");
	memcpy(&page, frame->body, sizeof(page));
	buffer = wire32(page.buffer);
	cpu = wire32(page.cpu);
	number = wire64(page.number);
	head = wire32(page.head);
	at = wire32(page.at);
	flags = wire32(page.flags);
	lane = lane_of(taker, buffer, cpu);
	size = lane ? taker->page_sizes[buffer] : 0;
	rest = frame->len - sizeof(page);
	if (!lane || head > rest || head > at || at > size || rest - head > size - at)
		return nonsense(err, "page");
	if (number > UINT64_MAX / 2)
		return nonsense(err, "count of pages");
	rest -= head;
	make_sure(taker, lane, buffer, cpu, number, 1);
	have = lane->before + lane->pages;
	/* That one is done long since. */
	if (number + lane->open < have)
		return 0;
	fresh = number == have;
	/* A page begins at its beginning. */
	if (number > have || (fresh && (head != at || lane->open)))
		return nonsense(err, "count of pages");
	r = load_open(taker, lane, buffer, cpu, fresh);
	if (r)
		return r;
	memcpy(lane->page, frame->body + sizeof(page), head);
	memcpy(lane->page + at, frame->body + sizeof(page) + head, rest);
	memset(lane->page + at + rest, 0, size - at - rest);
	iov = (struct iovec){ lane->page, size };
	r = dat_live_write(taker->live, buffer, cpu, &iov, 1);
	if (!r)
		r = flags & WIRE_IS_OPEN ? dat_live_accept_open(taker->live, buffer, cpu) : dat_live_accept(taker->live, buffer, cpu);
	if (r)
		return r;
	lane->pages += fresh;
	lane->open = flags & WIRE_IS_OPEN;
	lane->opened = lane->open;
	taker->pages++;
	return 0;
}

/* ---- all of it ---- */

static int take_sums(struct taker *taker, const struct frame *frame, struct err *err)
{
	struct wire_sums sums;

	if (frame->len != sizeof(sums))
		return nonsense(err, "sum");
	memcpy(&sums, frame->body, sizeof(sums));
	taker->summed = true;
	taker->sums = (struct wire_sums){ .events = wire64(sums.events), .lost = wire64(sums.lost), .more = wire32(sums.more) };
	taker->ended = frame->kind == WIRE_END;
	return 0;
}

static int take(struct taker *taker, const struct frame *frame, struct err *err)
{
	switch (frame->kind) {
	case WIRE_SECTION:
		return take_section(taker, frame, err);
	case WIRE_OPTIONS:
		return take_options(taker, frame, err);
	case WIRE_TELL:
		return dat_live_publish(taker->live);
	case WIRE_PAGES:
		return take_pages(taker, frame, err);
	case WIRE_PAGE:
		return take_page(taker, frame, err);
	case WIRE_SUMS:
	case WIRE_END:
		return take_sums(taker, frame, err);
	default:
		return nonsense(err, "frame");
	}
}

int taker_frame(struct taker *taker, const struct frame *frame, struct err *err)
{
	int r = taker->ended ? nonsense(err, "word after the last one") : take(taker, frame, err);
	uint64_t after = taker->at + sizeof(struct wire_head) + frame->len;

	/* Whatever is told as taken is there also for whoever comes after us. */
	if (!r && (frame->kind == WIRE_SECTION || frame->kind == WIRE_OPTIONS))
		r = journal_add(&taker->journal, after, frame, err);
	if (!r && frame->kind == WIRE_TELL)
		r = journal_clear(&taker->journal, err);
	if (!r)
		taker->at = after;
	else if (!dat_live_failed(taker->live, err))
		err_set(err, r, "%s", strerror(-r));
	return r;
}
