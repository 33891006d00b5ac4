/*
 * func/calls: the calls that a thread is in, for function_graph and the profile: everything but a plain call in a plain state, which
 * is in enter.c.
 *
 * They are kept by where on the stack their return addresses are. That is for nesting and times alone: where to return to is told by
 * the edge. So whatever jumps out of functions, switches stacks, or forks, at worst misses a return.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "func/point.h"
#include "func/put.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define CROWDED_NEAR 4096u	/* so near to where no room could be made that it is not tried again */

static inline uint32_t edge_of(struct func_site *site, uintptr_t parent)
{
	uint32_t edge = LOAD(site->edge);

	if (LIKELY(func_edges[edge].parent == parent && func_edges[edge].site == site))
		return edge;
	edge = func_edge_find(site, parent);
	if (edge)
		STORE(site->edge, edge);
	return edge;
}

static __attribute__((noinline)) void write_exit(const struct func_call *call, uint32_t depth, uint32_t overrun, uint64_t retval)
{
	struct view *view = LOAD_ACQUIRE(wiped.view);
	uint64_t mask = call->mask & ~VIEW_SPECIAL, ts;
	struct record_graph_exit record = {
		.func = call->site->ip, .retval = retval, .depth = (int32_t)depth, .overrun = overrun,
		.calltime = call->exit.calltime, .rettime = call->exit.calltime,
	};
	const struct func_put put = { view, view ? LOAD_ACQUIRE(view->published) : 0, &record };

	if (!mask || !call->exit.calltime)
		return;
	if (view && view->graph_thresh && func_time(view) - call->exit.calltime < view->graph_thresh)
		return;
	if (view && mask == view->func_only && mask & view->graphs &&
	    func_put(&put, EVENT_ID_GRAPH_EXIT, &ts))
		return;
	if (view && !(mask & LOAD(view->graphs)) && !func_is_stale(view, put.generation))
		return;
	func_put_aside(&(struct func_event){
		.site = call->site, .mask = mask, .id = EVENT_ID_GRAPH_EXIT, .len = sizeof(record), .record = &record,
		.stamped = true,
	});
}

/* Its return is probed, and it is one; `hit` NULL: without registers. */
static __attribute__((noinline)) void tell_return(struct func_stack *stack, uint32_t i, struct probe_hit *hit)
{
	const struct func_call *call = &stack->call[i];
	const struct func_list *list = func_window_returns((uint32_t)(call->site - func_all.sites));

	if (call->memory)
		func_self.allocating = call->memory & ~(uint64_t)FUNC_MEMORY_OUTERMOST;
	if (!list || !hit)
		return;
	for (uint32_t n = 0; n < PLAN_REGISTERS_MAX; n++)
		hit->arg[n] = stack->args[i][n];
	func_hit_return(list, call, hit);
}

static void set_limit(struct func_stack *stack)
{
	stack->limit = stack->walking || stack->silent ? 0 : FUNC_DEPTH_MAX;
}

/* How deep the i-th call is, for those who see only some of them. */
static uint32_t depth_at(const struct func_stack *stack, uint32_t i)
{
	uint32_t depth = i - 1;

	for (uint32_t n = 1; stack->silent && n < i; n++)
		depth -= stack->call[n].silent;
	return depth;
}

/* One that is about to be taken off the stack, or was. */
static void forget(struct func_stack *stack, const struct func_call *call)
{
	/* It was left by a jump. */
	if (UNLIKELY(call->probed) && call->memory && func_self.allocating == call->slot)
		func_self.allocating = call->memory & ~(uint64_t)FUNC_MEMORY_OUTERMOST;
	if (!call->silent || !stack->silent)
		return;
	stack->silent--;
	set_limit(stack);
}

/* The last call is over; that it was left somehow was seen too late for the profile. */
static void pop(struct func_stack *stack, uint64_t retval, bool ended, struct probe_hit *hit)
{
	struct func_call call = stack->call[stack->n - 1];
	uint32_t n;

	if (UNLIKELY(call.profiled) && ended)
		func_profile_end(stack, stack->n - 1);
	if (UNLIKELY(call.probed) && ended)
		tell_return(stack, stack->n - 1, hit);
	n = func_stack_pop(stack);
	write_exit(&call, depth_at(stack, n), stack->overrun, retval);
	forget(stack, &call);
}

static inline bool is_below(uintptr_t slot, uintptr_t here)
{
	return slot < here && here - slot < FUNC_SAME_STACK;
}

