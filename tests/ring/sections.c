/*
 * ring/sections - the assembler of this CPU does what ring/core.h says, store for store.
 *
 * Each turn draws a ring (sound, or with words that make no sense), an event and a CPU, gives the
 * same to a section and to a plain C rendering of the contract, and compares everything: the
 * result, every byte of the ring, what comes back in the event, and the fields of struct rseq that
 * are not ours. Guard pages with known bytes lie on either side of the ring, so a store outside it
 * shows (R16). The rseq area is one of our own that the kernel does not know, so nothing is ever
 * aborted.
 *
 *   sections [SEED [TURNS]]
 *
 * A failure prints the seed of its turn; `sections SEED 1` repeats it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "spoil.h"
#include "fast.h"

#define NCPU	   3u
#define NPAGES_MAX 8u
#define PAGE_MAX   8192u
#define GUARD	   8192u

struct arena {
	unsigned char before[GUARD];
	unsigned char head[4096];
	uint64_t first[512];
	unsigned char pages[NPAGES_MAX * PAGE_MAX];
	unsigned char after[GUARD];
} __attribute__((aligned(4096)));

/* One drawn case. Both sides get a copy of `arena` and of `op`. */
struct scene {
	struct arena arena;
	struct ring_op op;
	struct ring_ref ref; /* pointers are filled in for each side */
	uint64_t published;
	uint32_t cpu_id;
	bool usable; /* the CPU's ref has a head */
	unsigned char payload[(RING_PAYLOAD_MAX + 16) / 8 * 8] __attribute__((aligned(8)));
};

static struct scene scene;
static struct arena got, want;
static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

static uint64_t below(uint64_t n)
{
	return (draw() >> 11) % n;
}

static bool one_in(uint64_t n)
{
	return below(n) == 0;
}

/* A counter that is small, anything, or about to wrap. */
static uint64_t draw_count(void)
{
	switch (below(4)) {
	case 0:
		return below(100);
	case 1:
		return ~0ull - below(3);
	case 2:
		return (1ull << 32) - 2 + below(4);
	default:
		return draw();
	}
}

/* Times that lie before, at, or so far behind the last that every way of writing them is met. */
static uint64_t draw_time(uint64_t last)
{
	static const unsigned bits[] = {0, 10, 27, 32, 59, 63};

	switch (below(4)) {
	case 0:
		return last - below(1000);
	case 1:
		return last + below(1000);
	case 2:
		return last + (1ull << bits[below(6)]) - 2 + below(4);
	default:
		return draw();
	}
}

/* The tail that follows; an index that is none is past the last page. */
static uint64_t page_after(const struct ring_ref *ref, uint64_t tail)
{
	uint64_t index = tail & RING_INDEX_MASK;

	return index + 1 < ref->npages ? tail + 1 : tail - index + RING_LAP;
}

/* ---- drawing ---- */

static void draw_ref(struct ring_ref *ref)
{
	ref->npages = RING_NPAGES_MIN + (uint32_t)below(NPAGES_MAX - RING_NPAGES_MIN + 1);
	ref->page_shift = one_in(3) ? 13 : 12;
	ref->data_size = (1u << ref->page_shift) - PAGE_HEAD_SIZE;
	ref->flags = one_in(2) ? RING_REF_OVERWRITE : 0;
	ref->mult = draw();
	ref->counter0 = draw();
	ref->ns0 = draw();
}

static uint64_t draw_tail(const struct ring_ref *ref)
{
	uint64_t lap = draw_count();
	uint64_t index = below(ref->npages);

	if (one_in(4))
		index = ref->npages - 1;
	if (one_in(20))
		index = draw() & RING_INDEX_MASK;
	return lap << RING_INDEX_BITS | index;
}

/* Mostly what leaves room for an event of this size or just does not. */
static uint64_t draw_commit(const struct ring_ref *ref, const struct ring_op *op)
{
	uint64_t room = ref->data_size - op->need - op->extend;

	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return room;
	case 2:
		return room + 4;
	case 3:
		return one_in(4) ? draw() : room - 4 + below(12);
	case 4:
		return one_in(4) ? below(room) | 1ull << (32 + below(32)) : ref->data_size;
	default:
		return below(room / 4 + 1) * 4;
	}
}

static void draw_op(struct ring_op *op)
{
	uint32_t len = 8 + 4 * (uint32_t)below(one_in(4) ? (RING_PAYLOAD_MAX - 8) / 4 + 1 : 40);

	memset(op, 0, sizeof(*op));
	ring_op_payload(op, scene.payload + below(8), len);
	/* No state has the greatest. */
	op->generation = draw_count() & ~(1ull << 63);
	op->ncpu = NCPU;
	op->extend = one_in(4) ? EVENT_EXTEND_SIZE : 0;
}

