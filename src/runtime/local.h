/*
 * runtime/local: what the runtime's files share: the one runtime of the process, its threads, its views.
 *
 * Lifetimes: mappings are made by attach() before main and never go away. Views are private pictures of the published state;
 * writers use the one that `wiped.view` points to. Everything a forked child must not inherit lies in `wiped`, a page that
 * the kernel hands to a child as zeros, however it was forked.
 */
#ifndef RUNTIME_LOCAL_H
#define RUNTIME_LOCAL_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout/calls.h"
#include "layout/control.h"
#include "layout/registry.h"
#include "hook/hook.h"
#include "layout/probe.h"
#include "layout/ring.h"
#include "program/quick.h"
#include "ring/core.h"

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)

#define RUNTIME_EVENTS_MAX 8192u
#define RUNTIME_VIEWS 6

/* One buffer as writers see it. refs[0..ncpu) are the CPUs' rings, refs[ncpu..2*ncpu) the overflow rings. */
struct view_buffer {
	uint64_t born;
	uint32_t flags;		/* BUFFER_* */
	uint32_t tracer_flags;	/* TRACER_FLAG_* */
	struct ring_ref *refs;
	uint32_t *wakes;
	uint32_t clock;		/* TRACE_CLOCK_*, for when the section cannot read the time */
	uint32_t by_counter;
	uint32_t off;		/* word: while it is not 0 nothing is taken; 0 none */
	uint32_t side;		/* word that counts triggers' snapshots, 0 none; `turned` and `nspares` as the view was made */
	uint32_t turned;
	uint32_t nspares;
};

/* In a mask: there is more to the event than the buffers that it goes to. One of them takes those of some threads only, or is
 * switched by triggers; or something hangs on the event, wanted by a buffer or not. */
#define VIEW_SPECIAL (1ull << 63)
static_assert(STATE_BUFFERS_MAX <= 63, "a bit for each buffer, and one more");

/* More than a state can name: the filter of a large system is one hook for each of its events that the program has. */
#define VIEW_HOOKS_MAX 4096u
#define VIEW_FIELDS_MAX 32768u
#define VIEW_LINKS_MAX 8192u
/* In `hooks`: it is all there is, of the one buffer that may have the event on; and all it has is a filter that looks at
 * nothing but the record, or a tally. */
#define VIEW_SIMPLE 1u
/* And the filter begins with a number of four bytes: PROGRAM_QUICK_FOUR. */
#define VIEW_FOUR 0x80000000u
/* Between them the number of the hook, so that masking it gives the place in `quick`. */
#define VIEW_QUICK 0x1ffe0u
static_assert(sizeof(struct program_quick) == 32 && VIEW_HOOKS_MAX * 32 == VIEW_QUICK + 32, "no number has other bits");
static_assert(VIEW_FIELDS_MAX <= UINT16_MAX, "numbers of 16 bits");

/* What functions are measured with. */
struct view_measure {
	struct hist_tables tables;
	uint64_t profile;	/* offset of the table, 0: it is off */
	uint32_t parts, elements;	/* of table_profile_shape() */
	uint32_t rooted;	/* only what is below functions of STATE_FUNC_ROOT is profiled */
	uint64_t clock;		/* what times come from: the rate of the CPU's counter, `mult` of the state, or VIEW_CLOCK_* */
	struct table_deepest *deepest;	/* NULL: no stack is looked at */
};
#define VIEW_CLOCK_MONO 0u		/* the system's */
#define VIEW_CLOCK_THREAD 1u		/* the time that the thread has run */

enum { VIEW_FREE, VIEW_BUILDING, VIEW_READY, VIEW_RETIRED };
enum { VIEW_PROBE_NEW, VIEW_PROBE_BOUND, VIEW_PROBE_BAD };

/*
 * System calls, probes and allocations, if one buffer alone wants any of them, timed by the counter: where their records go in a few
 * instructions. An event that has more than this mask, or has a hook, takes the long way.
 */
struct view_lone {
	uint64_t mask;		/* the buffer, and VIEW_SPECIAL if it takes those of some threads only; 0: there is none */
	uint64_t choosy;	/* the buffer, if it does */
	const struct ring_ref *refs;
};

