/*
 * ring/sections_live - sections that the kernel aborts lose nothing and tear nothing.
 *
 * Two processes of three threads each write into shared rings, one a CPU, as fast as they can; a
 * timer signal in each thread writes too, in the midst of whatever it hits. There are more threads
 * than CPUs, so they are also preempted and moved. At the end:
 *
 *   R1  the bytes of every page up to its commit are whole events, each as its writer wrote it
 *   R4  the slot in force holds the time of the last event
 *   R5  time never goes back along a ring
 *   R6  every event that was reported written was counted once, pages are numbered without a gap,
 *       and the events of one writer follow each other as they were written
 *   and sections were aborted, or the run says nothing.
 *
 *   sections_live [SECONDS]
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "area.h"

#define PROCESSES  2u
#define THREADS	   3u
#define WRITERS	   (PROCESSES * THREADS * 2) /* a thread and its handler are two */
#define NCPU_MAX   64u
#define NPAGES	   64u
#define PAGE_SHIFT 12u
#define TICK_NS	   487000

/* What one writer did; nobody else writes it. */
struct tally {
	uint64_t written;
	uint64_t aborts;
	uint64_t refused; /* given up by ring_write(): nothing happened */
	uint64_t wrong;	  /* results that cannot be */
} __attribute__((aligned(64)));

struct ring {
	unsigned char head[4096];
	uint64_t first[512];
	unsigned char pages[NPAGES << PAGE_SHIFT];
};

struct shared {
	struct tally tally[WRITERS];
	uint64_t published;
	struct ring ring[] __attribute__((aligned(4096)));
};

/* The payload: who, which, and words that follow from those. */
struct record {
	uint32_t writer;
	uint32_t seq;
	uint32_t word[40];
};

static struct shared *shared;
static struct ring_ref refs[NCPU_MAX];
static uint32_t ncpu;
static int64_t end_ns;
static __thread uint32_t handler_writer = WRITERS;

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- writing ---- */

static uint32_t record_word(uint32_t writer, uint32_t seq, uint32_t i)
{
	return (writer + 1) * 0x9e3779b1u ^ (seq + i) * 0x85ebca6bu;
}

/* 0 to 39 words, so that both ways to tell a length come up. */
static uint32_t record_words(uint32_t writer, uint32_t seq)
{
	return record_word(writer, seq, 77) % 40;
}

static void write_one(uint32_t writer)
{
	struct tally *tally = &shared->tally[writer];
	struct record record = {.writer = writer, .seq = (uint32_t)tally->written};
	uint32_t words = record_words(writer, record.seq);
	struct ring_op op = {.refs = refs, .published = &shared->published, .ncpu = ncpu};
	enum ring_result result;

	for (uint32_t i = 0; i < words; i++)
		record.word[i] = record_word(writer, record.seq, i);
	ring_op_payload(&op, &record, 8 + 4 * words);
	result = section_write(rseq_area(), &op);
	if (result == RING_ABORTED)
		tally->aborts++;
	if (result != RING_DONE)
		result = ring_write(rseq_area(), &op);
	if (result == RING_DONE)
		tally->written++;
	else if (result == RING_ABORTED)
		tally->refused++;
	else
		tally->wrong++;
}

static void on_tick(int signo)
{
	(void)signo;
	if (handler_writer < WRITERS)
		write_one(handler_writer);
}

static void *thread_main(void *arg)
{
	uint32_t writer = (uint32_t)(uintptr_t)arg;
	struct itimerspec every = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	timer_t timer;

	handler_writer = writer + 1;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &every, NULL)) {
		shared->tally[writer].wrong++;
		return NULL;
	}
	while (now_ns() < end_ns)
		for (int i = 0; i < 16; i++)
			write_one(writer);
	timer_delete(timer);
	handler_writer = WRITERS;
	return NULL;
}

static int process_main(uint32_t process)
{
	pthread_t thread[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, thread_main,
				   (void *)(uintptr_t)(2 * (process * THREADS + i))))
			return 1;
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* ---- looking at what was written ---- */

struct look {
	uint32_t cpu;
	uint64_t ts;
	uint64_t events;
	bool seen[WRITERS];
	uint32_t last[WRITERS];
};

static bool bad(const struct look *look, uint64_t tail, uint32_t offset, const char *what)
{
	printf("cpu %u page %llx offset %u: %s\n", look->cpu, (unsigned long long)tail, offset,
	       what);
	return false;
}

static const char *record_check(struct look *look, const unsigned char *at, uint32_t len)
{
	struct record r = {0};

	if (len < 8 || len > sizeof(r))
		return "an event of a size that nobody wrote";
	memcpy(&r, at, len);
	if (r.writer >= WRITERS || len != 8 + 4 * record_words(r.writer, r.seq))
		return "an event that nobody wrote";
	for (uint32_t i = 0; i < (len - 8) / 4; i++)
		if (r.word[i] != record_word(r.writer, r.seq, i))
			return "a torn event";
	if (look->seen[r.writer] && r.seq - look->last[r.writer] - 1 > 1u << 31)
		return "an event behind a later one of the same writer";
	look->seen[r.writer] = true;
	look->last[r.writer] = r.seq;
	look->events++;
	return NULL;
}