/*
 * The stack that signal handlers have for themselves, if we are on it; else it has no size. Where it is tells nothing: a thread's may be
 * right above the one that it works on, as if what it interrupted there had been left. One that the kernel forgets while it is in use
 * (SS_AUTODISARM) is not known: then ends of calls are missed.
 */
struct signal_stack {
	uintptr_t start, size;
};

static __attribute__((noinline)) struct signal_stack find_signal_stack(void)
{
	stack_t stack;

	if (LOAD(runtime.locked) || regs_syscall(SYS_sigaltstack, 0, (long)&stack, 0) || !(stack.ss_flags & SS_ONSTACK))
		return (struct signal_stack){ 0, 0 };
	return (struct signal_stack){ (uintptr_t)stack.ss_sp, stack.ss_size };
}

/* It is on another stack, and goes on when the handler is done. */
static inline bool is_interrupted(struct signal_stack own, uintptr_t at)
{
	return own.size && at - own.start >= own.size;
}

static inline bool is_left(const struct func_call *call, uintptr_t slot, uintptr_t held)
{
	return is_below(call->slot, slot) || (call->slot == slot && !func_is_back(held));
}

static void move(struct func_stack *stack, uint32_t to, uint32_t from)
{
	const uintptr_t under = stack->call[to].under;

	stack->call[to] = stack->call[from];
	stack->call[to].under = under;
	if (stack->call[from].profiled)
		stack->profiled[to] = stack->profiled[from];
	if (stack->call[from].probed)
		__builtin_memcpy(stack->args[to], stack->args[from], sizeof(stack->args[to]));
}

/* The last ones are gone: func_stack_pop(), for many. */
static void shorten(struct func_stack *stack, uint32_t kept)
{
	uint32_t n = stack->n;

	stack->n = kept;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	while (n-- > kept)
		stack->call[n].slot = stack->call[n].under;
}

/*
 * There is no room any more. Handlers that jump away from a stack of their own leave calls there, with those between them that they
 * have interrupted. Who is on one stack knows which calls on it were left, and outside of handlers all of theirs were.
 */
static __attribute__((noinline)) void make_room(struct func_stack *stack, uintptr_t slot, uintptr_t held)
{
	uint32_t kept = 1;
	stack_t signals;

	/* A recursion, most likely. */
	if (stack->crowded - slot < CROWDED_NEAR || LOAD(runtime.locked) || regs_syscall(SYS_sigaltstack, 0, (long)&signals, 0))
		return;
	for (uint32_t i = 1; i < stack->n; i++) {
		struct func_call call = stack->call[i];
		const bool is_handlers = call.slot - (uintptr_t)signals.ss_sp < signals.ss_size, on = signals.ss_flags & SS_ONSTACK;

		if (is_handlers == on ? !is_left(&call, slot, held) : !is_handlers) {
			if (kept < i)
				move(stack, kept, i);
			kept++;
			continue;
		}
		write_exit(&call, depth_at(stack, i), stack->overrun, 0);
		forget(stack, &call);
	}
	shorten(stack, kept);
	stack->crowded = kept == FUNC_DEPTH_MAX ? slot : 0;
}

/* Calls that were left by a jump: their places are below where we are, or taken by others. */
static __attribute__((noinline)) void drop_left(struct func_stack *stack, uintptr_t slot, uintptr_t held)
{
	struct signal_stack own = { 0, 0 };

	if (is_left(&stack->call[stack->n - 1], slot, held))
		own = find_signal_stack();
	while (is_left(&stack->call[stack->n - 1], slot, held) && !is_interrupted(own, stack->call[stack->n - 1].slot))
		pop(stack, 0, false, NULL);
	/* A jump out of the middle of all this may have left it too high. */
	if (stack->n == 1 && stack->silent) {
		stack->silent = 0;
		set_limit(stack);
	}
}

bool func_is_there(uintptr_t at, uintptr_t *known)
{
	const uintptr_t page = at & ~(uintptr_t)4095;
	uintptr_t own;
	long r;

	if (page == *known || LOAD(runtime.locked))
		return true;
	own = runtime_own_begin();
	r = regs_syscall(SYS_madvise, (long)page, 4096, MADV_POPULATE_WRITE);
	if (r == -EINVAL)
		r = regs_syscall(SYS_msync, (long)page, 4096, MS_ASYNC);
	runtime_own_end(own);
	if (!r)
		*known = page;
	return !r;
}

