/*
 * Whoever waits for records is stopped by another thread and by a signal handler, and hears of a
 * signal that stops nothing; what was taken out before is handed out first. In a tracing
 * directory, and in a tree of files whose pipes never say anything.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "library/lab.h"

static struct ringside_control_records *waiting;
static volatile sig_atomic_t stops, rings;

static void on_alarm(int number)
{
	(void)number;
	rings++;
	if (stops)
		ringside_control_records_stop(waiting);
}

static void *stop(void *arg)
{
	ringside_control_records_stop(arg);
	return NULL;
}

static struct ringside_control_records *begin(struct ringside_control *tree)
{
	struct ringside_control_records *records;

	FINE(tree, ringside_control_records_open(&records, tree, NULL, RINGSIDE_CONTROL_ANY_CPU, 0));
	return records;
}

/* Rings again and again, so that one of them comes during the wait. */
static void alarms(int on)
{
	struct itimerval every = { { 0, on ? 5000 : 0 }, { 0, on ? 5000 : 0 } };

	CHECK(!setitimer(ITIMER_REAL, &every, NULL), "setitimer");
}

static int never(const struct ringside_control_record *record, void *context)
{
	(void)record;
	(void)context;
	return 1;
}

static void by_thread(struct ringside_control *tree)
{
	struct ringside_control_records *records = begin(tree);
	const struct ringside_control_record *record;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, stop, records), "thread");
	CHECK(ringside_control_records_next(records, &record, -1) == -ECANCELED, "stopped");
	CHECK(!record && *ringside_control_records_error(records), "words");
	CHECK(ringside_control_records_next(records, &record, -1) == -ECANCELED, "stays stopped");
	CHECK(!pthread_join(thread, NULL), "join");
	ringside_control_records_close(records);

	records = begin(tree);
	CHECK(!pthread_create(&thread, NULL, stop, records), "thread");
	CHECK(ringside_control_records_each(records, -1, never, NULL) == 0, "stopped");
	CHECK(!pthread_join(thread, NULL), "join");
	ringside_control_records_close(records);
}

static void by_handler(struct ringside_control *tree)
{
	struct sigaction action = { .sa_handler = on_alarm };
	const struct ringside_control_record *record;

	CHECK(!sigaction(SIGALRM, &action, NULL), "sigaction");
	waiting = begin(tree);
	stops = 0;
	alarms(1);
	CHECK(ringside_control_records_next(waiting, &record, -1) == -EINTR, "interrupted");
	stops = 1;
	CHECK(ringside_control_records_each(waiting, -1, never, NULL) == 0, "stopped");
	alarms(0);
	CHECK(rings > 0, "rings");
	ringside_control_records_close(waiting);
}

static int first_stops(const struct ringside_control_record *record, void *context)
{
	int *n = context;

	(void)record;
	if (!(*n)++)
		ringside_control_records_stop(waiting);
	return 0;
}

/*
 * All of the program's events are on one page, or a few: with the first of them that page is
 * taken out.
 */
static void hands_out(struct ringside_control *tree)
{
	int n = 0, rest = 0;

	FINE(tree, ringside_control_event_enable(tree, NULL, "lab", NULL));
	lab_run("9");
	waiting = begin(tree);
	CHECK(ringside_control_records_each(waiting, -1, first_stops, &n) == 0, "stopped");
	ringside_control_records_close(waiting);
	waiting = begin(tree);
	CHECK(ringside_control_records_each(waiting, 0, first_stops, &rest) == 0, "the rest");
	ringside_control_records_close(waiting);
	CHECK(n > 0 && n + rest == 10, "%d and %d of 10", n, rest);
}

int main(void)
{
	struct ringside_control *tree = lab_open();
	char root[4096], path[8192];

	by_thread(tree);
	by_handler(tree);
	hands_out(tree);
	ringside_control_close(tree);

	snprintf(root, sizeof(root), "%s/plain", getenv("RINGSIDE_SCRATCH"));
	lab_puts(root, "tracing_on", "1\n");
	lab_puts(root, "per_cpu/cpu0/stats", "");
	snprintf(path, sizeof(path), "%s/per_cpu/cpu0/trace_pipe_raw", root);
	CHECK(!mkfifo(path, 0600), "%s", path);
	FINE(tree, ringside_control_open_tracefs(&tree, root));
	by_thread(tree);
	by_handler(tree);
	ringside_control_close(tree);
	return 0;
}
