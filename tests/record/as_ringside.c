/*
 * A file as libringside-dat reads it, in the words of as_tracecmd.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include <ringside/dat.h>

static int show_buffer(struct ringside_dat *file, const char *name)
{
	struct ringside_dat_records *records = NULL;
	const struct ringside_dat_record *record;
	int r = ringside_dat_records_open(&records, file);

	if (!r)
		r = ringside_dat_records_buffer(records, name);
	while (!r && (r = ringside_dat_records_next(records, &record)) > 0) {
		size_t len;

		ringside_dat_record_data(record, &len);
		printf("%s %" PRIu64 " %d %d %s %d %s/%s %zu\n", *name ? name : "-", ringside_dat_record_time(record),
		       ringside_dat_record_cpu(record), ringside_dat_record_pid(record),
		       ringside_dat_record_comm(record), ringside_dat_record_id(record),
		       ringside_dat_record_system(record), ringside_dat_record_name(record), len);
		r = 0;
	}
	if (r < 0)
		fprintf(stderr, "%s\n", ringside_dat_records_error(records));
	ringside_dat_records_close(records);
	return r;
}

int main(int argc, char **argv)
{
	const struct ringside_dat_buffer *buffer;
	struct ringside_dat *file;
	int r = argc == 2 ? ringside_dat_open(&file, argv[1]) : -1;

	for (size_t i = 0; !r && (buffer = ringside_dat_buffer_at(file, i)); i++)
		r = show_buffer(file, buffer->name);
	return r ? 1 : 0;
}
