/*
 * Any bytes as a sub-buffer: the walk ends within size / 4 steps, every record lies inside the
 * page, and events come in the order of their places. Read as each kind of machine writes them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_as(const uint8_t *page, size_t size, const struct decode_abi *abi)
{
	struct page_walk walk;
	struct page_event event;
	size_t steps = 0, end = 0;
	volatile uint8_t seen = 0;
	const uint8_t *p;
	int r;

	if (page_walk_init_abi(&walk, page, size, abi)) {
		if (page_walk_next(&walk, &event) > 0)
			abort();
		return;
	}
	while ((r = page_walk_next(&walk, &event)) > 0) {
		p = event.data;
		if (++steps > size / 4 || p < page || event.len > size ||
		    (size_t)(p - page) + event.len > size)
			abort();
		if (event.offset < end || event.offset + event.len > walk.commit)
			abort();
		end = event.offset + event.len;
		for (uint32_t i = 0; i < event.len; i++)
			seen ^= p[i];
	}
	(void)seen;
	/* What ended the walk goes on ending it. */
	if (page_walk_next(&walk, &event) != r)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own, so that a read past the end is seen. */
	uint8_t *page = malloc(size ? size : 1);

	if (!page)
		return 0;
	memcpy(page, data, size);
	for (int i = 0; i < 4; i++)
		walk_as(page, size, &(struct decode_abi){ .big_endian = i & 1,
							  .long_size = i & 2 ? 4 : 8 });
	free(page);
	return 0;
}
