/*
 * Allocates in known functions, in several threads, in a constructor and in signal handlers, and says how often it did: for
 * memory.sh, which compares that with what was recorded.
 *
 *	memory THREADS ROUNDS     a line of each function: kmalloc|kfree NAME TIMES [BYTES THAT WERE ASKED FOR, BYTES THAT ARE USABLE]
 *	memory step ROUNDS        the same of one thread, interrupted at each instruction by a handler whose stack is above the thread's
 *	memory wait               for each line on stdin the first bytes of malloc(), and one allocation by by_malloc()
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MALLOC, CALLOC, REALLOC, FAILURE, MEMALIGN, ALIGNED, DEEP, EARLY, HANDLER, TAIL, FUNCTIONS };
static const char *const names[] = {
	"by_malloc", "by_calloc", "by_realloc", "by_failure", "by_memalign", "by_aligned", "by_deep", "by_early", "by_handler",
	"round_of",
};

static struct {
	long times, asked, usable, freed;
} counts[FUNCTIONS];
static long given_back;
/* Handlers allocate nothing while it is set: that is no more allowed than without us. */
static __thread volatile sig_atomic_t busy;

static void *got(int function, void *memory, size_t asked)
{
	/* Behind the call, so that it is one. */
	__asm__ volatile("" : "+r"(memory));
	if (!memory)
		abort();
	__atomic_fetch_add(&counts[function].times, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts[function].asked, (long)asked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts[function].usable, (long)malloc_usable_size(memory), __ATOMIC_RELAXED);
	return memory;
}

static void freed(int function)
{
	__asm__ volatile("");
	__atomic_fetch_add(&counts[function].freed, 1, __ATOMIC_RELAXED);
}

/* Of that name, and no copy of it. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline, used)) static
#else
#define FUNCTION __attribute__((noipa, used)) static
#endif

FUNCTION void *by_malloc(size_t size)
{
	return got(MALLOC, malloc(size), size);
}

FUNCTION void *by_calloc(size_t n, size_t size)
{
	return got(CALLOC, calloc(n, size), n * size);
}

FUNCTION void *by_realloc(void *memory, size_t size)
{
	void *volatile was = memory;

	memory = realloc(memory, size);
	if (was)
		freed(REALLOC);
	return got(REALLOC, memory, size);
}

/* It stays what it is, and is told of again. */
FUNCTION void *by_failure(void *memory)
{
	if (realloc(memory, SIZE_MAX / 4))
		abort();
	freed(FAILURE);
	return got(FAILURE, memory, malloc_usable_size(memory));
}

FUNCTION void *by_memalign(size_t size)
{
	void *memory = NULL;

	return got(MEMALIGN, posix_memalign(&memory, 64, size) ? NULL : memory, size);
}

FUNCTION void *by_aligned(size_t size)
{
	return got(ALIGNED, aligned_alloc(32, size), size);
}

FUNCTION void *by_deep(int depth)
{
	char here[512];
	void *memory;

	memset(here, depth, sizeof(here));
	if (depth) {
		memory = by_deep(depth - 1);
		__asm__ volatile("" : : "r"(here) : "memory");
		return memory;
	}
	return got(DEEP, malloc(4000), 4000);
}

/* Jumps there: who called it is who gets the memory. */
FUNCTION void *by_tail(size_t size)
{
	return malloc(size);
}

FUNCTION void give_back(void *memory)
{
	free(memory);
	__asm__ volatile("");
	__atomic_fetch_add(&given_back, 1, __ATOMIC_RELAXED);
}

FUNCTION void by_handler(int signal)
{
	void *memory;

	if (busy)
		return;
	memory = got(HANDLER, malloc((size_t)signal * 8), (size_t)signal * 8);
	free(memory);
	freed(HANDLER);
}

/* In the midst of everything. */
FUNCTION void by_step(int signal)
{
	__asm__ volatile("" : "+r"(signal));
}

