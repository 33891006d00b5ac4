/*
 * dat/head: the beginning of a file of version 7, up to its first options, for those who write the rest themselves.
 */
#ifndef DAT_HEAD_H
#define DAT_HEAD_H

#include "base/buf.h"
#include "dat/dat.h"

struct dat_head {
	uint32_t page_size, nr_cpus;
	uint8_t long_size;
	const struct buf *sections;	/* by ID, of which HEADER_INFO .. CMDLINES count; with no data: there is none */
	const void *options;		/* as they lie in a file, one after the other */
	size_t options_len;
};

/* 0 or -ENOMEM. */
int dat_head_put(const struct dat_head *head, struct buf *out);

#endif
