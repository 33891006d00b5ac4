/*
 * R6, R8, R9: many processes and threads, killed at random, traced from timer signals too, read
 * while they write.
 *
 * Each thread writes records that say who wrote them, in which order and during what, with real
 * sections, or now and then through an overflow ring. The rings are small, so readers are lapped. A
 * process that is killed is replaced by one that goes on with its sequences.
 *
 *   consumer   a cursor on each ring, storing its position: nothing torn (R1, R9), time in order
 *              (R5), nothing twice, and at the end read + lost == committed + dropped (R6)
 *   peeker     a stream of each CPU, overflow rings merged in: the same, and what a handler wrote
 *              lies before the event whose section it interrupted (R8)
 *   account    what threads were told is what rings count; only events in flight at a kill are in
 *              doubt
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
#include "fast.h"

#define PROCESSES 4u
#define NPAGES 8u
#define PAGE 4096u
#define TICK_NS 100000
#define THREADS_MAX 64u
#define WRITERS_MAX (PROCESSES * THREADS_MAX * 2)

/* What one writer did, for ever; a successor in a new process goes on with it. */
struct tally {
	uint32_t begun; /* sequence numbers given out */
	uint32_t ended; /* below this no event is under way */
	uint64_t done, dropped, refused;
	uint64_t hits; /* handlers: sections that were interrupted */
} __attribute__((aligned(64)));

struct shared {
	uint32_t stop;	    /* writers end */
	uint32_t quiet;	    /* nobody writes any more: readers finish */
	uint64_t hits_seen; /* handlers' events that interrupted a section, in all runs */
	struct tally tally[WRITERS_MAX];
};

struct event {
	uint32_t writer; /* (process * threads + thread) * 2 + in a handler */
	uint32_t seq;
	uint32_t during; /* handlers: what the thread's own sequence had come to */
	uint32_t hit;	 /* handlers: 1, that event's section was interrupted */
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
	static __thread struct ring_near near = {.generation = RING_NEAR_NONE};
	enum ring_result result = RING_AGAIN;

	if (op->len <= EVENT_LEN_MAX_SHORT)
		result = fast_write(rs, &near, op);
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

/* The kernel moves a thread out of an unfinished section, to behind the signature, before it runs a
 * handler. */
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
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer) &&
		      !timer_settime(timer, 0, &every, NULL),
	      "timer");
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
	/* Readers that hardly ever run see little. */
	CHECK(nice(10) != -1 || !errno, "nice");
	for (uint32_t i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer_main,
				      (void *)(uintptr_t)(2 * (process * threads + i))),
		      "thread");
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
	int64_t last[WRITERS_MAX];   /* of each writer */
	int64_t during[WRITERS_MAX]; /* the latest that a handler told of its thread */
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

#define SAW(cond, what)                                                                        \
	CHECK(cond, what ": %s %u: writer %u seq %u during %u hit %u, last %lld", sight->name, \
	      sight->number, event.writer, event.seq, event.during, event.hit,                 \
	      (long long)sight->last[event.writer])

/* A handler's event and its thread's: those before what was under way are there, and what was cut
 * short comes after. */
static void see_order(struct sight *sight, struct event event)
{
	uint32_t thread = event.writer & ~1u;

	if (event.writer & 1) {
		SAW(sight->last[thread] <= (int64_t)event.during,
		    "R8: a handler's event behind a later one");
		SAW(!event.hit || sight->last[thread] < (int64_t)event.during,
		    "R8: a handler's event behind the one it interrupted");
		sight->during[thread] = event.during;
		sight->hits += event.hit;
	} else {
		SAW((int64_t)event.seq >= sight->during[thread],
		    "R8: an event behind a handler that came after it");
	}
}

