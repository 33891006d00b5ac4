/*
 * Events with the kernel's names and fields, out of ordinary programs: a library for LD_PRELOAD.
 *
 * What a program asks of the C library stands for what the kernel would have seen: to sleep is a timer, a sched_switch away and, awake
 * again, sched_waking and sched_wakeup; to wait for a child the same; to fork or to sleep takes memory, which is kmalloc. System calls,
 * signals, and that programs begin, fork and end the runtime sees by itself. What forks, executes, opens, reads, writes and ends has
 * the kernel's names, too, and parameters, for those who trace or probe functions; who defines an event makes a directory of that name.
 * So cases of the kernel's own test suite that fork, sleep and look for such events find them,
 * from the processes that they expect. Their layouts are the kernel's, and so are their texts as far as C can say them
 * (compiled with -funsigned-char, as the kernel is): those have the ids of the names that are there before any program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ringside/ringside.h>

#define TASK_COMM_LEN 16

RINGSIDE_EVENT(sched, sched_switch,
	array(char, prev_comm, TASK_COMM_LEN),
	field(pid_t, prev_pid),
	field(int, prev_prio),
	symbols(long, prev_state, {0, "R"}, {1, "S"}, {2, "D"}),
	array(char, next_comm, TASK_COMM_LEN),
	field(pid_t, next_pid),
	field(int, next_prio),
	print("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d",
	      prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio))

#define WAKE(name) \
RINGSIDE_EVENT(sched, name, \
	array(char, comm, TASK_COMM_LEN), \
	field(pid_t, pid), \
	field(int, prio), \
	field(int, target_cpu), \
	print("comm=%s pid=%d prio=%d target_cpu=%03d", comm, pid, prio, target_cpu))
WAKE(sched_waking)
WAKE(sched_wakeup)

RINGSIDE_EVENT(timer, timer_start,
	field(void *, timer),
	field(void *, function),
	field(unsigned long, expires),
	field(unsigned long, bucket_expiry),
	field(unsigned long, now),
	field(unsigned int, flags),
	print("timer=%p function=%p expires=%lu [timeout=%ld] bucket_expiry=%lu cpu=%u idx=%u flags=", timer, function,
	      expires, (long)expires - now, bucket_expiry, flags & 0x0003FFFF, flags >> 22))

RINGSIDE_EVENT(timer, timer_cancel, field(void *, timer), print("timer=%p", timer))

RINGSIDE_EVENT(kmem, kmalloc,
	field(unsigned long, call_site),
	field(const void *, ptr),
	field(size_t, bytes_req),
	field(size_t, bytes_alloc),
	field(unsigned long, gfp_flags),
	field(int, node))

/* What /proc/version says, for those who read data by its name. */
extern char linux_proc_banner[];
char linux_proc_banner[] = BANNER;

static pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void name(char comm[TASK_COMM_LEN])
{
	memset(comm, 0, TASK_COMM_LEN);
	prctl(PR_GET_NAME, comm);
}

static void *next(const char *symbol)
{
	void *found = dlsym(RTLD_NEXT, symbol);

	if (!found)
		abort();
	return found;
}

static int prio(void)
{
	return 120 + getpriority(PRIO_PROCESS, 0);
}

static void away(const void *timer, const struct timespec *until)
{
	char comm[TASK_COMM_LEN];

	name(comm);
	trace_timer_timer_start((void *)(uintptr_t)timer, NULL, (unsigned long)until->tv_nsec / 4000000, 0, 0, 0);
	trace_sched_sched_switch(comm, thread_id(), prio(), 1, "swapper/0", 0, 120);
}

static void back(const void *timer)
{
	char comm[TASK_COMM_LEN];

	name(comm);
	trace_timer_timer_cancel((void *)(uintptr_t)timer);
	trace_sched_sched_waking(comm, thread_id(), prio(), sched_getcpu());
	trace_sched_sched_wakeup(comm, thread_id(), prio(), sched_getcpu());
	trace_sched_sched_switch("swapper/0", 0, 120, 0, comm, thread_id(), prio());
}

/* A function of a name that cases look for, also as the one that takes memory. */
#define FUNCTION __attribute__((noinline, noclone, used))

static void allocate(const void *site)
{
	trace_kmem_kmalloc((unsigned long)(uintptr_t)site, NULL, 96, 128, 0, -1);
}

FUNCTION static const void *here(void)
{
	return __builtin_return_address(0);
}

FUNCTION static pid_t kernel_clone(void)
{
	pid_t (*real)(void) = next("fork");
	pid_t child = real();

	if (child)
		allocate(here());
	return child;
}

/* Its name before Linux 5.10. */
FUNCTION static pid_t _do_fork(void)
{
	pid_t child = kernel_clone();

	__asm__ volatile("" : "+r"(child));
	return child;
}

FUNCTION static int do_execveat_common(const char *path, char *const *argv, char *const *env)
{
	int (*real)(const char *, char *const *, char *const *) = next("execve");
	int r = real(path, argv, env);

	return r ? -errno : 0;
}

FUNCTION static void kfree(const void *object)
{
	__asm__ volatile("" : : "r"(object));
}

