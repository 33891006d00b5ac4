/*
 * Records of files that trace-cmd wrote on a real kernel: all of them, in order, with the lines that
 * are known; of some CPUs, buffers and events; from a time to another.
 */
#include <errno.h>

#include "reader/lab.h"

static struct ringside_dat *mixed, *graph, *instances;

static void all(void)
{
	CHECK(lab_count(lab_read(mixed)) == 9674, "mixed");
	CHECK(lab_count(lab_read(graph)) == 314, "graph");
	CHECK(lab_count(lab_read(instances)) == 3881, "instances");
}

static void lines(void)
{
	struct ringside_dat_records *records = lab_read(mixed);
	const struct ringside_dat_record *record;
	long long pid;
	int n = 0;

	while (n < 14 && ringside_dat_records_next(records, &record) == 1)
		if (!n++)
			CHECK(!strcmp(ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL),
				      "              sh-149     [000] .....     6.719489: sys_exit: NR 1 = 1"),
			      "'%s'", ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL));
	CHECK(!strcmp(ringside_dat_record_name(record), "sched_switch"), "%s",
	      ringside_dat_record_name(record));
	CHECK(!ringside_dat_record_number(record, "next_pid", &pid) && pid == 147, "%lld", pid);
	CHECK(!strcmp(ringside_dat_record_text(record, RINGSIDE_DAT_KERNEL),
		      "prev_comm=trace-cmd prev_pid=149 prev_prio=120 prev_state=R ==> "
		      "next_comm=trace-cmd next_pid=147 next_prio=120"), "'%s'",
	      ringside_dat_record_text(record, RINGSIDE_DAT_KERNEL));
	CHECK(!strcmp(ringside_dat_record_text(record, RINGSIDE_DAT_TRACE_CMD),
		      "trace-cmd:149 [120] R ==> trace-cmd:147 [120]"), "'%s'",
	      ringside_dat_record_text(record, RINGSIDE_DAT_TRACE_CMD));
	ringside_dat_records_close(records);
}

/* A function that called no other one: its line is that of its call, and its return has none. */
static void joined(void)
{
	struct ringside_dat_records *records = lab_read(graph);
	const struct ringside_dat_record *record;
	char before[4096] = "";
	int n = 0;

	while (ringside_dat_records_next(records, &record) == 1) {
		const char *text = ringside_dat_record_text(record, RINGSIDE_DAT_TRACE_CMD);

		if (ringside_dat_record_cpu(record))
			continue;
		if (ringside_dat_record_is_joined(record)) {
			CHECK(!strcmp(ringside_dat_record_name(record), "funcgraph_exit"), "%s",
			      ringside_dat_record_name(record));
			CHECK(strstr(before, "();"), "'%s'", before);
			n++;
		} else {
			CHECK(!strstr(before, "();"), "'%s' had no end", before);
		}
		snprintf(before, sizeof(before), "%s", text);
	}
	CHECK(n == 74, "%d", n);
	ringside_dat_records_close(records);
}

static void some_cpus(void)
{
	struct ringside_dat_records *records = lab_read(mixed);

	FINE(records, ringside_dat_records_cpu(records, 1));
	CHECK(lab_count(records) == 4799, "CPU 1");
	records = lab_read(mixed);
	FINE(records, ringside_dat_records_cpu(records, 1));
	FINE(records, ringside_dat_records_cpu(records, 0));
	CHECK(lab_count(records) == 9674, "both");
	records = lab_read(mixed);
	FINE(records, ringside_dat_records_cpu(records, 7));
	REFUSED(records, ringside_dat_records_cpu(records, -1), EINVAL);
	CHECK(lab_count(records) == 0, "a CPU that is not there");
}

static void some_buffers(void)
{
	struct ringside_dat_records *records = lab_read(instances);
	const struct ringside_dat_record *record;

	FINE(records, ringside_dat_records_buffer(records, "rare"));
	CHECK(ringside_dat_records_next(records, &record) == 1, "rare");
	CHECK(!strcmp(ringside_dat_record_buffer(record)->name, "rare"), "which");
	CHECK(lab_count(records) == 42, "rare");
	records = lab_read(instances);
	FINE(records, ringside_dat_records_buffer(records, ""));
	CHECK(lab_count(records) == 0, "the top");
	records = lab_read(instances);
	FINE(records, ringside_dat_records_buffer(records, "none"));
	REFUSED(records, ringside_dat_records_next(records, &record), ENOENT);
	ringside_dat_records_close(records);
}

static int count_filtered(const char *only, const char *without)
{
	struct ringside_dat_records *records = lab_read(mixed);

	if (only)
		FINE(records, ringside_dat_records_filter(records, only));
	if (without)
		FINE(records, ringside_dat_records_exclude(records, without));
	return lab_count(records);
}

