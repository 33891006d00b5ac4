/*
 * remote/ring: see ring.h.
 *
 *   writer                                reader
 *   A seal.number = n + N                 1 tail, first
 *   B the page's stamp, commit 0, count   2 seal: is it page n?
 *   C tail = n + N                        3 commit
 *   D words of an event                   4 stamp and events
 *   E commit                              5 seal: is it still?
 *
 * A reader that sees the right seal at 5 has copied nothing of what was stored behind A; one that saw the commit of E at 3 copies events that
 * were stored before. Writers have barriers between A and B, B and C, D and E; readers make system calls between their
 * steps, or, of a device, have barriers there.
 */
#include "remote/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "decode/page.h"
#include "fw/layout.h"

/* So often things may change under us: nobody writes that fast for so long. */
#define TRIES 32

/* Nobody sleeps until four billion pages, but for so many, were written: what lies so far before the tail never was. */
#define AHEAD_MAX (1u << 20)

#define RING(bytes, member) \
	decode_abi_load((bytes) + offsetof(struct ringside_fw_ring, member), sizeof(((struct ringside_fw_ring *)0)->member), \
			target->abi.big_endian)

int remote_ring_look(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_look *look)
{
	/* In that order: the first page is none behind the tail, and what pages up to that count is counted. */
	static const size_t words[] = { offsetof(struct ringside_fw_ring, first), offsetof(struct ringside_fw_ring, tail),
					offsetof(struct ringside_fw_ring, count) };
	unsigned char bytes[sizeof(struct ringside_fw_ring)], again[sizeof(bytes)];
	uint64_t at = target->rings[i].at;
	int r = remote_memory_read(memory, at, bytes, sizeof(bytes));

	/* Twice the same is no chance; words that change all the time are read one by one. */
	if (!r)
		r = remote_memory_read(memory, at, again, sizeof(again));
	for (size_t n = 0; !r && n < sizeof(words) / sizeof(words[0]) && (n || memcmp(bytes, again, sizeof(bytes))); n++)
		r = remote_memory_word(memory, at + words[n], bytes + words[n], 4);
	if (r)
		return r;
	*look = (struct remote_look){
		.tail = (uint32_t)RING(bytes, tail), .first = (uint32_t)RING(bytes, first), .count = (uint32_t)RING(bytes, count),
		.asked = (uint32_t)RING(bytes, asked), .answered = (uint32_t)RING(bytes, answered),
		.time = RING(bytes, time), .answer = RING(bytes, answer), .full = RING(bytes, flags) & RINGSIDE_FW_FULL,
	};
	return 0;
}

static uint64_t page_at(const struct remote_target *target, uint32_t i, uint32_t number)
{
	const struct remote_ring *ring = &target->rings[i];

	return ring->pages + (uint64_t)(number & ring->mask) * target->page_size;
}

struct seal {
	uint32_t number, count;
};

static int read_seal(const struct remote_target *target, struct remote_memory *memory, uint64_t page, struct seal *seal)
{
	unsigned char bytes[sizeof(struct ringside_fw_seal)];
	int r = remote_memory_word(memory, page + target->page_size - sizeof(bytes), bytes, sizeof(bytes));

	seal->number = (uint32_t)decode_abi_load(bytes, 4, target->abi.big_endian);
	seal->count = (uint32_t)decode_abi_load(bytes + 4, 4, target->abi.big_endian);
	return r;
}

static int unreadable(int r, struct err *err)
{
	return err_set(err, r, "the memory cannot be read any more: %s", r == -ENODATA ? "it is shorter than it was" : strerror(-r));
}

/* The oldest page that there may be. */
static uint32_t oldest_page(const struct remote_ring *ring, const struct remote_look *look)
{
	return look->tail - look->first > ring->mask ? look->tail - ring->mask : look->first;
}

