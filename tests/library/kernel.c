/*
 * The library on the kernel's tracefs, in an instance of its own that goes away again: switches,
 * and markers read back as records that look as the kernel's file `trace` shows them.
 */
#include "library/lab.h"

static struct ringside_control *tree;
static struct ringside_control_instance *own;

static void leave(void)
{
	if (own)
		ringside_control_instance_destroy(tree, own);
}

static void switches(void)
{
	char **names;
	size_t kb;

	CHECK(ringside_control_is_on(tree, own) == 1, "on");
	FINE(tree, ringside_control_off(tree, own));
	CHECK(ringside_control_is_on(tree, own) == 0, "off");
	FINE(tree, ringside_control_on(tree, own));
	FINE(tree, ringside_control_buffer_size_set(tree, own, -1, 128));
	FINE(tree, ringside_control_buffer_size_get(tree, own, 0, &kb));
	CHECK(kb >= 128 && kb < 256, "%zu", kb);
	FINE(tree, ringside_control_clock_set(tree, own, "mono"));
	CHECK(ringside_control_option_get(tree, own, "overwrite") == 1, "overwrite");
	REFUSED(tree, ringside_control_clock_set(tree, own, "sundial"), EINVAL);
	FINE(tree, ringside_control_event_enable(tree, own, "sched", "sched_sw?tch"));
	CHECK(ringside_control_event_is_enabled(tree, own, "sched", "sched_switch") == 1, "on");
	CHECK(ringside_control_event_is_enabled(tree, own, "sched", NULL) == RINGSIDE_CONTROL_MIXED, "some");
	FINE(tree, ringside_control_event_disable(tree, own, "sched", NULL));
	CHECK(ringside_control_event_is_enabled(tree, own, "sched", "sched_*") == 0, "off");
	CHECK(ringside_control_systems(tree, &names) > 5 && lab_has(names, "sched"), "systems");
	ringside_control_names_free(names);
	FINE(tree, ringside_control_clear(tree, own));
}

static void markers(void)
{
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	const char *text;
	char *trace;
	int n = 0;

	for (int i = 0; i < 100; i++)
		FINE(tree, ringside_control_markf(tree, own, "marker %d", i));
	FINE(tree, ringside_control_mark_raw(tree, own, 5, "data", 4));
	FINE(tree, ringside_control_file_read(tree, own, "trace", &trace, NULL));
	FINE(tree, ringside_control_records_open(&records, tree, own, RINGSIDE_CONTROL_ANY_CPU, 0));
	for (; n < 100 && ringside_control_records_next(records, &record, -1) == 1; n++) {
		char want[64];

		CHECK(!strcmp(ringside_control_record_event(record), "print"), "print");
		CHECK(ringside_control_record_pid(record) == getpid(), "by us");
		snprintf(want, sizeof(want), "marker %d\n", n);
		CHECK(!ringside_control_record_string(record, "buf", &text) && !strcmp(text, want), "%s", text);
		/* Behind the name, which the kernel may learn or forget at any time. */
		snprintf(want, sizeof(want), "-%d ", getpid());
		text = strstr(ringside_control_record_line(record), want);
		CHECK(text && strstr(trace, text), "'%s' is not in:\n%s",
		      ringside_control_record_line(record), trace);
	}
	CHECK(n == 100, "%d", n);
	CHECK(ringside_control_records_next(records, &record, -1) == 1 &&
	      !strcmp(ringside_control_record_event(record), "raw_data"), "raw");
	CHECK(ringside_control_records_next(records, &record, 0) == 0, "no more");
	ringside_control_records_close(records);
	free(trace);
}

int main(void)
{
	char name[64];

	if (ringside_control_open_tracefs(&tree, NULL)) {
		printf("no tracefs: %s\n", ringside_control_error(tree));
		ringside_control_close(tree);
		return 77;
	}
	snprintf(name, sizeof(name), "ringside-test-%d", getpid());
	if (ringside_control_instance_create(tree, name, &own)) {
		printf("no instance: %s\n", ringside_control_error(tree));
		ringside_control_close(tree);
		return 77;
	}
	atexit(leave);
	switches();
	markers();
	FINE(tree, ringside_control_instance_destroy(tree, own));
	ringside_control_instance_free(own);
	own = NULL;
	ringside_control_close(tree);
	return 0;
}
