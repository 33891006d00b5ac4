/*
 * cmd/attach: processes that run already join the tracing directory.
 */
#include "cmd/reach.h"

static int run(const struct opts *opts)
{
	return reach_run(&cmd_attach, opts, true);
}

const struct cmd cmd_attach = {
	.name = "attach",
	.synopsis = "PID...",
	.summary = "let running processes join the tracing directory",
	.text = "Loads the runtime into processes that run already, as if they had been started with\n"
		"it; until they end or are detached every command sees them. One that has the runtime\n"
		"only looks at what is switched on. Nothing of the process is disturbed: one of its\n"
		"threads is borrowed for a few milliseconds and gets back what it was waiting for.\n"
		"What cannot be attached is refused with a reason.\n",
	.arg = "PID",
	.args_min = 1,
	.args_max = -1,
	.run = run,
};
