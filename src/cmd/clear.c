/*
 * cmd/clear: buffers emptied.
 */
#include "cmd/cmd.h"
#include "cmd/scope.h"

static const struct opt clear_opts[] = {
	SCOPE_OPT,
	{ 'a', "all", NULL, "about every instance and the top buffer" },
	{ 't', "top", NULL, "about the top buffer, beside those of -B" },
	{ 0, NULL, NULL, NULL },
};

static int run(const struct opts *opts)
{
	return scope_write_each(opts, true, "trace", "");
}

const struct cmd cmd_clear = {
	.name = "clear",
	.synopsis = "[-B INSTANCE]... [-a] [-t]",
	.summary = "throw away what was recorded",
	.text = "Empties the buffer. Which events are on stays as it is.\n",
	.opts = clear_opts,
	.run = run,
};
