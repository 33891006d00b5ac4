/*
 * A setup of the real kernel's tracefs, in instances of our own: what it changed in one that was there is undone, one for this
 * alone goes, and one whose recorder was killed is swept, but not that of one who lives.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/setup.h"
#include "insist.h"

static const struct opt table[] = { SETUP_BUFFER_OPTS, SETUP_LINE_OPTS, { 0, "kernel", NULL, "" },
				    { 0, NULL, NULL, NULL } };
static const struct setup_how fresh = { .on = true, .fresh = true };
static char mine[64];

static void leave(void)
{
	struct source_how how = { .kernel = true };
	char path[100];
	struct source *source;

	snprintf(path, sizeof(path), "instances/%s", mine);
	if (!source_open(&source, &how, NULL)) {
		source_rmdir(source, path, NULL);
		source_close(source);
	}
}

/* Applied on a source of its own, which stays open. */
static int apply(struct setup **setup, struct opts *opts, struct source **source, int argc, char **argv,
		 struct err *err)
{
	struct source_how how = { .kernel = true };
	int r = opts_parse(opts, argc, argv, table, NULL, 0, err);

	if (!r)
		r = setup_parse(setup, opts, &fresh, err);
	if (!r)
		r = source_open(source, &how, err);
	return r ? r : setup_apply(*setup, *source, err);
}

#define APPLY(setup, opts, source, err, ...)                                                       \
	apply(setup, opts, source, sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *),             \
	      (char *[]){ __VA_ARGS__ }, err)

static const char *const files[] = {
	"trace_clock", "trace_options", "buffer_size_kb", "tracing_cpumask", "set_event", "set_event_pid",
	"set_event_notrace_pid", "tracing_on", "events/sched/sched_switch/filter",
	"events/sched/sched_switch/trigger",
};

/* All that the instance says. */
static char *say(struct source *source)
{
	struct buf text = BUF_INIT;
	char path[200];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "instances/%s/%s", mine, files[i]);
		source_read(source, path, &text, NULL);
	}
	return buf_take(&text);
}

static void put(struct source *source, const char *file, const char *text)
{
	struct err err = ERR_INIT;
	char path[200];

	snprintf(path, sizeof(path), "instances/%s/%s", mine, file);
	CHECK(!source_write(source, path, text, strlen(text), true, &err), "%s", err.text);
}

static void check_undo(struct source *source)
{
	char pid[16], *before, *during, *after;
	struct err err = ERR_INIT;
	struct source *other;
	struct setup *setup;
	struct opts opts;

	put(source, "buffer_size_kb", "64");
	put(source, "set_event", "sched:sched_wakeup sched:sched_switch");
	put(source, "events/sched/sched_switch/filter", "prev_pid == 1");
	put(source, "set_event_pid", "1");
	before = say(source);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	CHECK(!APPLY(&setup, &opts, &other, &err, "--kernel", "-B", mine, "-C", "boot", "-O", "nooverwrite", "-b",
		     "128", "-M", "1", "-P", pid, "-e", "sched:sched_swi*", "-f", "prev_pid == 2", "-R", "traceoff",
		     "-e", "sched:sched_process_exit", "-v", "-e", "sched:sched_wakeup"), "%s", err.text);
	CHECK(!setup_hide(setup, getpid(), &err), "%s", err.text);
	CHECK(!setup_on(setup, &err), "%s", err.text);
	during = say(source);
	CHECK(strstr(during, "[boot]") && strstr(during, "sched:sched_process_exit") && strstr(during, "prev_pid == 2") &&
	      !strstr(during, "sched:sched_wakeup\n") && strstr(during, "traceoff"), "not set: %s", during);
	CHECK(!setup_undo(setup, &err), "%s", err.text);
	after = say(source);
	CHECK(!strcmp(before, after), "before:\n%s\nafter:\n%s", before, after);
	free(before);
	free(during);
	free(after);
	setup_close(setup);
	source_close(other);
	opts_fini(&opts);
}

static pid_t record_elsewhere(char name[100])
{
	int line[2];
	pid_t pid;

	CHECK(!pipe(line), "pipe");
	pid = fork();
	if (!pid) {
		struct err err = ERR_INIT;
		struct source *source;
		struct setup *setup;
		struct opts opts;

		/* A test that fails leaves nobody behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (APPLY(&setup, &opts, &source, &err, "--kernel", "-e", "sched:sched_switch")) {
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
		if (write(line[1], setup_instance(setup, 0), 64) != 64)
			_exit(1);
		for (;;)
			pause();
	}
	close(line[1]);
	strcpy(name, "instances/");
	CHECK(read(line[0], name + 10, 64) == 64, "it has nothing");
	close(line[0]);
	return pid;
}

static void check_sweep(struct source *source)
{
	struct err err = ERR_INIT;
	char dead[100], alive[100];
	pid_t first = record_elsewhere(dead), second = record_elsewhere(alive);

	CHECK(source_exists(source, dead) && source_exists(source, alive), "%s %s", dead, alive);
	setup_sweep(source, &err);
	CHECK(source_exists(source, dead) && source_exists(source, alive), "swept alive");
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	CHECK(setup_sweep(source, &err) >= 1, "nothing was swept: %s", err.text);
	CHECK(!source_exists(source, dead), "%s is still there", dead);
	CHECK(source_exists(source, alive), "%s is gone", alive);
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
	setup_sweep(source, &err);
	CHECK(!source_exists(source, alive), "%s is still there", alive);
}

int main(void)
{
	struct source_how how = { .kernel = true };
	struct err err = ERR_INIT;
	struct source *source;
	char path[200];

	snprintf(mine, sizeof(mine), "ringside-setup-%d", (int)getpid());
	snprintf(path, sizeof(path), "instances/%s", mine);
	if (source_open(&source, &how, &err) || source_mkdir(source, path, &err)) {
		printf("skip: %s\n", err.text);
		return 77;
	}
	atexit(leave);
	snprintf(path, sizeof(path), "instances/%s/events/sched/sched_switch/trigger", mine);
	if (!source_exists(source, path)) {
		printf("skip: this kernel has no sched_switch\n");
		return 77;
	}
	check_undo(source);
	check_sweep(source);
	source_close(source);
	return 0;
}
