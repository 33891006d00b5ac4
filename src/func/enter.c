/*
 * func/enter: a traced function is called, and returns. The hot path of the function tracers.
 *
 * Any thread, any signal handler, in the middle of anything. What nearly every call comes to is done here, with general registers
 * only: one buffer, a thread that is ready, a return address that is where it was. The rest goes aside (aside.c).
 *
 * A thread's calls under way are kept by where on the stack their return addresses are. That is for nesting and times alone: where
 * to return to is told by the edge. So whatever jumps out of functions, switches stacks, or forks, at worst misses a return.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ring/arch.h"
#include "ring/write.h"

#include "func/local.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* So near each other that it is one stack. */
#define SAME_STACK ((uintptr_t)8 << 20)

__thread struct func_thread func_self __attribute__((tls_model("initial-exec")));
struct func_all func_all;

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Where vector registers are kept, since a handler's or a coroutine's stack may be smaller than these. One that nobody gives back,
 * because a handler jumped out or its thread was cancelled, is lost; without one it is the stack after all.
 */
static unsigned char areas[64][2816] __attribute__((aligned(64)));
static uint64_t areas_taken;

static uint64_t take_area(void)
{
	uint64_t taken = LOAD(areas_taken), free = 0;

	if (UNLIKELY(func_vectors_size > sizeof(areas[0])))
		return 0;
	while (~taken) {
		free = ~taken & (taken + 1);
		/* Partner: give_area(). */
		if (__atomic_compare_exchange_n(&areas_taken, &taken, taken | free, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return free;
	}
	return 0;
}

static void give_area(uint64_t area)
{
	__atomic_fetch_and(&areas_taken, ~area, __ATOMIC_RELEASE);
}

bool func_aside(void (*fn)(void *arg), void *arg)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), before = func_self.aside;
	uint64_t area;

	/* One that is above us on this stack; any other was left by a jump, or is interrupted. */
	if (before > here && before - here < SAME_STACK)
		return false;
	func_self.aside = here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	area = take_area();
	func_call_with_vectors(fn, arg, area ? areas[__builtin_ctzll(area)] : NULL);
	give_area(area);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	func_self.aside = before;
	return true;
}

/* ---- Addresses ---- */

static __attribute__((noinline)) uint64_t look_up(uintptr_t address)
{
	struct func_lookup lookup = { .address = address, .symbol = address };

	func_aside(func_lookup_aside, &lookup);
	return lookup.symbol;
}

/* Where a function was called from, in the symbol space: mostly in its own file. */
static inline uint64_t symbol_of(const struct func_site *site, uintptr_t address)
{
	const struct func_file *file = site->file;
	const struct func_near *near = func_self.near;

	if (LIKELY(address - file->start < file->end - file->start))
		return address + file->delta;
	for (int i = 0; i < 4; i++)
		if (address - near[i].start < near[i].size)
			return address + near[i].delta;
	return look_up(func_true_return(address));
}

/* ---- Records ---- */

/* The runtime's own calls are nobody's business. */
static inline bool is_own(uintptr_t parent)
{
	return parent - func_all.own < func_all.own_size;
}

static __attribute__((noinline)) void write_aside(struct func_event *event)
{
	if (event->mask && !func_aside(func_write_aside, event) && runtime.registry)
		__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
}

struct wake {
	const struct view *view;
	struct ring_head *ring;
	uint64_t generation;
	const struct ring_op *switched;
};

static void wake_aside(void *arg)
{
	const struct wake *wake = arg;
	const struct view *view = wake->view;

	if (view->func_only)
		runtime_wake(&view->buffer[__builtin_ctzll(view->func_only)], wake->ring, wake->generation, wake->switched);
}

static __attribute__((noinline)) void wake_readers(const struct view *view, uint64_t generation, struct ring_head *ring,
						   const struct ring_op *switched)
{
	struct wake wake = { view, ring, generation, switched };

	func_aside(wake_aside, &wake);
}

/* In nanoseconds, without a record. */
static uint64_t time_now(const struct view *view)
{
	const struct ring_ref *ref = view->func_refs;
	uint64_t counter, now = 0;

	if (!ref) {
		func_aside(func_time_aside, &now);
		return now;
	}
	counter = section_counter() - ref->counter0;
	return ref->ns0 + (uint64_t)((__int128)(int64_t)counter * (__int128)ref->mult >> 32);
}

