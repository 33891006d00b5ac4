/*
 * A child that is killed before the n-th call that changes a file, and directories of either kind.
 */
#ifndef TESTS_DAT_LIVED_KILL_H
#define TESTS_DAT_LIVED_KILL_H

#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/ptrace.h>

#include "lived.h"

static inline bool lived_changes_file(uint64_t nr)
{
	switch (nr) {
	case SYS_pwritev:
	case SYS_pwrite64:
	case SYS_fallocate:
	case SYS_copy_file_range:
	case SYS_linkat:
#ifdef SYS_rename
	case SYS_rename:
#endif
	case SYS_renameat:
#ifdef SYS_ftruncate64
	case SYS_ftruncate64:
#endif
	case SYS_ftruncate:
		return true;
	default:
		return false;
	}
}

/* Runs it up to the `at`-th call that changes a file; false: it came to its end before. */
static inline bool lived_run_up_to(void (*what)(const struct lived *), const struct lived *l, int at)
{
	struct __ptrace_syscall_info info;
	pid_t pid = fork();
	int status, n = 0;

	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL), "%s", strerror(errno));
		raise(SIGSTOP);
		what(l);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "it did not stop: %x", status);
	CHECK(!ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)), "%s",
	      strerror(errno));
	for (;;) {
		CHECK(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL), "%s", strerror(errno));
		CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
		if (WIFEXITED(status)) {
			CHECK(!WEXITSTATUS(status), "it failed");
			return false;
		}
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80), "ended with %x", status);
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0) {
			puts("this kernel does not tell of system calls");
			exit(77);
		}
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY && lived_changes_file(info.entry.nr) && n++ == at)
			break;
	}
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	return true;
}

/* A directory on the disk, where holes can be cut out of files on many systems; that of the test is in memory. */
static inline void lived_make_dir(char dir[600])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, 600, "%s/ringside-live.XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(dir), "%s: %s", dir, strerror(errno));
}

/* With what is in it: who is killed while he gives a file its name leaves another. */
static inline void lived_remove_dir(const char *dir)
{
	DIR *d = opendir(dir);

	CHECK(d, "%s: %s", dir, strerror(errno));
	for (struct dirent *entry; (entry = readdir(d));)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	CHECK(!rmdir(dir), "%s: %s", dir, strerror(errno));
}

#endif
