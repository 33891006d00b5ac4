/*
 * cmd/report_profile: see report_profile.h.
 *
 *   record --role_of()--> what its event begins, ends, or is
 *      begins: a span is opened under (hook, task, CPU, value)	open_span()
 *      ends:   the youngest span under that key is closed, and its row gets its time	close_span()
 *      is:     its row is counted
 *      is a stack: goes to the span or row that the record before it on its CPU has touched
 *
 * Where records were lost no span can be trusted: all are dropped. How the rows look is in
 * profile_text.c.
 */
#include "cmd/report_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/profile_local.h"

/* What has begun and will not end, as kernels that drop softirqs do: the older are forgotten. */
#define SPANS_MAX 1024
#define HOOKS_MAX 64

/* Switches and wakeups stand for themselves: what ends one depends on the task's state. */
static const struct profile_hook built_in[] = {
	{ { "irq", "irq_handler_entry", "irq" }, { "irq", "irq_handler_exit", "irq" }, NULL, true,
	  true, NULL },
	{ { "irq", "softirq_raise", "vec" }, { "irq", "softirq_entry", "vec" }, NULL, true, true,
	  NULL },
	{ { "irq", "softirq_entry", "vec" }, { "irq", "softirq_exit", "vec" }, NULL, true, true,
	  NULL },
	{ { "raw_syscalls", "sys_enter", "id" }, { "raw_syscalls", "sys_exit", "id" }, NULL, false,
	  false, NULL },
	{ { "ftrace", "funcgraph_entry", "func" }, { "ftrace", "funcgraph_exit", "func" }, NULL,
	  false, false, NULL },
};

#define NR_BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

/* Numbers of spans that belong to no hook. */
enum { SPAN_SLEEP = -1, SPAN_WAKEUP = -2 };

enum role_kind { ROLE_COUNT, ROLE_HOOKED, ROLE_SWITCH, ROLE_WAKEUP, ROLE_EXEC, ROLE_STACK };

/* What an event is to us. */
struct role {
	bool known;
	enum role_kind kind;
	uint64_t starts, ends;		/* bits: of hooks */
	const struct decode_field *value;	/* what tells its rows apart: the first field */
};

struct span_key {
	int32_t hook;
	int32_t pid, cpu;	/* -1: any */
	uint32_t zero;
	uint64_t value;
};

struct span {
	struct span *older;
	struct profile_row *row;
	uint64_t ts;
	uint64_t stack_at;
	size_t nr_addrs;
	uint64_t addrs[];
};

struct spans {
	struct span *youngest;
	unsigned int nr;
};

/* Where a stack belongs that comes next on a CPU; beyond so many spans it is not kept. */
#define LANE_SPANS 4
struct lane {
	struct span_key keys[LANE_SPANS];	/* of spans just opened */
	unsigned int nr_keys;
	struct profile_row *row;	/* or what was counted */
	int pid;
};

static const struct profile_hook *hook_at(const struct report_profile *p, size_t i)
{
	return i < NR_BUILT_IN ? &built_in[i] : &p->hooks[i - NR_BUILT_IN];
}

static size_t nr_hooks(const struct report_profile *p)
{
	return NR_BUILT_IN + p->nr_hooks;
}

/* Built-in hooks are about interrupts where they are global: only if asked for. */
static bool is_global(const struct report_profile *p, size_t i)
{
	return hook_at(p, i)->global && (i >= NR_BUILT_IN || (p->flags & REPORT_PROFILE_GLOBAL));
}

struct report_profile *report_profile_new(unsigned int flags)
{
	struct report_profile *p = calloc(1, sizeof(*p));

	if (p)
		p->flags = flags;
	return p;
}

static void drop_spans(struct profile_file *file)
{
	const struct map_entry **all;

	if (map_list(&file->spans, &all))
		return;
	for (size_t i = 0; i < file->spans.nr; i++) {
		struct spans *spans = all[i]->value;
		struct span *older;

		for (struct span *s = spans->youngest; s; s = older) {
			older = s->older;
			free(s);
		}
	}
	free(all);
	map_fini(&file->spans);
}

