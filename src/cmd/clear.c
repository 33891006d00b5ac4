/*
 * cmd/clear: the buffer emptied.
 */
#include "cmd/cmd.h"

static int run(const struct opts *opts)
{
	return cmd_write_file(opts, "trace", "");
}

const struct cmd cmd_clear = {
	.name = "clear",
	.synopsis = "",
	.summary = "throw away what was recorded",
	.text = "Empties the buffer. Which events are on stays as it is.\n",
	.run = run,
};
