/*
 * cmd/reset: everything off.
 */
#include "cmd/cmd.h"

static int run(const struct opts *opts)
{
	struct control *control;
	struct err err = ERR_INIT;
	int r;

	r = cmd_open(&control, opts, false, &err);
	if (r)
		return cmd_fail(&err);
	r = control_reset(control, &err);
	control_close(control);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_reset = {
	.name = "reset",
	.synopsis = "",
	.summary = "switch everything off and forget it",
	.text = "Switches all events off, throws away what was recorded, and gives the memory back:\n"
		"the directory is as it was when it was made, but for the events that programs brought.\n"
		"Also gets rid of a state that cannot be read.\n",
	.run = run,
};