/* By the section for records of that kind. */
static inline __attribute__((always_inline)) bool write_section(const struct view *view, uint64_t generation, uint32_t id,
								 const void *record, uint64_t *ts)
{
	struct ring_rseq *rs = runtime_self.rs;
	const struct ring_near *near = &runtime_self.func_near;

	switch (id) {
	case EVENT_ID_FUNCTION:
		return section_fast24(rs, near, view->published_at, generation, record, 24, ts) == RING_DONE;
	case EVENT_ID_GRAPH_ENTRY:
		return section_fast20(rs, near, view->published_at, generation, record, 20, ts) == RING_DONE;
	default:
		return section_stamped48(rs, near, view->published_at, generation, record, 48, ts) == RING_DONE;
	}
}

static const uint32_t lengths[] = {
	[EVENT_ID_FUNCTION] = sizeof(struct record_function),
	[EVENT_ID_GRAPH_ENTRY] = RECORD_GRAPH_ENTRY_SIZE,
	[EVENT_ID_GRAPH_EXIT] = sizeof(struct record_graph_exit),
};

/* The page is full, or the first record is late: what a section alone cannot do. */
static bool write_whole(const struct view *view, uint64_t generation, uint32_t id, void *record, uint32_t len, uint64_t *ts)
{
	struct ring_op op;
	struct ring_head *head;

	op.refs = view->func_refs;
	op.published = view->published_at;
	op.generation = generation;
	op.ncpu = view->ncpu;
	op.ts = 0;
	op.result = RING_DONE;
	op.ring = UINT32_MAX;
	if (id == EVENT_ID_GRAPH_EXIT)
		((struct record_graph_exit *)record)->rettime = time_now(view);
	ring_op_payload(&op, record, len);
	if (ring_write(runtime_self.rs, &op) != RING_DONE)
		return false;
	*ts = op.ts;
	head = view->func_refs[op.cpu].head;
	if (head && LOAD(head->waiters))
		wake_readers(view, generation, head, op.result == RING_SWITCHED ? &op : NULL);
	return true;
}

static inline void wake_if_waiting(const struct view *view, uint64_t generation)
{
	struct ring_head *head = runtime_self.func_near.head;

	if (UNLIKELY(LOAD(head->waiters) & RING_WAIT_EVENT))
		wake_readers(view, generation, head, NULL);
}

/* Once more, where this thread writes now. */
static __attribute__((noinline)) bool write_near(const struct view *view, uint64_t generation, uint32_t id, void *record,
						 uint64_t *ts)
{
	if (section_near(runtime_self.rs, &runtime_self.func_near, view->func_refs, view->ncpu, view->published_at,
			 generation) != RING_DONE ||
	    !write_section(view, generation, id, record, ts))
		return write_whole(view, generation, id, record, lengths[id], ts);
	wake_if_waiting(view, generation);
	return true;
}

/* To the one buffer that has a tracer, if that can be had without more ado. */
static inline __attribute__((always_inline)) bool write_fast(const struct view *view, uint64_t generation, uint32_t id,
							      void *record, uint64_t *ts)
{
	const int32_t tid = runtime_self.tid;
	const uint64_t common = (uint64_t)(uint32_t)tid << 32 | id;

	if (UNLIKELY(!tid))
		return false;
	__builtin_memcpy(record, &common, sizeof(common));
	if (UNLIKELY(!write_section(view, generation, id, record, ts)))
		return write_near(view, generation, id, record, ts);
	wake_if_waiting(view, generation);
	return true;
}

/* ---- arguments ---- */

/* What the caller has put into the first registers, behind a record's own fields. How long it is then; 0: none are wanted. */
static inline uint32_t put_args(const struct func_site *site, const struct func_regs *regs, uint64_t args[RECORD_ARGS_MAX])
{
	const uint32_t n = (site->flags & FUNC_SITE_ARGS) / (FUNC_SITE_ARGS & -FUNC_SITE_ARGS);

	if (!n)
		return 0;
	args[0] = regs->rdi;
	args[1] = regs->rsi;
	args[2] = regs->rdx;
	args[3] = regs->rcx;
	args[4] = regs->r8;
	args[5] = regs->r9;
	return RECORD_ARGS_OFFSET + n * (uint32_t)sizeof(args[0]);
}

/* As write_fast(), of a record of any length. */
static __attribute__((noinline)) bool write_args(const struct view *view, uint64_t generation, uint32_t id, void *record,
						 uint32_t len, uint64_t *ts)
{
	const int32_t tid = runtime_self.tid;
	const uint64_t common = (uint64_t)(uint32_t)tid << 32 | id;

	__builtin_memcpy(record, &common, sizeof(common));
	return tid && write_whole(view, generation, id, record, len, ts);
}

