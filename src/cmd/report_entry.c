/*
 * cmd/report_entry: see report.h. Threads that find an event for the first time make its entry one
 * after the other: plugins are looked up by one at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

int report_entries_new(struct report_file *file)
{
	/* Of these only what is touched takes memory. */
	file->entries = calloc(REPORT_IDS, sizeof(*file->entries));
	file->marks = malloc(REPORT_IDS);
	if (!file->entries || !file->marks)
		return -ENOMEM;
	/* An event that nobody has met may be one that leaves something behind. */
	memset(file->marks, 1, REPORT_IDS);
	return 0;
}

void report_entries_free(struct report_file *file)
{
	for (size_t i = 0; file->entries && i < REPORT_IDS; i++)
		free(atomic_load(&file->entries[i]));
	free(file->entries);
	free(file->marks);
}

static bool matches(const regex_t *re, const struct decode_format *format)
{
	return re && !regexec(re, format->name, 0, NULL, 0);
}

/*
 * Where all is to be the same, what libtraceevent cannot print or gets wrong is printed so, too. Else
 * not: where we can do better.
 */
static bool prints_better(const struct decode_format *format)
{
	if (!strcmp(format->system, "ftrace"))
		return !strcmp(format->name, "blktrace") || !strcmp(format->name, "bprint");
	return format->prog && !decode_tep_is_exact(format);
}

static void fill(const struct report *report, struct report_entry *entry,
		 const struct decode_format *format)
{
	entry->format = format;
	if (!format)
		return;
	entry->raw = report->raw || matches(report->raw_events, format);
	entry->flags = report->decode;
	if (!report->old_layout && prints_better(format))
		entry->flags ^= DECODE_TEP | DECODE_LONE;
	if (!entry->raw && !matches(report->plain_events, format))
		entry->plugin = decode_plugins_find(report->plugins, format);
	entry->carries = entry->plugin && decode_plugin_carries(entry->plugin);
	entry->learns_odd = report->old_layout && !entry->plugin &&
			    (entry->raw || decode_tep_is_raw(format, !report->no_plugins));
	entry->carries |= entry->learns_odd;
	entry->migrate_disable = decode_format_find(format, "common_migrate_disable");
	entry->lock_depth = decode_format_find(format, "common_lock_depth");
	entry->pid = decode_format_find(format, "pid");
	entry->next_pid = decode_format_find(format, "next_pid");
}

static struct report_entry *make(const struct report *report, struct report_file *file,
				 uint32_t id)
{
	const struct decode_format *format = dat_format(file->dat, id);
	struct report_entry *entry;
	struct buf name = BUF_INIT;

	if (format)
		tracecmd_name(&name, format->name);
	entry = calloc(1, sizeof(*entry) + name.len + TRACECMD_NAME_ROOM);
	if (entry) {
		fill(report, entry, format);
		entry->name_len = name.len;
		memcpy(entry->name, name.data ? name.data : "", name.len);
	}
	buf_fini(&name);
	return entry;
}

const struct report_entry *report_entry_make(const struct report *report,
					     struct report_file *file, uint32_t id)
{
	struct report_entry *entry;

	pthread_mutex_lock(&making);
	entry = atomic_load(&file->entries[id]);
	if (!entry) {
		entry = make(report, file, id);
		atomic_store_explicit(&file->entries[id], entry, memory_order_release);
	}
	pthread_mutex_unlock(&making);
	return entry;
}
