/*
 * cmd/switches_tell: see switches_local.h.
 *
 * A thread's OUT and the IN of the next one on that CPU are two records of one switch, if no time lies between them in which a third
 * could have run. Else nobody that we see ran there: "<...>" with the number 0 stands for it. The same record may come
 * twice, of a thread that is watched in its own right and by inheritance: the second says what is known.
 *
 * When a thread was woken no record tells. How long it waited until it ran the kernel counts, and if it was asked after each
 * run, that is when: else it counts as woken when it ran.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mono.h"
#include "cmd/switches_local.h"
#include "control/named.h"
#include "layout/page.h"

/* From a thread's going to another one's coming, if there is none between: about a microsecond, on slow machines a few. */
#define SWITCH_NS 10000u

enum { STATE_RUNNING = 0, STATE_SLEEPING = 1 };

/* As the events' formats say (control/named_sched.c). */
struct switch_record {
	struct record_head head;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
};
static_assert(sizeof(struct switch_record) == 64, "sched_switch");

struct wake_record {
	struct record_head head;
	char comm[16];
	int32_t pid, prio, target_cpu;
};
static_assert(sizeof(struct wake_record) == 36, "sched_waking");

static struct task nobody = { .comm = "<...>", .prio = 120 };

static const char *const names[TELL_EVENTS] = { "sched_switch", "sched_waking", "sched_wakeup" };

/* The one of the kernel's layout, whatever others programs have brought by that name. */
static int bring(void *ctx, const char *system, const char *name, const struct buf *body)
{
	struct tell *tell = ctx;
	const uint32_t *hint;

	for (int i = 0; i < TELL_EVENTS; i++)
		if (!strcmp(system, "sched") && !strcmp(name, names[i]))
			return runtime_event_intern(system, name, body->data, body->len, 0, &tell->id[i], &hint);
	return 0;
}

int tell_init(struct tell *tell, struct control *control, struct tasks *tasks)
{
	*tell = (struct tell){ .ncpu = control->dir.ncpu, .tasks = tasks };
	return control_named_walk(bring, tell);
}

void tell_fini(struct tell *tell)
{
	free(tell->list.at);
}

void tell_moment(struct tell *tell, const struct runtime_moment *now)
{
	if (tell->nmoments == TELL_MOMENTS)
		memmove(tell->moment, tell->moment + 1, --tell->nmoments * sizeof(*tell->moment));
	tell->moment[tell->nmoments++] = *now;
}

/* By the two moments that it lies between. */
static void find_moment(const struct tell *tell, uint64_t raw, struct runtime_moment *out)
{
	uint32_t i = tell->nmoments > 1 ? tell->nmoments - 1 : 0;

	while (i > 1 && tell->moment[i - 1].raw > raw)
		i--;
	runtime_moment_between(&tell->moment[i ? i - 1 : 0], &tell->moment[i], raw, out);
}

static int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->raw != y->raw)
		return x->raw < y->raw ? -1 : 1;
	/* Of the same CPU and moment: who goes, then who comes. */
	return x->cpu != y->cpu ? (x->cpu < y->cpu ? -1 : 1) : (int)x->kind - (int)y->kind;
}

bool tell_wants_wakes(const struct tell *tell)
{
	return runtime_tell_wanted(tell->id[TELL_WAKING]) || runtime_tell_wanted(tell->id[TELL_WAKEUP]);
}

/* What is said twice is nothing: at once, or, however long that took a processor that is shared with others, of one CPU. */
static bool is_repeated(const struct task *task, const struct seen *seen)
{
	const bool same = seen->kind == SEEN_IN ? task->where == TASK_ON : task->where == TASK_OFF || task->where == TASK_PREEMPTED;

	return same && (seen->raw - task->since < SWITCH_NS || seen->cpu == task->cpu);
}

