/*
 * cmd/restore_pages: files that hold the pages of one CPU each, as read from per_cpu/cpuN/trace_pipe_raw, into a trace file.
 */
#ifndef CMD_RESTORE_PAGES_H
#define CMD_RESTORE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cmd/opts.h"
#include "dat/write.h"

struct restore_pages {
	struct restore_cpu *cpus;
	uint32_t n;
	uint32_t nr_cpus;	/* of the machine: one more than the highest number */
};

/*
 * All arguments of the line, opened. Their CPUs are numbered as their names say, if all end in cpuN, else in the order of
 * the line.
 */
int restore_pages_open(struct restore_pages *pages, const struct opts *opts, struct err *err);
void restore_pages_close(struct restore_pages *pages);

/* Do they begin with pages of that size and kind, and is there one at all? */
int restore_pages_check(const struct restore_pages *pages, uint32_t page_size, const struct decode_abi *abi, struct err *err);

/* The data of the top buffer; tells on stderr what is no whole page. */
int restore_pages_write(const struct restore_pages *pages, uint32_t page_size, struct dat_write *write, struct err *err);

/* Does the file begin as trace files do? */
bool restore_is_trace(const char *path);

#endif
