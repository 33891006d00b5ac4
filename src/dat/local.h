/*
 * dat/local: what the files of this room share. Private to it.
 */
#ifndef DAT_LOCAL_H
#define DAT_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "dat/dat.h"
#include "dat/pack.h"

/* No section is longer or unpacks to more, no matter what it claims; some not even to that. */
#define DAT_SECTION_MAX ((size_t)64 << 20)
#define DAT_HEADERS_MAX ((size_t)1 << 20)
#define DAT_LIST_MAX ((size_t)16 << 20)	/* ftrace's formats, tasks, printk's texts, all options */
/* Nor does a chunk of pages, unless its pages are large. */
#define DAT_CHUNK_MAX ((uint32_t)16 << 20)
/* All blocks of a file together: thousands of CPUs need that much. */
#define DAT_HELD_MAX ((size_t)1 << 30)
#define DAT_PAGE_MAX ((uint32_t)16 << 20)
#define DAT_WARNINGS_MAX 64
#define DAT_OPTIONS_MAX 65536
#define DAT_EVENTS_MAX 65536
#define DAT_CPUS_MAX 16384	/* of a machine */
#define DAT_LANES_MAX 65536	/* CPUs of all buffers together */
#define DAT_BUFFERS_MAX 4096

/* A part of the file: `packed` if it begins with its two sizes. */
struct span {
	uint64_t offset, size;
	bool is_there, packed;
};

struct event {
	const char *system, *name;
	uint32_t id;
	uint32_t len;
	const char *text;
	_Atomic(struct decode_format *) format;
	_Atomic(bool) is_bad;		/* it was parsed, in vain */
};

struct dat {
	int fd;
	struct dat_info info;
	char *path, *head;		/* the header's strings */
	struct span parts[DAT_NR_IDS];
	struct dat_part headers, ftrace_events, event_formats;

	char *warnings[DAT_WARNINGS_MAX];
	size_t nr_warnings;

	struct dat_option *options;
	size_t nr_options, cap_options, option_bytes;
	size_t options_read;		/* bytes of sections of options */
	struct dat_buffer *buffers;
	size_t nr_buffers;
	struct dat_section *sections;	/* by offset */
	size_t nr_sections;
	bool grows;			/* somebody writes it, or was killed while he did */
	size_t nr_lanes;
	struct err no_buffer;		/* why the last one that was left out was */
	uint64_t data_size;		/* of all lanes */
	_Atomic(size_t) *held;		/* bytes of blocks; readers of a file only hold it const */

	struct event *events;
	size_t nr_events, cap_events;
	uint32_t *by_id;		/* event + 1 by ID, 0: none */
	uint32_t nr_ids;
	struct decode_format *block;	/* of the blk tracer's records, which files lack */
	pthread_mutex_t lock;		/* of what is made when first asked for */

	struct dat_symbols *symbols;
	_Atomic(bool) symbols_read;
	char *kallsyms_path;
	struct dat_printks *printks;
	struct dat_tasks *tasks;
	struct dat_maps *maps;
	struct dat_guest *guests;
	size_t nr_guests;
	struct dat_shift *shift;
};

/* Words with the file's name and the offset before them; returns code. */
int dat_bad(const struct dat *dat, struct err *err, int code, uint64_t at, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void dat_warn(struct dat *dat, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* open.c: what was added to the file since it was opened is there, too. */
void dat_measure(struct dat *dat);

/* input.c: all of `len` bytes, or -EBADMSG with words. */
int dat_read(const struct dat *dat, uint64_t at, void *to, size_t len, struct err *err);
/* An empty span gives an empty part. One of more than `max` bytes is refused. */
int dat_load(const struct dat *dat, const struct span *span, size_t max, struct dat_part *out,
	     struct err *err);
/* The same, piece by piece, for what need not be in memory as a whole. */
int dat_pieces(const struct dat *dat, const struct span *span,
	       int (*put)(void *arg, const char *bytes, size_t len), void *arg, struct err *err);

/* The file's compressor, for what lies at `at`. */
int dat_pack_open(const struct dat *dat, uint64_t at, struct pack **out, struct err *err);

static inline uint64_t dat_word(const struct dat *dat, const void *p, uint32_t size)
{
	return decode_abi_load(p, size, dat->info.abi.big_endian);
}

/* A reader of bytes in memory, all checked: past the end everything is 0 and `torn` is set. */
struct scan {
	const struct dat *dat;
	const uint8_t *p, *end;
	bool torn;
};
/* An empty part is torn from the beginning. */
struct scan scan_part(const struct dat *dat, const struct dat_part *part);
uint64_t scan_word(struct scan *s, uint32_t size);
/* The NUL-terminated string here; "" when torn. */
const char *scan_string(struct scan *s);
const uint8_t *scan_bytes(struct scan *s, uint64_t len);

/* v6.c, v7.c: fills in parts, options, buffers. `at` is behind the fixed header. */
int dat_open_v6(struct dat *dat, uint64_t at, struct err *err);
int dat_open_v7(struct dat *dat, uint64_t at, struct err *err);

/* options.c: keeps a copy of the value. */
int dat_add_option(struct dat *dat, uint16_t id, const void *data, uint32_t len, uint64_t at,
		   struct err *err);
/* The last one added is in this section. */
void dat_place_option(struct dat *dat, uint64_t section);
/* The number of CPUs, which may be told anew. */
void dat_count_cpus(struct dat *dat);
/* Out of the options: clock, times, names, guests. Warns of those that make no sense. */
void dat_apply_options(struct dat *dat);
void dat_free_options(struct dat *dat);

/* The buffer is the dat's from here on, and so are its name and cpus; cpus get sorted and cut. */
int dat_add_buffer(struct dat *dat, struct dat_buffer *buffer, struct err *err);
/* What it points to. */
void dat_free_buffer(struct dat_buffer *buffer);

/* events.c */
int dat_index_events(struct dat *dat, struct err *err);
void dat_free_events(struct dat *dat);

/* symbols.c, tasks.c, maps.c */
void dat_free_symbols(struct dat *dat);
int dat_read_tasks(struct dat *dat, struct err *err);
void dat_free_tasks(struct dat *dat);
int dat_add_maps(struct dat *dat, const struct dat_option *option);
void dat_free_maps(struct dat *dat);

#endif
