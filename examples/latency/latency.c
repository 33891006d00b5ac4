/*
 * How long tasks wait for a CPU after they were woken, from a trace file:
 *
 *	trace-cmd record -e sched_waking -e sched_switch sleep 10
 *	latency [trace.dat [COMM]]
 *
 * A histogram of all waits, or of those of tasks with one name, and the longest one with the line
 * in which it ended. It is what a reader of trace files looks like: open, choose, go through
 * records, ask for fields by name.
 */
#include <inttypes.h>
#include <ringside/dat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIDS 4194304	/* as many as Linux ever has */
#define BUCKETS 24	/* the last one begins at 4 seconds */

struct latency {
	const char *comm;		/* NULL: all */
	uint64_t *woken;		/* by PID; 0: not waiting */
	unsigned long buckets[BUCKETS];	/* below 1, 2, 4, ... microseconds */
	unsigned long waits;
	uint64_t longest;
	char *line;			/* of the longest */
};

/* A task that is woken again before it runs has waited since the first time. */
static void wake(struct latency *latency, const struct ringside_dat_record *record)
{
	long long pid;

	if (ringside_dat_record_number(record, "pid", &pid) || pid <= 0 || pid >= PIDS)
		return;
	if (!latency->woken[pid])
		latency->woken[pid] = ringside_dat_record_time(record);
}

static void count(struct latency *latency, const struct ringside_dat_record *record, uint64_t wait)
{
	int i = 0;

	while (i < BUCKETS - 1 && wait >= 1000ull << i)
		i++;
	latency->buckets[i]++;
	latency->waits++;
	if (wait <= latency->longest)
		return;
	latency->longest = wait;
	free(latency->line);
	latency->line = strdup(ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL));
}

static void run(struct latency *latency, const struct ringside_dat_record *record)
{
	const char *comm;
	uint64_t since;
	long long pid;

	if (ringside_dat_record_number(record, "next_pid", &pid) || pid <= 0 || pid >= PIDS ||
	    ringside_dat_record_string(record, "next_comm", &comm))
		return;
	since = latency->woken[pid];
	latency->woken[pid] = 0;
	if (since && (!latency->comm || !strcmp(comm, latency->comm)))
		count(latency, record, ringside_dat_record_time(record) - since);
}

static int look(const struct ringside_dat_record *record, void *context)
{
	struct latency *latency = context;

	/* Nobody knows who was woken meanwhile, or ran. */
	if (ringside_dat_record_lost(record))
		memset(latency->woken, 0, PIDS * sizeof(*latency->woken));
	if (!strcmp(ringside_dat_record_name(record), "sched_switch"))
		run(latency, record);
	else
		wake(latency, record);
	return 0;
}

static void show(const struct latency *latency)
{
	static const char bar[] = "########################################";
	unsigned long most = 1;

	for (int i = 0; i < BUCKETS; i++)
		most = latency->buckets[i] > most ? latency->buckets[i] : most;
	for (int i = 0; i < BUCKETS; i++)
		if (latency->buckets[i])
			printf("< %8lu us %8lu %.*s\n", 1ul << i, latency->buckets[i],
			       (int)(latency->buckets[i] * (sizeof(bar) - 1) / most), bar);
	printf("%lu waits\n", latency->waits);
	if (latency->line)
		printf("the longest, %" PRIu64 ".%03" PRIu64 " us, ended here:\n%s\n",
		       latency->longest / 1000, latency->longest % 1000, latency->line);
}

/* 0, or negative with words. */
static int measure(struct latency *latency, struct ringside_dat_records *records)
{
	int r = ringside_dat_records_filter(records, "sched/sched_switch");

	if (!r)
		r = ringside_dat_records_filter(records, "sched/sched_waking");
	if (!r)
		r = ringside_dat_records_each(records, look, latency);
	if (r)
		fprintf(stderr, "latency: %s\n", ringside_dat_records_error(records));
	return r;
}

int main(int argc, char **argv)
{
	struct latency latency = { .comm = argc > 2 ? argv[2] : NULL };
	struct ringside_dat_records *records = NULL;
	struct ringside_dat *file;
	int r;

	latency.woken = calloc(PIDS, sizeof(*latency.woken));
	r = ringside_dat_open(&file, argc > 1 ? argv[1] : "trace.dat");
	if (r)
		fprintf(stderr, "latency: %s\n", ringside_dat_error(file));
	if (!r)
		r = ringside_dat_records_open(&records, file);
	if (!r)
		r = latency.woken ? measure(&latency, records) : -1;
	if (!r)
		show(&latency);
	ringside_dat_records_close(records);
	ringside_dat_close(file);
	free(latency.woken);
	free(latency.line);
	return r != 0;
}
