/*
 * func/enter: a traced function is called, and returns. The hot path of the function tracers.
 *
 * Any thread, any signal handler, in the middle of anything. What nearly every call comes to is done here, with general registers
 * only: one buffer, a thread that is ready, a return address that is where it was. The rest is in calls.c, and goes aside
 * (aside.c).
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "func/put.h"

__thread struct func_thread func_self __attribute__((tls_model("initial-exec")));
struct func_all func_all;

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
	struct func_keeping keeping = { fn, arg };
	struct runtime_mark mark = { 0 };
	uint64_t area;

	/* One that is above us on this stack; any other was left by a jump, or is interrupted. */
	if (runtime_mark_holds(func_self.aside, (uintptr_t)&mark))
		return false;
	runtime_mark_set(&mark, &func_self.aside);
	area = take_area();
	func_call_with_vectors(func_keep_errno, &keeping, area ? areas[__builtin_ctzll(area)] : NULL);
	give_area(area);
	runtime_mark_take((uintptr_t)&mark, &func_self.aside);
	return true;
}

/* ---- Addresses ---- */

static __attribute__((noinline)) uint64_t look_up(uintptr_t address)
{
	struct func_lookup lookup = { .address = address, .symbol = address };

	func_aside(func_lookup_aside, &lookup);
	return lookup.symbol;
}

static inline uint64_t symbol_of(const struct func_file *file, uintptr_t address)
{
	const struct func_near *near = func_self.near;

	if (LIKELY(file && address - file->start < file->end - file->start))
		return address + file->delta;
	for (int i = 0; i < 4; i++)
		if (address - near[i].start < near[i].size)
			return address + near[i].delta;
	return look_up(func_true_return(address));
}

uint64_t func_symbol_of(const struct func_file *file, uintptr_t address)
{
	return symbol_of(file, address);
}

/* ---- function ---- */

/* `regs`: arguments may be wanted; NULL: none are. */
static inline __attribute__((always_inline)) void enter(struct func_site *site, uintptr_t parent, const struct func_regs *regs)
{
	struct view *view = LOAD_ACQUIRE(wiped.view);
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0, mask = LOAD(site->function), now = 0, ts;
	struct record_function_args record;
	const struct func_put put = { view, generation, &record };
	uint32_t len = 0;

	if (UNLIKELY(func_is_own(parent)))
		return;
	if (LIKELY(view != NULL)) {
		now = mask & LOAD(view->functions);
		if (!now && !func_is_stale(view, generation))
			return;
		if (now == view->func_only && !func_is_chosen(view, generation) && !func_is_stale(view, generation))
			return;
	}
	record.function.ip = site->ip;
	record.function.parent_ip = symbol_of(site->file, parent);
	if (regs)
		len = func_put_args(site, regs, record.args);
	if (LIKELY(now && now == view->func_only)) {
		if (len && now & view->func_args) {
			if (func_put_long(&put, EVENT_ID_FUNCTION, len, &ts))
				return;
		} else if (LIKELY(func_put(&put, EVENT_ID_FUNCTION, &ts))) {
			return;
		}
	}
	func_put_aside(&(struct func_event){
		.site = site, .mask = mask, .id = EVENT_ID_FUNCTION, .len = sizeof(record.function), .len_args = len,
		.record = &record,
	});
}

void func_enter(struct func_site *site, uintptr_t parent)
{
	enter(site, parent, NULL);
}

/* ---- function_graph ---- */

/* A call that no tracer of this kind may care about. `regs` NULL: nobody wants its arguments. */
static __attribute__((noinline)) bool enter_otherwise(struct func_site *site, struct func_way *way, const struct func_regs *regs)
{
	way->to = site->body;
	if (func_is_own(way->parent))
		return false;
	if (site->flags & FUNC_SITE_ACTS)
		func_aside(func_act_aside, site);
	if (LOAD(site->function))
		enter(site, way->parent, regs);
	if (site->flags & FUNC_SITE_DEEP)
		func_deep_look(site, (uintptr_t)&way->parent);
	if (site->flags & (FUNC_SITE_LOADS | FUNC_SITE_UNWINDS)) {
		func_calls_count(site);
		func_calls_special(site, &way->parent);
		return false;
	}
	return (LOAD(site->graph) || site->flags & (FUNC_SITE_PROFILE | FUNC_SITE_RETURNS)) && func_calls_enter(site, way, regs);
}

static struct func_call *last_call(void)
{
	return &runtime_self.func_stack->call[runtime_self.func_stack->n - 1];
}

/* Once more, by what holds now. The last call may be another coroutine's. */
static bool put_late(uint32_t id, uintptr_t slot, enum ring_result result, uint64_t *ts)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	struct func_call *call = last_call();
	const struct func_put put = { view, view ? LOAD_ACQUIRE(view->published) : 0, &call->entry };

	/* It is written, and somebody waits for it. */
	if (result == RING_WAITED)
		return func_put_near(&put, id, result, ts);
	return view && call->slot == slot && call->mask == view->graph_only && runtime_self.tid &&
	       func_put_near(&put, id, result, ts);
}

