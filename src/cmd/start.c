/*
 * cmd/start: events on, recording on; and then a command, if the line ends with one.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "cmd/launch.h"
#include "cmd/planner.h"
#include "cmd/setup.h"
#include "cmd/switches.h"

static const struct opt start_opts[] = {
	SETUP_BUFFER_OPTS,
	SETUP_LINE_OPTS,
	SETUP_ONLY_OPT,
	{ 0, NULL, NULL, NULL },
};

struct session {
	const struct opts *opts;
	struct source *source;
	struct setup *setup;
	char **argv;
	struct launch launch;
	struct planner planner;
	struct err err;
};

/* At the gate: with -F its number is needed before anything is on. */
static int start_command(struct session *session)
{
	struct launch_how how = {
		.preload = source_control(session->source),
		.quiet = setup_is_quiet(session->setup),
		.dir = source_control(session->source) ? source_name(session->source) : NULL,
	};
	int r;

	r = opts_command(session->opts, 0, &session->argv, &session->err);
	if (r)
		return r;
	how.argv = session->argv;
	r = launch_start(&session->launch, &how, &session->err);
	if (!r)
		setup_only(session->setup, session->launch.pid);
	return r;
}

/* One that cannot be waited for is not waited for. */
static int wait_command(struct session *session)
{
	struct pollfd end = { .fd = session->launch.pidfd, .events = POLLIN };
	int status = 0;

	while (!launch_poll(&session->launch, &status))
		poll(&end, 1, end.fd < 0 ? 20 : -1);
	return launch_exit_status(status);
}

/* An exit status: the command's. */
static int run_command(struct session *session)
{
	int r = cmd_open(&session->source, session->opts, true, &session->err);

	if (!r)
		r = planner_begin(&session->planner, session->setup, session->source, session->opts, &session->err);
	if (!r)
		r = start_command(session);
	if (!r)
		r = setup_apply(session->setup, session->source, &session->err);
	if (!r)
		switches_stay(session->source);
	if (!r)
		r = launch_go(&session->launch, &session->err);
	return r ? cmd_fail(&session->err) : wait_command(session);
}

static int run(const struct opts *opts)
{
	struct setup_how how = { .on = true };
	struct session session = { .opts = opts, .launch = LAUNCH_NONE, .err = ERR_INIT };
	int r, status;

	if (!opts->nargs && opts_value(opts, "only-command"))
		return cmd_misuse(&cmd_start, "start: --only-command is about a command, and there is none");
	if (!opts->nargs)
		return setup_run(&cmd_start, opts, true);
	r = setup_parse(&session.setup, opts, &how, &session.err);
	if (r)
		return setup_refused(&cmd_start, r, &session.err);
	status = run_command(&session);
	planner_end(&session.planner);
	launch_close(&session.launch);
	setup_close(session.setup);
	source_close(session.source);
	free(session.argv);
	return status;
}

const struct cmd cmd_start = {
	.name = "start",
	.synopsis = SETUP_SYNOPSIS " [[--] COMMAND [ARGUMENT]...]",
	.summary = "switch events on and record",
	.text = "Switches events on, beside those that are on already, and records. SYSTEM and EVENT\n"
		"may be patterns (* ? []); a name without a colon is a system or an event; `all` is\n"
		"every event. Those behind a -v are switched off. Programs are recorded with every event\n"
		"when neither -e nor -p is there. When something is refused, nothing is changed.\n"
		"What is switched on also holds for programs that start later. The tracing directory is\n"
		"made if there is none. Options before the first -B are about the top buffer, those\n"
		"behind it about that instance. A command, if there is one, is run then; its exit status\n"
		"is passed on, and what was switched on stays so.\n",
	.opts = start_opts,
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
