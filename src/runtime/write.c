/*
 * runtime/write: from a record to every buffer that wants it. The hot path of the whole system.
 *
 * Any thread, any signal handler. The view tells who wants the event, and gives rings and generation; how it gets into one buffer
 * is told in buffer.c. Before that come the short ways, for what nearly every event is: one that a filter rejects, or that
 * the top buffer wants and nobody else.
 */
#include <errno.h>
#include <sched.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

/* How often an event may find its view stale, or no place to build a new one. */
#define VIEW_TRIES 1000

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
		runtime_refuse(&view->buffer[__builtin_ctzll(mask)], runtime_current_cpu(), generation, 1);
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
			runtime_write_stack(thread, view, generation, b, writing->tid ? writing->tid : thread->tid, 0);
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
	const uintptr_t own = runtime_own_begin();
	int saved = errno;

	if (!LOAD(runtime.attached))
		goto out;
	if (LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	runtime_thread_ready(thread);
	*head = (struct record_head){
		.type = (uint16_t)writing->id,
		.pid = writing->tid ? writing->tid : thread->told ? thread->told->tid : thread->guard ? runtime_thread_tid() : thread->tid,
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
	runtime_own_end(own);
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

#ifdef SECTION_FAST
static __attribute__((noinline)) void wake_first(const struct first *first, struct ring_head *ring)
{
	runtime_wake(&first->view->buffer[0], ring, first->generation, NULL);
}

/* Where this thread writes changed: a page was full, or it is on another CPU. */
static __attribute__((noinline)) bool write_near(const struct first *first)
{
	const struct view *view = first->view;
	uint64_t ts;

	return view->fast && first->len <= EVENT_LEN_MAX_SHORT &&
	       section_near(runtime_self.rs, &runtime_self.near, view->fast, view->ncpu, view->published_at,
			    first->generation) == RING_DONE &&
	       section_fast(runtime_self.rs, &runtime_self.near, view->published_at, first->generation, first->record,
			    first->len, &ts) == RING_DONE;
}
#endif

/* What nearly every event comes to. False: nothing was done. */
static inline __attribute__((always_inline)) bool write_fast(const struct first *first)
{
#ifdef SECTION_FAST
	const struct view *view = first->view;
	struct ring_head *ring;
	uint64_t ts;

	if (__builtin_expect(!view->fast || first->len > EVENT_LEN_MAX_SHORT, 0))
		return false;
	if (__builtin_expect(section_fast(runtime_self.rs, &runtime_self.near, view->published_at, first->generation,
					  first->record, first->len, &ts) != RING_DONE, 0) &&
	    !write_near(first))
		return false;
	/* No page was entered. */
	ring = runtime_self.near.head;
	if (__builtin_expect(LOAD(ring->waiters) & RING_WAIT_EVENT, 0))
		wake_first(first, ring);
	return true;
#else
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
