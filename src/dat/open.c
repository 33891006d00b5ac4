/*
 * dat/open: the first bytes of a file, and what both versions have in common. See dat.h.
 *
 *   17 08 44 "tracing" VERSION\0 | endian | long size | page size (4) | version 6 or 7 goes on
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/local.h"

#define MAGIC "\x17\x08\x44tracing"
#define MAGIC_LEN 10
#define HEAD_MAX 256	/* the longest header that is looked at: there are strings in it */

static int open_file(struct dat *dat, const char *path, int fd, struct err *err)
{
	struct stat st;

	dat->path = strdup(path);
	if (!dat->path)
		return err_set(err, -ENOMEM, "out of memory");
	dat->info.path = dat->path;
	/* A FIFO that nobody writes to is refused, too, and not waited for. */
	dat->fd = fd >= 0 ? dup(fd) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (dat->fd < 0 || fstat(dat->fd, &st))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s: is a directory", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", path);
	dat->info.size = (uint64_t)st.st_size;
	return 0;
}

void dat_measure(struct dat *dat)
{
	struct stat st;

	if (!fstat(dat->fd, &st) && (uint64_t)st.st_size > dat->info.size)
		dat->info.size = (uint64_t)st.st_size;
}

static int check_head(struct dat *dat, struct err *err)
{
	const struct dat_info *info = &dat->info;
	uint32_t page = info->page_size;

	if (info->user_long != 4 && info->user_long != 8)
		return dat_bad(dat, err, -EBADMSG, MAGIC_LEN + 3, "a long of %u bytes",
			       info->user_long);
	if (page < 64 || page > DAT_PAGE_MAX || (page & (page - 1)))
		return dat_bad(dat, err, -EBADMSG, MAGIC_LEN + 4, "a page size of %u", page);
	return 0;
}

/* The strings of version 7's header. Returns where they end. */
static int compressor(struct dat *dat, struct scan *s, struct err *err)
{
	dat->info.compressor = scan_string(s);
	dat->info.compressor_version = scan_string(s);
	if (s->torn)
		return dat_bad(dat, err, -EBADMSG, MAGIC_LEN + 8, "no name of a compressor");
	if (!*dat->info.compressor)
		dat->info.compressor = "none";
	return 0;
}

static int read_head(struct dat *dat, uint64_t *behind, struct err *err)
{
	size_t len = dat->info.size < HEAD_MAX ? (size_t)dat->info.size : HEAD_MAX;
	struct scan s;
	const char *version;
	int r;

	dat->head = malloc(HEAD_MAX);
	if (!dat->head)
		return err_set(err, -ENOMEM, "out of memory");
	r = dat_read(dat, 0, dat->head, len, err);
	if (r)
		return r;
	if (len < MAGIC_LEN || memcmp(dat->head, MAGIC, MAGIC_LEN))
		return err_set(err, -EBADMSG, "%s: not a trace file: it does not begin as one", dat->path);
	s = (struct scan){ dat, (const uint8_t *)dat->head + MAGIC_LEN,
			   (const uint8_t *)dat->head + len, false };
	version = scan_string(&s);
	if (strcmp(version, "6") && strcmp(version, "7"))
		return dat_bad(dat, err, -ENOTSUP, MAGIC_LEN,
			       s.torn ? "no version" : "version %.20s, only 6 and 7 are known",
			       version);
	dat->info.version = version[0] - '0';
	dat->info.abi.big_endian = scan_word(&s, 1) == 1;
	dat->info.user_long = (uint8_t)scan_word(&s, 1);
	dat->info.abi.long_size = dat->info.user_long;
	dat->info.page_size = (uint32_t)scan_word(&s, 4);
	if (s.torn)
		return dat_bad(dat, err, -EBADMSG, len, "the file ends within its header");
	r = check_head(dat, err);
	if (!r && dat->info.version == 7)
		r = compressor(dat, &s, err);
	*behind = (uint64_t)(s.p - (const uint8_t *)dat->head);
	return r;
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_cpu *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/*
 * A file that was cut off keeps what lies before the cut. No byte is the data of two CPUs: all
 * together have no more than the file.
 */
static void cut_cpu(struct dat *dat, const struct dat_buffer *buffer, struct dat_cpu *cpu)
{
	uint64_t end = dat->info.size;

	/* A file that grows tells where there will be some. */
	if (!cpu->size) {
		cpu->offset = cpu->offset <= end ? cpu->offset : 0;
		return;
	}
	if (cpu->offset > end || cpu->size > end - cpu->offset) {
		dat_warn(dat, "%s: %s%sCPU %d has %llu bytes at offset %llu, but the file ends at %llu",
			 dat->path, buffer->name, *buffer->name ? ": " : "", cpu->cpu,
			 (unsigned long long)cpu->size, (unsigned long long)cpu->offset,
			 (unsigned long long)end);
		cpu->offset = cpu->offset <= end ? cpu->offset : 0;
		cpu->size = end - cpu->offset;
	}
	if (cpu->size > end - dat->data_size) {
		dat_warn(dat, "%s: at offset %llu: %s%sthe data of CPU %d is that of others, too",
			 dat->path, (unsigned long long)cpu->offset, buffer->name,
			 *buffer->name ? ": " : "", cpu->cpu);
		cpu->size = end - dat->data_size;
	}
	dat->data_size += cpu->size;
}

/* Those with numbers that no machine has are left out. */
static int check_cpus(struct dat *dat, struct dat_buffer *buffer, struct dat_cpu *cpus,
		      struct err *err)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
		if (cpus[i].cpu < 0 || cpus[i].cpu >= DAT_CPUS_MAX) {
			dat_warn(dat, "%s: at offset %llu: data of a CPU %d", dat->path,
				 (unsigned long long)cpus[i].offset, cpus[i].cpu);
			continue;
		}
		cpus[nr] = cpus[i];
		cut_cpu(dat, buffer, &cpus[nr++]);
	}
	buffer->nr_cpus = nr;
	dat->nr_lanes += nr;
	if (dat->nr_lanes > DAT_LANES_MAX)
		return dat_bad(dat, err, -EBADMSG, buffer->section,
			       "more than %d CPUs in all buffers", DAT_LANES_MAX);
	qsort(cpus, nr, sizeof(*cpus), by_cpu);
	return 0;
}

