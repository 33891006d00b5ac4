/*
 * control/file: whole reads and writes of the directory's four files, and words for failures.
 *
 * The files are shared with programs that may do anything to them, shrinking included, so nothing in
 * this room maps them: a read that finds too little is an error, where a load would be a SIGBUS.
 */
#ifndef CONTROL_FILE_H
#define CONTROL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ring/segment.h"

/* "control", "registry", "rings" or "tables". */
const char *control_file_name(enum segment_kind kind);

/* Reads exactly `len` bytes. -EUCLEAN when the file ends before them. */
int control_file_read(const struct segment_dir *dir, enum segment_kind kind, void *bytes,
		      size_t len, uint64_t offset, struct err *err);

/* Writes exactly `len` bytes. */
int control_file_write(const struct segment_dir *dir, enum segment_kind kind, const void *bytes,
		       size_t len, uint64_t offset, struct err *err);

/* Stores one aligned word that programs watch: what was written before is there when they see it. */
int control_file_publish(const struct segment_dir *dir, enum segment_kind kind, const void *word,
			 size_t len, uint64_t offset, struct err *err);

/* The file's present size. */
int control_file_size(const struct segment_dir *dir, enum segment_kind kind, uint64_t *size,
		      struct err *err);

/* Makes the file at least `size` long; what is added reads as zeros and takes no memory yet. */
int control_file_grow(const struct segment_dir *dir, enum segment_kind kind, uint64_t size,
		      struct err *err);

/* Gives these bytes memory of their own, so that a store to them cannot fail. */
int control_file_back(const struct segment_dir *dir, enum segment_kind kind, uint64_t offset,
		      uint64_t len, struct err *err);

/* Makes these bytes read as zeros and gives their memory back where the file system can. */
int control_file_punch(const struct segment_dir *dir, enum segment_kind kind, uint64_t offset,
		       uint64_t len, struct err *err);

#endif
