/*
 * dat/write: makes a trace file, of version 6 or 7, for a machine of any byte order.
 *
 * In: what the file is to hold, in this order:
 *
 *	dat_write_open
 *	dat_write_section ...			format texts, symbols, names of tasks
 *	dat_write_option ...			version 7: also between and behind the buffers
 *	for each buffer that has data, in the order in which they were named:
 *		dat_write_begin
 *		for each CPU that has data: dat_write_cpu, dat_write_pages ...
 *		dat_write_end
 *	dat_write_finish			only now the file has its name
 *	dat_write_close				without the line before: nothing is left
 *
 * Out: a file that stock readers open. What is written goes out at once: memory does not grow with
 * the data. After a failure every call returns it again, and dat_write_failed() has its words.
 * One thread at a time.
 */
#ifndef DAT_WRITE_H
#define DAT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dat/dat.h"

struct dat_write;

struct dat_write_buffer {
	const char *name;	/* "": the top one, which every file has, and has first */
	const char *clock;	/* "local"; NULL or "": not known */
	uint32_t page_size;	/* 0: that of the file */
	bool text;		/* holds the text of a latency tracer: bytes, no pages */
};

struct dat_write_how {
	int version;			/* 6 or 7 */
	bool big_endian;
	uint8_t long_size;		/* of programs there; pages go by their own */
	uint32_t page_size;
	uint32_t nr_cpus;		/* all buffers have as many */
	const char *compression;	/* NULL, "none", "any", or as pack_open() takes it */
	const struct dat_write_buffer *buffers;
	size_t nr_buffers;
};

/* Checks all of `how` before anything is made. The strings in it need not outlive the call. */
int dat_write_open(struct dat_write **out, const char *path, const struct dat_write_how *how,
		   struct err *err);
void dat_write_close(struct dat_write *write);

/*
 * One of HEADER_INFO .. CMDLINES, BTF, MODULES, with the payload that dat_part_open() gives.
 * Version 6 wants them in rising order and writes empty ones for those that are missing.
 */
int dat_write_section(struct dat_write *write, enum dat_id id, const void *payload, size_t len);

/*
 * Can the file have such a section? Version 6 has no place for some, and stock readers refuse a
 * file that has some and no compression.
 */
bool dat_write_holds(const struct dat_write *write, enum dat_id id);

/*
 * Words in the value are in the file's byte order already. Options that say where something lies
 * are the writer's own business (-EINVAL), as is the number of CPUs: dat_write_owns() tells them.
 */
bool dat_write_owns(enum dat_id id);
int dat_write_option(struct dat_write *write, enum dat_id id, const void *value, size_t len);

/* `index` counts the buffers of dat_write_how; those passed over are empty. */
int dat_write_begin(struct dat_write *write, size_t index);
/* Each CPU at most once. */
int dat_write_cpu(struct dat_write *write, uint32_t cpu);
/* Whole pages of the CPU, or any bytes for a buffer of text. */
int dat_write_pages(struct dat_write *write, const void *pages, size_t len);
int dat_write_end(struct dat_write *write);

/* 0, or the first failure and its words. */
int dat_write_failed(struct dat_write *write, struct err *err);
int dat_write_finish(struct dat_write *write, struct err *err);

#endif
