/*
 * deliver: handlers of all kinds, and a program that looks whether they are what it asked for. Each says with an event of its own
 * that it runs. `deliver wait`: says "ready", then "came" for each SIGUSR1 until SIGTERM comes, and how many. `deliver filtered`: the
 * same questions by one who has given up a call, and with addresses that are none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <ringside/ringside.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

RINGSIDE_EVENT(mine, handled, field(int, sig))

static volatile int count, ended, tells;
static sigjmp_buf out;

static void one(int sig)
{
	trace_mine_handled(sig);
	count++;
	if (tells && write(STDOUT_FILENO, "came\n", 5) != 5)
		abort();
}

static void three(int sig, siginfo_t *info, void *context)
{
	void *stack[20];

	trace_mine_handled(sig);
	if (info->si_signo != sig || info->si_code != SI_QUEUE || !context || backtrace(stack, 20) < 3)
		abort();
	count += info->si_value.sival_int;
}

static void jump(int sig)
{
	trace_mine_handled(sig);
	siglongjmp(out, 1);
}

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static void must(int n, int holds)
{
	if (!holds) {
		printf("%d does not hold\n", n);
		exit(1);
	}
}

static int wait_for_end(void)
{
	sigset_t held, none;

	tells = 1;
	signal(SIGTERM, end);
	signal(SIGUSR1, one);
	/* What comes between a look and the wait would be waited for in vain. */
	sigemptyset(&none);
	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGUSR1);
	sigprocmask(SIG_BLOCK, &held, NULL);
	puts("ready");
	fflush(stdout);
	while (!ended)
		sigsuspend(&none);
	must(20, signal(SIGUSR1, SIG_DFL) == one);
	printf("%d\n", count);
	return 0;
}

static void give_up(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	must(30, !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* The kernel's own call: libc copies first, and faults by itself. */
static int refused(long number, long arg, void *from, void *to)
{
	return syscall(number, arg, from, to, 8L) == -1 && errno == EFAULT;
}

static int filtered(void)
{
	struct sigaction act = { .sa_handler = one }, old;
	char kernels[32];
	void *nowhere = (void *)8;

	must(31, signal(SIGUSR1, one) == SIG_DFL);
	give_up();
	must(32, refused(SYS_rt_sigprocmask, SIG_BLOCK, nowhere, NULL) && refused(SYS_rt_sigprocmask, SIG_BLOCK, NULL, nowhere));
	must(33, refused(SYS_rt_sigaction, SIGUSR2, nowhere, NULL) && refused(SYS_rt_sigaction, SIGUSR1, NULL, nowhere));
	must(34, !sigaction(SIGUSR2, &act, &old) && old.sa_handler == SIG_DFL && !raise(SIGUSR2) && count == 1);
	must(35, !sigaction(SIGUSR2, NULL, &old) && old.sa_handler == one && !(old.sa_flags & SA_SIGINFO));
	/* Where it was set from is where the old one goes. */
	must(36, !syscall(SYS_rt_sigaction, SIGUSR1, NULL, kernels, 8L) && !syscall(SYS_rt_sigaction, SIGUSR2, kernels, kernels, 8L));
	must(37, !raise(SIGUSR1) && !raise(SIGUSR2) && count == 3);
	must(38, signal(SIGUSR1, SIG_DFL) == one);
	puts("all hold");
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_flags = SA_SIGINFO }, old;
	int status;

	if (argc > 1 && !strcmp(argv[1], "wait"))
		return wait_for_end();
	if (argc > 1 && !strcmp(argv[1], "filtered"))
		return filtered();
	must(1, signal(SIGUSR1, one) == SIG_DFL && !raise(SIGUSR1) && count == 1);
	act.sa_sigaction = three;
	must(2, !sigaction(SIGUSR2, &act, &old) && old.sa_handler == SIG_DFL);
	must(3, !sigqueue(getpid(), SIGUSR2, (union sigval){ .sival_int = 10 }) && count == 11);
	must(4, !sigaction(SIGUSR2, NULL, &old) && old.sa_sigaction == three && old.sa_flags & SA_SIGINFO);
	must(5, !sigaction(SIGUSR1, NULL, &old) && old.sa_handler == one && !(old.sa_flags & SA_SIGINFO));
	act.sa_handler = one;
	act.sa_flags = SA_RESETHAND;
	must(6, !sigaction(SIGHUP, &act, NULL) && !raise(SIGHUP) && count == 12);
	must(7, !sigaction(SIGHUP, NULL, &old) && old.sa_handler == SIG_DFL);
	if (!fork())
		_exit(raise(SIGUSR1) || count != 13);
	must(8, wait(&status) > 0 && !status && count == 12);
	must(9, signal(SIGUSR1, SIG_IGN) == one && !raise(SIGUSR1) && count == 12);
	act.sa_flags = 0;
	act.sa_handler = jump;
	must(10, !sigaction(SIGSEGV, &act, NULL));
	if (!sigsetjmp(out, 1))
		*(volatile int *)8 = 0;
	puts("all hold");
	return 0;
}