static inline bool is_on_stack(const struct func_call *call, uintptr_t slot, uintptr_t *known)
{
	return call->slot >= slot && call->slot - slot < FUNC_SAME_STACK && func_is_there(call->slot, known);
}

/* Who walked the stack is gone: returns are noticed again. False: it is interrupted. */
static __attribute__((noinline)) bool hook_again(struct func_stack *stack, uintptr_t slot)
{
	uintptr_t known = slot & ~(uintptr_t)4095;

	if (is_below(slot, stack->walking) && slot >= stack->walked_on) {
		/* In a handler, until that is over. */
		if (stack->walked_on && !is_below(slot, stack->walker))
			stack->walker = 0;
		return true;
	}
	if (is_interrupted(find_signal_stack(), stack->walking))
		return false;
	for (uint32_t i = stack->n; i-- > 1;) {
		struct func_call *call = &stack->call[i];
		uintptr_t *at = (uintptr_t *)call->slot;

		if (!call->bare || call->slot == slot || !is_on_stack(call, slot, &known))
			continue;
		if (*at == func_edges[call->edge].parent)
			*at = func_edge_back(call->edge);
		call->bare = 0;
	}
	stack->walking = stack->walker = stack->walked_on = 0;
	set_limit(stack);
	return true;
}

/*
 * Somebody is about to walk this stack: it finds true return addresses. `slot` is the walker's own, or of what it asks for its
 * tables. Then it is not known where on the stack it is, and may call functions from above before it is done, like a language's part in
 * exceptions: the stack stays bare until the innermost call of all, for which it works, is over. A handler's also finds what that has
 * interrupted on another stack, which stays bare until the handler is over.
 */
static void lay_bare(struct func_stack *stack, uintptr_t slot, bool walker)
{
	uintptr_t within = walker ? slot : 0, known = slot & ~(uintptr_t)4095;
	const struct signal_stack own = find_signal_stack();

	for (uint32_t i = stack->n; i-- > 1;) {
		struct func_call *call = &stack->call[i];
		uintptr_t *at = (uintptr_t *)call->slot;

		if (is_interrupted(own, call->slot) ? !func_is_there(call->slot, &known) : !is_on_stack(call, slot, &known))
			continue;
		if (!within)
			within = call->slot;
		if (*at != func_edge_back(call->edge))
			continue;
		*at = func_true_return(*at);
		call->bare = 1;
		if (is_interrupted(own, call->slot))
			within = own.start + own.size;
	}
	stack->limit = 0;
	/* In a handler that interrupted another one who walks: nothing is hooked before that one is gone. */
	if (stack->walking && is_interrupted(own, stack->walking))
		return;
	if (!within)
		within = slot;
	if (!is_below(within, stack->walking))
		stack->walking = within;
	if (walker && !is_below(slot, stack->walker))
		stack->walker = slot;
	stack->walked_on = own.start;
}

void func_calls_special(struct func_site *site, uintptr_t *slot)
{
	struct func_stack *stack;

	if (site->flags & FUNC_SITE_LOADS)
		func_aside(func_loads_aside, NULL);
	if (!(site->flags & FUNC_SITE_UNWINDS))
		return;
	/* Also in a thread that was in no function yet: those that the walker calls are not to be hooked. */
	if (!runtime_self.func_stack)
		func_aside(func_stack_aside, NULL);
	stack = runtime_self.func_stack;
	if (!stack)
		return;
	drop_left(stack, (uintptr_t)slot, *slot);
	if (stack->walking)
		hook_again(stack, (uintptr_t)slot);
	lay_bare(stack, (uintptr_t)slot, !(site->flags & FUNC_SITE_ASKED));
}

/* What is above decides what is below. True: something is barred from here on. */
static bool inherit(const struct func_stack *stack, struct func_call *call)
{
	const struct func_call *above = &stack->call[stack->n - 1];

	call->inside = above->inside | call->site->root;
	call->barred = above->barred | call->site->not_root;
	return call->barred != above->barred;
}

/* Which buffers take the call, by where we are. */
static uint64_t taken(const struct view *view, const struct func_stack *stack, uint64_t mask, const struct func_call *call)
{
	mask &= ~call->barred & (~view->graph_rooted | call->inside);
	return view->graph_depth && depth_at(stack, stack->n) >= view->graph_depth ? 0 : mask;
}

