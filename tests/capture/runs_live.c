/*
 * R5, R6, R9: runs taken while writers go round and round, some of their events through overflow rings, by a recorder that goes
 * away now and then: nothing torn, nothing twice, time in order, and in the end what was taken and what was told as lost is what
 * was written; the numbers that anybody can ask for say the same. In both modes.
 *
 *   runs_live [SECONDS]
 */
#include "capture/take.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "ring/lab.h"

enum { WRITERS = 4, NPAGES = 48, PAGE = 4096, CPUS_MAX = 64 };

struct event {
	uint32_t writer, seq;
	uint32_t word[14];
};

static struct lab lab;
static struct state_buffer buffer;
static uint32_t stop;
static uint32_t drained; /* times that the recorder came to the end of all rings */
static struct {
	uint64_t done, dropped;
	uint32_t seq;
	uint64_t pad[5];
} tally[WRITERS];

/* What came along one stream. */
struct sight {
	struct take take;
	int64_t last[WRITERS];
};

static uint32_t event_word(const struct event *event, uint32_t i)
{
	return (event->writer + 1) * 0x9e3779b1u ^ (event->seq + i) * 0x85ebca6bu;
}

static uint32_t event_words(const struct event *event)
{
	return event_word(event, 77) % 15;
}

static bool nobody_dead(uint64_t owner)
{
	(void)owner;
	return false;
}

static enum ring_result by_overflow(struct ring_op *op, uint32_t writer)
{
	unsigned cpu = 0;
	enum ring_result result;
	int slot;

	syscall(SYS_getcpu, &cpu, NULL, NULL);
	while ((slot = ring_overflow_take(lab.slots, lab.ncpu, cpu, writer + 1, nobody_dead)) < 0)
		sched_yield();
	op->ts = section_counter();
	result = ring_twin_write(&lab.refs[lab.ncpu + (uint32_t)slot], op, cpu);
	ring_overflow_release(&lab.slots[slot]);
	return result;
}

/*
 * Now as fast as it goes, which no reader keeps up with; now at the reader's own pace: not more in between than a ring holds, or
 * there are no runs on a machine whose readers are slow, since pages with drops in them are taken one by one.
 */
static void keep_pace(uint32_t writer, uint32_t seq)
{
	uint32_t before = __atomic_load_n(&drained, __ATOMIC_RELAXED);

	if (!(seq / 60000 % 3) || seq % 500 != writer * 77)
		return;
	while (__atomic_load_n(&drained, __ATOMIC_RELAXED) == before && !__atomic_load_n(&stop, __ATOMIC_RELAXED))
		nanosleep(&(struct timespec){ 0, 100000 }, NULL);
}

static void *writer_main(void *arg)
{
	uint32_t writer = (uint32_t)(uintptr_t)arg;
	struct ring_rseq *rs = lab_rseq();

	CHECK(nice(10) != -1 || !errno, "nice");
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct event event = { .writer = writer, .seq = tally[writer].seq++ };
		uint32_t words = event_words(&event);
		enum ring_result result = RING_ABORTED;
		struct ring_op op;

		for (uint32_t i = 0; i < words; i++)
			event.word[i] = event_word(&event, i);
		op = lab_op(&lab, &event, 8 + 4 * words);
		if (event.seq % 5000)
			result = ring_write(rs, &op);
		if (result != RING_DONE && result != RING_DROPPED)
			result = by_overflow(&op, writer);
		CHECK(result == RING_DONE || result == RING_DROPPED, "write: %d", result);
		tally[writer].done += result == RING_DONE;
		tally[writer].dropped += result == RING_DROPPED;
		keep_pace(writer, event.seq);
	}
	return NULL;
}

static void see(const struct page_event *at, void *ctx)
{
	struct sight *sight = ctx;
	struct event event;

	CHECK(at->len >= 8 && at->len <= sizeof(event), "R1: an event of %u bytes", at->len);
	memcpy(&event, at->data, at->len);
	CHECK(event.writer < WRITERS && at->len == 8 + 4 * event_words(&event), "R1: an event that nobody wrote");
	for (uint32_t i = 0; i < (at->len - 8) / 4; i++)
		CHECK(event.word[i] == event_word(&event, i), "R9: torn: writer %u seq %u", event.writer, event.seq);
	CHECK((int64_t)event.seq > sight->last[event.writer], "R6: writer %u: %u after %lld", event.writer, event.seq,
	      (long long)sight->last[event.writer]);
	sight->last[event.writer] = event.seq;
}

static struct stream *open_stream(uint32_t cpu)
{
	struct err err = ERR_INIT;
	struct stream *stream;

	CHECK(!stream_open(&stream, lab.fd, &buffer, lab.ncpu, cpu, true, &err), "%s", err.text);
	return stream;
}