struct view {
	uint64_t published;	/* the word it was made from: what every section compares */
	const uint64_t *published_at;
	const struct ring_ref *fast;	/* the top buffer's rings if section_fast() may be used for them, else NULL */
	uint32_t ncpu;
	uint32_t state;		/* VIEW_* */
	uint32_t nbuffers;
	uint32_t number;	/* order of retirement */
	uint32_t holders;	/* threads that use it outside of sections: until 0 its place is not used again */
	uint32_t timeless;	/* made while runtime.timeless was set */
	uint32_t asleep;	/* the same of runtime.asleep: nobody wants anything */
	uint32_t nameless;	/* threads need not tell their names */
	uint32_t nfilled;	/* of runtime.known, how many have their mask */
	uint64_t usable;	/* buffers that can be written to */
	uint64_t unreachable;	/* buffers that should be but are not: their rings cannot be mapped */
	uint64_t choosy;	/* buffers that take events of some threads only: see runtime/choose.c */
	uint64_t switched;	/* buffers with an `off` word, a `side`, or stacks behind events: not for the fast ways */
	uint64_t functions;	/* buffers whose tracer is function */
	uint64_t graphs;	/* or function_graph */
	uint64_t func_choosy;	/* buffers that take functions of some threads only */
	uint64_t func_args;	/* buffers that have arguments of functions recorded */
	uint64_t func_only;	/* the one of those, if it is the only one and wants nothing but records, timed by the counter */
	const struct ring_ref *func_refs;	/* its rings */
	uint64_t graph_rooted;	/* buffers that take graphs below some functions only */
	uint64_t graph_thresh;	/* nanoseconds that a call must take, 0: any */
	uint32_t graph_depth;	/* how deep calls are taken, 0: any */
	uint64_t graph_only;	/* func_only, if its tracer is function_graph, of all threads, there is nothing of the last
				   three, and graphs may go everywhere; else none */
	struct view_measure measure;
	const struct state_calls *calls;	/* in `copy`; NULL: no system calls are wanted */
	struct view_lone lone;
	uint32_t ncalled;
	uint32_t place;		/* counts the views that were built here: what hooks compare */
	uint32_t binding;	/* lock of what is bound, here and in `room`, for events that become known later */
	uint32_t nbound;
	struct hook_room room;	/* `links` and `fields` */
	uint32_t nmade;
	uint32_t nprobes;	/* of the state's, those whose `probe_bound` may be asked for */
	struct hook_host host;	/* as all runs of hooks begin */
	struct view_buffer buffer[STATE_BUFFERS_MAX];
	struct ring_ref *refs;	/* STATE_BUFFERS_MAX * 2 * ncpu of them */
	uint64_t mask[EVENT_ID_END];	/* bit b: event is on in buffer b; VIEW_SPECIAL. Mostly untouched pages */
	uint32_t hooks[EVENT_ID_END];	/* first of an event's in `bound`, which has none at 0; VIEW_SIMPLE, VIEW_FOUR */
	uint16_t called[2 * CALLS_MAX + 7];	/* ids of system calls' events and allocations', which have their masks */
	uint16_t made[STATE_ITEMS_MAX];	/* ids of synthetic events and probes, which no program brings */
	alignas(32) struct program_quick quick[VIEW_HOOKS_MAX];	/* how to tell what the filter of bound[i] rejects */
	struct hook_bound bound[VIEW_HOOKS_MAX];
	struct hook_bound probe_bound[STATE_PROBES_MAX];
	uint8_t probe_state[STATE_PROBES_MAX];	/* VIEW_PROBE_* */
	struct hook_link links[VIEW_LINKS_MAX];
	struct program_field fields[VIEW_FIELDS_MAX];
	alignas(8) uint64_t copy[CONTROL_STATE_MAX / 8];	/* the state it was made from, also where 64 bits lie anywhere */
};

#define RUNTIME_STAGES 32

struct wiped {
	struct view *view;	/* NULL: none yet, or forked */
	uint32_t alive;		/* WIPED_* */
	uint32_t registering;	/* lock of what only ordinary code does */
	uint32_t stage_tid[RUNTIME_STAGES];	/* who uses it, 0 while it is free */
	char rest[4096 - sizeof(void *) - 8 - RUNTIME_STAGES * 4];	/* nothing else shares the page */
};
enum { WIPED_FORKED = 0, WIPED_ALIVE = 1, WIPED_RESETTING = 2 };

struct window {
	unsigned char *base;
	uint64_t size;
};

#define RUNTIME_WINDOWS 16
#define RUNTIME_FAMILY 16

