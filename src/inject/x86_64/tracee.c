/*
 * inject/x86_64/tracee: see tracee.h.
 *
 * PTRACE_INTERRUPT ends a system call that waits, with one of the kernel's codes for "do that again" as its result; the kernel
 * acts on the code when the thread leaves the stop, so registers that are restored bit by bit are all it takes. A few calls have
 * no such code and would give EINTR. Where nothing was done yet and no signal is to blame, they are begun again here.
 */
#include "inject/x86_64/tracee.h"

#if defined(__x86_64__)

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject/process.h"

#define STOP_NS 200000000ull	/* a thread that does not stop by then waits for a disk, or for a vfork child */

#define PTRACE_STOP_EVENT(status) ((status) >> 16)

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint64_t tracee_deadline(uint64_t ns)
{
	return now() + ns;
}

int tracee_set(struct tracee *tracee, const struct user_regs_struct *regs)
{
	struct iovec iov = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tracee->tid, NT_PRSTATUS, &iov) ? -errno : 0;
}

int tracee_get(struct tracee *tracee, struct user_regs_struct *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_PRSTATUS, &iov))
		return -errno;
	return iov.iov_len == sizeof(*regs) ? 0 : -ENOTSUP;
}

static int note_stop(struct tracee *tracee, int status)
{
	bool own = PTRACE_STOP_EVENT(status) || WSTOPSIG(status) & 0x80;

	tracee->stopped = WIFSTOPPED(status);
	tracee->signal = tracee->stopped && !own ? WSTOPSIG(status) : 0;
	return tracee->stopped ? 0 : -ESRCH;
}

/* It may stop the next moment, or never. The kernel says so by SIGCHLD, which wakes who holds that off; others look again soon. */
static int wait_for_stop(struct tracee *tracee, uint64_t deadline, int *status)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		pid_t r = waitpid(tracee->tid, status, __WALL | WNOHANG);

		if (r == tracee->tid)
			return note_stop(tracee, *status);
		if (r < 0 && errno != EINTR)
			return -ESRCH;
		if (now() > deadline)
			return -ETIMEDOUT;
		sigtimedwait(&child, NULL, &nap);
	}
}

int tracee_run(struct tracee *tracee, int how, int sig, uint64_t deadline, int *status)
{
	int r;

	if (ptrace((enum __ptrace_request)how, tracee->tid, NULL, (void *)(uintptr_t)sig))
		return -errno;
	tracee->stopped = false;
	tracee->signal = 0;
	r = wait_for_stop(tracee, deadline, status);
	/* It runs another program now, in which nothing of ours is. */
	if (!r && PTRACE_STOP_EVENT(*status) == PTRACE_EVENT_EXEC) {
		tracee_let_go(tracee);
		return -ESRCH;
	}
	return r;
}

/* From one stop to that which we ask for: it comes before the thread is back in its program, so nothing is run on the way. */
static int run_to_trap(struct tracee *tracee, int sig, uint64_t deadline, int *status)
{
	if (ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL))
		return -errno;
	return tracee_run(tracee, PTRACE_CONT, sig, deadline, status);
}

int tracee_interrupt(struct tracee *tracee)
{
	const uint64_t deadline = tracee_deadline(STOP_NS);
	int status, r;

	if (ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL))
		return -errno;
	r = wait_for_stop(tracee, deadline, &status);
	/* Whatever else it stops for comes instead of what was asked for, not before it. A signal is the thread's own business. */
	while (!r && PTRACE_STOP_EVENT(status) != PTRACE_EVENT_STOP)
		r = run_to_trap(tracee, tracee->signal, deadline, &status);
	/* A stop of the whole process: whoever wanted that shall have it. */
	if (!r && (PTRACE_STOP_EVENT(status) != PTRACE_EVENT_STOP || WSTOPSIG(status) != SIGTRAP))
		r = -EAGAIN;
	return r;
}

int tracee_settle(struct tracee *tracee)
{
	int status, r;

	do
		r = run_to_trap(tracee, 0, TRACEE_NO_DEADLINE, &status);
	while (!r && PTRACE_STOP_EVENT(status) != PTRACE_EVENT_STOP);
	return r;
}

/* ---- system calls that would notice ---- */

/* Those for which the kernel has no code to take them up again. That they were interrupted means that they did nothing. */
static bool gives_up(uint64_t number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case 441:	/* epoll_pwait2 */
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case 333:	/* io_pgetevents */
	/* Of sockets with a time limit, and inotify. */
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return true;
	}
	return false;
}

#define SIGNAL_BIT(sig) (1ull << ((sig) - 1))
/* Of no effect unless there is a handler. */
#define IDLE_SIGNALS (SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH))

