/*
 * Everything at the same time (R1, R5, R6, R7, R8): processes whose threads start, trace, fork, vfork and end, timer signals
 * that trace into the middle of it, SIGKILL at random, a consuming reader, a peeking one, and a tool that changes sizes, takes
 * snapshots and switches other events on and off. In the end the sums balance: what was read, told lost or left in
 * snapshots lies between the events whose calls returned and those whose calls began.
 *
 *	storm [SECONDS [wild]]
 *
 * `wild` also clears, changes the page size and switches tracing and the event itself: what is discarded on purpose is
 * counted nowhere, so sums are not asked for then, but everything else is.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>

#include "control/reclaim.h"

#ifndef STORM_WILD
#define STORM_WILD 0
#endif

#define WHO_MAX (1u << 20)
#define SEQ_MAX 4096u
#define WORKERS 3u

struct tally {
	uint64_t attempted, completed;
};

struct arena {
	uint32_t stop;
	uint32_t next_who;
	uint64_t consumer_at;	/* the published word that the consumer has taken in */
	struct tally tally[WHO_MAX];
};

static struct arena *arena;
static int arena_fd;
static struct note_event steady, flip;
static bool wild;

static bool stopped(void)
{
	return __atomic_load_n(&arena->stop, __ATOMIC_RELAXED);
}

/* ---- workers ---- */

struct voice {
	uint32_t who, seq;
};

static __thread struct voice *handler_voice;

static struct voice voice_new(void)
{
	uint32_t who = __atomic_fetch_add(&arena->next_who, 1, __ATOMIC_RELAXED);

	return (struct voice){ .who = who, .seq = who < WHO_MAX ? 0 : SEQ_MAX };
}

static void say(struct voice *voice, uint32_t len)
{
	struct tally *tally = &arena->tally[voice->who];
	uint32_t seq = voice->seq;

	if (seq >= SEQ_MAX)
		return;
	voice->seq = seq + 1;
	__atomic_store_n(&tally->attempted, seq + 1, __ATOMIC_SEQ_CST);
	if (len <= NOTE_SMALL)
		note_write(&steady, voice->who, seq, len);
	else
		note_write_long(&steady, voice->who, seq, len);
	__atomic_store_n(&tally->completed, seq + 1, __ATOMIC_SEQ_CST);
	if (wild)
		note_write(&flip, voice->who, seq, NOTE_MIN);
}

static void on_timer(int signo)
{
	int saved = errno;

	(void)signo;
	if (handler_voice)
		say(handler_voice, NOTE_MIN + 8);
	errno = saved;
}

static uint32_t random_len(uint64_t *dice)
{
	uint32_t n = draw(dice);

	if (n % 64 == 0)
		return NOTE_SMALL + 4 + (n >> 8) % ((NOTE_MAX - NOTE_SMALL) / 4) * 4;
	return NOTE_MIN + (n >> 8) % ((NOTE_SMALL - NOTE_MIN) / 4 + 1) * 4;
}

