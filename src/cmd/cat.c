/*
 * cmd/cat: files of the tree to stdout.
 */
#include <errno.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "control/tree.h"

static int put(struct control *control, const char *path, struct err *err)
{
	struct buf names = BUF_INIT;
	struct err unused = ERR_INIT;
	int r;

	/* A directory shows what is in it. */
	r = tree_list(control, path, &names, &unused);
	if (!r)
		r = cmd_put(names.data ? names.data : "", names.len, err);
	else if (r == -ENOTDIR)
		r = tree_pump(control, path, cmd_put_piece, err, err);
	else
		err_set(err, r, "%s", unused.text);
	buf_fini(&names);
	return r;
}

static int run(const struct opts *opts)
{
	struct control *control;
	struct err err = ERR_INIT;
	int r;

	r = cmd_open(&control, opts, false, &err);
	if (r)
		return cmd_fail(&err);
	for (int i = 0; !r && i < opts->nargs; i++)
		r = put(control, opts_arg(opts, i), &err);
	control_close(control);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_cat = {
	.name = "cat",
	.synopsis = "FILE...",
	.summary = "print files of the tracing tree",
	.text = "Prints files of the tree as cat(1) would in the kernel's tracefs, for example\n"
		"`ringside cat events/shop/order/format`. Of a directory it prints the names in it;\n"
		"`ringside cat .` shows the top. per_cpu/cpuN/trace_pipe_raw gives the pages that are\n"
		"there and takes them away.\n",
	.args_min = 1,
	.args_max = -1,
	.run = run,
};
