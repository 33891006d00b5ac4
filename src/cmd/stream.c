/*
 * cmd/stream: events as lines of a report while they come, while a command runs or until somebody says so.
 *
 *	read the line | command at the gate | buffers made ready | readers | on | go ... | off | the rest | undone
 *
 * Of a tracing directory the lines are made here (stream_lines.h), of other trees they are those of trace_pipe.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/launch.h"
#include "cmd/planner.h"
#include "cmd/pager.h"
#include "cmd/reach.h"
#include "cmd/setup.h"
#include "cmd/stream_lines.h"
#include "cmd/stream_text.h"
#include "cmd/switches.h"

static const struct opt stream_opts[] = {
	SETUP_BUFFER_OPTS,
	SETUP_LINE_OPTS,
	SETUP_ONLY_OPT,
	SETUP_TOP_OPT,
	{ 0, NULL, NULL, NULL },
};

struct session {
	const struct opts *opts;
	struct source *source;
	struct setup *setup;
	char **argv;		/* the command, NULL: none */
	struct launch launch;
	struct planner planner;
	struct switches switches;
	struct reach reach;
	struct stream_lines *lines;	/* of a tracing directory */
	struct stream_text *text;	/* of others */
	struct pager pager;
	bool ended;		/* the command has */
	int status;
	struct err err;
};

/* ---- before it runs ---- */

static int start_command(struct session *session)
{
	struct launch_how how = {
		.preload = source_control(session->source),
		.quiet = setup_is_quiet(session->setup),
		.dir = source_control(session->source) ? source_name(session->source) : NULL,
	};
	int r;

	if (!session->opts->nargs)
		return 0;
	r = opts_command(session->opts, 0, &session->argv, &session->err);
	if (r)
		return r;
	how.argv = session->argv;
	r = launch_start(&session->launch, &how, &session->err);
	if (!r && opts_value(session->opts, "only-command"))
		setup_only(session->setup, session->launch.pid);
	return r;
}

static int open_text(struct session *session, size_t n)
{
	int r = stream_text_open(&session->text, session->source, &session->pager, n, &session->err);

	for (size_t i = 0; i < n && !r; i++)
		r = stream_text_add(session->text, setup_instance(session->setup, i), setup_title(session->setup, i), &session->err);
	return r;
}

static int open_lines(struct session *session)
{
	size_t n = setup_buffers(session->setup);
	int r;

	if (!source_control(session->source))
		return open_text(session, n);
	r = stream_lines_open(&session->lines, source_control(session->source), &session->pager, n,
			      &session->err);
	for (size_t i = 0; i < n && !r; i++)
		r = stream_lines_add(session->lines, setup_instance(session->setup, i),
				     setup_title(session->setup, i), &session->err);
	return r;
}

/* Everything but the first event. */
static int begin(struct session *session)
{
	int r = setup_sweep(session->source, &session->err);

	if (r >= 0)
		r = planner_begin(&session->planner, session->setup, session->source, session->opts, &session->err);
	r = r < 0 ? r : start_command(session);
	if (!r)
		r = setup_apply(session->setup, session->source, &session->err);
	if (!r)
		switches_begin(&session->switches, session->source, session->argv ? session->launch.pid : 0);
	if (!r && source_control(session->source))
		r = reach_open(&session->reach, session->opts, source_name(session->source), setup_is_quiet(session->setup),
			       &session->err);
	if (!r)
		r = open_lines(session);
	if (!r)
		r = setup_hide(session->setup, getpid(), &session->err);
	if (!r)
		r = setup_on(session->setup, &session->err);
	if (!r)
		switches_ready(&session->switches);
	if (!r && session->argv)
		r = launch_go(&session->launch, &session->err);
	return r;
}

/* ---- while it runs ---- */

/* Who reads our output may go while nothing comes. */
static bool nobody_reads(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

static bool over(void *arg)
{
	struct session *session = arg;

	/* A command that cannot be waited for is not waited for. */
	if (session->argv && !session->ended)
		session->ended = launch_poll(&session->launch, &session->status) != 0;
	return session->ended || interrupt_end() || nobody_reads();
}

static int print_lines(struct session *session)
{
	int r = 0;

	while (r >= 0) {
		uint32_t seen = __atomic_load_n(interrupt_word(), __ATOMIC_ACQUIRE);

		if (over(session))
			break;
		r = stream_lines_take(session->lines, over, session, &session->err);
		if (r >= 0)
			r = stream_lines_sleep(session->lines, r > 0, interrupt_word(), seen, &session->err);
		if (r == -EINTR)
			r = 0;
	}
	switches_end(&session->switches);
	setup_off(session->setup, NULL);
	if (r >= 0)
		r = stream_lines_take(session->lines, NULL, NULL, &session->err);
	if (r >= 0)
		r = stream_lines_end(session->lines, setup_is_quiet(session->setup));
	return r;
}

/* ---- other trees ---- */

static int print_text(struct session *session)
{
	int r = stream_text_follow(session->text, over, session, &session->err);

	setup_off(session->setup, NULL);
	return r ? r : stream_text_rest(session->text, &session->err);
}

/* ---- all of it ---- */

static int go(struct session *session)
{
	int r;

	if (!session->argv && !setup_is_quiet(session->setup) && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO))
		cmd_say("Ctrl-C ends it");
	r = session->lines ? print_lines(session) : print_text(session);
	r = pager_end(&session->pager, r < 0 ? r : 0);
	if (r && cmd_fail(&session->err))
		return CMD_FAILED;
	/* After Ctrl-C, which was for both, the command may have come to its end. */
	over(session);
	return session->ended ? launch_exit_status(session->status) : CMD_DONE;
}

static void give_up(struct session *session)
{
	struct err err = ERR_INIT;

	switches_end(&session->switches);
	stream_lines_close(session->lines);
	stream_text_close(session->text);
	reach_close(&session->reach);
	if (session->setup && setup_undo(session->setup, &err))
		cmd_say("%s", err.text);
	switches_close(&session->switches);
	planner_end(&session->planner);
	launch_close(&session->launch);
	setup_close(session->setup);
	source_close(session->source);
	free(session->argv);
}

static int run(const struct opts *opts)
{
	struct setup_how how = { .on = true, .fresh = true };
	struct session session = { .opts = opts, .launch = { .gate = -1, .pidfd = -1 }, .err = ERR_INIT };
	int status, r;

	if (opts_value(opts, "only-command") && !opts->nargs)
		return cmd_misuse(&cmd_stream, "stream: --only-command is about a command, and there is none");
	r = setup_parse(&session.setup, opts, &how, &session.err);
	if (r)
		return setup_refused(&cmd_stream, r, &session.err);
	pager_begin(&session.pager, opts, PAGER_TRACE | PAGER_STRAIGHT, &session.err);
	interrupt_catch();
	r = cmd_open(&session.source, opts, true, &session.err);
	if (!r)
		r = begin(&session);
	status = r ? cmd_fail(&session.err) : go(&session);
	give_up(&session);
	return status;
}

const struct cmd cmd_stream = {
	.name = "stream",
	.synopsis = SETUP_SYNOPSIS " [OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.summary = "print events as they come",
	.text = "Runs a command and prints what it, and every other program that uses the tracing\n"
		"directory, emits, in the layout of `ringside report`; without a command until Ctrl-C.\n"
		"All events are printed when neither -e nor -p is there. A buffer is made for this\n"
		"alone and removed in the end, unless -B or --top names another. The command's exit\n"
		"status is passed on.\n",
	.opts = stream_opts,
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
