/*
 * A setup of the real kernel's tracefs, in instances of our own: what it changed in one that was there is undone, one for this
 * alone goes, and what one who was killed has left, behind each of his changes, is taken back: by who watches him, or by who
 * comes next; but not that of one who lives.
 *
 *	KILL_EACH=1 setup_kernel	behind each single one; else behind some, with a random beginning
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/setup.h"
#include "insist.h"

static const struct opt table[] = { SETUP_BUFFER_OPTS, SETUP_LINE_OPTS, { 0, "kernel", NULL, "" },
				    { 0, NULL, NULL, NULL } };
static const struct setup_how fresh = { .on = true, .fresh = true };
/* Changes between two kills, when not each is wanted. */
#define STEP 13

static char mine[64], other[70];

static void leave(void)
{
	struct source_how how = { .kernel = true };
	char path[100];
	struct source *source;

	if (!source_open(&source, &how, NULL)) {
		snprintf(path, sizeof(path), "instances/%s", mine);
		source_rmdir(source, path, NULL);
		snprintf(path, sizeof(path), "instances/%s", other);
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
	"set_event_notrace_pid", "tracing_on", "events/sched/sched_switch/filter", "events/sched/sched_switch/trigger",
	"events/sched/sched_process_exit/enable", "events/sched/sched_process_exit/trigger", "events/sched/sched_process_fork/enable",
	"events/sched/sched_process_fork/filter",
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

/* As a person may have left it: one event is off, but has a trigger, and one has a filter that was refused. */
static void settle(struct source *source)
{
	char path[200];

	put(source, "buffer_size_kb", "64");
	put(source, "set_event", "sched:sched_wakeup sched:sched_switch");
	put(source, "events/sched/sched_switch/filter", "prev_pid == 1");
	put(source, "events/sched/sched_process_exit/trigger", "traceon:1 if prio == 1");
	put(source, "set_event_pid", "1");
	snprintf(path, sizeof(path), "instances/%s/events/sched/sched_process_fork/filter", mine);
	CHECK(source_write(source, path, "nothing == 1", 12, true, NULL), "that is no field");
	put(source, "events/sched/sched_process_fork/filter", "0");
}

/* All that a line can say of one buffer, with what sets off others. */
#define LINE "--kernel", "-B", mine, "-C", "boot", "-O", "nooverwrite", "-b", "128", "-M", "1", "-P", "1,2", "-e", "sched:sched_swi*", "-f", \
	"prev_pid == 2", "-R", "traceoff:1 if prev_pid == 77777", "-R", "enable_event:sched:sched_process_fork:1", "-e", "sched:sched_process_exit", \
	"-v", "-e", "sched:sched_wakeup"

static void check_undo(struct source *source)
{
	char *before, *during, *after;
	struct err err = ERR_INIT;
	struct source *apart;
	struct setup *setup;
	struct opts opts;

	before = say(source);
	CHECK(!APPLY(&setup, &opts, &apart, &err, LINE), "%s", err.text);
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
	source_close(apart);
	opts_fini(&opts);
}

/* A recorder that does it all and takes it back, or, one that stays, waits behind the half. */
static _Noreturn void act(bool stays)
{
	struct err err = ERR_INIT;
	struct source *source;
	struct setup *setup;
	struct opts opts;
	int r;

	r = APPLY(&setup, &opts, &source, &err, "-B", other, "-e", "sched:sched_switch", LINE);
	if (!r)
		r = setup_hide(setup, getpid(), &err);
	if (!r)
		r = setup_on(setup, &err);
	if (r)
		fprintf(stderr, "%s\n", err.text);
	if (!r && stays)
		raise(SIGSTOP);
	_exit(r || setup_undo(setup, &err));
}

static pid_t start(bool stays, bool traced)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	/* A test that fails leaves nobody behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (traced && (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP)))
		_exit(1);
	act(stays);
}

/* Who waits for its end; 0: nobody yet. */
static pid_t watcher_of(pid_t pid)
{
	char path[64];
	int watcher = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	CHECK(file, "%s: %s", path, strerror(errno));
	if (fscanf(file, "%d", &watcher) != 1)
		watcher = 0;
	fclose(file);
	return watcher;
}

static bool is_change(uint64_t nr)
{
	return nr == SYS_write || nr == SYS_mkdirat || nr == SYS_unlinkat || nr == SYS_unlink || nr == SYS_openat;
}

/* Lets it make so many changes, the last of them whole or not at all, and stops there. False: it has ended before. */
static bool run_to(pid_t pid, int changes, bool whole)
{
	struct __ptrace_syscall_info info;
	bool in_change = false;
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "it does not start");
	CHECK(!ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(intptr_t)PTRACE_O_TRACESYSGOOD), "ptrace");
	for (;;) {
		CHECK(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL), "ptrace: %s", strerror(errno));
		CHECK(waitpid(pid, &status, 0) == pid, "wait: %s", strerror(errno));
		if (!WIFSTOPPED(status)) {
			CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "it failed: %x", (unsigned int)status);
			return false;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) <= 0)
			continue;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			in_change = is_change(info.entry.nr);
		if (in_change && info.op == (whole ? PTRACE_SYSCALL_INFO_EXIT : PTRACE_SYSCALL_INFO_ENTRY) && !--changes)
			return true;
	}
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The watcher goes when it is done. It is not our child. */
static void wait_gone(pid_t pid)
{
	for (int i = 0; pid && !kill(pid, 0); i++) {
		CHECK(i < 6000, "the one who watched is still there");
		usleep(10000);
	}
}