int dat_add_buffer(struct dat *dat, struct dat_buffer *buffer, struct err *err)
{
	struct dat_cpu *cpus = (struct dat_cpu *)buffer->cpus;
	struct dat_buffer *more = realloc(dat->buffers,
					  (dat->nr_buffers + 1) * sizeof(*dat->buffers));
	int r;

	if (!more)
		return err_set(err, -ENOMEM, "out of memory");
	dat->buffers = more;
	if (dat->nr_buffers == DAT_BUFFERS_MAX)
		return dat_bad(dat, err, -EBADMSG, buffer->section, "more than %d buffers",
			       DAT_BUFFERS_MAX);
	r = check_cpus(dat, buffer, cpus, err);
	if (r)
		return r;
	dat->buffers[dat->nr_buffers++] = *buffer;
	return 0;
}

void dat_free_buffer(struct dat_buffer *buffer)
{
	free((void *)buffer->name);
	free((void *)buffer->clock);
	free((void *)buffer->cpus);
	free((void *)buffer->table);
}

/* "field: T commit; offset:8; size:8;": how long the kernel's long is. */
static uint8_t commit_size(const char *text, size_t len)
{
	const char *line = memmem(text, len, " commit;", 8), *end, *size;

	if (!line)
		return 0;
	end = memchr(line, '\n', len - (size_t)(line - text));
	if (!end)
		end = text + len;
	size = memmem(line, (size_t)(end - line), "size:", 5);
	return size && size + 5 < end && (size[5] == '4' || size[5] == '8') ?
		       (uint8_t)(size[5] - '0') : 0;
}

static int read_header_info(struct dat *dat, struct err *err)
{
	struct scan s;
	const uint8_t *text;
	uint64_t len;
	uint8_t size;
	int r;

	if (!dat->parts[DAT_HEADER_INFO].is_there)
		return dat_bad(dat, err, -EBADMSG, dat->info.size, "no header_page");
	r = dat_load(dat, &dat->parts[DAT_HEADER_INFO], DAT_HEADERS_MAX, &dat->headers, err);
	if (r)
		return r;
	s = scan_part(dat, &dat->headers);
	if (strcmp(scan_string(&s), "header_page"))
		return dat_bad(dat, err, -EBADMSG, dat->parts[DAT_HEADER_INFO].offset,
			       "header_page is wanted");
	len = scan_word(&s, 8);
	text = scan_bytes(&s, len);
	if (s.torn)
		return dat_bad(dat, err, -EBADMSG, dat->parts[DAT_HEADER_INFO].offset,
			       "a header_page of %llu bytes", (unsigned long long)len);
	if (!len)
		return dat_bad(dat, err, -ENOTSUP, dat->parts[DAT_HEADER_INFO].offset,
			       "an empty header_page: pages of a kernel before 2.6.31");
	size = commit_size((const char *)text, (size_t)len);
	if (size)
		dat->info.abi.long_size = size;
	return 0;
}

/* A file that does not tell has as many CPUs as its tables need. */
static void count_cpus(struct dat *dat)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < dat->nr_buffers; i++)
		for (uint32_t c = 0; c < dat->buffers[i].nr_cpus; c++)
			if ((uint32_t)dat->buffers[i].cpus[c].cpu >= nr)
				nr = (uint32_t)dat->buffers[i].cpus[c].cpu + 1;
	if (!dat->info.nr_cpus)
		dat->info.nr_cpus = nr;
}