/* ---- function ---- */

static inline bool is_stale(const struct view *view, uint64_t generation)
{
	return LOAD(*view->published_at) != generation;
}

/* Does the one buffer take functions of this thread? */
static inline bool is_chosen(const struct view *view, uint64_t generation)
{
	const struct chosen *chosen = &runtime_self.func_chosen;

	if (LIKELY(!(view->func_choosy & view->func_only)))
		return true;
	if (UNLIKELY(chosen->in != generation))
		func_aside(func_choose_aside, NULL);
	return chosen->in == generation && chosen->buffers & view->func_only;
}

/* `regs`: arguments may be wanted; NULL: none are. */
static inline __attribute__((always_inline)) void enter(struct func_site *site, uintptr_t parent, const struct func_regs *regs)
{
	struct view *view = LOAD_ACQUIRE(wiped.view);
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0, mask = LOAD(site->function), now = 0, ts;
	struct record_function_args record;
	uint32_t len = 0;

	if (UNLIKELY(is_own(parent)))
		return;
	if (LIKELY(view != NULL)) {
		now = mask & LOAD(view->functions);
		if (!now && !is_stale(view, generation))
			return;
		if (now == view->func_only && !is_chosen(view, generation) && !is_stale(view, generation))
			return;
	}
	record.function.ip = site->ip;
	record.function.parent_ip = symbol_of(site, parent);
	if (regs)
		len = put_args(site, regs, record.args);
	if (LIKELY(now && now == view->func_only)) {
		if (len && now & view->func_args) {
			if (write_args(view, generation, EVENT_ID_FUNCTION, &record, len, &ts))
				return;
		} else if (LIKELY(write_fast(view, generation, EVENT_ID_FUNCTION, &record, &ts))) {
			return;
		}
	}
	write_aside(&(struct func_event){
		.site = site, .mask = mask, .id = EVENT_ID_FUNCTION, .len = sizeof(record.function), .len_args = len,
		.record = &record,
	});
}

void func_enter(struct func_site *site, uintptr_t parent)
{
	enter(site, parent, NULL);
}

/* ---- function_graph ---- */

static inline uintptr_t edge_code(uint32_t edge)
{
	return (uintptr_t)func_edge_code + (uintptr_t)edge * FUNC_EDGE_CODE;
}

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
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0, mask = call->mask & ~VIEW_SPECIAL, ts;
	struct record_graph_exit record = {
		.func = call->site->ip, .retval = retval, .depth = (int32_t)depth, .overrun = overrun,
		.calltime = call->calltime, .rettime = call->calltime,
	};

	if (!mask)
		return;
	if (view && view->graph_thresh && time_now(view) - call->calltime < view->graph_thresh)
		return;
	if (view && mask == view->func_only && mask & view->graphs &&
	    write_fast(view, generation, EVENT_ID_GRAPH_EXIT, &record, &ts))
		return;
	if (view && !(mask & LOAD(view->graphs)) && !is_stale(view, generation))
		return;
	write_aside(&(struct func_event){
		.site = call->site, .mask = mask, .id = EVENT_ID_GRAPH_EXIT, .len = sizeof(record), .record = &record,
		.stamped = true,
	});
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
	if (!call->silent || !stack->silent)
		return;
	stack->silent--;
	set_limit(stack);
}

/* The last call is over; that it was left somehow was seen too late for the profile. */
static void pop(struct func_stack *stack, uint64_t retval, bool ended)
{
	struct func_call call = stack->call[stack->n - 1];
	uint32_t n;

	if (UNLIKELY(call.profiled) && ended)
		func_profile_end(stack, stack->n - 1);
	n = --stack->n;
	write_exit(&call, depth_at(stack, n), stack->overrun, retval);
	forget(stack, &call);
}

static inline bool is_below(uintptr_t slot, uintptr_t here)
{
	return slot < here && here - slot < SAME_STACK;
}

/* Calls that were left by a jump: their places are below where we are, or taken by others. */
static __attribute__((noinline)) void drop_left(struct func_stack *stack, uintptr_t slot, uintptr_t held)
{
	while (stack->n > 1) {
		const struct func_call *last = &stack->call[stack->n - 1];

		if (!is_below(last->slot, slot) && !(last->slot == slot && !func_is_back(held)))
			break;
		pop(stack, 0, false);
	}
	/* A jump out of the middle of all this may have left it too high. */
	if (stack->n == 1 && stack->silent) {
		stack->silent = 0;
		set_limit(stack);
	}
}

