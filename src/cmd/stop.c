/*
 * cmd/stop: recording off.
 */
#include "cmd/cmd.h"
#include "cmd/scope.h"

static const struct opt stop_opts[] = {
	SCOPE_OPT,
	{ 'a', "all", NULL, "about every instance" },
	{ 't', "top", NULL, "about the top buffer, beside those of -B or -a" },
	{ 0, NULL, NULL, NULL },
};

static int run(const struct opts *opts)
{
	return scope_write_each(opts, false, "tracing_on", "0");
}

const struct cmd cmd_stop = {
	.name = "stop",
	.synopsis = "[-B INSTANCE]... [-a] [-t]",
	.summary = "stop recording; what was recorded stays",
	.text = "Stops recording. Which events are on, and what was recorded, stays as it is:\n"
		"`ringside show` prints it, `ringside restart` goes on.\n",
	.opts = stop_opts,
	.run = run,
};