/* The record of a call, if it is to have one yet; gives the buffers that took it. */
static uint64_t write_entry(const struct view *view, uint64_t generation, struct func_site *site, uint32_t depth, uint64_t mask,
			    const struct func_regs *regs, uint64_t *calltime)
{
	struct record_graph_entry_args record;
	const struct func_put put = { view, generation, &record };
	struct func_event event;
	uint32_t len;

	if (view->graph_thresh) {
		*calltime = func_time(view);
		return mask;
	}
	record.func = site->ip;
	record.depth = depth;
	len = regs ? func_put_args(site, regs, record.args) : 0;
	if (mask == view->func_only) {
		bool done = len && mask & view->func_args ?
			func_put_long(&put, EVENT_ID_GRAPH_ENTRY, len, calltime) :
			func_put(&put, EVENT_ID_GRAPH_ENTRY, calltime);

		if (done)
			return mask;
	}
	event = (struct func_event){
		.site = site, .mask = mask, .id = EVENT_ID_GRAPH_ENTRY, .len = RECORD_GRAPH_ENTRY_SIZE, .len_args = len,
		.record = &record,
	};
	func_put_aside(&event);
	*calltime = event.ts;
	return event.done;
}

/* Functions that jumped to each other share a return address: the last of many is over when the next one begins. */
static void make_room_for_tail(struct func_stack *stack, uintptr_t slot)
{
	const struct func_call *last = &stack->call[stack->n - 1];
	uint32_t same = 0;

	while (last[-(int32_t)same].slot == slot)
		same++;
	if (same >= FUNC_TAILS_MAX)
		pop(stack, 0, true, NULL);
}

/* And its edge. If that is of a function whose return nobody probes, it does not tell registers: then they get another one. */
static uint32_t edge_of_tail(struct func_stack *stack, struct func_site *site, uintptr_t *slot, bool probed)
{
	uint32_t edge = func_edge_at(*slot);

	if (!probed || func_edges[edge].thunk == (uintptr_t)func_thunk_return_point)
		return edge;
	edge = edge_of(site, func_edges[edge].parent);
	if (!edge)
		return 0;
	*slot = func_edge_back(edge);
	for (uint32_t i = stack->n; i-- > 1 && stack->call[i].slot == (uintptr_t)slot;)
		stack->call[i].edge = edge;
	return edge;
}

/* For those who ask at its return what it was called with. */
static void save_args(struct func_stack *stack, uint32_t n, const struct func_regs *regs)
{
	if (regs)
		func_regs_args(regs, stack->args[n]);
}

static void push(struct func_stack *stack, struct func_call *call, struct func_profiled *profiled, const struct func_regs *regs)
{
	const uint32_t n = stack->n;
	struct func_call *place = &stack->call[n];

	call->exit.func = call->site->ip;
	/* No way back but the slow one. */
	if (call->mask && (call->profiled || call->probed || call->slot == stack->call[n - 1].slot))
		call->mask |= VIEW_SPECIAL;
	func_stack_push(stack, place, call->slot);
	call->under = place->under;
	*place = *call;
	if (call->probed)
		save_args(stack, n, regs);
	if (call->profiled) {
		func_profile_start(profiled);
		stack->profiled[n] = *profiled;
	}
	if (call->silent) {
		stack->silent++;
		set_limit(stack);
	}
}

static void miss_return(const struct func_site *site)
{
	const struct func_list *list = func_window_returns((uint32_t)(site - func_all.sites));

	if (list)
		func_hit_missed(list);
}

void func_calls_count(struct func_site *site)
{
	struct func_call call = { .site = site };
	struct func_profiled profiled;

	if (runtime_self.func_stack)
		inherit(runtime_self.func_stack, &call);
	if (site->flags & FUNC_SITE_PROFILE)
		func_profile_begin(&call, &profiled);
}