static void draw_slots(struct ring_head *head, uint64_t pos, uint64_t ts)
{
	unsigned now = (unsigned)below(2);

	for (unsigned i = 0; i < 2; i++) {
		head->slot[i].tag = one_in(2) ? draw() : pos + 1 - below(3);
		head->slot[i].ts = draw();
		head->slot[i].nr = draw_count();
	}
	if (!one_in(20))
		head->slot[now].tag = pos;
	head->slot[now].ts = ts;
}

/* No two words alike, and cheap: under an emulator this is most of a turn. */
static void fill(void *at, size_t size)
{
	uint64_t *word = at;
	uint64_t value = draw();

	for (size_t i = 0; i < size / 8; i++)
		word[i] = value += 0x9e3779b97f4a7c15ull;
}

static void draw_scene(void)
{
	struct ring_head *head = (struct ring_head *)(void *)scene.arena.head;
	uint64_t ts = draw_count();
	uint64_t tail, index;
	struct page_head *page;

	fill(&scene.arena, sizeof(scene.arena));
	fill(scene.payload, sizeof(scene.payload));
	draw_ref(&scene.ref);
	draw_op(&scene.op);
	tail = draw_tail(&scene.ref);
	index = tail & RING_INDEX_MASK;
	page = (struct page_head *)(void *)(scene.arena.pages +
					    ((index % scene.ref.npages) << scene.ref.page_shift));
	page->commit = draw_commit(&scene.ref, &scene.op);
	head->tail = tail;
	head->dropped = draw_count();
	head->consumed = draw();
	if (one_in(2))
		head->consumed = ring_pos(page_after(&scene.ref, page_after(&scene.ref, tail)) -
						  RING_LAP,
					  below(1u << RING_OFFSET_BITS));
	if (one_in(4))
		head->consumed ^= 1ull << below(64);
	draw_slots(head, ring_pos(tail, page->commit), ts);
	scene.op.ts = draw_time(ts);
	scene.op.tail = one_in(8) ? draw() : tail;
	scene.published = one_in(30) ? scene.op.generation ^ 1ull << below(64)
				     : scene.op.generation;
	scene.cpu_id = (uint32_t)below(NCPU);
	if (one_in(30))
		scene.cpu_id = one_in(2) ? NCPU + (uint32_t)below(3) : ~(uint32_t)below(3);
	scene.op.cpu = one_in(20) ? (uint32_t)below(NCPU) : scene.cpu_id;
	scene.usable = !one_in(30);
}

/* ---- the contract in C ---- */

static struct page_head *page_of(const struct ring_ref *ref, uint64_t index)
{
	return (struct page_head *)(void *)(ref->pages + (index << ref->page_shift));
}

static enum ring_result model_find(const struct ring_op *op, uint32_t cpu,
				   const struct ring_ref **ref)
{
	if (cpu >= op->ncpu)
		return RING_NOWHERE;
	if (*op->published != op->generation)
		return RING_STALE;
	*ref = &op->refs[cpu];
	return (*ref)->head ? RING_DONE : RING_NOWHERE;
}

/* Header and payload; false when the time cannot be told by an extend. */
static bool model_event(unsigned char *at, const struct ring_op *op, uint64_t delta, bool extend)
{
	uint32_t word;

	if (extend) {
		word = (uint32_t)(delta & EVENT_DELTA_MAX) << EVENT_TYPE_BITS |
		       EVENT_TYPE_TIME_EXTEND;
		memcpy(at, &word, 4);
		word = (uint32_t)(delta >> EVENT_DELTA_BITS);
		memcpy(at + 4, &word, 4);
		if (delta >= 1ull << (EVENT_DELTA_BITS + 32))
			return false;
		delta = 0;
		at += 8;
	}
	word = (uint32_t)delta << EVENT_TYPE_BITS | op->word;
	memcpy(at, &word, 4);
	if (op->extra) {
		word = op->len + 4;
		memcpy(at + 4, &word, 4);
	}
	memcpy(at + 4 + op->extra, op->payload, op->len);
	return true;
}

static enum ring_result model_write(struct ring_op *op, uint32_t cpu)
{
	const struct ring_ref *ref;
	enum ring_result found = model_find(op, cpu, &ref);
	struct ring_head *head;
	struct ring_slot *now, *other;
	struct page_head *page;
	uint64_t tail, pos, ts, delta, extend = op->extend;

