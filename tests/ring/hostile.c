/*
 * R16, R13: whatever a ring's words say, a writer stores nothing outside its ring nor in words of
 * others, and comes to an end; the ring heals under its hands; and readers of it end too, inside
 * their own copies.
 *
 * Each turn takes a sound ring and turns some of its words, or all, into others: random ones and
 * such as lie at the edges of what the code compares. Readers look at it (build with the address
 * sanitizer to see them leave their copies); then events are written through the sections or the
 * twin, in a mapping that lies alone between pages nobody may touch; then all of what was written
 * last must be readable.
 *
 *   hostile [SEED [TURNS]]
 *
 * A failure prints the seed of its turn; `hostile SEED 1` repeats it.
 */
#include <signal.h>

#include "base/err.h"
#include "capture/stream.h"
#include "ring/audit.h"
#include "fast.h"

#define NPAGES_MAX 24u
#define GUARD ((size_t)1 << (sizeof(void *) == 8 ? 33 : 26))
#define MOST_EVENTS 100000u /* more than all pages of a ring hold */

static struct lab lab;		/* its mapping is for us to look through */
static unsigned char *alone[2]; /* the rings as the writer has them */
static unsigned char *before;
static uint64_t seed, state;
static uint32_t counts[3]; /* turns, rings healed, drops on the way */

static uint32_t below(uint32_t n)
{
	return draw(&state) % n;
}

static uint64_t draw64(void)
{
	return (uint64_t)draw(&state) << 32 | draw(&state);
}

static void on_fault(int signo)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "R16: signal %d (%s), seed %#llx\n", signo,
			 signo == SIGALRM ? "no end" : "outside the ring",
			 (unsigned long long)seed);

	if (write(2, text, (size_t)n) < 0)
		_exit(2);
	_exit(1);
}

/* ---- the place ---- */

static void set_apart(uint32_t npages, uint32_t flags)
{
	size_t stride;

	lab_open(&lab, 1, npages, 4096, flags);
	stride = ring_stride(1, npages, 4096);
	for (uint32_t i = 0; i < 2; i++) {
		unsigned char *at = mmap(NULL, 2 * GUARD + stride, PROT_NONE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		CHECK(at != MAP_FAILED, "%s", strerror(errno));
		alone[i] = at + GUARD;
		at = mmap(alone[i], stride, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, lab.fd,
			  (off_t)set_ring_offset(LAB_SET, i, 1, npages, 4096));
		CHECK(at == alone[i], "%s", strerror(errno));
		lab.refs[i].head = (void *)at;
		lab.refs[i].first = (void *)(at + ring_head_size(1));
		lab.refs[i].pages = at + ring_pages_offset(1, npages);
	}
	before = malloc(lab.size);
	CHECK(before, "memory");
}

static void put_away(void)
{
	for (uint32_t i = 0; i < 2; i++)
		munmap(alone[i] - GUARD, 2 * GUARD + ring_stride(1, lab.npages, 4096));
	free(before);
	lab_close(&lab);
}

static enum ring_result put(uint32_t ring, uint32_t id, uint32_t len, uint64_t ts)
{
	static struct record record;
	struct ring_op op;

	record_fill(&record, id, len, 0);
	op = lab_op(&lab, &record, len);
	op.ts = ts;
#ifdef SECTION_FAST
	if (!ring && len <= EVENT_LEN_MAX_SHORT && (lab.refs[ring].flags & RING_REF_COUNTER)) {
		struct ring_near near = {.generation = RING_NEAR_NONE};
		enum ring_result result = fast_write(lab_fake_rseq(), &near, &op);

		if (result == RING_DONE)
			return result;
	}
#endif
	return ring ? ring_twin_write(&lab.refs[ring], &op, 0) : ring_write(lab_fake_rseq(), &op);
}

/* ---- the damage ---- */

static uint64_t odd_word(uint64_t word, uint32_t ring)
{
	const struct ring_head *head = lab_head(&lab, ring);
	uint64_t tail = head->tail;

	switch (below(12)) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2:
		return word + 1;
	case 3:
		return word - 1;
	case 4:
		return word ^ 1ull << below(64);
	case 5:
		return below(8192);
	case 6:
		return (draw64() & ~(uint64_t)RING_INDEX_MASK) | (lab.npages - 1 + below(3));
	case 7:
		return tail | RING_INDEX_MASK;
	case 8:
		return ring_pos(tail + below(3), below(4096));
	case 9:
		return ring_pos(ring_page_step(&(struct ring_source){ .npages = lab.npages }, tail,
					       (int64_t)below(2 * lab.npages) - lab.npages),
				below(4096) & ~3u);
	case 10:
		return 1ull << below(64);
	default:
		return draw64();
	}
}

