/*
 * func/local: what the room's files share.
 */
#ifndef FUNC_LOCAL_H
#define FUNC_LOCAL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "func/func.h"
#include "layout/plan.h"
#include "runtime/local.h"
#include "runtime/module.h"

#define FUNC_SITES_MAX (256u << 10)
#define FUNC_EDGES_MAX (256u << 10)
#define FUNC_DEPTH_MAX 1024u	/* calls that a thread remembers */
/* So near each other that it is one stack. */
#define FUNC_SAME_STACK RUNTIME_SAME_STACK
#define FUNC_TAILS_MAX 16u	/* functions that jumped to each other and will return as one */

/* An ELF file that is mapped here and has a plan. */
struct func_file {
	uintptr_t start, end;	/* all of it */
	uintptr_t load;
	uint64_t delta;		/* what to add to an address for that of the symbol space */
	const void *key;	/* the loader's */
	const struct plan *plan;
	uint64_t offset;	/* of the plan in its file */
	const struct plan *extra;	/* of points; NULL: none */
	uint64_t extra_offset;
	uint32_t *numbers;	/* of each site of the plan: its place in func_sites; 0: none yet */
	uint64_t seen;		/* the update that found it loaded */
	char name[64];		/* without directories */
	bool sound;		/* the plan's sums hold */
	bool traps;		/* functions of it may be patched with int3 */
	bool fresh;		/* as the loader brought it: nothing in it is changed yet */
};

enum {
	FUNC_SITE_NO_RETURN_HOOK = 1u << 0,
	FUNC_SITE_UNWINDS = 1u << 1,
	FUNC_SITE_LOADS = 1u << 2,
	FUNC_SITE_BY_GRAPH = 1u << 3,	/* patched so that it comes to func_enter_graph() */
	FUNC_SITE_PATCHED = 1u << 4,
	FUNC_SITE_BOTH = 1u << 5,	/* `function` is not 0, too, or graphs may not go on below */
	FUNC_SITE_ACTS = 1u << 6,	/* commands hang on it */
	FUNC_SITE_ASKED = 1u << 7,	/* of those that unwind: by others that do */
	FUNC_SITE_PROFILE = 1u << 12,	/* its calls are counted and timed */
	FUNC_SITE_DEEP = 1u << 11,	/* how deep the stack is there is looked at */
	FUNC_SITE_POINT = 1u << 13,	/* no function's: it is there for probes alone */
	FUNC_SITE_POINTS = 1u << 14,	/* probes are in its window: it leads to that one's code */
	FUNC_SITE_RETURNS = 1u << 15,	/* somebody wants to know of its returns: a probe */
	FUNC_SITE_ARGS = 7u << 8,	/* so many argument registers are recorded with a call, in some buffer */
	FUNC_SITE_PLAIN = FUNC_SITE_PATCHED | FUNC_SITE_BY_GRAPH,	/* and nothing else: a call for function_graph */
};

/* A function that was patched once. Masks have a bit for each buffer of the state. */
struct func_site {
	uint64_t ip;		/* in the symbol space */
	uint64_t function;	/* whose tracer is function */
	uint64_t graph;		/* whose tracer is function_graph */
	uint64_t root;		/* of those with set_graph_function: where graphs begin here */
	uint64_t not_root;	/* and where none goes on below */
	const struct func_file *file;
	uintptr_t body;		/* its first instructions, moved */
	uint32_t edge;		/* the one that was used last */
	uint32_t flags;		/* FUNC_SITE_* */
};
#if __SIZEOF_POINTER__ == 8
static_assert(sizeof(struct func_site) == 64, "the thunks shift by six");
#endif

/*
 * A call that is to be noticed when it returns: which function, to where. It has a few instructions of its own, so that the processor
 * sees calls and returns that match, and so that where to return to is known from these alone, on whatever stack and in
 * whichever thread: nobody can lose it. An edge is never given back.
 *
 *   code:  call *body       runs the function, with `back` for a return address where the caller's was
 *   back:  call *thunk      func_leave()
 *          push parent
 *          ret
 */
