/*
 * cmd/umount: mounts of the tree taken away.
 */
#include "cmd/cmd.h"
#include "mount/mount.h"

static int end_all(const struct opts *opts, struct err *err)
{
	struct control *control;
	int r;

	r = cmd_open_directory(&control, opts, false, err);
	if (r)
		return r;
	r = mount_end_all(control, err);
	if (!r)
		cmd_say("umount: %s is not mounted anywhere", control->dir.path);
	control_close(control);
	return r < 0 ? r : 0;
}

static int run(const struct opts *opts)
{
	const char *place = opts_arg(opts, 0);
	struct err err = ERR_INIT;
	int r;

	r = place ? mount_end(place, &err) : end_all(opts, &err);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_umount = {
	.name = "umount",
	.synopsis = "[DIR]",
	.summary = "unmount the tracing tree",
	.text = "Unmounts the tree from the directory DIR; without DIR, from wherever you have mounted\n"
		"this tracing directory. What is switched on and what was recorded stays as it is.\n",
	.args_max = 1,
	.run = run,
};
