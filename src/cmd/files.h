/*
 * cmd/files: what commands that make trace files out of trace files have in common.
 */
#ifndef CMD_FILES_H
#define CMD_FILES_H

#include "base/err.h"
#include "cmd/opts.h"
#include "dat/copy.h"

#define FILES_DEFAULT "trace.dat"

/* Opens a trace file, and tells on stderr what of it could not be read. */
int files_open(struct dat **out, const char *path, struct err *err);

/* Sections as they are; tells on stderr what the new file has no place for. */
int files_copy_sections(const struct dat *dat, struct dat_write *write, const char *path,
			struct err *err);
/* The same, and options. */
int files_copy_meta(const struct dat *dat, struct dat_write *write, const char *path,
		    struct err *err);

/*
 * The end of writing: finishes the file, or if something failed before (r) gives it up. Words of
 * the failure, whoever had it, are in err.
 */
int files_finish(struct dat_write *write, int r, struct err *err);

#endif
