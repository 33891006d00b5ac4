/*
 * runtime/late: what the tool calls in a program that runs already, from a thread that it has borrowed (src/inject).
 *
 * The runtime may have come by the same way, by dlopen of a name that lies in a tracing directory: it then joins that directory
 * and no other. Detached, a program keeps the runtime and its mappings, which nobody could take away from under threads that are
 * just using them. But it sleeps: its functions are as they were, and in its views nothing is on. Attached again, it wakes up.
 *
 * The thread is at a place that holds no lock of the loader or the allocator, on a stack of the tool's with 500 KiB, all signals
 * held off but those of faults. It may hold any lock of the program. The caller keeps errno.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "layout/stopped.h"
#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"

#define EXPORT __attribute__((visibility("default")))

/* 1: it has joined the directory at `path`, or is awake again; 0: it had, and was. -EBUSY: it belongs to another. */
EXPORT int __ringside_attach(const char *path);
/*
 * The directory's state has changed: look at it. All threads stand still, where `threads` says, the borrowed one first. How many functions
 * are patched now, or -errno; -EAGAIN: one stands where code would change; -ECHILD: the memory is another process's, which has threads
 * of its own.
 */
EXPORT int __ringside_poke(const struct stopped_thread *threads, size_t n);
/* Nothing of this program is recorded until it is attached again. The same. */
EXPORT int __ringside_detach(const struct stopped_thread *threads, size_t n);

/* While there is no tracer of functions, or system calls. */
__attribute__((weak)) int func_update(const struct stopped_thread *threads, size_t n, bool fresh)
{
	(void)threads;
	(void)n;
	(void)fresh;
	return 0;
}

__attribute__((weak)) uintptr_t func_true_return(uintptr_t address)
{
	return address;
}

__attribute__((weak)) int func_drop(const struct stopped_thread *threads, size_t n)
{
	(void)threads;
	(void)n;
	return 0;
}

__attribute__((weak)) void sys_update(void)
{
}

__attribute__((weak)) void sys_dispatch(void)
{
}

/* As a process of its own; false: a child that shares its parent's memory, and is about to leave it. */
static bool is_itself(void)
{
	if (LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	return LOAD(runtime.pid) == (int32_t)getpid();
}

int __ringside_poke(const struct stopped_thread *threads, size_t n)
{
	if (!LOAD(runtime.attached))
		return -ENOTCONN;
	if (!is_itself())
		return -ECHILD;
	runtime_view_settle();
	sys_update();
	return LOAD(runtime.asleep) ? 0 : func_update(threads, n, false);
}

int __ringside_attach(const char *path)
{
	bool new = !LOAD(runtime.attached);
	int r = runtime_attach(path);

	/* Linked, but there was no directory then: its own events were refused when it began, and stay off. */
	if (!r)
		runtime_life_start();
	if (r && r != -EALREADY)
		return r;
	new |= __atomic_exchange_n(&runtime.asleep, 0, __ATOMIC_SEQ_CST) != 0;
	/* Its functions are to be known before they are asked for. */
	runtime_modules_learn(true);
	runtime_view_settle();
	return new;
}

int __ringside_detach(const struct stopped_thread *threads, size_t n)
{
	int r;

	if (!LOAD(runtime.attached))
		return 0;
	if (!is_itself())
		return -ECHILD;
	r = func_drop(threads, n);
	if (r < 0)
		return r;
	STORE(runtime.asleep, 1);
	runtime_view_settle();
	sys_update();
	return r;
}
