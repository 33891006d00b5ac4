/*
 * R6, R8, R9: many processes and threads, killed at random, traced from timer signals too, read while they write.
 *
 * Each thread writes records that say who wrote them, in which order and during what, with real sections, or now and then
 * through an overflow ring. The rings are small, so readers are lapped. A process that is killed is replaced by one that
 * goes on with its sequences.
 *
 *   consumer   a cursor on each ring, storing its position: nothing torn (R1, R9), time in order (R5), nothing twice, and at
 *              the end read + lost == committed + dropped on each ring (R6)
 *   peeker     a stream of each CPU, overflow rings merged in: the same, and what a handler wrote lies before the event
 *              whose section it interrupted (R8)
 *   account    what threads were told is what rings count; only events in flight at a kill are in doubt
 *
 *   storm [SECONDS]
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "base/err.h"
#include "capture/stream.h"
#include "ring/audit.h"

#define PROCESSES 4u
#define NPAGES 8u
#define PAGE 4096u
#define TICK_NS 100000
#define THREADS_MAX 64u
#define WRITERS_MAX (PROCESSES * THREADS_MAX * 2)

/* What one writer did, for ever; a successor in a new process goes on with it. */
struct tally {
	uint32_t begun;		/* sequence numbers given out */
	uint32_t ended;		/* below this no event is under way */
	uint64_t done, dropped, refused;
	uint64_t hits;		/* handlers: sections that were interrupted */
} __attribute__((aligned(64)));

struct shared {
	uint32_t stop;		/* writers end */
	uint32_t quiet;		/* nobody writes any more: readers finish */
	uint64_t inherited;	/* overflow slots taken from the dead */
	struct tally tally[WRITERS_MAX];
};

struct event {
	uint32_t writer;	/* (process * threads + thread) * 2 + in a handler */
	uint32_t seq;
	uint32_t during;	/* handlers: what the thread's own sequence had come to */
	uint32_t hit;		/* handlers: 1, that event's section was interrupted */
	uint32_t word[40];
};

static struct shared *shared;
static struct lab lab;
static uint32_t threads, writers;
static __thread uint32_t self_writer = UINT32_MAX;
static __thread uint64_t self_identity;

/* ---- writing ---- */

static uint32_t event_word(const struct event *event, uint32_t i)
{
	return (event->writer + 1) * 0x9e3779b1u ^ (event->seq + i) * 0x85ebca6bu;
}

static uint32_t event_words(const struct event *event)
{
	return event_word(event, 77) % 40;
}

static bool owner_dead(uint64_t owner)
{
	return syscall(SYS_kill, (pid_t)(owner >> 32), 0) && errno == ESRCH;
}

static enum ring_result by_overflow(struct ring_op *op)
{
	unsigned cpu = 0;
	enum ring_result result;
	uint64_t before;
	int slot;

	syscall(SYS_getcpu, &cpu, NULL, NULL);
	slot = ring_overflow_take(lab.slots, lab.ncpu, cpu, self_identity, owner_dead);
	if (slot < 0)
		return RING_NOWHERE;
	op->ts = section_counter();
	result = ring_twin_write(&lab.refs[lab.ncpu + (uint32_t)slot], op, cpu);
	before = lab.slots[slot].owner;
	ring_overflow_release(&lab.slots[slot]);
	CHECK(before == self_identity, "R10: the slot was taken away from a living owner");
	return result;
}

static enum ring_result by_section(struct ring_op *op)
{
	struct ring_rseq *rs = lab_rseq();
#ifdef SECTION_FAST
	struct ring_head *head;
	enum ring_result result = RING_AGAIN;

	if (op->len <= EVENT_LEN_MAX_SHORT)
		result = section_fast(rs, op->refs, op->ncpu, op->published, op->generation, op->payload, op->len, &head);
	if (result == RING_DONE)
		return result;
#endif
	return ring_write(rs, op);
}

/* How it ended, told once. */
static void account(struct tally *tally, enum ring_result result)
{
	if (result == RING_DONE)
		tally->done++;
	else if (result == RING_DROPPED)
		tally->dropped++;
	else
		tally->refused++;
}

static void write_one(uint32_t writer, uint32_t during, uint32_t hit)
{
	struct tally *tally = &shared->tally[writer];
	struct event event = { .writer = writer, .during = during, .hit = hit };
	uint32_t words;
	struct ring_op op;
	enum ring_result result = RING_ABORTED;

	event.seq = tally->begun;
	__atomic_store_n(&tally->begun, event.seq + 1, __ATOMIC_RELAXED);
	words = event_words(&event);
	for (uint32_t i = 0; i < words; i++)
		event.word[i] = event_word(&event, i);
	op = lab_op(&lab, &event, 16 + 4 * words);
	if (event.seq % 13)
		result = by_section(&op);
	if (result != RING_DONE && result != RING_DROPPED) {
		CHECK(result == RING_ABORTED, "a section ended with %d", result);
		result = by_overflow(&op);
	}
	account(tally, result);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&tally->ended, event.seq + 1, __ATOMIC_RELAXED);
}

/* The kernel moves a thread out of an unfinished section, to behind the signature, before it runs a handler. */
static bool section_interrupted(const ucontext_t *context)
{
	uint32_t word;

#if defined(__x86_64__)
	memcpy(&word, (const void *)(context->uc_mcontext.gregs[REG_RIP] - 4), 4);
	return word == 0x53053053;
#elif defined(__i386__)
	memcpy(&word, (const void *)(context->uc_mcontext.gregs[REG_EIP] - 4), 4);
	return word == 0x53053053;
#else
	memcpy(&word, (const void *)(context->uc_mcontext.pc - 4), 4);
	return word == 0xd428bc00;
#endif
}

