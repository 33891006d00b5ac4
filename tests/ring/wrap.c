/*
 * R1, R4, R5, R6 where counters wrap: laps in tails and in positions, event numbers, drops,
 * refusals, slots taken; and where a time no longer fits what holds it: 27 bits, 59 bits, 64 bits.
 *
 * Each run begins a little before a limit and writes across it, with a reader that keeps up, one
 * that is lapped, and one that goes away and comes back to its stored position: counts stay exact.
 */
#include "base/err.h"
#include "capture/stream.h"
#include "ring/audit.h"

#define NPAGES 5u
#define NCPU 1u

struct start {
	const char *name;
	uint64_t lap; /* of the tail */
	uint64_t nr, dropped;
};

static struct lab lab;
static uint64_t now;

static enum ring_result emit(uint32_t ring, uint32_t id, uint32_t len)
{
	static struct record record;
	struct ring_op op;

	record_fill(&record, id, len, now);
	op = lab_op(&lab, &record, len);
	op.ts = now;
	return ring < NCPU ? ring_write(lab_fake_rseq(), &op)
			   : ring_twin_write(&lab.refs[ring], &op, 0);
}

/* ---- readers ---- */

struct reader {
	struct cursor cursor;
	uint32_t ring;
	uint64_t events, lost;
	uint64_t from; /* number of the first event there was, drops counted */
	uint32_t next; /* id, unless some were lost */
	bool stores;
};

static uint64_t consumed_at(uint32_t ring)
{
	return ring < NCPU ? offsetof(struct ring_head, consumed)
			   : RING_STREAMS_OFFSET + offsetof(struct ring_stream, consumed);
}

static uint64_t records_at(uint32_t ring)
{
	return ring < NCPU ? offsetof(struct ring_head, read)
			   : RING_STREAMS_OFFSET + offsetof(struct ring_stream, read);
}

static void reader_open(struct reader *reader)
{
	struct ring_source source = lab_source(&lab, reader->ring);

	CHECK(!cursor_open(&reader->cursor, &source, consumed_at(reader->ring),
			   records_at(reader->ring)),
	      "cursor");
}

static void reader_read(struct reader *reader, const char *name)
{
	uint32_t skip = reader->ring < NCPU ? 0 : 4;
	int ret;

	while ((ret = cursor_peek(&reader->cursor)) > 0) {
		const struct page_event *event = &reader->cursor.event;
		struct record record;
		const char *wrong = record_wrong((const char *)event->data + skip,
						 event->len - skip, event->ts, &record);
		uint64_t lost = reader->lost + reader->cursor.lost;

		CHECK(!wrong, "R1: %s: %s", name, wrong);
		CHECK(reader->cursor.nr == reader->from + reader->events + lost,
		      "R6: %s: number %llx after %llu and %llu", name,
		      (unsigned long long)reader->cursor.nr, (unsigned long long)reader->events,
		      (unsigned long long)lost);
		CHECK(record.id - reader->next <= lost, "R6: %s: event %u where %u was next", name,
		      record.id, reader->next);
		reader->next = record.id + 1;
		reader->events++;
		cursor_pass(&reader->cursor);
	}
	CHECK(!ret, "%s: %s", name, strerror(-ret));
	if (reader->stores) {
		struct ring_read record = { .pos = ring_pos(reader->cursor.page,
							    reader->cursor.offset),
					    .nr = reader->cursor.nr };

		CHECK(!cursor_store(&reader->cursor, consumed_at(reader->ring),
				    records_at(reader->ring), &record),
		      "store");
		reader->lost += reader->cursor.lost;
		cursor_close(&reader->cursor);
		reader_open(reader);
	}
}

/* ---- laps, numbers, drops ---- */