static void check_as_before(struct source *source, const char *before, const char *when, int changes)
{
	char path[100], *after = say(source);

	CHECK(!strcmp(before, after), "%s %d: before:\n%s\nafter:\n%s", when, changes, before, after);
	snprintf(path, sizeof(path), "instances/%s", other);
	CHECK(!source_exists(source, path), "%s %d: the instance is still there", when, changes);
	free(after);
}

/* Killed at one change after the other, with and without one who watches. */
static void check_killed(struct source *source)
{
	int step = getenv("KILL_EACH") ? 1 : STEP, changes = 1 + (step > 1 ? (int)(getpid() % step) : 0);
	char *before = say(source);

	for (int n = 0;; changes += step, n++) {
		pid_t pid = start(false, true), watcher;
		bool watched = n % 2;

		if (!run_to(pid, changes, n % 4 < 2))
			break;
		watcher = watcher_of(pid);
		if (!watched && watcher)
			kill(watcher, SIGKILL);
		end(pid);
		wait_gone(watcher);
		/* There is nobody yet, or no more. */
		if (!watched || !watcher)
			setup_sweep(source, NULL);
		check_as_before(source, before, watched ? "watched" : "not watched", changes);
	}
	CHECK(changes > 60, "%d changes are too few", changes);
	free(before);
}

/* What one who lives has set is not taken for what is left. */
static void check_alive(struct source *source)
{
	pid_t pid = start(true, false), watcher;
	char *before = say(source), *during, *now;
	int status;

	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "it has ended: %x", (unsigned int)status);
	during = say(source);
	CHECK(strcmp(before, during), "nothing was set");
	setup_sweep(source, NULL);
	now = say(source);
	CHECK(!strcmp(during, now), "swept alive:\n%s", now);
	watcher = watcher_of(pid);
	CHECK(watcher, "nobody watches");
	end(pid);
	wait_gone(watcher);
	check_as_before(source, before, "alive", 0);
	free(before);
	free(during);
	free(now);
}

int main(void)
{
	struct source_how how = { .kernel = true };
	struct err err = ERR_INIT;
	struct source *source;
	char path[200];

	snprintf(mine, sizeof(mine), "ringside-setup-%d", (int)getpid());
	snprintf(other, sizeof(other), "%s-b", mine);
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
	settle(source);
	check_undo(source);
	check_alive(source);
	check_killed(source);
	source_close(source);
	return 0;
}
