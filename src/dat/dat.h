/*
 * dat: trace files as trace-cmd and we write them, versions 6 and 7, of any machine.
 *
 * In: a file that may hold anything. Out: what it says of the machine and its events, names for
 * addresses and tasks, and the pages of each CPU (block.h). A file whose structure cannot be read is
 * refused with the offset where that ends; one of which a part cannot be read opens without that
 * part and has a warning for it.
 *
 * An open file is read-only: any number of threads may use it. What costs time or memory (formats,
 * symbols) is read when it is first asked for. Everything returned lives as long as the file is open.
 *
 *   input.c	bytes of the file; sections, read or unpacked
 *   open.c	the first bytes, and what both versions have in common
 *   v6.c v7.c	where each version keeps what
 *   options.c	what the options say
 *   events.c	formats		symbols.c, tasks.c, maps.c	names
 *   block.c	pages, and where a time is among them
 *   pack.c	compressors
 */
#ifndef DAT_DAT_H
#define DAT_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "decode/abi.h"
#include "decode/print.h"

/* IDs of options, which in version 7 are those of sections, too. */
enum dat_id {
	DAT_DONE, DAT_DATE, DAT_CPUSTAT, DAT_BUFFER, DAT_CLOCK, DAT_UNAME, DAT_HOOK, DAT_OFFSET,
	DAT_CPUCOUNT, DAT_VERSION, DAT_PROCMAPS, DAT_TRACEID, DAT_TIME_SHIFT, DAT_GUEST,
	DAT_TSC2NSEC, DAT_STRINGS, DAT_HEADER_INFO, DAT_FTRACE_EVENTS, DAT_EVENT_FORMATS,
	DAT_KALLSYMS, DAT_PRINTK, DAT_CMDLINES, DAT_BUFFER_TEXT, DAT_BTF, DAT_LAST_BOOT,
	DAT_MODULES, DAT_NR_IDS,
};

struct dat;

struct dat_option {
	uint16_t id;
	uint32_t len;
	const uint8_t *data;	/* a NUL follows it */
	uint64_t at;		/* of data in the file */
	uint64_t section;	/* of version 7: offset of the section that it is in */
};

/* What version 7 is made of. */
struct dat_section {
	uint16_t id;		/* an enum dat_id; DAT_DONE: options */
	uint16_t flags;
	uint32_t name;		/* where it is in the strings */
	uint64_t at;		/* of its head in the file */
	uint64_t size;		/* of what is behind the head */
	uint32_t packed, unpacked;	/* bytes, if it is packed as a whole: buffers are not */
	bool is_packed;
	bool chained;		/* options that others, or the file's head, lead to */
	uint64_t next;		/* of options: where more of them are, 0: nowhere */
};

/* One CPU's data. */
struct dat_cpu {
	int cpu;
	uint64_t offset;
	uint64_t size;		/* in the file: of packed data, packed */
};

struct dat_buffer {
	const char *name;	/* "": the top one */
	const char *clock;	/* "": not told */
	uint32_t page_size;
	uint32_t nr_cpus;	/* in cpus, which are in rising order; those without data may be missing */
	const struct dat_cpu *cpus;
	/* All CPUs as the file lists them, those without data, too; nothing is put right here. */
	uint32_t nr_table;
	const struct dat_cpu *table;
	bool packed;
	bool is_text;		/* what a latency tracer left: text, at cpus[0] */
	uint64_t section;	/* offset of its section (7) or of its table (6) */
};

/* A part of the file with a meaning, unpacked if need be. */
struct dat_part {
	const uint8_t *data;	/* a NUL follows it; NULL when there is none of it */
	size_t len;
};

/* Behind the writer's name in files that have both. */
#define DAT_MIXED " (kernel and programs)"

struct dat_info {
	const char *path;
	int version;			/* 6 or 7 */
	struct decode_abi abi;		/* long_size is the kernel's: by it pages are read */
	uint8_t user_long;		/* the byte in the header */
	uint32_t page_size;
	const char *compressor;		/* "none" where there is none */
	const char *compressor_version;
	uint64_t size;			/* of the file */
	uint32_t nr_cpus;		/* of the machine, as the file tells */

	const char *uname, *writer, *clock;	/* NULL: not told */
	bool mixed;			/* buffers of programs and of a kernel, by one clock: DAT_MIXED */
	uint64_t traceid;		/* 0: not told */
	bool has_traceid;
	uint64_t date;			/* nanoseconds to add to all times: --nodate leaves it out */
	int64_t offset;			/* and these */
	struct {
		bool is_set;
		uint32_t mult, shift;
		uint64_t offset;
	} tsc2nsec;
};