static void begin(const struct start *start, uint32_t ring, uint32_t flags)
{
	struct ring_head *head;
	struct ring_stream *stream;

	lab_open(&lab, NCPU, NPAGES, 4096, flags);
	lab_ring_init(&lab, ring, start->lap << RING_INDEX_BITS, start->nr, now);
	head = lab_head(&lab, ring);
	stream = (void *)((char *)head + RING_STREAMS_OFFSET);
	head->dropped = start->dropped;
	lab.refs[ring].first[0] += start->dropped;
	head->read[0].nr += start->dropped;
	stream->read[0].nr += start->dropped;
}

static void check_sum(const struct reader *reader, uint64_t all, const char *name, const char *who)
{
	CHECK(reader->events + reader->lost + reader->cursor.lost == all,
	      "R6: %s: %s: %llu read and %llu lost of %llu", name, who,
	      (unsigned long long)reader->events,
	      (unsigned long long)(reader->lost + reader->cursor.lost), (unsigned long long)all);
}

static void cross(const struct start *start, uint32_t ring, bool discard)
{
	struct reader steady = { .ring = ring,
				 .from = start->nr + start->dropped,
				 .next = (uint32_t)start->nr };
	struct reader slow = steady, back = steady;
	struct audit audit = { .lab = &lab,
			       .ring = ring,
			       .twin = ring >= NCPU,
			       .dropping = discard || start->dropped,
			       .begin = start->lap << RING_INDEX_BITS,
			       .where = start->name };
	uint64_t nr = start->nr, dropped = start->dropped;
	const struct ring_head *head;

	begin(start, ring, discard ? 0 : RING_REF_OVERWRITE);
	head = lab_head(&lab, ring);
	back.stores = true;
	reader_open(&steady);
	reader_open(&slow);
	reader_open(&back);
	/* Some twelve laps; ends with pages that tell all drops. */
	for (uint32_t i = 0; i < 4000 || head->tail % 2; i++) {
		enum ring_result result;

		now += i % 100 ? 3 : 1u << 27;
		result = emit(ring, (uint32_t)nr, RECORD_MIN + i * 52 % 80 / 4 * 4);
		CHECK(result == RING_DONE || (discard && result == RING_DROPPED), "%s: result %d",
		      start->name, result);
		nr += result == RING_DONE;
		dropped += result == RING_DROPPED;
		CHECK(head->dropped == dropped, "R6: %s: drops", start->name);
		if (i % 5 == 0)
			audit_ring(&audit);
		CHECK(i % 5 || audit.nr == nr, "R4: %s: the slot counts %llx events, not %llx",
		      start->name, (unsigned long long)audit.nr, (unsigned long long)nr);
		reader_read(&steady, start->name);
		if (i % (discard ? 400 : 83) == 0)
			reader_read(&back, start->name);
		if (i % 1000 == 0 && !discard)
			reader_read(&slow, start->name);
	}
	reader_read(&back, start->name);
	for (uint64_t tail = head->tail; head->tail == tail; now++)
		nr += emit(ring, (uint32_t)nr, 400) == RING_DONE;
	reader_read(&steady, start->name);
	reader_read(&back, start->name);
	reader_read(&slow, start->name);
	check_sum(&steady, nr - start->nr + dropped - start->dropped, start->name,
		  "the steady reader");
	check_sum(&back, nr - start->nr + dropped - start->dropped, start->name,
		  "the one that comes back");
	check_sum(&slow, nr - start->nr + dropped - start->dropped, start->name, "the slow reader");
	CHECK(discard ? dropped != start->dropped : slow.cursor.lost != 0,
	      "%s: too little happened", start->name);
	cursor_close(&steady.cursor);
	cursor_close(&slow.cursor);
	cursor_close(&back.cursor);
	lab_close(&lab);
}

