/*
 * Single settings by the library, each read back: recording, clearing, snapshots, options,
 * clocks, sizes, pids, markers; in the top and in an instance, which has its own.
 */
#include "library/lab.h"

static int records(struct ringside_control *tree, const struct ringside_control_instance *instance,
		   unsigned int flags, char *last, size_t size)
{
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	int n = 0;

	FINE(tree, ringside_control_records_open(&records, tree, instance, RINGSIDE_CONTROL_ANY_CPU,
						 RINGSIDE_CONTROL_PEEK | flags));
	for (; ringside_control_records_next(records, &record, 0) == 1; n++)
		if (last)
			snprintf(last, size, "%s", ringside_control_record_text(record));
	ringside_control_records_close(records);
	return n;
}

static void recording(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	char text[256] = "";

	FINE(tree, ringside_control_on(tree, at));
	CHECK(ringside_control_is_on(tree, at) == 1, "on");
	FINE(tree, ringside_control_mark(tree, at, "one"));
	FINE(tree, ringside_control_markf(tree, at, "number %d", 2));
	CHECK(records(tree, at, 0, text, sizeof(text)) == 2 && strstr(text, "number 2"), "%s", text);
	FINE(tree, ringside_control_off(tree, at));
	CHECK(ringside_control_is_on(tree, at) == 0, "off");
	REFUSED(tree, ringside_control_mark(tree, at, "three"), EBADF);
	REFUSED(tree, ringside_control_mark(tree, at, NULL), EINVAL);
	CHECK(records(tree, at, 0, NULL, 0) == 2, "still two");
	FINE(tree, ringside_control_clear(tree, at));
	CHECK(records(tree, at, 0, NULL, 0) == 0, "cleared");
	FINE(tree, ringside_control_on(tree, at));
}

static void raw_markers(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	static const char large[4096];
	const unsigned char *data;
	long long number;
	size_t len;

	FINE(tree, ringside_control_mark_raw(tree, at, 77, "\x01\x00\x02", 3));
	REFUSED(tree, ringside_control_mark_raw(tree, at, 1, large, sizeof(large)), EINVAL);
	FINE(tree, ringside_control_mark_raw(tree, at, 78, large, 3072));
	FINE(tree, ringside_control_records_open(&records, tree, at, RINGSIDE_CONTROL_ANY_CPU, 0));
	CHECK(ringside_control_records_next(records, &record, 0) == 1, "the first");
	CHECK(!strcmp(ringside_control_record_event(record), "raw_data"), "raw_data");
	CHECK(!ringside_control_record_number(record, "id", &number) && number == 77, "77");
	data = ringside_control_record_data(record, &len);
	CHECK(len >= 15 && !memcmp(data + 12, "\x01\x00\x02", 3), "%zu bytes", len);
	CHECK(ringside_control_record_pid(record) == getpid(), "by us");
	CHECK(ringside_control_records_next(records, &record, 0) == 1, "the second");
	CHECK(ringside_control_records_next(records, &record, 0) == 0, "no third");
	ringside_control_records_close(records);
}

static void snapshots(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	char text[256] = "";

	FINE(tree, ringside_control_mark(tree, at, "aside"));
	FINE(tree, ringside_control_snapshot_take(tree, at));
	CHECK(records(tree, at, 0, NULL, 0) == 0, "begun anew");
	CHECK(records(tree, at, RINGSIDE_CONTROL_SNAPSHOT, text, sizeof(text)) == 1 &&
	      strstr(text, "aside"), "%s", text);
	FINE(tree, ringside_control_snapshot_free(tree, at));
	CHECK(records(tree, at, RINGSIDE_CONTROL_SNAPSHOT, NULL, 0) == 0, "freed");
}

