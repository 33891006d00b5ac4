/*
 * library/records: reading live records: open, next, stop. See records.h.
 *
 * What is asked for by one thread may be stopped by another, or by a handler of the same one,
 * with a single store.
 */
#include "library/records.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mono.h"

/* The tree once more, and whose records. */
static int fill(struct ringside_control_records *records, struct ringside_control *tree,
		const struct ringside_control_instance *instance)
{
	struct source_how how = { .dir = source_name(tree->source) };
	char *prefix = strdup(library_prefix(instance));

	records->prefix = prefix;
	records->instance = strdup(instance ? instance->name : "");
	if (!prefix || !records->instance)
		return err_set(&tree->err, -ENOMEM, "out of memory");
	if (tree->files) {
		how.tracefs = how.dir;
		how.dir = NULL;
	}
	return source_open(&records->source, &how, &tree->err);
}

static int check(struct ringside_control *tree, int cpu, unsigned int flags)
{
	if (cpu < -1)
		return err_set(&tree->err, -EINVAL, "there is no CPU %d", cpu);
	if (flags & ~(unsigned int)(RINGSIDE_CONTROL_PEEK | RINGSIDE_CONTROL_SNAPSHOT) ||
	    (flags & RINGSIDE_CONTROL_SNAPSHOT && !(flags & RINGSIDE_CONTROL_PEEK)))
		return err_set(&tree->err, -EINVAL, "records cannot be read with the flags %#x", flags);
	if (flags && tree->files)
		return err_set(&tree->err, -EOPNOTSUPP, "%.300s: a tree of files gives records only "
			       "to those who take them out", source_name(tree->source));
	return 0;
}

int ringside_control_records_open(struct ringside_control_records **out,
				  struct ringside_control *tree,
				  const struct ringside_control_instance *instance, int cpu,
				  unsigned int flags)
{
	struct ringside_control_records *records;
	int r;

	*out = NULL;
	r = library_begin(tree);
	if (!r)
		r = check(tree, cpu, flags);
	if (r)
		return r;
	records = calloc(1, sizeof(*records));
	if (!records)
		return err_set(&tree->err, -ENOMEM, "out of memory");
	records->cpu = cpu;
	records->flags = flags;
	records->err = (struct err)ERR_INIT;
	records->record.records = records;
	r = fill(records, tree, instance);
	if (!r) {
		r = tree->files ? records_pipes_open(records) : records_rows_open(records);
		if (r)
			err_set(&tree->err, r, "%s", records->err.text);
	}
	if (r)
		ringside_control_records_close(records);
	else
		*out = records;
	return r;
}

void ringside_control_records_close(struct ringside_control_records *records)
{
	if (!records)
		return;
	if (records->kind)
		records->kind->close(records);
	records_texts_drop(&records->texts);
	source_close(records->source);
	free((char *)records->prefix);
	free(records->instance);
	free(records);
}

void ringside_control_records_stop(struct ringside_control_records *records)
{
	__atomic_store_n(&records->stopped, 1, __ATOMIC_RELAXED);
}

const char *ringside_control_records_error(const struct ringside_control_records *records)
{
	return records ? records->err.text : "";
}

/* A record that is there now. 1 or 0. */
static int take(struct ringside_control_records *records)
{
	struct ringside_control_record *record = &records->record;

	if (!records->ending && __atomic_load_n(&records->stopped, __ATOMIC_RELAXED)) {
		records->ending = true;
		records->kind->end(records);
	}
	record->row = (struct report_row){ 0 };
	record->lost = 0;
	return records->kind->next(records, &record->row, &record->lost);
}

/* 0 when it is worth another look, 1 when time is up. */
static int pause_until(struct ringside_control_records *records, int64_t deadline)
{
	int64_t left = deadline - mono_ms();
	int r;

	if (left <= 0)
		return 1;
	r = records->kind->wait(records, left < RECORDS_WAIT_MS ? (int)left : RECORDS_WAIT_MS);
	if (r == -EINTR && !__atomic_load_n(&records->stopped, __ATOMIC_RELAXED))
		return err_set(&records->err, r, "a signal was caught");
	return r < 0 && r != -EINTR ? r : 0;
}

int ringside_control_records_next(struct ringside_control_records *records,
				  const struct ringside_control_record **record, int timeout_ms)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : mono_ms() + timeout_ms;
	int r;

	*record = NULL;
	records->err = (struct err)ERR_INIT;
	records_texts_drop(&records->texts);
	while (!(r = take(records))) {
		if (records->ending)
			return err_set(&records->err, -ECANCELED, "reading was stopped");
		if (records->flags & RINGSIDE_CONTROL_PEEK)
			return 0;
		r = pause_until(records, deadline);
		if (r)
			return r < 0 ? r : 0;
	}
	if (r > 0)
		*record = &records->record;
	return r;
}

int ringside_control_records_each(struct ringside_control_records *records, int timeout_ms,
				  int (*callback)(const struct ringside_control_record *record,
						  void *context),
				  void *context)
{
	const struct ringside_control_record *record;
	int r;

	do {
		r = ringside_control_records_next(records, &record, timeout_ms);
		if (r == 1)
			r = callback(record, context);
		else if (r == -EINTR)
			r = 0;
		else
			return r == -ECANCELED ? 0 : r;
	} while (!r);
	return r;
}
