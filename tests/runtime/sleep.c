/*
 * A reader that sleeps until there is a batch is left alone until there is one: events do not wake it, pages do not as long as
 * they are too few, and the page that makes them enough does, whichever ring and whichever buffer it is of.
 */
#include "runtime/trace.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define NPAGES 64u
#define ROUNDS 200u

static struct control *control;
static struct note_event event, other;
static struct stream *stream[2];	/* CPU 0's, of the top buffer and of an instance */
static uint32_t sequence;

static uint32_t word_at(uint64_t at)
{
	uint32_t word;

	CHECK(pread(control->dir.fd[SEGMENT_RINGS], &word, sizeof(word), (off_t)at) == sizeof(word), "read");
	return word;
}

static uint32_t wakes(uint32_t b)
{
	return word_at(control->state.buffers[b].live.offset);
}

static uint64_t ring_at(uint32_t b, uint32_t ring)
{
	const struct state_set *set = &control->state.buffers[b].live;

	return set_ring_offset(set->offset, ring, control->dir.ncpu, set->npages, set->page_size);
}

static uint32_t waiters(uint32_t b)
{
	return word_at(ring_at(b, 0) + offsetof(struct ring_head, waiters));
}

static uint64_t tail(uint32_t b, uint32_t ring)
{
	uint64_t word;

	CHECK(pread(control->dir.fd[SEGMENT_RINGS], &word, sizeof(word), (off_t)ring_at(b, ring)) == sizeof(word), "read");
	return (word >> RING_INDEX_BITS) * control->state.buffers[b].live.npages + (word & RING_INDEX_MASK);
}

/* Until the ring has got so many pages, not one event longer. */
static void fill(const struct note_event *which, uint32_t b, uint32_t ring, uint32_t pages)
{
	uint64_t end = tail(b, ring) + pages;

	while (tail(b, ring) < end)
		note_write(which, 1, sequence++, NOTE_SMALL);
}

static void drain(struct stream *from)
{
	unsigned char page[PAGE_SIZE_MIN];
	struct stream_page info;

	while (stream_next(from, page, &info) > 0)
		;
}

/* Goes to bed and gets up again: whoever writes now finds a sleeper. */
static void doze(uint32_t n, uint32_t percent)
{
	struct stream_sleep how = { .percent = percent, .timeout_ms = 0 };

	CHECK(stream_sleep(stream, n, &how) == 0, "there is a batch already");
}

static bool is_batch(uint32_t n, uint32_t percent)
{
	struct stream_sleep how = { .percent = percent, .timeout_ms = 0 };

	return stream_sleep(stream, n, &how) == 1;
}

static void threshold(void)
{
	uint32_t before;

	for (uint32_t percent = 10; percent <= 100; percent += 30) {
		uint32_t pages = (NPAGES * percent + 99) / 100;

		pages = pages > NPAGES - 2 ? NPAGES - 2 : pages;
		drain(stream[0]);
		doze(1, percent);
		before = wakes(0);
		fill(&event, 0, 0, pages - 1);
		for (int i = 0; i < 3; i++)
			note_write(&event, 1, sequence++, NOTE_SMALL);
		CHECK(wakes(0) == before && waiters(0), "%u%%: woken by %u pages of %u", percent, pages - 1, pages);
		CHECK(!is_batch(1, percent), "%u%%: a batch of %u pages", percent, pages - 1);
		fill(&event, 0, 0, 1);
		CHECK(wakes(0) == before + 1 && !waiters(0), "%u%%: not woken by %u pages", percent, pages);
		fill(&event, 0, 0, 2);
		CHECK(wakes(0) == before + 1, "woken twice");
		CHECK(is_batch(1, percent), "%u%%: no batch of %u pages", percent, pages);
	}
}

