/*
 * Makes system calls in all the ways there are, and says what came of it: one line a case, the same on every run. Compiled and run by
 * the scripts of this folder, untraced and traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static volatile int got;

static void tell(const char *what, long result)
{
	printf("%s %ld\n", what, result);
	fflush(stdout);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *calls(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 300; i++)
		sum += syscall(SYS_getppid) == getppid();
	return (void *)sum;
}

static void threads(void)
{
	pthread_t all[8];
	long sum = 0;
	void *one;

	for (int i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, calls, NULL);
	for (int i = 0; i < 8; i++) {
		pthread_join(all[i], &one);
		sum += (long)one;
	}
	tell("threads", sum);
}

static int child(void *arg)
{
	return write(1, "cloned\n", 7) == 7 ? 3 : 4;
}

static void children(void)
{
	char *argv[] = { "sh", "-c", "echo spawned; exit 9", NULL }, *stack = malloc(65536);
	pid_t pid = fork();

	if (!pid)
		_exit(getppid() > 0 ? 7 : 8);
	tell("fork", wait_for(pid));
	pid = vfork();
	if (!pid) {
		write(1, "vfork\n", 6);
		_exit(8);
	}
	tell("vfork", wait_for(pid));
	pid = vfork();
	if (!pid) {
		execv("/bin/sh", argv);
		_exit(1);
	}
	tell("vfork and exec", wait_for(pid));
	if (!posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		tell("posix_spawn", wait_for(pid));
	tell("posix_spawn of nothing", posix_spawn(&pid, "/nowhere", NULL, NULL, argv, environ));
	tell("system", WEXITSTATUS(system("echo system; exit 4")));
	tell("clone, vfork", wait_for(clone(child, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL)));
	tell("clone", wait_for(clone(child, stack + 65536, SIGCHLD, NULL)));
	pid = (pid_t)syscall(SYS_fork);
	if (!pid)
		_exit(5);
	tell("raw fork", wait_for(pid));
	pid = fork();
	if (!pid) {
		threads();
		_exit(fork() ? 0 : 0);
	}
	tell("threads of a child", wait_for(pid));
}

static void on(int signo)
{
	got += getpid() > 0;
}

static void wait_with_masks(void)
{
	struct timespec long_time = { 20, 0 };
	sigset_t all, old, but;
	int epoll = epoll_create1(0);
	struct epoll_event event;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	tell("blocked", getppid() > 0 && syscall(SYS_getppid) > 0);
	but = all;
	sigdelset(&but, SIGALRM);
	ualarm(20000, 0);
	tell("ppoll", ppoll(NULL, 0, &long_time, &but) < 0 ? errno : 0);
	ualarm(20000, 0);
	tell("pselect", pselect(0, NULL, NULL, NULL, &long_time, &but) < 0 ? errno : 0);
	ualarm(20000, 0);
	tell("epoll_pwait", epoll_pwait(epoll, &event, 1, 20000, &but) < 0 ? errno : 0);
	ualarm(20000, 0);
	tell("sigsuspend", sigsuspend(&but) < 0 ? errno : 0);
	tell("masks", got > 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(epoll);
	/* Who holds a thread for a moment just when its signal comes may have two of them become one. */
	got = 0;
}