static void see(struct sight *sight, const void *data, uint32_t len, uint64_t ts, bool ordered)
{
	struct event event = { 0 };

	CHECK(len >= 16 && len <= sizeof(event), "R1: %s %u: an event of %u bytes", sight->name,
	      sight->number, len);
	memcpy(&event, data, len);
	CHECK(event.writer < writers && len == 16 + 4 * event_words(&event),
	      "R1: %s %u: an event that nobody wrote: writer %u, %u bytes", sight->name,
	      sight->number, event.writer, len);
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

#define SEQ_MAX (1u << 26)
static unsigned char *seen[WRITERS_MAX]; /* a bit for each event that came along any ring */

static void see_once(const void *data)
{
	struct event event;

	memcpy(&event, data, 16);
	if (event.seq >= SEQ_MAX)
		return;
	CHECK(!(seen[event.writer][event.seq / 8] & 1u << event.seq % 8),
	      "R6: writer %u seq %u is there twice", event.writer, event.seq);
	seen[event.writer][event.seq / 8] |= (unsigned char)(1u << event.seq % 8);
}

/* One read position. A CPU's ring has one, an overflow ring one for each CPU's stream, all of which
 * must move. */
struct post {
	struct cursor cursor;
	uint64_t consumed_at, records_at;
	uint32_t ring;
};

static void post_open(struct post *post)
{
	struct ring_source source = lab_source(&lab, post->ring);

	CHECK(!cursor_open(&post->cursor, &source, post->consumed_at, post->records_at), "cursor");
}

static void post_store(struct post *post, const struct sight *sight)
{
	struct ring_read record = {
		.pos = ring_pos(post->cursor.page, post->cursor.offset),
		.nr = post->cursor.nr,
		.lost = post->cursor.lost_before + post->cursor.lost,
		.read = sight ? sight->events : 0,
	};

	CHECK(!cursor_store(&post->cursor, post->consumed_at, post->records_at, &record), "store");
}

static uint32_t posts_make(struct post *post)
{
	uint32_t n = 0;

	for (uint32_t ring = 0; ring < 2 * lab.ncpu; ring++) {
		for (uint32_t i = 0; i < (ring < lab.ncpu ? 1 : lab.ncpu); i++, n++) {
			uint64_t at = RING_STREAMS_OFFSET + i * sizeof(struct ring_stream);

			post[n].ring = ring;
			post[n].consumed_at = at + offsetof(struct ring_stream, consumed);
			post[n].records_at = at + offsetof(struct ring_stream, read);
			if (ring < lab.ncpu) {
				post[n].consumed_at = offsetof(struct ring_head, consumed);
				post[n].records_at = offsetof(struct ring_head, read);
			}
			post_open(&post[n]);
		}
	}
	return n;
}

/* Some events of one position; with a sight they are looked at. */
static bool post_read(struct post *post, struct sight *sight)
{
	uint32_t skip = post->ring < lab.ncpu ? 0 : 4;
	bool some = false;
	int ret = 0;

	for (int n = 0; n < 500 && (ret = cursor_peek(&post->cursor)) > 0; n++) {
		const struct page_event *event = &post->cursor.event;

		if (sight) {
			see(sight, (const char *)event->data + skip, event->len - skip, event->ts,
			    false);
			see_once((const char *)event->data + skip);
		}
		cursor_pass(&post->cursor);
		some = true;
	}
	CHECK(ret >= 0, "reading: %s", strerror(-ret));
	post_store(post, sight);
	return some;
}

static void check_ring(const struct sight *sight, const struct post *post)
{
	const struct ring_head *head = lab_head(&lab, post->ring);
	struct audit audit = { .lab = &lab, .ring = post->ring, .where = "at the end" };
	const struct ring_slot *slot = audit_slot(&audit);
	uint64_t lost = post->cursor.lost_before + post->cursor.lost;

	CHECK(sight->events + lost == slot->nr + head->dropped,
	      "R6: ring %u: %llu read and %llu lost of %llu and %llu", post->ring,
	      (unsigned long long)sight->events, (unsigned long long)lost,
	      (unsigned long long)slot->nr, (unsigned long long)head->dropped);
	printf("    ring %u: %llu committed, %llu dropped: %llu consumed, %llu lost\n", post->ring,
	       (unsigned long long)slot->nr, (unsigned long long)head->dropped,
	       (unsigned long long)sight->events, (unsigned long long)lost);
}

static void consumer(void)
{
	struct sight *sight = sights("ring", 2 * lab.ncpu);
	struct post *post = calloc(lab.ncpu + lab.ncpu * lab.ncpu, sizeof(*post));
	uint32_t n = posts_make(post), turn = 0;
	bool quiet, some;

	for (uint32_t i = 0; i < writers; i++)
		seen[i] = calloc(1, SEQ_MAX / 8);
	do {
		quiet = __atomic_load_n(&shared->quiet, __ATOMIC_ACQUIRE);
		some = false;
		for (uint32_t i = 0; i < n; i++) {
			bool look = !i || post[i].ring != post[i - 1].ring;

			some |= post_read(&post[i], look ? &sight[post[i].ring] : NULL);
			/* Go away and come back: the stored position is all that stays. */
			if (++turn % 1000 == 0) {
				cursor_close(&post[i].cursor);
				post_open(&post[i]);
			}
		}
	} while (!quiet || some);
	for (uint32_t i = 0; i < n; i++)
		if (!i || post[i].ring != post[i - 1].ring)
			check_ring(&sight[post[i].ring], &post[i]);
}

/* ---- the peeker ---- */

static void peeker(void)
{
	struct sight *sight = sights("stream", lab.ncpu);
	struct state_buffer buffer = {
		.page_size = PAGE,
		.npages = NPAGES,
		.live = { .offset = LAB_SET, .npages = NPAGES, .page_size = PAGE, .generation = 1 },
	};
	struct stream *stream[THREADS_MAX];
	struct err err = ERR_INIT;
	unsigned char page[PAGE];
	uint64_t events = 0, hits = 0;
	bool quiet, some;

	for (uint32_t i = 0; i < lab.ncpu; i++)
		CHECK(!stream_open(&stream[i], lab.fd, &buffer, lab.ncpu, i, false, &err),
		      "stream: %s", err.text);
	do {
		quiet = __atomic_load_n(&shared->quiet, __ATOMIC_ACQUIRE);
		some = false;
		for (uint32_t i = 0; i < lab.ncpu; i++) {
			struct stream_page info;
			struct page_walk walk;
			struct page_event event;
			int ret = stream_next(stream[i], page, &info);

			CHECK(ret >= 0, "stream: %s", strerror(-ret));
			if (!ret)
				continue;
			some = true;
			CHECK(!page_walk_init(&walk, page, PAGE), "R1: stream %u: no page", i);
			while ((ret = page_walk_next(&walk, &event)) > 0)
				see(&sight[i], event.data, event.len, event.ts, true);
			CHECK(!ret, "R1: stream %u: a page that does not parse", i);
			sight[i].lost += info.lost;
		}
	} while (!quiet || some);
	for (uint32_t i = 0; i < lab.ncpu; i++) {
		events += sight[i].events;
		hits += sight[i].hits;
		stream_close(stream[i]);
	}
	printf("    peeked at %llu events, %llu of them by handlers that interrupted a section\n",
	       (unsigned long long)events, (unsigned long long)hits);
	shared->hits_seen += hits;
}

/* ---- the storm ---- */

static pid_t aside(void (*reader)(void))
{
	pid_t pid = fork();

	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		reader();
		fflush(stdout);
		_exit(0);
	}
	return pid;
}