/* From one thread's going to its coming again, wherever: in order of time. */
static void settle_one(struct tell *tell, size_t i, bool wakes)
{
	const struct seen seen = tell->list.at[i];
	struct task *task = tasks_get(tell->tasks, seen.tid, seen.tgid);
	struct seen *wake;
	uint64_t waited;

	if (!task || is_repeated(task, &seen)) {
		tell->list.at[i].kind = SEEN_NOTHING;
		return;
	}
	if (seen.kind == SEEN_IN && wakes) {
		/* Asked also when it tells nothing: for the next time. */
		waited = task->ins ? tasks_waited(task) : 0;
		waited = task->ins == 1 ? waited : 0;
		task->ins = 0;
		wake = task->where == TASK_OFF ? seen_add(&tell->list) : NULL;
		if (wake) {
			*wake = seen;
			wake->kind = SEEN_WAKE;
			wake->raw = seen.raw - waited > tell->told ? seen.raw - waited : tell->told;
		}
	}
	task->where = seen.kind == SEEN_IN ? TASK_ON : seen.flag ? TASK_PREEMPTED : TASK_OFF;
	task->since = seen.raw;
	task->cpu = seen.cpu;
}

void tell_settle(struct tell *tell, size_t from)
{
	const size_t end = tell->list.n;
	const bool wakes = tell_wants_wakes(tell);

	if (end == from)
		return;
	qsort(tell->list.at + from, end - from, sizeof(*tell->list.at), by_time);
	for (size_t i = from; i < end; i++) {
		const struct seen *seen = &tell->list.at[i];
		struct task *task = seen->kind == SEEN_IN ? tasks_get(tell->tasks, seen->tid, seen->tgid) : NULL;

		if (task && !(task->where == TASK_ON && is_repeated(task, seen)))
			task->ins++;
	}
	for (size_t i = from; i < end; i++)
		if (tell->list.at[i].kind == SEEN_IN || tell->list.at[i].kind == SEEN_OUT)
			settle_one(tell, i, wakes);
	qsort(tell->list.at, tell->list.n, sizeof(*tell->list.at), by_time);
}

bool tell_wanted(const struct tell *tell)
{
	return runtime_tell_wanted(tell->id[TELL_SWITCH]) || tell_wants_wakes(tell);
}

static struct task *task_of(struct tell *tell, int32_t tid, int32_t tgid)
{
	struct task *task = tid ? tasks_get(tell->tasks, tid, tgid) : NULL;

	return task ? task : &nobody;
}

static bool is_attached(struct tell *tell, struct task *task)
{
	return task->tid && tasks_attached(tell->tasks, task);
}

/* Whose lists of threads decide: the one that is known. */
static const int32_t *family_of(struct tell *tell, const struct task *a, const struct task *b)
{
	static const int32_t none[1];
	const struct program *program = tasks_program(tell->tasks, a->tid ? a->tgid : b->tgid);

	return program ? program->family : none;
}

static void tell_switch(struct tell *tell, const struct seen *seen, struct task *prev, bool runs, struct task *next)
{
	struct switch_record record = {
		.prev_pid = prev->tid, .prev_prio = prev->prio, .prev_state = runs ? STATE_RUNNING : STATE_SLEEPING,
		.next_pid = next->tid, .next_prio = next->prio,
	};
	struct runtime_told told = {
		.cpu = seen->cpu, .tid = prev->tid, .other = next->tid, .family = family_of(tell, prev, next), .comm = prev->comm,
	};

	if (!is_attached(tell, prev) && !is_attached(tell, next))
		return;
	memcpy(record.prev_comm, prev->comm, sizeof(record.prev_comm));
	memcpy(record.next_comm, next->comm, sizeof(record.next_comm));
	find_moment(tell, seen->raw, &told.at);
	runtime_tell(&told, tell->id[TELL_SWITCH], &record, sizeof(record));
}

/* Who woke it nobody knows. */
static void tell_wake(struct tell *tell, const struct seen *seen)
{
	struct task *task = task_of(tell, seen->tid, seen->tgid);
	struct wake_record record = { .pid = task->tid, .prio = task->prio, .target_cpu = (int32_t)seen->cpu };
	struct runtime_told told = { .cpu = seen->cpu, .other = task->tid, .family = family_of(tell, task, task), .comm = nobody.comm };

	if (!is_attached(tell, task))
		return;
	memcpy(record.comm, task->comm, sizeof(record.comm));
	find_moment(tell, seen->raw, &told.at);
	for (int i = TELL_WAKING; i <= TELL_WAKEUP; i++)
		runtime_tell(&told, tell->id[i], &record, sizeof(record));
}