struct func_edge {
	uintptr_t body;
	uintptr_t parent;
	struct func_site *site;
	uintptr_t thunk;
};
#define FUNC_EDGE_CODE 32u
#define FUNC_EDGE_BACK 6u
#define FUNC_EDGE_AWAY 12u
#if __SIZEOF_POINTER__ == 8
static_assert(sizeof(struct func_edge) == FUNC_EDGE_CODE, "code and data keep the same distance");
#endif

/* A call under way. */
struct func_call {
	uintptr_t slot;		/* where its return address is on the stack */
	struct func_site *site;
	uint64_t mask;		/* buffers that have its entry; VIEW_SPECIAL, too, if there are any and its
				   end is more than a record: it is profiled, or shares its return address */
	uint64_t inside;	/* of those with set_graph_function: we are below one */
	uint64_t barred;	/* buffers that take nothing below */
	uint32_t edge;
	union {
		uint32_t state;		/* all of it at once */
		struct {
			uint8_t bare;		/* the true address was put back: somebody walks the stack */
			uint8_t probed;		/* its return is: the stack's `args` of the same number are its */
			uint8_t profiled;	/* the stack's `profiled` of the same number is about it */
			uint8_t silent;		/* no buffer wanted it: it is no depth */
		};
	};
	uint64_t memory;	/* of an allocator's function: func_self.allocating as it was, and FUNC_MEMORY_OUTERMOST; 0: it is within one */
	uintptr_t under;	/* the slot that was here before: of who is about to push, if a handler's call came between */
	/* Its records, made where they stay: what the entry has told is there for the exit. calltime 0: there is no entry yet. */
	union {
		struct record_graph_entry entry;
		struct record_graph_exit exit;
		uint64_t room[8];
	};
};
#if __SIZEOF_POINTER__ == 8
static_assert(sizeof(struct func_call) == 128, "found by a shift");
static_assert(offsetof(struct record_graph_entry, func) == offsetof(struct record_graph_exit, func), "told once");
#endif

/* What the profile has to know of it. */
struct func_profiled {
	uint64_t start;
	uint64_t callees;	/* time of those that it called and that are profiled */
	uint64_t clock;		/* by which these are times: as in struct view_measure */
	uint64_t table;		/* that has the hit */
	uint32_t cpu;		/* where it began */
	uint32_t reserved;
};

/* What a thread remembers; its own memory, given back when it has ended. */
struct func_stack {
	uint32_t n;		/* one more than calls: the first is a floor, above every stack */
	uint32_t overrun;	/* calls that found no place */
	uint32_t owner;		/* tid */
	uint32_t limit;		/* of n, for the hot path: 0 while somebody walks the stack, or some calls are silent */
	uintptr_t walking;	/* not 0: somebody walked the stack, from there up, and calls are bare */
	uintptr_t walker;	/* its own place, if that is known: what it calls is left alone */
	uintptr_t walked_on;	/* where the stack ends that it is on, if that is one for signal handlers; else 0 */
	uintptr_t crowded;	/* the slot of a call for which there was no room, and none could be made; or 0 */
	uint32_t silent;	/* of the calls */
	uint32_t reserved;
	struct func_call call[FUNC_DEPTH_MAX];
	struct func_profiled profiled[FUNC_DEPTH_MAX];
	uint64_t args[FUNC_DEPTH_MAX][PLAN_REGISTERS_MAX];
};

/*
 * A signal handler may come between any two instructions, and its calls take places from `n` on. When they are over these are as they were,
 * but for what is written once a place is taken. So a call has its slot before it is on the stack, where handlers look at that:
 *
 *   push: slot <- ours, n <- n + 1, under <- what slot was, the rest        pop: n <- n - 1, slot <- under
 */
static inline void func_stack_push(struct func_stack *stack, struct func_call *call, uintptr_t slot)
{
	const uintptr_t under = LOAD(call->slot);

	STORE(call->slot, slot);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	stack->n++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	call->under = under;
}

