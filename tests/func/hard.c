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

/* ---- Jumps ---- */

static jmp_buf there;
static sigjmp_buf back;

static NOINLINE void jump_from(int depth)
{
	KEEP(depth);
	if (depth)
		jump_from(depth - 1);
	else
		longjmp(there, 1);
	leaf(1);
}

static void out_of_handler(int sig)
{
	outer((uint64_t)sig);
	siglongjmp(back, 1);
}

static NOINLINE void raise_below(int depth)
{
	KEEP(depth);
	if (depth)
		raise_below(depth - 1);
	else
		raise(SIGUSR1);
	leaf(2);
}

static void jumps(void)
{
	volatile int n = 0, m = 0;

	for (volatile int i = 0; i < 5000; i++) {
		if (setjmp(there))
			n++;
		else
			jump_from(i % 50);
	}
	signal(SIGUSR1, out_of_handler);
	for (volatile int i = 0; i < 2000; i++) {
		if (sigsetjmp(back, 1))
			m++;
		else
			raise_below(i % 20);
	}
	printf("jumps %d %d %lx\n", n, m, outer(7));
}

/* Out of whatever is going on, at any moment. */
static volatile sig_atomic_t leaps;

static void leap(int sig)
{
	leaps++;
	inner((uint64_t)sig);
	siglongjmp(back, 1);
}

