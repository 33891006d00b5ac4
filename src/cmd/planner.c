/*
 * cmd/planner: see planner.h.
 */
#include "cmd/planner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/beside.h"
#include "cmd/launch.h"
#include "cmd/scope.h"
#include "control/plans.h"
#include "control/registry.h"
#include "doctor/command.h"

/* For what it is in the middle of. */
#define END_MS 2000

/* `ready`: where to tell that programs which start will wait. */
static void __attribute__((noreturn)) serve(struct source *source, pid_t recorder, int ready)
{
	struct control *control;

	beside_begin("planner");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != recorder)
		_exit(1);
	/* A handle of its own: locks are the open file's, and those of the recorder go with it. */
	if (control_again(&control, source_control(source), NULL) || control_plans_offer(control, NULL) ||
	    write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	source_close(source);
	_exit(control_plans_serve(control, &beside_stop, -1, NULL) ? 1 : 0);
}

/* What runs in the end, if that can be told: of others its functions are known when it runs. */
static void bring(struct control *control, const char *command, bool quiet)
{
	struct err err = ERR_INIT;
	bool carries = false;
	const char *why = quiet ? NULL : launch_preload_why(command, &carries);
	char path[PATH_MAX];

	/* Of others who starts it says that nothing is. */
	if (why && carries)
		cmd_say("no function of %.200s is traced: %s", command, why);
	if (command_resolve(command, path) && control_plans_bring(control, path, &err) && !quiet)
		cmd_say("its functions are not known before it runs: %s", err.text);
}

/* What the processes of one -P execute. Nobody of such a number: functions are known when there is one. */
static void bring_processes(struct control *control, const char *list)
{
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : end) {
		long pid = strtol(list, &end, 10);
		char link[64], path[PATH_MAX];
		ssize_t len;

		if (end == list)
			return;
		snprintf(link, sizeof(link), "/proc/%ld/exe", pid);
		len = readlink(link, path, sizeof(path) - 1);
		if (len <= 0)
			continue;
		path[len] = '\0';
		(void)control_plans_bring(control, path, NULL);
	}
}

/* False: the process has ended before it told. */
static bool is_ready(int fd)
{
	ssize_t n;
	char byte;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* A program that starts before there is a planner does not wait for its plans, and nothing of it is traced: so we wait here. */
static int start_process(struct planner *planner, struct source *source)
{
	pid_t recorder = getpid();
	int ready[2], r = 0;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	planner->pid = fork();
	if (!planner->pid) {
		close(ready[0]);
		serve(source, recorder, ready[1]);
	}
	if (planner->pid < 0)
		r = -errno;
	close(ready[1]);
	if (!r && !is_ready(ready[0]) && !planner->quiet)
		cmd_say("functions of programs that were never traced here are not known: the process that plans has ended");
	close(ready[0]);
	return r;
}

int planner_start(struct planner *planner, struct source *source, const struct opts *opts, bool quiet, struct err *err)
{
	struct control *control = source_control(source);
	int r;

	if (opts_arg(opts, 0))
		bring(control, opts_arg(opts, 0), quiet);
	for (int i = 0; i < opts->nitems; i++)
		if (scope_is(&opts->items[i], "pid"))
			bring_processes(control, opts->items[i].value);
	planner->control = control;
	planner->quiet = quiet;
	planner->no_returns = control_registry_no_returns(&control->dir);
	planner->pid = 0;
	r = start_process(planner, source);
	if (!r)
		return 0;
	planner->pid = 0;
	return err_set(err, r, "cannot start a process that plans: %s", strerror(-r));
}

/* Are there probes in code, which need plans as functions do? */
static bool has_probes(struct control *control)
{
	return !control_refresh(control, NULL) && control->state.probes.len;
}

int planner_begin(struct planner *planner, const struct setup *setup, struct source *source, const struct opts *opts,
		  struct err *err)
{
	struct control *control = source_control(source);

	planner->pid = 0;
	if (!control || (!setup_wants_functions(setup) && !has_probes(control)))
		return 0;
	return planner_start(planner, source, opts, setup_is_quiet(setup) || !setup_wants_functions(setup), err);
}

static void tell_no_returns(const struct planner *planner)
{
	uint32_t n = control_registry_no_returns(&planner->control->dir) - planner->no_returns;

	if (n)
		cmd_say("of %" PRIu32 " program%s function_graph has calls and no returns: the processor's shadow stack is on there, or "
			"a library walks stacks in a way of its own", n, n == 1 ? "" : "s");
}

void planner_end(struct planner *planner)
{
	int left = END_MS;

	if (!planner->pid)
		return;
	if (!planner->quiet)
		tell_no_returns(planner);
	kill(planner->pid, SIGTERM);
	while (waitpid(planner->pid, NULL, left > 0 ? WNOHANG : 0) == 0) {
		poll(NULL, 0, 5);
		left -= 5;
		if (left <= 0)
			kill(planner->pid, SIGKILL);
	}
	planner->pid = 0;
}
