/*
 * inject/x86_64/tracee: one thread of another process, held by ptrace: stopped, looked at, let go.
 *
 * Whoever is let go runs on as if nobody had looked: a system call that was interrupted goes on, and its process's parent sees
 * nothing of it. All calls for one tracee have to come from the same thread.
 */
#ifndef INJECT_X86_64_TRACEE_H
#define INJECT_X86_64_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/err.h"

#define TRACEE_XSTATE_MAX 16384u

/* libc's own signal for setuid in all threads: who sends it waits for each, maybe with a lock that a call of ours wants. */
#define TRACEE_EVERYBODY 33

struct tracee {
	pid_t pid, tid;
	bool stopped;			/* and seen to be */
	int signal;			/* that it stopped for and has not got, 0: none */
	struct user_regs_struct regs;	/* as it was found */
	uint64_t mask;			/* the same, signals that it holds off */
	uint32_t xstate_len;
	uint8_t xstate[TRACEE_XSTATE_MAX];	/* the same, of the x87, SSE, AVX ... registers */
};

/*
 * Has this thread started processes that it has not waited for? When one of them ends, the kernel keeps the SIGCHLD of a parent
 * that is traced even if nobody wants it, and interrupts another thread for it: so parents are stopped when nobody else runs, or
 * not at all.
 */
bool tracee_is_parent(pid_t pid, pid_t tid);

/* 0: stopped and described. -EAGAIN: not now. -ESRCH: gone. -EPERM, -EBUSY: the kernel does not let us. */
int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid);
/*
 * It is held, and stops when it comes back from the system call that it waits in: who brings that about need not hurry. Whoever asks
 * for its stop then, by tracee_stop(), gets it; with this process's end it goes on.
 */
int tracee_expect(pid_t pid, pid_t tid);
/* As it was found. The tracee is in a stop that leads to the kernel's handling of signals: see tracee_settle(). */
int tracee_restore(struct tracee *tracee);
void tracee_let_go(struct tracee *tracee);

/* Lets it run on, by PTRACE_CONT or PTRACE_SYSCALL, to the next stop. -ETIMEDOUT at `deadline`, then it still runs; -ESRCH. */
int tracee_run(struct tracee *tracee, int how, int sig, uint64_t deadline, int *status);
/* From any stop to one in which restored registers mean what they meant: interrupted system calls are taken up again. It is not
 * restored yet, so there is no time limit. */
int tracee_settle(struct tracee *tracee);
/* Out of a call that takes too long: stops it wherever it is. */
int tracee_interrupt(struct tracee *tracee);

/* Is it within a system call now, as it was found? */
bool tracee_in_call(const struct tracee *tracee);

/* Nanoseconds from now on. */
#define TRACEE_NO_DEADLINE UINT64_MAX
uint64_t tracee_deadline(uint64_t ns);

int tracee_set(struct tracee *tracee, const struct user_regs_struct *regs);
int tracee_get(struct tracee *tracee, struct user_regs_struct *regs);

#endif