void profile_owners_fini(struct map *owners)
{
	const struct map_entry **all, **rows;

	if (!map_list(owners, &all)) {
		for (size_t i = 0; i < owners->nr; i++) {
			struct profile_owner *owner = all[i]->value;

			if (map_list(&owner->rows, &rows))
				continue;
			for (size_t j = 0; j < owner->rows.nr; j++)
				profile_stacks_free(((struct profile_row *)rows[j]->value)->stacks);
			free(rows);
			map_fini(&owner->rows);
		}
		free(all);
	}
	map_fini(owners);
}

void report_profile_free(struct report_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr_files; i++) {
		drop_spans(&p->files[i]);
		profile_owners_fini(&p->files[i].owners);
		map_fini(&p->files[i].roles);
		map_fini(&p->files[i].lanes);
	}
	for (size_t i = 0; i < p->nr_hooks; i++)
		profile_hook_fini(&p->hooks[i]);
	free(p->hooks);
	free(p->files);
	free(p);
}

int report_profile_hook(struct report_profile *p, const char *text, struct err *err)
{
	struct profile_hook *more;
	int r;

	if (nr_hooks(p) == HOOKS_MAX)
		return err_set(err, -E2BIG, "more than %d hooks", HOOKS_MAX - (int)NR_BUILT_IN);
	more = realloc(p->hooks, (p->nr_hooks + 1) * sizeof(*more));
	if (!more)
		return err_set(err, -ENOMEM, "out of memory");
	p->hooks = more;
	r = profile_hook_parse(&more[p->nr_hooks], text, err);
	p->nr_hooks += !r;
	return r;
}

int report_profile_check(const struct report_profile *p, struct dat *dat, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < p->nr_hooks && !r; i++)
		r = profile_hook_check(&p->hooks[i], dat, err);
	return r;
}

static struct profile_file *file_of(struct report_profile *p, const struct replay_record *rec)
{
	size_t nr = rec->lane->file_nr;
	struct profile_file *more;

	if (nr >= p->nr_files) {
		more = realloc(p->files, (nr + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + p->nr_files, 0, (nr + 1 - p->nr_files) * sizeof(*more));
		p->files = more;
		p->nr_files = nr + 1;
	}
	p->files[nr].dat = rec->lane->file;
	return &p->files[nr];
}

static enum role_kind kind_of(const struct decode_format *format)
{
	static const struct {
		const char *system, *name;
		enum role_kind kind;
	} known[] = {
		{ "sched", "sched_switch", ROLE_SWITCH },
		{ "sched", "sched_wakeup", ROLE_WAKEUP },
		{ "sched", "sched_process_exec", ROLE_EXEC },
		{ "ftrace", "kernel_stack", ROLE_STACK },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(format->name, known[i].name) &&
		    !strcmp(format->system, known[i].system))
			return known[i].kind;
	return ROLE_COUNT;
}

static void set_hooks(struct report_profile *p, struct profile_file *file,
		      const struct decode_format *format, struct role *role)
{
	for (size_t i = 0; i < nr_hooks(p); i++) {
		const struct profile_hook *hook = hook_at(p, i);
		bool starts = profile_side_is(&hook->start, format->system, format->name);
		bool ends = profile_side_is(&hook->end, format->system, format->name);

		/* Half a hook is none: then its event is one like any other. */
		if ((!starts && !ends) || !profile_hook_works(hook, file->dat))
			continue;
		role->starts |= (uint64_t)starts << i;
		role->ends |= (uint64_t)ends << i;
	}
	if (role->kind == ROLE_COUNT && (role->starts | role->ends))
		role->kind = ROLE_HOOKED;
}

static struct role *role_of(struct report_profile *p, struct profile_file *file,
			    const struct decode_format *format)
{
	struct role *role = map_get(&file->roles, &format, sizeof(format), sizeof(*role));

	if (!role || role->known)
		return role;
	role->known = true;
	role->kind = kind_of(format);
	set_hooks(p, file, format, role);
	for (uint32_t i = 0; i < format->nr_fields && !role->value; i++)
		if (!format->fields[i].is_common)
			role->value = &format->fields[i];
	return role;
}

struct profile_owner *profile_owner_of(struct map *owners, enum profile_kind kind, int number)
{
	struct profile_owner_key key = { kind, number };