/* Copies page `number`: 1; 0: its place was taken; -EAGAIN: it changes; -EBADMSG: it cannot be one; -errno. */
static int copy_page(const struct remote_target *target, struct remote_memory *memory, uint32_t i, uint32_t number, struct remote_page *page,
		     struct err *err)
{
	uint64_t at = page_at(target, i, number), commit = 0;
	uint32_t head = remote_target_page_head(target);
	struct seal seal, after;
	unsigned char word[8];
	int r = read_seal(target, memory, at, &seal);

	if (!r && seal.number != number) {
		/* A later one in its place; by many laps, if we slept meanwhile. Anything else was never there. */
		if ((int32_t)(seal.number - number) > 0 && !((seal.number - number) & target->rings[i].mask))
			return 0;
		return err_set(err, -EBADMSG, "cpu %" PRIu32 ": where page %" PRIu32 " should be is a page that calls itself %" PRIu32,
			       target->rings[i].cpu, number, seal.number);
	}
	if (!r)
		r = remote_memory_word(memory, at + 8, word, target->abi.long_size);
	if (!r)
		commit = decode_abi_load(word, target->abi.long_size, target->abi.big_endian);
	if (!r && commit <= remote_target_page_room(target))
		r = remote_memory_read(memory, at, page->bytes, head + (size_t)commit);
	if (!r)
		r = read_seal(target, memory, at, &after);
	if (r)
		return r == -EAGAIN ? r : unreadable(r, err);
	if (after.number != seal.number || after.count != seal.count)
		return after.number == seal.number ? -EAGAIN : 0;
	if (commit > remote_target_page_room(target) || commit & 3)
		return err_set(err, -EBADMSG, "cpu %" PRIu32 ": page %" PRIu32 " says that %" PRIu64 " of its bytes are events",
			       target->rings[i].cpu, number, commit);
	/* The copy may have the next event's commit already; what was copied is up to the one before. */
	memcpy(page->bytes + 8, word, target->abi.long_size);
	memset(page->bytes + head + commit, 0, target->page_size - head - commit);
	page->number = number;
	page->commit = (uint32_t)commit;
	page->count = seal.count;
	return 1;
}

static uint64_t stamp_of(const struct remote_target *target, const struct remote_page *page)
{
	return decode_abi_load(page->bytes, 8, target->abi.big_endian);
}

static int restarted(const struct remote_target *target, uint32_t i, struct err *err)
{
	return err_set(err, -ESTALE, "cpu %" PRIu32 ": the target was started again", target->rings[i].cpu);
}

/* Is the page the one that the cursor knows a part of, or behind it? */
static bool is_known(const struct remote_target *target, const struct remote_cursor *cursor, const struct remote_page *page)
{
	uint64_t stamp = stamp_of(target, page);

	return cursor->offset ? stamp == cursor->stamp && cursor->offset <= page->commit : stamp >= cursor->stamp;
}

/*
 * Puts a cursor that points to what is gone on the oldest page, or, when that was tried in vain, `ahead` of it: the oldest is the next to
 * go. False: what it points to never was.
 *
 * Numbers come round. How far behind the tail something lies tells what is older; what seems to lie half of them behind may as well lie
 * before it, and then times tell, or that it is not far. A first page that was behind the cursor, and is not any more, is another one, or the tail
 * went past it again.
 *
 * What a reset threw away is not lost. Where its page is gone, too, nobody knows how much that was: it counts as lost here, and who asked for
 * the reset has left a cursor for those who know of each other.
 */
static bool move_up(const struct remote_ring *ring, const struct remote_look *look, struct remote_cursor *cursor, uint32_t ahead)
{
	uint32_t behind = look->tail - cursor->number, oldest = oldest_page(ring, look), begin;
	bool passed = look->tail - look->first < behind, reset = passed && look->first != cursor->first;

	if (cursor->known && passed && !reset)
		oldest = look->tail - ring->mask;
	begin = oldest + (ahead < look->tail - oldest ? ahead : look->tail - oldest);
	cursor->first = look->first;
	if (!cursor->known) {
		*cursor = (struct remote_cursor){ .number = begin, .first = look->first };
		return true;
	}
	if ((int32_t)behind < 0 && (look->time < cursor->stamp || (cursor->stamp && -behind < AHEAD_MAX)))
		return false;
	if (behind <= look->tail - oldest)
		return true;
	if (reset && begin == look->first)
		cursor->known = 0;
	cursor->number = begin;
	cursor->offset = 0;
	return true;
}

