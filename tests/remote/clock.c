/*
 * A target's clock is matched to the host's as well as is told, and not worse: a counter that is fast or slow, one that is coarse, a core
 * that sleeps most of its time, one that stands still for a while, and firmware that is wrong about its rate.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hosted_lab.h"
#include "remote/clock.h"

#define PATIENCE_NS 30000000000ull

static const struct kind {
	const char *name;
	uint64_t hz;		/* as it says */
	double off;		/* what it is more, of one */
	long doze_us;		/* between two looks of the target at what is asked */
	uint64_t stops_ns;	/* for so long, */
	int stops;		/* so often */
	uint64_t narrow_ns;	/* so exact it gets */
	int checks;
} kinds[] = {
	{ "as it says", 1000000000, 0, 50, 0, 0, 50000, 300 },
	{ "fast, of a core that sleeps", 25000000, 300e-6, 1000, 0, 0, 300000, 300 },
	{ "slow and coarse", 32768, -0.02, 100, 0, 0, 300000, 300 },
	{ "stands still", 10000000, 20e-6, 100, 30000000, 1, 100000, 300 },
	{ "stands still now and then", 10000000, 300e-6, 20000, 30000000, 5, 2000000, 1500 },
	{ "three times as fast as it says", 8000000, 2, 100, 0, 0, 300000, 300 },
	{ "ten times as slow as it says", 100000000, -0.9, 100, 0, 0, 300000, 300 },
};

/* The target: a thread that answers. */
static struct sim {
	const struct kind *kind;
	struct ringside_fw_ring *ring;
	uint64_t begun;
	_Atomic bool over;
	pthread_mutex_t lock;		/* of the rest */
	uint64_t stood_at;	/* when the clock stopped; 0: it runs */
	uint64_t stood_ns;	/* for how long it has, before that */
} sim = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t ticks_at(uint64_t ns)
{
	uint64_t stood_at, gone;

	pthread_mutex_lock(&sim.lock);
	stood_at = sim.stood_at;
	gone = sim.stood_ns;
	pthread_mutex_unlock(&sim.lock);
	if (stood_at && ns > stood_at)
		gone += ns - stood_at < sim.kind->stops_ns ? ns - stood_at : sim.kind->stops_ns;
	return (uint64_t)((double)(ns - gone - sim.begun) * (double)sim.kind->hz * (1 + sim.kind->off) / 1e9);
}

static void nap(long us)
{
	struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

static void *answer(void *arg)
{
	volatile uint32_t *asked = &sim.ring->asked, *answered = &sim.ring->answered;

	(void)arg;
	while (!sim.over) {
		uint32_t number = *asked;

		if (number != *answered) {
			atomic_thread_fence(memory_order_seq_cst);
			sim.ring->answer = ticks_at(lab_now());
			atomic_thread_fence(memory_order_seq_cst);
			*answered = number;
		}
		nap(sim.kind->doze_us);
	}
	return NULL;
}

/* A time of the target's that is between two of ours, told in ours. */
static uint64_t check(const struct remote_clock *clock)
{
	uint64_t before = lab_now(), ticks = ticks_at(lab_now()), after = lab_now(), error, told;

	told = remote_clock_host(clock, ticks, &error);
	CHECK(error == UINT64_MAX || (told + error >= before && told <= after + error),
	      "%s: it is %llu to %llu and not %llu, by %llu at most", sim.kind->name, (unsigned long long)before, (unsigned long long)after,
	      (unsigned long long)told, (unsigned long long)error);
	return error;
}

static void stop_clock(struct remote_clock *clock, struct remote *remote)
{
	uint64_t now = lab_now(), error;

	pthread_mutex_lock(&sim.lock);
	sim.stood_at = now;
	pthread_mutex_unlock(&sim.lock);
	while (lab_now() < now + sim.kind->stops_ns)
		nap(1000);
	/* Found out with a comparison from behind that: not that of a question that was asked before. */
	clock->asked[0].at = clock->asked[1].at = 0;
	while (remote_clock_look(clock, remote) != 1)
		nap(20);
	/* A rate that was learned is not forgotten with a stop. */
	remote_clock_host(clock, clock->base.ticks + sim.kind->hz, &error);
	CHECK(error - remote_clock_error(clock) < 300000000, "%s: the next second may have %llu ns", sim.kind->name, (unsigned long long)error);
	/* What it has stood is of the past. */
	pthread_mutex_lock(&sim.lock);
	sim.stood_ns += sim.kind->stops_ns;
	sim.stood_at = 0;
	pthread_mutex_unlock(&sim.lock);
}

static void watch(struct remote *remote)
{
	const struct kind *kind = sim.kind;
	uint64_t until = lab_now() + PATIENCE_NS, error;
	struct remote_clock clock;
	int narrow = 0, n = 0, stops = 0;

	remote_clock_init(&clock);
	CHECK(remote_clock_error(&clock) == UINT64_MAX, "%s: known before it was looked at", kind->name);
	remote_clock_match(&clock, remote, 200000000, true);
	/* What nobody could know is found out step by step. */
	for (int i = 0; i < 5 && (kind->off > 0.1 || kind->off < -0.1); i++)
		remote_clock_match(&clock, remote, 200000000, true);
	while (n < kind->checks || !narrow) {
		CHECK(lab_now() < until, "%s: it was never better than %llu ns", kind->name, (unsigned long long)remote_clock_error(&clock));
		if (stops < kind->stops && n == kind->checks * (stops + 1) / (kind->stops + 1)) {
			stop_clock(&clock, remote);
			stops++;
			narrow = 0;
		}
		remote_clock_look(&clock, remote);
		error = check(&clock);
		narrow += error < kind->narrow_ns;
		n++;
		nap(n % 7 ? 300 : 6000);
	}
}

static void try(const struct kind *kind)
{
	struct ringside_fw_hosted_how how = { .nr_rings = 1, .nr_pages = 2, .page_shift = 8, .nr_events = 1, .tick_hz = kind->hz };
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	struct remote_place place = { 0 };
	struct ringside_fw_hosted fw;
	struct err err = ERR_INIT;
	struct remote *remote;
	char path[4096];
	pthread_t thread;
	void *memory;
	int fd, dir;

	snprintf(path, sizeof(path), "%s/memory", scratch);
	dir = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(dir >= 0 && fd >= 0 && !ftruncate(fd, 4096), "%s: %s", path, strerror(errno));
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED && !ringside_fw_hosted_init(memory, 4096, &how) && !ringside_fw_hosted_open(&fw, memory, 4096), "target");
	place.memory = path;
	CHECK(!remote_add(dir, "sim", &place, &err) && !remote_open(&remote, dir, "sim", &err), "%s", err.text);

	sim.kind = kind;
	sim.ring = fw.rings;
	sim.begun = lab_now() - 1000000000;
	sim.stood_at = sim.stood_ns = 0;
	sim.over = false;
	CHECK(!pthread_create(&thread, NULL, answer, NULL), "thread");
	watch(remote);
	sim.over = true;
	pthread_join(thread, NULL);

	remote_close(remote);
	CHECK(!remote_remove(dir, "sim", &err), "%s", err.text);
	munmap(memory, 4096);
	close(fd);
	close(dir);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		try(&kinds[i]);
	return 0;
}