/* A child of each kind, which traces and goes. */
static void bring_forth(uint64_t *dice)
{
	struct voice voice = voice_new();
	bool shares = draw(dice) % 2;
	pid_t pid = shares ? vfork() : fork();

	if (!pid) {
		for (int i = 0; i < 3; i++)
			say(&voice, NOTE_MIN + 16);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void *thread_life(void *arg)
{
	uint64_t dice = (uintptr_t)arg * 0x9e3779b97f4a7c15ull ^ now_ns();
	struct voice own = voice_new(), handler = voice_new();
	uint32_t events = 256 + draw(&dice) % 2048;

	handler_voice = &handler;
	for (uint32_t i = 0; i < events && !stopped(); i++) {
		uint32_t n = draw(&dice);

		say(&own, random_len(&dice));
		if (n % 64 == 1)
			pause_us((n >> 8) % 400);
		else if (n % 2048 == 2)
			bring_forth(&dice);
	}
	handler_voice = NULL;
	return NULL;
}

static int worker(uint64_t seed)
{
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct itimerspec every = { { 0, 300000 }, { 0, 300000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	unsigned threads = 4 * cores();
	pthread_t *thread = calloc(threads, sizeof(*thread));
	timer_t timer;

	sigaction(SIGALRM, &act, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		return 3;
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, thread_life, (void *)(uintptr_t)(seed * 64 + i + 1)))
			return 4;
	for (unsigned i = 0; !stopped(); i = (i + 1) % threads) {
		pthread_join(thread[i], NULL);
		if (pthread_create(&thread[i], NULL, thread_life, (void *)(uintptr_t)(seed * 64 + i + 1)))
			return 4;
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static pid_t start_worker(uint64_t seed)
{
	char number[32], fd[32];
	pid_t pid = fork();

	if (pid)
		return pid;
	if (seed % 2)
		_exit(worker(seed));
	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	snprintf(fd, sizeof(fd), "%d", arena_fd);
	execl("/proc/self/exe", "storm", "worker", number, fd, wild ? "wild" : "calm", (char *)NULL);
	_exit(127);
}

/* ---- the consuming reader ---- */

struct consumer {
	struct control *control;
	struct stream **stream;
	struct reading *reading;
	uint64_t pages, waits;
};

static uint8_t *seen_bits[WHO_MAX];
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seen_count;	/* of the event that is summed */

/* R6: no event comes twice. */
static void see(const struct seen *seen, void *ctx)
{
	uint8_t *bits;

	(void)ctx;
	CHECK(seen->who < WHO_MAX && seen->seq < SEQ_MAX, "R1: who %u seq %u was never written", seen->who, seen->seq);
	if (seen->id == flip.id)
		return;
	pthread_mutex_lock(&seen_lock);
	bits = seen_bits[seen->who];
	if (!bits)
		bits = seen_bits[seen->who] = calloc(SEQ_MAX / 8, 1);
	CHECK(!(bits[seen->seq / 8] & 1u << seen->seq % 8), "R6: who %u seq %u comes twice", seen->who, seen->seq);
	CHECK(seen->seq < __atomic_load_n(&arena->tally[seen->who].attempted, __ATOMIC_SEQ_CST),
	      "R6: who %u seq %u was not written yet", seen->who, seen->seq);
	bits[seen->seq / 8] |= (uint8_t)(1u << seen->seq % 8);
	seen_count++;
	pthread_mutex_unlock(&seen_lock);
}

static void consumer_update(struct consumer *consumer)
{
	for (uint32_t cpu = 0; cpu < consumer->control->dir.ncpu; cpu++) {
		struct err err = ERR_INIT;
		const struct state_buffer *buffer = &consumer->control->state.buffers[0];
		int ret;

		/* What was read counts as read before its set can go. */
		if (consumer->stream[cpu])
			stream_accept(consumer->stream[cpu]);
		ret = consumer->stream[cpu] ?
			  stream_update(consumer->stream[cpu], buffer, &err) :
			  stream_open(&consumer->stream[cpu], consumer->control->dir.fd[SEGMENT_RINGS], buffer,
				      consumer->control->dir.ncpu, cpu, true, &err);

		CHECK(!ret, "%s", err.text);
		consumer->reading[cpu].each = see;
	}
	__atomic_store_n(&arena->consumer_at, consumer->control->state.published, __ATOMIC_SEQ_CST);
}

static void consumer_look(struct consumer *consumer)
{
	static unsigned char page[PAGE_SIZE_MAX];

	/* Sets are locked first; after that the state must still be the same, so that what is locked is in use. */
	while (!control_state_current(&consumer->control->state, &consumer->control->dir)) {
		tool_refresh(consumer->control);
		consumer_update(consumer);
	}
	for (uint32_t cpu = 0; cpu < consumer->control->dir.ncpu; cpu++) {
		struct stream *stream = consumer->stream[cpu];
		struct stream_page info;

		for (int n = 0; n < 64; n++) {
			int ret = stream_next(stream, page, &info);

			/* What was discarded under our feet may be somebody else's by now. */
			if (wild && !control_state_current(&consumer->control->state, &consumer->control->dir))
				return;
			CHECK(ret >= 0, "cpu %u: %s", cpu, strerror(-ret));
			if (!ret)
				break;
			read_page(&consumer->reading[cpu], cpu, page, stream_page_size(stream), &info);
			consumer->pages++;
		}
	}
}

static bool changed;		/* the tool has made its last change */

/* To the tool's end: a change may wait for readers to be through with what they have open. */
static void *consumer_life(void *arg)
{
	struct consumer *consumer = arg;

	consumer->control = tool_open();
	consumer->stream = calloc(consumer->control->dir.ncpu, sizeof(*consumer->stream));
	consumer->reading = calloc(consumer->control->dir.ncpu, sizeof(*consumer->reading));
	while (!stopped() || !__atomic_load_n(&changed, __ATOMIC_ACQUIRE)) {
		consumer_look(consumer);
		consumer->waits++;
		stream_wait_any(consumer->stream, consumer->control->dir.ncpu, 50);
	}
	return NULL;
}

static void consumer_end(struct consumer *consumer)
{
	for (uint32_t cpu = 0; cpu < consumer->control->dir.ncpu; cpu++)
		stream_close(consumer->stream[cpu]);
	free(consumer->stream);
	free(consumer->reading);
	control_close(consumer->control);
}

/* ---- a peeking reader, in a process of its own ---- */

static int peeker(void)
{
	struct control *control = tool_open();
	unsigned char *page = malloc(PAGE_SIZE_MAX);

	while (!stopped()) {
		tool_refresh(control);
		for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
			struct reading reading = { 0 };
			struct stream_page info;
			struct stream *stream;

			if (stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
					control->dir.ncpu, cpu, false, NULL))
				continue;
			while (stream_next(stream, page, &info) > 0 &&
			       control_state_current(&control->state, &control->dir) && !stopped())
				read_page(&reading, cpu, page, stream_page_size(stream), &info);
			stream_close(stream);
		}
		pause_us(2000);
	}
	free(page);
	control_close(control);
	return 0;
}

/* ---- the tool ---- */

static uint64_t snapshot_lost;	/* in sets that became snapshots, before anybody could be told */
static bool snapshot_left;	/* one was taken as it all ended: counted when the consumer is through */
static uint64_t tool_changes;

/* False: it all ended before the consumer was that far. */
static bool await_consumer(const struct control *control)
{
	while (__atomic_load_n(&arena->consumer_at, __ATOMIC_SEQ_CST) != control->state.published) {
		if (stopped())
			return false;
		pause_us(500);
	}
	return true;
}

/* What a snapshot holds is nobody's but ours: look through what the consumer had not got. */
static void count_snapshot(struct control *control)
{
	struct state_buffer kept = control->state.buffers[0];

	if (!kept.snapshot.offset)
		return;
	kept.live = kept.snapshot;
	kept.nretired = 0;
	while (!control_quiesce(control, false))
		pause_us(1000);
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		struct reading reading = { .each = see };
		struct stream *stream;
		struct err err = ERR_INIT;

		CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &kept, control->dir.ncpu, cpu, false,
				   &err), "%s", err.text);
		read_stream(&reading, stream, cpu);
		stream_close(stream);
		snapshot_lost += reading.lost;
	}
}

