/*
 * cmd/stop: recording off.
 */
#include "cmd/cmd.h"

static int run(const struct opts *opts)
{
	return cmd_write_file(opts, "tracing_on", "0");
}

const struct cmd cmd_stop = {
	.name = "stop",
	.synopsis = "",
	.summary = "stop recording; what was recorded stays",
	.text = "Stops recording. Which events are on, and what was recorded, stays as it is:\n"
		"`ringside show` prints it, `ringside start` goes on.\n",
	.run = run,
};
