/*
 * runtime/profile: RINGSIDE_PROFILE=FILE: a start-up profile, in force before the program joins its directory.
 *
 *   program            copy             copy of the copy
 *   waits  ------->    waits  ------->  becomes `ringside apply`
 *          <-------    ends   <-------  ends
 *
 * What reads profiles is the tool: the runtime has no place for it, so that is run. Nobody notices: a copy whose end sends no signal is
 * not found by wait(2). What is executed would send one whatever it was made with, so it is a child of the copy, which also
 * sees to it that all this ends. The copies are forked past libc, and make system calls and nothing else.
 *
 * What the program starts in turn inherits the variable, but is not to undo what was changed meanwhile: its place in the environment is
 * given to another one, which says so. Runs in the constructor, in whichever thread that is; before the directory is mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"

#define VARIABLE "RINGSIDE_PROFILE"
#define DONE "RINGSIDE_profile=1"
#define WAIT_SECONDS 15
#define MASK_SIZE 8	/* of the kernel's sets of signals */
#define VARIABLES_MAX 4096

struct job {
	const char *file;	/* the profile */
	const char *dir;	/* the tracing directory */
	const char *given;	/* the command, NULL: it is looked for */
	char own[PATH_MAX];	/* the directory that we were loaded from; "": part of the program */
	char pid[16];
};

/* The variable, and its place in the environment; NULL: none, or one that is not to be trusted. */
static const char *take_variable(void)
{
	const char *value = secure_getenv(VARIABLE);

	for (char **at = environ; value && *value && *at; at++)
		if (*at + sizeof(VARIABLE) == value) {
			*at = (char *)DONE;
			return value;
		}
	return NULL;
}

static void find_own(struct job *job)
{
	const struct module *own;
	char *slash;

	runtime_modules_learn(false);
	own = runtime_module((uintptr_t)&runtime_start);
	if (own && own->name && *own->name == '/' && strnlen(own->name, sizeof(job->own)) < sizeof(job->own)) {
		strcpy(job->own, own->name);
		slash = strrchr(job->own, '/');
		*slash = '\0';
	}
}

/* ---- in the copies ---- */

static void __attribute__((noreturn)) end(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static void use_null(void)
{
	long null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (null != fd)
			syscall(SYS_dup3, null, fd, 0);
	/* Where that is not known, the tool gets by with what is open. */
#if defined(SYS_close_range)
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
#endif
}

/* The environment without what is loaded into programs. */
static void copy_environment(char **to)
{
	size_t n = 0;

	for (char **at = environ; *at && n < VARIABLES_MAX - 1; at++)
		if (strncmp(*at, "LD_", 3))
			to[n++] = *at;
	to[n] = NULL;
}

static void __attribute__((noreturn)) become(const struct job *job)
{
	/* Where a build leaves it, and from where libraries are installed. */
	static const char *const beside[] = { "/ringside", "/../bin/ringside", "/../../bin/ringside" };
	const char *argv[] = { "ringside", "apply", "--dir", job->dir, "--quiet", "--log", "--pid", job->pid, "--", job->file, NULL };
	const uint64_t none = 0;
	static char *variables[VARIABLES_MAX];
	char path[PATH_MAX + 32];

	use_null();
	copy_environment(variables);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, MASK_SIZE);
	if (job->given) {
		syscall(SYS_execve, job->given, argv, variables);
		end(127);
	}
	for (size_t i = 0; *job->own && i < sizeof(beside) / sizeof(beside[0]); i++) {
		strcpy(path, job->own);
		strcat(path, beside[i]);
		syscall(SYS_execve, path, argv, variables);
	}
	syscall(SYS_execve, RINGSIDE_BINDIR "/ringside", argv, variables);
	end(127);
}

/* All signals are held off here, that of a child among them: it is waited for. */
static void __attribute__((noreturn)) see_to_it(const struct job *job)
{
	const uint64_t child = 1ull << (SIGCHLD - 1);
	const long time[2] = { WAIT_SECONDS, 0 };
	const uint64_t action[4] = { 0 };	/* by default, without flags, whatever the fields of this machine */
	long pid;

	syscall(SYS_rt_sigaction, SIGCHLD, action, NULL, MASK_SIZE);
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		become(job);
	if (pid > 0 && syscall(SYS_rt_sigtimedwait, &child, NULL, time, MASK_SIZE) < 0)
		syscall(SYS_kill, pid, SIGKILL);
	while (pid > 0 && syscall(SYS_wait4, pid, NULL, 0, NULL) < 0 && errno == EINTR)
		;
	end(0);
}

/* ---- in the program ---- */

void runtime_profile(const char *dir)
{
	const uint64_t all = ~0ull;
	struct job job = { .dir = dir };
	uint64_t before;
	long pid;

	job.file = take_variable();
	if (!job.file)
		return;
	job.given = secure_getenv("RINGSIDE_COMMAND");
	if (!job.given)
		find_own(&job);
	snprintf(job.pid, sizeof(job.pid), "%d", (int)getpid());
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, MASK_SIZE))
		return;
	/* No flag, and no signal either. */
	pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (!pid)
		see_to_it(&job);
	while (pid > 0 && syscall(SYS_wait4, pid, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
		;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, MASK_SIZE);
}