static void signals(void)
{
	struct sigaction act = { .sa_handler = on }, old;
	struct timespec nap = { 20, 0 };
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	int ends[2];
	char byte;
	pid_t pid;

	sigfillset(&act.sa_mask);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGSYS, &act, NULL);
	/* Again and again: the first may come too early. */
	ualarm(20000, 20000);
	tell("pause", pause() < 0 ? errno : 0);
	tell("nanosleep", nanosleep(&nap, NULL) < 0 ? errno : 0);
	ualarm(0, 0);
	wait_with_masks();
	/* Its own SIGSYS. */
	raise(SIGSYS);
	tell("raise", got);
	sigaction(SIGSYS, NULL, &old);
	tell("handler", old.sa_handler == on);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSYS);
	tell("tgkill", got);
	/* A call that begins again. */
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, NULL);
	pipe(ends);
	pid = fork();
	if (!pid) {
		usleep(60000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	ualarm(20000, 0);
	tell("read", read(ends[0], &byte, 1));
	tell("writer", wait_for(pid));
	tell("restarted", got);
	act.sa_flags = SA_ONSTACK;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	tell("sigaltstack", got);
}

static void *wait_for_ever(void *arg)
{
	char byte;

	read(*(int *)arg, &byte, 1);
	return NULL;
}

static void cancelled(void)
{
	pthread_t thread;
	int ends[2];
	void *result;

	pipe(ends);
	pthread_create(&thread, NULL, wait_for_ever, &ends[0]);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	tell("cancelled", result == PTHREAD_CANCELED);
}

/*
 * Newer libcs look where a thread was interrupted: at this `syscall`, or right before it, where they look by themselves whether it is
 * cancelled, it ends there. Done here as they do, by the signal by which they do: their other one comes also to a thread that the tool
 * holds, whose place it then does not see.
 */
#define SIGNO 32
long watched(int fd, void *to, long size, const volatile int *pending);
extern const char watched_begin[], watched_end[], watched_out[], watched_restorer[];
__asm__(".pushsection .text\n"
	".globl watched, watched_begin, watched_end, watched_out, watched_restorer\n"
	".type __syscall_cancel_arch, @function\n"
	"__syscall_cancel_arch:\n"
	"watched:\n"
	"watched_begin:\n"
	"	cmpl $0, (%rcx)\n"
	"	jne watched_out\n"
	"	xorl %eax, %eax\n"
	"	syscall\n"
	"watched_end:\n"
	"	ret\n"
	"watched_out:\n"
	"	movq $-125, %rax\n"
	"	ret\n"
	".size __syscall_cancel_arch, . - __syscall_cancel_arch\n"
	"	nop\n"
	"watched_restorer:\n"
	"	movq $15, %rax\n"
	"	syscall\n"
	".popsection\n");

static struct {
	volatile int ready, go, pending, came, done;
	int ends[2];
	long result;
} watch;

static void on_cancel(int signo, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	watch.pending = 1;
	if (regs[REG_RIP] >= (greg_t)watched_begin && regs[REG_RIP] < (greg_t)watched_end)
		regs[REG_RIP] = (greg_t)watched_out;
	watch.came = 1;
}

static void *be_watched(void *arg)
{
	char byte;

	watch.ready = (int)syscall(SYS_gettid);
	while (!watch.go)
		;
	for (volatile int n = (int)(long)arg; n > 0; n--)
		;
	watch.result = watched(watch.ends[0], &byte, 1, &watch.pending);
	watch.done = 1;
	return NULL;
}

static int sleeps(pid_t pid, pid_t tid)
{
	char path[64], text[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	read(fd, text, sizeof(text) - 1);
	close(fd);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

/* The signal comes when the thread is in the call, or at about the time that it begins it. */
static int is_watched(int spin, int late)
{
	pthread_t thread;
	int asleep = 0;

	memset(&watch, 0, sizeof(watch));
	pipe(watch.ends);
	pthread_create(&thread, NULL, be_watched, (void *)(long)spin);
	while (!watch.ready)
		;
	watch.go = 1;
	while (late && !sleeps(getpid(), watch.ready))
		;
	syscall(SYS_tgkill, getpid(), watch.ready, SIGNO);
	while (!watch.came)
		;
	/* It is lost if it waits all the same. */
	while (!watch.done && asleep < 20) {
		asleep = sleeps(getpid(), watch.ready) ? asleep + 1 : 0;
		usleep(100);
	}
	write(watch.ends[1], "x", 1);
	pthread_join(thread, NULL);
	close(watch.ends[0]);
	close(watch.ends[1]);
	return watch.result == -125;
}

static void handle_cancel(void)
{
	struct {
		void *handler;
		unsigned long flags;
		const void *restorer;
		unsigned long mask;
	} act = { on_cancel, SA_SIGINFO | SA_RESTART | 0x04000000, watched_restorer, 0 };

	syscall(SYS_rt_sigaction, SIGNO, &act, NULL, 8);
}

static void looked_at(void)
{
	int sum = 0;

	handle_cancel();
	tell("cancelled in its place", is_watched(0, 1));
	for (int i = 0; i < 100; i++)
		sum += is_watched(i * 37 % 4000, 0);
	tell("or on the way", sum);
}

/* Until it stops, ends, or waits for good. */
static int stops(pid_t pid, int *status)
{
	for (int asleep = 0; asleep < 20; asleep = sleeps(pid, pid) ? asleep + 1 : 0)
		for (int i = 0; i < 200; i++)
			if (waitpid(pid, status, WNOHANG | __WALL) == pid)
				return WIFSTOPPED(*status);
	return 0;
}

/* Cancelled when it has made so many steps on its way: how many it made, or -1 if it waits all the same. */
static int cancel_at(int steps)
{
	int status, made = 0, signo = 0;
	char byte;
	pid_t pid;

	pipe(watch.ends);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		__asm__ volatile("int3");
		_exit(watched(watch.ends[0], &byte, 1, &watch.pending) == -125 ? 3 : 4);
	}
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
	while (made < steps && !ptrace(PTRACE_SINGLESTEP, pid, 0, signo) && stops(pid, &status)) {
		signo = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		made++;
	}
	syscall(SYS_tgkill, pid, pid, SIGNO);
	/* One that stands still goes on, and takes what comes. */
	if (made == steps)
		ptrace(PTRACE_CONT, pid, 0, signo);
	while (stops(pid, &status))
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	write(watch.ends[1], "x", 1);
	close(watch.ends[0]);
	close(watch.ends[1]);
	if (!WIFEXITED(status))
		status = wait_for(pid) << 8;
	return WEXITSTATUS(status) == 3 ? made : -1;
}

/* At whichever instruction the signal comes: the first ones, by which a call comes to us, and every so many of the others. */
static int stepped(int every)
{
	int steps = 0, made;

	handle_cancel();
	while ((made = cancel_at(steps)) == steps)
		steps += steps < 200 ? 1 : every;
	if (made < 0)
		fprintf(stderr, "not cancelled after %d steps\n", steps);
	tell("at each step", made >= 0);
	return 6;
}

/* Instructions where no compiler puts them. */
static long call_there(void *code, long number, long a, long b, long c)
{
	long result, (*at)(void) = code;

	__asm__ volatile("call *%[at]" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), [at] "r"(at) : "rcx", "r11", "memory");
	return result;
}

static void odd_places(void)
{
	unsigned char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long result;
	double number = 1.5;
	unsigned int old;

	memcpy(page, "\x0f\x05\xc3", 3);
	tell("made code", call_there(page, SYS_getppid, 0, 0, 0) == getppid());
	memcpy(page + 4093, "\x0f\x05\xc3", 3);
	tell("a page's end", call_there(page + 4093, SYS_write, 1, (long)"x\n", 2));
	tell("EBADF", call_there(page, SYS_write, -1, (long)"x\n", 2));
	tell("EFAULT", call_there(page, SYS_write, 1, 8, 2));
	tell("no such call", call_there(page, 100000, 1, 8, 2));
	tell("negative", call_there(page, -1, 1, 8, 2));
	for (int i = 0; i < 1000; i++) {
		__asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_getppid) : "rcx", "r11", "memory");
		number *= 1.001;
	}
	printf("a loop %.6f\n", number);
	__asm__ volatile("int $0x80" : "=a"(old) : "0"(20) : "memory");
	tell("int 0x80", (pid_t)old == getpid());
	/* What is below the stack pointer is the function's own. */
	__asm__ volatile("movq %2, -64(%%rsp)\n\tsyscall\n\tmovq -64(%%rsp), %0" : "=&r"(result) : "a"((long)SYS_getppid), "r"(12345l)
			 : "rcx", "r11", "memory");
	tell("red zone", result);
}

