/*
 * func/put: see put.h. What a section alone cannot do: a page that is full, another CPU, records of any length, readers that wait.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "ring/write.h"

#include "func/put.h"

static const uint32_t lengths[] = {
	[EVENT_ID_FUNCTION] = sizeof(struct record_function),
	[EVENT_ID_GRAPH_ENTRY] = RECORD_GRAPH_ENTRY_SIZE,
	[EVENT_ID_GRAPH_EXIT] = sizeof(struct record_graph_exit),
};

struct wake {
	struct ring_head *ring;
	uint64_t generation;
	const struct ring_op *switched;
};

static void wake_aside(void *arg)
{
	const struct wake *wake = arg;
	const struct view *view = LOAD_ACQUIRE(wiped.view);

	/* Under another state by now: who reads looks by himself soon. */
	if (view && LOAD_ACQUIRE(view->published) == wake->generation && view->func_only)
		runtime_wake(&view->buffer[__builtin_ctzll(view->func_only)], wake->ring, wake->generation, wake->switched);
}

void func_put_wake(struct ring_head *ring, uint64_t generation, const struct ring_op *switched)
{
	struct wake wake = { ring, generation, switched };

	func_aside(wake_aside, &wake);
}

uint64_t func_time(const struct view *view)
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

/* The page is full, or the first record is late. */
static bool put_whole(const struct func_put *put, uint32_t id, uint32_t len, uint64_t *ts)
{
	const struct view *view = put->view;
	struct ring_op op;
	struct ring_head *head;

	op.refs = view->func_refs;
	op.published = view->published_at;
	op.generation = put->generation;
	op.ncpu = view->ncpu;
	op.ts = 0;
	op.result = RING_DONE;
	op.ring = UINT32_MAX;
	if (id == EVENT_ID_GRAPH_EXIT)
		((struct record_graph_exit *)put->record)->rettime = func_time(view);
	ring_op_payload(&op, put->record, len);
	if (ring_write(runtime_self.rs, &op) != RING_DONE)
		return false;
	*ts = op.ts;
	head = view->func_refs[op.cpu].head;
	if (head && LOAD(head->waiters))
		func_put_wake(head, put->generation, op.result == RING_SWITCHED ? &op : NULL);
	return true;
}

bool func_put_near(const struct func_put *put, uint32_t id, enum ring_result result, uint64_t *ts)
{
	const struct view *view = put->view;
	const struct ring_near *near = &runtime_self.func_near;

	if (result != RING_WAITED) {
		if (section_near(runtime_self.rs, &runtime_self.func_near, view->func_refs, view->ncpu, view->published_at,
				 put->generation) != RING_DONE)
			return put_whole(put, id, lengths[id], ts);
		result = func_put_section(put, id, ts);
	}
	if (result == RING_WAITED)
		func_put_wake(near->head, near->generation, NULL);
	return result == RING_WAITED || result == RING_DONE || put_whole(put, id, lengths[id], ts);
}

bool func_put_long(const struct func_put *put, uint32_t id, uint32_t len, uint64_t *ts)
{
	return func_put_head(put->record, id) && put_whole(put, id, len, ts);
}

bool func_put_lone_near(const struct func_put *put, uint32_t len)
{
	const struct view *view = put->view;
	struct ring_near *near = &runtime_self.lone_near;
	struct ring_rseq *rs = runtime_self.rs;
	uint64_t ts;

	return section_near(rs, near, view->lone.refs, view->ncpu, view->published_at, put->generation) == RING_DONE &&
	       section_fast(rs, near, view->published_at, put->generation, put->record, len, &ts) == RING_DONE;
}

static void wake_lone_aside(void *arg)
{
	const uint64_t generation = *(const uint64_t *)arg;
	const struct view *view = LOAD_ACQUIRE(wiped.view);

	if (view && LOAD_ACQUIRE(view->published) == generation && view->lone.mask)
		runtime_wake(&view->buffer[__builtin_ctzll(view->lone.mask)], runtime_self.lone_near.head, generation, NULL);
}

void func_put_lone_wake(uint64_t generation)
{
	func_aside(wake_lone_aside, &generation);
}

void func_put_aside(struct func_event *event)
{
	if (event->mask && !func_aside(func_write_aside, event) && runtime.registry)
		__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
}

#endif

REGS_END