/* Can it be written? A stack may be gone while calls on it are remembered: a coroutine's. */
static bool is_there(uintptr_t at, uintptr_t *known)
{
	const uintptr_t page = at & ~(uintptr_t)4095;
	long r;

	if (page == *known || LOAD(runtime.locked))
		return true;
	r = regs_syscall(SYS_madvise, (long)page, 4096, MADV_POPULATE_WRITE);
	if (r == -EINVAL)
		r = regs_syscall(SYS_msync, (long)page, 4096, MS_ASYNC);
	if (!r)
		*known = page;
	return !r;
}

static inline bool is_on_stack(const struct func_call *call, uintptr_t slot, uintptr_t *known)
{
	return call->slot >= slot && call->slot - slot < SAME_STACK && is_there(call->slot, known);
}

/* Who walked the stack is gone: returns are noticed again. */
static __attribute__((noinline)) void hook_again(struct func_stack *stack, uintptr_t slot)
{
	uintptr_t known = slot & ~(uintptr_t)4095;

	if (is_below(slot, stack->walking))
		return;
	for (uint32_t i = stack->n; i-- > 1;) {
		struct func_call *call = &stack->call[i];
		uintptr_t *at = (uintptr_t *)call->slot;

		if (!call->bare || call->slot == slot || !is_on_stack(call, slot, &known))
			continue;
		if (*at == func_edges[call->edge].parent)
			*at = func_edge_back(call->edge);
		call->bare = 0;
	}
	stack->walking = stack->walker = 0;
	set_limit(stack);
}

/*
 * Somebody is about to walk this stack: it finds true return addresses. `slot` is the walker's own, or of what it asks for its
 * tables. Then it is not known where on the stack it is, and may call functions from above before it is done, like a language's part in
 * exceptions: the stack stays bare until the innermost call of all, for which it works, is over.
 */
static void lay_bare(struct func_stack *stack, uintptr_t slot, bool walker)
{
	uintptr_t within = walker ? slot : 0, known = slot & ~(uintptr_t)4095;

	for (uint32_t i = stack->n; i-- > 1;) {
		struct func_call *call = &stack->call[i];
		uintptr_t *at = (uintptr_t *)call->slot;

		if (!is_on_stack(call, slot, &known))
			continue;
		if (!within)
			within = call->slot;
		if (*at != func_edge_back(call->edge))
			continue;
		*at = func_true_return(*at);
		call->bare = 1;
	}
	if (!within)
		within = slot;
	if (!is_below(within, stack->walking))
		stack->walking = within;
	if (walker && !is_below(slot, stack->walker))
		stack->walker = slot;
	stack->limit = 0;
}

static __attribute__((noinline)) void enter_special(struct func_site *site, uintptr_t *slot)
{
	struct func_stack *stack;

	if (site->flags & FUNC_SITE_LOADS)
		func_aside(func_loads_aside, NULL);
	if (!(site->flags & FUNC_SITE_UNWINDS))
		return;
	/* Also in a thread that was in no function yet: those that the walker calls are not to be hooked. */
	if (!func_self.stack)
		func_aside(func_stack_aside, NULL);
	stack = func_self.stack;
	if (!stack)
		return;
	drop_left(stack, (uintptr_t)slot, *slot);
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
	struct func_event event;
	uint32_t len;

	if (view->graph_thresh) {
		*calltime = time_now(view);
		return mask;
	}
	record.func = site->ip;
	record.depth = depth;
	len = regs ? put_args(site, regs, record.args) : 0;
	if (mask == view->func_only) {
		bool done = len && mask & view->func_args ?
			write_args(view, generation, EVENT_ID_GRAPH_ENTRY, &record, len, calltime) :
			write_fast(view, generation, EVENT_ID_GRAPH_ENTRY, &record, calltime);

		if (done)
			return mask;
	}
	event = (struct func_event){
		.site = site, .mask = mask, .id = EVENT_ID_GRAPH_ENTRY, .len = RECORD_GRAPH_ENTRY_SIZE, .len_args = len,
		.record = &record,
	};
	write_aside(&event);
	*calltime = event.ts;
	return event.done;
}

