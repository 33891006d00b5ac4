/*
 * record/movers: see movers.h.
 */
#include "record/movers.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What could not be moved, though it should, is tried again after that; a buffer lasts longer. */
#define AGAIN_NS 1000000
/* Of a CPU that is not there it is looked for after that, whether it has come. */
#define ABSENT_MS 250

struct mover {
	struct movers *all;
	uint32_t cpu;
	struct hose **hoses;	/* of this CPU */
	struct pollfd *wait;	/* for each of them, and for the end behind the last */
	size_t nr;
	pthread_t thread;
	uint32_t tid;		/* 0: it has not begun */
};

struct movers {
	struct mover *mover;
	size_t nr;
	int stop;		/* an eventfd that ends them */
	uint32_t bell, heard;
};

static void futex(uint32_t *word, int what, uint32_t value, const struct timespec *limit)
{
	syscall(SYS_futex, word, what, value, limit, NULL, 0);
}

/* ---- one of them ---- */

/* Where the caller keeps away from a CPU, it has its reasons. */
static void settle(uint32_t cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1) > sizeof(cpu_set_t) ? CPU_ALLOC_SIZE(cpu + 1) : sizeof(cpu_set_t);
	cpu_set_t *set = calloc(1, size);

	if (set && !sched_getaffinity(0, size, set) && CPU_ISSET_S(cpu, size, set)) {
		CPU_ZERO_S(size, set);
		CPU_SET_S(cpu, size, set);
		sched_setaffinity(0, size, set);
	}
	free(set);
}

/* Behind those who fill the buffers it would be late, and what it does is done in microseconds. Who may not goes on as he is. */
static void hurry(void)
{
	const struct sched_param least = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	if (sched_setscheduler(0, SCHED_RR, &least))
		setpriority(PRIO_PROCESS, 0, -20);
}

/* Whatever has enough to read goes into its pipe. False: something is left, which has no room there, or never had anything. */
static bool move_all(struct mover *mover)
{
	bool all = true;

	/* What goes wrong comes again when the caller tries. */
	for (size_t i = 0; i < mover->nr; i++)
		if (mover->wait[i].revents)
			all &= hose_fill(mover->hoses[i]) > 0;
	return all;
}

/* A kernel has no buffers of a CPU that was never online: a wait for one of them ends at once. */
static bool is_absent(const struct mover *mover)
{
	for (size_t i = 0; i < mover->nr; i++)
		if (mover->wait[i].revents != POLLERR)
			return false;
	return true;
}

static void *serve(void *arg)
{
	const struct timespec soon = { 0, AGAIN_NS };
	struct mover *mover = arg;
	struct movers *movers = mover->all;

	settle(mover->cpu);
	hurry();
	/* Partner: begin_one(). */
	__atomic_store_n(&mover->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	futex(&mover->tid, FUTEX_WAKE, INT_MAX, NULL);
	for (;;) {
		uint32_t heard = __atomic_load_n(&movers->heard, __ATOMIC_ACQUIRE);
		bool all;

		if (poll(mover->wait, mover->nr + 1, -1) < 0 && errno != EINTR)
			return NULL;
		if (mover->wait[mover->nr].revents)
			return NULL;
		if (is_absent(mover)) {
			poll(&mover->wait[mover->nr], 1, ABSENT_MS);
			continue;
		}
		all = move_all(mover);
		__atomic_fetch_add(&movers->bell, 1, __ATOMIC_RELEASE);
		futex(&movers->bell, FUTEX_WAKE, INT_MAX, NULL);
		/* Partner: movers_hush(). */
		if (!all && __atomic_load_n(&movers->heard, __ATOMIC_ACQUIRE) == heard)
			futex(&movers->heard, FUTEX_WAIT, heard, &soon);
	}
}

/* ---- all of them ---- */

/* With the caller's real-time priority, if it has one, which threads do not get by themselves. */
static void share_priority(pid_t tid)
{
	int policy = sched_getscheduler(0);
	struct sched_param param;

	if (policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER && !sched_getparam(0, &param))
		sched_setscheduler(tid, policy, &param);
}

static bool gather(struct mover *mover, struct hose **hoses, size_t nr, uint32_t cpu)
{
	*mover = (struct mover){
		.all = mover->all, .cpu = cpu, .hoses = calloc(nr, sizeof(*hoses)), .wait = calloc(nr + 1, sizeof(*mover->wait)),
	};
	if (!mover->hoses || !mover->wait)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (hoses[i]->cpu != cpu)
			continue;
		mover->wait[mover->nr] = (struct pollfd){ .fd = hoses[i]->raw, .events = POLLIN };
		mover->hoses[mover->nr++] = hoses[i];
	}
	mover->wait[mover->nr] = (struct pollfd){ .fd = mover->all->stop, .events = POLLIN };
	return true;
}

static void drop(struct mover *mover)
{
	free(mover->hoses);
	free(mover->wait);
}

static bool begin_one(struct mover *mover)
{
	sigset_t all, before;
	bool begun;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	begun = !pthread_create(&mover->thread, NULL, serve, mover);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!begun)
		return false;
	/* Asleep: a caller of real-time priority would keep it from the CPU that both are on. */
	while (!__atomic_load_n(&mover->tid, __ATOMIC_ACQUIRE))
		futex(&mover->tid, FUTEX_WAIT, 0, NULL);
	share_priority((pid_t)mover->tid);
	for (size_t i = 0; i < mover->nr; i++)
		mover->hoses[i]->served = true;
	return true;
}

static uint32_t cpus_of(struct hose *const *hoses, size_t nr)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < nr; i++)
		if (hoses[i]->cpu >= cpus)
			cpus = hoses[i]->cpu + 1;
	return cpus;
}

struct movers *movers_begin(struct hose **hoses, size_t nr)
{
	const uint32_t cpus = cpus_of(hoses, nr);
	struct movers *movers = calloc(1, sizeof(*movers));

	if (!movers)
		return NULL;
	movers->stop = eventfd(0, EFD_CLOEXEC);
	movers->mover = calloc(cpus + 1, sizeof(*movers->mover));
	for (uint32_t cpu = 0; movers->stop >= 0 && movers->mover && cpu < cpus; cpu++) {
		struct mover *mover = &movers->mover[movers->nr];

		mover->all = movers;
		if (gather(mover, hoses, nr, cpu) && mover->nr && begin_one(mover))
			movers->nr++;
		else
			drop(mover);
	}
	if (movers->nr)
		return movers;
	movers_end(movers);
	return NULL;
}

void movers_end(struct movers *movers)
{
	uint64_t one = 1;

	if (movers->nr)
		(void)!write(movers->stop, &one, sizeof(one));
	movers_hush(movers);
	for (size_t i = 0; i < movers->nr; i++) {
		struct mover *mover = &movers->mover[i];

		pthread_join(mover->thread, NULL);
		for (size_t h = 0; h < mover->nr; h++)
			mover->hoses[h]->served = false;
		drop(mover);
	}
	if (movers->stop >= 0)
		close(movers->stop);
	free(movers->mover);
	free(movers);
}

pid_t movers_tid(const struct movers *movers, size_t i)
{
	return i < movers->nr ? (pid_t)movers->mover[i].tid : 0;
}

const uint32_t *movers_bell(const struct movers *movers)
{
	return &movers->bell;
}

void movers_hush(struct movers *movers)
{
	__atomic_fetch_add(&movers->heard, 1, __ATOMIC_RELEASE);
	futex(&movers->heard, FUTEX_WAKE, INT_MAX, NULL);
}