static void filters(void)
{
	struct ringside_dat_records *records = lab_read(mixed);

	CHECK(count_filtered("sched_switch", NULL) == 306, "sched_switch");
	CHECK(count_filtered("sched_switch: prev_pid == 0", NULL) == 98, "idle");
	CHECK(count_filtered("sched_switch", "sched_switch: prev_pid == 0") == 306 - 98, "not idle");
	CHECK(count_filtered(NULL, "sched_switch") == 9674 - 306, "all but");
	REFUSED(records, ringside_dat_records_filter(records, "none: a == 1"), ENOENT);
	REFUSED(records, ringside_dat_records_filter(records, "sched_switch: prev_pid =="), EBADMSG);
	CHECK(strstr(ringside_dat_records_error(records), "character"), "%s",
	      ringside_dat_records_error(records));
	REFUSED(records, ringside_dat_records_filter(records, NULL), EINVAL);
	CHECK(lab_count(records) == 9674, "as if nobody had asked");
}

static void ends(void)
{
	struct ringside_dat_records *records = lab_read(mixed);
	uint64_t first, last;

	CHECK(ringside_dat_records_span(records, &first, &last) == 1, "span");
	CHECK(first == 6719488546 && last == 7397063378, "%llu %llu", (unsigned long long)first,
	      (unsigned long long)last);
	FINE(records, ringside_dat_records_seek(records, last));
	CHECK(lab_count(records) == 1, "the last one");
	records = lab_read(mixed);
	FINE(records, ringside_dat_records_seek(records, last + 1));
	CHECK(lab_count(records) == 0, "behind the last one");
	records = lab_read(mixed);
	FINE(records, ringside_dat_records_until(records, first));
	CHECK(lab_count(records) == 1, "the first one");
}

/* Wherever one was: back and forth, each time all that there is from there on. */
static void seeks(void)
{
	struct ringside_dat_records *records = lab_read(mixed);
	const struct ringside_dat_record *record;
	static uint64_t times[9674];
	int n = 0;

	while (ringside_dat_records_next(records, &record) == 1)
		times[n++] = ringside_dat_record_time(record);
	for (int i = 9600; i >= 0; i -= 401) {
		int at = i, count = 0;

		while (at && times[at - 1] == times[i])
			at--;
		FINE(records, ringside_dat_records_until(records, times[i] + 1000000));
		FINE(records, ringside_dat_records_seek(records, times[i]));
		while (ringside_dat_records_next(records, &record) == 1) {
			CHECK(ringside_dat_record_time(record) == times[at + count], "%d + %d", at, count);
			count++;
		}
		CHECK(at + count == 9674 || times[at + count] > times[i] + 1000000, "%d + %d", at, count);
	}
	/* A later end goes on where the earlier one was. */
	FINE(records, ringside_dat_records_until(records, times[99]));
	FINE(records, ringside_dat_records_seek(records, 0));
	for (n = 0; ringside_dat_records_next(records, &record) == 1; n++)
		;
	FINE(records, ringside_dat_records_until(records, UINT64_MAX));
	CHECK(n + lab_count(records) == 9674, "%d and the rest", n);
}

static void too_late(void)
{
	struct ringside_dat_records *records = lab_read(mixed);
	const struct ringside_dat_record *record;

	CHECK(ringside_dat_records_next(records, &record) == 1, "a record");
	REFUSED(records, ringside_dat_records_cpu(records, 0), EBUSY);
	REFUSED(records, ringside_dat_records_buffer(records, ""), EBUSY);
	REFUSED(records, ringside_dat_records_filter(records, "sched_switch"), EBUSY);
	REFUSED(records, ringside_dat_records_add(records, graph, 0, 0), EBUSY);
	ringside_dat_records_close(records);
}

static int third(const struct ringside_dat_record *record, void *context)
{
	(void)record;
	return ++*(int *)context == 3 ? 42 : 0;
}

static void each(void)
{
	struct ringside_dat_records *records = lab_read(graph);
	int n = 0;

	CHECK(ringside_dat_records_each(records, third, &n) == 42 && n == 3, "%d", n);
	CHECK(ringside_dat_records_each(records, third, &n) == 0 && n == 314, "%d", n);
	ringside_dat_records_close(records);
}

/* Texts are the same whether or not those before were asked for. */
static void texts(struct ringside_dat *file)
{
	struct ringside_dat_records *every = lab_read(file), *few = lab_read(file);
	const struct ringside_dat_record *a, *b;

	for (int i = 0; ringside_dat_records_next(every, &a) == 1; i++) {
		const char *line = ringside_dat_record_line(a, RINGSIDE_DAT_TRACE_CMD);

		CHECK(line && ringside_dat_records_next(few, &b) == 1, "%d", i);
		CHECK(ringside_dat_record_is_joined(a) == ringside_dat_record_is_joined(b), "%d", i);
		CHECK(i % 7 || !strcmp(line, ringside_dat_record_line(b, RINGSIDE_DAT_TRACE_CMD)),
		      "'%s'", line);
	}
	ringside_dat_records_close(every);
	ringside_dat_records_close(few);
}

int main(void)
{
	lab_need_unpacking();
	mixed = lab_open(lab_data("mixed.v7.dat"));
	graph = lab_open(lab_data("graph.v7.dat"));
	instances = lab_open(lab_data("instances.v7.dat"));
	all();
	lines();
	joined();
	some_cpus();
	some_buffers();
	filters();
	ends();
	seeks();
	too_late();
	each();
	texts(mixed);
	texts(graph);
	ringside_dat_close(mixed);
	ringside_dat_close(graph);
	ringside_dat_close(instances);
	return 0;
}
