/*
 * replay/cursor: from event to event of a lane, over the ends of pages and blocks. A page that
 * cannot be read costs its rest and a warning; the next one goes on.
 */
#include "layout/page.h"
#include "replay/local.h"

static void damaged(struct cursor *c, const char *what)
{
	const struct dat_block *b = c->blocks[c->block];

	if (!c->exact || c->lane->damaged++)
		return;
	replay_warn(c->lane->replay, "%s: CPU %d: at offset %llu%s: %s",
		    dat_info(c->lane->pub.file)->path, c->lane->pub.cpu,
		    (unsigned long long)(c->lane->pub.buffer->packed ? b->at : b->at + c->page),
		    c->lane->pub.buffer->packed ? " (packed)" : "", what);
}

/* The page at c->page: false when there is none in this block. */
static bool enter_page(struct cursor *c)
{
	const struct dat_block *b = c->blocks[c->block];
	uint32_t size = c->lane->pub.buffer->page_size, left;

	for (; c->page < b->len; c->page += size) {
		left = b->len - c->page;
		if (!page_walk_init_abi(&c->walk, b->data + c->page, left < size ? left : size,
					&dat_info(c->lane->pub.file)->abi)) {
			c->first_of_page = true;
			c->at = b->at + (c->lane->pub.buffer->packed ? 0 : c->page);
			c->lost = c->walk.lost;
			return true;
		}
		damaged(c, "a page that cannot be one");
	}
	return false;
}

static void arrive(struct cursor *c)
{
	c->ts = times_convert(&c->lane->times, c->event.ts);
	if (c->ts > c->key)
		c->key = c->ts;
	c->seq++;
	c->has = true;
}

/* From an open page on. */
static void search(struct cursor *c)
{
	int r;

	for (;;) {
		r = page_walk_next(&c->walk, &c->event);
		if (r == 1) {
			arrive(c);
			return;
		}
		if (r < 0)
			damaged(c, "a page whose events do not fit it");
		c->page += c->lane->pub.buffer->page_size;
		while (!enter_page(c)) {
			c->page = 0;
			if (++c->block >= c->nr_blocks) {
				c->has = false;
				return;
			}
		}
	}
}

void cursor_resume(struct cursor *c)
{
	for (; c->block < c->nr_blocks; c->block++, c->page = 0) {
		if (!enter_page(c))
			continue;
		search(c);
		return;
	}
}

void cursor_next(struct cursor *c)
{
	c->lost = 0;
	c->first_of_page = false;
	search(c);
	if (!c->skip)
		return;
	c->skip = false;
	if (c->has)
		cursor_next(c);
}

/*
 * The quick way over short records that nobody is to be shown: only what a page walk does for each of
 * them is done. Leaves the cursor at the last one.
 */
void cursor_skim(struct cursor *c, uint64_t end, const uint8_t *marks)
{
	const uint64_t add = c->lane->times.add;
	struct page_walk *w = &c->walk;
	uint32_t pos = w->pos, last = pos, nr = 0, len = 0;
	uint64_t ts = w->ts;

	if (w->big_endian || !c->lane->times.plain || c->skip || w->torn)
		return;
	while (w->commit - pos >= 8) {
		uint32_t word = (uint32_t)decode_abi_load(w->data + pos, 4, false);
		uint32_t type = word & ((1u << EVENT_TYPE_BITS) - 1), size = type * 4;
		uint64_t next = ts + (word >> EVENT_TYPE_BITS);

		if (!type || type >= EVENT_TYPE_PADDING || size + 4 > w->commit - pos ||
		    next + add > end ||
		    (marks && marks[decode_abi_load(w->data + pos + 4, 2, false)]))
			break;
		last = pos;
		len = size;
		pos += size + 4;
		ts = next;
		nr++;
	}
	if (!nr)
		return;
	w->pos = pos;
	w->ts = ts;
	c->event = (struct page_event){ .ts = ts, .data = w->data + last + 4, .len = len,
					.offset = last };
	c->ts = ts + add;
	if (c->ts > c->key)
		c->key = c->ts;
	c->seq += nr;
	c->lost = 0;
	c->first_of_page = false;
}
