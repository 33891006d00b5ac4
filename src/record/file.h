/*
 * record/file: the trace file of a recording, and those before it.
 *
 * A dest (dest.h) takes the pages, record/meta knows what belongs beside them; here the two meet: what was brought to the directory
 * since is told before the pages that may refer to it count. With rotation the file is finished and renamed when it is full,
 * and the next one begins under the same name.
 *
 *	trace.dat -> trace.dat.1		trace.dat -> trace.dat.2 ...
 */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include <sys/uio.h>

#include "record/clock.h"
#include "record/record.h"

struct record_file;

/* `page_sizes` of the buffers, in the order of `how`. `told`: whose remotes' clocks are told of when it ends, which outlives it. */
int record_file_open(struct record_file **out, const struct record_how *how, const uint32_t *page_sizes,
		     uint32_t nr_cpus, const struct record_clock *clocks, const struct record *told, struct err *err);
void record_file_close(struct record_file *file);

/* Whole pages of a CPU, not counted yet: dest.h. -EFAULT: they could not be read. -ENOSPC of several: fewer may do. */
int record_file_write(struct record_file *file, size_t buffer, uint32_t cpu, const struct iovec *pages, int n);
/* The same from a pipe: dest.h. */
int record_file_splice(struct record_file *file, size_t buffer, uint32_t cpu, int pipe, size_t len);
/* Now they are; `open`: the last one will be written again. */
int record_file_accept(struct record_file *file, size_t buffer, uint32_t cpu, bool open, struct err *err);

/* How records of directories are to be numbered in it: record_meta_ids(). */
const uint16_t *record_file_ids(const struct record_file *file);

/* Bytes that it may still have; 0: nothing more should come before record_file_tend(). */
uint64_t record_file_room(const struct record_file *file);
/* Whoever takes it has no room now, which was waited for, so long at most. */
bool record_file_is_behind(struct record_file *file, int ms);
/* 0, or why nothing can be put into it any more, or is waited for. */
int record_file_failed(const struct record_file *file, struct err *err);
/* Now and then: names that have come, and whether it is time for another file. All pages are full or were accepted. */
int record_file_tend(struct record_file *file, bool *is_full, struct err *err);
/* The next one. Nothing may be open. */
int record_file_rotate(struct record_file *file, struct err *err);

int record_file_maps(struct record_file *file, int pid, struct err *err);

/* Bytes of data, and files that are done. */
uint64_t record_file_bytes(const struct record_file *file);
unsigned int record_file_count(const struct record_file *file);

int record_file_finish(struct record_file *file, struct err *err);

#endif