static void leaping(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile uint64_t i = 0, same = 0;

	signal(SIGALRM, leap);
	if (!sigsetjmp(back, 1))
		setitimer(ITIMER_REAL, &every, NULL);
	while (leaps < 3000) {
		same |= outer(i) ^ outer(i);
		i++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("leaping %lx %lx\n", (unsigned long)same, outer(8));
}

/* ---- Stacks of their own ---- */

#define COROS 64
#define CORO_STACK 16384
static struct coro {
	ucontext_t context, *from;
	uint64_t sum;
	int rounds, done;
	char *stack;
} coros[COROS];

static NOINLINE void coro_yield(struct coro *coro)
{
	swapcontext(&coro->context, coro->from);
}

static NOINLINE void coro_work(struct coro *coro, int depth)
{
	KEEP(depth);
	coro->sum += leaf((uint64_t)depth);
	if (depth)
		coro_work(coro, depth - 1);
	coro_yield(coro);
	coro->sum += inner((uint64_t)depth);
}

static void coro_main(int i)
{
	for (int n = 0; n < coros[i].rounds; n++)
		coro_work(&coros[i], n % 10);
	coros[i].done = 1;
	for (;;)
		coro_yield(&coros[i]);
}

static void coro_make(int i, int rounds)
{
	struct coro *coro = &coros[i];

	coro->stack = malloc(CORO_STACK);
	coro->rounds = rounds;
	getcontext(&coro->context);
	coro->context.uc_stack.ss_sp = coro->stack;
	coro->context.uc_stack.ss_size = CORO_STACK;
	coro->context.uc_link = NULL;
	makecontext(&coro->context, (void (*)(void))(void *)coro_main, 1, i);
}

static NOINLINE void coro_go(struct coro *coro)
{
	ucontext_t here;

	coro->from = &here;
	swapcontext(&here, &coro->context);
}

static void contexts(void)
{
	uint64_t sum = 0;
	int left = 1;

	for (int i = 0; i < COROS; i++)
		coro_make(i, 20 + i);
	while (left) {
		left = 0;
		for (int i = COROS - 1; i >= 0; i--)
			if (!coros[i].done) {
				coro_go(&coros[i]);
				left = 1;
			}
	}
	for (int i = 0; i < COROS; i++)
		sum += coros[i].sum;
	printf("contexts %lx\n", sum);
}

/* Handed on by a signal handler, at any moment, to the next. */
static ucontext_t turns[3], finished;
static volatile int turn;
static volatile sig_atomic_t handed;

static void hand_on(int sig)
{
	int from = turn;

	handed++;
	inner((uint64_t)sig);
	turn = (turn + 1) % 3;
	swapcontext(&turns[from], &turns[turn]);
}

static void take_turns(int i)
{
	uint64_t wrong = 0;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	for (uint64_t n = (uint64_t)i; handed < 3000; n++)
		wrong |= outer(n) ^ outer(n);
	signal(SIGALRM, SIG_IGN);
	if (wrong)
		printf("wrong\n");
	setcontext(&finished);
}

static void preempted(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	volatile int again = 0;
	sigset_t alarm;

	/* Who was never there begins with the signal blocked: setcontext() sets the mask first, and the rest later. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	getcontext(&finished);
	if (!again) {
		again = 1;
		for (int i = 0; i < 3; i++) {
			getcontext(&turns[i]);
			turns[i].uc_stack.ss_size = 1 << 16;
			turns[i].uc_stack.ss_sp = malloc(1 << 16);
			makecontext(&turns[i], (void (*)(void))(void *)take_turns, 1, i);
		}
		signal(SIGALRM, hand_on);
		setitimer(ITIMER_REAL, &every, NULL);
		setcontext(&turns[0]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("preempted\n");
}

/* Each goes on in whichever thread takes it next. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[COROS + 1], queued;

static void *mover(void *arg)
{
	int i;

	for (;;) {
		pthread_mutex_lock(&queue_lock);
		i = queued ? queue[0] : -1;
		if (i >= 0)
			memmove(queue, queue + 1, sizeof(*queue) * (size_t)--queued);
		pthread_mutex_unlock(&queue_lock);
		if (i < 0)
			return arg;
		coro_go(&coros[i]);
		if (coros[i].done)
			continue;
		pthread_mutex_lock(&queue_lock);
		queue[queued++] = i;
		pthread_mutex_unlock(&queue_lock);
	}
}

static void movers(void)
{
	pthread_t threads[4];
	uint64_t sum = 0;

	for (int i = 0; i < COROS; i++) {
		coro_make(i, 30);
		queue[queued++] = i;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, mover, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	mover(NULL);
	for (int i = 0; i < COROS; i++)
		sum += coros[i].sum;
	printf("movers %lx\n", sum);
}

/* ---- Depth, tails ---- */

static NOINLINE uint64_t recurse(uint64_t n)
{
	uint64_t r;

	KEEP(n);
	r = n ? recurse(n - 1) : 1;
	KEEP(r);
	return r * 3 + 1;
}

static void deep(void)
{
	printf("deep %lx %lx\n", recurse(100000), recurse(1000));
}

static NOINLINE uint64_t state_a(uint64_t n, uint64_t sum);
static NOINLINE uint64_t state_c(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_a(n - 1, sum ^ n) : leaf(sum);
}
static NOINLINE uint64_t state_b(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_c(n - 1, sum * 5) : sum;
}
static NOINLINE uint64_t state_a(uint64_t n, uint64_t sum)
{
	KEEP(n);
	return n ? state_b(n - 1, sum + n) : leaf(sum) + 1;
}

static void tails(void)
{
	printf("tails %lx\n", state_a(1000000, 1));
}

/* ---- Signals ---- */

static void tick(int sig)
{
	int saved = errno;

	ticks++;
	outer((uint64_t)sig);
	errno = saved;
}

static void signals(void)
{
	const struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	uint64_t sum = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint64_t i = 0; ticks < 2000; i++)
		sum |= outer(i) == 0;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals %d\n", (int)sum);
}

/* A handler on the least stack that the system allows. */
static void altstack(void)
{
	size_t size = (size_t)getauxval(AT_MINSIGSTKSZ) + 1024;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alt = { .ss_sp = stack + 65536 - size, .ss_size = size };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_ONSTACK };
	const int before = ticks;

	memset(stack, 0x5a, 65536 - size);
	if (sigaltstack(&alt, NULL))
		printf("no sigaltstack\n");
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 3000; i++)
		raise(SIGUSR2);
	for (size_t i = 0; i < 65536 - size; i++)
		if (stack[i] != 0x5a) {
			printf("altstack overrun by %zu\n", 65536 - size - i);
			return;
		}
	printf("altstack %d\n", (int)ticks - before);
}

/* The same for a stack of a coroutine, with nothing below it. */
static void smallstack(void)
{
	static struct coro coro;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(stack, 0x5a, 65536);
	coros[0] = coro;
	getcontext(&coros[0].context);
	coros[0].rounds = 30;
	coros[0].context.uc_stack.ss_sp = stack + 65536 - 3072;
	coros[0].context.uc_stack.ss_size = 3072;
	makecontext(&coros[0].context, (void (*)(void))(void *)coro_main, 1, 0);
	while (!coros[0].done)
		coro_go(&coros[0]);
	for (size_t i = 0; i < 65536 - 3072; i++)
		if (stack[i] != 0x5a) {
			printf("smallstack overrun by %zu\n", 65536 - 3072 - i);
			return;
		}
	printf("smallstack %lx\n", coros[0].sum);
}