/* Any word of a ring, those that matter most of the time. */
static void spoil_word(uint32_t ring)
{
	static const uint32_t words[] = {
		offsetof(struct ring_head, tail),
		offsetof(struct ring_head, tail),
		offsetof(struct ring_head, dropped),
		offsetof(struct ring_head, slot[0].tag),
		offsetof(struct ring_head, slot[0].ts),
		offsetof(struct ring_head, slot[0].nr),
		offsetof(struct ring_head, slot[1].tag),
		offsetof(struct ring_head, slot[1].ts),
		offsetof(struct ring_head, slot[1].nr),
		offsetof(struct ring_head, consumed),
		offsetof(struct ring_head, read[0].pos),
		offsetof(struct ring_head, read[0].nr),
		offsetof(struct ring_head, npages),
		offsetof(struct ring_head, refused),
		RING_STREAMS_OFFSET,
		RING_STREAMS_OFFSET + 64,
		RING_STREAMS_OFFSET + 72,
	};
	unsigned char *at = (unsigned char *)lab_head(&lab, ring);
	uint32_t pages = (uint32_t)ring_pages_offset(1, lab.npages), offset;
	uint64_t word;

	switch (below(4)) {
	case 0:
		offset = below((uint32_t)ring_stride(1, lab.npages, 4096) / 8) * 8;
		break;
	case 1:
		offset = pages + below(lab.npages) * 4096 + 8 * below(3);
		break;
	default:
		offset = words[below(sizeof(words) / sizeof(words[0]))];
		break;
	}
	memcpy(&word, at + offset, 8);
	word = odd_word(word, ring);
	memcpy(at + offset, &word, 8);
}

static unsigned char *page_of(uint32_t ring, uint32_t index)
{
	return (unsigned char *)lab_head(&lab, ring) + ring_pages_offset(1, lab.npages) +
	       index * 4096;
}

/* Events that nobody would write: each kind, every length, up to the end and beyond. */
static void spoil_page(uint32_t ring, uint32_t index)
{
	unsigned char *page = page_of(ring, index);
	uint64_t commit = below(4) ? 4080 - below(64) : below(8192);

	memcpy(page + 8, &commit, 8);
	for (uint32_t at = 16; at < 4096; at += 4 + below(30) * 4) {
		uint32_t word[2] = { below(32) | (below(4) ? below(1000) : draw(&state))
							 << EVENT_TYPE_BITS,
				     below(3) ? below(100) : draw(&state) };

		memcpy(page + at, word, at + 4 < 4096 ? 8 : 4);
	}
}

/* One event and behind it an empty one, with nothing left of the page. */
static void fill_page(uint32_t ring, uint32_t index)
{
	unsigned char *page = page_of(ring, index);
	uint32_t word[2] = { EVENT_TYPE_LONG, 4080 - 4 - 8 };
	uint64_t commit = 4080;

	memcpy(page + 8, &commit, 8);
	memcpy(page + 16, word, 8);
	word[1] = 4;
	memcpy(page + 4096 - 8, word, 8);
}

/* A lie that agrees with itself: the slots are in force for a commit that cannot be. */
static void agree(uint32_t ring)
{
	struct ring_head *head = lab_head(&lab, ring);
	uint64_t commit = below(2) ? draw64() : odd_word(below(4081), ring);

	if (below(2))
		commit = (commit << 32) | below(4081);
	if (below(3) == 0)
		head->tail = odd_word(head->tail, ring);
	memcpy(page_of(ring, ((uint32_t)head->tail & RING_INDEX_MASK) % lab.npages) + 8, &commit,
	       8);
	head->slot[0].tag = below(2) ? ring_pos(head->tail, commit)
				     : ring_pos(head->tail, 0) + commit;
	if (below(2))
		head->slot[1].tag = below(2) ? ring_pos(head->tail, commit)
					     : ring_pos(head->tail, 0) + commit;
}

