/*
 * dat/symbols: names of the kernel's addresses, out of the file's copy of /proc/kallsyms.
 *
 * There are some 200,000 of them and most reports ask for a few, so they are read when the first
 * one is asked for, piece by piece, and kept as tightly as a search allows: 16 bytes and the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/local.h"

#define LINE_MAX_LEN 1024
#define SYMBOLS_MAX (2u << 20)

struct symbol {
	uint64_t addr;
	uint32_t name;		/* in names; rises from line to line */
	uint32_t module;	/* there, too; 0: none */
};

struct dat_symbols {
	struct symbol *all;	/* by address, then by line */
	size_t nr, cap;
	struct buf names;
	uint32_t last_module;	/* symbols of a module stand together: its name is kept once */
	char line[LINE_MAX_LEN];
	size_t line_len;
	size_t skip;		/* bytes of the length word still to come */
};

static uint32_t keep(struct dat_symbols *s, const char *text, size_t len)
{
	size_t at = s->names.len;

	char *to = at > UINT32_MAX - len - 1 ? NULL : buf_room(&s->names, len + 1);

	if (!to)
		return 0;
	memcpy(to, text, len);
	to[len] = '\0';
	s->names.len += len + 1;
	return (uint32_t)at;
}

static uint32_t keep_module(struct dat_symbols *s, const char *text, size_t len)
{
	const char *last = s->names.data + s->last_module;

	if (s->last_module && !strncmp(last, text, len) && !last[len])
		return s->last_module;
	s->last_module = keep(s, text, len);
	return s->last_module;
}