__attribute__((constructor)) FUNCTION void by_early(void)
{
	free(got(EARLY, malloc(77), 77));
	freed(EARLY);
}

/* ---- work ---- */

static int pause_of_round = 3000;

FUNCTION void round_of(int i)
{
	void *memory;

	busy = 1;
	give_back(by_malloc(1 + (size_t)i % 3000));
	give_back(by_calloc(3, 1 + (size_t)i % 50));
	memory = by_realloc(NULL, 20);
	memory = by_realloc(memory, 2000 + (size_t)i);
	give_back(by_failure(by_realloc(memory, 10)));
	give_back(by_memalign(100));
	give_back(by_aligned(96));
	give_back(by_deep(i % 10));
	give_back(got(TAIL, by_tail(30), 30));
	if (i % 64 == 0)
		give_back(by_malloc(1 << 20));
	/* Within an allocator's function another one is called; nothing to free is freed, too. */
	memory = by_malloc(24);
	if (realloc(memory, 0))
		abort();
	freed(MALLOC);
	give_back(NULL);
	busy = 0;
	if (i % 16 == 0)
		raise(SIGUSR1);
	/* Others come when they come. */
	for (volatile int n = 0; n < pause_of_round; n++)
		;
}

#define TRAP_FLAG 0x100

static void set_stepping(int on)
{
	uint64_t flags = __builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG;

	__builtin_ia32_writeeflags_u64(flags | (on ? TRAP_FLAG : 0));
}

struct job {
	int rounds, steps;
	pthread_t thread;
};

static void *work(void *arg)
{
	const struct job *job = arg;
	static __thread char aside[65536];
	stack_t stack = { .ss_sp = aside, .ss_size = sizeof(aside) };

	sigaltstack(&stack, NULL);
	set_stepping(job->steps);
	for (int i = 0; i < job->rounds; i++)
		round_of(i);
	set_stepping(0);
	/* What ends a thread gives memory back. */
	busy = 1;
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

static void show(void)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (counts[i].times)
			printf("kmalloc %s %ld %ld %ld\n", names[i], counts[i].times, counts[i].asked, counts[i].usable);
	for (int i = 0; i < FUNCTIONS; i++)
		if (counts[i].freed && i != MALLOC)
			printf("kfree %s %ld\n", names[i], counts[i].freed);
	printf("kfree give_back %ld\n", given_back);
	printf("kfree round_of %ld\n", counts[MALLOC].freed);
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = by_handler, .sa_flags = SA_ONSTACK | SA_RESTART };

	/* No handler interrupts another one: that may be allocating. */
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaddset(&action.sa_mask, SIGPROF);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	action.sa_handler = by_step;
	sigaction(SIGTRAP, &action, NULL);
}

static void run_by_steps(int rounds)
{
	struct job job = { .rounds = rounds, .steps = 1 };

	pause_of_round = 0;
	busy = 1;
	pthread_create(&job.thread, NULL, work, &job);
	pthread_join(job.thread, NULL);
	show();
}

static void run(int threads, int rounds)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	struct job jobs[16];

	busy = 1;
	for (int i = 0; i < threads; i++) {
		jobs[i] = (struct job){ .rounds = rounds };
		pthread_create(&jobs[i].thread, NULL, work, &jobs[i]);
	}
	setitimer(ITIMER_PROF, &often, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(jobs[i].thread, NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	show();
}

static void wait_for_lines(void)
{
	const unsigned char *code = dlsym(RTLD_DEFAULT, "malloc");
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 16; i++)
			printf("%02x", code[i]);
		printf("\n");
		fflush(stdout);
		give_back(by_malloc(1234));
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdin, NULL, _IONBF, 0);
	handle_signals();
	if (argc == 2)
		wait_for_lines();
	else if (argc == 3 && !strcmp(argv[1], "step"))
		run_by_steps(atoi(argv[2]));
	else if (argc == 3 && atoi(argv[1]) <= 16)
		run(atoi(argv[1]), atoi(argv[2]));
	else
		return 2;
	return 0;
}
