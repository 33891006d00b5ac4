/*
 * cmd/profile_text: the profile as text, as trace-cmd prints it but for the order of a task's
 * lines, which it leaves to chance: here what took longest comes first, then what came most often.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/profile_local.h"
#include "report/tracecmd.h"

struct line {
	const struct profile_row_key *key;
	struct profile_row *row;
	const char *label;
};

static bool put_symbol(void *arg, uint64_t addr, struct buf *out)
{
	struct decode_symbol symbol;

	if (!dat_symbol(arg, 0, addr, &symbol))
		return false;
	buf_puts(out, symbol.name);
	return true;
}

static void put_state(struct buf *out, uint64_t state)
{
	static const char letters[] = "SDTtXZxKWP";

	if (!state)
		buf_putc(out, 'R');
	for (unsigned int i = 0; letters[i]; i++)
		if (state >> i & 1)
			buf_putc(out, letters[i]);
}

static void put_softirq(struct buf *out, uint64_t vec)
{
	static const char *const names[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK",
					     "BLOCK_IOPOLL", "TASKLET", "SCHED", "HRTIMER", "RCU" };

	if (vec < sizeof(names) / sizeof(names[0]))
		buf_puts(out, names[vec]);
	else
		buf_printf(out, "%" PRIu64, vec);
}

static void put_function(struct buf *out, struct dat *dat, uint64_t addr)
{
	buf_puts(out, "func: ");
	if (put_symbol(dat, addr, out))
		buf_puts(out, "()");
	else
		buf_printf(out, "0x%" PRIx64, addr);
}

/* "sched_switch:S": an event, and what its value means. */
static void put_label(struct buf *out, struct dat *dat, const struct profile_row_key *key)
{
	const struct decode_format *format = (const void *)(uintptr_t)key->format;

	if (!strcmp(format->name, "funcgraph_entry") || !strcmp(format->name, "function")) {
		put_function(out, dat, key->value);
		return;
	}
	buf_printf(out, "%s:", format->name);
	if (!strcmp(format->name, "sched_switch"))
		put_state(out, key->value);
	else if (!strncmp(format->name, "softirq_", 8))
		put_softirq(out, key->value);
	else if (!strcmp(format->name, "sys_enter"))
		buf_printf(out, "%" PRId64, (int64_t)key->value);
	else
		buf_printf(out, "0x%" PRIx64, key->value);
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const struct profile_times *s = &x->row->times, *t = &y->row->times;
	int r;

	if (s->timed != t->timed)
		return s->timed ? -1 : 1;
	if (s->total != t->total)
		return s->total > t->total ? -1 : 1;
	if (s->nr != t->nr)
		return s->nr > t->nr ? -1 : 1;
	r = strcmp(x->label, y->label);
	if (r)
		return r;
	return (x->key->value > y->key->value) - (x->key->value < y->key->value);
}

static void put_extreme(struct buf *out, const char *which, uint64_t time, uint64_t at)
{
	uint64_t us = tracecmd_shown(at, 0);

	buf_printf(out, " %s%" PRIu64 "(ts:%" PRIu64 ".%06" PRIu64 ")", which, time, us / 1000000,
		   us % 1000000);
}

static void put_line(struct buf *out, struct dat *dat, const struct line *line)
{
	const struct profile_times *t = &line->row->times;

	buf_printf(out, "  Event: %s (%" PRIu64 ")", line->label, t->nr);
	if (t->timed) {
		buf_printf(out, " Total: %" PRIu64 " Avg: %" PRIu64, t->total, t->total / t->nr);
		put_extreme(out, "Max: ", t->max, t->max_at);
		put_extreme(out, "Min:", t->min, t->min_at);
	}
	buf_putc(out, '\n');
	profile_stacks_put(&line->row->stacks, put_symbol, dat, out);
}

static int make_line(struct line *line, const struct map_entry *entry, struct dat *dat)
{
	struct buf label = BUF_INIT;

	put_label(&label, dat, entry->key);
	*line = (struct line){ entry->key, entry->value, buf_take(&label) };
	return line->label ? 0 : -ENOMEM;
}

/* What has begun and never ended has a row, too, but nothing to tell. */
static bool tells(const struct map_entry *entry)
{
	return ((const struct profile_row *)entry->value)->times.nr != 0;
}

static int put_rows(struct buf *out, struct dat *dat, const struct map *rows)
{
	struct line *lines = calloc(rows->nr + 1, sizeof(*lines));
	const struct map_entry **all = NULL;
	size_t nr = 0;
	int r = lines ? map_list(rows, &all) : -ENOMEM;

	for (size_t i = 0; !r && i < rows->nr; i++)
		if (tells(all[i]))
			r = make_line(&lines[nr++], all[i], dat);
	if (!r && nr)
		qsort(lines, nr, sizeof(*lines), by_weight);
	for (size_t i = 0; i < nr; i++) {
		if (!r)
			put_line(out, dat, &lines[i]);
		free((void *)lines[i].label);
	}
	free(all);
	free(lines);
	return r;
}

