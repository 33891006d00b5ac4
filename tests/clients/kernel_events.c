/*
 * Events with the kernel's names and fields, out of ordinary programs: a library for LD_PRELOAD.
 *
 * What a program asks of the C library stands for what the kernel would have seen: to start is
 * sched_process_exec, to end sched_process_exit, to fork sched_process_fork, to sleep a timer,
 * a sched_switch away and, awake again, sched_waking and sched_wakeup; kill is signal_generate.
 * So cases of the kernel's own test suite that fork, sleep and look for such events find them,
 * from the processes that they expect. Events that nothing emits are there to be found by name.
 */
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

RINGSIDE_EVENT(sched, sched_process_fork,
	array(char, parent_comm, TASK_COMM_LEN),
	field(pid_t, parent_pid),
	array(char, child_comm, TASK_COMM_LEN),
	field(pid_t, child_pid),
	print("comm=%s pid=%d child_comm=%s child_pid=%d", parent_comm, parent_pid, child_comm, child_pid))

RINGSIDE_EVENT(sched, sched_process_exec,
	string(filename),
	field(pid_t, pid),
	field(pid_t, old_pid),
	print("filename=%s pid=%d old_pid=%d", filename, pid, old_pid))

RINGSIDE_EVENT(sched, sched_process_exit,
	array(char, comm, TASK_COMM_LEN),
	field(pid_t, pid),
	field(int, prio),
	print("comm=%s pid=%d prio=%d", comm, pid, prio))

RINGSIDE_EVENT(timer, timer_start,
	field(void *, timer),
	field(unsigned long, expires),
	print("timer=%p expires=%lu", timer, expires))

RINGSIDE_EVENT(timer, timer_cancel, field(void *, timer), print("timer=%p", timer))

RINGSIDE_EVENT(signal, signal_generate,
	field(int, sig),
	field(int, errno),
	field(int, code),
	array(char, comm, TASK_COMM_LEN),
	field(pid_t, pid),
	field(int, group),
	field(int, result),
	print("sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d", sig, errno, code, comm, pid, group, result))

RINGSIDE_EVENT(kmem, kmalloc,
	field(unsigned long, call_site),
	field(const void *, ptr),
	field(size_t, bytes_req),
	field(size_t, bytes_alloc),
	field(unsigned long, gfp_flags),
	field(int, node))
RINGSIDE_EVENT(kmem, kfree, field(unsigned long, call_site), field(const void *, ptr))

/* Not before: a field above has its name. */
#include <errno.h>

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

static void away(const void *timer, const struct timespec *until)
{
	char comm[TASK_COMM_LEN];

	name(comm);
	trace_timer_timer_start((void *)(uintptr_t)timer, (unsigned long)until->tv_nsec / 4000000);
	trace_sched_sched_switch(comm, thread_id(), 120, 1, "swapper/0", 0, 120);
}

static void back(const void *timer)
{
	char comm[TASK_COMM_LEN];

	name(comm);
	trace_timer_timer_cancel((void *)(uintptr_t)timer);
	trace_sched_sched_waking(comm, thread_id(), 120, sched_getcpu());
	trace_sched_sched_wakeup(comm, thread_id(), 120, sched_getcpu());
	trace_sched_sched_switch("swapper/0", 0, 120, 0, comm, thread_id(), 120);
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	int error = clock_nanosleep(CLOCK_REALTIME, 0, time, rest);

	if (error)
		errno = error;
	return error ? -1 : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = next("clock_nanosleep");
	int r;

	away(time, time);
	r = real(clock, flags, time, rest);
	back(time);
	return r;
}

pid_t fork(void)
{
	pid_t (*real)(void) = next("fork");
	char comm[TASK_COMM_LEN];
	pid_t child = real();

	if (child > 0) {
		name(comm);
		trace_sched_sched_process_fork(comm, thread_id(), comm, child);
	}
	return child;
}

int kill(pid_t pid, int sig)
{
	int (*real)(pid_t, int) = next("kill");
	char comm[TASK_COMM_LEN];
	int r = real(pid, sig);

	name(comm);
	trace_signal_signal_generate(sig, 0, 0, comm, pid, 1, r ? 1 : 0);
	return r;
}

static void ends(void)
{
	char comm[TASK_COMM_LEN];

	name(comm);
	trace_sched_sched_process_exit(comm, thread_id(), 120);
}

/* Shells leave by this door, past all destructors. */
void _exit(int status)
{
	ends();
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

static __attribute__((destructor)) void stop(void)
{
	ends();
}

static __attribute__((constructor(200))) void start(void)
{
	trace_sched_sched_process_exec(program_invocation_name, thread_id(), thread_id());
}