	if (found != RING_DONE)
		return found;
	head = ref->head;
	tail = head->tail;
	op->cpu = cpu;
	op->tail = tail;
	if ((tail & RING_INDEX_MASK) >= ref->npages)
		return RING_CORRUPT;
	page = page_of(ref, tail & RING_INDEX_MASK);
	if (page->commit > ref->data_size - op->need - extend)
		return RING_FULL;
	pos = ring_pos(tail, page->commit);
	now = head->slot[0].tag == pos ? &head->slot[0] : &head->slot[1];
	other = now == &head->slot[0] ? &head->slot[1] : &head->slot[0];
	if (now->tag != pos)
		return RING_CORRUPT;
	ts = op->ts < now->ts ? now->ts : op->ts;
	delta = ts - now->ts;
	if (page->commit == 0) {
		page->time_stamp = ts;
		delta = extend = 0;
	} else if (!extend && delta > EVENT_DELTA_MAX) {
		return RING_EXTEND;
	}
	if (!model_event((unsigned char *)(page + 1) + page->commit, op, delta, extend))
		return RING_FULL;
	*other = (struct ring_slot){.tag = ring_pos(tail, page->commit + op->need + extend),
				    .ts = ts,
				    .nr = now->nr + 1,
				    .reserved = other->reserved};
	page->commit += op->need + extend;
	op->ts = ts;
	return RING_DONE;
}

static enum ring_result model_switch(struct ring_op *op, uint32_t cpu)
{
	const struct ring_ref *ref;
	enum ring_result found = model_find(op, cpu, &ref);
	struct ring_head *head;
	struct ring_slot *now, *other;
	uint64_t tail, next, index, read;

	if (found != RING_DONE)
		return found;
	head = ref->head;
	tail = head->tail;
	index = tail & RING_INDEX_MASK;
	if (op->cpu != cpu || op->tail != tail)
		return RING_AGAIN;
	next = page_after(ref, tail);
	read = ring_pos(page_after(ref, next) - RING_LAP, 0);
	if (!(ref->flags & RING_REF_OVERWRITE) &&
	    head->consumed >> RING_OFFSET_BITS << RING_OFFSET_BITS == read) {
		head->dropped++;
		return RING_DROPPED;
	}
	now = &head->slot[1];
	if (index < ref->npages && head->slot[0].tag == ring_pos(tail, page_of(ref, index)->commit))
		now = &head->slot[0];
	other = now == &head->slot[0] ? &head->slot[1] : &head->slot[0];
	index = next & RING_INDEX_MASK;
	page_of(ref, index)->commit = 0;
	ref->first[index] = now->nr + head->dropped;
	*other = (struct ring_slot){.tag = ring_pos(next, 0),
				    .ts = now->ts,
				    .nr = now->nr,
				    .reserved = other->reserved};
	head->tail = next;
	return RING_SWITCHED;
}

/* ---- the comparison ---- */

/*
 * The scene's event for one side: its own copy of the ring, behind the reference of the CPU at
 * hand.
 */
static struct ring_op side(struct arena *arena, struct ring_ref *refs)
{
	struct ring_op op = scene.op;

	memcpy(arena, &scene.arena, sizeof(*arena));
	for (uint32_t i = 0; i < NCPU; i++) {
		/* What belongs to other CPUs is not to be looked at. */
		refs[i] = scene.ref;
		refs[i].head = NULL;
		refs[i].pages = NULL;
		refs[i].first = NULL;
	}
	if (scene.cpu_id < NCPU && scene.usable) {
		refs[scene.cpu_id].head = (struct ring_head *)(void *)arena->head;
		refs[scene.cpu_id].pages = arena->pages;
		refs[scene.cpu_id].first = arena->first;
	}
	op.refs = refs;
	op.published = &scene.published;
	return op;
}

static bool same_arena(void)
{
	const unsigned char *a = (const unsigned char *)&got, *b = (const unsigned char *)&want;
	size_t at = 0;

	if (!memcmp(a, b, sizeof(got)))
		return true;
	while (a[at] == b[at])
		at++;
	printf("byte %td of the ring is %02x instead of %02x\n",
	       (ptrdiff_t)at - (ptrdiff_t)offsetof(struct arena, head), a[at], b[at]);
	return false;
}

typedef enum ring_result section_fn(struct ring_rseq *rs, struct ring_op *op);
typedef enum ring_result model_fn(struct ring_op *op, uint32_t cpu);

