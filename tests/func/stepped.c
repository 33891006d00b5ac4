/*
 * Calls, one instruction at a time: wherever a thread stands in the library that traces them, an unwinder finds the way out, as it
 * must when a thread is cancelled or a handler throws right there. Not so in the few instructions of a call that were made at run
 * time, of which no table tells: the stack ends there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>
#include <unwind.h>

#define TRAP_FLAG 0x100
/* The ways of calling below, each so often: the first call of a function goes another way than the later ones. */
#define ROUNDS 4

__attribute__((noinline)) uint64_t stepped_leaf(uint64_t n);
__attribute__((noinline)) uint64_t stepped_frame(uint64_t n);
__attribute__((noinline)) uint64_t stepped_tail(uint64_t n);
__attribute__((noinline)) uint64_t stepped_through(uint64_t (*fn)(uint64_t), uint64_t n);

static volatile uint64_t steps, lost;
static volatile int stepping;
static void *lost_at;

uint64_t stepped_leaf(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3 + 1;
}

uint64_t stepped_frame(uint64_t n)
{
	volatile uint64_t kept[4] = { n };

	return stepped_leaf(kept[0]) + kept[0];
}

uint64_t stepped_tail(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return stepped_frame(n + 1);
}

/* The frame to be found from everywhere. */
uint64_t stepped_through(uint64_t (*fn)(uint64_t), uint64_t n)
{
	uint64_t sum;

	stepping = 1;
	/* The first step is the one after these. */
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory");
	sum = fn(n);
	stepping = 0;
	return sum;
}

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
	int *found = arg;

	if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)stepped_through)
		*found = 1;
	return _URC_NO_REASON;
}

static void step(int sig, siginfo_t *info, void *context)
{
	void *pc = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	Dl_info file;
	int found = 0;

	(void)sig, (void)info;
	if (!stepping) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	steps++;
	_Unwind_Backtrace(look, &found);
	if (!found && dladdr(pc, &file) && !lost++)
		lost_at = pc;
}

int main(void)
{
	static uint64_t (*const ways[])(uint64_t) = { stepped_leaf, stepped_frame, stepped_tail };
	struct sigaction act = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };
	uint64_t sum = 0;

	sigaction(SIGTRAP, &act, NULL);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
			sum += stepped_through(ways[w], w);
	if (lost)
		printf("no way out of %" PRIu64 " of %" PRIu64 " steps, first at %p\n", lost, steps, lost_at);
	fprintf(stderr, "%s\n", steps > 50 ? "stepped" : "not a step");
	printf("stepped %" PRIu64 "\n", sum);
	return 0;
}
