/*
 * Live records of a tracing directory by the library: peeked and taken out, with all that is in
 * them; as they come; what was lost; one CPU's; one reader at a time; left to the next one.
 */
#include "library/lab.h"

#define ANY RINGSIDE_CONTROL_ANY_CPU

static struct ringside_control_records *begin(struct ringside_control *tree, int cpu, unsigned int flags)
{
	struct ringside_control_records *records;

	FINE(tree, ringside_control_records_open(&records, tree, NULL, cpu, flags));
	return records;
}

/* `context` is the number of records so far; in order of time. */
static int tally(const struct ringside_control_record *record, void *context)
{
	static uint64_t last;
	int *n = context;

	if (!*n)
		last = 0;
	CHECK(ringside_control_record_time(record) >= last, "order");
	last = ringside_control_record_time(record);
	++*n;
	return 0;
}

static int count(struct ringside_control *tree, int cpu, unsigned int flags)
{
	struct ringside_control_records *records = begin(tree, cpu, flags);
	int n = 0, r = ringside_control_records_each(records, 0, tally, &n);

	CHECK(!r, "%d: %s", r, ringside_control_records_error(records));
	ringside_control_records_close(records);
	return n;
}

static void check_step(const struct ringside_control_record *record, int n, pid_t pid)
{
	const char *text, *again;
	const void *bytes;
	long long number;
	double half;
	short pair[2];
	size_t len;

	CHECK(!strcmp(ringside_control_record_system(record), "lab") &&
	      !strcmp(ringside_control_record_event(record), "step"), "which event");
	CHECK(ringside_control_record_pid(record) == pid, "pid");
	CHECK(ringside_control_record_id(record) > 0x3fff, "id");
	CHECK(ringside_control_record_cpu(record) >= 0, "cpu");
	CHECK(ringside_control_record_data(record, &len) && len > 8, "bytes");
	CHECK(!ringside_control_record_number(record, "n", &number) && number == n, "n");
	CHECK(!ringside_control_record_number(record, "common_pid", &number) && number == pid, "pid");
	CHECK(!ringside_control_record_number(record, "big", &number) && number == -1 - n, "big");
	CHECK(!ringside_control_record_double(record, "half", &half) && half == n / 2.0, "half");
	CHECK(!ringside_control_record_string(record, "name", &text) && !strcmp(text, "ann"), "name");
	/* No NUL behind it in the record. */
	CHECK(!ringside_control_record_string(record, "tag", &again) && !strcmp(again, "abcd"), "tag");
	CHECK(!strcmp(text, "ann"), "the first text stays");
	CHECK(!ringside_control_record_bytes(record, "pair", &bytes, &len) && len == sizeof(pair), "pair");
	memcpy(pair, bytes, sizeof(pair));
	CHECK(pair[0] == n && pair[1] == -1, "pair");
	CHECK(ringside_control_record_number(record, "none", &number) == -ENOENT, "none");
	CHECK(ringside_control_record_number(record, NULL, &number) == -ENOENT, "NULL");
	CHECK(ringside_control_record_number(record, "name", &number) == -EINVAL, "not a number");
	CHECK(ringside_control_record_number(record, "half", &number) == -EINVAL, "not an integer");
	CHECK(ringside_control_record_double(record, "n", &half) == -EINVAL, "not a double");
	CHECK(ringside_control_record_string(record, "n", &text) == -EINVAL, "not a text");
	CHECK(!strcmp(ringside_control_record_field(record, 0), "n") &&
	      !strcmp(ringside_control_record_field(record, 5), "pair") &&
	      !ringside_control_record_field(record, 6), "fields");
}

/* The lines are those of `trace`. */
static void check_line(const struct ringside_control_record *record, const char *trace)
{
	const char *line = ringside_control_record_line(record);

	CHECK(line && !strchr(line, '\n') && strstr(trace, line), "'%s' is not in:\n%s", line, trace);
	CHECK(strstr(line, ringside_control_record_text(record)), "%s", line);
	CHECK(line == ringside_control_record_line(record), "made once");
}