static void options(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	char **names;

	FINE(tree, ringside_control_options(tree, at, &names));
	CHECK(lab_has(names, "overwrite"), "options");
	ringside_control_names_free(names);
	FINE(tree, ringside_control_option_set(tree, at, "overwrite", 0));
	CHECK(ringside_control_option_get(tree, at, "overwrite") == 0, "off");
	FINE(tree, ringside_control_option_set(tree, at, "overwrite", 5));
	CHECK(ringside_control_option_get(tree, at, "overwrite") == 1, "on");
	REFUSED(tree, ringside_control_option_set(tree, at, "none", 1), ENOENT);
	REFUSED(tree, ringside_control_option_get(tree, at, "none"), ENOENT);
}

static void clocks(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	char **names, *clock;

	CHECK(ringside_control_clocks(tree, at, &names) > 1, "%s", ringside_control_error(tree));
	CHECK(lab_has(names, "local") && lab_has(names, "counter"), "clocks");
	ringside_control_names_free(names);
	FINE(tree, ringside_control_clock_set(tree, at, "counter"));
	FINE(tree, ringside_control_clock_get(tree, at, &clock));
	CHECK(!strcmp(clock, "counter"), "%s", clock);
	free(clock);
	REFUSED(tree, ringside_control_clock_set(tree, at, "sundial"), EINVAL);
	FINE(tree, ringside_control_clock_set(tree, at, "local"));
}

static void sizes(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	size_t kb = 0;

	FINE(tree, ringside_control_buffer_size_set(tree, at, -1, 64));
	FINE(tree, ringside_control_buffer_size_get(tree, at, -1, &kb));
	CHECK(kb >= 64 && kb < 128, "%zu", kb);
	FINE(tree, ringside_control_buffer_size_get(tree, at, 0, &kb));
	CHECK(kb >= 64 && kb < 128, "%zu", kb);
	REFUSED(tree, ringside_control_buffer_size_set(tree, at, -1, 0), EINVAL);
	REFUSED(tree, ringside_control_buffer_size_get(tree, at, 1000000, &kb), ENOENT);
	REFUSED(tree, ringside_control_buffer_size_get(tree, at, -2, &kb), EINVAL);
}

static void pids(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	const int wanted[] = { 7, 1 };
	int *got;

	CHECK(ringside_control_pids_get(tree, at, &got) == 0, "none");
	free(got);
	FINE(tree, ringside_control_pids_set(tree, at, wanted, 2));
	CHECK(ringside_control_pids_get(tree, at, &got) == 2 && got[0] + got[1] == 8, "two");
	free(got);
	/* Not ours: nothing is recorded of it. */
	FINE(tree, ringside_control_event_enable(tree, at, "lab", NULL));
	lab_run("2");
	CHECK(records(tree, at, 0, NULL, 0) == 0, "of others");
	FINE(tree, ringside_control_pids_set(tree, at, NULL, 0));
	CHECK(ringside_control_pids_get(tree, at, &got) == 0, "none again");
	free(got);
	lab_run("2");
	CHECK(records(tree, at, 0, NULL, 0) == 3, "of all");
	FINE(tree, ringside_control_event_disable(tree, at, "lab", NULL));
}

static void all(struct ringside_control *tree, const struct ringside_control_instance *at)
{
	recording(tree, at);
	raw_markers(tree, at);
	snapshots(tree, at);
	options(tree, at);
	clocks(tree, at);
	sizes(tree, at);
	pids(tree, at);
}

int main(void)
{
	struct ringside_control *tree = lab_open();
	struct ringside_control_instance *side;

	all(tree, NULL);
	FINE(tree, ringside_control_instance_create(tree, "side", &side));
	all(tree, side);
	/* Each has its own. */
	FINE(tree, ringside_control_off(tree, side));
	CHECK(ringside_control_is_on(tree, NULL) == 1 && !ringside_control_is_on(tree, side), "own");
	FINE(tree, ringside_control_instance_destroy(tree, side));
	ringside_control_instance_free(side);
	ringside_control_close(tree);
	return 0;
}