/* In laps, too: where the ring ends nothing is counted wrong. */
static void laps(void)
{
	uint32_t before;

	for (uint32_t i = 0; i < 300; i++) {
		drain(stream[0]);
		doze(1, 10);
		before = wakes(0);
		fill(&event, 0, 0, 6);
		CHECK(wakes(0) == before, "woken by 6 pages, at %u", i);
		fill(&event, 0, 0, 1);
		CHECK(wakes(0) == before + 1, "not woken by 7 pages, at %u", i);
	}
}

static void each_event(void)
{
	uint32_t before;

	drain(stream[0]);
	doze(1, 0);
	before = wakes(0);
	note_write(&event, 1, sequence++, NOTE_SMALL);
	CHECK(wakes(0) == before + 1, "an event does not wake who waits for any");
	note_write(&event, 1, sequence++, NOTE_SMALL);
	CHECK(wakes(0) == before + 1, "nobody is to be woken");
}

/* Events that took the other way fill another ring. */
static void overflowing(void)
{
	uint32_t before;

	drain(stream[0]);
	doze(1, 25);
	before = wakes(0);
	runtime_guard_enter();
	fill(&event, 0, control->dir.ncpu, NPAGES / 4 - 1);
	CHECK(wakes(0) == before, "woken by few pages of an overflow ring");
	fill(&event, 0, control->dir.ncpu, 1);
	runtime_guard_leave();
	CHECK(wakes(0) == before + 1, "not woken by pages of an overflow ring");
	CHECK(is_batch(1, 25), "and they are no batch");
}

/* Words that make no sense: the writer goes on, and wakes rather than not. */
static void garbage(void)
{
	static const uint64_t words[] = { ~0ull, 1ull << 63, 0x123456789abcdefull, 1ull << 39, (uint64_t)RING_INDEX_MASK << 20 };
	uint32_t wait = RING_WAIT_PAGE | 20u << RING_WAIT_SHIFT, all = UINT32_MAX & ~(uint32_t)RING_WAIT_EVENT;
	int fd = control->dir.fd[SEGMENT_RINGS];
	uint64_t consumed;
	off_t at = (off_t)(ring_at(0, 0) + offsetof(struct ring_head, consumed));
	off_t waiting = (off_t)(ring_at(0, 0) + offsetof(struct ring_head, waiters));
	uint32_t before;

	drain(stream[0]);
	CHECK(pread(fd, &consumed, 8, at) == 8, "read");
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		before = wakes(0);
		CHECK(pwrite(fd, &words[i], 8, at) == 8 && pwrite(fd, &wait, 4, waiting) == 4, "write");
		fill(&event, 0, 0, 1);
		CHECK(wakes(0) == before + 1, "not woken at %llx", (unsigned long long)words[i]);
		CHECK(pwrite(fd, &all, 4, waiting) == 4, "write");
		fill(&event, 0, 0, 1);
	}
	wait = 0;
	CHECK(pwrite(fd, &consumed, 8, at) == 8 && pwrite(fd, &wait, 4, waiting) == 4, "write");
}

/* ---- others wake it ---- */

struct shared {
	uint32_t round, stop;
	uint32_t which;
	uint32_t also;
	uint64_t written;
};

static struct shared *shared;

static void writer(void)
{
	uint32_t done = 0;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		uint32_t round = __atomic_load_n(&shared->round, __ATOMIC_ACQUIRE);

		if (round == done) {
			pause_us(5);
			continue;
		}
		pause_us(round * 37 % 500);
		done = round;
		if (shared->which == 2) {
			__atomic_fetch_add(&shared->also, 1, __ATOMIC_RELEASE);
			syscall(SYS_futex, &shared->also, FUTEX_WAKE, 1, NULL, NULL, 0);
		} else {
			fill(shared->which ? &other : &event, shared->which, 0, NPAGES / 4);
		}
		__atomic_store_n(&shared->written, now_ns(), __ATOMIC_RELEASE);
	}
	_exit(0);
}

