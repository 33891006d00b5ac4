/*
 * dat/live_pack: pages into a growing file that is packed.
 *
 *	offset | number of pieces | piece | piece | ...		piece: packed size, size, bytes
 *	       |<- 4 bytes ------>|<---- size ---->|
 *
 * Pieces are made of what is accepted at once, a few pages each; pieces of fewer pages are as good for readers. First
 * there are the bytes, then the row tells of them, then their number does: readers go by the number.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dat/live_local.h"

#define PIECE_PAGES 10

/*
 * Pages may lie in memory that is mapped from a file which others cut off. Writing them to a file turns that into an
 * error; looking at them here would not.
 */
int live_pack_write(struct dat_live *live, struct live_lane *lane, const struct iovec *pages, int n, size_t len)
{
	size_t done = 0;
	char *to;
	ssize_t r;

	/* An open page stays until its successor is accepted. */
	lane->pages.len = lane->open;
	lane->written = 0;
	to = buf_room(&lane->pages, len);
	if (!to)
		return live_fail(live, -ENOMEM);
	for (int i = 0; i < n; i++) {
		for (size_t at = 0; at < pages[i].iov_len; at += (size_t)r) {
			r = pwrite(live->stage, (char *)pages[i].iov_base + at, pages[i].iov_len - at, 0);
			if (r > 0)
				r = pread(live->stage, to + done, (size_t)r, 0);
			if (r < 0 && errno == EFAULT)
				return -EFAULT;
			if (r < 0 && errno != EINTR)
				return live_fail(live, -errno);
			r = r < 0 ? 0 : r;
			done += (size_t)r;
		}
	}
	lane->pages.len += len;
	lane->written = len;
	return 0;
}

/* The pieces that these pages make, into the file and told. */
static int put_pieces(struct dat_live *live, struct live_lane *lane, const char *pages, size_t len,
		      uint32_t page_size)
{
	size_t most = (size_t)page_size * PIECE_PAGES;
	uint32_t nr = lane->nr_pieces;
	struct buf pieces = BUF_INIT;
	int r = 0;

	for (size_t at = 0; !r && at < len; at += most, nr++)
		r = seven_piece(&pieces, live->pack, pages + at, len - at < most ? len - at : most, LIVE_BIG);
	if (!r && pieces.len > lane->end - lane->offset - LIVE_COUNT - lane->size)
		r = live_full(live, lane);
	if (!r)
		r = live_put(&live->file, pieces.data, pieces.len, live_end(&live->file, lane));
	if (!r) {
		lane->size += pieces.len;
		live->bytes += pieces.len;
		r = live_tell_lane(&live->file, lane);
	}
	if (!r) {
		lane->nr_pieces = nr;
		r = live_put(&live->file, &nr, sizeof(nr), lane->offset);
	}
	buf_fini(&pieces);
	return r;
}

int live_pack_accept(struct dat_live *live, struct live_lane *lane, uint32_t page_size, bool open)
{
	size_t stays = open ? page_size : 0, len = lane->written - stays;
	char *pages;
	int r;

	if (!lane->written)
		return 0;
	pages = lane->pages.data + lane->open;
	r = len ? put_pieces(live, lane, pages, len, page_size) : 0;
	if (r)
		return live_fail(live, r);
	lane->written = 0;
	lane->open = (uint32_t)stays;
	if (!open) {
		buf_fini(&lane->pages);
		return 0;
	}
	/* The last page waits here, in case that nothing takes its place. */
	memmove(lane->pages.data, pages + len, stays);
	lane->pages.len = stays;
	return 0;
}

int live_pack_end(struct dat_live *live, struct live_lane *lane)
{
	lane->written = lane->open;
	lane->open = 0;
	return live_pack_accept(live, lane, (uint32_t)lane->written, false);
}
