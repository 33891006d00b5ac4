/*
 * R10, R6: overflow rings under more threads than there are slots, and what the death of an owner
 * leaves.
 *
 * Slots: a free one is given to whoever comes first; one whose owner died is taken over, by one
 * heir; one whose owner lives never is, and nobody waits for it. Accounts: every attempt is
 * committed, dropped or turned away, and readers that look on get all of the committed ones but
 * those they count as lost.
 *
 * This is the test that the thread sanitizer sees through: the twin is C. A word of the test's own
 * that each owner changes without atomics shows whether take and release order owners; a reader
 * that looks at committed bytes without atomics shows whether commit and tail order those. It needs
 * a ring that is never lapped; where laps are meant, it reads words.
 */
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/wait.h>

#include "ring/audit.h"

#define NCPU 2u
#define THREADS 6u

static struct lab lab;
static unsigned asked; /* how often anybody was asked whether an owner is dead */

static bool nobody_dead(uint64_t owner)
{
	(void)owner;
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return false;
}

static bool owner_dead(uint64_t owner)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return kill((pid_t)(owner >> 32), 0) && errno == ESRCH;
}

/* ---- slots ---- */

static void check_free_and_held(void)
{
	struct overflow_slot slots[3] = { 0 };

	asked = 0;
	CHECK(ring_overflow_take(slots, 3, 1, 101, nobody_dead) == 1,
	      "R10: not the slot that was asked for");
	CHECK(ring_overflow_take(slots, 3, 1, 102, nobody_dead) == 2,
	      "R10: not the next free slot");
	CHECK(ring_overflow_take(slots, 3, 1, 103, nobody_dead) == 0,
	      "R10: not the last free slot");
	CHECK(!asked, "R10: somebody was taken for dead while slots were free");
	CHECK(ring_overflow_take(slots, 3, 1, 104, nobody_dead) == -1,
	      "R10: a living owner's slot was given away");
	CHECK(asked == 3, "R10: not every owner was looked at");
	CHECK(slots[0].owner == 103 && slots[1].owner == 101 && slots[2].owner == 102,
	      "R10: owners changed");
	ring_overflow_release(&slots[2]);
	CHECK(ring_overflow_take(slots, 3, 0, 104, nobody_dead) == 2,
	      "R10: the released slot was not found");
	CHECK(slots[0].taken == 1 && slots[1].taken == 1 && slots[2].taken == 2,
	      "R10: acquisitions miscounted");
}

/* A child takes a slot, writes an event and dies in the midst of the next. */
static void check_inheritance(void)
{
	struct audit audit = {
		.lab = &lab, .ring = NCPU + 1, .twin = true, .where = "after the heir"
	};
	struct record record;
	struct ring_op op;
	uint64_t me = (uint64_t)getpid() << 32 | 5;
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		int slot = ring_overflow_take(lab.slots, NCPU, 1, (uint64_t)getpid() << 32 | 9,
					      owner_dead);

		record_fill(&record, 0, 40, 77);
		op = lab_op(&lab, &record, 40);
		op.ts = 77;
		if (slot != 1 || ring_twin_write(&lab.refs[NCPU + 1], &op, 0) != RING_DONE)
			_exit(1);
		raise(SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status),
	      "R10: the child could not write: %#x", status);
	CHECK(lab.slots[1].owner >> 32 == (uint64_t)pid, "R10: the dead one's slot was freed");
	CHECK(ring_overflow_take(lab.slots, NCPU, 1, me, owner_dead) == 0,
	      "R10: the free slot comes first");
	CHECK(ring_overflow_take(lab.slots, NCPU, 0, me + 1, owner_dead) == 1,
	      "R10: the dead one's slot is not had");
	CHECK(lab.slots[0].owner == me, "R10: a living owner's slot was taken");
	record_fill(&record, 1, 24, 99);
	op = lab_op(&lab, &record, 24);
	op.ts = 99;
	CHECK(ring_twin_write(&lab.refs[NCPU + 1], &op, 0) == RING_DONE,
	      "R10: the heir cannot write");
	audit_ring(&audit);
	CHECK(audit.nr == 2 && audit.seen == 2, "R10: %u events", audit.seen);
	ring_overflow_release(&lab.slots[0]);
	ring_overflow_release(&lab.slots[1]);
}

/* ---- writers ---- */