	return map_get(owners, &key, sizeof(key), sizeof(struct profile_owner));
}

static struct profile_owner *task_of(struct profile_file *file, int pid)
{
	return profile_owner_of(&file->owners, PROFILE_TASK, pid);
}

static struct profile_row *row_of(struct profile_owner *owner, const struct decode_format *format,
				  uint64_t value)
{
	struct profile_row_key key = { value, (uintptr_t)format };

	return owner ? map_get(&owner->rows, &key, sizeof(key), sizeof(struct profile_row)) : NULL;
}

/* A number as trace-cmd reads one: an array has none, and of a location it is the word itself. */
static uint64_t field_value(const struct decode_format *format, const struct decode_field *field,
			    const struct replay_record *rec)
{
	if (!field)
		return 0;
	if (field->place == DECODE_LOC || field->place == DECODE_REL_LOC)
		return field->offset + 4 > rec->len ? 0 :
		       decode_abi_load(rec->data + field->offset, 4, format->abi.big_endian);
	if (field->is_array)
		return 0;
	return decode_field_int(format, field, rec->data, rec->len);
}

static uint64_t named_value(const struct decode_format *format, const char *name,
			    const struct replay_record *rec)
{
	return field_value(format, decode_format_find(format, name), rec);
}

static int open_span(struct profile_file *file, const struct span_key *key,
		     struct profile_row *row, uint64_t ts, struct lane *lane)
{
	struct spans *spans = map_get(&file->spans, key, sizeof(*key), sizeof(*spans));
	struct span *span = calloc(1, sizeof(*span)), *older;

	if (!row || !spans || !span) {
		free(span);
		return -ENOMEM;
	}
	if (spans->nr == SPANS_MAX)
		for (; (older = spans->youngest->older); spans->nr--) {
			spans->youngest->older = older->older;
			free(older);
		}
	*span = (struct span){ .older = spans->youngest, .row = row, .ts = ts };
	spans->youngest = span;
	spans->nr++;
	if (lane->nr_keys < LANE_SPANS)
		lane->keys[lane->nr_keys++] = *key;
	return 0;
}

/* True: there was one. */
static bool close_span(struct profile_file *file, const struct span_key *key, uint64_t ts)
{
	struct spans *spans = map_find(&file->spans, key, sizeof(*key));
	struct span *span = spans ? spans->youngest : NULL;
	uint64_t time;

	if (!span)
		return false;
	time = ts - span->ts;
	profile_times_add(&span->row->times, time, ts);
	if (span->nr_addrs)
		profile_stacks_add(&span->row->stacks, span->addrs, span->nr_addrs, &time,
				   span->stack_at);
	spans->youngest = span->older;
	if (!--spans->nr)
		map_remove(&file->spans, key, sizeof(*key));
	free(span);
	return true;
}

static int feed_count(struct profile_file *file, const struct role *role,
		      const struct replay_record *rec, const struct decode_format *format, int pid,
		      struct lane *lane)
{
	lane->row = row_of(task_of(file, pid), format, field_value(format, role->value, rec));
	if (!lane->row)
		return -ENOMEM;
	lane->row->times.nr++;
	return 0;
}

static struct span_key hook_key(const struct report_profile *p, size_t i,
				const struct replay_record *rec, int pid, uint64_t value)
{
	return (struct span_key){
		.hook = (int32_t)i,
		.pid = is_global(p, i) ? -1 : pid,
		.cpu = hook_at(p, i)->pinned ? rec->lane->cpu : -1,
		.value = value,
	};
}

static void feed_ends(struct report_profile *p, struct profile_file *file, const struct role *role,
		      const struct replay_record *rec, const struct decode_format *format, int pid)
{
	for (size_t i = 0; i < nr_hooks(p); i++) {
		const struct profile_hook *hook = hook_at(p, i);
		struct span_key key;
		uint64_t value;

		if (!(role->ends >> i & 1))
			continue;
		value = named_value(format, hook->end.match, rec);
		key = hook_key(p, i, rec, hook->pid ? (int)value : pid, value);
		close_span(file, &key, rec->ts);
	}
}

static int feed_starts(struct report_profile *p, struct profile_file *file, const struct role *role,
		       const struct replay_record *rec, const struct decode_format *format, int pid,
		       struct lane *lane)
{
	struct profile_owner *owner;
	struct span_key key;
	uint64_t value;
	int r = 0;

