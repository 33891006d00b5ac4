/*
 * What tests of attaching attach to: a program whose threads notice when anybody disturbs them.
 *
 *	target [watch] KIND...
 *
 * Prints its number when it is ready. A thread for each KIND does that over and over and checks what it gets. SIGTERM: it says
 * how often, and exits with 0; at the first thing that is wrong it says what, and exits with 1. With `watch` a parent looks on,
 * which must not see a stop or a SIGCHLD of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ll

static volatile sig_atomic_t over;

static void bad(const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(2);
	_exit(1);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* One that waits: it gave `r` and not `want`, or it came back before its time. */
static void check_wait(const char *what, int64_t began, int64_t ns, long r, long want)
{
	if (r != want)
		bad("%s: %ld instead of %ld, errno %d\n", what, r, want, errno);
	if (now() - began < ns)
		bad("%s: %lld ns too soon\n", what, (long long)(ns - (now() - began)));
}

static void do_sleep(void)
{
	struct timespec ts = { 0, 60 * MS }, rest = { 0, 0 };
	int64_t began = now();
	int r = nanosleep(&ts, &rest);

	check_wait("nanosleep", began, 60 * MS, r, 0);
}

static void do_long(void)
{
	struct timespec ts = { 2, 0 };
	int64_t began = now();
	int r = nanosleep(&ts, &ts);

	check_wait("nanosleep", began, 2000 * MS, r, 0);
}

/* Its thread cannot be stopped while the child runs. */
static void do_vfork(void)
{
	struct timespec ts = { 0, 300 * MS };
	pid_t pid = vfork();
	int status;

	if (!pid) {
		nanosleep(&ts, NULL);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		bad("a vfork child: %x, errno %d\n", (unsigned int)status, errno);
	ts.tv_nsec = 20 * MS;
	nanosleep(&ts, NULL);
}

/* libc has all threads do it, and waits for them. */
static void do_setuid(void)
{
	if (setuid(getuid()) || setgid(getgid()))
		bad("setuid: errno %d\n", errno);
}

static void do_poll(void)
{
	int64_t began = now();
	int r = poll(NULL, 0, 50);

	check_wait("poll", began, 50 * MS, r, 0);
}

static void do_ppoll(void)
{
	struct timespec ts = { 0, 50 * MS };
	int64_t began = now();
	sigset_t none;
	int r;

	sigfillset(&none);
	r = ppoll(NULL, 0, &ts, &none);
	check_wait("ppoll", began, 50 * MS, r, 0);
}

static void do_select(void)
{
	struct timeval tv = { 0, 50000 };
	int64_t began = now();
	int r = select(0, NULL, NULL, NULL, &tv);

	check_wait("select", began, 50 * MS, r, 0);
}

static void do_epoll(void)
{
	static __thread int fd = -1;
	struct epoll_event event;
	int64_t began;
	int r;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	began = now();
	r = epoll_wait(fd, &event, 1, 50);
	check_wait("epoll_wait", began, 49 * MS, r, 0);
}

static void do_futex(void)
{
	static int word;
	struct timespec ts = { 0, 50 * MS };
	int64_t began = now();
	long r = syscall(SYS_futex, &word, 0, 0, &ts, NULL, 0);

	if (errno != ETIMEDOUT)
		bad("futex: errno %d\n", errno);
	check_wait("futex", began, 50 * MS, r, -1);
}

static void do_sigwait(void)
{
	struct timespec ts = { 0, 50 * MS };
	int64_t began = now();
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	r = sigtimedwait(&set, NULL, &ts);
	if (errno != EAGAIN)
		bad("sigtimedwait: errno %d\n", errno);
	check_wait("sigtimedwait", began, 50 * MS, r, -1);
}

static void do_semop(void)
{
	static __thread int id = -1;
	struct sembuf op = { 0, -1, 0 };
	struct timespec ts = { 0, 50 * MS };
	int64_t began;
	int r;

	if (id < 0) {
		id = semget(IPC_PRIVATE, 1, 0600);
		if (id < 0)
			bad("semget: errno %d\n", errno);
	}
	began = now();
	r = semtimedop(id, &op, 1, &ts);
	if (errno != EAGAIN)
		bad("semtimedop: errno %d\n", errno);
	check_wait("semtimedop", began, 49 * MS, r, -1);
	if (over)
		semctl(id, 0, IPC_RMID);
}

static void *write_later(void *arg)
{
	const struct timespec ts = { 0, 20 * MS };

	nanosleep(&ts, NULL);
	if (write(*(int *)arg, "hello", 5) != 5)
		bad("write: errno %d\n", errno);
	return NULL;
}

static void receive(const char *what, int from, int to)
{
	pthread_t thread;
	char text[5];
	ssize_t n;

	if (pthread_create(&thread, NULL, write_later, &to))
		bad("no thread\n");
	n = read(from, text, 5);
	if (n != 5 || memcmp(text, "hello", 5))
		bad("%s: %zd, errno %d\n", what, n, errno);
	pthread_join(thread, NULL);
}

static void do_read(void)
{
	static __thread int ends[2];

	if (!ends[1] && pipe(ends))
		bad("pipe: errno %d\n", errno);
	receive("read", ends[0], ends[1]);
}

/* One with a time limit gives EINTR by itself. */
static void do_socket(void)
{
	struct timeval limit = { 10, 0 };
	static __thread int ends[2];

	if (!ends[1] && (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
			 setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))))
		bad("socketpair: errno %d\n", errno);
	receive("read of a socket", ends[0], ends[1]);
}

