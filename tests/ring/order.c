/*
 * R1, R2, R4, R5: whole events, in the order and with the payloads they were written, one commit a store, time never back;
 * sizes from the smallest to the largest, many laps, time gaps of every length.
 */
#include "ring/lab.h"

static uint32_t sequence;
static uint64_t bytes_before;

/* A record whose every byte follows from its sequence number. */
static uint32_t make(unsigned char *record, uint32_t nr)
{
	uint32_t len = 8 + (nr * 7919u % 100 < 90 ? nr * 52u % 64 / 4 * 4 : nr * 7919u % 4000 / 4 * 4);

	memcpy(record, &nr, 4);
	for (uint32_t i = 4; i < len; i++)
		record[i] = (unsigned char)(nr * 31 + i);
	return len;
}

static void check_slots(const struct lab *lab, uint64_t ts)
{
	const struct ring_head *head = lab_head(lab, 0);
	const struct page_head *page = (void *)(lab->refs[0].pages +
						(size_t)(head->tail & RING_INDEX_MASK) * lab->page_size);
	uint64_t pos = ring_pos(head->tail, page->commit);
	int matches = (head->slot[0].tag == pos) + (head->slot[1].tag == pos);
	const struct ring_slot *slot = &head->slot[head->slot[0].tag == pos ? 0 : 1];

	CHECK(matches == 1, "R4: %d slots match", matches);
	CHECK(slot->nr == sequence, "R4: number %llu, not %u", (unsigned long long)slot->nr, sequence);
	CHECK(!ts || slot->ts == ts, "R4: time %llu, not %llu", (unsigned long long)slot->ts, (unsigned long long)ts);
}

static void emit(struct lab *lab, uint64_t ts)
{
	unsigned char record[4096];
	uint32_t len = make(record, sequence);
	struct ring_op op = lab_op(lab, record, len);
	enum ring_result result;

	op.ts = ts;
	result = ring_write(lab_fake_rseq(), &op);
	CHECK(result == RING_DONE, "result %d at %u", result, sequence);
	sequence++;
	check_slots(lab, ts);
}

/* Reads all there is; events must go on from *next. */
static void drain(struct cursor *cursor, uint32_t *next, uint64_t *last_ts, uint64_t exact)
{
	unsigned char want[4096];
	int ret;

	while ((ret = cursor_peek(cursor)) > 0) {
		uint32_t len = make(want, *next);

		CHECK(cursor->event.len == len && !memcmp(cursor->event.data, want, len), "R1: event %u differs", *next);
		CHECK(cursor->event.ts >= *last_ts, "R5: time goes back at %u", *next);
		CHECK(!exact || cursor->event.ts == exact, "time %llu, not %llu",
		      (unsigned long long)cursor->event.ts, (unsigned long long)exact);
		CHECK(cursor->nr == *next, "R6: numbered %llu, not %u", (unsigned long long)cursor->nr, *next);
		*last_ts = cursor->event.ts;
		cursor_pass(cursor);
		(*next)++;
		bytes_before += len;
	}
	CHECK(!ret && !cursor->lost, "peek %d, lost %llu", ret, (unsigned long long)cursor->lost);
}

static void run(uint32_t npages, uint32_t page_size)
{
	struct lab lab;
	struct cursor cursor;
	uint32_t next = 0;
	uint64_t last = 0, ts = 1000;

	sequence = 0;
	lab_open(&lab, 2, npages, page_size, RING_REF_OVERWRITE);
	lab_cursor(&lab, 0, &cursor);
	for (int i = 0; i < 60000; i++) {
		/* Gaps below, at and above what 27 bits hold, and now and then more than an extend can say. */
		static const uint64_t gap[] = { 0, 1, 800, EVENT_DELTA_MAX, EVENT_DELTA_MAX + 1ull, 1ull << 40,
						1ull << 50 };

		ts += gap[i % 97 ? (unsigned)i % 3 : (unsigned)i / 97 % 7];
		if (i == 30000)
			ts += 1ull << 60;
		if (i == 45000)
			ts += (1ull << 59) - 1;
		emit(&lab, ts);
		drain(&cursor, &next, &last, ts);
	}
	CHECK(next == 60000, "%u events read", next);
	cursor_close(&cursor);
	lab_close(&lab);
}

/* Time that steps back is held: the clock of another CPU, a migrated machine. */
static void backwards(void)
{
	struct lab lab;
	struct cursor cursor;
	uint32_t next = 0;
	uint64_t last = 0;

	sequence = 0;
	lab_open(&lab, 1, 4, 4096, RING_REF_OVERWRITE);
	lab_cursor(&lab, 0, &cursor);
	for (int i = 0; i < 1000; i++) {
		struct ring_op op;
		unsigned char record[4096];

		op = lab_op(&lab, record, make(record, sequence));
		op.ts = 1000000 - (uint64_t)i;
		CHECK(ring_write(lab_fake_rseq(), &op) == RING_DONE, "write");
		sequence++;
		drain(&cursor, &next, &last, 1000000);
	}
	cursor_close(&cursor);
	lab_close(&lab);
}

/* The section's own clock: the counter, scaled. */
static void counter(void)
{
	struct ring_rseq *rs = lab_rseq();
	struct lab lab;
	uint64_t before, after;
	uint64_t payload[2] = { 0 };
	struct cursor cursor;

	if (!rs)
		return;
	lab_open(&lab, 64, 4, 4096, RING_REF_OVERWRITE | RING_REF_COUNTER);
	for (uint32_t i = 0; i < 64; i++) {
		lab.refs[i].mult = 3ull << 31;
		lab.refs[i].counter0 = 1000;
		lab.refs[i].ns0 = 77;
	}
	for (int i = 0; i < 100; i++) {
		struct ring_op op = lab_op(&lab, payload, 16);

		before = section_counter();
		CHECK(ring_write(rs, &op) == RING_DONE, "write");
		after = section_counter();
		lab_cursor(&lab, op.cpu, &cursor);
		while (cursor_peek(&cursor) > 0 && cursor.event.ts < 77 + (before - 1000) * 3 / 2)
			cursor_pass(&cursor);
		CHECK(cursor.peeked && cursor.event.ts <= 77 + (after - 1000) * 3 / 2 + 1, "the scaled time is off");
		cursor_close(&cursor);
	}
	lab_close(&lab);
}

int main(void)
{
	run(4, 4096);
	run(7, 4096);
	run(16, 8192);
	backwards();
	counter();
	return 0;
}