/*
 * The last call is over; how many are left. There is always the floor: who was interrupted on its way to here, by a handler that went on
 * with other stacks of this thread, may find its call taken for left.
 */
static inline uint32_t func_stack_pop(struct func_stack *stack)
{
	const uint32_t left = LOAD(stack->n) - 1;
	const uintptr_t under = stack->call[left].under;

	if (__builtin_expect(!left, 0))
		return 1;
	STORE(stack->n, left);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(stack->call[left].slot, under);
	return left;
}

/* Addresses of another file than the function's own. */
struct func_near {
	uintptr_t start, size;
	uint64_t delta;
};

/* And what is needed where functions are called and return: runtime_self. */
struct func_thread {
	uintptr_t aside;	/* not 0: in what may call functions that are traced; where on the stack */
	struct func_near near[4];
	uint32_t next_near;
	uintptr_t allocating;	/* not 0: in an allocator's function; where its return address is. Or it was left by a jump */
};
extern __thread struct func_thread func_self __attribute__((visibility("hidden"), tls_model("initial-exec")));

struct func_selection;

/* What of ours is in the code, by the site's number: len 0: nothing. */
struct func_left {
	uintptr_t at;
	uint8_t len;
	unsigned char bytes[PLAN_JUMP_SIZE], was[PLAN_JUMP_SIZE];
};

struct func_all {
	struct func_site *sites;	/* FUNC_SITES_MAX of them; the first is none */
	struct func_left *left;		/* as many */
	uint32_t nsites;
	uintptr_t own, own_size;	/* the runtime's own file, unless the program is one with it */
	bool no_returns;	/* hook none: somebody here walks stacks by means that are not known, or the processor keeps its own */
	bool shadowed;		/* it does */
	uint64_t update;	/* counts updates */
};
extern struct func_all func_all __attribute__((visibility("hidden")));

/* edge.c */
extern unsigned char *func_edge_code __attribute__((visibility("hidden")));
extern struct func_edge *func_edges __attribute__((visibility("hidden")));
bool func_edges_init(void);
/* The edge of that function and that return address, a new one if need be; 0: no room. [any] */
uint32_t func_edge_find(struct func_site *site, uintptr_t parent);
static inline bool func_is_back(uintptr_t address)
{
	return address - (uintptr_t)func_edge_code < (uintptr_t)FUNC_EDGES_MAX * FUNC_EDGE_CODE;
}
static inline uint32_t func_edge_at(uintptr_t address)
{
	return (uint32_t)((address - (uintptr_t)func_edge_code) / FUNC_EDGE_CODE);
}
static inline uintptr_t func_edge_enter(uint32_t edge)
{
	return (uintptr_t)func_edge_code + (uintptr_t)edge * FUNC_EDGE_CODE;
}
static inline uintptr_t func_edge_back(uint32_t edge)
{
	return func_edge_enter(edge) + FUNC_EDGE_BACK;
}

/* The runtime's own calls are nobody's business. */
static inline bool func_is_own(uintptr_t parent)
{
	return parent - func_all.own < func_all.own_size;
}

/* Is the runtime at work, higher on this stack? What happens here is its own. */
static inline bool func_is_within(uintptr_t here)
{
	return runtime_mark_holds(runtime_self.own, here) || runtime_mark_holds(func_self.aside, here);
}

/* enter.c, called by the thunks. */
struct probe_hit;
/* On the stack: where to go on, right below the return address. */
struct func_way {
	uintptr_t to;		/* out */
	uintptr_t parent;
};
/* As the thunks have them on their stack. */
struct func_regs {
	uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx;
};
/* Those for arguments, in their order. */
static inline void func_regs_args(const struct func_regs *regs, uint64_t args[6])
{
	args[0] = regs->rdi;
	args[1] = regs->rsi;
	args[2] = regs->rdx;
	args[3] = regs->rcx;
	args[4] = regs->r8;
	args[5] = regs->r9;
}
void func_enter(struct func_site *site, uintptr_t parent);
/* True: it goes on with an edge's code, for which the return address is taken off the stack. */
bool func_enter_graph(struct func_site *site, struct func_way *way, const struct func_regs *regs);
/* `at`: where the return address was, right above the value that is returned. */
void func_leave(uintptr_t *at);
/* Where a function was called from, in the symbol space: mostly in its own file; NULL: that is not known. */
uint64_t func_symbol_of(const struct func_file *file, uintptr_t address);
/* The same of one whose return is probed. */
void func_leave_point(uintptr_t *at, struct probe_hit *hit);

