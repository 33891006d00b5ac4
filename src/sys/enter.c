/*
 * sys/enter: before a system call and behind it. The hot path; any thread, any signal handler, on whatever stack.
 *
 * With general registers only: the kernel leaves the others alone, and so do we. What nearly every call comes to is done here: records
 * in one buffer, by a thread that is ready. The rest goes aside (aside.c).
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "func/put.h"
#include "sys/local.h"

__thread struct sys_thread sys_self __attribute__((tls_model("initial-exec")));

__thread uint8_t sys_coming __attribute__((tls_model("initial-exec")));

uint64_t sys_told[CALLS_MAX];

/* Records as their formats say. */
struct raw_enter {
	struct record_head head;
	int64_t number;
	uint64_t args[CALLS_ARGS];
};
struct each_enter {
	struct record_head head;
	uint64_t number;	/* of 32 bits */
	uint64_t args[CALLS_ARGS];
};
struct any_exit {
	struct record_head head;
	int64_t number;
	int64_t result;
};

/* A view that is in force, and its generation. */
struct looked {
	const struct view *view;
	uint64_t generation;
};

static __attribute__((noinline)) bool look_again(struct looked *looked)
{
	func_aside(sys_refresh_aside, NULL);
	looked->view = LOAD_ACQUIRE(wiped.view);
	if (!looked->view)
		return false;
	looked->generation = LOAD_ACQUIRE(looked->view->published);
	return !func_is_stale(looked->view, looked->generation);
}

/* False: nothing can be recorded. */
static inline __attribute__((always_inline)) bool look(struct looked *looked)
{
	looked->view = LOAD_ACQUIRE(wiped.view);
	if (UNLIKELY(!looked->view))
		return look_again(looked);
	looked->generation = LOAD_ACQUIRE(looked->view->published);
	return LIKELY(!func_is_stale(looked->view, looked->generation)) || look_again(looked);
}

static __attribute__((noinline)) void put_otherwise(uint32_t id, void *record, uint32_t len)
{
	struct sys_record arg = { id, len, record };

	func_aside(sys_write_aside, &arg);
}

static inline __attribute__((always_inline)) void put(const struct looked *looked, uint32_t id, void *record, uint32_t len)
{
	const struct func_put put = { looked->view, looked->generation, record };

	if (!id || id >= EVENT_ID_END || !LOAD(looked->view->mask[id]))
		return;
	if (UNLIKELY(!func_put_lone(&put, id, len)))
		put_otherwise(id, record, len);
}

static __attribute__((noinline)) void put_data(const struct calls_frame *call, bool behind)
{
	struct sys_look look = { call, behind };

	func_aside(sys_data_aside, &look);
}

/* Its events are among those that programs bring, from now on. */
static __attribute__((noinline)) void tell(uint64_t number)
{
	func_aside(sys_told_aside, &number);
}

static inline __attribute__((always_inline)) void put_enter(const struct calls_frame *call)
{
	const struct state_calls *calls;
	struct looked looked;
	union {
		struct raw_enter raw;
		struct each_enter each;
	} record;
	const uint64_t number = (uint64_t)call->number;

	if (!look(&looked) || !(calls = LOAD(looked.view->calls)))
		return;
	if (UNLIKELY(number < CALLS_MAX && LOAD(sys_told[number]) != looked.generation))
		tell(number);
	if (calls->raw_enter) {
		record.raw.number = call->number;
		sys_args(record.raw.args, call);
		put(&looked, calls->raw_enter, &record, sizeof(record.raw));
	}
	if (UNLIKELY(number >= CALLS_MAX))
		return;
	if (calls->enter[number]) {
		record.each.number = (uint32_t)number;
		sys_args(record.each.args, call);
		put(&looked, calls->enter[number], &record,
		    (uint32_t)offsetof(struct each_enter, args) + 8 * (calls->nargs[number] % (CALLS_ARGS + 1)));
	}
	if (UNLIKELY(calls->data_id) && calls->data[number])
		put_data(call, false);
}

void sys_put_exit(int64_t number, int64_t result)
{
	const struct state_calls *calls;
	struct looked looked;
	struct any_exit record;

	if (!look(&looked) || !(calls = LOAD(looked.view->calls)))
		return;
	/* Of the call that brought this program nothing else was seen. */
	if (UNLIKELY((uint64_t)number < CALLS_MAX && LOAD(sys_told[number]) != looked.generation))
		tell((uint64_t)number);
	record.number = number;
	record.result = result;
	if (calls->raw_exit)
		put(&looked, calls->raw_exit, &record, sizeof(record));
	if (UNLIKELY((uint64_t)number >= CALLS_MAX) || !calls->exit[number])
		return;
	record.number = (uint32_t)number;
	put(&looked, calls->exit[number], &record, sizeof(record));
}

uint32_t sys_enter(struct calls_frame *call)
{
	if (UNLIKELY(func_is_within((uintptr_t)call)))
		return sys_special_own(call);
	if (UNLIKELY(!sys_self.armed))
		func_aside(sys_arm_aside, NULL);
	put_enter(call);
	return UNLIKELY(sys_is_special(call->number)) ? sys_special(call) : SYS_RUN;
}

void sys_exit(struct calls_frame *call)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;

	sys_coming = 0;
	if (UNLIKELY(sys_is_special(call->number)))
		sys_special_end(call);
	if (UNLIKELY(calls && calls->data_id && (uint64_t)call->number < CALLS_MAX && calls->data[call->number]))
		put_data(call, true);
	sys_put_exit(call->number, call->result);
}

#endif

REGS_END