/* Only when everything older was read: a snapshot gives up retired sets. */
static void take_snapshot(struct control *control)
{
	struct err err = ERR_INIT;
	struct state_buffer *buffer = &control->state.buffers[0];
	bool taken = false;
	int r = 0;

	tool_begin(control);
	if (!buffer->nretired || wild) {
		r = control_buffer_snapshot(control, buffer, &err);
		/* A wild one may be too early for the reader of retired sets, and is told so. */
		CHECK(!r || (wild && r == -EBUSY), "%s", err.text);
		taken = true;
	}
	if (r)
		control_cancel(control);
	else
		tool_commit(control);
	if (!taken || wild)
		return;
	if (await_consumer(control))
		count_snapshot(control);
	else
		snapshot_left = true;
}

static void tame_change(struct control *control, uint64_t *dice)
{
	static const uint32_t sizes[] = { 4, 5, 17, 64, 300, 1000 };
	uint32_t n = draw(dice);

	switch (n % 8) {
	case 0:
		take_snapshot(control);
		break;
	case 1:
	case 2:
		tool_enable(control, "other", n & 256 ? "one" : "two", n & 512);
		break;
	default:
		tool_resize(control, sizes[(n >> 8) % 6]);
	}
}

static void wild_change(struct control *control, uint64_t *dice)
{
	struct state_buffer *buffer = &control->state.buffers[0];
	struct err err = ERR_INIT;
	uint32_t n = draw(dice);
	int r = 0;

	tool_begin(control);
	switch (n % 4) {
	case 0:
		r = control_buffer_clear(control, buffer, &err);
		break;
	case 1:
		r = control_buffer_subbuf(control, buffer, 4096u << (n >> 8) % 4, &err);
		break;
	case 2:
		buffer->flags ^= n & 256 ? BUFFER_ON : BUFFER_OVERWRITE;
		break;
	default:
		r = control_enable(control, 0, "test", n & 256 ? "flip" : "steady", n & 512, &err);
	}
	/* A tool that outruns reclaiming is told so. */
	CHECK(!r || r == -EBUSY, "%s", err.text);
	if (r)
		control_cancel(control);
	else
		tool_commit(control);
}

