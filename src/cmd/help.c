/*
 * cmd/help: what the commands are and how each is used, from their tables.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/pager.h"

static void put_options(struct buf *out, const struct opt *table)
{
	for (const struct opt *opt = table; opt && opt->word; opt++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', opt->letter ? ", " : "  ", opt->word,
			 opt->arg ? " " : "", opt->arg ? opt->arg : "");
		buf_printf(out, "  %-27s %s\n", left, opt->help);
	}
}

static void put_command(struct buf *out, const struct cmd *cmd)
{
	buf_printf(out, "usage: ringside %s%s%s\n\n%s\noptions:\n", cmd->name,
		   *cmd->synopsis ? " " : "", cmd->synopsis, cmd->text);
	put_options(out, cmd->opts);
	put_options(out, cmd_common);
}

static void put_all(struct buf *out)
{
	const struct cmd *cmd;

	buf_puts(out, "usage: ringside COMMAND [OPTION...]\n\n"
		      "Traces programs: their events, in order, from another terminal. With --kernel or\n"
		      "--tracefs, the kernel, or any tree of files like its tracefs.\n\ncommands:\n");
	for (size_t i = 0; (cmd = cmd_at(i)); i++)
		if (!cmd->hidden)
			buf_printf(out, "  %-12s %s\n", cmd->name, cmd->summary);
	buf_puts(out, "\noptions:\n");
	put_options(out, cmd_common);
	buf_puts(out, "  -V, --version               tell the version\n\n"
		      "`ringside help COMMAND` tells more. The tracing directory is $RINGSIDE_DIR, else\n"
		      "/run/user/UID/ringside, else /dev/shm/ringside-UID.\n"
		      "Exit status: 0 done, 1 failed, 2 used wrongly.\n");
}

static int run(const struct opts *opts)
{
	const char *name = opts_arg(opts, 0);
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	const struct cmd *cmd = NULL;
	int r;

	if (name) {
		cmd = cmd_find(name);
		if (!cmd)
			return cmd_misuse(NULL, "help: there is no command '%s'", name);
		put_command(&out, cmd);
	} else {
		put_all(&out);
	}
	r = pager_show(opts, &out, &err);
	buf_fini(&out);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_help = {
	.name = "help",
	.synopsis = "[COMMAND]",
	.summary = "tell how a command is used",
	.text = "Lists the commands, or tells what one of them does.\n",
	.arg = "COMMAND",
	.args_max = 1,
	.run = run,
};
