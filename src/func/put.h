/*
 * func/put: a record of a function into the one buffer that has a tracer. Hot; for files that begin with base/regs.h.
 */
#ifndef FUNC_PUT_H
#define FUNC_PUT_H

#include "ring/arch.h"

#include "func/local.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A record on its way. */
struct func_put {
	const struct view *view;
	uint64_t generation;	/* of the view, as it was looked at */
	void *record;
};

/* put.c: where the section alone does not do, by what came of it. False: nothing was written. */
bool func_put_near(const struct func_put *put, uint32_t id, enum ring_result result, uint64_t *ts) __attribute__((noinline));
bool func_put_long(const struct func_put *put, uint32_t id, uint32_t len, uint64_t *ts) __attribute__((noinline));
/* Another CPU, or another page; then a reader who waits for each record. */
bool func_put_lone_near(const struct func_put *put, uint32_t len) __attribute__((noinline));
void func_put_lone_wake(uint64_t generation) __attribute__((noinline));
/* The same for any number of buffers, whatever it takes. What cannot be had is counted. */
void func_put_aside(struct func_event *event) __attribute__((noinline));
/* A reader of that ring waits for each record. */
void func_put_wake(struct ring_head *ring, uint64_t generation, const struct ring_op *switched) __attribute__((noinline));
/* In nanoseconds, without a record. */
uint64_t func_time(const struct view *view);

/* The fields that all records begin with. False: the thread is not ready. */
static inline bool func_put_head(void *record, uint32_t id)
{
	const int32_t tid = runtime_self.tid;
	const uint64_t common = (uint64_t)(uint32_t)tid << 32 | id;

	__builtin_memcpy(record, &common, sizeof(common));
	return tid != 0;
}

/* By the section for records of that kind. */
static inline __attribute__((always_inline)) enum ring_result func_put_section(const struct func_put *put, uint32_t id, uint64_t *ts)
{
	struct ring_rseq *rs = runtime_self.rs;
	const struct ring_near *near = &runtime_self.func_near;
	const uint64_t *published = put->view->published_at;

	switch (id) {
	case EVENT_ID_FUNCTION:
		return section_fast24(rs, near, published, put->generation, put->record, 24, ts);
	case EVENT_ID_GRAPH_ENTRY:
		return section_fast20(rs, near, published, put->generation, put->record, 20, ts);
	default:
		return section_stamped48(rs, near, published, put->generation, put->record, 48, ts);
	}
}

/* If that can be had without more ado. */
static inline __attribute__((always_inline)) bool func_put(const struct func_put *put, uint32_t id, uint64_t *ts)
{
	enum ring_result result;

	if (UNLIKELY(!func_put_head(put->record, id)))
		return false;
	result = func_put_section(put, id, ts);
	return LIKELY(result == RING_DONE) || func_put_near(put, id, result, ts);
}

/* Into the one buffer that probes and system calls go to, if that is all. False: nothing was done. The view is in force. */
static inline __attribute__((always_inline)) bool func_put_lone(const struct func_put *put, uint32_t id, uint32_t len)
{
	const struct view *view = put->view;
	const struct chosen *chosen = &runtime_self.chosen;
	const struct ring_near *near = &runtime_self.lone_near;
	uint64_t ts;

	if (UNLIKELY(LOAD(view->mask[id]) != view->lone.mask || !func_put_head(put->record, id)))
		return false;
	if (UNLIKELY(view->lone.choosy)) {
		if (LOAD(view->hooks[id]) || chosen->in != put->generation)
			return false;
		if (!(chosen->buffers & view->lone.choosy))
			return true;
	}
	if (UNLIKELY(section_fast(runtime_self.rs, near, view->published_at, put->generation, put->record, len, &ts) != RING_DONE) &&
	    !func_put_lone_near(put, len))
		return false;
	if (UNLIKELY(LOAD(near->head->waiters) & RING_WAIT_EVENT))
		func_put_lone_wake(put->generation);
	return true;
}

static inline bool func_is_stale(const struct view *view, uint64_t generation)
{
	return LOAD(*view->published_at) != generation;
}

/* Does the one buffer take functions of this thread? */
static inline bool func_is_chosen(const struct view *view, uint64_t generation)
{
	const struct chosen *chosen = &runtime_self.func_chosen;

	if (LIKELY(!(view->func_choosy & view->func_only)))
		return true;
	if (UNLIKELY(chosen->in != generation))
		func_aside(func_choose_aside, NULL);
	return chosen->in == generation && chosen->buffers & view->func_only;
}

/* What the caller has put into the first registers, behind a record's own fields. How long it is then; 0: none are wanted. */
static inline uint32_t func_put_args(const struct func_site *site, const struct func_regs *regs, uint64_t args[RECORD_ARGS_MAX])
{
	const uint32_t n = (site->flags & FUNC_SITE_ARGS) / (FUNC_SITE_ARGS & -FUNC_SITE_ARGS);

	if (!n)
		return 0;
	func_regs_args(regs, args);
	return RECORD_ARGS_OFFSET + n * (uint32_t)sizeof(args[0]);
}

#endif
