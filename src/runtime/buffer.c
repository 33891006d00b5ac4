/*
 * runtime/buffer: one record into one buffer, by whichever way there is.
 *
 * ring_write() commits or says why not. What cannot go through a section goes to an overflow ring; what finds no way at all is
 * counted on the CPU's ring. Readers that sleep are woken.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

/* Not all libraries have the name. */
static int where(unsigned int *cpu)
{
#ifdef __GLIBC__
	return getcpu(cpu, NULL);
#else
	int now = sched_getcpu();

	*cpu = (unsigned int)now;
	return now < 0;
#endif
}

/* How often an event may find every overflow slot taken. */
#define WAY_TRIES 30

static_assert(RUNTIME_RECORD_MAX <= RING_PAYLOAD_MAX, "a record of any size fits into any page");

/* Partner: reclaiming publishes first and looks at the slots then. */
bool runtime_keep(struct keeper *keeper, uint64_t generation)
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

void runtime_let_go(struct keeper *keeper)
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
void runtime_wake(const struct view_buffer *buffer, struct ring_head *head, uint64_t generation, const struct ring_op *switched)
{
	uint32_t waiters = LOAD(head->waiters), *wakes = buffer->wakes;
	int saved = errno;
	struct keeper keeper;
	uintptr_t own;

	if (!(waiters & RING_WAIT_EVENT) && !(waiters & RING_WAIT_PAGE && switched && is_filled(buffer, switched, waiters)))
		return;
	own = runtime_own_begin();
	if (!runtime_keep(&keeper, generation))
		goto out;
	STORE(head->waiters, 0);
	__atomic_fetch_add(wakes, 1, __ATOMIC_RELEASE);
	runtime_let_go(&keeper);
	/* Only an address: what lies there by now does not matter. */
	if (!LOAD(runtime.locked))
		syscall(SYS_futex, wakes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
out:
	runtime_own_end(own);
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

const struct ring_head *runtime_ring_head(const struct view_buffer *buffer, uint32_t cpu)
{
	return (const void *)ring_of(&buffer->refs[cpu]);
}

void runtime_refuse(const struct view_buffer *buffer, uint32_t cpu, uint64_t generation, uint64_t n)
{
	const struct ring_ref *ref = &buffer->refs[cpu < runtime.ncpu ? cpu : 0];
	struct ring_head *head = (struct ring_head *)(void *)ring_of(ref);
	struct keeper keeper;

	if (runtime_keep(&keeper, generation)) {
		__atomic_fetch_add(&head->refused, n, __ATOMIC_RELAXED);
		runtime_let_go(&keeper);
	} else {
		__atomic_fetch_add(&runtime.registry->refused, n, __ATOMIC_RELAXED);
	}
}

uint32_t runtime_current_cpu(void)
{
	unsigned cpu = 0;

	if (runtime_self.told)
		return runtime_self.told->cpu;
#if !defined(__x86_64__)
	/* There are no system calls any more, and the vDSO does not tell, or libc does not ask it. */
	if (LOAD(runtime.locked)) {
		cpu = runtime_self.rs ? LOAD(runtime_self.rs->cpu_id) : 0;
		return cpu < runtime.ncpu ? cpu : 0;
	}
#endif
	/* The vDSO's answer: in a vfork child libc's rseq area speaks of the parent. */
	if (where(&cpu) || cpu >= runtime.ncpu)
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

/* A set is told to from when readers were told so: what they have handed out before stays the last. */
static bool is_told_to(const struct view_buffer *buffer)
{
	const struct rings_head *rings = runtime_rings_reach(0, rings_data_offset(runtime.ncpu));
	const struct set_head *set = (const void *)((const char *)buffer->wakes - offsetof(struct set_head, wakes));

	return rings && LOAD(set->told) && (int64_t)(LOAD(rings->told_mono) - LOAD(set->told_mono)) < (int64_t)TOLD_BEHIND_NS;
}

/* What is told late goes to a ring for that, of the CPU that it was on, with the time that it had. */
static enum ring_result tell(struct thread *thread, struct view *view, uint32_t b, struct ring_op *op)
{
	const struct view_buffer *buffer = &view->buffer[b];
	enum ring_result result = RING_STALE;
	struct keeper keeper;
	struct ring_ref ref;
	unsigned char *ring;
	uint64_t before;

	op->cpu = thread->told->cpu;
	if (is_off(buffer, op->cpu) || !is_told_to(buffer))
		return runtime_gone(op->generation) ? RING_STALE : RING_DROPPED;
	hold_view(thread, view, &before);
	if (runtime_keep(&keeper, op->generation)) {
		/* Rings are equally far from one another, and there are at least two. */
		const size_t stride = (size_t)(ring_of(&buffer->refs[1]) - ring_of(&buffer->refs[0]));

		ring = ring_of(&buffer->refs[runtime.ncpu]) + (runtime.ncpu + op->cpu) * stride;
		ref = buffer->refs[runtime.ncpu];
		ref.pages = ring + (ref.pages - ring_of(&buffer->refs[runtime.ncpu]));
		ref.first = (uint64_t *)(void *)(ring + ring_head_size(runtime.ncpu));
		ref.head = NULL;
		/* One stream reads it. */
		op->ncpu = 1;
		op->ts = runtime_buffer_time(buffer, &ref);
		result = make_ring(&ref, ring, op->generation) ? ring_twin_write(&ref, op, op->cpu) :
			 runtime_gone(op->generation) ? RING_STALE : RING_NOWHERE;
		runtime_let_go(&keeper);
	}
	release_view(thread, view, &before);
	return result;
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
	if (thread->told)
		return tell(thread, view, b, op);
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
	if (runtime_keep(&keeper, op->generation)) {
		made = make_ring(ref, ring_of(ref), op->generation);
		runtime_let_go(&keeper);
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
		runtime_refuse(&view->buffer[b], op->cpu, op->generation, 1);
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
	op.ts = __builtin_expect(buffer->by_counter, 1) ? 0 : runtime_clock(buffer->clock);
	ring_op_payload(&op, record, (uint32_t)len);
	if (__builtin_expect(!thread->guard, 1))
		result = ring_write(thread->rs, &op);
	if (__builtin_expect(result != RING_DONE, 0))
		result = other_way(thread, view, b, &op, result);
	if (result == RING_DONE) {
		struct ring_head *head = (struct ring_head *)(void *)ring_of(&buffer->refs[op.cpu]);
		bool switched = op.result == RING_SWITCHED;

		if (__builtin_expect(LOAD(head->waiters) & (switched ? UINT32_MAX : RING_WAIT_EVENT), 0))
			runtime_wake(buffer, head, generation, switched ? &op : NULL);
		if (ts)
			*ts = op.ts;
	}
	return result;
}