struct tally {
	uint64_t attempted, done, dropped, away;
} __attribute__((aligned(64)));

static struct tally tally[THREADS];
static uint64_t touched[NCPU]; /* by the owner of that slot alone, without atomics */
static uint64_t attempts;      /* each thread's */
static unsigned running;
static pthread_barrier_t gate;

static void one_write(uint32_t thread, uint32_t seq)
{
	struct tally *mine = &tally[thread];
	uint64_t me = (uint64_t)(1000 + thread) << 32 | 1;
	uint32_t len = RECORD_MIN + seq * 52 % 200 / 4 * 4;
	struct record record;
	struct ring_op op;
	int slot;

	mine->attempted++;
	slot = ring_overflow_take(lab.slots, NCPU, seq, me, nobody_dead);
	if (slot < 0) {
		mine->away++;
		sched_yield();
		return;
	}
	touched[slot]++;
	/* To be preempted while owning is what makes others find no slot. */
	if (seq % 16 == thread)
		sched_yield();
	record_fill(&record, thread << 24 | seq, len, 0);
	op = lab_op(&lab, &record, len);
	op.ts = section_counter();
	switch (ring_twin_write(&lab.refs[NCPU + (uint32_t)slot], &op, thread % NCPU)) {
	case RING_DONE:
		mine->done++;
		break;
	case RING_DROPPED:
		mine->dropped++;
		break;
	default:
		CHECK(false, "R6: neither committed nor dropped");
	}
	ring_overflow_release(&lab.slots[slot]);
}

