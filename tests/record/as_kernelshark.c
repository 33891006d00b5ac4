/*
 * A file as KernelShark loads it: a line for each record of each of its streams, in the order of time.
 *
 *	BUFFER TIME CPU PID TASK SYSTEM/EVENT
 *
 * Built by readers.sh, where the library is installed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libkshark.h>
#include <libkshark-tepdata.h>

static void show(const char *buffer, struct kshark_entry *entry)
{
	char *task = kshark_get_task(entry), *event = kshark_get_event_name(entry);

	printf("%s %" PRId64 " %d %d %s %s\n", buffer, entry->ts, entry->cpu, entry->pid, task ? task : "?",
	       event ? event : "?");
	free(task);
	free(event);
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	int first, *streams;

	if (argc != 2 || !kshark_instance(&context))
		return 1;
	first = kshark_open(context, argv[1]);
	if (first < 0 || kshark_tep_init_all_buffers(context, first) < 0)
		return 1;
	streams = kshark_all_streams(context);
	for (int i = 0; i < context->n_streams; i++) {
		struct kshark_data_stream *stream = kshark_get_data_stream(context, streams[i]);
		struct kshark_entry **rows = NULL;
		ssize_t n = kshark_load_entries(context, streams[i], &rows);

		if (n < 0)
			return 1;
		for (ssize_t row = 0; row < n; row++) {
			show(streams[i] == first ? "-" : stream->name, rows[row]);
			free(rows[row]);
		}
		free(rows);
	}
	free(streams);
	kshark_close_all(context);
	kshark_free(context);
	return 0;
}
