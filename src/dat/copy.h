/*
 * dat/copy: what one trace file has into another that is being written (dat/write), in the order in
 * which the writer wants it. In between a caller may leave out, change and add.
 */
#ifndef DAT_COPY_H
#define DAT_COPY_H

#include "dat/dat.h"
#include "dat/write.h"

/* How a file is written that is like this one. */
struct dat_copy {
	struct dat_write_how how;	/* of the same version, not packed */
	struct dat_write_buffer *buffers;
	const struct dat_buffer **from;	/* of each; NULL: the file has no top one */
};

/* The strings in it are those of `dat`. */
int dat_copy_init(struct dat_copy *copy, const struct dat *dat, struct err *err);
void dat_copy_fini(struct dat_copy *copy);

/* All sections. `left_out` gets a bit for each ID that a file like this cannot hold. */
int dat_copy_sections(const struct dat *dat, struct dat_write *write, uint32_t *left_out,
		      struct err *err);

/* An option, unless it is of the kind that a writer finds out for itself. */
int dat_copy_option(const struct dat_option *option, struct dat_write *write);
int dat_copy_options(const struct dat *dat, struct dat_write *write);

/* All buffers as they are. */
int dat_copy_buffers(const struct dat_copy *copy, const struct dat *dat, struct dat_write *write,
		     struct err *err);

#endif
