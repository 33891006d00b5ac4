/*
 * runtime/choose: whose events a buffer takes, when it does not take everybody's: set_event_pid, set_event_notrace_pid; and whose
 * functions: set_ftrace_pid, set_ftrace_notrace_pid.
 *
 * Any thread, any signal handler. The lists are sorted tables in the state; what they say about a thread is found out once a
 * state and kept by the thread. Under event-fork a thread also counts as named when its process is, or one that it descends
 * from: the kernel follows forks as they happen, but here a parent may be no traced program at all.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/runtime.h"

static bool named(const struct view *view, uint32_t b, uint32_t kind, int32_t tid)
{
	uint64_t want = (uint64_t)b << 48 | (uint64_t)kind << 32 | (uint32_t)tid;
	uint32_t low = 0, high;
	const struct state_pid *pid = runtime_view_pids(view, &high);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t key = (uint64_t)pid[middle].buffer << 48 | (uint64_t)pid[middle].kind << 32 |
			       (uint32_t)pid[middle].tid;

		if (key == want)
			return true;
		if (key < want)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool has_any(const struct view *view, uint32_t b, uint32_t kind)
{
	uint32_t n;
	const struct state_pid *pid = runtime_view_pids(view, &n);

	for (uint32_t i = 0; i < n; i++)
		if (pid[i].buffer == b && pid[i].kind == kind)
			return true;
	return false;
}

/* Field 4 of /proc/PID/stat: its parent. 0 when that cannot be had. Past libc, as in thread.c. */
static int32_t parent_of(int32_t pid)
{
	char path[32] = "/proc/", digits[12], text[512], *at = path + 6;
	long fd, n;
	int len = 0;

	for (int32_t rest = pid; rest > 0; rest /= 10)
		digits[len++] = (char)('0' + rest % 10);
	while (len)
		*at++ = digits[--len];
	memcpy(at, "/stat", 6);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : syscall(SYS_read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')');
	/* ") S 123" */
	return at && n - (at - text) > 4 ? (int32_t)strtol(at + 4, NULL, 10) : 0;
}

/* Two threads may do it at once, and find the same. */
static void find_family(void)
{
	uint32_t n = LOAD_ACQUIRE(runtime.nfamily);
	int32_t pid = n ? runtime.family[n - 1] : LOAD(runtime.pid);

	while (n < RUNTIME_FAMILY && (pid = parent_of(pid)) > 1)
		runtime.family[n++] = pid;
	STORE_RELEASE(runtime.nfamily, n);
	STORE_RELEASE(runtime.family_whole, 1);
}

static void grow(int32_t pid)
{
	memmove(&runtime.family[1], &runtime.family[0], (RUNTIME_FAMILY - 1) * sizeof(runtime.family[0]));
	runtime.family[0] = pid;
	runtime.nfamily += runtime.nfamily < RUNTIME_FAMILY;
}

/* Now, while it is known: who looks later may find that its parent is gone. */
void runtime_family_grow(int32_t parent, int32_t forker)
{
	grow(parent);
	if (forker && forker != parent)
		grow(forker);
}

static bool follows(const struct view *view, uint32_t b, uint32_t kind)
{
	uint32_t n;

	if (!LOAD_ACQUIRE(runtime.family_whole) && !LOAD(runtime.locked))
		find_family();
	if (named(view, b, kind, LOAD(runtime.pid)))
		return true;
	n = LOAD_ACQUIRE(runtime.nfamily);
	for (uint32_t i = 0; i < n; i++)
		if (named(view, b, kind, runtime.family[i]))
			return true;
	return false;
}

/* Lists of one sort: of events, or of functions. */
struct sort {
	uint32_t only, not;	/* STATE_PID_* */
	bool functions;
};
static const struct sort events = { STATE_PID_ONLY, STATE_PID_NOT, false },
			 functions = { STATE_PID_FUNC_ONLY, STATE_PID_FUNC_NOT, true };

static bool is_meant(const struct view *view, const struct sort *sort, uint32_t b, uint32_t kind, int32_t tid)
{
	bool forks = sort->functions ? view->buffer[b].tracer_flags & TRACER_FLAG_FUNCTION_FORK :
				       view->buffer[b].flags & BUFFER_EVENT_FORK;

	return named(view, b, kind, tid) || (forks && follows(view, b, kind));
}

static uint64_t choose(const struct view *view, const struct sort *sort, int32_t tid)
{
	uint64_t choosy = sort->functions ? view->func_choosy : view->choosy, chosen = 0;

	for (uint32_t b = 0; b < view->nbuffers; b++) {
		if (!(choosy & 1ull << b))
			continue;
		if ((!has_any(view, b, sort->only) || is_meant(view, sort, b, sort->only, tid)) &&
		    !is_meant(view, sort, b, sort->not, tid))
			chosen |= 1ull << b;
	}
	return chosen;
}

/* Of a thread of another process. */
static bool is_told_of(const struct view *view, const struct runtime_told *told, uint32_t b, uint32_t kind, int32_t tid)
{
	if (!tid || named(view, b, kind, tid))
		return tid;
	for (const int32_t *pid = told->family; view->buffer[b].flags & BUFFER_EVENT_FORK && *pid; pid++)
		if (named(view, b, kind, *pid))
			return true;
	return false;
}

static uint64_t choose_told(const struct view *view, const struct runtime_told *told)
{
	uint64_t chosen = 0;

	for (uint64_t mask = view->choosy; mask; mask &= mask - 1) {
		const uint32_t b = (uint32_t)__builtin_ctzll(mask);
		const bool only = has_any(view, b, STATE_PID_ONLY);

		for (int i = 0; i < 2; i++) {
			const int32_t tid = i ? told->other : told->tid;

			if (tid && (!only || is_told_of(view, told, b, STATE_PID_ONLY, tid)) &&
			    !is_told_of(view, told, b, STATE_PID_NOT, tid))
				chosen |= 1ull << b;
		}
	}
	return chosen;
}

static uint64_t choose_once(const struct view *view, struct thread *thread, const struct sort *sort, struct chosen *known)
{
	uint64_t generation = LOAD_ACQUIRE(view->published), chosen;

	/* Somebody else may be in this thread's place: a vfork child. One that is not ready yet does not know itself. */
	if (thread->guard || !thread->tid)
		return choose(view, sort, runtime_thread_tid());
	if (known->in == generation)
		return known->buffers;
	chosen = choose(view, sort, thread->tid);
	/* A handler that comes in between finds out for itself. */
	known->in = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	known->buffers = chosen;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	known->in = generation;
	return chosen;
}

uint64_t runtime_chosen(const struct view *view, struct thread *thread)
{
	if (thread->told)
		return choose_told(view, thread->told);
	return choose_once(view, thread, &events, &thread->chosen);
}

uint64_t runtime_func_chosen(const struct view *view, struct thread *thread)
{
	return choose_once(view, thread, &functions, &thread->func_chosen);
}