static void *writer(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;

	pthread_barrier_wait(&gate);
	for (uint32_t seq = 0; seq < attempts; seq++)
		one_write(thread, seq);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* All M of them want the two slots of dead owners at once. */
static int heirs;

static bool all_dead(uint64_t owner)
{
	return owner >= 1ull << 62;
}

static void *heir(void *arg)
{
	pthread_barrier_wait(&gate);
	if (ring_overflow_take(lab.slots, NCPU, 0, (uint64_t)(uintptr_t)arg + 1, all_dead) >= 0)
		__atomic_fetch_add(&heirs, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void check_heirs(void)
{
	pthread_t thread[THREADS];

	for (int round = 0; round < 50; round++) {
		heirs = 0;
		for (uint32_t i = 0; i < NCPU; i++)
			lab.slots[i].owner = 1ull << 62 | i;
		pthread_barrier_init(&gate, NULL, THREADS);
		for (uint32_t i = 0; i < THREADS; i++)
			CHECK(!pthread_create(&thread[i], NULL, heir, (void *)(uintptr_t)i),
			      "thread");
		for (uint32_t i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		CHECK(heirs == (int)NCPU, "R10: %d heirs of %u slots", heirs, NCPU);
		for (uint32_t i = 0; i < NCPU; i++)
			CHECK(lab.slots[i].owner - 1 < THREADS, "R10: slot %u has no heir", i);
	}
	memset(lab.slots, 0, NCPU * sizeof(*lab.slots));
}

/* ---- readers ---- */

/* Events of a ring in the order they come: each thread's must go up. */
struct sight {
	uint32_t ring;
	uint64_t events, lost;
	uint64_t ts;
	int64_t last[THREADS];
};

static void see(struct sight *sight, const void *data, uint32_t len, uint64_t ts)
{
	struct record record;
	const char *wrong = record_wrong((const char *)data + 4, len - 4, ts, &record);
	uint32_t thread, cpu;
	int64_t seq;

	CHECK(!wrong, "R1: ring %u: %s", sight->ring, wrong);
	thread = record.id >> 24;
	seq = record.id & 0xffffff;
	memcpy(&cpu, data, 4);
	CHECK(thread < THREADS && cpu == thread % NCPU, "R1: ring %u: thread %u on CPU %u",
	      sight->ring, thread, cpu);
	CHECK(seq > sight->last[thread], "R6: ring %u: event %lld of thread %u after %lld",
	      sight->ring, (long long)seq, thread, (long long)sight->last[thread]);
	CHECK(ts >= sight->ts, "R5: ring %u: time goes back", sight->ring);
	sight->last[thread] = seq;
	sight->ts = ts;
	sight->events++;
}

static void see_page(struct sight *sight, const void *page)
{
	struct page_walk walk;
	struct page_event event;
	int ret = page_walk_init(&walk, page, lab.page_size);

	while (!ret && (ret = page_walk_next(&walk, &event)) > 0) {
		see(sight, event.data, event.len, event.ts);
		ret = 0;
	}
	CHECK(!ret, "R1: ring %u: a page that does not parse", sight->ring);
}

static uint64_t consumed_at(uint32_t cpu)
{
	return RING_STREAMS_OFFSET + cpu * sizeof(struct ring_stream) +
	       offsetof(struct ring_stream, consumed);
}

static uint64_t records_at(uint32_t cpu)
{
	return RING_STREAMS_OFFSET + cpu * sizeof(struct ring_stream) +
	       offsetof(struct ring_stream, read);
}

/* By cursor, through the file. An overflow ring has a position for each CPU's stream, and
 * discarding writers mind all. */
static void *cursor_reader(void *arg)
{
	struct sight *sight = arg;
	struct cursor cursor[NCPU];
	struct ring_source source = lab_source(&lab, sight->ring);
	unsigned left;
	int ret;

	for (uint32_t i = 0; i < NCPU; i++)
		CHECK(!cursor_open(&cursor[i], &source, consumed_at(i), records_at(i)), "cursor");
	do {
		left = __atomic_load_n(&running, __ATOMIC_ACQUIRE);
		for (uint32_t i = 0; i < NCPU; i++) {
			struct ring_read record = { 0 };

			for (int n = 0; n < 50 && (ret = cursor_peek(&cursor[i])) > 0; n++) {
				if (!i)
					see(sight, cursor[i].event.data, cursor[i].event.len,
					    cursor[i].event.ts);
				cursor_pass(&cursor[i]);
			}
			CHECK(ret >= 0, "reading: %s", strerror(-ret));
			record.pos = ring_pos(cursor[i].page, cursor[i].offset);
			record.nr = cursor[i].nr;
			CHECK(!cursor_store(&cursor[i], consumed_at(i), records_at(i), &record),
			      "store");
		}
	} while (left || cursor_peek(&cursor[0]) > 0);
	sight->lost = cursor[0].lost;
	for (uint32_t i = 0; i < NCPU; i++)
		cursor_close(&cursor[i]);
	return NULL;
}

/* Through the mapping, and but for tail and commit without atomics: what those make visible is not
 * written any more. */
static void *plain_reader(void *arg)
{
	struct sight *sight = arg;
	const struct ring_ref *ref = &lab.refs[sight->ring];
	unsigned char *copy = calloc(1, lab.page_size);
	uint64_t page = 0, seen = 0, tail, commit = 0, number;
	unsigned left;

	do {
		left = __atomic_load_n(&running, __ATOMIC_ACQUIRE);
		tail = __atomic_load_n(&ref->head->tail, __ATOMIC_ACQUIRE);
		for (; page <= tail; page++) {
			const unsigned char *at = ref->pages + page * lab.page_size;

			memcpy(&number, &ref->first[page], sizeof(number));
			commit = __atomic_load_n((const uint64_t *)(const void *)(at + 8),
						 __ATOMIC_ACQUIRE);
			if (commit)
				memcpy(copy, at, 8);
			memcpy(copy + 8, &commit, 8);
			memcpy(copy + PAGE_HEAD_SIZE, at + PAGE_HEAD_SIZE, commit);
			if (page == tail)
				break;
			CHECK(number == sight->events,
			      "R6: page %llu begins with event %llu, not %llu",
			      (unsigned long long)page, (unsigned long long)number,
			      (unsigned long long)sight->events);
			see_page(sight, copy);
			seen = 0;
		}
		CHECK(commit >= seen, "R1: commit goes back");
		seen = commit;
	} while (left);
	see_page(sight, copy);
	free(copy);
	return NULL;
}

/* ---- runs ---- */

/* In the name of thread 0: pages end and begin, so that drops are told. */
static void close_pages(uint32_t ring)
{
	const struct ring_head *head = lab_head(&lab, ring);
	uint64_t tail = head->tail;
	struct record record;

	for (uint32_t seq = 0x800000; head->tail < tail + 2; seq++) {
		struct ring_op op;
		enum ring_result result;

		record_fill(&record, seq, 2000, 0);
		op = lab_op(&lab, &record, 2000);
		op.ts = section_counter();
		result = ring_twin_write(&lab.refs[ring], &op, 0);
		tally[0].attempted++;
		tally[0].done += result == RING_DONE;
		tally[0].dropped += result == RING_DROPPED;
		if (result == RING_DROPPED)
			sched_yield();
	}
}

static void check_sums(const struct sight *sight, bool plain, const char *name)
{
	struct tally sum = { 0 };
	uint64_t nr = 0, dropped = 0, events = 0, lost = 0;

	for (uint32_t i = 0; i < THREADS; i++) {
		sum.attempted += tally[i].attempted;
		sum.done += tally[i].done;
		sum.dropped += tally[i].dropped;
		sum.away += tally[i].away;
	}
	for (uint32_t i = 0; i < NCPU; i++) {
		struct audit audit = { .lab = &lab, .ring = NCPU + i, .where = name };
		const struct ring_slot *slot = audit_slot(&audit);

		nr += slot->nr;
		dropped += lab_head(&lab, NCPU + i)->dropped;
		events += sight[i].events;
		lost += sight[i].lost;
		CHECK(sight[i].events + sight[i].lost ==
			      slot->nr + lab_head(&lab, NCPU + i)->dropped,
		      "R6: %s: ring %u: %llu read and %llu lost of %llu", name, i,
		      (unsigned long long)sight[i].events, (unsigned long long)sight[i].lost,
		      (unsigned long long)slot->nr);
		CHECK(!plain || sight[NCPU + i].events == slot->nr,
		      "R6: %s: plainly read %llu of %llu", name,
		      (unsigned long long)sight[NCPU + i].events, (unsigned long long)slot->nr);
		CHECK(lab.slots[i].taken == touched[i],
		      "R10: %s: slot %u taken %llu times, owned %llu times", name, i,
		      (unsigned long long)lab.slots[i].taken, (unsigned long long)touched[i]);
	}
	CHECK(sum.attempted == sum.done + sum.dropped + sum.away, "R6: %s: attempts do not add up",
	      name);
	CHECK(sum.done == nr && sum.dropped == dropped,
	      "R6: %s: %llu done, %llu dropped; rings say %llu, %llu", name,
	      (unsigned long long)sum.done, (unsigned long long)sum.dropped, (unsigned long long)nr,
	      (unsigned long long)dropped);
	CHECK(sum.away, "%s: there was always a slot: this proves nothing", name);
	printf("%-10s %8llu attempts: %llu committed, %llu dropped, %llu found no slot; "
	       "%llu read, %llu lost\n",
	       name, (unsigned long long)sum.attempted, (unsigned long long)nr,
	       (unsigned long long)dropped, (unsigned long long)sum.away,
	       (unsigned long long)events, (unsigned long long)lost);
}

static void run(const char *name, uint32_t npages, uint32_t flags, uint64_t each, bool plain)
{
	struct sight sight[2 * NCPU];
	pthread_t thread[THREADS + 2 * NCPU];
	uint32_t n = THREADS;

	lab_open(&lab, NCPU, npages, 4096, flags);
	memset(tally, 0, sizeof(tally));
	memset(touched, 0, sizeof(touched));
	memset(sight, 0, sizeof(sight));
	attempts = each;
	running = THREADS + 1;
	pthread_barrier_init(&gate, NULL, THREADS);
	for (uint32_t i = 0; i < (plain ? 2 : 1) * NCPU; i++) {
		sight[i].ring = NCPU + i % NCPU;
		for (uint32_t k = 0; k < THREADS; k++)
			sight[i].last[k] = -1;
		CHECK(!pthread_create(&thread[n++], NULL, i < NCPU ? cursor_reader : plain_reader,
				      &sight[i]),
		      "thread");
	}
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer, (void *)(uintptr_t)i), "thread");
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	if (!plain)
		for (uint32_t i = 0; i < NCPU; i++)
			close_pages(NCPU + i);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	for (uint32_t i = THREADS; i < n; i++)
		pthread_join(thread[i], NULL);
	check_sums(sight, plain, name);
	lab_close(&lab);
}

int main(void)
{
	check_free_and_held();
	lab_open(&lab, NCPU, 4, 4096, RING_REF_OVERWRITE);
	check_inheritance();
	check_heirs();
	lab_close(&lab);
	run("unlapped", 512, RING_REF_OVERWRITE, 1200, true);
	run("lapped", 8, RING_REF_OVERWRITE, 12000, false);
	run("discarding", 8, 0, 12000, false);
	return 0;
}
