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