/* Whoever came right behind it on that CPU. */
static struct seen *find_next(struct tell *tell, size_t i)
{
	const struct seen *out = &tell->list.at[i];

	for (size_t n = i + 1; n < tell->list.n && tell->list.at[n].raw - out->raw < SWITCH_NS; n++) {
		struct seen *seen = &tell->list.at[n];

		if (seen->cpu == out->cpu && (seen->kind == SEEN_IN || seen->kind == SEEN_OUT))
			/* Itself again: somebody was there between. */
			return seen->kind == SEEN_IN && seen->tid != out->tid ? seen : NULL;
	}
	return NULL;
}

static void tell_out(struct tell *tell, size_t i)
{
	const struct seen *out = &tell->list.at[i];
	struct seen *next = find_next(tell, i);

	if (!next) {
		tell_switch(tell, out, task_of(tell, out->tid, out->tgid), out->flag, &nobody);
		return;
	}
	/* It is the other's switch: the two are one, when that has come. */
	next->prev_tid = out->tid;
	next->prev_tgid = out->tgid;
	next->prev_flag = out->flag;
}

static void rename_task(struct tell *tell, const struct seen *seen)
{
	struct task *task = tasks_get(tell->tasks, seen->tid, seen->tgid);
	struct program *program = seen->flag ? tasks_program(tell->tasks, seen->tgid) : NULL;

	if (task)
		memcpy(task->comm, seen->comm, sizeof(task->comm));
	/* It may be attached now. */
	if (program)
		program->born = mono_ms();
}

/* It has its parent's name and priority until it gets others. */
static void inherit(struct tell *tell, const struct seen *seen)
{
	const struct task *parent = tasks_get(tell->tasks, seen->prev_tid, seen->prev_tgid);
	struct task *task = tasks_get(tell->tasks, seen->tid, seen->tgid);

	if (!parent || !task || task == parent)
		return;
	tasks_fork(tell->tasks, task->tgid, parent->tgid);
	memcpy(task->comm, parent->comm, sizeof(task->comm));
	task->prio = parent->prio;
}

static void tell_one(struct tell *tell, size_t i)
{
	const struct seen *seen = &tell->list.at[i];

	switch (seen->kind) {
	case SEEN_OUT:
		tell_out(tell, i);
		break;
	case SEEN_IN:
		tell_switch(tell, seen, task_of(tell, seen->prev_tid, seen->prev_tgid), seen->prev_flag || !seen->prev_tid,
			    task_of(tell, seen->tid, seen->tgid));
		break;
	case SEEN_WAKE:
		tell_wake(tell, seen);
		break;
	case SEEN_FORK:
		inherit(tell, seen);
		break;
	case SEEN_NAME:
		rename_task(tell, seen);
		break;
	case SEEN_LOST:
		runtime_tell_lost(tell->id[TELL_SWITCH], seen->cpu, seen->lost);
		break;
	default:
		break;
	}
}

void tell_until(struct tell *tell, uint64_t raw, bool ever)
{
	struct runtime_moment moment;
	size_t n = 0;

	while (n < tell->list.n && tell->list.at[n].raw <= raw)
		tell_one(tell, n++);
	if (n)
		memmove(tell->list.at, tell->list.at + n, (tell->list.n - n) * sizeof(*tell->list.at));
	tell->list.n -= n;
	tell->told = raw;
	find_moment(tell, raw, &moment);
	runtime_told_until(&moment, tell->id, TELL_EVENTS, ever);
}

void tell_lose(struct tell *tell)
{
	for (size_t i = 0; i < tell->list.n; i++)
		if (tell->list.at[i].kind == SEEN_IN || tell->list.at[i].kind == SEEN_OUT)
			runtime_tell_lost(tell->id[TELL_SWITCH], tell->list.at[i].cpu, 1);
	tell->list.n = 0;
}
