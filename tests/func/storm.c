/*
 * Everything at once, for as long as asked: threads that call, recurse, jump, load and unload, fork, execute and die, and look after each
 * step whether what came out is right. Compiled and run by storm.sh, while others switch tracing on and off under it.
 *
 *	storm SECONDS THREADS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

static double end;
static char *self;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void wrong(const char *what)
{
	fprintf(stderr, "storm: %s went wrong\n", what);
	_exit(3);
}

static NOINLINE uint64_t leaf(uint64_t n)
{
	KEEP(n);
	return n * 3 + 1;
}

static NOINLINE uint64_t many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, double h, double i)
{
	KEEP(a);
	return leaf(a) + b * c + d * e + f * g + (uint64_t)(h * i);
}

static NOINLINE uint64_t recurse(uint64_t n)
{
	uint64_t r = n ? recurse(n - 1) : 1;

	KEEP(r);
	return r + leaf(n);
}

static NOINLINE uint64_t second(uint64_t n, uint64_t sum);
static NOINLINE uint64_t first(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? second(n - 1, sum + n) : leaf(sum);
}
static NOINLINE uint64_t second(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? first(n - 1, sum ^ n) : leaf(sum);
}

static NOINLINE void out(jmp_buf *to, int depth)
{
	KEEP(depth);
	if (!depth)
		longjmp(*to, 7);
	out(to, depth - 1);
	leaf(1);
}

static void call(unsigned int *seed)
{
	uint64_t n = rand_r(seed) % 100;
	uint64_t flat = 1;

	if (many(n, 2, 3, 4, 5, 6, 7, 8.0, 9.0) != n * 3 + 1 + 6 + 20 + 42 + 72)
		wrong("a call");
	for (uint64_t i = 0; i <= n; i++)
		flat += i * 3 + 1;
	if (recurse(n) != flat)
		wrong("a recursion");
	if (first(4, 1) != second(3, 5))
		wrong("a tail");
}

static void jump(unsigned int *seed)
{
	volatile int depth = rand_r(seed) % 30;
	jmp_buf to;

	if (!setjmp(to))
		out(&to, depth);
	leaf(2);
}

static void load(unsigned int *seed)
{
	void *lib = dlopen("./libhard.so", rand_r(seed) % 2 ? RTLD_NOW : RTLD_LAZY);
	int (*ask)(int) = lib ? (int (*)(int))dlsym(lib, "hard_lib") : NULL;

	if (!ask || ask(6) != 43)
		wrong("a library");
	dlclose(lib);
}

static void start(unsigned int *seed)
{
	int how = rand_r(seed) % 3, status;
	pid_t pid = how == 0 ? vfork() : fork();

	if (!pid) {
		if (how < 2) {
			execl(self, self, "once", (char *)NULL);
			_exit(4);
		}
		_exit(leaf(2) == 7 ? 5 : 6);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || status != 5 << 8)
		wrong("a process");
}

static void *dies(void *arg)
{
	recurse(20);
	if (arg)
		pthread_exit((void *)recurse(3));
	return (void *)recurse(3);
}

static void thread(unsigned int *seed)
{
	pthread_t child;
	void *result;

	if (pthread_create(&child, NULL, dies, rand_r(seed) % 2 ? seed : NULL))
		return;
	pthread_join(child, &result);
	if ((uintptr_t)result != recurse(3))
		wrong("a thread");
}

static void tick(int sig)
{
	int saved = errno;

	if (recurse((uint64_t)sig) < 10)
		wrong("a handler");
	errno = saved;
}

static void *work(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg * 2654435761u;

	while (now() < end) {
		for (int i = 0; i < 200; i++)
			call(&seed);
		jump(&seed);
		if (rand_r(&seed) % 8 == 0)
			load(&seed);
		if (rand_r(&seed) % 16 == 0)
			start(&seed);
		if (rand_r(&seed) % 4 == 0)
			thread(&seed);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	int n = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t all[64];

	if (argc > 1 && !strcmp(argv[1], "once"))
		return leaf(2) == 7 ? 5 : 6;
	self = argv[0];
	end = now() + (argc > 1 ? atof(argv[1]) : 1);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&all[i], NULL, work, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(all[i], NULL);
	puts("storm over");
	return 0;
}