struct runtime {
	bool started;
	bool attached;
	bool late;		/* loaded into a program that was running */
	bool asked;		/* its calls of libc that concern us come by guard.c */
	uint32_t locked;	/* the program gave up system calls: make none */
	uint32_t timeless;	/* and the CPU's counter: reading it, in the vDSO too, would be a SIGSEGV */
	uint32_t asleep;	/* detached by the tool: views in which nothing is on */
	bool tells;		/* runtime_teller() */
	uint32_t ncpu;
	uint64_t dev, ino;	/* of the directory's control file */
	pid_t pid;
	uint32_t start;		/* low bits of the process's start time, 0 not read yet */
	int tid_offset;		/* of the tid in libc's thread descriptor, -1 unknown: for locked programs */
	const struct control_head *control;
	uint64_t control_window;
	struct registry_head *registry;
	struct window rings[RUNTIME_WINDOWS];	/* mappings of the rings file, base NULL where there is none yet */
	struct window tables[RUNTIME_WINDOWS];	/* the same of the tables file; the first has the words */
	struct window plans[RUNTIME_WINDOWS];	/* and of the plans file, read-only; maybe none at all */
	unsigned char *stages;	/* of a page each; see wiped.stage_tid */
	struct view *views[RUNTIME_VIEWS];
	uint32_t nknown;
	uint32_t known[RUNTIME_EVENTS_MAX];	/* ids that this process can emit */
	uint8_t is_known[EVENT_ID_END / 8];
	int32_t family[RUNTIME_FAMILY];	/* processes that this one descends from, parent first */
	uint32_t nfamily;	/* how many of them are known: those that forked here always are */
	uint32_t family_whole;	/* the others were looked for */
	uint32_t renames;	/* how often a thread of the program got another name */
};

extern struct runtime runtime __attribute__((visibility("hidden")));
extern struct wiped wiped __attribute__((visibility("hidden")));

struct chosen {
	uint64_t in;		/* the state by which it was found out */
	uint64_t buffers;
};

/* What a thread needs on the hot path. tid 0: not ready, or guarded (vfork child): go the slow way. Where there is no
 * rseq, rs is an area whose CPU is none. */
struct thread {
	struct ring_rseq *rs;
	int32_t tid;
	uint32_t guard;		/* > 0: somebody may share this thread's TLS without its rseq */
	int32_t real_tid;	/* tid, kept while guarded */
	uint32_t start;		/* low bits of the start time, read when first needed */
	uint32_t stages;	/* not 0: it may have some that it has not put back; a handler in between may make it one too few */
	struct chosen chosen;	/* of its choosy buffers, those that take this thread's events */
	struct chosen func_chosen;	/* the same of its functions */
	struct view *held;	/* see view.holders; a vfork child's is left when that is killed */
	uintptr_t stack_low, stack_high;	/* of its own stack, what is known to be mapped; see stack.c */
	uint32_t named;		/* runtime.renames + 1 when `comm` was found out; 0 never */
	char comm[16];
	bool rs_ours;
	bool ending;		/* own rseq registration is undone: never again */
	bool bare;		/* forked by one without rseq: libc's area lies */
	int32_t as;		/* not 0: speaks for that one */
	int32_t forker;		/* itself, around a fork that is to be told of; who tells makes it 0 */
	int32_t exited;		/* whose end was told: a vfork child has its parent's TLS */
	bool locking;		/* a guarded child gave up system calls: we did not */
	struct ring_near near;	/* in the top buffer; generation 0 at first, which none has */
	struct ring_near func_near;	/* in the one that has a function tracer */
	struct ring_near lone_near;	/* in the one that has what is found in code: struct view_lone */
	const struct runtime_told *told;	/* what is just being told, guarded: the slow way asks for it */
	uintptr_t own;		/* not 0: what the runtime does by itself, from there on down the stack: see runtime_own_begin() */
	struct func_stack *func_stack;	/* the calls it is in; NULL: none yet */
	uintptr_t stage_frame[RUNTIME_STAGES];	/* where on its stack it uses that stage, or is about to: stage.c. 0: nowhere */
};

extern __thread struct thread runtime_self __attribute__((visibility("hidden"), tls_model("initial-exec")));

/*
 * A place on the stack: what is done below it is the runtime's own, until it is taken back. A handler that jumps out takes nothing
 * back, so a mark is believed while its seal is there: the program's next calls overwrite it.
 */
