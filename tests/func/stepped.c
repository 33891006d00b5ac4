/*
 * Calls, one instruction at a time: wherever a thread stands in the library that traces them, an unwinder finds the way out, as it
 * must when a thread is cancelled or a handler throws right there. Not so in the few instructions of a call that were made at run
 * time, of which no table tells: the stack ends there. The same from a handler on a stack of its own, right above; and handlers may call
 * what is traced.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#define TRAP_FLAG 0x100
#define STACK_SIZE (1u << 20)

__attribute__((noinline)) uint64_t stepped_leaf(uint64_t n);
__attribute__((noinline)) uint64_t stepped_frame(uint64_t n);
__attribute__((noinline)) uint64_t stepped_tail(uint64_t n);
__attribute__((noinline)) uint64_t stepped_through(uint64_t (*fn)(uint64_t), uint64_t n);

static volatile uint64_t steps, lost;
static volatile int stepping, calling;
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
	if (calling) {
		stepped_frame(steps);
		return;
	}
	_Unwind_Backtrace(look, &found);
	if (!found && dladdr(pc, &file) && !lost++)
		lost_at = pc;
}

/* Each way of calling so often: the first call of a function goes another way than the later ones. */
static uint64_t step_all(int walks, int calls)
{
	static uint64_t (*const ways[])(uint64_t) = { stepped_leaf, stepped_frame, stepped_tail };
	uint64_t sum = 0;

	for (int i = 0; i < walks + calls; i++) {
		calling = i >= walks;
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
			sum += stepped_through(ways[w], w);
	}
	return sum;
}

static void *above(void *stack)
{
	const stack_t alt = { .ss_sp = (char *)stack + STACK_SIZE, .ss_size = STACK_SIZE };

	sigaltstack(&alt, NULL);
	return (void *)(uintptr_t)step_all(1, 2);
}

int main(void)
{
	char *stack = mmap(NULL, (size_t)2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction act = { .sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	pthread_attr_t attributes;
	pthread_t thread;
	uint64_t sum;
	void *other;

	sigaction(SIGTRAP, &act, NULL);
	sum = step_all(4, 1);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, STACK_SIZE) || pthread_create(&thread, &attributes, above, stack))
		return 1;
	pthread_join(thread, &other);
	if (lost)
		printf("no way out of %" PRIu64 " of %" PRIu64 " steps, first at %p\n", lost, steps, lost_at);
	fprintf(stderr, "%s\n", steps > 50 ? "stepped" : "not a step");
	printf("stepped %" PRIu64 "\n", sum + (uint64_t)(uintptr_t)other);
	return 0;
}