/* Beginnings a few laps or events before a limit. */
static void limits(void)
{
	const unsigned pos_laps = 64 - RING_OFFSET_BITS - RING_INDEX_BITS,
		       tail_laps = 64 - RING_INDEX_BITS;
	const struct start starts[] = {
		{ "laps of positions", (1ull << pos_laps) - 3, 0, 0 },
		{ "laps of positions, half", (1ull << (pos_laps - 1)) - 3, 0, 0 },
		{ "laps, 31 bits", (1ull << 31) - 3, 1, 0 },
		{ "laps, 32 bits", (1ull << 32) - 3, 2, 0 },
		{ "laps of tails, half", (1ull << (tail_laps - 1)) - 3, 3, 0 },
		{ "laps of tails", (1ull << tail_laps) - 3, 4, 0 },
		{ "numbers, 32 bits", 7, (1ull << 32) - 700, 0 },
		{ "numbers, 63 bits", 7, (1ull << 63) - 700, 0 },
		{ "numbers", 7, 0ull - 700, 0 },
		{ "drops, 63 bits", 7, 0, (1ull << 63) - 70 },
		{ "drops", 7, 0, 0ull - 70 },
		{ "all of them", (1ull << tail_laps) - 3, 0ull - 700, 0ull - 70 },
	};

	for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		now = 1000;
		for (unsigned discard = 0; discard < 2; discard++) {
			cross(&starts[i], 0, discard);
			cross(&starts[i], NCPU, discard);
		}
	}
}

/* ---- time ---- */

/* One event at `from`, then one `gap` later: how it is stored, and that both times are read as
 * written. */
static void check_gap(uint32_t ring, uint64_t from, uint64_t gap, int extra, bool switches)
{
	struct audit audit = { .lab = &lab, .ring = ring, .twin = ring >= NCPU, .where = "gap" };
	struct page_head *page;
	uint64_t tail, commit;

	lab_open(&lab, NCPU, NPAGES, 4096, RING_REF_OVERWRITE);
	lab_ring_init(&lab, ring, 0, 0, 0);
	page = (void *)lab.refs[ring].pages;
	now = from;
	CHECK(emit(ring, 0, RECORD_MIN) == RING_DONE, "R5: no event at time %llx of a new ring",
	      (unsigned long long)from);
	tail = lab_head(&lab, ring)->tail;
	CHECK(!tail, "R5: the first event at time %llx left the first page",
	      (unsigned long long)from);
	commit = page->commit;
	now = from + gap;
	CHECK(emit(ring, 1, RECORD_MIN) == RING_DONE, "R5: no event after a gap of %llx",
	      (unsigned long long)gap);
	CHECK((lab_head(&lab, ring)->tail != tail) == switches, "R5: gap %llx: %s new page",
	      (unsigned long long)gap, switches ? "no" : "a");
	CHECK(switches || page->commit == 2 * commit + (uint32_t)extra,
	      "R5: gap %llx took %llu bytes", (unsigned long long)gap,
	      (unsigned long long)(page->commit - commit));
	/* The records hold their times: the audit compares. */
	audit_ring(&audit);
	CHECK(audit.nr == 2 && audit.seen == 2 && audit.ts == from + gap,
	      "R4: the slot's time after gap %llx", (unsigned long long)gap);
	lab_close(&lab);
}

static void gaps(void)
{
	static const uint64_t from[] = { 0, 1000, (1ull << 59) - 1, 1ull << 59, 1ull << 62 };
	const uint64_t long_gap = 1ull << (EVENT_DELTA_BITS + 32);

	for (uint32_t ring = 0; ring <= NCPU; ring += NCPU) {
		for (unsigned i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
			check_gap(ring, from[i], 0, 0, false);
			check_gap(ring, from[i], EVENT_DELTA_MAX - 1ull, 0, false);
			check_gap(ring, from[i], EVENT_DELTA_MAX, 0, false);
			check_gap(ring, from[i], EVENT_DELTA_MAX + 1ull, EVENT_EXTEND_SIZE, false);
			check_gap(ring, from[i], 1ull << 32, EVENT_EXTEND_SIZE, false);
			check_gap(ring, from[i], long_gap - 1, EVENT_EXTEND_SIZE, false);
			check_gap(ring, from[i], long_gap, 0, true);
			check_gap(ring, from[i], 1ull << 63, 0, true);
		}
		check_gap(ring, 5, ~0ull - 5, 0, true);
	}
}

