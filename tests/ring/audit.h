/*
 * What every test of the ring asks of it: records that can be told from any others, and a look at
 * all of a ring's words.
 *
 * A record holds its number, its length and its time, and every byte behind those follows from the
 * number. The audit looks through the mapping, so it must have the ring to itself; R numbers in its
 * messages are those it finds broken.
 */
#ifndef TESTS_RING_AUDIT_H
#define TESTS_RING_AUDIT_H

#include "ring/lab.h"

struct record {
	uint32_t id;
	uint32_t len;
	uint64_t ts; /* what the reader must see; 0 when the section reads the clock */
	unsigned char bytes[RING_PAYLOAD_MAX - 16];
};

#define RECORD_MIN 16u

static inline unsigned char record_byte(uint32_t id, uint32_t at)
{
	return (unsigned char)((id * 0x9e3779b1u >> 13) + at * 31);
}

static inline void record_fill(struct record *record, uint32_t id, uint32_t len, uint64_t ts)
{
	record->id = id;
	record->len = len;
	record->ts = ts;
	for (uint32_t i = 0; i < len - RECORD_MIN; i++)
		record->bytes[i] = record_byte(id, i);
}

/* NULL when the bytes are a whole record, else what is wrong with them. */
static inline const char *record_wrong(const void *data, uint32_t len, uint64_t ts,
				       struct record *record)
{
	if (len < RECORD_MIN || len > sizeof(*record))
		return "a length that nobody wrote";
	memcpy(record, data, len);
	if (record->len != len)
		return "another length than it was written with";
	for (uint32_t i = 0; i < len - RECORD_MIN; i++)
		if (record->bytes[i] != record_byte(record->id, i))
			return "torn bytes";
	if (record->ts && record->ts != ts)
		return "another time than it was written with";
	return NULL;
}

/* One ring and what is known of it from outside. */
struct audit {
	const struct lab *lab;
	uint32_t ring;
	bool twin;	   /* a CPU word goes before each record */
	bool dropping;	   /* numbers count drops, ids do not */
	uint64_t begin;	   /* the tail word at which the ring was started */
	const char *where; /* for messages */
	/* found */
	uint64_t nr; /* events ever committed */
	uint64_t ts; /* time of the last */
	uint64_t dropped;
	uint32_t seen; /* events still there */
};

static inline struct page_head *audit_page(const struct audit *audit, uint64_t tail)
{
	return (void *)(audit->lab->refs[audit->ring].pages +
			(size_t)((uint32_t)tail & RING_INDEX_MASK) * audit->lab->page_size);
}

/* R4: one slot and no other is in force. */
static inline const struct ring_slot *audit_slot(const struct audit *audit)
{
	const struct ring_head *head = lab_head(audit->lab, audit->ring);
	uint64_t pos = ring_pos(head->tail, audit_page(audit, head->tail)->commit);
	int matches = (head->slot[0].tag == pos) + (head->slot[1].tag == pos);

	CHECK(matches == 1, "R4: %s: %d slots are in force", audit->where, matches);
	return &head->slot[head->slot[0].tag == pos ? 0 : 1];
}

/* R1, R5: the page's bytes are whole events, in order of time; *number is the first one's and
 * becomes the next one's. */
static inline void audit_events(struct audit *audit, uint64_t tail, uint64_t *number, uint64_t *ts)
{
	const struct page_head *page = audit_page(audit, tail);
	uint32_t skip = audit->twin ? 4 : 0;
	struct page_walk walk;
	struct page_event event;
	struct record record;
	int ret;

	CHECK(page->commit <= audit->lab->page_size - PAGE_HEAD_SIZE &&
		      !page_walk_init(&walk, page, audit->lab->page_size),
	      "R1: %s: page %llx has commit %llx", audit->where, (unsigned long long)tail,
	      (unsigned long long)page->commit);
	while ((ret = page_walk_next(&walk, &event)) > 0) {
		const char *wrong = event.len < skip
					    ? "no CPU"
					    : record_wrong((const char *)event.data + skip,
							   event.len - skip, event.ts, &record);

		CHECK(!wrong, "R1: %s: page %llx offset %u: %s", audit->where,
		      (unsigned long long)tail, event.offset, wrong);
		CHECK(event.ts >= *ts, "R5: %s: time goes back at event %u", audit->where,
		      record.id);
		CHECK(audit->dropping || record.id == (uint32_t)*number,
		      "R6: %s: event %u where %u belongs", audit->where, record.id,
		      (uint32_t)*number);
		*ts = event.ts;
		++*number;
		audit->seen++;
	}
	CHECK(!ret, "R1: %s: page %llx does not parse to its end", audit->where,
	      (unsigned long long)tail);
}

/* The page that a switch is about to enter holds what was there, or nothing: whole events either
 * way. */
static inline void audit_next_page(const struct audit *audit, uint64_t oldest)
{
	struct audit aside = *audit;
	uint64_t number = 0, ts = 0;

	aside.dropping = true;
	audit_events(&aside, oldest, &number, &ts);
}

static inline void audit_ring(struct audit *audit)
{
	struct ring_source source = lab_source(audit->lab, audit->ring);
	const struct ring_head *head = lab_head(audit->lab, audit->ring);
	const uint64_t *first = audit->lab->refs[audit->ring].first;
	const struct ring_slot *slot = audit_slot(audit);
	int64_t pages = ring_distance(&source, audit->begin, head->tail),
		reach = (int64_t)audit->lab->npages - 2;
	uint64_t tail, number = 0, ts = 0;

	CHECK(pages >= 0, "%s: the tail lies before the beginning", audit->where);
	if (pages > reach) {
		audit_next_page(audit, ring_page_step(&source, head->tail, -reach - 1));
		pages = reach;
	}
	audit->seen = 0;
	for (int64_t i = pages; i >= 0; i--) {
		tail = ring_page_step(&source, head->tail, -i);
		CHECK(i == pages || first[tail & RING_INDEX_MASK] == number || audit->dropping,
		      "R6: %s: page %llx says its first event is %llu, not %llu", audit->where,
		      (unsigned long long)tail, (unsigned long long)first[tail & RING_INDEX_MASK],
		      (unsigned long long)number);
		number = first[tail & RING_INDEX_MASK];
		CHECK(!audit_page(audit, tail)->commit || audit_page(audit, tail)->time_stamp >= ts,
		      "R5: %s: page %llx begins before the last one's end", audit->where,
		      (unsigned long long)tail);
		audit_events(audit, tail, &number, &ts);
	}
	CHECK(audit->dropping || slot->nr == number,
	      "R4: %s: the slot counts %llu events, not %llu", audit->where,
	      (unsigned long long)slot->nr, (unsigned long long)number);
	CHECK(!audit->seen || slot->ts == ts, "R4: %s: the slot's time is %llu, not %llu",
	      audit->where, (unsigned long long)slot->ts, (unsigned long long)ts);
	audit->nr = slot->nr;
	audit->ts = slot->ts;
	audit->dropped = head->dropped;
}

/* Small, quick, and the same on every machine. */
static inline uint32_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state * 0x2545f4914f6cdd1dull >> 32);
}

#endif