/* 16 for what is no digit. */
static unsigned int hex_digit(char c)
{
	unsigned int digit = (unsigned int)c - '0', letter = ((unsigned int)c | 0x20) - 'a';

	return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* "ADDRESS TYPE NAME", and "\t[MODULE]" behind some. */
static int put_line(struct dat_symbols *s, const char *p, const char *end)
{
	struct symbol symbol = { 0 };
	const char *name, *tab;
	struct symbol *more;
	unsigned int digit;

	for (; p < end && (digit = hex_digit(*p)) < 16; p++)
		symbol.addr = symbol.addr << 4 | digit;
	if (end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return 0;
	name = p + 3;
	/* Absolute values and the marks that assemblers leave are no places. */
	if (*name == '$' || (p[1] | 0x20) == 'a')
		return 0;
	if (s->nr == s->cap) {
		size_t cap = s->cap ? s->cap + s->cap / 4 : 16384;

		if (cap > SYMBOLS_MAX)
			return -E2BIG;
		more = realloc(s->all, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->all = more;
		s->cap = cap;
	}
	tab = memchr(name, '\t', (size_t)(end - name));
	symbol.name = keep(s, name, (size_t)((tab ? tab : end) - name));
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']')
		symbol.module = keep_module(s, tab + 2, (size_t)(end - tab - 3));
	s->all[s->nr++] = symbol;
	return buf_failed(&s->names) ? -ENOMEM : 0;
}

/* A line may come in pieces. Of one that is too long the rest is dropped. */
static int put_piece(void *arg, const char *p, size_t len)
{
	struct dat_symbols *s = arg;
	const char *end = p + len, *stop;
	size_t n = s->skip < len ? s->skip : len;
	int r = 0;

	s->skip -= n;
	for (p += n; p < end && !r; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (stop && !s->line_len) {
			r = put_line(s, p, stop);
			continue;
		}
		n = (size_t)((stop ? stop : end) - p);
		if (n > sizeof(s->line) - s->line_len)
			n = sizeof(s->line) - s->line_len;
		memcpy(s->line + s->line_len, p, n);
		s->line_len += n;
		if (!stop)
			break;
		r = put_line(s, s->line, s->line + s->line_len);
		s->line_len = 0;
	}
	return r;
}

/* Of one address the last line comes first: see dat_symbol(). */
static bool before(const struct symbol *a, const struct symbol *b)
{
	return a->addr != b->addr ? a->addr < b->addr : a->name > b->name;
}

/*
 * In place, and quick on what is nearly in order, as these are: the kernel's own first, then those
 * of each module. (qsort() takes as much memory again.)
 */
static void sort_any(struct symbol *all, size_t nr)
{
	static const size_t gaps[] = { 2391484, 797161, 265720, 88573, 29524, 9841, 3280, 1093, 364,
				       121, 40, 13, 4, 1 };
	size_t i, j, gap;

	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		gap = gaps[g];
		for (i = gap; i < nr; i++) {
			struct symbol one = all[i];

			for (j = i; j >= gap && before(&one, &all[j - gap]); j -= gap)
				all[j] = all[j - gap];
			all[j] = one;
		}
	}
}

/* Names of one address stand in the file in their order: the other way round is wanted. */
static void turn_groups(struct symbol *all, size_t nr)
{
	for (size_t from = 0, to; from < nr; from = to) {
		for (to = from + 1; to < nr && all[to].addr == all[from].addr; to++)
			;
		for (size_t i = from, j = to - 1; i < j; i++, j--) {
			struct symbol one = all[i];

			all[i] = all[j];
			all[j] = one;
		}
	}
}

/* The kernel's own are in order, most of the time, and modules lie behind it. */
static void sort(struct symbol *all, size_t nr)
{
	size_t sorted = 1;

	turn_groups(all, nr);
	while (sorted < nr && before(&all[sorted - 1], &all[sorted]))
		sorted++;
	if (sorted >= nr)
		return;
	sort_any(all + sorted, nr - sorted);
	if (before(&all[sorted], &all[sorted - 1]))
		sort_any(all, nr);
}

/* A kallsyms file of the user's. */
static int read_path(const char *path, struct dat_symbols *s)
{
	char bytes[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (!r && (n = read(fd, bytes, sizeof(bytes))) != 0)
		r = n < 0 ? -errno : put_piece(s, bytes, (size_t)n);
	close(fd);
	return r;
}

static struct dat_symbols *read_symbols(struct dat *dat)
{
	struct dat_symbols *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return NULL;
	keep(s, "", 0);
	if (buf_failed(&s->names)) {
		free(s);
		return NULL;
	}
	if (dat->kallsyms_path) {
		r = read_path(dat->kallsyms_path, s);
	} else {
		s->skip = dat->info.version == 7 ? 4 : 0;
		r = dat_pieces(dat, &dat->parts[DAT_KALLSYMS], put_piece, s, NULL);
	}
	if (!r && s->line_len)
		r = put_line(s, s->line, s->line + s->line_len);
	/* What could be read is of use. */
	(void)r;
	sort(s->all, s->nr);
	return s;
}

static const struct dat_symbols *symbols(struct dat *dat)
{
	if (atomic_load_explicit(&dat->symbols_read, memory_order_acquire))
		return dat->symbols;
	pthread_mutex_lock(&dat->lock);
	if (!dat->symbols_read) {
		dat->symbols = read_symbols(dat);
		atomic_store_explicit(&dat->symbols_read, true, memory_order_release);
	}
	pthread_mutex_unlock(&dat->lock);
	return dat->symbols;
}

int dat_use_kallsyms(struct dat *dat, const char *path, struct err *err)
{
	if (access(path, R_OK))
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	free(dat->kallsyms_path);
	dat->kallsyms_path = strdup(path);
	return dat->kallsyms_path ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static uint64_t size_of(const struct dat_symbols *s, size_t i)
{
	uint64_t addr = s->all[i].addr;
	size_t low = i + 1, high = s->nr;

	/* Those of one address may be many: /proc/kallsyms hides all behind 0 from some. */
	if (low < high && s->all[low].addr != addr)
		return s->all[low].addr - addr;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->all[middle].addr == addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->nr ? s->all[low].addr - addr : 0;
}

static void fill(const struct dat_symbols *s, size_t i, uint64_t addr, struct decode_symbol *out)
{
	*out = (struct decode_symbol){
		.name = s->names.data + s->all[i].name,
		.module = s->all[i].module ? s->names.data + s->all[i].module : NULL,
		.offset = addr - s->all[i].addr,
		.size = size_of(s, i),
	};
}

/*
 * Many addresses have several names, and none is better than the others. To choose the same one as
 * libtraceevent, take the one that its bisection, over symbols in its order, meets first. Behind the
 * last symbol nothing is known.
 */
bool dat_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	const struct dat_symbols *s = symbols(arg);
	size_t low = 0, high = s ? s->nr : 0;

	(void)pid;
	while (low < high) {
		size_t middle = (low + high) / 2;
		uint64_t at = s->all[middle].addr;

		if (at == addr || (at < addr && middle + 1 < s->nr && s->all[middle + 1].addr > addr)) {
			fill(s, middle, addr, out);
			return true;
		}
		if (at < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool dat_address(void *arg, const char *name, size_t len, uint64_t *out)
{
	const struct dat_symbols *s = symbols(arg);

	for (size_t i = 0; s && i < s->nr; i++) {
		const char *own = s->names.data + s->all[i].name;

		if (strncmp(own, name, len) || own[len])
			continue;
		*out = s->all[i].addr;
		return true;
	}
	return false;
}

bool dat_symbol_at(struct dat *dat, size_t i, uint64_t *addr, struct decode_symbol *out)
{
	const struct dat_symbols *s = symbols(dat);

	if (!s || i >= s->nr)
		return false;
	*addr = s->all[i].addr;
	fill(s, i, *addr, out);
	return true;
}

void dat_free_symbols(struct dat *dat)
{
	if (dat->symbols) {
		free(dat->symbols->all);
		buf_fini(&dat->symbols->names);
	}
	free(dat->symbols);
	free(dat->kallsyms_path);
}