static void peek_and_take(struct ringside_control *tree)
{
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	char *trace;
	pid_t pid;

	FINE(tree, ringside_control_event_enable(tree, NULL, "lab", NULL));
	pid = lab_run("3");
	CHECK(count(tree, ANY, RINGSIDE_CONTROL_PEEK) == 4, "peeked");
	CHECK(count(tree, ANY, RINGSIDE_CONTROL_PEEK) == 4, "peeked again");
	FINE(tree, ringside_control_file_read(tree, NULL, "trace", &trace, NULL));
	records = begin(tree, ANY, 0);
	for (int n = 0; n < 3; n++) {
		CHECK(ringside_control_records_next(records, &record, -1) == 1, "%d", n);
		check_step(record, n, pid);
		check_line(record, trace);
		CHECK(ringside_control_record_lost(record) == 0, "lost");
	}
	CHECK(ringside_control_records_next(records, &record, -1) == 1, "done");
	CHECK(!strcmp(ringside_control_record_text(record), "n=3"), "%s",
	      ringside_control_record_text(record));
	CHECK(ringside_control_records_next(records, &record, 0) == 0 && !record, "no more");
	CHECK(ringside_control_records_next(records, &record, 1) == 0 && !record, "no more");
	ringside_control_records_close(records);
	CHECK(count(tree, ANY, RINGSIDE_CONTROL_PEEK) == 0, "taken out");
	free(trace);
}

/* Waits for a program that waits for us. */
static void as_it_comes(struct ringside_control *tree)
{
	struct ringside_control_records *records = begin(tree, ANY, 0);
	const struct ringside_control_record *record;
	int pipes[2], n = 0;
	pid_t pid;

	CHECK(!pipe2(pipes, O_CLOEXEC), "pipe");
	pid = lab_start("5", pipes[0]);
	CHECK(ringside_control_records_next(records, &record, 0) == 0, "not yet");
	CHECK(write(pipes[1], "x", 1) == 1, "write");
	while (ringside_control_records_next(records, &record, -1) == 1) {
		n++;
		if (!strcmp(ringside_control_record_event(record), "done"))
			break;
		/* The tree may be used meanwhile. */
		CHECK(ringside_control_is_on(tree, NULL) == 1, "on");
		FINE(tree, ringside_control_option_set(tree, NULL, "overwrite", n % 2));
	}
	CHECK(n == 6, "%d of 6: %s", n, ringside_control_records_error(records));
	lab_end(pid);
	ringside_control_records_close(records);
	FINE(tree, ringside_control_option_set(tree, NULL, "overwrite", 1));
	close(pipes[0]);
	close(pipes[1]);
}

static int third(const struct ringside_control_record *record, void *context)
{
	(void)record;
	return ++*(int *)context == 3 ? 42 : 0;
}

static void left_to_the_next(struct ringside_control *tree)
{
	struct ringside_control_records *records = begin(tree, ANY, 0), *rival;
	int n = 0;

	REFUSED(tree, ringside_control_records_open(&rival, tree, NULL, ANY, 0), EBUSY);
	CHECK(!rival, "a rival");
	lab_run("9");
	CHECK(ringside_control_records_each(records, 0, third, &n) == 42 && n == 3, "%d", n);
	ringside_control_records_close(records);
	CHECK(count(tree, ANY, 0) == 7, "the rest");
}

static void refused(struct ringside_control *tree)
{
	struct ringside_control_records *records;

	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, 1 << 20, 0), ENXIO);
	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, -2, 0), EINVAL);
	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, ANY, 64), EINVAL);
	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, ANY,
						    RINGSIDE_CONTROL_SNAPSHOT), EINVAL);
	CHECK(!records, "records");
}

/* Each CPU's by itself are all of them. */
static void one_cpu(struct ringside_control *tree)
{
	int sum = 0;
	char **cpus;

	lab_run("20");
	FINE(tree, ringside_control_file_list(tree, NULL, "per_cpu", &cpus));
	for (int cpu = 0; cpus[cpu]; cpu++)
		sum += count(tree, cpu, RINGSIDE_CONTROL_PEEK);
	ringside_control_names_free(cpus);
	CHECK(sum == 21 && count(tree, ANY, 0) == 21, "%d", sum);
}

/* What does not fit is told, to the event. */
static void lost(struct ringside_control *tree)
{
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	uint64_t sum = 0;
	int n = 0;

	FINE(tree, ringside_control_buffer_size_set(tree, NULL, -1, 16));
	FINE(tree, ringside_control_clear(tree, NULL));
	lab_run("3000");
	records = begin(tree, ANY, 0);
	while (ringside_control_records_next(records, &record, 0) == 1) {
		CHECK(ringside_control_record_lost(record) != RINGSIDE_CONTROL_LOST_UNKNOWN, "unknown");
		sum += ringside_control_record_lost(record);
		n++;
	}
	ringside_control_records_close(records);
	CHECK(n > 0 && n < 3001 && sum + (uint64_t)n == 3001, "%d read and %llu lost", n,
	      (unsigned long long)sum);
}

int main(void)
{
	struct ringside_control *tree = lab_open();

	peek_and_take(tree);
	as_it_comes(tree);
	left_to_the_next(tree);
	refused(tree);
	one_cpu(tree);
	lost(tree);
	ringside_control_close(tree);
	return 0;
}
