/*
 * handled: system calls in which handlers of signals run: they call others, nest, return, begin the call anew, jump out, end the program.
 *
 * Who is to be interrupted is: a child looks in /proc whether its parent sits in the call, and only then sends the signal. It exits with
 * 7, or with 77 where nobody may look.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile int *handled;	/* shared with children */
static int line[2];

static void empty(int sig)
{
	(void)sig;
	++*handled;
}

static void calls(int sig)
{
	(void)sig;
	getppid();
}

static void nests(int sig)
{
	(void)sig;
	getpgrp();
	kill(getpid(), SIGUSR1);
	getppid();
}

static void jumps(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void ends(int sig)
{
	(void)sig;
	_exit(7);
}

static void handle(int sig, void (*by)(int), int flags)
{
	struct sigaction action = { .sa_handler = by, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

/* In the child: until the parent sits in the call of that number. */
static void await(long number)
{
	char path[64], text[32] = "";
	long found = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)getppid());
	while (found != number) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
			_exit(77);
		close(fd);
		found = text[0] == 'r' ? -1 : strtol(text, NULL, 10);
	}
}

/* A child that sends the signal to its parent in that call, and then, if the call is begun anew, lets it end. */
static pid_t interrupt(long number, int sig, bool anew)
{
	pid_t child = fork();
	int before = *handled;

	if (child)
		return child;
	await(number);
	kill(getppid(), sig);
	if (anew) {
		while (*handled == before)
			sched_yield();
		await(number);
		if (write(line[1], "x", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void reap(pid_t child)
{
	int status;

	handle(SIGCHLD, SIG_DFL, 0);
	if (waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) || waitpid(child, &status, 0) != child)
		_exit(1);
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

static void *in_thread(void *arg)
{
	(void)arg;
	pthread_kill(pthread_self(), SIGUSR1);
	return NULL;
}

static void returns(void)
{
	char c;
	pid_t child;

	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	child = interrupt(SYS_pause, SIGALRM, false);
	pause();
	reap(child);
	child = interrupt(SYS_read, SIGALRM, false);
	if (read(line[0], &c, 1) != -1)
		_exit(1);
	reap(child);
	handle(SIGALRM, empty, SA_RESTART);
	child = interrupt(SYS_readv, SIGALRM, true);
	if (readv(line[0], &(struct iovec){ &c, 1 }, 1) != 1)
		_exit(1);
	reap(child);
}

static void waits(void)
{
	int status;
	pid_t child;

	handle(SIGCHLD, empty, SA_RESTART);
	child = fork();
	if (!child) {
		await(SYS_wait4);
		_exit(3);
	}
	if (wait4(-1, &status, 0, NULL) != child || WEXITSTATUS(status) != 3)
		_exit(WEXITSTATUS(status));
	handle(SIGCHLD, SIG_DFL, 0);
}

static void leaves(void)
{
	volatile int i;
	pid_t child = interrupt(SYS_read, SIGALRM, false);
	char c;

	handle(SIGALRM, jumps, 0);
	if (!sigsetjmp(out, 1) && read(line[0], &c, 1))
		_exit(1);
	reap(child);
	handle(SIGUSR1, jumps, 0);
	/* Out of both. */
	if (!sigsetjmp(out, 1))
		kill(getpid(), SIGUSR2);
	/* More often than anybody keeps in mind. */
	for (i = 0; i < 100; i++)
		if (!sigsetjmp(out, 1))
			kill(getpid(), SIGUSR1);
}

int main(void)
{
	pthread_t thread;

	handled = mmap(NULL, sizeof(*handled), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (handled == MAP_FAILED || pipe(line))
		return 1;
	handle(SIGUSR1, calls, 0);
	handle(SIGUSR2, nests, 0);
	handle(SIGALRM, empty, 0);
	returns();
	waits();
	if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	leaves();
	getuid();
	handle(SIGUSR1, ends, 0);
	kill(getpid(), SIGUSR1);
	return 1;
}
