/*
 * func/aside: what tracing a function needs beyond the hot path, in code that is compiled as usual: views that went stale, several
 * buffers, threads and files that are not known yet. Runs under func_aside(), with the program's vector registers and errno kept;
 * functions that are called here are not traced. Any thread, any signal handler.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "func/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define VIEW_TRIES 1000
#define STACKS_MAX 4096u

void func_keep_errno(void *arg)
{
	const struct func_keeping *keeping = arg;
	int saved = errno;

	keeping->fn(keeping->arg);
	errno = saved;
}

/* Ready to write, in whatever process this is by now. */
struct view *func_current_view(void)
{
	struct thread *thread = &runtime_self;

	if (!LOAD(runtime.attached))
		return NULL;
	if (LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	runtime_thread_ready(thread);
	if (runtime_self.func_stack && !thread->guard)
		runtime_self.func_stack->owner = (uint32_t)thread->real_tid;
	return runtime_view_refresh();
}

void func_time_aside(void *now)
{
	*(uint64_t *)now = runtime_clock(TRACE_CLOCK_LOCAL);
}

void func_choose_aside(void *unused)
{
	struct view *view = func_current_view();

	(void)unused;
	if (view)
		runtime_func_chosen(view, &runtime_self);
}

/* The time that the record is to have: what it says of itself, in nanoseconds, and what is told of it. */
static void stamp(struct func_event *event)
{
	if (!event->ts || event->stamped)
		event->ts = runtime_clock(TRACE_CLOCK_LOCAL);
	if (event->stamped)
		memcpy((char *)event->record + event->len - sizeof(event->ts), &event->ts, sizeof(event->ts));
}

/* Every buffer that has not got it yet; false: the view went stale. */
static bool write_all(struct view *view, struct func_event *event)
{
	struct thread *thread = &runtime_self;
	uint64_t generation = LOAD_ACQUIRE(view->published);
	uint64_t on = event->id == EVENT_ID_FUNCTION ? view->functions : view->graphs;
	uint64_t mask = event->mask & on & ~event->done & ~runtime_view_off(view);

	if (mask & view->func_choosy)
		mask &= ~view->func_choosy | runtime_func_chosen(view, thread);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!mask && runtime_gone(generation))
		return false;
	for (; mask; mask &= mask - 1) {
		uint32_t b = (uint32_t)__builtin_ctzll(mask);
		uint32_t len = event->len_args && view->func_args & 1ull << b ? event->len_args : event->len;
		enum ring_result result;

		result = runtime_write_buffer(thread, view, generation, b, event->record, len, NULL);
		if (result == RING_STALE)
			return false;
		event->done |= 1ull << b;
		if (result == RING_DONE && event->id == EVENT_ID_FUNCTION && view->buffer[b].tracer_flags & TRACER_FLAG_FUNC_STACK)
			runtime_write_stack(thread, view, generation, b, thread->tid, event->site->ip);
	}
	return true;
}

void func_write_aside(void *arg)
{
	struct func_event *event = arg;
	struct record_head *head = event->record;
	struct thread *thread = &runtime_self;

	for (int tries = 0; tries < VIEW_TRIES; tries++) {
		struct view *view = func_current_view();

		if (!LOAD(runtime.attached))
			break;
		*head = (struct record_head){
			.type = (uint16_t)event->id, .pid = thread->guard ? runtime_thread_tid() : thread->tid,
		};
		stamp(event);
		if (view && write_all(view, event))
			break;
		if (!LOAD(runtime.locked))
			sched_yield();
	}
}

void func_lookup_aside(void *arg)
{
	struct func_lookup *lookup = arg;
	const struct module *module = runtime_module(lookup->address);
	struct func_near *near = &func_self.near[func_self.next_near % 4];

	lookup->symbol = runtime_module_address(module, lookup->address);
	if (module && lookup->symbol >= SYMBOL_SPACE_BASE) {
		near->size = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		near->start = module->start;
		near->delta = lookup->symbol - lookup->address;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		near->size = module->end - module->start;
		func_self.next_near++;
	}
}

/* ---- What threads remember ---- */

static struct func_stack *stacks[STACKS_MAX];
static uint32_t nstacks;

static bool is_idle(struct func_stack *stack, uint32_t me)
{
	uint32_t owner = LOAD(stack->owner);

	return (!owner || (owner != me && syscall(SYS_tgkill, runtime.pid, owner, 0) && errno == ESRCH)) &&
	       __atomic_compare_exchange_n(&stack->owner, &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* One whose thread has ended. */
static struct func_stack *take_idle(uint32_t me)
{
	static uint32_t next;
	uint32_t n = LOAD_ACQUIRE(nstacks), tries = n < 64 ? n : 64;

	n = n < STACKS_MAX ? n : STACKS_MAX;
	while (tries--) {
		struct func_stack *stack = LOAD_ACQUIRE(stacks[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % n]);

		if (stack && is_idle(stack, me))
			return stack;
	}
	return NULL;
}

static struct func_stack *make_stack(uint32_t me)
{
	struct func_stack *stack;
	uint32_t i;

	if (LOAD(runtime.locked) || !runtime_affordable(RLIMIT_DATA, 64 * sizeof(*stack)))
		return NULL;
	stack = mmap(NULL, sizeof(*stack), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return NULL;
	stack->owner = me;
	i = __atomic_fetch_add(&nstacks, 1, __ATOMIC_RELAXED);
	if (i < STACKS_MAX)
		STORE_RELEASE(stacks[i], stack);
	return stack;
}

/* Gives the thread its own, and a view that is not stale. */
void func_stack_aside(void *unused)
{
	struct func_stack *stack;
	uint32_t me;

	(void)unused;
	func_current_view();
	me = (uint32_t)runtime_self.real_tid;
	/* A vfork child has its parent's, or none. */
	if (!runtime_self.func_stack && me && !runtime_self.guard) {
		stack = take_idle(me);
		if (!stack)
			stack = make_stack(me);
		if (stack) {
			stack->n = 1;
			stack->overrun = 0;
			stack->walking = stack->walker = stack->walked_on = stack->crowded = 0;
			stack->silent = 0;
			stack->limit = FUNC_DEPTH_MAX;
			stack->call[0] = (struct func_call){ .slot = UINTPTR_MAX };
			runtime_self.func_stack = stack;
		}
	}
}

#endif
