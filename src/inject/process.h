/*
 * inject/process: what /proc tells about a process. It may be gone at any moment, and another user's tells little.
 */
#ifndef INJECT_PROCESS_H
#define INJECT_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Numbers that the kernel does not tell are -1. */
struct process {
	pid_t pid;
	pid_t tgid;		/* the process that it is a thread of */
	char name[64];
	char state;		/* as in ps: R, S, D, T, Z, ... */
	uid_t uid;		/* effective */
	long threads;
	long tracer;		/* who debugs it, 0: nobody */
	long seccomp;		/* 0 none, 1 strict, 2 filter */
	long no_new_privs;
	int same_pids;		/* its pid namespace is ours: 1, 0, -1 unknown */
};

/* -ESRCH: there is none. -EACCES: it must not be looked at. */
int process_read(struct process *process, pid_t pid);

/* "libringside.so", "libringside.so.0" and so on, in any directory. */
bool process_is_runtime(const char *path);

/* What it has mapped that has to do with tracing. */
struct attachment {
	bool attached;		/* the files of a tracing directory */
	bool removed;		/* which was removed since */
	char dir[PATH_MAX];
	uint64_t inode;		/* of the control file */
	dev_t device;
	char library[PATH_MAX];	/* libringside.so, "" when it has none */
};

/* 0, or -errno when its mappings cannot be read. */
int process_attachment(struct attachment *attachment, pid_t pid);

/* The value of a variable in the environment that it was started with: 1, 0 when unset, -errno. */
int process_environment(pid_t pid, const char *variable, char *value, size_t size);

/* Calls `each` for every process; false from it ends the walk. -errno when there is no /proc. */
int process_walk(bool (*each)(void *ctx, pid_t pid), void *ctx);

#endif
