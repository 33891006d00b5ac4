/*
 * dat/live: see live.h. Here are the checks and the order of calls.
 *
 *   live_front.c	what the file tells		live_room.c	where data lies
 *   live_lane.c	pages				live_pack.c	packed ones
 *   live_close.c	closing up			live_left.c	the same for a file that was left behind
 *   live_file.c	bytes
 */
#include "dat/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dat/form.h"
#include "dat/live_local.h"

#define SLIDE_PAGES 64

int live_fail(struct dat_live *live, int code)
{
	err_set(&live->err, code, "cannot write %.300s: %s", live->file.path, strerror(-code));
	live_drop_ballast(&live->file);
	return live->err.code;
}

static uint8_t long_size(const struct dat_live_how *how)
{
	return how->long_size ? how->long_size : sizeof(long);
}

static int check(const struct dat_live_how *how, struct err *err)
{
	struct dat_write_how like = {
		.version = 7, .long_size = long_size(how), .page_size = how->page_size, .nr_cpus = how->nr_cpus,
		.buffers = how->buffers, .nr_buffers = how->nr_buffers,
	};

	for (size_t i = 0; i < how->nr_buffers; i++)
		if (how->buffers[i].text)
			return err_set(err, -ENOTSUP, "a buffer of text does not grow");
	return form_check(&like, err);
}

static bool copy_how(struct live_file *f, const struct dat_live_how *how)
{
	static const struct dat_write_buffer top = { .name = "" };
	const struct dat_write_buffer *from = how->nr_buffers ? how->buffers : &top;
	bool ok;

	f->nr_cpus = how->nr_cpus;
	f->nr_buffers = how->nr_buffers ? how->nr_buffers : 1;
	f->buffers = calloc(f->nr_buffers, sizeof(*f->buffers));
	f->lanes = calloc(live_nr_lanes(f) + 1, sizeof(*f->lanes));
	ok = f->buffers && f->lanes;
	for (size_t i = 0; ok && i < f->nr_buffers; i++) {
		f->buffers[i].name = strdup(from[i].name);
		f->buffers[i].clock = strdup(from[i].clock ? from[i].clock : "");
		f->buffers[i].page_size = from[i].page_size ? from[i].page_size : how->page_size;
		ok = f->buffers[i].name && f->buffers[i].clock;
	}
	return ok;
}

static int open_pack(struct dat_live *live, const struct dat_live_how *how, struct err *err)
{
	const char *name = how->compression;

	if (name && !strcmp(name, "any"))
		name = how->keep ? NULL : pack_name(0);
	if (!name || !strcmp(name, "none"))
		return 0;
	if (how->keep)
		return err_set(err, -ENOTSUP, "packed data cannot be let go while it is recorded: either a limit or "
			       "compression");
	if (pack_open(&live->pack, name, err))
		return err->code;
	live->stage = memfd_create("ringside-pack", MFD_CLOEXEC);
	live->file.packed = true;
	return live->stage < 0 ? err_set(err, -errno, "cannot pack: %s", strerror(errno)) : 0;
}

/* The head, the link to nothing yet, and the strings up to the end of a block. */
static int put_start(struct live_file *f, const struct pack *pack, const struct dat_live_how *how)
{
	struct buf out = BUF_INIT, strings = BUF_INIT;
	uint8_t head[SEVEN_HEAD];
	int r;

	live_strings(f, &strings);
	seven_start(&out, LIVE_BIG, long_size(how), how->page_size, pack);
	f->link = out.len;
	seven_word(&out, 8, 0, LIVE_BIG);
	f->front = live_up(out.len + SEVEN_HEAD + strings.len + SEVEN_GROWS_SIZE, LIVE_BLOCK);
	seven_head(head, DAT_STRINGS, false, f->names[DAT_STRINGS], f->front - out.len - SEVEN_HEAD, LIVE_BIG);
	buf_add(&out, head, sizeof(head));
	buf_add(&out, strings.data, strings.len);
	while (!buf_failed(&out) && out.len < f->front - SEVEN_GROWS_SIZE)
		buf_putc(&out, '\0');
	buf_add(&out, SEVEN_GROWS, SEVEN_GROWS_SIZE);
	r = buf_failed(&out) || buf_failed(&strings) ? -ENOMEM : live_put(f, out.data, out.len, 0);
	f->gap = f->front;
	buf_fini(&out);
	buf_fini(&strings);
	return r;
}

/* A file that another writer grows would go on without a name. */
static int check_free(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r = 0;

	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
		r = err_set(err, -EBUSY, "cannot write %.300s: somebody is recording to it", path);
	close(fd);
	return r;
}

