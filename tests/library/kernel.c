/*
 * The library on the kernel's tracefs, in an instance of its own that goes away again: switches,
 * and markers read back as records that look as the kernel's file `trace` shows them; histograms and synthetic events where there are
 * any (tests/vm/ask.sh has them), and else a word on what is missing.
 */
#include <sys/syscall.h>

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

/* A kernel without: what it would have to be built with. */
static void without_histograms(void)
{
	struct ringside_control_hist *hist;

	REFUSED(tree, ringside_control_hist_start(tree, own, "sched", "sched_switch", "keys=prev_pid"), EINVAL);
	CHECK(strstr(ringside_control_error(tree), "CONFIG_HIST_TRIGGERS"), "%s", ringside_control_error(tree));
	REFUSED(tree, ringside_control_hist_read(&hist, tree, own, "sched", "sched_switch", 0), ENOENT);
	CHECK(strstr(ringside_control_error(tree), "CONFIG_HIST_TRIGGERS"), "%s", ringside_control_error(tree));
}

static void histograms(void)
{
	struct ringside_control_hist *hist;
	long long number;
	char *text;

	FINE(tree, ringside_control_hist_start(tree, own, "syscalls", "sys_enter_getppid", "keys=common_pid.execname:sort=hitcount"));
	for (int i = 0; i < 7; i++)
		syscall(SYS_getppid);
	FINE(tree, ringside_control_hist_read(&hist, tree, own, "syscalls", "sys_enter_getppid", 0));
	CHECK(ringside_control_hist_rows(hist) >= 1, "no rows");
	for (size_t i = 0; i < ringside_control_hist_rows(hist); i++)
		if (!ringside_control_hist_row_number(hist, i, 0, &number) && number == getpid())
			CHECK(ringside_control_hist_row_hits(hist, i) == 7, "%d", (int)ringside_control_hist_row_hits(hist, i));
	ringside_control_hist_free(hist);
	FINE(tree, ringside_control_hist_stop(tree, own, "syscalls", "sys_enter_getppid", "keys=common_pid.execname:sort=hitcount"));
	REFUSED(tree, ringside_control_hist_start(tree, own, "sched", "sched_switch", "keys=nosuch"), EINVAL);
	CHECK(strstr(ringside_control_error(tree), "Couldn't find field: 'nosuch'"), "%s", ringside_control_error(tree));
	/* Variables hold the instance, and the event: both go all the same. */
	FINE(tree, ringside_control_sql_execute(tree, own, "SELECT start.common_pid AS who, TIMESTAMP_DELTA AS ns FROM "
		"syscalls.sys_enter_getppid AS start JOIN syscalls.sys_exit_getppid AS end ON start.common_pid = end.common_pid",
		"ringside_test"));
	FINE(tree, ringside_control_hist_start(tree, own, "synthetic", "ringside_test", "keys=who:vals=ns"));
	syscall(SYS_getppid);
	FINE(tree, ringside_control_hist_read(&hist, tree, own, "synthetic", "ringside_test", 0));
	CHECK(ringside_control_hist_hits(hist) >= 1, "no pair");
	ringside_control_hist_free(hist);
	REFUSED(tree, ringside_control_synth_destroy(tree, "ringside_test"), EBUSY);
	FINE(tree, ringside_control_instance_destroy(tree, own));
	ringside_control_instance_free(own);
	own = NULL;
	FINE(tree, ringside_control_synth_destroy(tree, "ringside_test"));
	FINE(tree, ringside_control_file_read(tree, NULL, "synthetic_events", &text, NULL));
	CHECK(!strstr(text, "ringside_test"), "%s", text);
	free(text);
}

int main(void)
{
	char name[64];
	char *text;

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
	if (!ringside_control_file_read(tree, own, "events/sched/sched_switch/hist", &text, NULL)) {
		free(text);
		histograms();
	} else {
		without_histograms();
		FINE(tree, ringside_control_instance_destroy(tree, own));
		ringside_control_instance_free(own);
		own = NULL;
	}
	ringside_control_close(tree);
	return 0;
}