static int read_body(struct dat *dat, uint64_t at, struct err *err)
{
	int r = dat->info.version == 7 ? dat_open_v7(dat, at, err) : dat_open_v6(dat, at, err);

	if (!r) {
		count_cpus(dat);
		r = read_header_info(dat, err);
	}
	if (!r)
		r = dat_index_events(dat, err);
	if (!r)
		r = dat_read_tasks(dat, err);
	if (r)
		return r;
	dat_apply_options(dat);
	return 0;
}

static int open_dat(struct dat **out, const char *path, int fd, struct err *err)
{
	struct dat *dat = calloc(1, sizeof(*dat));
	uint64_t at = 0;
	int r;

	*out = NULL;
	if (!dat)
		return err_set(err, -ENOMEM, "out of memory");
	dat->fd = -1;
	dat->info.compressor = "none";
	dat->info.compressor_version = "";
	pthread_mutex_init(&dat->lock, NULL);
	dat->held = calloc(1, sizeof(*dat->held));
	r = dat->held ? open_file(dat, path, fd, err) : err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = read_head(dat, &at, err);
	if (!r)
		r = read_body(dat, at, err);
	if (r) {
		dat_close(dat);
		return r;
	}
	*out = dat;
	return 0;
}

int dat_open(struct dat **out, const char *path, struct err *err)
{
	return open_dat(out, path, -1, err);
}

int dat_open_fd(struct dat **out, int fd, const char *name, struct err *err)
{
	return open_dat(out, name, fd, err);
}

void dat_close(struct dat *dat)
{
	if (!dat)
		return;
	if (dat->fd >= 0)
		close(dat->fd);
	dat_free_events(dat);
	dat_free_symbols(dat);
	dat_free_tasks(dat);
	dat_free_maps(dat);
	dat_free_options(dat);
	for (size_t i = 0; i < dat->nr_buffers; i++)
		dat_free_buffer(&dat->buffers[i]);
	free(dat->buffers);
	free(dat->sections);
	for (size_t i = 0; i < dat->nr_warnings; i++)
		free(dat->warnings[i]);
	dat_part_close(&dat->headers);
	dat_part_close(&dat->ftrace_events);
	dat_part_close(&dat->event_formats);
	pthread_mutex_destroy(&dat->lock);
	free(dat->held);
	free(dat->head);
	free(dat->path);
	free(dat);
}

const struct dat_info *dat_info(const struct dat *dat)
{
	return &dat->info;
}

const char *dat_warning(const struct dat *dat, size_t i)
{
	return i < dat->nr_warnings ? dat->warnings[i] : NULL;
}

const struct dat_buffer *dat_buffer(const struct dat *dat, size_t i)
{
	return i < dat->nr_buffers ? &dat->buffers[i] : NULL;
}

const struct dat_section *dat_section(const struct dat *dat, size_t i)
{
	return i < dat->nr_sections ? &dat->sections[i] : NULL;
}

const struct dat_option *dat_option(const struct dat *dat, size_t i)
{
	return i < dat->nr_options ? &dat->options[i] : NULL;
}

/* kallsyms, printk and command lines have their length before them, in 4 or 8 bytes. */
static int strip_length(const struct dat *dat, uint32_t word, struct dat_part *part, uint64_t at,
			struct err *err)
{
	uint64_t len;

	if (!part->len)
		return 0;
	len = part->len < word ? UINT64_MAX : dat_word(dat, part->data, word);
	if (part->len < word || len > part->len - word) {
		dat_part_close(part);
		return dat_bad(dat, err, -EBADMSG, at, "a text longer than its section");
	}
	/* The block's start is what is freed: so the text moves to the front. */
	memmove((uint8_t *)part->data, part->data + word, (size_t)len);
	((uint8_t *)part->data)[len] = '\0';
	part->len = (size_t)len;
	return 0;
}

static size_t longest(enum dat_id id)
{
	switch (id) {
	case DAT_HEADER_INFO:
		return DAT_HEADERS_MAX;
	case DAT_FTRACE_EVENTS:
	case DAT_PRINTK:
	case DAT_CMDLINES:
		return DAT_LIST_MAX;
	default:
		return DAT_SECTION_MAX;
	}
}

int dat_part_open(const struct dat *dat, enum dat_id id, struct dat_part *out, struct err *err)
{
	const struct span *span = &dat->parts[id];
	int r;

	*out = (struct dat_part){ 0 };
	if (!span->is_there)
		return err_set(err, -ENOENT, "%s: there is no such section", dat->path);
	r = dat_load(dat, span, longest(id), out, err);
	if (r || dat->info.version == 6)
		return r;
	if (id == DAT_KALLSYMS || id == DAT_PRINTK)
		return strip_length(dat, 4, out, span->offset, err);
	if (id == DAT_CMDLINES)
		return strip_length(dat, 8, out, span->offset, err);
	return 0;
}
