/*
 * cmd/detach: processes that joined the tracing directory are left alone.
 */
#include "cmd/reach.h"

static int run(const struct opts *opts)
{
	return reach_run(&cmd_detach, opts, false);
}

const struct cmd cmd_detach = {
	.name = "detach",
	.synopsis = "PID...",
	.summary = "leave attached processes alone",
	.text = "Puts back the functions of these processes as they were. Nothing of them is recorded\n"
		"until they are attached again; what was recorded stays. The runtime remains loaded,\n"
		"asleep.\n",
	.arg = "PID",
	.args_min = 1,
	.args_max = -1,
	.run = run,
};