static int open_place(struct dat_live *live, const char *path, struct err *err)
{
	struct live_file *f = &live->file;
	int r;

	f->fd = place_open(&live->place, path, err);
	if (f->fd < 0)
		return f->fd;
	r = check_free(path, err);
	if (!r)
		/* Whoever closes up files that were left behind sees by it that this is none. */
		flock(f->fd, LOCK_EX | LOCK_NB);
	return r;
}

/* What a file may have at most, of what is said here. */
static void look_at_limit(struct live_file *f)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		f->max = (uint64_t)limit.rlim_cur;
}

static int begin(struct dat_live *live, const char *path, const struct dat_live_how *how, struct err *err)
{
	struct live_file *f = &live->file;
	int r;

	f->path = strdup(path);
	look_at_limit(f);
	r = f->path ? live_measure(f, how->page_size) : -ENOMEM;
	if (!r)
		r = put_start(f, live->pack, how);
	if (r)
		return err_set(err, r, "cannot write %.300s: %s", path, strerror(-r));
	live->keep = live_up(how->keep, f->step);
	live->slide = live_up(live->keep / 8, f->step);
	for (size_t i = 0; i < f->nr_buffers; i++)
		if (live->slide < (uint64_t)f->buffers[i].page_size * SLIDE_PAGES)
			live->slide = live_up((uint64_t)f->buffers[i].page_size * SLIDE_PAGES, f->step);
	return 0;
}

