/*
 * What is hard on whoever replaces return addresses and first instructions. Compiled and run by tests/func/real.sh and
 * break.sh, traced and not; what it prints does not depend on that, nor on luck.
 *
 *	hard WHAT...
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
/* Another libc has none. */
#define backtrace(frames, n) ((void)(frames), (void)(n), 0)
#define backtrace_symbols(frames, n) ((void)(frames), (void)(n), NULL)
#endif
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define NOINLINE __attribute__((noinline, noclone))
/* What the compiler may not look through. */
#define KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

extern char **environ;
static volatile sig_atomic_t ticks;

static NOINLINE uint64_t leaf(uint64_t n)
{
	KEEP(n);
	return n * 2862933555777941757u + 3037000493u;
}

static NOINLINE uint64_t inner(uint64_t n)
{
	uint64_t r = leaf(n);

	KEEP(r);
	return r ^ leaf(n + 1);
}

static NOINLINE uint64_t outer(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 20; i++)
		sum += inner(n + i);
	return sum;
}

/* In this order: the second uses the first. */
#include "hard_stacks.h"
#include "hard_lives.h"

static void works(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 5000; i++)
		sum += outer(i);
	printf("works %lx\n", sum);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "works", works }, { "jumps", jumps }, { "leaping", leaping }, { "leaping_aside", leaping_aside }, { "preempted", preempted }, { "contexts", contexts },
	{ "movers", movers }, { "deep", deep }, { "tails", tails }, { "signals", signals }, { "altstack", altstack },
	{ "altstack_of_two", altstack_of_two }, { "smallstack", smallstack }, { "gone", gone },
	{ "blocked", blocked },
	{ "traps", traps }, { "threads", threads }, { "processes", processes }, { "forks", forks }, { "traces", traces },
	{ "traces_above", traces_above }, { "returns", returns }, { "loads", loads },
	{ "main_ends", main_ends }, { "at_once", at_once }, { "descriptors", descriptors },
	{ "sandbox", sandbox }, { "sandbox_raw", sandbox_raw }, { "rooted", rooted },
};

int main(int argc, char **argv)
{
	int known = 0;

	for (int i = 1; i < argc; i++)
		for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++)
			if (!strcmp(argv[i], all[n].name)) {
				all[n].run();
				known++;
			}
	return known == argc - 1 ? 0 : 64;
}
