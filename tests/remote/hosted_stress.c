/*
 * The firmware's writer in many threads, a ring for each, with timer signals whose handlers trace into the ring of the thread that they
 * interrupt, as interrupts do; and the host's reader beside them.
 *
 * A thread counts its events and its handler's. Each is seen whole, or not; the host's reader tells how many are missing, to the one: an
 * event's place in the ring's own count has to be what its two writers' counts come to. Times never go back.
 *
 *   hosted_stress [SECONDS]
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hosted_lab.h"

#define TICK_NS 100000
#define THREADS_MAX 256u
#define LAPSE_NS 2000000u /* between resets */

enum { THREAD, HANDLER };

/* One thread. What is written here is read when it has ended, or from its own handler. */
struct writer {
	pthread_t thread;
	uint32_t ring;
	volatile uint32_t begun[2], ended[2];
} __attribute__((aligned(64)));

/* What a ring's count has come to. */
struct sight {
	uint32_t known[2]; /* events of each writer, at least; exactly so behind an event whose index is right */
	uint64_t seen[2];
	uint32_t pages; /* that were seen */
};

struct scene {
	const char *name;
	uint32_t shift, pages, flags;
	uint32_t words; /* of a record, at most; 0: as many as there is room for */
	bool resets;
};

static struct lab lab;
static struct writer writers[THREADS_MAX];
static const struct scene *scene;
static uint32_t threads;
static _Atomic bool stop;
static __thread struct writer *self;

/* ---- writing ---- */

static void write_one(struct writer *writer, uint32_t who)
{
	uint32_t seq = writer->begun[who], other = writer->ended[!who];
	uint32_t most = scene->words ? scene->words : lab.fw.words_max, words = RECORD_MIN + (seq * 0x9e3779b1u >> 16) % (most - RECORD_MIN + 1);
	struct record record;

	writer->begun[who] = seq + 1;
	record_fill(&record, who, seq, other, words);
	ringside_fw_hosted_write(&lab.fw, writer->ring, &record, words);
	writer->ended[who] = seq + 1;
}

static void on_tick(int signo)
{
	int saved = errno;

	(void)signo;
	if (self)
		write_one(self, HANDLER);
	errno = saved;
}

static void *writer_main(void *arg)
{
	struct itimerspec every = { .it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct timespec nap = { .tv_nsec = 300000 };
	uint64_t state = 88172645463325252ull;
	timer_t timer;

	self = arg;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	/* A reader that hardly ever runs sees little. */
	CHECK(!setpriority(PRIO_PROCESS, (id_t)event._sigev_un._tid, getpriority(PRIO_PROCESS, 0) + 10), "%s", strerror(errno));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &every, NULL), "timer");
	while (!stop) {
		for (int i = 0; i < 16; i++)
			write_one(self, THREAD);
		ringside_fw_hosted_tick(&lab.fw, self->ring);
		/* Now and then it is only the handler that traces, and nothing is lost. */
		if (!(draw(&state) % 32))
			nanosleep(&nap, NULL);
	}
	timer_delete(timer);
	/* One that is under way comes before this ends. */
	self = NULL;
	return NULL;
}

/* ---- reading ---- */

/* `index` events were tried before this one: so many by its writer, and the rest by the other one. */
static void see_index(struct watch *watch, const struct record *record, uint32_t index)
{
	struct sight *sight = watch->data;
	uint32_t who = record->writer, rest = index - record->seq;

	CHECK(index >= record->seq && rest >= record->other && rest >= sight->known[!who] && (who == THREAD || rest <= record->other + 1),
	      "%s: ring %u: writer %u's event %u is the ring's %u, so the other one has %u; it had %u at least, and %u were seen",
	      watch->where, watch->ring, who, record->seq, index, rest, record->other, sight->known[!who]);
	sight->known[!who] = rest;
}

static void see(struct watch *watch, const struct record *record, uint32_t index, uint64_t ts)
{
	struct sight *sight = watch->data;
	uint32_t who = record->writer;

	(void)ts;
	CHECK(who <= HANDLER && record->seq >= sight->known[who], "%s: ring %u: writer %u's event %u comes after %u of them", watch->where,
	      watch->ring, who, record->seq, sight->known[who]);
	sight->pages += watch->first;
	CHECK(!(scene->flags & RINGSIDE_FW_DISCARD) || scene->resets || watch->page + 1 == sight->pages,
	      "%s: ring %u: page %u is the %uth to be seen: others were overwritten", watch->where, watch->ring, watch->page, sight->pages);
	see_index(watch, record, index);
	sight->known[who] = record->seq + 1;
	sight->seen[who]++;
}

static void store(uint32_t ring, size_t member, uint32_t value)
{
	CHECK(!remote_memory_store(&lab.memory, lab.target.rings[ring].at + member, &value), "%s", strerror(errno));
}

struct ask {
	uint32_t asked;
	bool waiting;
	uint64_t when;
	uint32_t answers;
};

/* Whoever is kept from looking while the ring goes on looks another time. */
static bool can_look(uint32_t ring, struct remote_look *look)
{
	int r = remote_ring_look(&lab.target, &lab.memory, ring, look);

	CHECK(!r || r == -EAGAIN, "ring %u: a look ends with %d", ring, r);
	return !r;
}