/* So many events are more than all pages that there were can have held: it is another ring's count. */
static bool is_absurd(const struct remote_target *target, uint32_t i, const struct remote_page *page)
{
	return page->lost > INT32_MAX && !target->rings[i].discard &&
	       page->lost / (remote_target_page_room(target) / 8) > page->number;
}

/* Looked for so often, and in vain. Where nothing changed meanwhile, that is not why. */
static int changes_too_fast(const struct remote_target *target, struct remote_memory *memory, uint32_t i, const struct remote_look *begun,
			    struct err *err)
{
	struct remote_look now;

	if (!remote_ring_look(target, memory, i, &now) && now.tail == begun->tail && now.count == begun->count && now.time == begun->time)
		return err_set(err, -EBADMSG, "cpu %" PRIu32 ": the ring says that page %" PRIu32 " is its last, and its pages are later ones: "
			       "was this copied while the target ran?", target->rings[i].cpu, now.tail);
	return err_set(err, -EBADMSG, "cpu %" PRIu32 ": pages change faster than they can be read", target->rings[i].cpu);
}

/* How the search for a page goes. */
struct steps {
	uint32_t n;
	struct remote_look begun;	/* when it was begun */
	bool next;	/* the page before was read to its end, just now, */
	uint32_t count;	/* and so many events were before this one, at least */
};

/* A page that contradicts the one before it, when that was just read, is damaged; else the ring is another one than the cursor is of. */
static int contradicts(const struct remote_target *target, uint32_t i, const struct remote_page *page, bool next, struct err *err)
{
	if (!next)
		return restarted(target, i, err);
	return err_set(err, -EBADMSG, "cpu %" PRIu32 ": page %" PRIu32 " says that it was begun at %" PRIu64 ", behind %" PRIu32 " events, which "
		       "contradicts the page before it", target->rings[i].cpu, page->number, stamp_of(target, page), page->count);
}

/*
 * Does the page go on with what was read before? 1, and how much was lost in between; -EAGAIN: nothing new is in it; 0: nor will there be
 * in those behind it; -errno.
 */
static int take_page(const struct remote_target *target, uint32_t i, const struct remote_look *look, struct remote_cursor *cursor,
		     struct remote_page *page, struct steps *steps, struct err *err)
{
	bool discard = target->rings[i].discard;

	if ((cursor->known && !is_known(target, cursor, page)) ||
	    (steps->next && !discard && (int32_t)(page->count - steps->count) < 0))
		return contradicts(target, i, page, steps->next, err);
	if (!discard && (int32_t)(look->count - page->count) < 0)
		return err_set(err, -EBADMSG, "cpu %" PRIu32 ": page %" PRIu32 " says that %" PRIu32 " events were before it, and the ring "
			       "counts %" PRIu32, target->rings[i].cpu, page->number, page->count, look->count);
	if (!cursor->known)
		cursor->count = page->count;
	page->from = cursor->offset;
	page->lost = cursor->offset ? 0 : page->count - cursor->count;
	if (is_absurd(target, i, page))
		return contradicts(target, i, page, false, err);
	cursor->known = 1;
	steps->next = true;
	steps->count = cursor->offset ? cursor->count : page->count;
	if (page->commit > cursor->offset)
		return 1;
	return cursor->number == look->tail ? 0 : -EAGAIN;
}

/* One step towards the next page: 1 and that page, 0 when there is none, -EAGAIN: another step, -errno. */
static int step(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_cursor *cursor, struct remote_page *page,
		struct steps *steps, struct err *err)
{
	struct remote_look look;
	uint32_t number = cursor->number;
	int r = remote_ring_look(target, memory, i, &look);