/* How many rounds needed the net that is there for writers that cannot wake. */
static void woken(void)
{
	uint32_t nets = 0, early = 0;
	pid_t pid;

	shared = shared_memory(sizeof(*shared));
	pid = fork();
	if (!pid)
		writer();
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		struct stream_sleep how = { .percent = 25, .timeout_ms = 5000, .also = &shared->also, .seen = shared->also };
		uint64_t written = shared->written;
		int ret;

		drain(stream[0]);
		drain(stream[1]);
		shared->which = round % 3;
		__atomic_store_n(&shared->round, round, __ATOMIC_RELEASE);
		ret = stream_sleep(stream, 2, &how);
		CHECK(ret == 1, "sleep: %d", ret);
		early += round % 3 < 2 && !is_batch(2, 25);
		while (__atomic_load_n(&shared->written, __ATOMIC_ACQUIRE) == written)
			pause_us(50);
		nets += now_ns() - shared->written > 500000000;
	}
	shared->stop = 1;
	expect_exit(pid, 10, "the writer");
	printf("%u rounds, %u caught by the net, %u woken early\n", ROUNDS, nets, early);
	CHECK(nets <= ROUNDS / 20, "wake-ups are lost");
	CHECK(early <= ROUNDS / 20, "woken for less than a batch");
}

static void on_alarm(int signo)
{
	(void)signo;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value.tv_usec = 20000, .it_interval.tv_usec = 20000 };
	struct stream_sleep how = { .percent = 50, .timeout_ms = -1 };
	uint32_t word = 3;
	int ret;

	drain(stream[0]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	ret = stream_sleep(stream, 1, &how);
	CHECK(ret == -EINTR, "sleep: %d", ret);
	/* Where there is a batch already nobody goes to bed. */
	fill(&event, 0, 0, NPAGES / 2);
	ret = stream_sleep(stream, 1, &how);
	CHECK(ret == 1, "sleep: %d", ret);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	drain(stream[0]);
	how.also = &word;
	how.seen = 2;
	CHECK(stream_sleep(stream, 1, &how) == 1, "the word had changed before");
	how.seen = 3;
	how.timeout_ms = 30;
	CHECK(stream_sleep(stream, 1, &how) == 0, "the time is over");
}

/* Whoever writes by then writes elsewhere. */
static void replaced(void)
{
	uint64_t set = control->state.buffers[0].live.offset, second = control->state.buffers[1].live.offset;
	uint32_t before, others;

	drain(stream[0]);
	doze(2, 50);
	before = word_at(set);
	others = word_at(second);
	tool_resize(control, 2 * NPAGES);
	CHECK(control->state.buffers[0].live.offset != set, "there is a new set");
	CHECK(word_at(set) == before + 1, "nobody who sleeps is told");
	CHECK(word_at(second) == others, "the other buffer has none");
}

static void open_buffers(void)
{
	struct err err = ERR_INIT;

	control = tool_open();
	tool_begin(control);
	CHECK(!control_buffer_add(control, "second", &err), "%s", err.text);
	for (uint32_t b = 0; b < 2; b++)
		CHECK(!control_buffer_resize(control, &control->state.buffers[b], NPAGES, &err) &&
		      !control_enable(control, b, "test", b ? "other" : "sleep", true, &err), "%s", err.text);
	tool_commit(control);
	tool_refresh(control);
	for (uint32_t b = 0; b < 2; b++)
		CHECK(!stream_open(&stream[b], control->dir.fd[SEGMENT_RINGS], &control->state.buffers[b], control->dir.ncpu, 0,
				   true, &err), "%s", err.text);
}

int main(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		skip("CPU 0 is not ours");
	event = note_event("sleep");
	other = note_event("other");
	open_buffers();
	if (runtime_self.rs && (int32_t)runtime_self.rs->cpu_id < 0)
		skip("no rseq: all events take the other way");
	fill(&event, 0, 0, 1);
	fill(&other, 1, 0, 1);
	threshold();
	laps();
	each_event();
	overflowing();
	garbage();
	woken();
	interrupted();
	replaced();
	for (uint32_t b = 0; b < 2; b++)
		stream_close(stream[b]);
	control_close(control);
	return 0;
}