static enum ring_result turn(section_fn *section, model_fn *model, bool *ok)
{
	static struct ring_ref got_refs[NCPU], want_refs[NCPU];
	struct ring_op got_op = side(&got, got_refs);
	struct ring_op want_op = side(&want, want_refs);
	struct ring_rseq rs = {.cpu_id_start = 0xaaaaaaaa, .cpu_id = scene.cpu_id, .flags = 0};
	struct ring_rseq before = rs;
	enum ring_result a, b;

	registers_spoil();
	a = section(&rs, &got_op);
	b = model(&want_op, scene.cpu_id);
	before.rseq_cs = rs.rseq_cs;
	if (a != b) {
		printf("result %d instead of %d\n", a, b);
		*ok = false;
	}
	if (got_op.cpu != want_op.cpu || got_op.tail != want_op.tail) {
		printf("cpu %u and tail %llx instead of %u and %llx\n", got_op.cpu,
		       (unsigned long long)got_op.tail, want_op.cpu,
		       (unsigned long long)want_op.tail);
		*ok = false;
	}
	if (memcmp(&rs, &before, sizeof(rs)) || !rs.rseq_cs) {
		printf("struct rseq has been changed\n");
		*ok = false;
	}
	*ok &= same_arena();
	return a;
}

/*
 * The section for the common case does what WRITE does, or nothing. It always reads the counter;
 * with a mult of 0 the time is ns0 whatever that says.
 */
static bool fast_turn(unsigned *seen)
{
#ifdef SECTION_FAST
	static struct ring_ref got_refs[NCPU], want_refs[NCPU];
	struct ring_rseq rs = {.cpu_id = scene.cpu_id};
	struct ring_near near = {.generation = RING_NEAR_NONE};
	struct ring_op got_op, want_op;
	enum ring_result a, b;
	bool common, stamped, told;
	uint64_t ts = 0;

	scene.op.extend = 0;
	scene.ref.flags |= RING_REF_COUNTER;
	scene.ref.mult = 0;
	scene.ref.ns0 = scene.op.ts;
	if (scene.op.extra)
		ring_op_payload(&scene.op, scene.op.payload,
				8 + scene.op.len % (EVENT_LEN_MAX_SHORT - 4));
	stamped = scene.op.len == 48;
	got_op = side(&got, got_refs);
	want_op = side(&want, want_refs);
	registers_spoil();
	if (stamped)
		a = section_near(&rs, &near, got_op.refs, got_op.ncpu, got_op.published, got_op.generation) == RING_DONE ?
			    section_stamped48(&rs, &near, got_op.published, got_op.generation, got_op.payload, 48, &ts) :
			    RING_AGAIN;
	else
		a = fast_write_told(&rs, &near, &got_op);
	ts = stamped ? ts : got_op.ts;
	b = model_write(&want_op, scene.cpu_id);
	/* A page's first event is left to section_write(). */
	common = b == RING_DONE &&
		 page_of(&want_refs[scene.cpu_id], want_op.tail & RING_INDEX_MASK)->commit !=
			 want_op.need;
	/* Those for functions say so when somebody waits for each event. */
	told = (stamped || got_op.len == 20 || got_op.len == 24) && common &&
	       got_refs[scene.cpu_id].head->waiters & RING_WAIT_EVENT;
	seen[a]++;
	if (!rs.rseq_cs || a != (!common ? RING_AGAIN : told ? RING_WAITED : RING_DONE) ||
	    (common && (near.head != got_refs[scene.cpu_id].head || ts != want_op.ts))) {
		printf("section_fast: %d for section_write's %d, or no ring, another time, or no section\n", a,
		       b);
		return false;
	}
	if (!common) {
		memcpy(&want, &scene.arena, sizeof(want));
	} else if (stamped) {
		struct page_head *page = page_of(&want_refs[scene.cpu_id], want_op.tail & RING_INDEX_MASK);

		memcpy((char *)(page + 1) + page->commit - 8, &ts, sizeof(ts));
	}
	return same_arena();
#else
	seen[RING_DONE]++;
	seen[RING_AGAIN]++;
	seen[RING_WAITED]++;
	return true;
#endif
}

/* ---- the clock ---- */

/* value * mult >> 32 rounded down, by the bits of mult. */
static uint64_t scale(int64_t value, uint64_t mult)
{
	uint64_t v = (uint64_t)value, whole = 0, part = 0;

	for (unsigned i = 0; i < 64; i++) {
		if (!(mult >> i & 1))
			continue;
		if (i >= 32) {
			whole += v << (i - 32);
		} else {
			whole += (uint64_t)(value >> (32 - i));
			part += v << i & 0xffffffff;
		}
	}
	return whole + (part >> 32);
}