static bool ended_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void account_for(bool kills)
{
	struct tally sum = { 0 };
	uint64_t begun = 0, committed = 0, dropped = 0, told;

	for (uint32_t i = 0; i < writers; i++) {
		begun += shared->tally[i].begun;
		sum.done += shared->tally[i].done;
		sum.dropped += shared->tally[i].dropped;
		sum.refused += shared->tally[i].refused;
		sum.hits += shared->tally[i].hits;
	}
	for (uint32_t ring = 0; ring < 2 * lab.ncpu; ring++) {
		struct audit audit = { .lab = &lab, .ring = ring, .where = "at the end" };

		committed += audit_slot(&audit)->nr;
		dropped += lab_head(&lab, ring)->dropped;
	}
	told = sum.done + sum.dropped + sum.refused;
	printf("    %llu attempts: %llu done, %llu dropped, %llu refused, %llu in flight when "
	       "killed; %llu sections hit\n",
	       (unsigned long long)begun, (unsigned long long)sum.done,
	       (unsigned long long)sum.dropped, (unsigned long long)sum.refused,
	       (unsigned long long)(begun - told), (unsigned long long)sum.hits);
	CHECK(kills || begun == told, "R6: %llu events went nowhere",
	      (unsigned long long)(begun - told));
	CHECK(committed >= sum.done && dropped >= sum.dropped &&
		      committed - sum.done + dropped - sum.dropped <= begun - told,
	      "R6: rings count %llu committed and %llu dropped", (unsigned long long)committed,
	      (unsigned long long)dropped);
}