	for (size_t i = 0; i < nr_hooks(p) && !r; i++) {
		const struct profile_hook *hook = hook_at(p, i);

		if (!(role->starts >> i & 1))
			continue;
		value = named_value(format, hook->start.match, rec);
		if (hook->pid)
			pid = (int)named_value(format, hook->pid, rec);
		key = hook_key(p, i, rec, pid, value);
		if (is_global(p, i))
			owner = profile_owner_of(&file->owners, hook->pinned ? PROFILE_CPU :
						 PROFILE_GLOBAL, hook->pinned ? rec->lane->cpu : 0);
		else
			owner = task_of(file, pid);
		r = open_span(file, &key, row_of(owner, format, value), rec->ts, lane);
	}
	return r;
}

/* A task keeps the name that it is first seen with, until it runs another program. */
static void learn(struct profile_owner *task, const struct decode_format *format, const char *field,
		  const struct replay_record *rec)
{
	const struct decode_field *f = decode_format_find(format, field);
	struct decode_bytes text;
	size_t len;

	if (task->has_name || !f)
		return;
	text = decode_bytes_text(decode_field_bytes(format, f, rec->data, rec->len));
	len = text.len < sizeof(task->name) ? text.len : sizeof(task->name) - 1;
	if (len)
		memcpy(task->name, text.data, len);
	task->name[len] = '\0';
	task->has_name = true;
}

static int feed_switch(struct profile_file *file, const struct replay_record *rec,
		       const struct decode_format *format, struct lane *lane)
{
	int prev = (int)named_value(format, "prev_pid", rec);
	int next = (int)named_value(format, "next_pid", rec);
	uint64_t state = named_value(format, "prev_state", rec) & PROFILE_STATES;
	struct profile_owner *from = task_of(file, prev), *to = task_of(file, next);
	struct span_key key = { .hook = SPAN_SLEEP, .pid = next, .cpu = -1 };

	if (!from || !to)
		return -ENOMEM;
	learn(from, format, "prev_comm", rec);
	learn(to, format, "next_comm", rec);
	close_span(file, &key, rec->ts);
	key.hook = SPAN_WAKEUP;
	close_span(file, &key, rec->ts);
	to->asleep = false;
	from->asleep = state != 0;
	key = (struct span_key){ .hook = SPAN_SLEEP, .pid = prev, .cpu = -1 };
	return open_span(file, &key, row_of(from, format, state), rec->ts, lane);
}

/* Of a task that sleeps; others need not be woken. */
static int feed_wakeup(struct profile_file *file, const struct replay_record *rec,
		       const struct decode_format *format, struct lane *lane)
{
	int pid = (int)named_value(format, "pid", rec);
	struct profile_owner *task = task_of(file, pid);
	struct span_key key = { .hook = SPAN_SLEEP, .pid = pid, .cpu = -1 };

	if (!task)
		return -ENOMEM;
	/* One that did not go by itself is away until it is switched to again. */
	if (!task->asleep)
		return 0;
	close_span(file, &key, rec->ts);
	task->asleep = false;
	key.hook = SPAN_WAKEUP;
	return open_span(file, &key, row_of(task, format, (uint64_t)(uint32_t)pid), rec->ts, lane);
}

/* The addresses of a stack: as many as it says and holds. */
static size_t read_stack(const struct replay_record *rec, const struct decode_format *format,
			 uint64_t *addrs)
{
	const struct decode_field *caller = decode_format_find(format, "caller");
	uint64_t size = named_value(format, "size", rec);
	uint32_t word = format->abi.long_size, at = caller ? caller->offset : rec->len;
	uint64_t end = word == 8 ? UINT64_MAX : UINT32_MAX;
	size_t nr = 0;

	for (; nr < PROFILE_STACK_MAX && (!size || nr < size) && at + word <= rec->len;
	     at += word) {
		addrs[nr] = decode_abi_load(rec->data + at, word, format->abi.big_endian);
		if (addrs[nr++] == end)
			return nr - 1;
	}
	return nr;
}

static int keep_stack(struct profile_file *file, const struct span_key *key,
		      const uint64_t *addrs, size_t nr, uint64_t ts)
{
	struct spans *spans = map_find(&file->spans, key, sizeof(*key));
	struct span *span;

	if (!spans || !spans->youngest)
		return 0;
	span = realloc(spans->youngest, sizeof(*span) + nr * sizeof(*addrs));
	if (!span)
		return -ENOMEM;
	spans->youngest = span;
	memcpy(span->addrs, addrs, nr * sizeof(*addrs));
	span->nr_addrs = nr;
	span->stack_at = ts;
	return 0;
}

static int feed_stack(struct profile_file *file, const struct replay_record *rec,
		      const struct decode_format *format, struct lane *lane)
{
	uint64_t addrs[PROFILE_STACK_MAX];
	size_t nr = read_stack(rec, format, addrs);
	int r = 0;

	if (lane->row && !profile_stacks_add(&lane->row->stacks, addrs, nr, NULL, rec->ts))
		return -ENOMEM;
	for (unsigned int i = 0; i < lane->nr_keys && !r; i++)
		r = keep_stack(file, &lane->keys[i], addrs, nr, rec->ts);
	return r;
}

static int feed_role(struct report_profile *p, struct profile_file *file, const struct role *role,
		     const struct replay_record *rec, const struct decode_format *format, int pid,
		     struct lane *lane)
{
	struct profile_owner *task;
	int r = 0;