/* Functions that jumped to each other share a return address: the last of many is over when the next one begins. */
static void make_room_for_tail(struct func_stack *stack, uintptr_t slot)
{
	uint32_t same = 0;

	while (stack->call[stack->n - 1 - same].slot == slot)
		same++;
	if (same >= FUNC_TAILS_MAX)
		pop(stack, 0, true);
}

static void push(struct func_stack *stack, const struct func_call *call, struct func_profiled *profiled)
{
	const uint32_t n = stack->n;

	stack->call[n] = *call;
	if (call->profiled) {
		/* No way back but the slow one. */
		if (call->mask)
			stack->call[n].mask |= VIEW_SPECIAL;
		func_profile_start(profiled);
		stack->profiled[n] = *profiled;
	}
	if (call->silent) {
		stack->silent++;
		set_limit(stack);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	stack->n = n + 1;
}

/* A call whose end nobody sees. */
static void count_only(struct func_site *site)
{
	struct func_call call = { .site = site };
	struct func_profiled profiled;

	if (func_self.stack)
		inherit(func_self.stack, &call);
	if (site->flags & FUNC_SITE_PROFILE)
		func_profile_begin(&call, &profiled);
}

/* Everything but a plain call in a plain state. */
static __attribute__((noinline)) struct func_way enter_slowly(struct func_site *site, uintptr_t *slot,
							      const struct func_regs *regs)
{
	const struct func_way as_it_is = { site->body, 0 };
	struct func_call call = { .slot = (uintptr_t)slot, .site = site };
	uint64_t generation, mask = LOAD(site->graph);
	struct func_profiled profiled;
	struct func_stack *stack;
	struct view *view;
	bool tail, bars;

	if (!func_self.stack && !func_aside(func_stack_aside, NULL))
		return as_it_is;
	stack = func_self.stack;
	view = LOAD_ACQUIRE(wiped.view);
	if (!stack || !view) {
		count_only(site);
		return as_it_is;
	}
	generation = LOAD_ACQUIRE(view->published);
	if (is_stale(view, generation)) {
		if (!func_aside(func_stack_aside, NULL))
			return as_it_is;
		view = LOAD_ACQUIRE(wiped.view);
		if (!view)
			return as_it_is;
		generation = LOAD_ACQUIRE(view->published);
	}
	drop_left(stack, (uintptr_t)slot, *slot);
	if (stack->walking)
		hook_again(stack, (uintptr_t)slot);
	/* The walker's own functions look at where they return to. */
	if (is_below((uintptr_t)slot, stack->walker)) {
		count_only(site);
		return as_it_is;
	}
	mask &= view->graphs;
	bars = inherit(stack, &call);
	if (site->flags & FUNC_SITE_PROFILE)
		call.profiled = func_profile_begin(&call, &profiled);
	if ((!mask && !call.profiled && !bars) || site->flags & FUNC_SITE_NO_RETURN_HOOK)
		return as_it_is;
	tail = func_is_back(*slot);
	if (tail)
		make_room_for_tail(stack, (uintptr_t)slot);
	if (stack->n == FUNC_DEPTH_MAX) {
		stack->overrun++;
		return as_it_is;
	}
	if (mask == view->func_only && !is_chosen(view, generation))
		mask = 0;
	mask = taken(view, stack, mask, &call);
	if (func_all.no_returns) {
		if (mask)
			write_entry(view, generation, site, depth_at(stack, stack->n), mask, regs, &call.calltime);
		return as_it_is;
	}
	call.edge = tail ? func_edge_at(*slot) : edge_of(site, *slot);
	if ((!mask && !call.profiled && !bars) || !call.edge) {
		stack->overrun += !call.edge;
		return as_it_is;
	}
	if (mask)
		call.mask = write_entry(view, generation, site, depth_at(stack, stack->n), mask, regs, &call.calltime);
	call.silent = !mask;
	push(stack, &call, &profiled);
	return tail ? as_it_is : (struct func_way){ edge_code(call.edge), 1 };
}

/* A call that no tracer of this kind may care about. `regs` NULL: nobody wants its arguments. */
static __attribute__((noinline)) struct func_way enter_otherwise(struct func_site *site, uintptr_t *slot,
								 const struct func_regs *regs)
{
	const struct func_way as_it_is = { site->body, 0 };

	if (is_own(*slot))
		return as_it_is;
	if (site->flags & FUNC_SITE_ACTS)
		func_aside(func_act_aside, site);
	if (LOAD(site->function))
		enter(site, *slot, regs);
	if (site->flags & FUNC_SITE_DEEP)
		func_deep_look(site, (uintptr_t)slot);
	if (site->flags & (FUNC_SITE_LOADS | FUNC_SITE_UNWINDS)) {
		count_only(site);
		enter_special(site, slot);
		return as_it_is;
	}
	return LOAD(site->graph) || site->flags & FUNC_SITE_PROFILE ? enter_slowly(site, slot, regs) : as_it_is;
}

struct func_way func_enter_graph(struct func_site *site, uintptr_t *slot, const struct func_regs *regs)
{
	struct view *view = LOAD_ACQUIRE(wiped.view);
	struct func_stack *stack = func_self.stack;
	const uintptr_t parent = *slot;
	struct record_graph_entry record;
	uint64_t generation, mask, ts;
	struct func_call *call;
	uint32_t n, edge;

	if (UNLIKELY(!view || !stack || (site->flags & ~FUNC_SITE_PLAIN)))
		return enter_otherwise(site, slot, regs);
	generation = LOAD_ACQUIRE(view->published);
	mask = LOAD(site->graph);
	n = stack->n;
	call = &stack->call[n];
	edge = LOAD(site->edge);
	if (UNLIKELY(mask != view->graph_only || n >= stack->limit || call[-1].slot <= (uintptr_t)slot || is_own(parent) ||
		     func_edges[edge].parent != parent || func_edges[edge].site != site || func_is_back(parent)))
		return enter_otherwise(site, slot, NULL);
	if (UNLIKELY(!is_chosen(view, generation)))
		return enter_otherwise(site, slot, NULL);
	record.func = site->ip;
	record.depth = (int32_t)(n - 1);
	if (UNLIKELY(!write_fast(view, generation, EVENT_ID_GRAPH_ENTRY, &record, &ts)))
		return enter_otherwise(site, slot, NULL);
	call->slot = (uintptr_t)slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Now: a signal handler's calls come behind it. */
	stack->n = n + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	call->site = site;
	call->calltime = ts;
	call->mask = mask;
	call->inside = call->barred = 0;
	call->edge = edge;
	call->bare = call->profiled = call->silent = 0;
	return (struct func_way){ edge_code(edge), 1 };
}

static void move(struct func_stack *stack, uint32_t to, uint32_t from)
{
	stack->call[to] = stack->call[from];
	if (stack->call[from].profiled)
		stack->profiled[to] = stack->profiled[from];
}

/* Not the last call, or not known at all. Those behind it on this stack were left; others are on theirs. */
static __attribute__((noinline)) void leave_slowly(struct func_stack *stack, uintptr_t slot, uint64_t retval)
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
		for (n = i; n + 1 < kept; n++)
			move(stack, n, n + 1);
		kept--;
		write_exit(&call, depth_at(stack, i), stack->overrun, retval);
		forget(stack, &call);
	}
	stack->n = kept;
}

