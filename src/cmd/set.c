/*
 * cmd/set: settings changed; whether something is recorded stays as it is.
 */
#include "cmd/setup.h"

static int run(const struct opts *opts)
{
	return setup_run(&cmd_set, opts, false);
}

const struct cmd cmd_set = {
	.name = "set",
	.synopsis = SETUP_SYNOPSIS,
	.summary = "change settings and switch events on, without starting",
	.text = "Changes what its options say and nothing else: as `ringside start`, but whether\n"
		"recording is on stays as it is, and no event is switched on that is not named.\n"
		"An instance whose -B stands behind a -v is removed.\n",
	.opts = setup_opts,
	.run = run,
};
