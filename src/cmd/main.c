/*
 * cmd/main: the `ringside` command: finds the subcommand, reads the command line against its tables,
 * and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near.h"
#include "cmd/cmd.h"
#include "cmd/launch.h"

/* This program carries the runtime for markers of its own, but is not to be traced. */
extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static const struct cmd *const commands[] = {
#ifdef RINGSIDE_BOARD
	&cmd_record, &cmd_agent, &cmd_help,
#else
	&cmd_record, &cmd_attach, &cmd_detach, &cmd_extract, &cmd_remote, &cmd_listen, &cmd_agent, &cmd_key, &cmd_trust, &cmd_stream, &cmd_trace, &cmd_list, &cmd_start, &cmd_stop, &cmd_restart,
	&cmd_set, &cmd_apply, &cmd_save, &cmd_show, &cmd_snapshot, &cmd_stat, &cmd_clear, &cmd_reset, &cmd_cat, &cmd_write, &cmd_mount, &cmd_umount, &cmd_report,
	&cmd_bootconfig, &cmd_restore, &cmd_convert, &cmd_split, &cmd_join, &cmd_dump,
	&cmd_probe, &cmd_profile, &cmd_stack, &cmd_hist, &cmd_latency, &cmd_sqlhist, &cmd_mem, &cmd_check_events, &cmd_doctor, &cmd_help, &cmd_complete,
#endif
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct opt cmd_common[] = {
	{ 0, "programs", NULL, "about programs: a tracing directory (this is so anyway)" },
	{ 0, "dir", "DIR", "the tracing directory, instead of $RINGSIDE_DIR" },
	{ 0, "kernel", NULL, "about the kernel: its tracefs, wherever it is mounted" },
	{ 0, "tracefs", "DIR", "about the tree of files under DIR" },
	{ 0, "no-pager", NULL, "long output straight to the terminal" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

static const struct opt main_opts[] = {
	{ 'V', "version", NULL, "tell the version" },
	{ 0, NULL, NULL, NULL },
};

const struct cmd *cmd_at(size_t i)
{
	return i < NCOMMANDS ? commands[i] : NULL;
}

const struct cmd *cmd_find(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const struct cmd *nearest = commands[0];

	for (size_t i = 1; i < NCOMMANDS; i++)
		if (!commands[i]->hidden && near_distance(name, commands[i]->name) < near_distance(name, nearest->name))
			nearest = commands[i];
	if (near_distance(name, nearest->name) * 2 <= strlen(nearest->name))
		return cmd_misuse(NULL, "there is no command '%s': did you mean '%s'?", name,
				  nearest->name);
	return cmd_misuse(NULL, "there is no command '%s'", name);
}

/* As `ringside help COMMAND` with the same options. */
static int help_about(const struct cmd *cmd, const struct opts *opts)
{
	struct opts about = { calloc((size_t)opts->nitems + 1, sizeof(*about.items)), 0, 1 };
	int r;

	if (!about.items)
		return cmd_fail(&(struct err){ -ENOMEM, -1, "out of memory" });
	about.items[about.nitems++] = (struct opts_item){ NULL, cmd->name };
	for (int i = 0; i < opts->nitems; i++)
		if (opts->items[i].opt)
			about.items[about.nitems++] = opts->items[i];
	r = cmd_help.run(&about);
	opts_fini(&about);
	return r;
}

static int run(const struct cmd *cmd, const struct opts *opts)
{
	int sources = (opts_value(opts, "dir") || opts_value(opts, "programs")) +
		      !!opts_value(opts, "kernel") + !!opts_value(opts, "tracefs");

	if (opts_value(opts, "help"))
		return help_about(cmd, opts);
	if (opts->nargs < cmd->args_min)
		return cmd_misuse(cmd, "%s: something is missing", cmd->name);
	if (cmd->args_max >= 0 && opts->nargs > cmd->args_max)
		return cmd_misuse(cmd, "%s: '%s' is too much", cmd->name,
				  opts_arg(opts, cmd->args_max));
	if (cmd->on_file && (opts_value(opts, "kernel") || opts_value(opts, "tracefs")))
		return cmd_misuse(cmd, "%s: this is about trace files: --kernel and --tracefs are for commands that ask a source",
				  cmd->name);
	if (sources > 1 && !cmd->mixes)
		return cmd_misuse(cmd, "%s: one source at a time: a tracing directory, --kernel or "
				  "--tracefs", cmd->name);
	return cmd->run(opts);
}

/*
 * Options before the command: those that all commands have, and --version. Gives the index of the
 * command's name, argc when there is none.
 */
static int command_at(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++)
		for (const struct opt *opt = cmd_common; opt->word; opt++)
			if (opt->arg && !strncmp(argv[i], "--", 2) && !strcmp(argv[i] + 2, opt->word)) {
				i++;
				break;
			}
	return i < argc ? i : argc;
}

static int without_command(const struct opts *opts)
{
	static const char version[] = "ringside " RINGSIDE_VERSION "\n";
	struct err err = ERR_INIT;

	if (opts_value(opts, "version"))
		return cmd_put(version, sizeof(version) - 1, &err) ? cmd_fail(&err) : CMD_DONE;
	if (opts_value(opts, "help"))
		return cmd_help.run(opts);
	return cmd_misuse(NULL, "which command?");
}

/* The command line with its command, options before and behind it alike. */
static int dispatch(int argc, char **argv)
{
	int at = command_at(argc, argv), r;
	const struct cmd *cmd = NULL;
	struct err err = ERR_INIT;
	struct opts opts;

	if (at < argc) {
		cmd = cmd_find(argv[at]);
		if (!cmd)
			return unknown_command(argv[at]);
		memmove(&argv[at], &argv[at + 1], (size_t)(argc - at) * sizeof(*argv));
		argc--;
	}
	r = opts_parse(&opts, argc - 1, argv + 1, cmd ? cmd->opts : main_opts, cmd_common,
		       cmd ? cmd->verbatim : 0, &err);
	if (r)
		return cmd_misuse(cmd, "%s%s%s", cmd ? cmd->name : "", cmd ? ": " : "", err.text);
	r = cmd ? run(cmd, &opts) : without_command(&opts);
	opts_fini(&opts);
	return r;
}

/*
 * A standard descriptor that is closed would be the number of the next file that is opened, and what is
 * meant for people would go into the tracing directory.
 */
static void hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	launch_note_signals();
	hold_standard_descriptors();
	/* As errors of a write they can be told, or kept quiet. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return dispatch(argc, argv);
}
