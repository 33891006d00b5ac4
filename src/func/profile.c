/*
 * func/profile: calls counted and timed, without a record. From the slow way through enter.c, with general registers only; what
 * most calls come to is done here, a function's first one on a CPU and clocks of the system go aside (measure.c).
 *
 *   begin: hits + 1 in the row of this CPU    start: the time is taken, last
 *   end:   the time is taken, first; times are added in the row where the call began
 *
 * So hits are exact whatever becomes of the call; its time is known only if its end was seen. What counting costs is in the time
 * of callers, not in the call's own. Numbers of a row are added with one atomic instruction each: any number of threads share it.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "ring/arch.h"

#include "func/local.h"

#define TRIES 64

static inline void add(uint64_t *at, uint64_t value)
{
	__atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

/* What is in force, in the caller's own memory; false: the view went stale meanwhile. */
static bool take_measure(struct view_measure *measure)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0;

	if (!view)
		return false;
	measure->tables.base = view->measure.tables.base;
	measure->profile = view->measure.profile;
	measure->parts = view->measure.parts;
	measure->elements = view->measure.elements;
	measure->rooted = view->measure.rooted;
	measure->clock = view->measure.clock;
	measure->deepest = view->measure.deepest;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !runtime_gone(generation);
}

static bool current_measure(struct view_measure *measure)
{
	for (int i = 0; i < TRIES; i++)
		if (take_measure(measure))
			return true;
		else if (!func_aside(func_stack_aside, NULL))
			break;
	return false;
}

/* As hist_drop() does it. */
static void drop(const struct view_measure *measure, uint32_t cpu)
{
	const struct table_shape shape = table_profile_shape(measure->parts, measure->elements);
	const uint64_t part = cpu & (measure->parts - 1);

	add((uint64_t *)(void *)(measure->tables.base + measure->profile + part * table_part_size(&shape)), 1);
}

/* In which row the call is counted. */
static uint64_t *find_row(const struct view_measure *measure, const struct func_site *site, uint32_t *cpu)
{
	const struct table_shape shape = table_profile_shape(measure->parts, measure->elements);
	struct func_row row = { .site = site, .cpu = *cpu };

	if (row.cpu < runtime.ncpu) {
		row.row = hist_peek(&measure->tables, measure->profile, &shape, row.cpu, site->ip);
		if (row.row)
			return row.row;
	}
	/* In a handler, say, that interrupted somebody who is aside. */
	if (!func_aside(func_row_aside, &row))
		drop(measure, row.cpu);
	*cpu = row.cpu;
	return row.row;
}

bool func_profile_begin(const struct func_call *call, struct func_profiled *profiled)
{
	const struct ring_rseq *rs = runtime_self.rs;
	struct view_measure measure;
	uint64_t *row;

	if (!current_measure(&measure) || !measure.profile || call->barred & 1 || (measure.rooted && !(call->inside & 1)))
		return false;
	profiled->cpu = rs && !runtime_self.guard ? LOAD(rs->cpu_id) : UINT32_MAX;
	profiled->clock = measure.clock;
	profiled->table = measure.profile;
	profiled->callees = 0;
	row = find_row(&measure, call->site, &profiled->cpu);
	if (row)
		add(&row[0], 1);
	return row;
}

static uint64_t now(uint64_t clock)
{
	struct func_clock time = { .clock = clock };

	if (clock > VIEW_CLOCK_THREAD)
		return (uint64_t)((unsigned __int128)section_counter() * clock >> 32);
	func_aside(func_clock_aside, &time);
	return time.now;
}

void func_profile_start(struct func_profiled *profiled)
{
	profiled->start = now(profiled->clock);
}

/* Two words that are one number: who carries adds to the upper one. */
static void add_square(uint64_t *at, uint64_t value)
{
	const unsigned __int128 square = (unsigned __int128)value * value;
	const uint64_t low = (uint64_t)square, before = __atomic_fetch_add(&at[0], low, __ATOMIC_RELAXED);
	const uint64_t high = (uint64_t)(square >> 64) + (before + low < low);

	if (high)
		add(&at[1], high);
}

static void raise(uint64_t *at, uint64_t value)
{
	uint64_t most = LOAD(*at);

	while (value > most)
		if (__atomic_compare_exchange_n(at, &most, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
}

/* The call that this one was made from, as far as the profile knows: its own time is less. */
static void tell_caller(struct func_stack *stack, uint32_t i, uint64_t time)
{
	while (i-- > 1) {
		if (!stack->call[i].profiled)
			continue;
		stack->profiled[i].callees += time;
		break;
	}
}

void func_profile_end(struct func_stack *stack, uint32_t i)
{
	const struct func_profiled *profiled = &stack->profiled[i];
	const uint64_t end = now(profiled->clock), start = profiled->start, callees = profiled->callees;
	const uint64_t time = end > start ? end - start : 0, self = time > callees ? time - callees : 0;
	uint32_t cpu = profiled->cpu;
	struct view_measure measure;
	uint64_t *row, *val;

	/* Not twice, whatever jumps out of here. */
	stack->call[i].profiled = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tell_caller(stack, i, time);
	/* Off by now, or begun anew. */
	if (!current_measure(&measure) || measure.profile != profiled->table || measure.clock != profiled->clock)
		return;
	row = find_row(&measure, stack->call[i].site, &cpu);
	if (!row)
		return;
	val = row + 1;
	add(&val[PROFILE_TIMED], 1);
	add(&val[PROFILE_TIME], time);
	add(&val[PROFILE_SELF], self);
	add_square(&val[PROFILE_TIME_SQUARES], time);
	add_square(&val[PROFILE_SELF_SQUARES], self);
	raise(&val[PROFILE_MAX], time);
}

void func_deep_look(const struct func_site *site, uintptr_t slot)
{
	struct func_deep deep = { site, slot };
	const struct thread *thread = &runtime_self;
	const uintptr_t top = func_stack_top(thread->stack_high);
	struct view_measure measure;

	if (!current_measure(&measure) || !measure.deepest)
		return;
	if (top && slot >= thread->stack_low && slot < top &&
	    top - slot <= LOAD(measure.deepest->current) >> 1)
		return;
	func_aside(func_deep_aside, &deep);
}

#endif

REGS_END
