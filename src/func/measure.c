/*
 * func/measure: what measuring functions needs beyond profile.c: rows that are new, clocks of the system, the deepest stack, and
 * what was ever patched. Compiled as usual; under func_aside(), but for the last. Any thread, any signal handler.
 *
 * The deepest stack. Whoever finds a deeper one writes it down under a lock, in the side that is not in force, and puts that in
 * force with one store. The lock is taken from who died with it; nobody waits long for one who lives.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "func/local.h"
#include "runtime/unwind.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define VIEW_TRIES 64
#define LOCK_TRIES 1000
#define STEPS_MAX (TABLE_DEEP_MAX + 64u)	/* with frames of our own */

/* As it is in the view that is in force now; false: it cannot be had. */
static bool take_measure(struct view_measure *measure)
{
	for (int i = 0; i < VIEW_TRIES; i++) {
		const struct view *view = func_current_view();
		uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0;

		if (!LOAD(runtime.attached))
			break;
		if (view)
			*measure = view->measure;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (view && !runtime_gone(generation))
			return true;
		if (!LOAD(runtime.locked))
			sched_yield();
	}
	return false;
}

void func_row_aside(void *arg)
{
	struct func_row *row = arg;
	struct view_measure measure;

	if (row->cpu >= runtime.ncpu)
		row->cpu = runtime_current_cpu();
	if (take_measure(&measure) && measure.profile) {
		const struct table_shape shape = table_profile_shape(measure.parts, measure.elements);

		row->row = hist_find(&measure.tables, measure.profile, &shape, row->cpu, &row->site->ip, sizeof(row->site->ip));
	}
}

void func_clock_aside(void *arg)
{
	struct func_clock *clock = arg;
	struct timespec now;

	if (clock->clock == VIEW_CLOCK_THREAD && !LOAD(runtime.locked) && !clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		clock->now = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	else
		clock->now = runtime_clock(TRACE_CLOCK_LOCAL);
}

/* ---- The deepest stack ---- */

static bool lock(struct table_deepest *deepest, uint64_t me)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		uint64_t owner = LOAD(deepest->owner);

		if ((!owner || owner == me || (i % 64 == 63 && runtime_owner_dead(owner))) &&
		    __atomic_compare_exchange_n(&deepest->owner, &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (!LOAD(runtime.locked))
			sched_yield();
	}
	return false;
}

/* Of the function, and of all that called it. */
static uint32_t walk(struct table_frame *frames, const struct func_deep *deep, uintptr_t top)
{
	struct unwind unwind = { .exact = true };
	const struct module *module;
	uint32_t n = 0;

	FRAME_HERE(unwind.pc, unwind.reg[FRAME_SP], unwind.reg[FRAME_FP]);
	unwind.known = 1ull << FRAME_SP | 1ull << FRAME_FP;
	runtime_stack_at(&unwind.stack, unwind.reg[FRAME_SP]);
	frames[n++] = (struct table_frame){ deep->site->ip, top - deep->slot };
	for (uint32_t i = 0; i < STEPS_MAX && n < TABLE_DEEP_MAX; i++) {
		module = runtime_module(unwind.pc);
		if (runtime_unwind(&unwind, module) == UNWIND_END)
			break;
		if (unwind.reg[FRAME_SP] <= deep->slot || unwind.reg[FRAME_SP] > top)
			continue;
		module = runtime_module(unwind.pc);
		frames[n++] = (struct table_frame){ runtime_module_address(module, unwind.pc), top - unwind.reg[FRAME_SP] };
	}
	return n;
}

static void write_down(struct table_deepest *deepest, const struct func_deep *deep, uintptr_t top)
{
	const uint64_t depth = top - deep->slot, current = LOAD(deepest->current);
	struct table_deep_side *side = &deepest->side[~current & 1];

	if (depth <= current >> 1)
		return;
	side->depth = depth;
	side->pid = runtime_self.real_tid;
	side->n = walk(side->frames, deep, top);
	/* Behind all of it. Partner: the tool, which reads it before and after. */
	STORE_RELEASE(deepest->current, depth << 1 | (~current & 1));
}

void func_deep_aside(void *arg)
{
	const struct func_deep *deep = arg;
	struct thread *thread = &runtime_self;
	struct view_measure measure;
	struct unwind_stack stack;
	uint64_t before, me;

	runtime_stack_at(&stack, deep->slot);
	/* One that begins who knows where has no depth: a coroutine's, a signal handler's. */
	if (!stack.may_ask && take_measure(&measure) && measure.deepest &&
	    func_stack_top(stack.high) - deep->slot > LOAD(measure.deepest->current) >> 1) {
		me = runtime_thread_identity(thread);
		runtime_signals_hold(&before);
		if (lock(measure.deepest, me)) {
			write_down(measure.deepest, deep, func_stack_top(stack.high));
			__atomic_compare_exchange_n(&measure.deepest->owner, &me, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
		} else {
			__atomic_fetch_add(&measure.deepest->missed, 1, __ATOMIC_RELAXED);
		}
		runtime_signals_restore(&before);
	}
}

/* ---- What was ever patched ---- */

void func_touch(const struct func_selection *selection, const struct func_file *file, const struct plan_site *site)
{
	const struct state_head *state = selection->state;
	const struct state_measure *measure = (const void *)((const char *)state + state->measure);
	const unsigned char *plans = runtime_plans_reach(0, sizeof(struct plans_head));
	struct hist_tables tables = runtime_tables_reach((uint64_t)state->tables * 4096);
	uint64_t bit, *word;

	if (!state->measure || !plans || measure->touched < TABLES_DATA_OFFSET || measure->touched % 4096 ||
	    measure->touched > tables.size || tables.size - measure->touched < TABLE_TOUCHED_SIZE)
		return;
	bit = table_touched_bit(file->offset + (uint64_t)((const unsigned char *)site - (const unsigned char *)file->plan));
	if (bit / 8 >= TABLE_TOUCHED_SIZE)
		return;
	word = (uint64_t *)(void *)(tables.base + measure->touched) + bit / 64;
	if (!(LOAD(*word) >> bit % 64 & 1))
		__atomic_fetch_or(word, 1ull << bit % 64, __ATOMIC_RELAXED);
}

#endif
