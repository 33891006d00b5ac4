/*
 * cmd/restore_pages: see restore_pages.h.
 */
#include "cmd/restore_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "decode/page.h"

#define PIECE ((size_t)1 << 20)
#define CPU_MAX 65536

struct restore_cpu {
	const char *path;
	int fd;
	uint32_t number;
};

bool restore_is_trace(const char *path)
{
	static const char magic[10] = "\027\010\104tracing";
	char begin[sizeof(magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin) && !memcmp(begin, magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

/* Of "trace.dat.cpu3" the 3; -1: it has none. */
static long number_of(const char *path)
{
	const char *end = path + strlen(path), *digits = end;
	long number;

	while (digits > path && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (digits == end || end - digits > 9 || digits - path < 3 || strncmp(digits - 3, "cpu", 3))
		return -1;
	number = strtol(digits, NULL, 10);
	return number < CPU_MAX ? number : -1;
}

/* A shell lists cpu10 before cpu2. */
static void number_cpus(struct restore_pages *pages)
{
	bool *seen = calloc(CPU_MAX, sizeof(*seen));
	bool named = seen;

	for (uint32_t i = 0; named && i < pages->n; i++) {
		long number = number_of(pages->cpus[i].path);

		named = number >= 0 && !seen[number];
		if (named)
			seen[number] = true;
	}
	free(seen);
	for (uint32_t i = 0; i < pages->n; i++) {
		struct restore_cpu *cpu = &pages->cpus[i];

		cpu->number = named ? (uint32_t)number_of(cpu->path) : i;
		if (cpu->number >= pages->nr_cpus)
			pages->nr_cpus = cpu->number + 1;
	}
}

static int open_cpu(struct restore_cpu *cpu, struct err *err)
{
	struct stat st;

	/* A pipe without a writer is not waited for here. */
	cpu->fd = open(cpu->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (cpu->fd < 0)
		return err_set(err, -errno, "%s: %s", cpu->path, strerror(errno));
	if (fstat(cpu->fd, &st))
		return err_set(err, -errno, "%s: %s", cpu->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: this is no file of pages", cpu->path);
	return 0;
}

int restore_pages_open(struct restore_pages *pages, const struct opts *opts, struct err *err)
{
	int r = 0;

	*pages = (struct restore_pages){ .cpus = calloc((size_t)opts->nargs + 1, sizeof(*pages->cpus)) };
	if (!pages->cpus)
		return err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; !r && i < opts->nargs; i++) {
		struct restore_cpu *cpu = &pages->cpus[pages->n++];

		cpu->path = opts_arg(opts, i);
		r = open_cpu(cpu, err);
		if (!r && restore_is_trace(cpu->path))
			r = err_set(err, -EINVAL, "%s: a trace file, not pages of a CPU; what a killed recorder left is restored "
				    "alone and without options", cpu->path);
	}
	if (!r)
		number_cpus(pages);
	return r;
}

void restore_pages_close(struct restore_pages *pages)
{
	for (uint32_t i = 0; pages->cpus && i < pages->n; i++)
		if (pages->cpus[i].fd >= 0)
			close(pages->cpus[i].fd);
	free(pages->cpus);
	*pages = (struct restore_pages){ .cpus = NULL };
}

int restore_pages_check(const struct restore_pages *pages, uint32_t page_size, const struct decode_abi *abi, struct err *err)
{
	char *page = malloc(page_size);
	const char *torn = NULL;
	bool whole = false;
	struct page_walk walk;
	int r = page ? 0 : err_set(err, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !r && i < pages->n; i++) {
		ssize_t n = pread(pages->cpus[i].fd, page, page_size, 0);

		if (n > 0 && n < (ssize_t)page_size)
			torn = pages->cpus[i].path;
		else if (n > 0)
			whole = true;
		if (n == (ssize_t)page_size && page_walk_init_abi(&walk, page, page_size, abi))
			r = err_set(err, -EINVAL, "%s: these are no pages of %u bytes", pages->cpus[i].path, page_size);
	}
	if (!r && torn && !whole)
		r = err_set(err, -EINVAL, "%s: not one whole page of %u bytes", torn, page_size);
	free(page);
	return r;
}

/* Fills the piece, or comes to the end of the file: how much there is, or -errno. */
static ssize_t read_piece(const struct restore_cpu *cpu, char *piece, size_t room, struct err *err)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(cpu->fd, piece + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "%s: %s", cpu->path, strerror(errno));
		if (!n)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static int write_cpu(const struct restore_cpu *cpu, uint32_t page_size, char *piece, size_t room, struct dat_write *write,
		     struct err *err)
{
	int r = dat_write_cpu(write, cpu->number);
	ssize_t n;
	size_t rest;

	while (!r) {
		n = read_piece(cpu, piece, room, err);
		if (n <= 0)
			return (int)n;
		rest = (size_t)n % page_size;
		if (rest)
			cmd_say("%s: %zu bytes behind the last whole page are left out", cpu->path, rest);
		if ((size_t)n > rest)
			r = dat_write_pages(write, piece, (size_t)n - rest);
	}
	return r;
}

int restore_pages_write(const struct restore_pages *pages, uint32_t page_size, struct dat_write *write, struct err *err)
{
	size_t room = page_size > PIECE ? page_size : PIECE;
	char *piece = malloc(room);
	int r = piece ? dat_write_begin(write, 0) : err_set(err, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !r && i < pages->n; i++)
		r = write_cpu(&pages->cpus[i], page_size, piece, room, write, err);
	free(piece);
	return r ? r : dat_write_end(write);
}