static void *tool_life(void *arg)
{
	struct control *control = tool_open();
	uint64_t dice = 88172645463325252ull;

	(void)arg;
	while (!stopped()) {
		if (wild && draw(&dice) % 2)
			wild_change(control, &dice);
		else
			tame_change(control, &dice);
		tool_changes++;
		pause_us(draw(&dice) % 3000);
	}
	control_close(control);
	__atomic_store_n(&changed, true, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the whole ---- */

static void arena_map(int fd)
{
	arena_fd = fd;
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(arena != MAP_FAILED, "%s", strerror(errno));
}

static void join_events(void)
{
	steady = note_event("steady");
	flip = note_event("flip");
}

static uint32_t kill_and_raise(pid_t pid[WORKERS], unsigned seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ull, dice = 424242;
	uint32_t kills = 0;

	for (uint32_t i = 0; i < WORKERS; i++)
		pid[i] = start_worker(i + 1);
	while (now_ns() < end) {
		uint32_t victim = draw(&dice) % WORKERS;
		int status;

		pause_us(2000 + draw(&dice) % 60000);
		kill(pid[victim], SIGKILL);
		CHECK(waitpid(pid[victim], &status, 0) == pid[victim] && WIFSIGNALED(status) &&
		      WTERMSIG(status) == SIGKILL, "a worker ended by itself: %x", status);
		kills++;
		pid[victim] = start_worker(WORKERS + kills);
	}
	return kills;
}

static void check_sums(struct consumer *consumer)
{
	uint64_t attempted = 0, completed = 0, lost = 0, untold = 0;
	uint32_t whos = arena->next_who < WHO_MAX ? arena->next_who : WHO_MAX;
	struct registry_head registry;
	struct control *control = consumer->control;

	/* All that is left, and what no page was there to tell of. */
	for (int i = 0; i < 3; i++)
		consumer_look(consumer);
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		read_stream(&consumer->reading[cpu], consumer->stream[cpu], cpu);
		lost += consumer->reading[cpu].lost;
		stream_accept(consumer->stream[cpu]);
	}
	if (snapshot_left)
		count_snapshot(control);
	for (uint32_t i = 0; i <= control->state.buffers[0].nretired; i++) {
		struct state_buffer *buffer = &control->state.buffers[0];
		uint64_t *unread = calloc(control->dir.ncpu, sizeof(*unread));

		CHECK(!control_set_unread(control, i < buffer->nretired ? &buffer->retired[i] : &buffer->live,
					  unread), "a set makes no sense");
		for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++)
			untold += unread[cpu];
		free(unread);
	}
	CHECK(pread(control->dir.fd[SEGMENT_REGISTRY], &registry, sizeof(registry), 0) == sizeof(registry), "registry");
	for (uint32_t who = 0; who < whos; who++) {
		attempted += arena->tally[who].attempted;
		completed += arena->tally[who].completed;
	}
	printf("attempted %llu, returned %llu: read %llu + lost %llu + untold %llu + in snapshots %llu + refused %llu\n",
	       (unsigned long long)attempted, (unsigned long long)completed, (unsigned long long)seen_count,
	       (unsigned long long)lost, (unsigned long long)untold, (unsigned long long)snapshot_lost,
	       (unsigned long long)registry.refused);
	lost += seen_count + untold + snapshot_lost + registry.refused;
	CHECK(lost >= completed, "R6: %llu events vanished", (unsigned long long)(completed - lost));
	CHECK(lost <= attempted, "R6: %llu events too many", (unsigned long long)(lost - attempted));
}

static void end_all(pid_t pid[WORKERS], pid_t peek)
{
	__atomic_store_n(&arena->stop, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < WORKERS; i++)
		expect_exit(pid[i], 30, "a worker");
	expect_exit(peek, 30, "the peeking reader");
	/* Orphans of the killed. */
	for (uint64_t end = now_ns() + 30000000000ull; waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;) {
		CHECK(now_ns() < end, "an orphan hangs");
		pause_us(1000);
	}
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : STORM_WILD ? 5 : 6;
	struct consumer consumer = { 0 };
	pthread_t reader, changer;
	struct control *control;
	pid_t pid[WORKERS], peek;
	uint32_t kills;

	if (argc == 5) {
		wild = !strcmp(argv[4], "wild");
		arena_map(atoi(argv[3]));
		join_events();
		return worker(strtoull(argv[2], NULL, 10));
	}
	wild = argc > 2 || STORM_WILD;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	control = tool_start(64);
	join_events();
	arena_fd = memfd_create("arena", 0);
	CHECK(!ftruncate(arena_fd, sizeof(*arena)), "%s", strerror(errno));
	arena_map(arena_fd);

	peek = fork();
	if (!peek)
		_exit(peeker());
	pthread_create(&reader, NULL, consumer_life, &consumer);
	pthread_create(&changer, NULL, tool_life, NULL);
	kills = kill_and_raise(pid, seconds);
	end_all(pid, peek);
	pthread_join(reader, NULL);
	pthread_join(changer, NULL);
	printf("%u kills, %u voices, %llu changes, %llu pages, %llu waits\n", kills, arena->next_who,
	       (unsigned long long)tool_changes, (unsigned long long)consumer.pages,
	       (unsigned long long)consumer.waits);
	CHECK(seen_count > 1000, "only %llu events were read", (unsigned long long)seen_count);
	if (!wild)
		check_sums(&consumer);
	consumer_end(&consumer);
	control_close(control);
	return 0;
}
