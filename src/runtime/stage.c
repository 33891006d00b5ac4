/*
 * runtime/stage: memory for records that are too large for the stack of somebody else's thread.
 *
 * Any thread, any signal handler. A stage is its thread's until that puts it back; those that nobody will put back, since
 * their frame was left by longjmp or their thread is gone, are told by frame and tid.
 *
 * A handler may jump away between any two instructions: so whose a stage is tells one word alone, wiped.stage_tid. The frame that
 * has it is the thread's own business, and known before:
 *
 *   get: frame <- here, tid <- ours if it was 0        put: tid <- 0, frame <- 0
 *
 * While there is a frame, nobody else of its thread tries that stage.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/runtime.h"

/* The stack that handlers may have for themselves. False: this is it, and says nothing about frames elsewhere. */
static bool find_other_stack(stack_t *other)
{
	int saved = errno;
	bool found = !LOAD(runtime.locked) && !sigaltstack(NULL, other) && !(other->ss_flags & SS_ONSTACK);

	errno = saved;
	return found;
}

static void free_stage(uint32_t i, uint32_t tid)
{
	__atomic_compare_exchange_n(&wiped.stage_tid[i], &tid, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Not before what comes first in the program: for handlers of this thread. */
static void set_frame(struct thread *thread, uint32_t i, uintptr_t frame)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(thread->stage_frame[i], frame);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Stages of ours whose frames are no more: a handler interrupted an event and jumped away. */
static void take_back_own(struct thread *thread, uint32_t tid, uintptr_t here)
{
	uint32_t left = 0;
	stack_t other;

	/* Guarded ones tell no frames. */
	if (thread->guard || !find_other_stack(&other))
		return;
	for (uint32_t i = 0; i < RUNTIME_STAGES; i++) {
		uintptr_t frame = LOAD(thread->stage_frame[i]);

		if (frame > here && frame - (uintptr_t)other.ss_sp >= other.ss_size) {
			left++;
			continue;
		}
		free_stage(i, tid);
		set_frame(thread, i, 0);
	}
	thread->stages = left;
}

/* Stages of threads that were cancelled in the middle of an event. */
static void take_back_lost(void)
{
	int saved = errno;

	for (uint32_t i = 0; i < RUNTIME_STAGES && !LOAD(runtime.locked); i++) {
		uint32_t tid = LOAD(wiped.stage_tid[i]);

		if (tid && syscall(SYS_tkill, tid, 0) && errno == ESRCH)
			free_stage(i, tid);
	}
	errno = saved;
}

/* A guarded one has no frame there: a child that is killed, on who knows which stack, would leave that to its parent. */
static void *claim(struct thread *thread, uint32_t tid, uintptr_t here)
{
	thread->stages++;
	for (uint32_t i = 0; i < RUNTIME_STAGES; i++) {
		uint32_t nobody = 0;

		if (LOAD(thread->stage_frame[i]) || LOAD(wiped.stage_tid[i]))
			continue;
		if (!thread->guard)
			set_frame(thread, i, here);
		/* Partner: free_stage() and runtime_stage_put(), by whoever had it. */
		if (__atomic_compare_exchange_n(&wiped.stage_tid[i], &nobody, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return runtime.stages + (size_t)i * 4096;
		set_frame(thread, i, 0);
	}
	return NULL;
}

void *runtime_stage_get(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct thread *thread = &runtime_self;
	uint32_t tid = (uint32_t)(thread->tid ? thread->tid : runtime_thread_tid());
	void *stage;

	if (!runtime.stages)
		return NULL;
	if (thread->stages)
		take_back_own(thread, tid, here);
	stage = claim(thread, tid, here);
	if (stage)
		return stage;
	take_back_own(thread, tid, here);
	take_back_lost();
	return claim(thread, tid, here);
}

void runtime_stage_put(void *stage)
{
	uint32_t at = (uint32_t)(((unsigned char *)stage - runtime.stages) / 4096);

	STORE_RELEASE(wiped.stage_tid[at], 0);
	set_frame(&runtime_self, at, 0);
	if (runtime_self.stages)
		runtime_self.stages--;
}
