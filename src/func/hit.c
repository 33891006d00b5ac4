/*
 * func/hit: a thread comes by an instruction that is probed. The hot path of probes.
 *
 * Any thread, any signal handler, in the middle of anything, with general registers only. A record that is nothing but copies of
 * registers, for one buffer alone, is made here; everything else goes aside.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "func/point.h"
#include "func/put.h"

struct func_point *func_points;

/* Exact, whoever else counts. */
static inline void count(const struct func_probe *probe)
{
	enum ring_result result = RING_NOWHERE;

	if (!probe->counts)
		return;
	if (LIKELY(runtime_self.tid)) {
		do
			result = section_count(runtime_self.rs, &probe->counts->hits, runtime.ncpu);
		while (UNLIKELY(result == RING_ABORTED));
	}
	if (UNLIKELY(result != RING_DONE))
		__atomic_fetch_add(&probe->counts[runtime.ncpu].hits, 1, __ATOMIC_RELAXED);
}

static void miss(const struct func_probe *probe)
{
	if (probe->counts)
		__atomic_fetch_add(&probe->counts[runtime.ncpu].missed, 1, __ATOMIC_RELAXED);
}

static inline void copy(unsigned char *to, const unsigned char *from, uint32_t size)
{
	switch (size) {
	case 8:
		__builtin_memcpy(to, from, 8);
		break;
	case 4:
		__builtin_memcpy(to, from, 4);
		break;
	case 2:
		__builtin_memcpy(to, from, 2);
		break;
	default:
		*to = *from;
		break;
	}
}

static inline void fill(unsigned char *record, const struct func_probe *probe, const struct probe_hit *hit)
{
	for (uint32_t i = 0; i < probe->ncopies; i++) {
		const struct probe_copy *one = &probe->copies[i];
		const void *from = one->is_number ? (const void *)&one->number : (const char *)hit + one->from;

		copy(record + one->to, from, one->size);
	}
}

/* Into the top buffer, where other events go, too. */
static __attribute__((noinline)) bool put_top(const struct view *view, uint64_t generation, const struct func_probe *probe, void *record)
{
	struct ring_near *near = &runtime_self.near;
	struct ring_rseq *rs = runtime_self.rs;
	uint64_t ts;

	if (UNLIKELY(!view->fast || !func_put_head(record, probe->event)))
		return false;
	if (UNLIKELY(section_fast(rs, near, view->published_at, generation, record, probe->size, &ts) != RING_DONE) &&
	    (section_near(rs, near, view->fast, view->ncpu, view->published_at, generation) != RING_DONE ||
	     section_fast(rs, near, view->published_at, generation, record, probe->size, &ts) != RING_DONE))
		return false;
	if (UNLIKELY(LOAD(near->head->waiters) & RING_WAIT_EVENT))
		func_aside(func_hit_wake, near->head);
	return true;
}

static __attribute__((noinline)) void go_aside(const struct func_probe *probe, struct probe_hit *hit, void *record)
{
	struct func_hitting hitting = { .probe = probe, .hit = hit, .record = record, .len = probe->size };

	if (!func_aside(func_hit_aside, &hitting) || !hitting.done)
		miss(probe);
}

static inline __attribute__((always_inline)) void hit_one(const struct func_probe *probe, struct probe_hit *hit)
{
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	const uint64_t generation = view ? LOAD_ACQUIRE(view->published) : 0;
	const bool stale = !view || func_is_stale(view, generation);
	const uint64_t mask = view ? LOAD(view->mask[probe->event]) : 0;
	uint64_t record[2 + 2 * FUNC_COPIES_MAX];
	const struct func_put put = { view, generation, record };

	if (!mask && !stale)
		return;
	count(probe);
	if (UNLIKELY(!(probe->flags & PROBE_QUICK))) {
		go_aside(probe, hit, NULL);
		return;
	}
	fill((unsigned char *)record, probe, hit);
	if (LIKELY(!stale) && LIKELY(func_put_lone(&put, probe->event, probe->size)))
		return;
	if (stale || mask != 1 || !put_top(view, generation, probe, record))
		go_aside(probe, hit, record);
}

void func_hit_one(const struct func_probe *probe, struct probe_hit *hit)
{
	hit_one(probe, hit);
}

void func_hit(uint32_t number, struct probe_hit *hit)
{
	const struct func_point *point = &func_points[number];
	const struct func_list *list = LOAD_ACQUIRE(point->list);
	const uintptr_t at = hit->ip;

	if (UNLIKELY(func_is_within(hit->sp))) {
		func_hit_missed(list);
		return;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		hit->ip = list->probe[i]->flags & PROBE_RAW ? at : point->ip;
		if (UNLIKELY(list->probe[i]->allocator))
			func_memory_free(list->probe[i], hit);
		else
			hit_one(list->probe[i], hit);
	}
	/* What unwinders find. */
	hit->ip = at;
}

void func_hit_return(const struct func_list *list, const struct func_call *call, struct probe_hit *hit)
{
	const struct func_site *site = call->site;
	const uintptr_t parent = func_edges[call->edge].parent;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct func_probe *probe = list->probe[i];
		const bool raw = probe->flags & PROBE_RAW;

		if (probe->allocator && !call->memory)
			continue;
		hit->ip = raw ? site->ip - site->file->delta : site->ip;
		hit->ret_ip = raw ? parent : func_symbol_of(site->file, parent);
		if (probe->allocator)
			func_memory_return(probe, hit);
		else
			hit_one(probe, hit);
	}
}

void func_hit_missed(const struct func_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		miss(list->probe[i]);
}

#endif

REGS_END