/* calls.c */
/* Can it be written? A stack may be gone while calls on it are remembered: a coroutine's. `known`: a page that is. */
bool func_is_there(uintptr_t at, uintptr_t *known);
/* A call that is not plain, or not in a plain state. */
bool func_calls_enter(struct func_site *site, struct func_way *way, const struct func_regs *regs) __attribute__((noinline));
/* What its end is to those who keep calls. `hit`: the registers, for who probes returns; or NULL. */
void func_calls_leave(struct func_stack *stack, uintptr_t slot, uint64_t retval, struct probe_hit *hit) __attribute__((noinline));
/* Of a site of our own: who loads files, who walks stacks. */
void func_calls_special(struct func_site *site, uintptr_t *slot) __attribute__((noinline));
/* A call whose end nobody sees. */
void func_calls_count(struct func_site *site);

/* thunk.S */
extern const char func_thunk_function[] __attribute__((visibility("hidden")));
extern const char func_thunk_function_flags[] __attribute__((visibility("hidden")));
extern const char func_thunk_graph[] __attribute__((visibility("hidden")));
extern const char func_thunk_graph_flags[] __attribute__((visibility("hidden")));
extern const char func_thunk_return[] __attribute__((visibility("hidden")));
extern uint64_t func_vectors_size __attribute__((visibility("hidden")));	/* 0: no xsave */
extern uint64_t func_vectors_mask __attribute__((visibility("hidden")));
/* Calls fn(arg) with the vector registers kept, which code compiled as usual uses as it likes: in `area`, or on the stack. */
void func_call_with_vectors(void (*fn)(void *arg), void *arg, void *area);
/* Before anything is patched. */
void func_vectors_init(void);

/* aside.c: what is compiled as usual; see func_aside(). */
struct func_event {
	struct func_site *site;
	uint64_t mask;		/* buffers */
	uint32_t id;
	uint32_t len;
	uint32_t len_args;	/* with arguments, for buffers that want them; 0: there are none */
	void *record;
	uint64_t ts;		/* out: nanoseconds */
	bool stamped;		/* the record ends with its time */
	uint64_t done;		/* out: buffers that have it */
};
struct view *func_current_view(void);
void func_write_aside(void *event);
void func_time_aside(void *now);
void func_choose_aside(void *unused);
void func_act_aside(void *site);
struct func_lookup {
	uintptr_t address;
	uint64_t symbol;
};
void func_lookup_aside(void *lookup);
void func_stack_aside(void *unused);
void func_loads_aside(void *unused);
/* What func_aside() runs, with the program's errno kept. */
struct func_keeping {
	void (*fn)(void *arg);
	void *arg;
};
void func_keep_errno(void *keeping);
/* Runs it, unless this thread is in such a thing already: what is called there is not traced. False then. [any] */
bool func_aside(void (*fn)(void *arg), void *arg);

/* profile.c: with general registers only. */
/* A call begins: a hit. Tells whether its end is to be told, too, and what of it is known then. */
bool func_profile_begin(const struct func_call *call, struct func_profiled *profiled);
/* The last thing before it runs. */
void func_profile_start(struct func_profiled *profiled);
/* The i-th call of the stack, which is profiled, has ended. */
void func_profile_end(struct func_stack *stack, uint32_t i);
/* From where depths are told: what the kernel left there has any address. */
static inline uintptr_t func_stack_top(uintptr_t high)
{
	return (high + 15) & ~(uintptr_t)15;
}
/* Is the stack the deepest one, with the return address there? */
void func_deep_look(const struct func_site *site, uintptr_t slot);

