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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout/control.h"
#include "layout/registry.h"
#include "layout/ring.h"
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
	struct ring_ref *refs;
	uint32_t *wakes;
	uint32_t clock;		/* TRACE_CLOCK_*, for when the section cannot read the time */
	uint32_t by_counter;
	uint64_t counter0, mult, ns0;
};

/* In a mask: one of its buffers is choosy, so that the event takes the slow way. */
#define VIEW_CHOOSY (1ull << 63)
static_assert(STATE_BUFFERS_MAX <= 63, "a bit for each buffer, and one more");

enum { VIEW_FREE, VIEW_BUILDING, VIEW_READY, VIEW_RETIRED };

struct view {
	uint64_t published;	/* the word it was made from: what every section compares */
	const uint64_t *published_at;
	const struct ring_ref *fast;	/* the top buffer's rings if section_fast() may use them, else NULL */
	uint32_t ncpu;
	uint32_t state;		/* VIEW_* */
	uint32_t nbuffers;
	uint32_t number;	/* order of retirement */
	uint32_t holders;	/* threads that use it outside of sections: until 0 its place is not used again */
	uint32_t timeless;	/* made while runtime.timeless was set */
	uint32_t nameless;	/* threads need not tell their names */
	uint32_t nfilled;	/* of runtime.known, how many have their mask */
	uint64_t usable;	/* buffers that can be written to */
	uint64_t unreachable;	/* buffers that should be but are not: their rings cannot be mapped */
	uint64_t choosy;	/* buffers that take events of some threads only: see runtime/choose.c */
	struct view_buffer buffer[STATE_BUFFERS_MAX];
	struct ring_ref *refs;	/* STATE_BUFFERS_MAX * 2 * ncpu of them */
	uint64_t mask[EVENT_ID_END];	/* bit b: event is on in buffer b; VIEW_CHOOSY. Mostly untouched pages */
	uint64_t copy[CONTROL_STATE_MAX / 8];	/* the state it was made from */
};

struct wiped {
	struct view *view;	/* NULL: none yet, or forked */
	uint32_t alive;		/* WIPED_* */
	uint32_t staged;	/* bit i: stage i is in use */
	uint32_t registering;	/* lock of what only ordinary code does */
	char rest[4096 - sizeof(void *) - 12];	/* nothing else shares the page */
};
enum { WIPED_FORKED = 0, WIPED_ALIVE = 1, WIPED_RESETTING = 2 };

struct window {
	unsigned char *base;
	uint64_t size;
};

#define RUNTIME_WINDOWS 16
#define RUNTIME_STAGES 32
#define RUNTIME_FAMILY 16

struct runtime {
	bool started;
	bool attached;
	uint32_t locked;	/* the program gave up system calls: make none */
	uint32_t timeless;	/* and the CPU's counter: reading it, in the vDSO too, would be a SIGSEGV */
	uint32_t ncpu;
	uint64_t dev, ino;	/* of the directory's control file */
	pid_t pid;
	uint32_t start;		/* low bits of the process's start time, 0 not read yet */
	int tid_offset;		/* of the tid in libc's thread descriptor, -1 unknown: for locked programs */
	const struct control_head *control;
	uint64_t control_window;
	struct registry_head *registry;
	struct window rings[RUNTIME_WINDOWS];	/* mappings of the rings file, base NULL where there is none yet */
	unsigned char *stages;
	struct {
		uint32_t tid;		/* of its user, 0 while it is free */
		uintptr_t frame;	/* where on its stack */
	} stage_of[RUNTIME_STAGES];
	struct view *views[RUNTIME_VIEWS];
	uint32_t nknown;
	uint32_t known[RUNTIME_EVENTS_MAX];	/* ids that this process can emit */
	uint8_t is_known[EVENT_ID_END / 8];
	int32_t family[RUNTIME_FAMILY];	/* processes that this one descends from, parent first */
	uint32_t nfamily;	/* how many of them are known: those that forked here always are */
	uint32_t family_whole;	/* the others were looked for */
};

extern struct runtime runtime __attribute__((visibility("hidden")));
extern struct wiped wiped __attribute__((visibility("hidden")));

/* What a thread needs on the hot path. tid 0: not ready, or guarded (vfork child): go the slow way. Where there is no
 * rseq, rs is an area whose CPU is none. */
struct thread {
	struct ring_rseq *rs;
	int32_t tid;
	uint32_t guard;		/* > 0: somebody may share this thread's TLS without its rseq */
	int32_t real_tid;	/* tid, kept while guarded */
	uint32_t start;		/* low bits of the start time, read when first needed */
	uint32_t stages;	/* not 0: has taken one that it has not put back, or not in order */
	uint64_t chosen_in;	/* the state by which `chosen` was found out */
	uint64_t chosen;	/* of its choosy buffers, those that take this thread's events */
	struct view *held;	/* see view.holders; a vfork child's is left when that is killed */
	bool rs_ours;
	bool ending;		/* own rseq registration is undone: never again */
	bool bare;		/* forked by one without rseq: libc's area lies */
	bool locking;		/* a guarded child gave up system calls: we did not */
};

extern __thread struct thread runtime_self __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* thread.c */
void runtime_thread_init(void);
bool runtime_thread_ready(struct thread *thread);
uint64_t runtime_thread_identity(struct thread *thread);
int32_t runtime_thread_tid(void);
bool runtime_owner_dead(uint64_t owner);
uint32_t runtime_start_time(const char *stat_path, char *state);
void runtime_fork_child(void);
void runtime_thread_renamed(void);
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
/* The same by those who may wait for others to build theirs. */
struct view *runtime_view_settle(void);
/* Makes this process know event `id`; gives the buffers that want it. Under runtime_registration_lock(). */
uint64_t runtime_view_know(uint32_t id);

/* choose.c */
/* The choosy buffers, of this view, that take events of this thread. */
uint64_t runtime_chosen(const struct view *view, struct thread *thread);
/* In the child of a fork: who its parent was, and which thread of that forked it. */
void runtime_family_grow(int32_t parent, int32_t forker);

/* attach.c */
void runtime_start(void);
int runtime_attach(const char *path);
/* Address of `size` bytes at `offset` of the rings file, NULL when they cannot be had. */
void *runtime_rings_reach(uint64_t offset, uint64_t size);
void runtime_detach(void);
/* Gives a part of a mapped file its memory, so that a full file system is an error here and not a SIGBUS later. */
bool runtime_back(const void *start, uint64_t size);
/* Whether we may take that much of a resource: a program that has to make do with little keeps three quarters of it. */
bool runtime_affordable(int resource, uint64_t size);
bool runtime_owns(const void *address);

/* registry.c: names of a known event, for matching rules */
bool runtime_event_names(uint32_t id, char system[REGISTRY_NAME_MAX + 1], char name[REGISTRY_NAME_MAX + 1],
			 uint32_t *related);

/* guard.c */
void runtime_guard_init(void);

#endif