struct runtime_mark {
	uintptr_t before;
	uintptr_t seal;
};
#define RUNTIME_SAME_STACK ((uintptr_t)8 << 20)

static inline __attribute__((always_inline)) bool runtime_mark_holds(uintptr_t mark, uintptr_t here)
{
	return mark > here && mark - here < RUNTIME_SAME_STACK && LOAD(((const struct runtime_mark *)mark)->seal) == ~mark;
}

static inline __attribute__((always_inline)) uintptr_t runtime_mark_set(struct runtime_mark *mark, uintptr_t *now)
{
	mark->before = *now;
	/* Within another one of this stack the outer one counts. */
	if (!runtime_mark_holds(*now, (uintptr_t)mark)) {
		STORE(mark->seal, ~(uintptr_t)mark);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*now = (uintptr_t)mark;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return (uintptr_t)mark;
}

static inline __attribute__((always_inline)) void runtime_mark_take(uintptr_t at, uintptr_t *now)
{
	struct runtime_mark *mark = (struct runtime_mark *)at;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*now = mark->before;
	STORE(mark->seal, 0);
}

/* System calls from here to runtime_own_end(), in the same block, are the runtime's own. */
#define runtime_own_begin() runtime_mark_set(&(struct runtime_mark){ 0 }, &runtime_self.own)

static inline __attribute__((always_inline)) void runtime_own_end(uintptr_t mark)
{
	runtime_mark_take(mark, &runtime_self.own);
}

/* thread.c */
void runtime_thread_init(void);
bool runtime_thread_ready(struct thread *thread);
uint64_t runtime_thread_identity(struct thread *thread);
int32_t runtime_thread_tid(void);
bool runtime_owner_dead(uint64_t owner);
uint32_t runtime_start_time(const char *stat_path, char *state);
void runtime_fork_child(void);
void runtime_thread_renamed(void);
/* Another one of this process got that name. */
void runtime_other_renamed(int32_t tid, const char *name);
/* Writes down whose name that is; `start` is its process's start time. */
void runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16]);
void runtime_guard_enter(void) __attribute__((visibility("hidden")));
void runtime_guard_leave(void) __attribute__((visibility("hidden")));
/* Holds off all signals but those that faults send, which cannot wait. */
void runtime_signals_hold(uint64_t *before);
void runtime_signals_restore(const uint64_t *before);

/* view.c */
/* The view of the newest state. NULL: no place to build it now. */
struct view *runtime_view_refresh(void);
bool runtime_view_init(void);
/* Buffers that want event `id` and cannot have it. */
uint64_t runtime_view_unreachable(const struct view *view, uint32_t id);
/* A table of the state that the view was made from, and in *n how many there are in it; within the view, whatever is being
 * built in its place by now. */
const struct state_pid *runtime_view_pids(const struct view *view, uint32_t *n);
const struct state_hook *runtime_view_hooks(const struct view *view, uint32_t *n);
const struct state_probe *runtime_view_probes(const struct view *view, uint32_t *n);
/* The same by those who may wait for others to build theirs. */
struct view *runtime_view_settle(void);
/* What that word names, as it lies there: for a first look, since a view takes its time. NULL: nothing that can be. */
static inline const struct state_head *runtime_state_peek(uint64_t published)
{
	const uint64_t offset = (published & CONTROL_PLACE_MASK) * 4096;

	if (!published || offset < CONTROL_FIRST_STATE || offset > runtime.control_window - CONTROL_STATE_MAX)
		return NULL;
	return (const void *)((const char *)runtime.control + offset);
}
/* Copies the state that is in force into `to`, CONTROL_STATE_MAX bytes; false: there is none that is whole. */
bool runtime_state_copy(struct state_head *to);
/* Whether the state has anything to do with an event of that name: records it somewhere, or has a hook on it. */
bool runtime_view_wants(const struct view *view, const char *system, const char *name);
/* Makes this process know event `id`; gives the buffers that want it. Under runtime_registration_lock(). */
uint64_t runtime_view_know(uint32_t id);

/* choose.c */
/* The choosy buffers, of this view, that take events of this thread. */
uint64_t runtime_chosen(const struct view *view, struct thread *thread);
/* The same for its functions. */
uint64_t runtime_func_chosen(const struct view *view, struct thread *thread);
/* In the child of a fork: who its parent was, and which thread of that forked it. */
void runtime_family_grow(int32_t parent, int32_t forker);