static void on_tick(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	uint32_t during, hit;

	(void)signo;
	(void)info;
	if (self_writer == UINT32_MAX)
		return;
	during = __atomic_load_n(&shared->tally[self_writer].ended, __ATOMIC_RELAXED);
	hit = section_interrupted(context);
	shared->tally[self_writer + 1].hits += hit;
	write_one(self_writer + 1, during, hit);
	errno = saved;
}

static void *writer_main(void *arg)
{
	struct itimerspec every = { .it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	uint32_t writer = (uint32_t)(uintptr_t)arg;
	timer_t timer;

	/* What a predecessor had under way is over, one way or the other. */
	for (uint32_t i = 0; i < 2; i++)
		shared->tally[writer + i].ended = shared->tally[writer + i].begun;
	self_identity = (uint64_t)syscall(SYS_gettid) << 32 | 1;
	self_writer = writer;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &every, NULL), "timer");
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
		for (int i = 0; i < 16; i++)
			write_one(writer, 0, 0);
	timer_delete(timer);
	return NULL;
}

static pid_t start_process(uint32_t process)
{
	pthread_t thread[THREADS_MAX];
	pid_t pid = fork();

	if (pid)
		return pid;
	for (uint32_t i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer_main,
				      (void *)(uintptr_t)(2 * (process * threads + i))), "thread");
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* ---- looking on ---- */

/* What came along one ring or one stream. */
struct sight {
	const char *name;
	uint32_t number;
	uint64_t events, lost, hits, ts;
	int64_t last[WRITERS_MAX];	/* of each writer */
	int64_t during[WRITERS_MAX];	/* the latest that a handler told of its thread */
};

static struct sight *sights(const char *name, uint32_t n)
{
	struct sight *sight = calloc(n, sizeof(*sight));

	CHECK(sight, "memory");
	for (uint32_t i = 0; i < n; i++) {
		sight[i].name = name;
		sight[i].number = i;
		for (uint32_t k = 0; k < WRITERS_MAX; k++)
			sight[i].last[k] = sight[i].during[k] = -1;
	}
	return sight;
}

#define SAW(cond, what)                                                                            \
	CHECK(cond, what ": %s %u: writer %u seq %u during %u hit %u, last %lld", sight->name, sight->number, \
	      event.writer, event.seq, event.during, event.hit, (long long)sight->last[event.writer])

/* A handler's event and its thread's: those before what was under way are there, and what was cut short comes after. */
static void see_order(struct sight *sight, struct event event)
{
	uint32_t thread = event.writer & ~1u;

	if (event.writer & 1) {
		SAW(sight->last[thread] <= (int64_t)event.during, "R8: a handler's event behind a later one");
		SAW(!event.hit || sight->last[thread] < (int64_t)event.during,
		    "R8: a handler's event behind the one it interrupted");
		sight->during[thread] = event.during;
		sight->hits += event.hit;
	} else {
		SAW((int64_t)event.seq >= sight->during[thread], "R8: an event behind a handler that came after it");
	}
}

static void see(struct sight *sight, const void *data, uint32_t len, uint64_t ts, bool ordered)
{
	struct event event = { 0 };

	CHECK(len >= 16 && len <= sizeof(event), "R1: %s %u: an event of %u bytes", sight->name, sight->number, len);
	memcpy(&event, data, len);
	CHECK(event.writer < writers && len == 16 + 4 * event_words(&event),
	      "R1: %s %u: an event that nobody wrote: writer %u, %u bytes", sight->name, sight->number, event.writer, len);
	for (uint32_t i = 0; i < (len - 16) / 4; i++)
		SAW(event.word[i] == event_word(&event, i), "R9: torn");
	SAW((int64_t)event.seq > sight->last[event.writer], "R6: out of turn, or twice");
	SAW(ts >= sight->ts, "R5: time goes back");
	if (ordered)
		see_order(sight, event);
	sight->last[event.writer] = event.seq;
	sight->ts = ts;
	sight->events++;
}

/* ---- the consumer ---- */

struct lane {
	struct cursor cursor;
	uint64_t consumed_at[THREADS_MAX], records_at[THREADS_MAX];
	uint32_t positions;	/* a CPU's ring has one, an overflow ring one for each CPU */
};

static void lane_open(struct lane *lane, uint32_t ring)
{
	struct ring_source source = lab_source(&lab, ring);

	lane->positions = ring < lab.ncpu ? 1 : lab.ncpu;
	for (uint32_t i = 0; i < lane->positions; i++) {
		uint64_t at = RING_STREAMS_OFFSET + i * sizeof(struct ring_stream);

		lane->consumed_at[i] = ring < lab.ncpu ? offsetof(struct ring_head, consumed) :
							 at + offsetof(struct ring_stream, consumed);
		lane->records_at[i] = ring < lab.ncpu ? offsetof(struct ring_head, read) :
							at + offsetof(struct ring_stream, read);
	}
	CHECK(!cursor_open(&lane->cursor, &source, lane->consumed_at[0], lane->records_at[0]), "cursor");
}

static void lane_store(struct lane *lane)
{
	struct ring_read record = {
		.pos = ring_pos(lane->cursor.page, lane->cursor.offset),
		.nr = lane->cursor.nr,
	};

	for (uint32_t i = 0; i < lane->positions; i++)
		CHECK(!cursor_store(&lane->cursor, lane->consumed_at[i], lane->records_at[i], &record), "store");
}
