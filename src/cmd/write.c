/*
 * cmd/write: text into a file of the tree.
 */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/switches.h"

static const struct opt write_opts[] = {
	{ 'a', "append", NULL, "as `>>` would: keep what the file says already" },
	{ 0, NULL, NULL, NULL },
};

static int run(const struct opts *opts)
{
	const char *path = opts_arg(opts, 0), *text = opts_arg(opts, 1);
	struct source *source;
	struct err err = ERR_INIT;
	int r;

	r = cmd_open(&source, opts, true, &err);
	if (r)
		return cmd_fail(&err);
	r = source_write(source, path, text, strlen(text), opts_value(opts, "append"), &err);
	if (!r) {
		cmd_say_unreached(source);
		switches_stay(source);
	}
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_write = {
	.name = "write",
	.synopsis = "[-a] FILE TEXT",
	.summary = "write text into a file of the tracing tree",
	.text = "Writes TEXT into a file of the tree, as `echo TEXT > FILE` would in the kernel's\n"
		"tracefs, for example `ringside write events/shop/enable 1`. All of TEXT is checked\n"
		"before any of it takes effect.\n",
	.opts = write_opts,
	.arg = "CONTROL_FILE",
	.args_min = 2,
	.args_max = 2,
	.verbatim = 2,
	.run = run,
};