/* Everything but a plain call in a plain state. */
bool func_calls_enter(struct func_site *site, struct func_way *way, const struct func_regs *regs)
{
	uintptr_t *slot = &way->parent;
	struct func_call call = { .slot = (uintptr_t)slot, .site = site };
	uint64_t generation, mask = LOAD(site->graph);
	const struct func_list *returns = NULL;
	struct func_profiled profiled;
	struct func_stack *stack;
	struct view *view;
	bool tail, bars;

	way->to = site->body;
	if (!runtime_self.func_stack && !func_aside(func_stack_aside, NULL))
		return false;
	stack = runtime_self.func_stack;
	view = LOAD_ACQUIRE(wiped.view);
	if (!stack || !view) {
		func_calls_count(site);
		return false;
	}
	generation = LOAD_ACQUIRE(view->published);
	if (func_is_stale(view, generation)) {
		if (!func_aside(func_stack_aside, NULL))
			return false;
		view = LOAD_ACQUIRE(wiped.view);
		if (!view)
			return false;
		generation = LOAD_ACQUIRE(view->published);
	}
	drop_left(stack, (uintptr_t)slot, *slot);
	/* The walker's own functions look at where they return to. */
	if (stack->walking && (!hook_again(stack, (uintptr_t)slot) || is_below((uintptr_t)slot, stack->walker))) {
		func_calls_count(site);
		return false;
	}
	mask &= view->graphs;
	bars = inherit(stack, &call);
	if (site->flags & FUNC_SITE_PROFILE)
		call.profiled = func_profile_begin(&call, &profiled);
	if (site->flags & FUNC_SITE_RETURNS) {
		returns = func_window_returns((uint32_t)(site - func_all.sites));
		call.probed = returns && !(site->flags & FUNC_SITE_NO_RETURN_HOOK) && !func_all.no_returns;
		if (!call.probed)
			miss_return(site);
	}
	if ((!mask && !call.profiled && !call.probed && !bars) || site->flags & FUNC_SITE_NO_RETURN_HOOK)
		return false;
	tail = func_is_back(*slot);
	if (tail)
		make_room_for_tail(stack, (uintptr_t)slot);
	if (UNLIKELY(stack->n >= FUNC_DEPTH_MAX))
		make_room(stack, (uintptr_t)slot, *slot);
	if (stack->n >= FUNC_DEPTH_MAX) {
		stack->overrun++;
		if (call.probed)
			miss_return(site);
		return false;
	}
	if (mask == view->func_only && !func_is_chosen(view, generation))
		mask = 0;
	mask = taken(view, stack, mask, &call);
	if (func_all.no_returns) {
		if (mask)
			write_entry(view, generation, site, depth_at(stack, stack->n), mask, regs, &call.exit.calltime);
		return false;
	}
	call.edge = tail ? edge_of_tail(stack, site, slot, call.probed) : edge_of(site, *slot);
	if ((!mask && !call.profiled && !call.probed && !bars) || !call.edge) {
		stack->overrun += !call.edge;
		if (call.probed)
			miss_return(site);
		return false;
	}
	if (call.probed && returns->memory)
		call.memory = func_memory_begin(site, call.slot);
	if (mask)
		call.mask = write_entry(view, generation, site, depth_at(stack, stack->n), mask, regs, &call.exit.calltime);
	call.silent = !mask;
	push(stack, &call, &profiled, regs);
	if (!tail)
		way->to = func_edge_enter(call.edge);
	return !tail;
}

/* Not the last call, or not known at all. Those behind it on this stack were left; others are on theirs. */
static __attribute__((noinline)) void leave_slowly(struct func_stack *stack, uintptr_t slot, uint64_t retval, struct probe_hit *hit)
{
	uint32_t i = stack->n, kept, n;

	while (i > 1 && stack->call[i - 1].slot != slot)
		i--;
	if (i == 1) {
		drop_left(stack, slot, (uintptr_t)func_edge_code);
		return;
	}
	n = stack->n;
	while (n > i) {
		struct func_call call = stack->call[--n];

		if (is_below(call.slot, slot)) {
			write_exit(&call, depth_at(stack, n), stack->overrun, 0);
			forget(stack, &call);
		}
	}
	for (kept = n = i; n < stack->n; n++)
		if (!is_below(stack->call[n].slot, slot))
			move(stack, kept++, n);
	/* The one that returns, and those that jumped to it. */
	while (stack->call[i - 1].slot == slot) {
		struct func_call call = stack->call[--i];

		if (call.profiled)
			func_profile_end(stack, i);
		if (call.probed)
			tell_return(stack, i, hit);
		for (n = i; n + 1 < kept; n++)
			move(stack, n, n + 1);
		kept--;
		write_exit(&call, depth_at(stack, i), stack->overrun, retval);
		forget(stack, &call);
	}
	shorten(stack, kept);
}

void func_calls_leave(struct func_stack *stack, uintptr_t slot, uint64_t retval, struct probe_hit *hit)
{
	const struct func_call *call = &stack->call[stack->n - 1];

	if (stack->walking)
		hook_again(stack, slot);
	if (call->slot == slot && call[-1].slot != slot)
		pop(stack, retval, true, hit);
	else
		leave_slowly(stack, slot, retval, hit);
}

#endif

REGS_END
