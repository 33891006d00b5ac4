/*
 * Makes processes and threads in every way there is, each a known number of times, and says how many: `lives HOW N`. For lives.sh.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void await(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
}

static void by_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	await(child);
}

static void by_vfork(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(0);
	await(child);
}

static void by_spawn(void)
{
	char *argv[] = { (char *)"true", NULL };
	pid_t child;

	if (!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ))
		await(child);
}

static void by_system(void)
{
	if (system("exit 0"))
		exit(1);
}

static void by_popen(void)
{
	FILE *pipe = popen("exit 0", "r");

	if (!pipe || pclose(pipe))
		exit(1);
}

static int at_once(void *arg)
{
	(void)arg;
	return 0;
}

static void by_clone(int flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t child = clone(at_once, stack + sizeof(stack), flags | SIGCHLD, NULL);

	await(child);
}

static void by_clone_copy(void)
{
	by_clone(0);
}

static void by_clone_vm(void)
{
	by_clone(CLONE_VM | CLONE_VFORK);
}

/* Past libc altogether: nothing of it may be needed in the child. */
static void by_raw_fork(void)
{
	long child = syscall(SYS_fork);

	if (!child)
		syscall(SYS_exit_group, 0);
	await((pid_t)child);
}

static void by_raw_clone(void)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child)
		syscall(SYS_exit_group, 0);
	await((pid_t)child);
}

static void by_raw_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		syscall(SYS_exit_group, 0);
	await((pid_t)child);
}

/* In code of the program's own; the child does not return. */
static __attribute__((noinline)) void by_raw_vfork(void)
{
	long child;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "movl %2, %%eax\n\t"
			 "xorl %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(child) : "0"((long)SYS_vfork), "i"(SYS_exit_group) : "rcx", "rdi", "r11", "memory");
	await((pid_t)child);
}

static void *nothing(void *arg)
{
	return arg;
}

static void by_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
		exit(1);
}

/* Over, and its memory given back, maybe before its maker knows of it. */
static void by_thread_alone(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, nothing, NULL))
		exit(1);
	pthread_attr_destroy(&attr);
}

static void by_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	await(child);
}

static const struct {
	const char *name;
	void (*make)(void);
} ways[] = {
	{ "fork", by_fork }, { "vfork", by_vfork }, { "spawn", by_spawn }, { "system", by_system }, { "popen", by_popen },
	{ "clone_copy", by_clone_copy }, { "clone_vm", by_clone_vm }, { "raw_fork", by_raw_fork }, { "raw_clone", by_raw_clone },
	{ "raw_clone3", by_raw_clone3 }, { "raw_vfork", by_raw_vfork }, { "thread", by_thread }, { "thread_alone", by_thread_alone },
	{ "exec", by_exec },
};

static int alive(void)
{
	char path[64], text[64] = "";
	int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
	file = fopen(path, "r");
	while (file && fgets(text, sizeof(text), file))
		sscanf(text, "Threads: %d", &n);
	if (file)
		fclose(file);
	return n;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		while (n-- > 0)
			ways[i].make();
		/* Nobody waits for threads that are on their own. */
		while (alive() > 1)
			usleep(1000);
		return 0;
	}
	return 2;
}