/* Past libc, at a place of its own each time. */
static inline __attribute__((always_inline)) long raw(long number, long a, long b, long c, long d)
{
	long result;
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return result;
}

static void *made_code(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, "\x0f\x05\xc3", 3);
	return page;
}

/* Nobody handles SIGSYS: it ends the program. */
static void unhandled(void)
{
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSYS, SIG_DFL);
		kill(getpid(), SIGSYS);
		_exit(1);
	}
	tell("SIGSYS", wait_for(pid));
}

/* The kernel reads a mask and writes the old one to the same place, or cannot write it. */
static void masks_in_place(void)
{
	unsigned long all = ~0ul, old;
	void *code = made_code();

	raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&old, 8);
	tell("mask in place", raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&all, 8));
	tell("which was another", all == old && call_there(code, SYS_getppid, 0, 0, 0) == getppid());
	all = ~0ul;
	tell("mask to nowhere", raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 8, 8));
	tell("and on", call_there(code, SYS_getppid, 0, 0, 0) == getppid());
	raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, 8);
}

/* A filter that no handler comes back under. */
static long filter(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0);
	return raw(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0);
}

/* Once given up, calls stay so, whatever is refused later. */
static void filtered(void)
{
	void *code = made_code();
	pid_t pid = fork();

	if (!pid) {
		if (filter() || raw(SYS_prctl, -1, 0, 0, 0) != -EINVAL || call_there(code, SYS_getppid, 0, 0, 0) <= 0)
			_exit(1);
		_exit(3);
	}
	tell("filtered", wait_for(pid));
}