static __attribute__((noinline)) void leave_otherwise(struct func_stack *stack, uintptr_t slot, uint64_t retval)
{
	const struct func_call *call = &stack->call[stack->n - 1];

	if (stack->walking)
		hook_again(stack, slot);
	if (call->slot == slot && call[-1].slot != slot)
		pop(stack, retval, true);
	else
		leave_slowly(stack, slot, retval);
}

void func_leave(uintptr_t away, uintptr_t *at, uint64_t retval)
{
	const uintptr_t slot = (uintptr_t)at;
	struct func_stack *stack = func_self.stack;
	struct view *view = LOAD_ACQUIRE(wiped.view);
	struct record_graph_exit record;
	const struct func_call *call;
	uint64_t generation, both, ts;
	uint32_t n;

	(void)away;
	if (UNLIKELY(!stack))
		return;
	n = stack->n;
	call = &stack->call[n - 1];
	if (UNLIKELY(!view || n > stack->limit || call->mask != view->graph_only || call->slot != slot || call[-1].slot == slot)) {
		leave_otherwise(stack, slot, retval);
		return;
	}
	generation = LOAD_ACQUIRE(view->published);
	record.func = call->site->ip;
	record.retval = retval;
	/* In one store, as the section loads it. */
	both = (uint64_t)stack->overrun << 32 | (n - 2);
	__builtin_memcpy(&record.depth, &both, sizeof(both));
	record.calltime = call->calltime;
	if (UNLIKELY(!write_fast(view, generation, EVENT_ID_GRAPH_EXIT, &record, &ts)))
		pop(stack, retval, true);
	else
		stack->n = n - 1;
}

#endif

REGS_END
