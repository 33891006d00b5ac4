/* SPDX-License-Identifier: MIT */
/*
 * rseq_smoke - the test machine aborts rseq sections as a kernel should.
 *
 * Every other aarch64 result rests on that, so it is proven first, with nothing of Ringside's in
 * it: four threads on two CPUs add to per-CPU counters inside a section that glibc's
 * registration covers, and a timer signal adds to them from its handler about every
 * millisecond. An addition is load, wait, store, so whatever another adds to the same counter
 * in between is overwritten and missing from the sum.
 *
 *	with the section     sections are aborted, and the counters hold every addition
 *	without (control)    the same code with rseq_cs left empty loses additions
 *
 * The control gives the first half its worth: a machine that never preempts inside the section
 * would pass that half, and fails this one.
 *
 * Exit 0 or 1. It never skips: a machine without rseq is no test machine.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __aarch64__
#error "the section below is aarch64 code"
#endif

#define THREADS	 4
#define CPUS	 2
#define ROUND_NS 2000000000
#define WAIT	 1000 /* turns of the loop between load and store */
#define TICK_NS	 997000

_Static_assert(RSEQ_SIG == 0xd428bc00, "what precedes the abort handler");
_Static_assert(offsetof(struct rseq, cpu_id) == 4, "read by number in the section");
_Static_assert(offsetof(struct rseq, rseq_cs) == 8, "written by number before the section");

/* A cache line each: the two CPUs share nothing but the code. */
struct counter {
	_Alignas(64) uint64_t value;
};

/* One for the thread and one for its handler, so that neither loses the other's count. */
struct tally {
	uint64_t added;
	uint64_t aborts;
};

struct worker {
	pthread_t thread;
	bool guarded;
	struct tally outer;
	struct tally handler;
};

static struct counter counters[CPUS];
static _Thread_local struct worker *self;

static struct rseq *rseq_self(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/*
 * Add one to the counter of the CPU that this runs on: 0, -EAGAIN after an abort, -ERANGE where
 * that CPU has none. Without guard the kernel is told of no section, and lets it be interrupted.
 * The abort handler lies outside the section, after its signature.
 */
static int add_once(bool guarded)
{
	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n\t"
		     ".balign 32\n"
		     "3:\n\t"
		     ".word 0, 0\n\t"
		     ".quad 1f, 2f - 1f, 4f\n\t"
		     ".popsection\n\t"
		     "adrp x9, 3b\n\t"
		     "add x9, x9, :lo12:3b\n\t"
		     "cmp %w[guarded], #0\n\t"
		     "csel x9, x9, xzr, ne\n\t"
		     "str x9, [%[rseq], #8]\n"
		     "1:\n\t"
		     "ldr w9, [%[rseq], #4]\n\t"
		     "cmp w9, %w[cpus]\n\t"
		     "b.hs %l[no_counter]\n\t"
		     "add x9, %[counters], x9, lsl #6\n\t"
		     "ldr x10, [x9]\n\t"
		     "mov w11, %w[wait]\n"
		     "5:\n\t"
		     "subs w11, w11, #1\n\t"
		     "b.ne 5b\n\t"
		     "add x10, x10, #1\n\t"
		     "str x10, [x9]\n"
		     "2:\n\t"
		     ".pushsection .text.unlikely, \"ax\"\n\t"
		     ".inst 0xd428bc00\n"
		     "4:\n\t"
		     "b %l[aborted]\n\t"
		     ".popsection\n"
		     :
		     : [rseq] "r"(rseq_self()), [counters] "r"(counters), [cpus] "r"(CPUS),
		       [wait] "r"(WAIT), [guarded] "r"(guarded)
		     : "x9", "x10", "x11", "cc", "memory"
		     : aborted, no_counter);
	return 0;
aborted:
	return -EAGAIN;
no_counter:
	return -ERANGE;
}

/* Aborts end by themselves: a section takes microseconds, a tick comes every millisecond. */
static bool add(struct tally *tally, bool guarded)
{
	int err;

	while ((err = add_once(guarded)) == -EAGAIN)
		tally->aborts++;
	if (err == 0)
		tally->added++;
	return err == 0;
}

static void on_tick(int signo)
{
	(void)signo;
	if (self)
		add(&self->handler, self->guarded);
}

/* Ticks that come to this thread and no other. */
static int ticks_start(timer_t *timer)
{
	struct itimerspec every = {
		.it_interval.tv_nsec = TICK_NS,
		.it_value.tv_nsec = TICK_NS,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM,
	};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0)
		return -errno;
	if (timer_settime(*timer, 0, &every, NULL) != 0)
		return -errno;
	return 0;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Ends with what went wrong, or NULL. */
static void *work(void *arg)
{
	static char no_timer[] = "no timer";
	static char no_counter[] = "cpu_id is not one of the machine's CPUs";
	struct worker *w = arg;
	int64_t end = now_ns() + ROUND_NS;
	timer_t timer;
	bool ok = true;

	self = w;
	if (ticks_start(&timer) != 0)
		return no_timer;
	while (ok && now_ns() < end)
		ok = add(&w->outer, w->guarded);
	timer_delete(timer);
	return ok ? NULL : no_counter;
}

struct sum {
	struct tally outer;
	struct tally handler;
	uint64_t counted;
	uint64_t attempted;
};

static bool round_run(bool guarded, struct sum *sum)
{
	struct worker workers[THREADS] = {0};
	void *failure;
	bool ok = true;

	memset(counters, 0, sizeof(counters));
	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < THREADS; i++) {
		workers[i].guarded = guarded;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return false;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, &failure);
		if (failure) {
			printf("thread %d: %s\n", i, (char *)failure);
			ok = false;
		}
		sum->outer.added += workers[i].outer.added;
		sum->outer.aborts += workers[i].outer.aborts;
		sum->handler.added += workers[i].handler.added;
		sum->handler.aborts += workers[i].handler.aborts;
	}
	for (int i = 0; i < CPUS; i++)
		sum->counted += counters[i].value;
	sum->attempted = sum->outer.added + sum->handler.added;
	printf("%s: threads added %lu with %lu aborts, handlers %lu with %lu\n",
	       guarded ? "section" : "control", sum->outer.added, sum->outer.aborts,
	       sum->handler.added, sum->handler.aborts);
	printf("%s: counters hold %lu + %lu, lost %ld\n", guarded ? "section" : "control",
	       counters[0].value, counters[1].value, (long)(sum->attempted - sum->counted));
	return ok;
}

static bool expect(bool holds, const char *what)
{
	if (!holds)
		printf("not so: %s\n", what);
	return holds;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sum sum;
	bool ok = true;

	if (__rseq_size == 0 || (int)rseq_self()->cpu_id < 0) {
		printf("no rseq: size %u, cpu_id %d\n", __rseq_size, (int)rseq_self()->cpu_id);
		return 1;
	}
	sigaction(SIGALRM, &action, NULL);

	ok &= round_run(true, &sum);
	ok &= expect(sum.counted == sum.attempted, "no addition is lost in a section");
	ok &= expect(sum.outer.aborts > 0, "sections are aborted");
	ok &= expect(sum.handler.added > 0, "handlers ran");
	for (int i = 0; i < CPUS; i++)
		ok &= expect(counters[i].value > 0, "every CPU had its share");

	ok &= round_run(false, &sum);
	ok &= expect(sum.counted < sum.attempted, "without the section additions are lost");
	ok &= expect(sum.outer.aborts + sum.handler.aborts == 0, "without it there are no aborts");
	return ok ? 0 : 1;
}
