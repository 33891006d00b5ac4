/*
 * A file as libtracecmd reads it: a line for each record, buffer after buffer, each in the order of time.
 *
 *	BUFFER TIME CPU PID TASK ID SYSTEM/EVENT BYTES
 *
 * Built by readers.sh, where the library is installed. See as_ringside.c.
 */
#include <stdio.h>
#include <string.h>

#include <trace-cmd.h>

static int show(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *name)
{
	struct tep_handle *tep = tracecmd_get_tep(handle);
	struct tep_event *event = tep_find_event_by_record(tep, record);

	if (!event)
		return -1;
	printf("%s %llu %d %d %s %d %s/%s %d\n", (const char *)name, record->ts, cpu, tep_data_pid(tep, record),
	       tep_data_comm_from_pid(tep, tep_data_pid(tep, record)), tep_data_type(tep, record), event->system,
	       event->name, record->size);
	return 0;
}

static int show_buffer(struct tracecmd_input *handle, const char *name)
{
	return tracecmd_iterate_events(handle, NULL, 0, show, (void *)name);
}

int main(int argc, char **argv)
{
	struct tracecmd_input *file = argc == 2 ? tracecmd_open(argv[1], 0) : NULL;
	int r;

	if (!file)
		return 1;
	r = show_buffer(file, "-");
	for (int i = 0; !r && i < tracecmd_buffer_instances(file); i++) {
		struct tracecmd_input *instance = tracecmd_buffer_instance_handle(file, i);

		r = instance ? show_buffer(instance, tracecmd_buffer_instance_name(file, i)) : 1;
		tracecmd_close(instance);
	}
	tracecmd_close(file);
	return r ? 1 : 0;
}