/* Is a signal on its way to it that it would see? Of one that is traced the kernel keeps also what it would throw away. */
static bool has_signal(const struct tracee *tracee)
{
	uint64_t own = 0, shared = 0, blocked = 0, ignored = 0, caught = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)tracee->pid, (int)tracee->tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "SigPnd: %" SCNx64, &own);
		sscanf(line, "ShdPnd: %" SCNx64, &shared);
		sscanf(line, "SigBlk: %" SCNx64, &blocked);
		sscanf(line, "SigIgn: %" SCNx64, &ignored);
		sscanf(line, "SigCgt: %" SCNx64, &caught);
	}
	if (file)
		fclose(file);
	return !file || (own | shared) & ~(blocked | ignored | (IDLE_SIGNALS & ~caught));
}

bool tracee_in_call(const struct tracee *tracee)
{
	return (int64_t)tracee->regs.orig_rax >= 0;
}

static void begin_again(struct tracee *tracee)
{
	struct user_regs_struct *regs = &tracee->regs;

	if (!tracee_in_call(tracee) || (int64_t)regs->rax != -EINTR || !gives_up(regs->orig_rax) || has_signal(tracee))
		return;
	regs->rax = regs->orig_rax;
	regs->rip -= 2;
	/* No call any more, but about to make one. */
	regs->orig_rax = (uint64_t)-1;
	tracee_set(tracee, regs);
}

/* ---- stopped and let go ---- */

static int describe(struct tracee *tracee)
{
	struct iovec iov = { tracee->xstate, sizeof(tracee->xstate) };
	int r = tracee_get(tracee, &tracee->regs);

	if (r)
		return r;
	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_X86_XSTATE, &iov) ||
	    ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(tracee->mask), &tracee->mask))
		return -errno;
	tracee->xstate_len = (uint32_t)iov.iov_len;
	return tracee->xstate_len < sizeof(tracee->xstate) ? 0 : -ENOTSUP;
}

/* What it is when the kernel refuses it to us: ours already, another's for now, at its end, or not for us at all. */
static int refused(const struct tracee *tracee)
{
	struct process thread;
	int r = process_read(&thread, tracee->tid);

	if (r)
		return r;
	/* One that did not stop the last time, and so could not be let go, is still ours. */
	if (thread.tracer == getpid())
		return 0;
	if (thread.state == 'X' || thread.state == 'Z')
		return -ESRCH;
	return thread.tracer ? -EAGAIN : -EPERM;
}

static int seize(const struct tracee *tracee)
{
	int r = -EPERM;

	/* Twice: whatever stood in the way may have gone before it was looked at. */
	for (int i = 0; i < 2 && r == -EPERM; i++) {
		if (!ptrace(PTRACE_SEIZE, tracee->tid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC)))
			return 0;
		r = errno == EPERM ? refused(tracee) : -errno;
	}
	return r;
}

bool tracee_is_parent(pid_t pid, pid_t tid)
{
	char path[64];
	FILE *file;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	file = fopen(path, "re");
	is = file && fgetc(file) != EOF;
	if (file)
		fclose(file);
	return is;
}

int tracee_expect(pid_t pid, pid_t tid)
{
	const struct tracee tracee = { .pid = pid, .tid = tid };
	int r = seize(&tracee);

	return r ? r : ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? -errno : 0;
}

int tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid)
{
	int r;

	tracee->pid = pid;
	tracee->tid = tid;
	tracee->stopped = false;
	tracee->signal = 0;
	r = seize(tracee);
	if (r)
		return r;
	r = tracee_interrupt(tracee);
	if (!r)
		r = describe(tracee);
	if (!r)
		begin_again(tracee);
	else if (r != -ESRCH)
		tracee_let_go(tracee);
	return r == -ETIMEDOUT ? -EAGAIN : r;
}

int tracee_restore(struct tracee *tracee)
{
	struct iovec iov = { tracee->xstate, tracee->xstate_len };
	int r = 0;

	if (ptrace(PTRACE_SETREGSET, tracee->tid, NT_X86_XSTATE, &iov))
		r = -errno;
	if (ptrace(PTRACE_SETSIGMASK, tracee->tid, sizeof(tracee->mask), &tracee->mask))
		r = -errno;
	return tracee_set(tracee, &tracee->regs) ? -EIO : r;
}

/* Only what is stopped can be let go, and only when it was seen for what: a signal is lost if nobody hands it on. */
void tracee_let_go(struct tracee *tracee)
{
	int status;

	if (!tracee->stopped && wait_for_stop(tracee, tracee_deadline(STOP_NS), &status))
		return;
	ptrace(PTRACE_DETACH, tracee->tid, NULL, (void *)(uintptr_t)tracee->signal);
	tracee->stopped = false;
}

#endif