/* A child without the handlers of its parent, which has a copy of its memory, or shares it. */
static void without_handlers(void)
{
	enum { CLEAR_SIGHAND = 32 };
	unsigned long args[8] = { 1ul << CLEAR_SIGHAND, [4] = SIGCHLD };
	void *code = made_code();
	long pid = raw(SYS_clone3, (long)args, sizeof(args), 0, 0);

	if (!pid)
		_exit(call_there(code, SYS_getppid, 0, 0, 0) > 0 ? 5 : 1);
	tell("without handlers", wait_for((pid_t)pid));
	args[0] |= CLONE_VM | CLONE_VFORK;
	__asm__ volatile("syscall\n\ttestq %%rax, %%rax\n\tjnz 1f\n\t"
			 "movl %[getppid], %%eax\n\tsyscall\n\tmovl $4, %%edi\n\tmovl %[exit], %%eax\n\tsyscall\n1:"
			 : "=a"(pid)
			 : "0"((long)SYS_clone3), "D"(args), "S"(sizeof(args)), [getppid] "i"(SYS_getppid), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	tell("and memory", wait_for((pid_t)pid));
}

struct line {
	volatile pid_t child, grandchild;
};

/* Kills one that waits for its own child, and then that. */
static pid_t killer(const struct line *line)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (!line->grandchild || !sleeps(line->grandchild, line->grandchild))
		usleep(1000);
	kill(line->child, SIGKILL);
	usleep(20000);
	kill(line->grandchild, SIGKILL);
	_exit(2);
}

/* The child's child has the stack still when the parent goes on: it does nothing on it but wait for its end. */
static __attribute__((noinline)) void killed_in_vfork(void)
{
	struct line *line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t other = killer(line);
	long pid = raw(SYS_vfork, 0, 0, 0, 0);

	if (!pid) {
		line->child = (pid_t)raw(SYS_getpid, 0, 0, 0, 0);
		if (!raw(SYS_vfork, 0, 0, 0, 0)) {
			line->grandchild = (pid_t)raw(SYS_getpid, 0, 0, 0, 0);
			for (;;)
				raw(SYS_pause, 0, 0, 0, 0);
		}
		raw(SYS_exit, 1, 0, 0, 0);
	}
	tell("killed in vfork", wait_for((pid_t)pid));
	tell("by another", wait_for(other));
}

/* Calls go on to be seen when giving them up was refused, or was a vfork child's: 111, 121 and 124 each come once. */
static int refused(void)
{
	void *code = made_code();
	long pid;

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
	call_there(code, SYS_getpgrp, 0, 0, 0);
	raw(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8, 0);
	call_there(code, SYS_getpgid, 0, 0, 0);
	pid = raw(SYS_vfork, 0, 0, 0, 0);
	if (!pid)
		raw(SYS_exit, filter(), 0, 0, 0);
	call_there(code, SYS_getsid, 0, 0, 0);
	return wait_for((pid_t)pid);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "refused"))
		return refused();
	if (argc > 1 && !strcmp(argv[1], "stepped"))
		return stepped(argc > 2 ? atoi(argv[2]) : 1);
	for (int i = 0; argc > 1 && i < 40; i++) {
		without_handlers();
		killed_in_vfork();
	}
	if (argc > 1)
		return 6;
	unhandled();
	threads();
	children();
	signals();
	unhandled();
	cancelled();
	looked_at();
	odd_places();
	masks_in_place();
	filtered();
	without_handlers();
	killed_in_vfork();
	return 6;
}