/* So that the last drops are told: two more pages in each ring, by writers that are not there any
 * more. */
static void close_pages(void)
{
	for (uint32_t ring = 0; ring < 2 * lab.ncpu; ring++) {
		struct ring_head *head = lab_head(&lab, ring);
		uint32_t writer = ring % 2, moves = 0;

		while (moves < 2) {
			struct tally *tally = &shared->tally[writer];
			struct event event = { .writer = writer, .seq = tally->begun };
			uint64_t tail = head->tail;
			struct ring_op op;
			enum ring_result result;

			if (writer & 1)
				event.during = shared->tally[0].begun;
			for (uint32_t i = 0; i < event_words(&event); i++)
				event.word[i] = event_word(&event, i);
			op = lab_op(&lab, &event, 16 + 4 * event_words(&event));
			op.ts = section_counter();
			lab_fake_rseq()->cpu_id = ring;
			result = ring < lab.ncpu
					 ? ring_write(lab_fake_rseq(), &op)
					 : ring_twin_write(&lab.refs[ring], &op, ring % lab.ncpu);
			tally->begun++;
			account(tally, result);
			moves += head->tail != tail;
			if (result == RING_DROPPED)
				usleep(100);
		}
	}
}

static void run(const char *name, uint32_t flags, double seconds, bool kills)
{
	struct timespec nap = { .tv_nsec = 10000000 };
	pid_t process[PROCESSES], readers[2];
	uint64_t state = 88172645463325252ull;
	unsigned killed = 0;
	struct timespec start, now;
	bool ok = true;

	lab_open(&lab, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), NPAGES, PAGE,
		 flags | RING_REF_COUNTER);
	CHECK(lab.ncpu <= 64, "too many CPUs");
	threads = 4 * lab.ncpu / PROCESSES;
	writers = PROCESSES * threads * 2;
	shared->stop = shared->quiet = 0;
	memset(shared->tally, 0, sizeof(shared->tally));
	printf("%s: %u processes of %u threads\n", name, PROCESSES, threads);
	fflush(stdout);
	for (uint32_t i = 0; i < PROCESSES; i++)
		process[i] = start_process(i);
	readers[0] = aside(consumer);
	readers[1] = aside(peeker);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		uint32_t victim = draw(&state) % PROCESSES;

		nap.tv_nsec = 1000000 + draw(&state) % 30000000;
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!kills)
			continue;
		kill(process[victim], SIGKILL);
		CHECK(waitpid(process[victim], NULL, 0) == process[victim], "%s", strerror(errno));
		process[victim] = start_process(victim);
		killed++;
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 <
		 seconds);
	shared->stop = 1;
	for (uint32_t i = 0; i < PROCESSES; i++)
		ok &= ended_well(process[i]);
	close_pages();
	__atomic_store_n(&shared->quiet, 1, __ATOMIC_RELEASE);
	ok &= ended_well(readers[0]);
	ok &= ended_well(readers[1]);
	CHECK(ok, "%s: a writer or a reader failed", name);
	printf("    %u processes killed\n", killed);
	account_for(kills);
	lab_close(&lab);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_RESTART | SA_SIGINFO };
	double seconds = argc > 1 ? atof(argv[1]) : 5;

	if (!lab_rseq() || (int32_t)lab_rseq()->cpu_id < 0) {
		printf("libc has not registered rseq\n");
		return 77;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	CHECK(shared != MAP_FAILED, "memory");
	sigaction(SIGALRM, &action, NULL);
	run("nobody killed", RING_REF_OVERWRITE, seconds * 0.2, false);
	run("killed", RING_REF_OVERWRITE, seconds * 0.5, true);
	run("killed, discarding", 0, seconds * 0.3, true);
	CHECK(shared->hits_seen,
	      "R8: no handler's event was seen that interrupted a section: this proves nothing");
	return 0;
}