/* One that is never finished, on memory that is given back. What comes then walks a stack below. */
static void *unmapped(void *arg)
{
	const size_t size = 1 << 16;
	char *stack = arg;
	void *frames[8];

	for (int i = 0; i < 20; i++) {
		coros[0].done = 0;
		getcontext(&coros[0].context);
		coros[0].rounds = 1;
		coros[0].context.uc_stack.ss_sp = stack;
		coros[0].context.uc_stack.ss_size = size;
		makecontext(&coros[0].context, (void (*)(void))(void *)coro_main, 1, 0);
		coro_go(&coros[0]);
	}
	munmap(stack, size);
	backtrace(frames, 8);
	inner(1);
	return NULL;
}

static void gone(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *all = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* The thread's stack is right below the other. */
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, all, 1 << 20);
	pthread_create(&thread, &attr, unmapped, all + (1 << 20));
	pthread_join(thread, NULL);
	printf("gone\n");
}

static void blocked(void)
{
	sigset_t all, none;
	uint64_t sum = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &none);
	for (uint64_t i = 0; i < 1000; i++)
		sum += outer(i);
	sum += strlen(getenv("PATH")) != 0;
	sigprocmask(SIG_SETMASK, &none, NULL);
	printf("blocked %lx\n", sum);
}

/* int3 of its own, with a handler of its own. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	ticks++;
	leaf(3);
}

static void traps(void)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO }, old;
	int n = 0;

	sigaction(SIGTRAP, &action, &old);
	n += old.sa_handler == SIG_DFL;
	for (int i = 0; i < 1000; i++) {
		__asm__ volatile("int3");
		outer((uint64_t)i);
	}
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	n += old.sa_sigaction == trapped;
	printf("traps %d %d\n", (int)ticks, n);
}

/* ---- Threads ---- */

static void cleaned(void *arg)
{
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
	leaf(4);
}

static NOINLINE void end_below(int depth, int *count)
{
	pthread_cleanup_push(cleaned, count);
	KEEP(depth);
	if (depth)
		end_below(depth - 1, count);
	else
		pthread_exit(NULL);
	leaf(5);
	pthread_cleanup_pop(0);
}

static void *ends(void *arg)
{
	end_below(7, arg);
	return NULL;
}

static NOINLINE void spin_below(int depth, int *count)
{
	pthread_cleanup_push(cleaned, count);
	KEEP(depth);
	if (depth)
		spin_below(depth - 1, count);
	else
		for (;;) {
			outer(1);
			pthread_testcancel();
		}
	leaf(6);
	pthread_cleanup_pop(0);
}

static void *cancelled(void *arg)
{
	spin_below(7, arg);
	return NULL;
}

static void *cancelled_anywhere(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (uint64_t i = 0;; i++)
		outer(i);
	return NULL;
}

static void threads(void)
{
	pthread_t all[24];
	void *result;
	int count = 0, were = 0;

	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 24; i++)
			pthread_create(&all[i], NULL, i % 3 == 0 ? ends : i % 3 == 1 ? cancelled : cancelled_anywhere, &count);
		for (int i = 0; i < 24; i++) {
			if (i % 3)
				pthread_cancel(all[i]);
			pthread_join(all[i], &result);
			were += result == PTHREAD_CANCELED;
		}
	}
	/* Those that were cancelled before they began cleaned nothing up. */
	printf("threads %d %d\n", count >= 6 * 8 * 8, were);
}

static void *leaves_all(void *arg)
{
	outer(1);
	(void)arg;
	printf("main is gone\n");
	exit(5);
}

/* The first thread ends before the others. */
static void main_ends(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leaves_all, NULL);
	pthread_exit(NULL);
}

static NOINLINE void exit_below(int depth)
{
	KEEP(depth);
	if (depth)
		exit_below(depth - 1);
	fflush(stdout);
	_exit(6);
}

static void *busy(void *arg)
{
	for (uint64_t i = 0;; i++)
		outer(i);
	return arg;
}

static void at_once(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, busy, NULL);
	outer(2);
	exit_below(30);
}

/* ---- Processes ---- */

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static NOINLINE pid_t vfork_below(int depth)
{
	char *const args[] = { "sh", "-c", "exit 9", NULL };
	pid_t pid;

	KEEP(depth);
	if (depth)
		return vfork_below(depth - 1) + 0 * (pid_t)leaf(1);
	pid = vfork();
	if (!pid) {
		leaf(7);
		execve("/bin/sh", args, environ);
		_exit(127);
	}
	return pid;
}

static void processes(void)
{
	char *const args[] = { "sh", "-c", "exit 11", NULL };
	int sum = 0;
	pid_t pid, all[200];

	for (int i = 0; i < 10; i++)
		sum += wait_for(vfork_below(i));
	for (int i = 0; i < 10; i++) {
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, args, environ))
			printf("no posix_spawn\n");
		sum += wait_for(pid);
	}
	sum += WEXITSTATUS(system("exit 13"));
	fflush(stdout);
	for (int i = 0; i < 200; i++) {
		all[i] = fork();
		if (!all[i]) {
			outer((uint64_t)i);
			_exit(i % 100);
		}
	}
	for (int i = 0; i < 200; i++)
		sum += wait_for(all[i]);
	printf("processes %d\n", sum);
}

