/*
 * runtime/write: from a record to every buffer that wants it. The hot path of the whole system.
 *
 * Any thread, any signal handler. The view gives rings and generation; ring_write() commits or says why not. What cannot go
 * through a section goes to an overflow ring; what finds no way at all is counted on the CPU's ring.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

/* How often an event may find its view stale, or no place to build a new one. */
#define VIEW_TRIES 1000
/* How often it may find every overflow slot taken. */
#define WAY_TRIES 30

static_assert(RUNTIME_RECORD_MAX <= RING_PAYLOAD_MAX, "a record of any size fits into any page");

/* One for all programs of the directory, as the kernel has one: where the words lie that no generation frees. */
static uint64_t next_count(void)
{
	struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));

	return rings ? __atomic_add_fetch(&rings->counter, 1, __ATOMIC_RELAXED) : 0;
}

/* Ticks of the kernel, which tells how long one takes: the grain of its coarse clock. */
static uint64_t ticks(const struct timespec *now)
{
	struct timespec grain;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &grain) || grain.tv_sec || grain.tv_nsec <= 0)
		return 0;
	return ((uint64_t)now->tv_sec * 1000000000u + (uint64_t)now->tv_nsec) / (uint64_t)grain.tv_nsec;
}

static uint64_t read_clock(uint32_t id)
{
	static const clockid_t clocks[] = {
		[TRACE_CLOCK_LOCAL] = CLOCK_MONOTONIC,	 [TRACE_CLOCK_GLOBAL] = CLOCK_MONOTONIC,
		[TRACE_CLOCK_UPTIME] = CLOCK_MONOTONIC_COARSE,
		[TRACE_CLOCK_MONO] = CLOCK_MONOTONIC,	 [TRACE_CLOCK_MONO_RAW] = CLOCK_MONOTONIC_RAW,
		[TRACE_CLOCK_BOOT] = CLOCK_BOOTTIME,	 [TRACE_CLOCK_TAI] = CLOCK_TAI,
		[TRACE_CLOCK_X86_TSC] = CLOCK_MONOTONIC,
	};
	struct timespec now;

	if (id == TRACE_CLOCK_COUNTER)
		return next_count();
	if (LOAD(runtime.timeless)) {
		/* Coarse, but readable. Where there is nothing of the kind, time stands still. */
		if (id >= sizeof(clocks) / sizeof(clocks[0]) || clocks[id] != CLOCK_MONOTONIC ||
		    id == TRACE_CLOCK_X86_TSC)
			return 0;
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		return id == TRACE_CLOCK_UPTIME ? ticks(&now)
						: (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	clock_gettime(id < sizeof(clocks) / sizeof(clocks[0]) ? clocks[id] : CLOCK_MONOTONIC, &now);
	if (id == TRACE_CLOCK_UPTIME)
		return ticks(&now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* (a * mult) >> 32 for a signed a, without 128-bit arithmetic. */
static uint64_t scale(uint64_t a, uint64_t mult)
{
	uint64_t low = a & UINT32_MAX, high = (uint64_t)((int64_t)a >> 32);

	return high * mult + low * (mult >> 32) + (low * (mult & UINT32_MAX) >> 32);
}

uint64_t runtime_buffer_time(const struct view_buffer *buffer, const struct ring_ref *ref)
{
	if (!buffer->by_counter)
		return read_clock(buffer->clock);
	return ref->ns0 + scale(section_counter() - ref->counter0, ref->mult);
}

/* A set that somebody stores into outside of a section, kept from being freed meanwhile. */
struct keeper {
	struct overflow_slot *slot;
	uint64_t before;	/* signals: a handler that never returns here would keep it for good */
};

/* False: the set is gone, or nobody can say. Partner: reclaiming publishes first and looks at the slots then. */
static bool keep(struct keeper *keeper, uint64_t generation)
{
	struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));
	struct thread *thread = &runtime_self;
	int i;

	if (!rings)
		return false;
	runtime_signals_hold(&keeper->before);
	i = ring_overflow_take(rings->slot + runtime.ncpu, RING_KEEPERS, (uint32_t)thread->real_tid % RING_KEEPERS,
			       runtime_thread_identity(thread), runtime_owner_dead);
	if (i >= 0) {
		keeper->slot = &rings->slot[runtime.ncpu + (uint32_t)i];
		if (!runtime_gone(generation))
			return true;
		ring_overflow_release(keeper->slot);
	}
	runtime_signals_restore(&keeper->before);
	return false;
}

static void let_go(struct keeper *keeper)
{
	ring_overflow_release(keeper->slot);
	runtime_signals_restore(&keeper->before);
}

static unsigned char *ring_of(const struct ring_ref *ref)
{
	return (unsigned char *)ref->first - ring_head_size(runtime.ncpu);
}

/* Whether the CPU's ring, or the overflow ring that the event went to, has as many pages as a reader of that CPU's stream waits
 * for. The words are only compared: whose they are by now does not matter. */
static bool is_filled(const struct view_buffer *buffer, const struct ring_op *op, uint32_t waiters)
{
	const struct ring_ref *ref = &buffer->refs[op->cpu];
	const struct ring_head *head = (const void *)ring_of(ref);
	const struct ring_stream *streams;

	if (ring_wait_over(waiters, LOAD(head->consumed), LOAD(head->tail), ref->npages))
		return true;
	if (op->ring >= 2 * runtime.ncpu)
		return false;
	ref = &buffer->refs[op->ring];
	head = (const void *)ring_of(ref);
	streams = (const void *)((const char *)head + RING_STREAMS_OFFSET);
	return ring_wait_over(waiters, LOAD(streams[op->cpu].consumed), LOAD(head->tail), ref->npages);
}

/* A reader sleeps: it set `waiters`, had membarrier order that with our commit, and looked once more. */
static __attribute__((noinline)) void wake(const struct view_buffer *buffer, struct ring_head *head, uint64_t generation,
					   const struct ring_op *switched)
{
	uint32_t waiters = LOAD(head->waiters), *wakes = buffer->wakes;
	int saved = errno;
	struct keeper keeper;

	if (!(waiters & RING_WAIT_EVENT) && !(waiters & RING_WAIT_PAGE && switched && is_filled(buffer, switched, waiters)))
		return;
	if (!keep(&keeper, generation))
		goto out;
	STORE(head->waiters, 0);
	__atomic_fetch_add(wakes, 1, __ATOMIC_RELEASE);
	let_go(&keeper);
	/* Only an address: what lies there by now does not matter. */
	if (!LOAD(runtime.locked))
		syscall(SYS_futex, wakes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
out:
	errno = saved;
}

/* Until release_view() the view stays, unless its generation is gone by now. Signals wait: a handler might never return
 * here. Partner: is_free() in runtime/view.c. */
static void hold_view(struct thread *thread, struct view *view, uint64_t *before)
{
	runtime_signals_hold(before);
	__atomic_fetch_add(&view->holders, 1, __ATOMIC_SEQ_CST);
	thread->held = view;
}

static void release_view(struct thread *thread, struct view *view, const uint64_t *before)
{
	thread->held = NULL;
	__atomic_fetch_sub(&view->holders, 1, __ATOMIC_SEQ_CST);
	runtime_signals_restore(before);
}

static size_t ring_size(const struct ring_ref *ref, const unsigned char *ring)
{
	return (size_t)(ref->pages - ring) + ((size_t)ref->npages << ref->page_shift);
}

/* The first event on a CPU gives its ring memory, so that a full file system is an error here and not a SIGBUS later. For
 * the owner of a slot. */
static bool make_ring(struct ring_ref *ref, unsigned char *ring, uint64_t generation)
{
	struct ring_head *head = (struct ring_head *)(void *)ring;

	if (!LOAD_ACQUIRE(head->made)) {
		if (!runtime_back(ring, ring_size(ref, ring)) || runtime_gone(generation))
			return false;
		STORE_RELEASE(head->made, 1);
	}
	STORE_RELEASE(ref->head, head);
	return true;
}

static void refuse(const struct view_buffer *buffer, uint32_t cpu, uint64_t generation)
{
	const struct ring_ref *ref = &buffer->refs[cpu < runtime.ncpu ? cpu : 0];
	struct ring_head *head = (struct ring_head *)(void *)ring_of(ref);
	struct keeper keeper;

	if (keep(&keeper, generation)) {
		__atomic_fetch_add(&head->refused, 1, __ATOMIC_RELAXED);
		let_go(&keeper);
	} else {
		__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
	}
}

uint32_t runtime_current_cpu(void)
{
	unsigned cpu = 0;

#if !defined(__x86_64__)
	/* There are no system calls any more, and the vDSO does not tell, or libc does not ask it. */
	if (LOAD(runtime.locked)) {
		cpu = runtime_self.rs ? LOAD(runtime_self.rs->cpu_id) : 0;
		return cpu < runtime.ncpu ? cpu : 0;
	}
#endif
	/* The vDSO's answer: in a vfork child libc's rseq area speaks of the parent. */
	if (getcpu(&cpu, NULL) || cpu >= runtime.ncpu)
		return 0;
	return cpu;
}

/* Is nothing wanted from that CPU? Like what is dropped it needs no other way, but it is no loss. */
static bool is_off(const struct view_buffer *buffer, uint32_t cpu)
{
	return cpu < runtime.ncpu && buffer->refs[cpu].flags & RING_REF_OFF;
}

static enum ring_result overflow_owned(const struct view *view, uint32_t b, struct ring_op *op, uint32_t cpu, int slot)
{
	const struct view_buffer *buffer = &view->buffer[b];
	struct ring_ref *ref = &buffer->refs[runtime.ncpu + (uint32_t)slot];

	/* The slot is ours, so the set of this generation will not be freed before we let go. */
	if (__atomic_load_n(op->published, __ATOMIC_SEQ_CST) != op->generation)
		return RING_STALE;
	if (!LOAD_ACQUIRE(ref->head) && !make_ring(ref, ring_of(ref), op->generation))
		return runtime_gone(op->generation) ? RING_STALE : RING_NOWHERE;
	op->ts = runtime_buffer_time(buffer, ref);
	return ring_twin_write(ref, op, cpu);
}

static bool nobody_dead(uint64_t owner)
{
	(void)owner;
	return false;
}

/* RING_AGAIN: others have all the slots. Signals are held off: a handler that never returns here (longjmp) would keep the
 * slot for good. */
static enum ring_result overflow(struct thread *thread, struct view *view, uint32_t b, struct ring_op *op,
				 bool (*dead)(uint64_t owner))
{
	struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));
	uint32_t cpu = runtime_current_cpu();
	enum ring_result result = RING_AGAIN;
	uint64_t before;
	int slot;

	op->cpu = cpu;
	if (!rings)
		return RING_NOWHERE;
	if (is_off(&view->buffer[b], cpu))
		return RING_DROPPED;
	hold_view(thread, view, &before);
	slot = ring_overflow_take(rings->slot, runtime.ncpu, cpu, runtime_thread_identity(thread), dead);
	if (slot >= 0) {
		op->ring = runtime.ncpu + (uint32_t)slot;
		result = overflow_owned(view, b, op, cpu, slot);
		ring_overflow_release(&rings->slot[slot]);
	}
	release_view(thread, view, &before);
	op->cpu = cpu;
	return result;
}

/* Whether the CPU has a ring to write to: it may be that it only has no memory yet. */
static bool find_ring(struct thread *thread, struct view *view, uint32_t b, const struct ring_op *op)
{
	const struct view_buffer *buffer = &view->buffer[b];
	uint32_t cpu = LOAD(thread->rs->cpu_id);
	struct ring_ref *ref = &buffer->refs[cpu < runtime.ncpu ? cpu : 0];
	struct keeper keeper;
	unsigned char *ring;
	uint64_t before;
	size_t size;
	bool made;

	if (cpu >= runtime.ncpu)
		return false;
	if (LOAD_ACQUIRE(ref->head))
		return true;
	hold_view(thread, view, &before);
	made = !runtime_gone(op->generation);
	ring = ring_of(ref);
	size = ring_size(ref, ring);
	release_view(thread, view, &before);
	/* First of all with signals on: a large ring takes its time, and whoever frees sets waits for none. */
	if (!made || !runtime_back(ring, size))
		return false;
	made = false;
	hold_view(thread, view, &before);
	if (keep(&keeper, op->generation)) {
		made = make_ring(ref, ring_of(ref), op->generation);
		let_go(&keeper);
	}
	release_view(thread, view, &before);
	return made;
}

static bool settled(enum ring_result result)
{
	return result == RING_DONE || result == RING_DROPPED || result == RING_STALE;
}

/*
 * What to do when a section did not end in a commit. RING_STALE: try again with a new view. Giving a large ring its memory
 * takes long enough to be moved to the next CPU that has none, and for others to hold every overflow slot meanwhile; that
 * passes, so that we go round a few times. A lack of memory does not pass.
 */
static __attribute__((noinline)) enum ring_result other_way(struct thread *thread, struct view *view, uint32_t b,
							    struct ring_op *op, enum ring_result result)
{
	bool (*dead)(uint64_t owner) = runtime_owner_dead;
	int saved = errno;

	for (int tries = 0;; tries++) {
		if (result == RING_NOWHERE && !thread->guard && is_off(&view->buffer[b], LOAD(thread->rs->cpu_id))) {
			result = runtime_gone(op->generation) ? RING_STALE : RING_DROPPED;
			break;
		}
		if (result == RING_NOWHERE && !thread->guard && find_ring(thread, view, b, op))
			result = ring_write(thread->rs, op);
		if (!settled(result))
			result = runtime_gone(op->generation) ? RING_STALE : overflow(thread, view, b, op, dead);
		if (result != RING_AGAIN || tries == WAY_TRIES)
			break;
		if (!LOAD(runtime.locked))
			sched_yield();
		result = thread->guard ? RING_NOWHERE : ring_write(thread->rs, op);
		/* Who lives takes a look into /proc for each slot to find out: once. */
		dead = nobody_dead;
	}
	if (!settled(result))
		refuse(&view->buffer[b], op->cpu, op->generation);
	errno = saved;
	return result;
}

enum ring_result runtime_write_buffer(struct thread *thread, struct view *view, uint64_t generation, uint32_t b,
				      const void *record, size_t len, uint64_t *ts)
{
	const struct view_buffer *buffer = &view->buffer[b];
	struct ring_op op;
	enum ring_result result = RING_NOWHERE;

	op.refs = buffer->refs;
	op.published = &runtime.control->published;
	op.generation = generation;
	op.ncpu = runtime.ncpu;
	op.result = RING_DONE;
	op.ring = UINT32_MAX;
	op.ts = __builtin_expect(buffer->by_counter, 1) ? 0 : read_clock(buffer->clock);
	ring_op_payload(&op, record, (uint32_t)len);
	if (__builtin_expect(!thread->guard, 1))
		result = ring_write(thread->rs, &op);
	if (__builtin_expect(result != RING_DONE, 0))
		result = other_way(thread, view, b, &op, result);
	if (result == RING_DONE) {
		struct ring_head *head = (struct ring_head *)(void *)ring_of(&buffer->refs[op.cpu]);

		bool switched = op.result == RING_SWITCHED;

		if (__builtin_expect(LOAD(head->waiters) & (switched ? UINT32_MAX : RING_WAIT_EVENT), 0))
			wake(buffer, head, generation, switched ? &op : NULL);
		if (ts)
			*ts = op.ts;
	}
	return result;
}

/* The buffers that want this thread's event, of those that have not got it. */
static uint64_t wanted(const struct view *view, struct thread *thread, uint32_t id, uint64_t done)
{
	uint64_t mask = LOAD(view->mask[id]) & ~done;

	if (mask & VIEW_SPECIAL)
		mask &= ~VIEW_SPECIAL & ~runtime_view_off(view) & (~view->choosy | runtime_chosen(view, thread));
	return mask;
}

/* Counts an event as lost in the buffers that have not got it. */
static void lose(const struct view *view, uint32_t id, uint64_t done)
{
	uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0;
	uint64_t mask = view ? wanted(view, &runtime_self, id, done) : 0;

	if (!view)
		__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
	for (; mask; mask &= mask - 1)
		refuse(&view->buffer[__builtin_ctzll(mask)], runtime_current_cpu(), generation);
}

/* Every buffer that has not got the event yet, under one view; false when that went stale on the way. */
static bool write_all(struct thread *thread, struct view *view, struct writing *writing)
{
	uint64_t generation = LOAD_ACQUIRE(view->published);
	uint64_t mask;

	if (LOAD_ACQUIRE(view->mask[writing->id]) & VIEW_SPECIAL && !runtime_write_hooked(thread, view, generation, writing))
		return false;
	mask = wanted(view, thread, writing->id, writing->done);
	/* What a section would find out: that another state was built in this place while we looked. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!mask && runtime_gone(generation))
		return false;
	for (; mask; mask &= mask - 1) {
		uint32_t b = (uint32_t)__builtin_ctzll(mask);
		enum ring_result result = runtime_write_buffer(thread, view, generation, b, writing->record, writing->len, NULL);

		if (result == RING_STALE)
			return false;
		writing->done |= 1ull << b;
		if (result == RING_DONE && LOAD(view->buffer[b].flags) & BUFFER_STACKTRACE)
			runtime_write_stack(thread, view, generation, b, writing->tid ? writing->tid : thread->tid);
	}
	if (view->unreachable && runtime_view_unreachable(view, writing->id))
		__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
	return true;
}

/* Everything but an event of a ready thread, under the current view, in one buffer alone. */
__attribute__((noinline)) void runtime_write_slowly(struct writing *writing)
{
	struct thread *thread = &runtime_self;
	struct record_head *head = writing->record;
	int saved = errno;

	if (!LOAD(runtime.attached))
		return;
	if (LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	runtime_thread_ready(thread);
	*head = (struct record_head){
		.type = (uint16_t)writing->id,
		.pid = writing->tid ? writing->tid : thread->guard ? runtime_thread_tid() : thread->tid,
	};
	for (int tries = 0; tries < VIEW_TRIES; tries++) {
		struct view *view = runtime_view_refresh();

		if (view && write_all(thread, view, writing))
			goto out;
		/* Others are building views, or the tool publishes faster than we look. */
		if (!LOAD(runtime.locked))
			sched_yield();
	}
	lose(LOAD_ACQUIRE(wiped.view), writing->id, writing->done);
out:
	errno = saved;
}

int runtime_write_to(uint32_t b, uint64_t born, uint32_t id, void *record, size_t len, int32_t tid)
{
	struct writing writing = { .id = id, .record = record, .len = (uint32_t)len, .tid = tid };
	struct thread *thread = &runtime_self;
	struct record_head *head = record;

	if (!LOAD(runtime.attached))
		return -ENOTCONN;
	if (LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	runtime_thread_ready(thread);
	*head = (struct record_head){ .type = (uint16_t)id, .pid = tid ? tid : thread->tid };
	for (int tries = 0; tries < VIEW_TRIES; tries++) {
		struct view *view = runtime_view_refresh();
		enum ring_result result = RING_STALE;

		if (view && (b >= view->nbuffers || view->buffer[b].born != born))
			return -ENODEV;
		if (view && !(view->usable & 1ull << b))
			return view->unreachable & 1ull << b ? -ENOMEM : -EBADF;
		if (view)
			result = runtime_write_hooked_to(thread, view, LOAD_ACQUIRE(view->published), b, &writing);
		if (result != RING_STALE)
			return result == RING_DONE ? 0 : -EBADF;
		sched_yield();
	}
	return -EBUSY;
}

/* Wanted by one buffer, of everybody, and by none that cannot have it. */
static bool is_single(const struct view *view, uint64_t mask)
{
	return mask && !(mask & (mask - 1)) && mask != VIEW_SPECIAL && !view->unreachable;
}

/* An event of a ready thread in one instance. False: the view went stale. */
static __attribute__((noinline)) bool write_single(struct thread *thread, struct view *view, uint64_t generation,
						   uint64_t mask, uint32_t id, void *record, size_t len)
{
	*(struct record_head *)record = (struct record_head){ .type = (uint16_t)id, .pid = thread->tid };
	return runtime_write_buffer(thread, view, generation, (uint32_t)__builtin_ctzll(mask), record, len, NULL) != RING_STALE;
}

/* An event of a ready thread, on its way to the top buffer. In memory, since the section takes all the registers that a function
 * may use as it likes: whoever keeps it there has none to save. */
struct first {
	struct view *view;
	uint64_t generation;
	void *record;
	size_t len;
	uint32_t id;
};

static __attribute__((noinline)) void wake_first(const struct first *first, struct ring_head *ring)
{
	wake(&first->view->buffer[0], ring, first->generation, NULL);
}

/* What nearly every event comes to. False: nothing was done. */
static inline __attribute__((always_inline)) bool write_fast(const struct first *first)
{
#ifdef SECTION_FAST
	const struct view *view = first->view;
	struct ring_head *ring;

	if (__builtin_expect(!view->fast || first->len > EVENT_LEN_MAX_SHORT, 0) ||
	    __builtin_expect(section_fast(runtime_self.rs, view->fast, view->ncpu, view->published_at, first->generation,
					  first->record, first->len, &ring) != RING_DONE, 0))
		return false;
	/* No page was entered. */
	if (__builtin_expect(LOAD(ring->waiters) & RING_WAIT_EVENT, 0))
		wake_first(first, ring);
	return true;
#else
	(void)wake_first;
	(void)first;
	return false;
#endif
}

static __attribute__((noinline)) void write_first(const struct first *first)
{
	struct writing writing = { .id = first->id, .record = first->record, .len = (uint32_t)first->len };

	if (!runtime_self.tid || runtime_write_buffer(&runtime_self, first->view, first->generation, 0, first->record, first->len,
						      NULL) == RING_STALE)
		runtime_write_slowly(&writing);
}

/* One with nothing but a filter or a tally in one buffer. False: the view went stale before anything was done. */
static bool write_simple(void *record, size_t len, struct view *view, uint64_t generation, uint64_t mask,
			 enum hook_verdict verdict, const struct hook_tally *tally)
{
	struct thread *thread = &runtime_self;
	uint32_t b = mask ? (uint32_t)__builtin_ctzll(mask) : 0, cpu;
	struct hist_tables tables = view->host.tables;
	struct first first = { view, generation, record, len, 0 };

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (LOAD(*view->published_at) != generation)
		return false;
	if (mask && verdict == HOOK_VERDICT_PASS && (b || !write_fast(&first)) &&
	    runtime_write_buffer(thread, view, generation, b, record, len, NULL) == RING_STALE)
		return false;
	if (!tally->shape.parts)
		return true;
	cpu = LOAD(thread->rs->cpu_id);
	/* Its own words and table, whatever is built in the view's place by now. */
	hook_count(tally, &tables, runtime_words(), cpu < runtime.ncpu ? cpu : 0, record, (uint32_t)len);
	return true;
}

/*
 * An event of a ready thread that not just one buffer wants and that is all: with a filter, triggers, several buffers, some
 * that choose.
 */
static __attribute__((noinline)) void write_special(uint32_t id, void *record, size_t len, struct view *view,
						    uint64_t generation, uint64_t mask)
{
	struct thread *thread = &runtime_self;
	enum hook_verdict verdict = HOOK_VERDICT_NONE;
	struct hook_tally tally;
	struct writing writing;
	int saved;

	*(struct record_head *)record = (struct record_head){ .type = (uint16_t)id, .pid = thread->tid };
	if (mask & VIEW_SPECIAL)
		verdict = runtime_judge(view, id, record, len, &tally);
	if (verdict != HOOK_VERDICT_NONE &&
	    write_simple(record, len, view, generation, mask & ~VIEW_SPECIAL, verdict, &tally))
		return;
	if (is_single(view, mask) && write_single(thread, view, generation, mask, id, record, len))
		return;
	writing = (struct writing){ .id = id, .record = record, .len = (uint32_t)len };
	saved = errno;
	/* Where triggers swap sets, this view may have the one before: that is looked at on the slow way. */
	if (!mask || mask & view->switched || !write_all(thread, view, &writing))
		runtime_write_slowly(&writing);
	errno = saved;
}

/*
 * The parts of runtime_write(), which jumps to them: as long as it calls nobody it makes no frame, so that an event that a filter
 * rejects takes next to nothing. By theirs stacks tell where the runtime begins (stack.c): no jumps from them.
 */
#define NO_JUMP __asm__ volatile("")

void runtime_write_unready(uint32_t id, void *record, size_t len)
{
	struct writing writing = { .id = id, .record = record, .len = (uint32_t)len };

	runtime_write_slowly(&writing);
	NO_JUMP;
}

/* The top buffer wants it, of everybody. */
static inline __attribute__((always_inline)) void write_top(uint32_t id, void *record, size_t len, struct view *view,
							    uint64_t generation)
{
	const int32_t tid = runtime_self.tid;
	const uint64_t common = (uint64_t)(uint32_t)tid << 32 | id;
	const struct first first = { view, generation, record, len, id };

	__builtin_memcpy(record, &common, sizeof(common));
	if (__builtin_expect(!tid, 0) || !write_fast(&first))
		write_first(&first);
	NO_JUMP;
}

/* No filter rejects it out of hand. */
void runtime_write_passed(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation)
{
	if (__builtin_expect(runtime_self.tid, 1))
		write_special(id, record, len, view, generation, LOAD(view->mask[id]));
	else
		runtime_write_unready(id, record, len);
	NO_JUMP;
}

/* A rejection holds if the view was in force all the while. */
static inline bool is_current(const struct view *view, uint64_t generation)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return LOAD(*view->published_at) == generation;
}

/* No filter, or one that looks at another number than one of four bytes, or at nothing that can be told so soon. */
void runtime_write_looked(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation,
			  const struct program_quick *quick)
{
	if (!(LOAD(view->hooks[id]) & VIEW_SIMPLE) || !program_quick_look(quick, record, (uint32_t)len) ||
	    !is_current(view, generation))
		runtime_write_passed(id, record, len, view, generation);
}

/* A filter looks at a text, mostly. */
void runtime_write_other(uint32_t id, void *record, size_t len, struct view *view, uint64_t generation)
{
	const struct program_quick *quick;
	uint32_t word;

	/* Partner: the store of the mask behind the hooks. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	word = LOAD_ACQUIRE(view->hooks[id]);
	quick = view_quick(view, word);
	if (__builtin_expect(!(word & VIEW_SIMPLE) || LOAD(quick->kind) != PROGRAM_QUICK_TEXT, 0))
		runtime_write_looked(id, record, len, view, generation, quick);
	else if (__builtin_expect(!program_quick_text(quick, record, (uint32_t)len), 0) ||
		 __builtin_expect(!is_current(view, generation), 0))
		runtime_write_passed(id, record, len, view, generation);
}

/* Within two lines as far as a filter's no. */
__attribute__((aligned(64))) void runtime_write(uint32_t id, void *record, size_t len)
{
	struct view *view = LOAD_ACQUIRE(wiped.view);
	const struct program_quick *quick;
	uint64_t generation;
	uint32_t word;

	if (__builtin_expect(!view, 0)) {
		runtime_write_unready(id, record, len);
		return;
	}
	/* The generation first: if the view's place was used again since, no section will find this one in force. */
	generation = LOAD_ACQUIRE(view->published);
	word = LOAD_ACQUIRE(view->hooks[id]);
	quick = view_quick(view, word);
	if (__builtin_expect(word & VIEW_FOUR, 1)) {
		if (__builtin_expect(!program_quick_four(quick, record, (uint32_t)len), 0) ||
		    __builtin_expect(!is_current(view, generation), 0))
			runtime_write_passed(id, record, len, view, generation);
	} else if (__builtin_expect(LOAD(view->mask[id]) == 1, 1)) {
		write_top(id, record, len, view, generation);
	} else {
		runtime_write_other(id, record, len, view, generation);
	}
}

void runtime_lose(uint32_t id)
{
	if (LOAD(runtime.attached))
		lose(runtime_view_refresh(), id, 0);
}