/* On the stack before its record is written, so that a signal handler's calls come behind it. */
static inline void push(struct func_stack *stack, struct func_call *call, struct func_site *site, struct func_way *way, uint32_t edge)
{
	func_stack_push(stack, call, (uintptr_t)&way->parent);
	call->entry.depth = (int32_t)stack->n - 2;
	call->edge = edge;
	call->state = 0;
	call->exit.calltime = call->inside = call->barred = 0;
	call->mask = LOAD(site->graph);
	call->site = site;
	call->entry.func = site->ip;
}

/* The section alone did not do. Which function it is, and where it returns to, is told by this stack alone. */
static __attribute__((noinline)) bool enter_late(struct func_way *way, enum ring_result result, uint64_t ts)
{
	const uintptr_t slot = (uintptr_t)&way->parent;
	const bool done = put_late(EVENT_ID_GRAPH_ENTRY, slot, result, &ts);
	struct func_call *call = last_call();

	if (done) {
		if (call->slot == slot)
			call->exit.calltime = ts;
		return true;
	}
	if (call->slot == slot)
		func_stack_pop(runtime_self.func_stack);
	return enter_otherwise(func_edges[func_edge_at(way->to)].site, way, NULL);
}

/* The section takes all registers that a function may use as it likes: of what is needed behind it each has to be saved. */
bool func_enter_graph(struct func_site *site, struct func_way *way, const struct func_regs *regs)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	struct func_stack *stack = runtime_self.func_stack;
	enum ring_result result = RING_AGAIN;
	struct func_call *call;
	struct func_put put;
	uint64_t ts = 0;
	uint32_t edge;

	if (UNLIKELY(!view || !stack || (site->flags & ~FUNC_SITE_PLAIN)))
		return enter_otherwise(site, way, regs);
	call = &stack->call[stack->n];
	/* Kept as it is, not found again. */
	__asm__("" : "+r"(call));
	if (UNLIKELY(LOAD(site->graph) != view->graph_only || stack->n >= stack->limit || call[-1].slot <= (uintptr_t)&way->parent))
		return enter_otherwise(site, way, NULL);
	/* Calls of the runtime's own, and those that share another's return address, have no edge. */
	edge = LOAD(site->edge);
	if (UNLIKELY(func_edges[edge].parent != way->parent))
		return enter_otherwise(site, way, NULL);
	way->to = func_edge_enter(edge);
	push(stack, call, site, way, edge);
	put = (struct func_put){ view, LOAD_ACQUIRE(view->published), &call->entry };
	if (LIKELY(func_put_head(&call->entry, EVENT_ID_GRAPH_ENTRY)))
		result = func_put_section(&put, EVENT_ID_GRAPH_ENTRY, &ts);
	if (UNLIKELY(result != RING_DONE))
		return enter_late(way, result, ts);
	call->exit.calltime = ts;
	return true;
}

static __attribute__((noinline)) void leave_late(uintptr_t *at, enum ring_result result)
{
	uint64_t ts;

	if (put_late(EVENT_ID_GRAPH_EXIT, (uintptr_t)at, result, &ts))
		func_stack_pop(runtime_self.func_stack);
	else
		func_calls_leave(runtime_self.func_stack, (uintptr_t)at, at[-1], NULL);
}

void func_leave(uintptr_t *at)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	struct func_stack *stack = runtime_self.func_stack;
	enum ring_result result = RING_AGAIN;
	struct func_call *call;
	struct func_put put;
	uint64_t both, ts;

	if (UNLIKELY(!stack))
		return;
	call = &stack->call[stack->n - 1];
	if (UNLIKELY(!view || stack->n > stack->limit || call->mask != view->graph_only || call->slot != (uintptr_t)at)) {
		func_calls_leave(stack, (uintptr_t)at, at[-1], NULL);
		return;
	}
	put = (struct func_put){ view, LOAD_ACQUIRE(view->published), &call->exit };
	call->exit.retval = at[-1];
	/* In one store, as the section loads it. */
	both = (uint64_t)stack->overrun << 32 | (stack->n - 2);
	__builtin_memcpy(&call->exit.depth, &both, sizeof(both));
	if (LIKELY(func_put_head(&call->exit, EVENT_ID_GRAPH_EXIT)))
		result = func_put_section(&put, EVENT_ID_GRAPH_EXIT, &ts);
	if (UNLIKELY(result != RING_DONE))
		leave_late(at, result);
	else
		func_stack_pop(stack);
}

void func_leave_point(uintptr_t *at, struct probe_hit *hit)
{
	if (runtime_self.func_stack)
		func_calls_leave(runtime_self.func_stack, (uintptr_t)at, at[-1], hit);
}

#endif

REGS_END