/* life.c */
/* A traced program begins: behind attaching. */
void runtime_life_start(void);
void runtime_life_thread(void);
/* This thread is about to make a process or a thread. */
void runtime_life_forking(void);
/* It has made one of that id, 0 none: told, unless the child has. */
void runtime_life_forked(int32_t child);
/* Is there anything to tell still? */
bool runtime_life_is_telling(void);
/* The child, if it has its parent's thread-local memory or a copy. */
void runtime_life_born(void) __attribute__((visibility("hidden")));
/* This thread ends now, and maybe all of its process. */
void runtime_life_ends(bool whole);

/* hooks.c: what hangs on events, in a view. */
/* Binds what hangs on event `id` of that name; `mask` are the buffers that have it on. Gives the mask to store. Within
 * fill(), or under runtime_hooks_lock(). */
uint64_t runtime_hooks_bind(struct view *view, uint32_t id, const char *system, const char *name, uint64_t mask);
/* Nothing is bound yet; what runs hooks, but for the moment. */
void runtime_hooks_init(struct view *view);
bool runtime_hooks_lock(struct view *view);
void runtime_hooks_unlock(struct view *view);

/* An event on its way, and how far that has come: what was done for a buffer is not done again under another view. */
struct writing {
	uint32_t id;
	uint32_t len;
	void *record;
	int32_t tid;		/* whose it is, 0: this thread's */
	uint32_t depth;		/* events that caused it */
	uint64_t begun;		/* buffers whose first triggers acted; VIEW_SPECIAL: probes did */
	uint64_t done;		/* buffers that have it, or do not want it */
	uint64_t owed;		/* of those: where triggers behind the record are still to act */
	char *newline;		/* a marker's last one, which is in the record and which nothing that hangs on it sees */
};

/* hooked.c */
/* Runs what hangs on the event, and writes it to the buffers in which something does. False: the view went stale. */
bool runtime_write_hooked(struct thread *thread, struct view *view, uint64_t generation, struct writing *writing);
/* The same for one buffer, on or not there. RING_DROPPED: it takes nothing now. What a filter rejects is RING_DONE. */
enum ring_result runtime_write_hooked_to(struct thread *thread, struct view *view, uint64_t generation, uint32_t b,
					 struct writing *writing);
/* What the filter of an event says on which nothing else hangs but a tally. Counts if the view's generation is still in force. */
enum hook_verdict { HOOK_VERDICT_NONE, HOOK_VERDICT_REJECT, HOOK_VERDICT_PASS };
enum hook_verdict runtime_judge(const struct view *view, uint32_t id, const void *record, size_t len,
				struct hook_tally *tally);
/* The record of a probe whose program has to make it, by the probe's serial; `index`: where it may be. False: none was written. */
bool runtime_write_probe(uint32_t serial, uint32_t index, struct probe_hit *hit);
/* A stack of this thread, which is written as thread `pid`'s, in buffer b. `top`, if not 0, comes before it. */
void runtime_write_stack(struct thread *thread, struct view *view, uint64_t generation, uint32_t b, int32_t pid, uint64_t top);
/* Sets aside what buffer b holds: snapshot.c. False: not now. */
bool runtime_snapshot(struct view *view, uint32_t b);

/* Out of a word of view->hooks. */
static inline uint32_t view_number(uint32_t word)
{
	return (uint32_t)((word & VIEW_QUICK) / sizeof(struct program_quick));
}

static inline const struct program_quick *view_quick(const struct view *view, uint32_t word)
{
	return (const void *)((const char *)view->quick + (word & VIEW_QUICK));
}

/* Buffers that triggers have off at this moment. */
static inline uint64_t runtime_view_off(const struct view *view)
{
	const uint64_t *words = view->host.words;
	uint64_t off = 0;

	for (uint64_t mask = view->switched & ~VIEW_SPECIAL; mask; mask &= mask - 1) {
		uint32_t b = (uint32_t)__builtin_ctzll(mask);

		if (words && LOAD(words[LOAD(view->buffer[b].off) % TABLE_WORDS]))
			off |= 1ull << b;
	}
	return off;
}

/* clock.c */
uint64_t runtime_clock(uint32_t id);
uint64_t runtime_buffer_time(const struct view_buffer *buffer, const struct ring_ref *ref);
/* The time of a moment by the buffer's clock. */
struct runtime_moment;
uint64_t runtime_moment_time(const struct view_buffer *buffer, const struct ring_ref *ref, const struct runtime_moment *moment);