/* A page that is current and empty, and a clock that began up to some minutes ago or will. */
static void counter_scene(void)
{
	struct ring_head *head = (struct ring_head *)(void *)scene.arena.head;
	struct page_head *page = (struct page_head *)(void *)scene.arena.pages;
	int64_t ahead = (int64_t)below(1ull << (1 + below(40))) * (one_in(2) ? 1 : -1);

	scene.ref.flags |= RING_REF_COUNTER;
	scene.ref.counter0 = section_counter() + (uint64_t)ahead;
	scene.ref.mult = one_in(2) ? (1ull << 32) / (1 + below(5)) : below(64ull << 32);
	scene.ref.ns0 = 1ull << 62;
	scene.op.extend = 0;
	head->tail = 0;
	page->commit = 0;
	head->slot[0] = (struct ring_slot){.tag = 0, .ts = 0, .nr = 0};
}

static uint64_t counter_time(uint64_t reading)
{
	return scene.ref.ns0 + scale((int64_t)(reading - scene.ref.counter0), scene.ref.mult);
}

/* The last event's time lies between two readings of the counter. */
static bool counter_between(uint64_t low, uint64_t high)
{
	const struct ring_head *head = (const struct ring_head *)(const void *)got.head;
	const struct page_head *page = (const struct page_head *)(const void *)got.pages;
	uint64_t ts = head->slot[head->slot[0].tag != ring_pos(head->tail, page->commit)].ts;

	low = counter_time(low);
	high = counter_time(high);
	if (ts - low <= high - low)
		return true;
	printf("the time is %lld after a reading before it, %lld before one after it\n",
	       (long long)(ts - low), (long long)(high - ts));
	return false;
}

/* Sections that read the counter themselves. */
static bool counter_turn(void)
{
	struct ring_ref refs[NCPU];
	struct ring_op op;
	struct ring_rseq rs = {.cpu_id = scene.cpu_id};
	uint64_t low;
	bool ok;

	counter_scene();
	op = side(&got, refs);
	low = section_counter();
	if (section_write(&rs, &op) != RING_DONE)
		return true; /* a CPU or a generation that is none */
	ok = counter_between(low, section_counter());
#ifdef SECTION_FAST
	struct ring_near near = {.generation = RING_NEAR_NONE};
	uint64_t start = low;

	ring_op_payload(&op, op.payload, 8);
	low = section_counter();
	if (fast_write(&rs, &near, &op) == RING_DONE)
		return counter_between(low, section_counter()) && ok;
	/* Only if there is no room or if it took very long. */
	ok &= op.need + 12 > scene.ref.data_size ||
	      counter_time(section_counter()) - counter_time(start) > EVENT_DELTA_MAX;
	if (!ok)
		printf("section_fast has not written\n");
#endif
	return ok;
}

/* Each result has to come up, or the drawing is worth little. */
static bool all_seen(const unsigned *seen, const enum ring_result *list, unsigned n,
		     const char *what)
{
	bool ok = true;

	for (unsigned i = 0; i < n; i++) {
		if (!seen[list[i]]) {
			printf("%s never ended with result %d\n", what, list[i]);
			ok = false;
		}
	}
	return ok;
}

int main(int argc, char **argv)
{
	static const enum ring_result writes[] = {RING_DONE,  RING_FULL,    RING_EXTEND,
						  RING_STALE, RING_NOWHERE, RING_CORRUPT};
	static const enum ring_result switches[] = {RING_SWITCHED, RING_DROPPED, RING_AGAIN,
						    RING_STALE, RING_NOWHERE};
	static const enum ring_result fasts[] = {RING_DONE, RING_AGAIN, RING_WAITED};
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0x9e3779b97f4a7c15ull;
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 20000;
	unsigned write_seen[16] = {0}, switch_seen[16] = {0}, fast_seen[16] = {0};
	bool ok = true;

	for (unsigned long i = 0; i < turns && ok; i++, seed = draw()) {
		state = seed ? seed : 1;
		draw_scene();
		write_seen[turn(section_write, model_write, &ok)]++;
		switch_seen[turn(section_switch, model_switch, &ok)]++;
		ok &= fast_turn(fast_seen);
		ok &= counter_turn();
		if (!ok)
			printf("seed %#llx\n", (unsigned long long)seed);
	}
	if (ok && turns > 1000) {
		ok &= all_seen(write_seen, writes, 6, "section_write");
		ok &= all_seen(switch_seen, switches, 5, "section_switch");
		ok &= all_seen(fast_seen, fasts, 3, "section_fast");
	}
	return ok ? 0 : 1;
}