	if (r)
		return r == -EAGAIN ? r : unreadable(r, err);
	if (!steps->n)
		steps->begun = look;
	if (!move_up(&target->rings[i], &look, cursor, steps->n))
		return restarted(target, i, err);
	steps->next = steps->next && cursor->number == number;
	r = copy_page(target, memory, i, cursor->number, page, err);
	if (r < 0)
		return r;
	if (r) {
		r = take_page(target, i, &look, cursor, page, steps, err);
		if (r != -EAGAIN)
			return r;
	} else {
		steps->next = false;
	}
	/* Its place was taken, or all of it was read. What is lost is told with the next page that has something. */
	cursor->number++;
	cursor->offset = 0;
	return -EAGAIN;
}

/*
 * Asked behind the copy: all that is in it is counted by then. Of a ring that is written so fast that its count is never the same twice
 * that much is known without asking: a page has fewer events than bytes.
 */
static int look_at_count(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_page *page)
{
	unsigned char word[4];
	int r = remote_memory_word(memory, target->rings[i].at + offsetof(struct ringside_fw_ring, count), word, sizeof(word));

	page->total = r == -EAGAIN ? page->count + page->commit : (uint32_t)decode_abi_load(word, 4, target->abi.big_endian);
	return r == -EAGAIN ? 0 : r;
}

int remote_ring_next(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_cursor *cursor, struct remote_page *page,
	      struct err *err)
{
	uint32_t most = target->rings[i].mask + TRIES;
	struct steps steps = { 0 };
	int r = -EAGAIN;

	for (; r == -EAGAIN && steps.n < most; steps.n++)
		r = step(target, memory, i, cursor, page, &steps, err);
	if (r == -EAGAIN)
		return changes_too_fast(target, memory, i, &steps.begun, err);
	if (r == 1) {
		r = look_at_count(target, memory, i, page);
		return r ? unreadable(r, err) : 1;
	}
	return r;
}

void remote_ring_taken(const struct remote_target *target, struct remote_cursor *cursor, const struct remote_page *page, uint32_t offset, uint32_t events)
{
	if (!cursor->offset)
		cursor->count = page->count;
	cursor->number = page->number;
	cursor->offset = offset;
	cursor->count += events;
	cursor->stamp = stamp_of(target, page);
	cursor->known = 1;
}

static uint32_t count_events(const struct remote_target *target, const struct remote_page *page)
{
	struct page_event event;
	struct page_walk walk;
	uint32_t n = 0;

	if (page_walk_init_abi(&walk, page->bytes, target->page_size, &target->abi))
		return 0;
	while (page_walk_next(&walk, &event) > 0)
		n++;
	return n;
}

int remote_ring_end(const struct remote_target *target, struct remote_memory *memory, uint32_t i, struct remote_cursor *cursor, struct err *err)
{
	unsigned char bytes[TARGET_PAGE_MAX];
	struct remote_page page = { .bytes = bytes };
	struct remote_look look, begun = { 0 };
	uint32_t count;
	int r = -EAGAIN;

	for (int tries = 0; (r == -EAGAIN || !r) && tries < TRIES; tries++) {
		r = remote_ring_look(target, memory, i, &look);
		begun = tries ? begun : look;
		if (!r)
			r = copy_page(target, memory, i, look.tail, &page, err);
	}
	if (r <= 0)
		return r == -EAGAIN || !r ? changes_too_fast(target, memory, i, &begun, err) : unreadable(r, err);
	/* Those that were refused behind the last one are done with, too; where nothing is, what is counted and not there is on its way. */
	count = page.count + count_events(target, &page);
	if (look.full && (int32_t)(look.count - count) > 0)
		count = look.count;
	*cursor = (struct remote_cursor){ .number = page.number, .offset = page.commit, .known = 1, .stamp = stamp_of(target, &page),
					.first = look.first, .count = count };
	return 0;
}
