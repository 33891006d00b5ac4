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

const struct line_entry *report_entry_make(const struct report *report,
					     struct report_file *file, uint32_t id)
{
	struct line_entry *entry;

	pthread_mutex_lock(&making);
	entry = atomic_load(&file->entries[id]);
	if (!entry) {
		entry = line_entry_new(&report->look, dat_format(file->dat, id));
		atomic_store_explicit(&file->entries[id], entry, memory_order_release);
	}
	pthread_mutex_unlock(&making);
	return entry;
}
