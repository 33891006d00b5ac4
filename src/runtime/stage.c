/*
 * runtime/stage: memory for records that are too large for the stack of somebody else's thread.
 *
 * Any thread, any signal handler. A stage is its thread's until that puts it back; those that nobody will put back, since
 * their frame was left by longjmp or their thread is gone, are told by frame and tid.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/runtime.h"

/* Other stacks than this one say nothing about frames. */
static bool on_other_stack(void)
{
	int saved = errno;
	stack_t stack;
	bool other = LOAD(runtime.locked) || sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK;

	errno = saved;
	return other;
}

static void free_stage(uint32_t i, uint32_t tid)
{
	if (__atomic_compare_exchange_n(&runtime.stage_of[i].tid, &tid, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_fetch_and(&wiped.staged, ~(1u << i), __ATOMIC_RELEASE);
}

/* Stages of ours whose frames are no more: a handler interrupted an event and jumped away. */
static void take_back_own(struct thread *thread, uint32_t tid, uintptr_t here)
{
	uint32_t left = 0;

	if (on_other_stack())
		return;
	for (uint32_t i = 0; i < RUNTIME_STAGES; i++) {
		if (LOAD(runtime.stage_of[i].tid) != tid)
			continue;
		if (runtime.stage_of[i].frame <= here)
			free_stage(i, tid);
		else
			left++;
	}
	thread->stages = left;
}

/* Stages of threads that were cancelled in the middle of an event. */
static void take_back_lost(void)
{
	int saved = errno;

	for (uint32_t i = 0; i < RUNTIME_STAGES && !LOAD(runtime.locked); i++) {
		uint32_t tid = LOAD(runtime.stage_of[i].tid);

		if (tid && syscall(SYS_tkill, tid, 0) && errno == ESRCH)
			free_stage(i, tid);
	}
	errno = saved;
}

void *runtime_stage_get(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct thread *thread = &runtime_self;
	uint32_t tid = (uint32_t)(thread->tid ? thread->tid : runtime_thread_tid());
	uint32_t used;

	if (!runtime.stages)
		return NULL;
	if (thread->stages || !~LOAD(wiped.staged))
		take_back_own(thread, tid, here);
	if (!~LOAD(wiped.staged))
		take_back_lost();
	used = LOAD(wiped.staged);
	while (~used) {
		uint32_t free = (uint32_t)__builtin_ctz(~used);

		if (!__atomic_compare_exchange_n(&wiped.staged, &used, used | 1u << free, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		thread->stages++;
		runtime.stage_of[free].frame = here;
		__atomic_signal_fence(__ATOMIC_RELEASE);
		STORE(runtime.stage_of[free].tid, tid);
		return runtime.stages + (size_t)free * 4096;
	}
	return NULL;
}

void runtime_stage_put(void *stage)
{
	uint32_t at = (uint32_t)(((unsigned char *)stage - runtime.stages) / 4096);

	free_stage(at, LOAD(runtime.stage_of[at].tid));
	if (runtime_self.stages)
		runtime_self.stages--;
}