/* One page: bytes up to commit are whole events. */
static bool page_check(struct look *look, const struct page_head *page, uint64_t tail)
{
	const unsigned char *data = (const unsigned char *)(page + 1);
	uint32_t at = 0, word[2], type, len;
	const char *what;

	if (page->commit > (1u << PAGE_SHIFT) - PAGE_HEAD_SIZE)
		return bad(look, tail, 0, "commit lies outside");
	if (page->commit && page->time_stamp < look->ts)
		return bad(look, tail, 0, "the page's time is before the last event");
	if (page->commit)
		look->ts = page->time_stamp;
	while (at < page->commit) {
		memcpy(word, data + at, 8);
		type = word[0] & 31;
		if (type == EVENT_TYPE_TIME_EXTEND) {
			look->ts += (uint64_t)word[1] << EVENT_DELTA_BITS |
				    word[0] >> EVENT_TYPE_BITS;
			at += 8;
			continue;
		}
		if (type > 28)
			return bad(look, tail, at, "an unknown kind of event");
		len = type ? type * 4 : word[1] - 4;
		look->ts += word[0] >> EVENT_TYPE_BITS;
		at += type ? 4 : 8;
		if (len > page->commit - at)
			return bad(look, tail, at, "an event beyond commit");
		what = record_check(look, data + at, len);
		if (what)
			return bad(look, tail, at, what);
		at += len;
	}
	return true;
}

static uint64_t tail_before(uint64_t tail)
{
	return tail & RING_INDEX_MASK ? tail - 1 : tail - RING_LAP + NPAGES - 1;
}

/*
 * All pages that are still there, oldest first; the count of events ever written to the ring in
 * *nr. Not the page that comes next: a switch that was aborted, and gone on with on another CPU, has
 * emptied it.
 */
static bool ring_check(uint32_t cpu, uint64_t *nr)
{
	struct ring *ring = &shared->ring[cpu];
	const struct ring_head *head = (const struct ring_head *)(const void *)ring->head;
	struct look look = {.cpu = cpu};
	uint64_t tail = head->tail;
	unsigned n = 1;
	const struct page_head *page;
	const struct ring_slot *slot;

	while (n < NPAGES - 1 && tail != 0) {
		tail = tail_before(tail);
		n++;
	}
	look.events = ring->first[tail & RING_INDEX_MASK];
	for (unsigned i = 0; i < n; i++) {
		uint32_t index = (uint32_t)tail & RING_INDEX_MASK;

		page = (const struct page_head *)(const void *)(ring->pages +
								(index << PAGE_SHIFT));
		if (ring->first[index] != look.events)
			return bad(&look, tail, 0, "the page's first number does not follow");
		if (!page_check(&look, page, tail))
			return false;
		if (i + 1 < n)
			tail = index + 1 < NPAGES ? tail + 1 : tail - index + RING_LAP;
	}
	page = (const struct page_head *)(const void *)(ring->pages +
							((tail & RING_INDEX_MASK) << PAGE_SHIFT));
	slot = &head->slot[head->slot[0].tag != ring_pos(tail, page->commit)];
	if (slot->tag != ring_pos(tail, page->commit) || slot->nr != look.events ||
	    (look.ts && slot->ts != look.ts))
		return bad(&look, tail, (uint32_t)page->commit,
			   "no slot says what the last event was");
	*nr = slot->nr;
	printf("cpu %u: %llu events, %llu laps\n", cpu, (unsigned long long)slot->nr,
	       (unsigned long long)(tail >> RING_INDEX_BITS));
	return true;
}

static bool sums_check(void)
{
	struct tally sum = {0}, handlers = {0};
	uint64_t counted = 0, nr;

	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		if (!ring_check(cpu, &nr))
			return false;
		counted += nr;
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		sum.written += shared->tally[i].written;
		sum.aborts += shared->tally[i].aborts;
		sum.refused += shared->tally[i].refused;
		sum.wrong += shared->tally[i].wrong;
		if (i & 1)
			handlers.written += shared->tally[i].written;
	}
	printf("written %llu, of them %llu in handlers; counted %llu\n",
	       (unsigned long long)sum.written, (unsigned long long)handlers.written,
	       (unsigned long long)counted);
	printf("aborts %llu, refused %llu, wrong %llu\n", (unsigned long long)sum.aborts,
	       (unsigned long long)sum.refused, (unsigned long long)sum.wrong);
	if (sum.wrong || counted != sum.written)
		return false;
	if (!sum.aborts || !handlers.written) {
		printf("no section was aborted, or no handler ran: this proves nothing\n");
		return false;
	}
	return true;
}

/*
 * A ring's first words as its maker leaves them, but for the events that were never: page 0 is
 * current and empty.
 */
static bool rings_make(void)
{
	size_t size;

	ncpu = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (ncpu > NCPU_MAX)
		ncpu = NCPU_MAX;
	size = sizeof(*shared) + ncpu * sizeof(struct ring);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		      -1, 0);
	if (shared == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < ncpu; i++) {
		struct ring_head *head = (struct ring_head *)(void *)shared->ring[i].head;

		head->slot[1].tag = ~0ull;
		refs[i] = (struct ring_ref){
			.head = head,
			.pages = shared->ring[i].pages,
			.first = shared->ring[i].first,
			.npages = NPAGES,
			.data_size = (1u << PAGE_SHIFT) - PAGE_HEAD_SIZE,
			.page_shift = PAGE_SHIFT,
			.flags = RING_REF_OVERWRITE | RING_REF_COUNTER,
			.mult = 1ull << 32,
		};
	}
	return true;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	pid_t pid[PROCESSES];
	bool ok = true;
	int status;

	if (!rseq_registered()) {
		printf("libc has not registered rseq\n");
		return 77;
	}
	if (!rings_make())
		return 1;
	sigaction(SIGALRM, &action, NULL);
	end_ns = now_ns() + (argc > 1 ? atoi(argv[1]) : 3) * 1000000000ll;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(process_main(i));
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		if (pid[i] < 0 || waitpid(pid[i], &status, 0) != pid[i] || status)
			ok = false;
	return ok && sums_check() ? 0 : 1;
}
