/*
 * control/map: see map.h.
 */
#include "control/map.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel's, to the byte. */
struct meta {
	uint32_t meta_page_size;
	uint32_t meta_struct_len;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	struct {
		uint64_t lost_events;
		uint32_t id;
		uint32_t read;
	} reader;
	uint64_t flags;
	uint64_t entries;
	uint64_t overrun;
	uint64_t read;
	uint64_t reserved[2];
};
static_assert(sizeof(struct meta) == 80, "as the kernel's");

static int put(const struct control_map *map, const void *bytes, size_t len, uint64_t at,
	       struct err *err)
{
	if (pwrite(map->fd, bytes, len, (off_t)at) == (ssize_t)len)
		return 0;
	return err_set(err, -ENOSPC, "there is no memory for a mapped page");
}

static int put_meta(const struct control_map *map, uint64_t lost, uint64_t unread, struct err *err)
{
	struct meta meta = {
		.meta_page_size = map->page_size,
		.meta_struct_len = sizeof(meta),
		.subbuf_size = map->page_size,
		.nr_subbufs = map->npages,
		.reader = { .lost_events = lost, .id = map->id },
		.entries = map->read + unread,
		.read = map->read,
	};

	return put(map, &meta, sizeof(meta), 0, err);
}

int control_map_init(struct control_map *map, int fd, uint32_t page_size, uint32_t npages,
		     struct err *err)
{
	off_t size = (off_t)page_size * (2 + (off_t)npages);
	struct stat st;

	*map = (struct control_map){ .fd = fd, .page_size = page_size, .npages = npages + 1 };
	/* Never smaller: an earlier reader may still have it mapped. */
	if (fstat(fd, &st) || (st.st_size < size && ftruncate(fd, size)))
		return err_set(err, -errno, "there is no room for a mapping: %s", strerror(errno));
	return put_meta(map, 0, 0, err);
}

int control_map_put(struct control_map *map, const void *page, uint32_t events, uint64_t lost,
		    uint64_t unread, struct err *err)
{
	int r = 0;

	if (page) {
		map->id = map->id + 1 < map->npages ? map->id + 1 : 0;
		map->read += events;
		r = put(map, page, map->page_size, (uint64_t)map->page_size * (1 + map->id), err);
	}
	/* The page before the numbers that name it. */
	return r ? r : put_meta(map, lost, unread, err);
}