/* One that has nothing but what was asked for; `fd` is taken: -1: it has no file yet. */
static int prepare(struct dat_live **out, int fd, const struct dat_live_how *how, struct err *err)
{
	struct dat_live *live = calloc(1, sizeof(*live));
	int r;

	*out = live;
	if (!live) {
		if (fd >= 0)
			close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	live->file.fd = fd;
	live->stage = live->direct = -1;
	live->err = (struct err)ERR_INIT;
	live->is_stale = true;
	r = check(how, err);
	if (!r)
		r = copy_how(&live->file, how) ? 0 : err_set(err, -ENOMEM, "out of memory");
	return r ? r : open_pack(live, how, err);
}

int dat_live_open(struct dat_live **out, const char *path, const struct dat_live_how *how, struct err *err)
{
	struct err ours = ERR_INIT;
	struct dat_live *live;
	int r;

	if (!err)
		err = &ours;
	*out = NULL;
	r = prepare(&live, -1, how, err);
	if (!r)
		r = open_place(live, path, err);
	if (!r)
		r = begin(live, path, how, err);
	if (r) {
		dat_live_close(live);
		return r;
	}
	if (!live->pack)
		live_direct_open(live);
	*out = live;
	return 0;
}

int dat_live_adopt(struct dat_live **out, int fd, const char *name, const struct dat_live_how *how, struct err *err)
{
	struct dat_live *live;
	int r = prepare(&live, fd, how, err);

	*out = NULL;
	if (!r)
		r = begin(live, name, how, err);
	if (r) {
		dat_live_close(live);
		return r;
	}
	live->is_named = true;
	*out = live;
	return 0;
}

int dat_live_resume(struct dat_live **out, int fd, const char *name, struct err *err)
{
	struct dat_live *live = calloc(1, sizeof(*live));
	struct live_file *f = live ? &live->file : NULL;
	int r;

	*out = NULL;
	if (!live) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	f->fd = fd;
	live->stage = live->direct = -1;
	live->err = (struct err)ERR_INIT;
	f->path = strdup(name);
	look_at_limit(f);
	r = f->path ? live_find(f, err) : err_set(err, -ENOMEM, "out of memory");
	if (r) {
		dat_live_close(live);
		return r;
	}
	for (size_t i = 0; i < live_nr_lanes(f); i++)
		live->bytes += f->lanes[i].size;
	live->is_named = true;
	*out = live;
	return 0;
}

uint64_t dat_live_lane(const struct dat_live *live, size_t buffer, uint32_t cpu)
{
	const struct live_file *f = &live->file;

	return buffer < f->nr_buffers && cpu < f->nr_cpus ? f->lanes[buffer * f->nr_cpus + cpu].size : 0;
}

uint32_t dat_live_cpus(const struct dat_live *live)
{
	return live->file.nr_cpus;
}

uint32_t dat_live_page_size(const struct dat_live *live, size_t buffer)
{
	return buffer < live->file.nr_buffers ? live->file.buffers[buffer].page_size : 0;
}

int dat_live_read(const struct dat_live *live, size_t buffer, uint32_t cpu, uint64_t from, void *bytes, size_t len)
{
	const struct live_file *f = &live->file;
	const struct live_lane *lane = &f->lanes[buffer * f->nr_cpus + cpu];

	if (live->pack || from > lane->size || len > lane->size - from)
		return -EINVAL;
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(f->fd, (char *)bytes + done, len - done, (off_t)(lane->offset + from + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

void dat_live_close(struct dat_live *live)
{
	if (!live)
		return;
	if (live->stage >= 0)
		close(live->stage);
	live_direct_close(live);
	live_file_fini(&live->file);
	place_fini(&live->place);
	pack_close(live->pack);
	free(live);
}

/* What is packed is packed as a whole, so it has to lie together. */
static int put_packed(struct dat_live *live, enum dat_id id, const void *payload, size_t len)
{
	struct buf whole = BUF_INIT, piece = BUF_INIT;
	struct iovec body;
	int r;

	if (seven_prefix(id))
		seven_word(&whole, (uint32_t)seven_prefix(id), len, LIVE_BIG);
	if (len)
		buf_add(&whole, payload, len);
	r = buf_failed(&whole) ? -ENOMEM : seven_piece(&piece, live->pack, whole.data, whole.len, LIVE_BIG);
	body = (struct iovec){ piece.data, piece.len };
	if (!r)
		r = live_section(&live->file, id, &body, 1);
	buf_fini(&whole);
	buf_fini(&piece);
	return r;
}

static int put_plain(struct dat_live *live, enum dat_id id, const void *payload, size_t len)
{
	uint8_t word[8];
	struct iovec body[2] = { { word, seven_prefix(id) }, { (void *)payload, len } };

	dat_store(word, (uint32_t)seven_prefix(id), len, LIVE_BIG);
	return live_section(&live->file, id, body, 2);
}

int dat_live_section(struct dat_live *live, enum dat_id id, const void *payload, size_t len)
{
	int r;

	if (live->err.code)
		return live->err.code;
	if ((id < DAT_HEADER_INFO || id > DAT_CMDLINES) && (!live->pack || (id != DAT_BTF && id != DAT_MODULES)))
		return -EINVAL;
	if ((uint64_t)len > UINT32_MAX - 8)
		return live_fail(live, -EFBIG);
	r = live->pack ? put_packed(live, id, payload, len) : put_plain(live, id, payload, len);
	live->is_stale = true;
	return r ? live_fail(live, r) : 0;
}

int dat_live_option(struct dat_live *live, enum dat_id id, const void *value, size_t len)
{
	if (live->err.code)
		return live->err.code;
	if (dat_write_owns(id) || len > FORM_OPTION_MAX)
		return -EINVAL;
	seven_option(&live->file.more, id, value, len, LIVE_BIG);
	live->is_stale = true;
	return buf_failed(&live->file.more) ? live_fail(live, -ENOMEM) : 0;
}

void dat_live_forget(struct dat_live *live, enum dat_id id)
{
	struct buf *more = &live->file.more;
	size_t from = 0, to = 0, len;

	for (; from < more->len; from += len) {
		len = 6 + (size_t)decode_abi_load(more->data + from + 2, 4, LIVE_BIG);
		if (id == DAT_DONE || decode_abi_load(more->data + from, 2, LIVE_BIG) == id)
			continue;
		memmove(more->data + to, more->data + from, len);
		to += len;
	}
	live->is_stale |= more->len != to;
	more->len = to;
}

static int name(struct dat_live *live)
{
	int r = live->is_named ? 0 : place_prepare(&live->place, live->file.fd);

	if (!r && !live->is_named)
		r = place_take(&live->place);
	live->is_named |= !r;
	return r;
}

int dat_live_publish(struct dat_live *live)
{
	int r = live_ready(live);

	if (r)
		return r;
	r = live_tell(&live->file);
	if (!r)
		r = name(live);
	if (r)
		return live_fail(live, r);
	live->is_stale = false;
	live_take_ballast(&live->file);
	return 0;
}

uint64_t dat_live_bytes(const struct dat_live *live)
{
	return live->bytes;
}

int dat_live_failed(const struct dat_live *live, struct err *err)
{
	if (live->err.code)
		err_set(err, live->err.code, "%s", live->err.text);
	return live->err.code;
}

int dat_live_finish(struct dat_live *live, struct err *err)
{
	for (size_t i = 0; live->pack && i < live_nr_lanes(&live->file) && !live->err.code; i++)
		live_pack_end(live, &live->file.lanes[i]);
	if (live->is_stale && !live->err.code)
		dat_live_publish(live);
	live_drop_ballast(&live->file);
	/* Where that cannot be, the file is as good, only larger. */
	if (live->is_named)
		live_close_up(&live->file);
	if (live->file.fd >= 0 && close(live->file.fd) && errno != EINTR)
		live_fail(live, -errno);
	live->file.fd = -1;
	return dat_live_failed(live, err);
}
