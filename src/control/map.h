/*
 * control/map: one CPU's pages for those who map trace_pipe_raw, as the kernel lays them out.
 *
 *   a page of numbers | page 0 | page 1 | ...          each as large as the buffer's pages
 *
 * The kernel shows its ring itself; here pages are copied into a file of its own, one at a time, when the reader asks
 * for the next: the numbers name the one that is its. See struct trace_buffer_meta of <linux/trace_mmap.h>.
 */
#ifndef CONTROL_MAP_H
#define CONTROL_MAP_H

#include <stdint.h>

#include "base/err.h"

struct control_map {
	int fd;			/* the file, the caller's */
	uint32_t page_size;
	uint32_t npages;	/* behind the numbers */
	uint32_t id;		/* the reader's page */
	uint64_t read;		/* events that were handed out */
};

/* Lays out the file for a ring of so many pages. */
int control_map_init(struct control_map *map, int fd, uint32_t page_size, uint32_t npages,
		     struct err *err);

/* The next page of the reader: `events` in it, `lost` before it, `unread` behind it. */
int control_map_put(struct control_map *map, const void *page, uint32_t events, uint64_t lost,
		    uint64_t unread, struct err *err);

#endif