/* measure.c: under func_aside() */
struct func_row {
	const struct func_site *site;
	uint32_t cpu;		/* UINT32_MAX: this one, told */
	uint64_t *row;		/* out: NULL: the profile is off, or there is no room */
};
void func_row_aside(void *row);
struct func_clock {
	uint64_t clock;
	uint64_t now;		/* out */
};
void func_clock_aside(void *clock);
struct func_deep {
	const struct func_site *site;
	uintptr_t slot;
};
void func_deep_aside(void *deep);
/* Remembers that the site of that plan was patched. In ordinary code. */
void func_touch(const struct func_selection *selection, const struct func_file *file, const struct plan_site *site);

/* trap.c */
/* May functions of that file be patched with int3? */
bool func_traps_allow(const struct func_file *file);
/* The one there is about to be. */
bool func_trap_note(uintptr_t at, uint32_t number);

/* select.c */
struct func_wanted {
	uint64_t function, graph, root, not_root;
	bool acts, profile, deep;
	bool args;			/* in some of the first two */
};
struct func_selection {
	bool points;			/* probes are wanted */
	bool calls;			/* system calls are */
	uint32_t kmalloc, kfree;	/* ids of these, if allocations are */
	uint64_t functions, graphs;	/* buffers by their tracer */
	uint64_t args;			/* those of them that want arguments */
	bool acts;			/* there are commands */
	bool profile;
	bool deep;			/* the stack tracer is on */
	const struct state_head *state;
};
/* Is anything of it? */
static inline bool func_selection_any(const struct func_selection *selection)
{
	return selection->functions || selection->graphs || selection->acts || selection->profile || selection->deep ||
	       selection->points || selection->calls || selection->kmalloc || selection->kfree;
}

/* Where a system call goes whose place is patched: rcx has where to go on, r11 what who walks the stack is to see. Absent where no
 * room brings it. */
extern const char sys_thunk[] __attribute__((visibility("hidden"), weak));
/* Who is there goes on somewhere that only registers and thread-local memory tell. */
extern const char sys_untold_begin[] __attribute__((visibility("hidden"), weak));
extern const char sys_untold_end[] __attribute__((visibility("hidden"), weak));
/* False: nothing is, without doubt. */
bool func_may_be_wanted(void);
bool func_select_begin(struct func_selection *selection);
void func_select(const struct func_selection *selection, const char *name, const char *module, struct func_wanted *wanted);
void func_select_end(struct func_selection *selection);

/* site.c */
/* Sites of that file, by their indexes in the plan, get their code and a number each; those that cannot be reached get none. */
bool func_sites_make(struct func_file *file, uint32_t *indexes, uint32_t n);
bool func_sites_init(void);
/* Memory that can be reached from a file's code; NULL: none is free. */
unsigned char *func_map_near(size_t size, const struct func_file *file);
/* Is it in what that gave? */
bool func_is_island(uintptr_t address);
/* One place of moved instructions, all of which begin at `body` and were at `window`. */
bool func_site_fix(unsigned char *body, uintptr_t window, const struct plan_fix *fix);
/* The five bytes that lead there from its window. */
bool func_site_jump(const struct func_file *file, const struct plan_site *site, uint32_t number, bool graph, unsigned char jump[5]);

/* start.c */
/* No returns are hooked here from now on; calls are still recorded. */
void func_no_returns(void);

/* update.c: around whatever looks at files, or changes what is known of them. */
bool func_begin(void);
void func_end(void);

/* file.c */
struct r_debug;
const struct r_debug *func_loader(void);
const struct plan_site *func_plan_site(const struct plan *plan, uint32_t i);
const unsigned char *func_plan_code(const struct plan *plan, const struct plan_site *site);
/* How many argument registers its i-th site has parameters in. */
uint32_t func_plan_registers(const struct plan *plan, uint32_t i);
const char *func_plan_name(const struct plan *plan, const struct plan_site *site);
/* Looks at all files that are loaded; those are in *files whose `seen` is this update. 1: some have no plan yet; -errno. */
int func_files_look(struct func_file ***files, uint32_t *n);

#endif
