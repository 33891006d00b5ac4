/*
 * collect/journal: see journal.h.
 */
#include "collect/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of what nobody can read yet. */
#define JOURNAL_MAX ((uint64_t)256 << 20)

struct entry {
	uint64_t after;
	struct wire_head head;
};
static_assert(sizeof(struct entry) == 16, "entry");

static int cannot(struct err *err, int code)
{
	return err_set(err, code, "what belongs beside the pages cannot be noted: %s", strerror(-code));
}

int journal_add(struct journal *journal, uint64_t after, const struct frame *frame, struct err *err)
{
	struct entry entry = { after, { .len = wire32((uint32_t)frame->len), .kind = wire16((uint16_t)frame->kind) } };
	struct iovec parts[2] = { { &entry, sizeof(entry) }, { (void *)(uintptr_t)frame->body, frame->len } };
	size_t len = sizeof(entry) + frame->len;
	ssize_t n;

	if (journal->fd < 0)
		return 0;
	if (journal->len + len > JOURNAL_MAX)
		return err_set(err, -E2BIG, "the sender says more than %d MiB beside its pages, and does not tell it", (int)(JOURNAL_MAX >> 20));
	/* What was written in part is written over, or is no whole one at the end. */
	n = pwritev(journal->fd, parts, 2, (off_t)(journal->from + journal->len));
	if (n != (ssize_t)len)
		return cannot(err, n < 0 ? -errno : -ENOSPC);
	journal->len += len;
	return 0;
}

int journal_clear(struct journal *journal, struct err *err)
{
	if (journal->fd < 0 || !journal->len)
		return 0;
	if (ftruncate(journal->fd, (off_t)journal->from))
		return cannot(err, -errno);
	journal->len = 0;
	return 0;
}

/* The one at the end, if it is whole: 1, 0 or -errno. */
static int read_one(struct journal *journal, struct entry *entry, uint8_t *body)
{
	ssize_t n = pread(journal->fd, entry, sizeof(*entry), (off_t)(journal->from + journal->len));
	uint32_t len = n == (ssize_t)sizeof(*entry) ? wire32(entry->head.len) : 0;

	if (n != (ssize_t)sizeof(*entry) || len > WIRE_BODY_MAX)
		return n < 0 ? -errno : 0;
	n = pread(journal->fd, body, len, (off_t)(journal->from + journal->len + sizeof(*entry)));
	if (n != (ssize_t)len)
		return n < 0 ? -errno : 0;
	journal->len += sizeof(*entry) + len;
	return 1;
}

int journal_replay(struct journal *journal, int (*take)(void *ctx, const struct frame *frame, struct err *err), void *ctx, uint64_t *after,
		   struct err *err)
{
	uint8_t *body = malloc(WIRE_BODY_MAX);
	struct entry entry;
	int r = body ? 1 : -ENOMEM;

	journal->len = 0;
	while (journal->fd >= 0 && r > 0 && (r = read_one(journal, &entry, body)) > 0) {
		struct frame frame = { .kind = (enum wire_kind)wire16(entry.head.kind), .body = body, .len = wire32(entry.head.len) };

		r = take(ctx, &frame, err);
		if (r) {
			free(body);
			return r;
		}
		*after = entry.after;
		r = 1;
	}
	free(body);
	return r < 0 ? cannot(err, r) : 0;
}