static void spoil(uint32_t ring)
{
	unsigned char *at = (unsigned char *)lab_head(&lab, ring);

	switch (below(7)) {
	case 0:
		for (uint64_t i = 0; i < ring_stride(1, lab.npages, 4096); i += 8) {
			uint64_t word = below(3) ? draw64() : odd_word(0, ring);

			memcpy(at + i, &word, 8);
		}
		break;
	case 1:
		for (uint32_t i = 0; i < lab.npages; i++)
			if (below(3))
				spoil_page(ring, i);
		break;
	case 2:
		for (uint32_t i = 0; i < lab.npages; i++)
			if (below(8))
				fill_page(ring, i);
		break;
	case 3:
		agree(ring);
		break;
	default:
		for (uint32_t n = 1 + below(4); n; n--)
			spoil_word(ring);
		break;
	}
}

/* ---- readers ---- */

/* R13: to the end, whatever that is. */
static uint32_t read_all(uint32_t ring, bool stores, uint32_t *last, uint32_t *good)
{
	struct ring_source source = lab_source(&lab, ring);
	uint64_t consumed_at = ring ? RING_STREAMS_OFFSET : offsetof(struct ring_head, consumed);
	uint64_t records_at = ring ? RING_STREAMS_OFFSET + 64 : offsetof(struct ring_head, read);
	struct cursor cursor;
	struct record record;
	uint32_t events = 0;
	uint64_t sum = 0;
	int ret;

	*last = *good = 0;
	CHECK(!cursor_open(&cursor, &source, consumed_at, records_at), "cursor");
	while ((ret = cursor_peek(&cursor)) > 0) {
		const unsigned char *data = cursor.event.data;
		uint32_t skip = ring ? 4 : 0;

		for (uint32_t i = 0; i < cursor.event.len; i++)
			sum += data[i];
		if (cursor.event.len > skip &&
		    !record_wrong(data + skip, cursor.event.len - skip, 0, &record)) {
			*good = record.id == *last + 1 ? *good + 1 : 1;
			*last = record.id;
		}
		cursor_pass(&cursor);
		CHECK(events++ < MOST_EVENTS, "R13: a cursor without end, seed %#llx",
		      (unsigned long long)seed);
	}
	CHECK(!ret || ret == -EBADMSG, "R13: %s, seed %#llx", strerror(-ret),
	      (unsigned long long)seed);
	if (stores) {
		struct ring_read read = { .pos = ring_pos(cursor.page, cursor.offset),
					  .nr = cursor.nr };

		CHECK(!cursor_store(&cursor, consumed_at, records_at, &read), "store");
	}
	cursor_close(&cursor);
	/* Used, so that every byte was looked at. */
	return events + (sum == 1);
}

static void read_stream(bool consume)
{
	struct state_buffer buffer = {
		.page_size = 4096,
		.npages = lab.npages,
		.live = { .offset = LAB_SET,
			  .npages = lab.npages,
			  .page_size = 4096,
			  .generation = 1 },
	};
	struct stream *stream;
	struct stream_page info;
	struct stream_stats stats;
	struct err err = ERR_INIT;
	unsigned char *page;
	uint32_t pages = 0;

	CHECK(!stream_open(&stream, lab.fd, &buffer, 1, 0, consume, &err), "%s", err.text);
	page = malloc(stream_page_size(stream));
	while (stream_next(stream, page, &info) > 0) {
		struct page_walk walk;
		struct page_event event;
		uint32_t events = 0;

		CHECK(!page_walk_init(&walk, page, stream_page_size(stream)),
		      "R13: the stream gives no page, seed %#llx", (unsigned long long)seed);
		while (page_walk_next(&walk, &event) > 0)
			events++;
		CHECK(events == info.events,
		      "R13: a page of %u events is said to have %u, seed %#llx", events,
		      info.events, (unsigned long long)seed);
		CHECK(pages++ < MOST_EVENTS, "R13: a stream without end, seed %#llx",
		      (unsigned long long)seed);
	}
	/* An event that it cannot hand out must not stop it: somebody would wait for ever. */
	CHECK(stream_wait(stream, 0) == 0,
	      "R13: the stream says there is more and gives nothing, seed %#llx",
	      (unsigned long long)seed);
	stream_stats(stream, &stats);
	free(page);
	stream_close(stream);
}

/* ---- writers ---- */

