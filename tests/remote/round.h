/*
 * A counter of ROUND_BITS bits that comes round thousands of times: whatever lies between two looks, if it is less than a round, times go on rightly,
 * to the tick, through pages of each size, over pauses that the writer only ticked through, and for a reader that sees a few pages now and then.
 * The counter is the test's own, so that a thousand rounds take no time.
 */
#include <stdint.h>

static uint64_t round_now;

#define ROUND_MASK ((1ull << ROUND_BITS) - 1)
#define PORT_CLOCK_OWN 1
#define PORT_CLOCK_BITS ROUND_BITS
#define PORT_CLOCK_HZ 32000000u
static inline uint32_t port_clock(void)
{
	return (uint32_t)(round_now & ROUND_MASK);
}

/* Its own writer, beside the one that is linked. */
#define ringside_fw_hosted_size round_fw_size
#define ringside_fw_hosted_init round_fw_init
#define ringside_fw_hosted_open round_fw_open
#define ringside_fw_hosted_write round_fw_write
#define ringside_fw_hosted_tick round_fw_tick
#include "fw/hosted.c"

#include "hosted_lab.h"

#define EVENTS 20000u
#define WORDS_MAX 20u

static struct lab lab;

struct event {
	uint16_t id, words;
	uint32_t seq;
	uint32_t when[2];	/* the time as it is, with all its bits */
	uint32_t more[WORDS_MAX];
};
#define EVENT_WORDS 4u

/* What a reader goes by. */
struct seen {
	struct remote_cursor cursor;
	uint64_t events, lost;
};

static uint64_t pass(uint64_t *state)
{
	uint64_t step = ((uint64_t)draw(state) << 16 ^ draw(state)) & ROUND_MASK;

	/* Short ones, ones that an event's own bits just hold or do not, and ones of a round but for a tick. */
	switch (draw(state) % 8) {
	case 0:
		return ROUND_MASK;
	case 1:
		return step;
	case 2:
		return ((1ull << 27) - 2 + draw(state) % 4) & ROUND_MASK;
	default:
		return step & 0xffff;
	}
}

static void write_one(uint32_t seq, uint64_t *state)
{
	struct event event = { .id = LAB_ID, .words = (uint16_t)(EVENT_WORDS + draw(state) % WORDS_MAX), .seq = seq };

	round_now += pass(state);
	while (draw(state) % 3 == 0) {
		ringside_fw_hosted_tick(&lab.fw, 0);
		round_now += pass(state);
	}
	memcpy(event.when, &round_now, sizeof(round_now));
	ringside_fw_hosted_write(&lab.fw, 0, &event, event.words);
}

static void look_at(const struct page_event *event, const char *where)
{
	struct event have;
	uint64_t when;

	memcpy(&have, event->data, event->len < sizeof(have) ? event->len : sizeof(have));
	memcpy(&when, have.when, sizeof(when));
	CHECK(event->len == have.words * 4u && have.id == LAB_ID, "%s: not an event", where);
	CHECK(event->ts == when, "%s: event %u is of %#llx, and its time says %#llx", where, have.seq, (unsigned long long)when,
	      (unsigned long long)event->ts);
}

static bool read_page(struct seen *seen, const char *where)
{
	uint32_t words[TARGET_PAGE_MAX / 4];
	struct remote_page page = { .bytes = (unsigned char *)words };
	struct err err = ERR_INIT;
	struct page_event event;
	struct page_walk walk;
	uint32_t events = 0;
	int r = remote_ring_next(&lab.target, &lab.memory, 0, &seen->cursor, &page, &err);

	CHECK(r >= 0, "%s: %s", where, err.text);
	if (!r)
		return false;
	CHECK(!page_walk_init_abi(&walk, page.bytes, lab.target.page_size, &lab.target.abi), "%s: no page", where);
	while ((r = page_walk_next(&walk, &event)) > 0) {
		if (event.offset < page.from)
			continue;
		look_at(&event, where);
		events++;
	}
	CHECK(!r, "%s: a page does not parse", where);
	seen->lost += page.lost;
	seen->events += events;
	remote_ring_taken(&lab.target, &seen->cursor, &page, page.commit, events);
	return true;
}

static void run(uint32_t shift, uint32_t flags)
{
	uint64_t state = 88172645463325252ull + shift + flags;
	struct seen seen = { .events = 0 };
	char where[64];

	snprintf(where, sizeof(where), "%d bits, pages of %u bytes%s", ROUND_BITS, 1u << shift, flags ? ", discarding" : "");
	/* A counter shows no more than that of the time before it was first looked at. */
	round_now = 5;
	lab_open(&lab, 1, 8, shift, flags);
	for (uint32_t seq = 0; seq < EVENTS; seq++) {
		write_one(seq, &state);
		while (draw(&state) % 16 < 2 && read_page(&seen, where))
			;
		lab.fw.rings[0].consumed = seen.cursor.number;
	}
	while (read_page(&seen, where))
		;
	seen.lost += lab.fw.rings[0].count - seen.cursor.count;
	CHECK(seen.events + seen.lost == EVENTS, "%s: %llu seen and %llu lost of %u", where, (unsigned long long)seen.events,
	      (unsigned long long)seen.lost, EVENTS);
	CHECK(seen.events > EVENTS / 10, "%s: %llu seen, which proves little", where, (unsigned long long)seen.events);
	printf("%-40s %llu seen, %llu rounds\n", where, (unsigned long long)seen.events,
	       (unsigned long long)(round_now >> ROUND_BITS));
	CHECK(round_now >> ROUND_BITS > 1000, "%s: too few rounds", where);
	lab_close(&lab);
}

int main(void)
{
	for (uint32_t shift = 8; shift <= 12; shift++)
		for (uint32_t flags = 0; flags <= RINGSIDE_FW_DISCARD; flags++)
			run(shift, flags);
	return 0;
}