/* buffer.c */
/* `ts`: out, the time that the record has; may be NULL. */
enum ring_result runtime_write_buffer(struct thread *thread, struct view *view, uint64_t generation, uint32_t b,
				      const void *record, size_t len, uint64_t *ts);
/* Counts so many events of that CPU as lost. */
void runtime_refuse(const struct view_buffer *buffer, uint32_t cpu, uint64_t generation, uint64_t n);
/* Of a ring that may not be made yet: readers wait by it all the same. */
const struct ring_head *runtime_ring_head(const struct view_buffer *buffer, uint32_t cpu);
/* A set that somebody stores into outside of a section, kept from being freed meanwhile. */
struct keeper {
	struct overflow_slot *slot;
	uint64_t before;	/* signals: a handler that never returns here would keep it for good */
};
/* False: the set is gone, or nobody can say. */
bool runtime_keep(struct keeper *keeper, uint64_t generation);
void runtime_let_go(struct keeper *keeper);
/* Who waits for what there is now; `switched` is the write that entered a page, or NULL. */
void runtime_wake(const struct view_buffer *buffer, struct ring_head *head, uint64_t generation, const struct ring_op *switched);
uint32_t runtime_current_cpu(void);

/* write.c */
void runtime_write_slowly(struct writing *writing);
/* Parts of runtime_write(), none of which is anybody else's to call; stack.c knows their frames. */
void runtime_write_unready(uint32_t id, void *record, size_t len) __attribute__((noinline));
void runtime_write_passed(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation) __attribute__((noinline));
void runtime_write_looked(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation,
			  const struct program_quick *quick) __attribute__((noinline));
void runtime_write_other(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation) __attribute__((noinline));

/* attach.c */
void runtime_start(void);
int runtime_attach(const char *path);
/* profile.c: puts in force what RINGSIDE_PROFILE names, if it does. */
void runtime_profile(const char *dir);
/* Address of `size` bytes at `offset` of the rings file, NULL when they cannot be had. */
void *runtime_rings_reach(uint64_t offset, uint64_t size);
/* The same of the plans file. */
const void *runtime_plans_reach(uint64_t offset, uint64_t size);
/* The tables file, mapped as far as `size` if that can be. */
struct hist_tables runtime_tables_reach(uint64_t size);
static inline uint64_t *runtime_words(void)
{
	return ((struct tables_head *)(void *)runtime.tables[0].base)->words;
}
void runtime_detach(void);
/* Gives a part of a mapped file its memory, so that a full file system is an error here and not a SIGBUS later. */
bool runtime_back(const void *start, uint64_t size);
/* Whether we may take that much of a resource: a program that has to make do with little keeps three quarters of it. */
bool runtime_affordable(int resource, uint64_t size);
bool runtime_owns(const void *address);

/* Whether sets and views of that generation may have gone, and their room be somebody else's: nothing is stored there then. */
static inline bool runtime_gone(uint64_t generation)
{
	return __atomic_load_n(&runtime.control->published, __ATOMIC_SEQ_CST) != generation;
}

/* registry.c: the format text of an event, NULL when there is none; it may change while one looks */
const char *runtime_event_body(uint32_t id, size_t *len);
/* names of a known event, for matching rules */
bool runtime_event_names(uint32_t id, char system[REGISTRY_NAME_MAX + 1], char name[REGISTRY_NAME_MAX + 1],
			 uint32_t *related);

/* guard.c */
void runtime_guard_init(void);

/* func/: see func.h. */
struct stopped_thread;
int func_update(const struct stopped_thread *stopped, size_t n, bool fresh);
int func_drop(const struct stopped_thread *stopped, size_t n);
uintptr_t func_true_return(uintptr_t address);

/* sys/: see sys.h. */
void sys_update(void);
void sys_dispatch(void);

/* What seccomp says of a filter: more than 0 is a thread that could not have it, or a descriptor if one was asked for. */
static inline bool runtime_lock_failed(int64_t result, uint64_t flags)
{
	enum { NEW_LISTENER = 8 };

	return result < 0 || (result > 0 && !(flags & NEW_LISTENER));
}

/* Behind the call before which `locked` was set. */
static inline __attribute__((always_inline)) void runtime_lock_end(bool failed)
{
	if (failed) {
		STORE(runtime.locked, 0);
		sys_dispatch();
	} else if (runtime_self.guard) {
		runtime_self.locking = true;
	}
}

#endif