/* What lies between `from` and `to` of the ring is as it was before. */
static void check_same(uint32_t ring, uint64_t from, uint64_t to, const char *what)
{
	size_t at = (size_t)((unsigned char *)lab_head(&lab, ring) - lab.base);

	CHECK(!memcmp(lab.base + at + from, before + at + from, to - from),
	      "R16: ring %u: stored into %s, seed %#llx", ring, what, (unsigned long long)seed);
}

static void check_stores(uint32_t ring)
{
	uint64_t head = ring_head_size(1), pages = ring_pages_offset(1, lab.npages);

	check_same(ring, offsetof(struct ring_head, waiters), offsetof(struct ring_head, slot),
		   "the waiters' line");
	check_same(ring, offsetof(struct ring_head, consumed), head, "words of others");
	check_same(ring, head + 8 * lab.npages, pages, "what lies behind the numbers");
	check_same(!ring, 0, ring_stride(1, lab.npages, 4096), "another ring");
	CHECK(!memcmp(lab.base, before, LAB_SET), "R16: stored before the set, seed %#llx",
	      (unsigned long long)seed);
}

/* What no write may change. It holds until others store: check_stores() finds it as it was. */
static void remember(void)
{
	memcpy(before, lab.base, lab.size);
}

/* A write of any kind ends, and stores where it may. */
static enum ring_result write_checked(uint32_t ring, uint32_t id)
{
	uint32_t len = below(4) ? RECORD_MIN + below(30) * 4
				: RECORD_MIN + below((RING_PAYLOAD_MAX - 16) / 4 + 1) * 4;
	enum ring_result result;

	result = put(ring, id, len, below(2) ? draw64() : 1000 + id);
	check_stores(ring);
	return result;
}

static void heal(uint32_t ring)
{
	bool discard = !(lab.refs[ring].flags & RING_REF_OVERWRITE);
	uint32_t last, good, id, in_row = 0;

	remember();
	for (id = 1; id < 200 || in_row; id++) {
		enum ring_result result = write_checked(ring, id);

		if (result == RING_DROPPED && discard) {
			/* Its reader has to move, however wrong the word it starts from. */
			read_all(ring, true, &last, &good);
			remember();
			counts[2]++;
			CHECK(++in_row < 4, "R16: ring %u drops for ever, seed %#llx", ring,
			      (unsigned long long)seed);
			continue;
		}
		CHECK(result == RING_DONE, "R16: ring %u: write %u gives %d, seed %#llx", ring, id,
		      result, (unsigned long long)seed);
		in_row = 0;
	}
	/* All pages are new by now, or read: what was written last is there. */
	read_all(ring, false, &last, &good);
	CHECK(last == id - 1 && (discard || good >= 3),
	      "R16: ring %u: the last event read is %u of %u, %u in a row, seed %#llx", ring, last,
	      id - 1, good, (unsigned long long)seed);
	counts[1]++;
}

static void turn(void)
{
	uint32_t ring, flags, last, good, npages;

	state = seed ? seed : 1;
	/* Mostly few, so that laps are short; more than readers copy at once now and then. */
	npages = RING_NPAGES_MIN + below(below(4) ? 4 : NPAGES_MAX - RING_NPAGES_MIN + 1);
	flags = (below(3) ? RING_REF_OVERWRITE : 0) | (below(3) ? 0 : RING_REF_COUNTER);
	ring = below(2);
	set_apart(npages, flags | RING_REF_OVERWRITE);
	for (uint32_t n = below(60 * npages), id = 0; id < n; id++)
		CHECK(put(below(3) ? ring : !ring, id, RECORD_MIN + below(100) * 4, 1000 + id) ==
			      RING_DONE,
		      "filling");
	lab.refs[ring].flags = flags;
	spoil(ring);
	if (!below(4))
		spoil(!ring);
	/* Readers may come before and after; a consuming one moves the words it reads from. */
	for (uint32_t n = below(3); n; n--) {
		read_all(ring, below(2), &last, &good);
		read_stream(below(2));
	}
	heal(ring);
	read_stream(below(2));
	put_away();
	counts[0]++;
}

int main(int argc, char **argv)
{
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 1500;
	struct sigaction action = { .sa_handler = on_fault };

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0x9e3779b97f4a7c15ull;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	for (unsigned long i = 0; i < turns; i++) {
		alarm(30);
		turn();
		seed = draw64();
	}
	printf("R16: %u broken rings, %u healed, %u drops on the way\n", counts[0], counts[1],
	       counts[2]);
	return 0;
}