	feed_ends(p, file, role, rec, format, pid);
	switch (role->kind) {
	case ROLE_COUNT:
		return feed_count(file, role, rec, format, pid, lane);
	case ROLE_SWITCH:
		r = feed_switch(file, rec, format, lane);
		break;
	case ROLE_WAKEUP:
		r = feed_wakeup(file, rec, format, lane);
		break;
	case ROLE_EXEC:
		task = task_of(file, (int)named_value(format, "pid", rec));
		if (task)
			task->has_name = false;
		break;
	default:
		break;
	}
	return r ? r : feed_starts(p, file, role, rec, format, pid, lane);
}

int report_profile_feed(struct report_profile *p, const struct replay_record *rec,
			const struct decode_format *format)
{
	struct profile_file *file = file_of(p, rec);
	struct record_head head;
	struct role *role;
	struct lane *lane;

	if (!file)
		return -ENOMEM;
	if (rec->lost && file->spans.nr)
		drop_spans(file);
	if (!decode_record_head(&format->abi, rec->data, rec->len, &head))
		return 0;
	role = role_of(p, file, format);
	lane = map_get(&file->lanes, &rec->lane, sizeof(rec->lane), sizeof(*lane));
	if (!role || !lane || !task_of(file, head.pid))
		return -ENOMEM;
	if (role->kind == ROLE_STACK) {
		int r = lane->pid == head.pid ? feed_stack(file, rec, format, lane) : 0;

		/* What has a stack gets no second one. */
		*lane = (struct lane){ .pid = -1 };
		return r;
	}
	*lane = (struct lane){ .pid = head.pid };
	return feed_role(p, file, role, rec, format, head.pid, lane);
}
