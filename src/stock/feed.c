/*
 * stock/feed: see feed.h.
 */
#include "stock/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat/head.h"

#define PAGE_MAX 65536u

static int nonsense(struct err *err)
{
	return err_set(err, -EPROTO, "what the recorder says makes no sense");
}

int stock_open(struct stock_feed *feed, const uint8_t *body, size_t len, const struct stock_out *out, struct err *err)
{
	struct wire_open open;

	*feed = (struct stock_feed){ .out = *out, .options = BUF_INIT };
	if (len < sizeof(open))
		return nonsense(err);
	memcpy(&open, body, sizeof(open));
	feed->nr_cpus = wire32(open.nr_cpus);
	feed->page_size = wire32(open.page_size);
	feed->long_size = open.long_size;
	if (wire32(open.nr_buffers) != 1)
		return err_set(err, -ENOTSUP, "trace-cmd takes one buffer, and there are %u", wire32(open.nr_buffers));
	if (!feed->nr_cpus || feed->nr_cpus > STOCK_CPUS_MAX || feed->page_size < 64 || feed->page_size > PAGE_MAX)
		return err_set(err, -E2BIG, "%u CPUs are too many for trace-cmd", feed->nr_cpus);
	feed->cpus = calloc(feed->nr_cpus, sizeof(*feed->cpus));
	for (uint32_t i = 0; feed->cpus && i < feed->nr_cpus; i++)
		if (!(feed->cpus[i].page = calloc(1, feed->page_size)))
			return err_set(err, -ENOMEM, "out of memory");
	return feed->cpus ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void stock_close(struct stock_feed *feed)
{
	for (size_t i = 0; i < DAT_NR_IDS; i++)
		buf_fini(&feed->sections[i]);
	for (uint32_t i = 0; feed->cpus && i < feed->nr_cpus; i++)
		free(feed->cpus[i].page);
	free(feed->cpus);
	buf_fini(&feed->options);
	*feed = (struct stock_feed){ .options = BUF_INIT };
}

int stock_begin(struct stock_feed *feed, struct err *err)
{
	const struct dat_head head = {
		.page_size = feed->page_size, .nr_cpus = feed->nr_cpus, .long_size = feed->long_size, .sections = feed->sections,
		.options = feed->options.data, .options_len = feed->options.len,
	};
	struct buf out = BUF_INIT;
	int r;

	if (feed->begun)
		return 0;
	feed->begun = true;
	r = dat_head_put(&head, &out) ? err_set(err, -ENOMEM, "out of memory") : feed->out.head(feed->out.ctx, out.data, out.len, err);
	buf_fini(&out);
	return r;
}

static void keep(struct buf *to, uint32_t flags, const uint8_t *bytes, size_t len)
{
	if (flags & WIRE_FIRST)
		buf_reset(to);
	if (len)
		buf_add(to, bytes, len);
}

static int section(struct stock_feed *feed, const uint8_t *body, size_t len, struct err *err)
{
	struct wire_section head;

	if (len < sizeof(head))
		return nonsense(err);
	memcpy(&head, body, sizeof(head));
	if (wire32(head.id) >= DAT_NR_IDS)
		return nonsense(err);
	if (!feed->begun)
		keep(&feed->sections[wire32(head.id)], wire32(head.flags), body + sizeof(head), len - sizeof(head));
	return 0;
}

static int options(struct stock_feed *feed, const uint8_t *body, size_t len, struct err *err)
{
	struct wire_options head;

	if (len < sizeof(head))
		return nonsense(err);
	memcpy(&head, body, sizeof(head));
	if (!feed->begun)
		keep(&feed->options, wire32(head.flags), body + sizeof(head), len - sizeof(head));
	return 0;
}

static int pages(struct stock_feed *feed, const uint8_t *body, size_t len, struct err *err)
{
	struct wire_pages head;
	int r = stock_begin(feed, err);

	if (r || len < sizeof(head))
		return r ? r : nonsense(err);
	memcpy(&head, body, sizeof(head));
	if (wire32(head.cpu) >= feed->nr_cpus || (len - sizeof(head)) % feed->page_size)
		return nonsense(err);
	feed->cpus[wire32(head.cpu)].open = false;
	return feed->out.pages(feed->out.ctx, wire32(head.cpu), body + sizeof(head), len - sizeof(head), err);
}

/* One that is not whole yet is said when it is. */
static int page(struct stock_feed *feed, const uint8_t *body, size_t len, struct err *err)
{
	uint32_t first, at, size = feed->page_size;
	struct stock_cpu *cpu;
	struct wire_page head;
	size_t rest = len - sizeof(head);
	int r = stock_begin(feed, err);

	if (r || len < sizeof(head))
		return r ? r : nonsense(err);
	memcpy(&head, body, sizeof(head));
	first = wire32(head.head);
	at = wire32(head.at);
	if (wire32(head.cpu) >= feed->nr_cpus || first > rest || first > at || at > size || rest - first > size - at)
		return nonsense(err);
	rest -= first;
	cpu = &feed->cpus[wire32(head.cpu)];
	memcpy(cpu->page, body + sizeof(head), first);
	memcpy(cpu->page + at, body + sizeof(head) + first, rest);
	memset(cpu->page + at + rest, 0, size - at - rest);
	cpu->open = wire32(head.flags) & WIRE_IS_OPEN;
	return cpu->open ? 0 : feed->out.pages(feed->out.ctx, wire32(head.cpu), cpu->page, size, err);
}

int stock_finish(struct stock_feed *feed, struct err *err)
{
	int r = stock_begin(feed, err);

	feed->ended = true;
	for (uint32_t i = 0; !r && i < feed->nr_cpus; i++) {
		if (feed->cpus[i].open)
			r = feed->out.pages(feed->out.ctx, i, feed->cpus[i].page, feed->page_size, err);
		feed->cpus[i].open = false;
	}
	return r;
}

int stock_frame(struct stock_feed *feed, enum wire_kind kind, const uint8_t *body, size_t len, struct err *err)
{
	/* OPEN comes first. */
	if (!feed->cpus)
		return nonsense(err);
	switch (kind) {
	case WIRE_SECTION:
		return section(feed, body, len, err);
	case WIRE_OPTIONS:
		return options(feed, body, len, err);
	case WIRE_PAGES:
		return pages(feed, body, len, err);
	case WIRE_PAGE:
		return page(feed, body, len, err);
	case WIRE_END:
		return stock_finish(feed, err);
	default:
		return 0;
	}
}