static void do_busy(void)
{
	errno = 4711;
	for (volatile int i = 0; i < 100000; i++)
		if (errno != 4711)
			bad("errno became %d\n", errno);
}

static __attribute__((noinline)) void do_errno(void)
{
	errno = 0;
	if (close(-1) != -1 || errno != EBADF)
		bad("close: errno %d\n", errno);
	if (syscall(SYS_read, -1, NULL, 0l) != -1 || errno != EBADF)
		bad("read: errno %d\n", errno);
}

/* All vector registers, the x87's and the flags that say which way strings go, held for a while. */
#if defined(__x86_64__)
static __attribute__((target("avx"))) void hold_vectors(void)
{
	uint64_t in[4] = { 0x1122334455667788, 0x99aabbccddeeff00, 0x0123456789abcdef, 0xfedcba9876543210 };
	uint64_t out[16][4];
	double x87 = 0, pi = 3.25;

	memset(out, 0, sizeof(out));
	__asm__ volatile("fldl %[pi]\n"
			 "vmovdqu (%[in]), %%ymm0\n vmovdqu (%[in]), %%ymm1\n vmovdqu (%[in]), %%ymm2\n vmovdqu (%[in]), %%ymm3\n"
			 "vmovdqu (%[in]), %%ymm4\n vmovdqu (%[in]), %%ymm5\n vmovdqu (%[in]), %%ymm6\n vmovdqu (%[in]), %%ymm7\n"
			 "vmovdqu (%[in]), %%ymm8\n vmovdqu (%[in]), %%ymm15\n"
			 "mov $20000000, %%ecx\n"
			 "1: dec %%ecx\n jnz 1b\n"
			 "vmovdqu %%ymm0, (%[out])\n vmovdqu %%ymm1, 32(%[out])\n vmovdqu %%ymm2, 64(%[out])\n"
			 "vmovdqu %%ymm3, 96(%[out])\n vmovdqu %%ymm4, 128(%[out])\n vmovdqu %%ymm5, 160(%[out])\n"
			 "vmovdqu %%ymm6, 192(%[out])\n vmovdqu %%ymm7, 224(%[out])\n vmovdqu %%ymm8, 256(%[out])\n"
			 "vmovdqu %%ymm15, 288(%[out])\n"
			 "fstpl %[x87]\n"
			 : [x87] "=m"(x87)
			 : [in] "r"(in), [out] "r"(out), [pi] "m"(pi)
			 : "ecx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm15");
	for (int i = 0; i < 10; i++)
		if (memcmp(out[i], in, sizeof(in)))
			bad("vector register %d is another\n", i);
	if (x87 != pi)
		bad("x87: %f\n", x87);
}

static void do_vector(void)
{
	if (__builtin_cpu_supports("avx"))
		hold_vectors();
	else
		do_busy();
}
#else
static void do_vector(void)
{
	do_busy();
}
#endif

static void do_malloc(void)
{
	static __thread unsigned int seed;
	char *all[64];

	for (int i = 0; i < 64; i++) {
		size_t size = (size_t)rand_r(&seed) % (i ? 5000 : 400000) + 1;

		all[i] = malloc(size);
		memset(all[i], i, size);
	}
	for (int i = 0; i < 64; i++) {
		if (*all[i] != i)
			bad("malloc: %d instead of %d\n", *all[i], i);
		free(all[i]);
	}
}

/* The allocator again, interrupted all the time by a handler that takes its time: nearly always that is where the thread is. */
static void on_alarm(int sig)
{
	struct timespec ts = { 0, 3 * MS };
	int saved = errno;

	(void)sig;
	nanosleep(&ts, NULL);
	errno = saved;
}

static void do_alarm_on(int flags)
{
	static int begun;	/* of the only thread */
	const struct itimerval often = { { 0, 4000 }, { 0, 4000 } };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART | flags };

	if (!begun++) {
		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	do_malloc();
}

static void do_alarm(void)
{
	do_alarm_on(0);
}

static void do_alarm_apart(void)
{
	static char own[64 << 10];
	const stack_t stack = { .ss_sp = own, .ss_size = sizeof(own) };

	sigaltstack(&stack, NULL);
	do_alarm_on(SA_ONSTACK);
}

