/*
 * cmd/restart: recording on again.
 */
#include "cmd/cmd.h"
#include "cmd/scope.h"

static const struct opt restart_opts[] = {
	SCOPE_OPT,
	{ 'a', "all", NULL, "about every instance" },
	{ 't', "top", NULL, "about the top buffer, beside those of -B or -a" },
	{ 0, NULL, NULL, NULL },
};

static int run(const struct opts *opts)
{
	return scope_write_each(opts, false, "tracing_on", "1");
}

const struct cmd cmd_restart = {
	.name = "restart",
	.synopsis = "[-B INSTANCE]... [-a] [-t]",
	.summary = "record again, as before `stop`",
	.text = "Records again, with the events and settings that were there before `ringside stop`.\n",
	.opts = restart_opts,
	.run = run,
};
