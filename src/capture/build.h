/*
 * capture/build: events into a page of the kernel's layout, for when a ring's own page cannot be handed out as it is.
 */
#ifndef CAPTURE_BUILD_H
#define CAPTURE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

struct build {
	unsigned char *page;
	uint32_t size;		/* of the page, header included */
	uint32_t len;		/* data so far */
	uint32_t events;
	uint64_t first_ts, last_ts;
};

/* `page` is `size` bytes, all of which this fills. */
void build_begin(struct build *build, void *page, uint32_t size);

/* Adds an event, leaving `keep` bytes free behind it; time never goes back: an earlier ts becomes the last one. False: no
 * room, nothing was added. */
bool build_add(struct build *build, uint64_t ts, const void *data, uint32_t len, uint32_t keep);

/* Closes the page; `lost` events are told in its commit word and, if 8 bytes are left, counted behind the data;
 * PAGE_LOST_UNKNOWN: how many is not known. */
void build_end(struct build *build, uint64_t lost);

#endif