static void do_dlopen(void)
{
	void *handle = dlopen("libutil.so.1", RTLD_NOW);

	if (!handle)
		handle = dlopen("libm.so.6", RTLD_NOW);
	if (!handle || dlclose(handle))
		bad("dlopen: %s\n", dlerror());
}

static void do_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(7);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			bad("waitpid: errno %d\n", errno);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		bad("a child: %x\n", (unsigned int)status);
}

static void *nothing(void *arg)
{
	return arg;
}

static void do_thread(void)
{
	pthread_t thread;
	void *back = NULL;

	if (pthread_create(&thread, NULL, nothing, &back))
		return;
	if (pthread_join(thread, &back) || back != &back)
		bad("a thread gave back another\n");
}

/* Signals that queue: none may be lost. The handler is now on this stack, now on one of its own. */
static __thread volatile int signals_seen;

static void on_signal(int sig)
{
	int saved = errno;
	struct timespec ts = { 0, MS / 4 };

	(void)sig;
	signals_seen++;
	nanosleep(&ts, NULL);
	errno = saved;
}

static void do_signal(void)
{
	int want = signals_seen + 20;
	union sigval value = { 0 };
	sigset_t set;

	for (int i = 0; i < 20; i++)
		pthread_sigqueue(pthread_self(), SIGRTMIN + i % 2, value);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMIN + 1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (signals_seen != want)
		bad("%d signals instead of %d\n", signals_seen, want);
}

static const struct kind {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{ "sleep", do_sleep }, { "long", do_long }, { "vfork", do_vfork }, { "setuid", do_setuid },
	{ "poll", do_poll }, { "ppoll", do_ppoll }, { "select", do_select }, { "epoll", do_epoll },
	{ "futex", do_futex }, { "sigwait", do_sigwait }, { "semop", do_semop }, { "read", do_read }, { "socket", do_socket },
	{ "busy", do_busy }, { "errno", do_errno }, { "vector", do_vector }, { "malloc", do_malloc }, { "dlopen", do_dlopen },
	{ "alarm", do_alarm }, { "alarm-apart", do_alarm_apart }, { "fork", do_fork }, { "thread", do_thread }, { "signal", do_signal },
};

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	bad("there is no kind %s\n", name);
	return NULL;
}

static void *run(void *arg)
{
	const struct kind *kind = arg;
	static __thread char own[64 << 10];
	stack_t stack = { .ss_sp = own, .ss_size = sizeof(own) };
	long n = 0;

	sigaltstack(&stack, NULL);
	for (; !over; n++)
		kind->once();
	return (void *)n;
}

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

static void prepare(void)
{
	struct sigaction act = { .sa_handler = on_term };
	sigset_t set;

	sigaction(SIGTERM, &act, NULL);
	act.sa_handler = on_signal;
	sigaction(SIGRTMIN, &act, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGRTMIN + 1, &act, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMIN + 1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* One kind alone is done by the first thread, which looks for SIGTERM in between. */
static int run_all(int n, char **names)
{
	pthread_t threads[64];
	sigset_t term;
	void *times;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	for (int i = 0; n > 1 && i < n && i < 64; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)kind_of(names[i])))
			bad("no thread\n");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (long once = 0; n == 1 && !over; once++) {
		sigset_t pending;

		kind_of(names[0])->once();
		sigpending(&pending);
		over = sigismember(&pending, SIGTERM);
		if (over)
			printf("%s %ld\n", names[0], once + 1);
	}
	for (int sig; n > 1 && !over; over = 1)
		sigwait(&term, &sig);
	for (int i = 0; n > 1 && i < n && i < 64; i++) {
		pthread_join(threads[i], &times);
		printf("%s %ld\n", names[i], (long)times);
	}
	return 0;
}

/* ---- the parent that looks on ---- */

static volatile sig_atomic_t children;

static void on_child(int sig)
{
	(void)sig;
	children++;
}

static int watch(int n, char **names)
{
	struct sigaction act = { .sa_handler = on_child };
	int status;
	pid_t child;

	sigaction(SIGCHLD, &act, NULL);
	child = fork();
	if (!child) {
		signal(SIGCHLD, SIG_DFL);
		prepare();
		exit(run_all(n, names));
	}
	act.sa_handler = on_term;
	sigaction(SIGTERM, &act, NULL);
	while (!over) {
		if (waitpid(child, &status, WUNTRACED | WCONTINUED | WNOHANG))
			bad("its parent sees %x\n", (unsigned int)status);
		if (children)
			bad("its parent got SIGCHLD\n");
		usleep(500);
	}
	kill(child, SIGTERM);
	while (waitpid(child, &status, 0) < 0)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "watch"))
		return watch(argc - 2, argv + 2);
	if (argc < 2)
		return 2;
	prepare();
	return run_all(argc - 1, argv + 1);
}