int dat_open(struct dat **out, const char *path, struct err *err);
/* The same of a file that is open, and stays so; `name` is for words. */
int dat_open_fd(struct dat **out, int fd, const char *name, struct err *err);
void dat_close(struct dat *dat);

const struct dat_info *dat_info(const struct dat *dat);
/* What could not be read: the i-th of them, NULL behind the last. */
const char *dat_warning(const struct dat *dat, size_t i);

/* The buffers, the top one first; NULL behind the last. */
const struct dat_buffer *dat_buffer(const struct dat *dat, size_t i);
/* The options in the order of the file, each as it lies there; NULL behind the last. */
const struct dat_option *dat_option(const struct dat *dat, size_t i);

/*
 * The sections of a file of version 7 in the order of the file, as far as they can be found; NULL
 * behind the last.
 */
const struct dat_section *dat_section(const struct dat *dat, size_t i);
/* The names of sections, each with its NUL, of all sections of strings together. */
int dat_strings(const struct dat *dat, struct buf *out, struct err *err);

/*
 * The payload of one of HEADER_INFO .. CMDLINES, BTF, MODULES, STRINGS: what version 6 has between
 * the length words and version 7 in the section. -ENOENT: the file has none. HEADER_INFO,
 * FTRACE_EVENTS and EVENT_FORMATS are encoded as trace files encode them, in either version; of
 * the others the payload is the text alone.
 */
int dat_part_open(const struct dat *dat, enum dat_id id, struct dat_part *out, struct err *err);
void dat_part_close(struct dat_part *part);

/* Events in the order of the file. */
size_t dat_nr_events(const struct dat *dat);
void dat_event_name(const struct dat *dat, size_t i, const char **system, const char **name,
		    uint32_t *id);
/* The format as text; in the file's memory. */
const char *dat_event_text(const struct dat *dat, size_t i, size_t *len);
/* NULL: the text cannot be used, and err, which may be NULL, tells why. */
const struct decode_format *dat_event_format(struct dat *dat, size_t i, struct err *err);
/* Which one has this ID, in constant time; false: none. */
bool dat_event_find(const struct dat *dat, uint32_t id, size_t *i);
/* By ID, in constant time; NULL also when no such event is known. */
const struct decode_format *dat_format(struct dat *dat, uint32_t id);

/* Callbacks of struct decode_ctx: `dat` is a struct dat. */
bool dat_symbol(void *dat, int pid, uint64_t addr, struct decode_symbol *out);
bool dat_printk(void *dat, uint64_t addr, struct decode_printk *out);
/* Looks at all symbols: to be asked once for a name. */
bool dat_address(void *dat, const char *name, size_t len, uint64_t *out);
const char *dat_comm(void *dat, int pid);

/* Symbols from a file like /proc/kallsyms in place of the file's own. Before anybody asks for one. */
int dat_use_kallsyms(struct dat *dat, const char *path, struct err *err);
/* The i-th symbol by address, false behind the last. */
bool dat_symbol_at(struct dat *dat, size_t i, uint64_t *addr, struct decode_symbol *out);
/* What a function takes and gives (layout/prototype.h): recordings of ours have it where printk's formats are, by its address. */
const char *dat_prototype(const struct dat *dat, uint64_t func);
/* The i-th of printk's formats, false behind the last. */
bool dat_printk_at(struct dat *dat, size_t i, uint64_t *addr, const char **text);
/* The i-th task that the file names, by PID; false behind the last. */
bool dat_comm_at(struct dat *dat, size_t i, int *pid, const char **comm);

/* Where a process had its files mapped (--proc-map). */
struct dat_map {
	int pid;
	uint64_t start, end;
	const char *path;
};
const struct dat_map *dat_map(const struct dat *dat, size_t i);
const struct dat_map *dat_map_find(const struct dat *dat, int pid, uint64_t addr);

/* A guest that this file's host ran, or the peer that this file's times are to be shifted to. */
struct dat_guest {
	const char *name;
	uint64_t traceid;
	uint32_t nr_cpus;
	const int32_t *pids;	/* of the host's thread that runs the i-th virtual CPU */
};
const struct dat_guest *dat_guest(const struct dat *dat, size_t i);

struct dat_shift_sample {
	int64_t time, offset, scale, fraction;
};
struct dat_shift {
	uint64_t peer;		/* traceid of the host */
	bool interpolate;
	uint32_t nr_cpus;
	struct {
		uint32_t nr;
		struct dat_shift_sample *samples;	/* by time */
	} *cpus;
};
/* NULL: its times stand for themselves. */
const struct dat_shift *dat_shift(const struct dat *dat);

#endif