/* The ring is emptied again and again; the time at which it was is told. */
static void ask_reset(struct ask *ask, uint32_t ring)
{
	struct remote_look look;

	if (!can_look(ring, &look))
		return;
	if (ask->waiting && ask->asked == look.answered) {
		/* Only now does the time that belongs to it have to be there. */
		if (!can_look(ring, &look))
			return;
		CHECK(look.answer >= ask->when && look.answer <= lab_now(), "ring %u: answered at %llu, asked at %llu", ring,
		      (unsigned long long)look.answer, (unsigned long long)ask->when);
		ask->waiting = false;
		ask->answers++;
	}
	if (ask->waiting || lab_now() - ask->when < LAPSE_NS)
		return;
	ask->waiting = true;
	ask->asked = (ask->asked + 2) | 1;
	ask->when = lab_now();
	store(ring, offsetof(struct ringside_fw_ring, asked), ask->asked);
}

static void read_all(struct watch *watch, struct ask *ask, bool quiet)
{
	bool some;

	do {
		some = false;
		for (uint32_t i = 0; i < threads; i++) {
			for (int pages = 0; pages < 4 && watch_page(&watch[i]); pages++)
				some = true;
			if (scene->flags & RINGSIDE_FW_DISCARD)
				store(i, offsetof(struct ringside_fw_ring, consumed), watch[i].cursor.number);
			if (scene->resets && !quiet)
				ask_reset(&ask[i], i);
		}
	} while (quiet && some);
}

/* ---- the end of it ---- */

struct sum {
	uint64_t tried, seen, lost, handlers, answers;
};

static void account(const struct watch *watch, const struct writer *writer, struct sum *sum)
{
	const struct sight *sight = watch->data;
	uint32_t count = lab.fw.rings[watch->ring].count, tried = writer->begun[THREAD] + writer->begun[HANDLER];
	/* Behind the last page that was begun. */
	uint32_t refused = scene->flags & RINGSIDE_FW_DISCARD ? count - watch->cursor.count : 0;

	CHECK(count == tried, "%s: ring %u counts %u events of %u", scene->name, watch->ring, count, tried);
	CHECK(scene->resets || watch->events + watch->lost + refused == tried, "%s: ring %u: %llu seen and %llu lost of %u", scene->name,
	      watch->ring, (unsigned long long)watch->events, (unsigned long long)watch->lost + refused, tried);
	sum->tried += tried;
	sum->seen += watch->events;
	sum->lost += watch->lost + refused;
	sum->handlers += sight->seen[HANDLER];
}

static void run(double seconds)
{
	struct watch *watch = calloc(threads, sizeof(*watch));
	struct sight *sight = calloc(threads, sizeof(*sight));
	struct ask *ask = calloc(threads, sizeof(*ask));
	struct sum sum = { 0 };
	uint64_t end;

	CHECK(watch && sight && ask, "memory");
	lab_open(&lab, threads, scene->pages, scene->shift, scene->flags);
	memset(writers, 0, sizeof(writers));
	stop = false;
	for (uint32_t i = 0; i < threads; i++) {
		watch[i] = (struct watch){ .lab = &lab, .ring = i, .where = scene->name, .see = see, .data = &sight[i] };
		CHECK(!watch_page(&watch[i]), "%s: a new ring holds something", scene->name);
		writers[i].ring = i;
	}
	for (uint32_t i = 0; i < threads; i++)
		CHECK(!pthread_create(&writers[i].thread, NULL, writer_main, &writers[i]), "thread");
	for (end = lab_now() + (uint64_t)(seconds * 1e9); lab_now() < end;)
		read_all(watch, ask, false);
	stop = true;
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(writers[i].thread, NULL);
	read_all(watch, ask, true);
	for (uint32_t i = 0; i < threads; i++) {
		account(&watch[i], &writers[i], &sum);
		sum.answers += ask[i].answers;
	}
	printf("%-24s %9llu tried, %9llu seen, %9llu lost, %llu seen of handlers, %llu resets\n", scene->name, (unsigned long long)sum.tried,
	       (unsigned long long)sum.seen, (unsigned long long)sum.lost, (unsigned long long)sum.handlers,
	       (unsigned long long)sum.answers);
	CHECK(sum.seen && sum.handlers, "%s: nothing was seen, which proves nothing", scene->name);
	CHECK(!scene->resets || sum.answers, "%s: no reset was answered", scene->name);
	lab_close(&lab);
	free(watch);
	free(sight);
	free(ask);
}

static const struct scene scenes[] = {
	{ .name = "256 bytes", .shift = 8, .pages = 8, .words = 20 },
	{ .name = "256 bytes, two pages", .shift = 8, .pages = 2, .words = 12 },
	{ .name = "256 bytes, long records", .shift = 8, .pages = 16 },
	{ .name = "512 bytes", .shift = 9, .pages = 8, .words = 40 },
	{ .name = "4096 bytes", .shift = 12, .pages = 4, .words = 40 },
	{ .name = "4096 bytes, long records", .shift = 12, .pages = 8 },
	{ .name = "resets", .shift = 9, .pages = 8, .words = 20, .resets = true },
	{ .name = "discard, 256 bytes", .shift = 8, .pages = 8, .flags = RINGSIDE_FW_DISCARD, .words = 30 },
	{ .name = "discard, 4096 bytes", .shift = 12, .pages = 4, .flags = RINGSIDE_FW_DISCARD, .words = 60 },
	{ .name = "discard, resets", .shift = 10, .pages = 2, .flags = RINGSIDE_FW_DISCARD, .words = 60, .resets = true },
};

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double seconds = argc > 1 ? atof(argv[1]) : getenv("RINGSIDE_LONG") ? 60 : 6;

	threads = cores < 1 ? 4 : cores > (long)THREADS_MAX / 4 ? THREADS_MAX : 4 * (uint32_t)cores;
	setvbuf(stdout, NULL, _IONBF, 0);
	sigaction(SIGALRM, &action, NULL);
	for (unsigned i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		scene = &scenes[i];
		run(seconds / (sizeof(scenes) / sizeof(scenes[0])));
	}
	return 0;
}