static bool any_tells(const struct map *rows)
{
	const struct map_entry **all;
	bool any = false;

	if (map_list(rows, &all))
		return true;
	for (size_t i = 0; i < rows->nr && !any; i++)
		any = tells(all[i]);
	free(all);
	return any;
}

static const char *name_of(const struct profile_file *file, int pid,
			   const struct profile_owner *task)
{
	const char *comm = task->has_name ? task->name : dat_comm(file->dat, pid);

	return comm ? comm : pid ? "<...>" : "<idle>";
}

static int by_kind(const void *a, const void *b)
{
	const struct profile_owner_key *x = (*(const struct map_entry *const *)a)->key;
	const struct profile_owner_key *y = (*(const struct map_entry *const *)b)->key;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int put_owner(struct buf *out, const struct profile_file *file,
		     const struct map_entry *entry)
{
	const struct profile_owner_key *key = entry->key;
	const struct profile_owner *owner = entry->value;

	if (key->kind == PROFILE_TASK)
		buf_printf(out, "\ntask: %s-%d\n", name_of(file, key->number, owner), key->number);
	else if (!any_tells(&owner->rows))
		return 0;
	else if (key->kind == PROFILE_CPU)
		buf_printf(out, "Global CPU[%d] Events\n", key->number);
	else
		buf_puts(out, "Global Events\n");
	return put_rows(out, file->dat, &owner->rows);
}

static int merge_row(struct profile_owner *group, const struct map_entry *entry)
{
	struct profile_row_key key = *(const struct profile_row_key *)entry->key;
	const struct decode_format *format = (const void *)(uintptr_t)key.format;
	const struct profile_row *from = entry->value;
	struct profile_row *to;

	/* Who was woken is what the group is about. */
	if (!strcmp(format->name, "sched_wakeup"))
		key.value = 0;
	to = map_get(&group->rows, &key, sizeof(key), sizeof(*to));
	if (!to)
		return -ENOMEM;
	profile_times_merge(&to->times, &from->times);
	return profile_stacks_merge(&to->stacks, from->stacks) ? 0 : -ENOMEM;
}

static int merge_task(struct map *groups, const char *name, const struct profile_owner *task)
{
	struct profile_owner *group = map_get(groups, name, strlen(name) + 1, sizeof(*group));
	const struct map_entry **rows;
	int r = group ? map_list(&task->rows, &rows) : -ENOMEM;

	if (r)
		return r;
	for (size_t i = 0; i < task->rows.nr && !r; i++)
		r = merge_row(group, rows[i]);
	free(rows);
	return r;
}

static int by_name(const void *a, const void *b)
{
	const struct map_entry *x = *(const struct map_entry *const *)a;
	const struct map_entry *y = *(const struct map_entry *const *)b;

	return strcmp(x->key, y->key);
}

static int put_groups(struct buf *out, const struct profile_file *file, struct map *groups)
{
	const struct map_entry **all;
	int r = map_list(groups, &all);

	if (r)
		return r;
	qsort(all, groups->nr, sizeof(*all), by_name);
	for (size_t i = 0; i < groups->nr && !r; i++) {
		const struct profile_owner *group = all[i]->value;

		buf_printf(out, "\ngroup: %s\n", (const char *)all[i]->key);
		r = put_rows(out, file->dat, &group->rows);
	}
	free(all);
	return r;
}

static int put_file(const struct report_profile *p, const struct profile_file *file,
		    struct buf *out)
{
	struct map groups = MAP_INIT;
	const struct map_entry **all;
	int r = map_list(&file->owners, &all);

	if (r)
		return r;
	qsort(all, file->owners.nr, sizeof(*all), by_kind);
	for (size_t i = 0; i < file->owners.nr && !r; i++) {
		const struct profile_owner_key *key = all[i]->key;

		if (key->kind == PROFILE_TASK && (p->flags & REPORT_PROFILE_BY_COMM))
			r = merge_task(&groups, name_of(file, key->number, all[i]->value),
				       all[i]->value);
		else
			r = put_owner(out, file, all[i]);
	}
	if (!r && groups.nr)
		r = put_groups(out, file, &groups);
	profile_owners_fini(&groups);
	free(all);
	return r;
}

int report_profile_end(struct report_profile *p, struct buf *out)
{
	int r = 0;

	for (size_t i = 0; i < p->nr_files && !r; i++)
		r = put_file(p, &p->files[i], out);
	return r;
}