/* Across half of what 64 bits hold, and at their end: a clock that wraps is held, like any that
 * goes back. */
static void ends_of_time(void)
{
	for (uint32_t ring = 0; ring <= NCPU; ring += NCPU) {
		struct audit audit = {
			.lab = &lab, .ring = ring, .twin = ring >= NCPU, .where = "the end of time"
		};
		struct record record;
		struct ring_op op;

		lab_open(&lab, NCPU, NPAGES, 4096, RING_REF_OVERWRITE);
		lab_ring_init(&lab, ring, 0, 0, (1ull << 63) - 500);
		for (uint32_t i = 0; i < 1000; i++) {
			now = (1ull << 63) - 500 + i;
			CHECK(emit(ring, i, RECORD_MIN) == RING_DONE, "R5: at %llx",
			      (unsigned long long)now);
			audit_ring(&audit);
		}
		for (uint32_t i = 1000; i < 2000; i++) {
			now = 0ull - 500 + (i - 1000);
			record_fill(&record, i, RECORD_MIN, i < 1500 ? now : ~0ull);
			op = lab_op(&lab, &record, RECORD_MIN);
			op.ts = now;
			CHECK((ring < NCPU ? ring_write(lab_fake_rseq(), &op)
					   : ring_twin_write(&lab.refs[ring], &op, 0)) == RING_DONE,
			      "R5: at the end");
			audit_ring(&audit);
		}
		CHECK(audit.nr == 2000 && audit.ts == ~0ull, "R5: time went on after its end");
		lab_close(&lab);
	}
}

/* ---- what else is counted ---- */

static void refusals(void)
{
	struct state_buffer buffer = {
		.page_size = 4096,
		.npages = NPAGES,
		.live = { .offset = LAB_SET, .npages = NPAGES, .page_size = 4096, .generation = 1 },
	};
	struct stream *stream;
	struct stream_page info;
	struct err err = ERR_INIT;
	struct ring_head *head;
	unsigned char page[4096];
	uint64_t lost = 0;

	now = 1;
	lab_open(&lab, NCPU, NPAGES, 4096, RING_REF_OVERWRITE);
	head = lab_head(&lab, 0);
	head->refused = head->read[0].refused = 0ull - 5;
	CHECK(!stream_open(&stream, lab.fd, &buffer, NCPU, 0, true, &err), "%s", err.text);
	for (int i = 0; i < 10; i++) {
		head->refused++;
		CHECK(emit(0, (uint32_t)i, RECORD_MIN) == RING_DONE, "write");
		CHECK(stream_next(stream, page, &info) == 1 && info.events == 1, "R6: no page");
		lost += info.lost;
	}
	CHECK(lost == 10, "R6: %llu refused events were told, not 10", (unsigned long long)lost);
	stream_close(stream);
	lab_close(&lab);
}

static bool nobody(uint64_t owner)
{
	(void)owner;
	return false;
}

static void slots(void)
{
	struct overflow_slot slot = { .taken = 0ull - 3 };

	for (int i = 0; i < 6; i++) {
		CHECK(ring_overflow_take(&slot, 1, UINT32_MAX, 0xffffffffffffffffull, nobody) == 0,
		      "R10: not taken");
		CHECK(ring_overflow_take(&slot, 1, 0, 7, nobody) == -1, "R10: taken twice");
		ring_overflow_release(&slot);
	}
	CHECK(slot.taken == 3, "R10: acquisitions across the wrap");
}

int main(void)
{
	limits();
	gaps();
	ends_of_time();
	refusals();
	slots();
	return 0;
}