/* For so long, and until there was a run: on a machine with much else to do the first one may be late. */
static void record(struct stream **stream, struct sight *sight, uint64_t ms)
{
	uint64_t state = 88172645463325252ull, runs;
	struct timespec now, start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		bool more = false;

		runs = 0;
		for (uint32_t cpu = 0; cpu < lab.ncpu; cpu++) {
			uint32_t steps;
			int ret = 1;

			state ^= state << 13, state ^= state >> 7, state ^= state << 17;
			steps = 1 + state % 40;
			sight[cpu].take.max = 1 + (uint32_t)(state >> 20) % 64;
			while (ret && steps--)
				ret = take_step(&sight[cpu].take, stream[cpu], state >> 30 & 1);
			more |= ret;
			runs += sight[cpu].take.runs;
			if (state >> 40 & 63)
				continue;
			/* What stream_next() yielded last is not accepted by itself. */
			stream_accept(stream[cpu]);
			stream_close(stream[cpu]);
			stream[cpu] = open_stream(cpu);
			/* Which knows nothing of times before. */
			sight[cpu].take.last_ts = 0;
		}
		if (!more)
			__atomic_fetch_add(&drained, 1, __ATOMIC_RELAXED);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!runs || (uint64_t)(now.tv_sec - start.tv_sec) * 1000 + (uint64_t)now.tv_nsec / 1000000 <
				  ms + (uint64_t)start.tv_nsec / 1000000);
}

/* What is left, and one event more for each CPU, since a loss is told with the event that follows it. */
static void finish(struct stream **stream, struct sight *sight)
{
	for (uint32_t cpu = 0; cpu < lab.ncpu; cpu++) {
		struct event last = { .writer = 0, .seq = tally[0].seq++ };
		uint32_t words = event_words(&last);
		struct ring_rseq fake = { .cpu_id = cpu };
		struct ring_op op = lab_op(&lab, &last, 8 + 4 * words);

		for (uint32_t i = 0; i < words; i++)
			last.word[i] = event_word(&last, i);
		while (take_step(&sight[cpu].take, stream[cpu], true))
			;
		CHECK(ring_write(&fake, &op) == RING_DONE, "write");
		tally[0].done++;
		while (take_step(&sight[cpu].take, stream[cpu], true))
			;
		stream_accept(stream[cpu]);
	}
}

static void check(struct stream **stream, const struct sight *sight, const char *mode)
{
	uint64_t done = 0, dropped = 0, events = 0, lost = 0, runs = 0, pages = 0, singles = 0, failed = 0;
	struct stream_stats sum = { 0 };
	bool more = false;

	for (uint32_t i = 0; i < WRITERS; i++) {
		done += tally[i].done;
		dropped += tally[i].dropped;
	}
	for (uint32_t cpu = 0; cpu < lab.ncpu; cpu++) {
		const struct take *take = &sight[cpu].take;
		struct stream_stats stats;

		CHECK(!stream_stats(stream[cpu], &stats), "stats");
		CHECK(!stats.entries && stats.read == take->events, "cpu %u: %llu entries, %llu read of %llu", cpu,
		      (unsigned long long)stats.entries, (unsigned long long)stats.read, (unsigned long long)take->events);
		sum.overrun += stats.overrun;
		sum.dropped += stats.dropped;
		events += take->events;
		lost += take->lost;
		runs += take->runs;
		pages += take->pages;
		singles += take->singles;
		failed += take->failed;
		more |= take->more;
	}
	printf("%s: %llu written, %llu dropped: %llu taken, %llu lost; %llu runs of %llu pages, %llu of them for nothing, %llu single pages\n",
	       mode, (unsigned long long)done, (unsigned long long)dropped, (unsigned long long)events, (unsigned long long)lost,
	       (unsigned long long)runs, (unsigned long long)pages, (unsigned long long)failed, (unsigned long long)singles);
	CHECK(events <= done && runs, "R6: more than there were, or no runs");
	/* In overflow rings that were shared nobody knows how many. */
	if (!more)
		CHECK(events + lost == done + dropped && sum.overrun + sum.dropped == lost,
		      "R6: %llu taken, %llu lost of %llu and %llu; told %llu overrun %llu dropped", (unsigned long long)events,
		      (unsigned long long)lost, (unsigned long long)done, (unsigned long long)dropped,
		      (unsigned long long)sum.overrun, (unsigned long long)sum.dropped);
}

static void live(uint32_t flags, const char *mode, uint32_t ncpu, uint64_t ms)
{
	struct sight *sight = calloc(ncpu, sizeof(*sight));
	struct stream *stream[CPUS_MAX];
	pthread_t thread[WRITERS];

	lab_open(&lab, ncpu, NPAGES, PAGE, flags | RING_REF_COUNTER);
	buffer = (struct state_buffer){ .page_size = PAGE };
	buffer.live = (struct state_set){ .offset = LAB_SET, .npages = NPAGES, .page_size = PAGE, .generation = 1 };
	memset(tally, 0, sizeof(tally));
	stop = 0;
	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		take_init(&sight[cpu].take, 64);
		sight[cpu].take.each = see;
		sight[cpu].take.ctx = &sight[cpu];
		for (uint32_t i = 0; i < WRITERS; i++)
			sight[cpu].last[i] = -1;
		stream[cpu] = open_stream(cpu);
	}
	for (uint32_t i = 0; i < WRITERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, writer_main, (void *)(uintptr_t)i), "thread");
	record(stream, sight, ms);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	finish(stream, sight);
	check(stream, sight, mode);
	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		stream_close(stream[cpu]);
		take_fini(&sight[cpu].take);
	}
	lab_close(&lab);
	free(sight);
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000 : 1500;
	long n = sysconf(_SC_NPROCESSORS_CONF);

	if (!lab_rseq() || n > CPUS_MAX) {
		printf(lab_rseq() ? "too many CPUs for a test\n" : "no rseq here\n");
		return 77;
	}
	live(RING_REF_OVERWRITE, "overwrite", (uint32_t)n, ms);
	live(0, "discard", (uint32_t)n, ms);
	return 0;
}