FUNCTION static int vfs_open(const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = next("open");
	int fd = real(path, flags, mode);

	return fd < 0 ? -errno : fd;
}

/* A part of another that the compiler cut off would be called so. */
static ssize_t read_some(int file, char *buf, size_t count) __asm__("read_some.isra.0");

FUNCTION static ssize_t read_some(int file, char *buf, size_t count)
{
	ssize_t (*real)(int, void *, size_t) = next("read");
	ssize_t n = real(file, buf, count);

	return n < 0 ? -errno : n;
}

FUNCTION static ssize_t vfs_read(int file, char *buf, size_t count, const long *pos)
{
	ssize_t n = read_some(file, buf, count);

	__asm__ volatile("" : "+r"(n) : "r"(pos));
	return n;
}

FUNCTION static int inet_csk_accept(int sk, struct sockaddr *address, socklen_t *len)
{
	int (*real)(int, struct sockaddr *, socklen_t *) = next("accept");
	int fd = real(sk, address, len);

	return fd < 0 ? -errno : fd;
}

FUNCTION static void tracefs_create_dir(const char *name, const char *parent)
{
	char path[160];

	snprintf(path, sizeof(path), "events/%s/%s", parent, name);
	__asm__ volatile("" : : "r"(path) : "memory");
}

FUNCTION static ssize_t proc_reg_write(int fd, const void *bytes, size_t len)
{
	ssize_t (*real)(int, const void *, size_t) = next("write");
	ssize_t n = real(fd, bytes, len);

	return n < 0 ? -errno : n;
}

static int doze(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest, const void *site)
{
	int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = next("clock_nanosleep");
	int r;

	allocate(site);
	away(time, time);
	r = real(clock, flags, time, rest);
	back(time);
	kfree(time);
	return r;
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	int error = doze(CLOCK_REALTIME, 0, time, rest, __builtin_return_address(0));

	if (error)
		errno = error;
	return error ? -1 : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	return doze(clock, flags, time, rest, __builtin_return_address(0));
}

pid_t fork(void)
{
	return _do_fork();
}

int execve(const char *path, char *const *argv, char *const *env)
{
	int r = do_execveat_common(path, argv, env);

	errno = -r;
	return r ? -1 : 0;
}

/* TYPE:[GROUP/]NAME ... to a file of definitions. */
static void make_directory(int fd, const char *bytes, size_t len)
{
	char link[32], path[256] = "", line[128], first[64], second[64];
	const char *tail;
	int n;

	snprintf(line, sizeof(line), "%.*s", (int)len, bytes);
	n = sscanf(line, "%*1[pr]:%63[A-Za-z0-9_]/%63[A-Za-z0-9_]", first, second);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (n < 1 || readlink(link, path, sizeof(path) - 1) < 0)
		return;
	tail = strrchr(path, '/');
	if (tail && !strcmp(tail, "/kprobe_events"))
		tracefs_create_dir(n == 2 ? second : first, n == 2 ? first : "kprobes");
}

ssize_t write(int fd, const void *bytes, size_t len)
{
	ssize_t n = proc_reg_write(fd, bytes, len);

	if (n > 2)
		make_directory(fd, bytes, len);
	if (n < 0)
		errno = (int)-n;
	return n < 0 ? -1 : n;
}

ssize_t read(int fd, void *bytes, size_t len)
{
	ssize_t n = vfs_read(fd, bytes, len, NULL);

	if (n < 0)
		errno = (int)-n;
	return n < 0 ? -1 : n;
}

static int open_by(const char *path, int flags, mode_t mode)
{
	int fd = vfs_open(path, flags, mode);

	if (fd < 0)
		errno = -fd;
	return fd < 0 ? -1 : fd;
}

#define OPEN(name) \
int name(const char *path, int flags, ...) \
{ \
	mode_t mode = 0; \
	va_list args; \
 \
	va_start(args, flags); \
	if (flags & (O_CREAT | __O_TMPFILE)) \
		mode = va_arg(args, mode_t); \
	va_end(args); \
	return open_by(path, flags, mode); \
}
OPEN(open)
OPEN(open64)

int accept(int sk, struct sockaddr *restrict address, socklen_t *restrict len)
{
	int fd = inet_csk_accept(sk, address, len);

	if (fd < 0)
		errno = -fd;
	return fd < 0 ? -1 : fd;
}

/* A shell that waits for what it started. */
pid_t wait3(int *status, int options, struct rusage *usage)
{
	pid_t (*real)(int *, int, struct rusage *) = next("wait3");
	static const struct timespec none;
	pid_t pid;

	away(&none, &none);
	pid = real(status, options, usage);
	back(&none);
	return pid;
}

pid_t waitpid(pid_t which, int *status, int options)
{
	pid_t (*real)(pid_t, int *, int) = next("waitpid");
	static const struct timespec none;
	pid_t pid;

	away(&none, &none);
	pid = real(which, status, options);
	back(&none);
	return pid;
}

FUNCTION static void do_exit(long code)
{
	void (*real)(int) = next("_exit");

	real((int)code);
	__builtin_unreachable();
}

/* Shells leave by this door. */
void _exit(int status)
{
	do_exit(status);
	__builtin_unreachable();
}
