/*
 * cmd/start: events on, recording on.
 */
#include "cmd/setup.h"

static int run(const struct opts *opts)
{
	return setup_run(&cmd_start, opts, true);
}

const struct cmd cmd_start = {
	.name = "start",
	.synopsis = SETUP_SYNOPSIS,
	.summary = "switch events on and record",
	.text = "Switches events on, beside those that are on already, and records. SYSTEM and EVENT\n"
		"may be patterns (* ? []); a name without a colon is a system or an event; `all` is\n"
		"every event. Those behind a -v are switched off. Programs are recorded with every event\n"
		"when neither -e nor -p is there. When something is refused, nothing is changed.\n"
		"What is switched on also holds for programs that start later. The tracing directory is\n"
		"made if there is none. Options before the first -B are about the top buffer, those\n"
		"behind it about that instance.\n",
	.opts = setup_opts,
	.run = run,
};