/* Forks of forks while threads run. */
static void forks(void)
{
	pthread_t thread;
	pid_t pid, first;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, busy, NULL);
	fflush(stdout);
	for (int i = 0; i < 40; i++) {
		pid = first = fork();
		for (int below = 0; !pid && below < 3; below++) {
			outer(3);
			pid = fork();
			if (pid)
				_exit(wait_for(pid) + 1);
		}
		if (!first) {
			outer(4);
			_exit(1);
		}
		if (wait_for(first) != 4)
			printf("a fork went wrong\n");
	}
	printf("forks\n");
}

/* ---- Who looks at the stack ---- */

static NOINLINE void trace_below(int depth)
{
	void *frames[64];
	char **names;
	int n;

	KEEP(depth);
	if (depth) {
		trace_below(depth - 1);
		leaf(8);
		return;
	}
	n = backtrace(frames, 64);
	names = backtrace_symbols(frames, n);
	for (int i = 0; i < n; i++) {
		char *open = strchr(names[i], '('), *close = open ? strchr(open, ')') : NULL;

		/* Within libc it is where it is; of ours, names and distances. */
		if (open && close && !strstr(names[i], "libc.so"))
			printf("%.*s\n", (int)(close - open + 1), open);
	}
	free(names);
}

static void traces(void)
{
	for (int i = 0; i < 3; i++)
		trace_below(3 * i);
}

static NOINLINE uintptr_t ask_return(void)
{
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static void returns(void)
{
	uintptr_t a = ask_return();

	printf("returns %d\n", a > (uintptr_t)returns && a < (uintptr_t)returns + 200);
}

/* ---- The loader ---- */

static void *loader(void *arg)
{
	static const char *const names[] = { "libm.so.6", "libz.so.1", "libresolv.so.2", "./libhard.so" };
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 150; i++) {
		const char *name = names[rand_r(&seed) % 4];
		void *lib = dlopen(name, i % 2 ? RTLD_NOW : RTLD_LAZY);
		int (*call)(int) = lib ? (int (*)(int))dlsym(lib, "hard_lib") : NULL;

		if (call && call(i) != i * 7 + 1)
			printf("wrong answer\n");
		outer((uint64_t)i);
		if (lib)
			dlclose(lib);
	}
	return NULL;
}

static void loads(void)
{
	pthread_t all[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&all[i], NULL, loader, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < 6; i++)
		pthread_join(all[i], NULL);
	printf("loads\n");
}

/* ---- Less and less to live on ---- */

static void descriptors(void)
{
	const struct rlimit few = { 3, 3 };

	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	setrlimit(RLIMIT_NOFILE, &few);
	for (uint64_t i = 0; i < 2000; i++)
		outer(i);
	printf("descriptors\n");
}

/* Gives up system calls but a few, with death for the others. */
static void sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 5, filter };
	const char done[] = "sandbox\n";

	fflush(stdout);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	state_a(100000, 1);
	recurse(5000);
	if (write(1, done, sizeof(done) - 1) < 0)
		_exit(2);
	_exit(0);
}

/* The same behind the libc's back, so that no runtime can know of it. */
static void sandbox_raw(void)
{
	const char done[] = "strict\n";

	outer(1);
	fflush(stdout);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	recurse(5000);
	if (write(1, done, sizeof(done) - 1) < 0)
		syscall(SYS_exit, 2);
	syscall(SYS_exit, 0);
}

static void rooted(void)
{
	if (chroot("/proc/self/fdinfo") || chdir("/")) {
		printf("rooted\n");
		return;
	}
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		printf("no setuid\n");
	for (uint64_t i = 0; i < 20000; i++)
		outer(i);
	printf("rooted\n");
}

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
	{ "works", works }, { "jumps", jumps }, { "leaping", leaping }, { "preempted", preempted }, { "contexts", contexts }, { "movers", movers }, { "deep", deep },
	{ "tails", tails }, { "signals", signals }, { "altstack", altstack }, { "smallstack", smallstack }, { "gone", gone },
	{ "blocked", blocked },
	{ "traps", traps }, { "threads", threads }, { "processes", processes }, { "forks", forks }, { "traces", traces },
	{ "returns", returns }, { "loads", loads }, { "main_ends", main_ends }, { "at_once", at_once }, { "descriptors", descriptors },
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
