/*
 * cmd/complete: the shells' completion, written from the tables of commands and options at build time.
 *
 * An option's argument is completed by its name in the table: EVENT, INSTANCE and the like are asked
 * from the command itself when the person presses Tab, DIR is a directory. What has no line below is
 * left to the person.
 */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/cmd.h"

/* What lies anywhere, not in the tree. */
#define PATHS "paths", "sh -c 'ls -dp -- \"$1\"* 2>/dev/null' - \"$1\""

/* Names of arguments, and what prints the words for them; NULL: directories. Those of one kind stand together. */
static const struct kind {
	const char *arg;
	const char *kind;
	const char *words;
} kinds[] = {
	/* Hundreds that nothing records yet are only offered to those who begin to name them. */
	{ "SYSTEM[:EVENT]", "events",
	  "case $1 in *:*) _ringside_ask list -a ;; *) _ringside_ask list; _ringside_ask list -s -a; echo all ;; esac" },
	{ "INSTANCE", "instances", "_ringside_ask list -B" },
	{ "CLOCK", "clocks", "_ringside_ask list -C | tr -d '[]'" },
	{ "OPTION", "options", "_ringside_ask list -o | sed 's/^no//; p; s/^/no/'" },
	{ "TRACER", "tracers", "_ringside_ask list -t" },
	{ "FUNCTION", "functions", "_ringside_ask list -f | sed 's/ .*//'" },
	{ "MODULE", "modules", "_ringside_ask list -f | sed -n 's/.* \\[\\(.*\\)\\]$/\\1/p' | sort -u" },
	{ "CPU", "cpus", "_ringside_ask cat per_cpu | sed -n 's,^cpu\\([0-9]*\\)/,\\1,p'" },
	{ "CONTROL_FILE", "files", "_ringside_files \"$1\"" },
	{ "FILE", PATHS },
	{ "file", PATHS },
	{ "FILE[@OFFSET]", PATHS },
	{ "BINARY", PATHS },
	{ "PROFILE", PATHS },
	{ "INITRD", PATHS },
	{ "NAME[:EVENTS]", "remotes",
	  "case $1 in *:*) _ringside_ask cat \"remotes/${1%%:*}/events/${1%%:*}\" | sed -n \"s,/$,,; s,^,${1%%:*}:,p\" ;; "
	  "*) _ringside_ask cat remotes | tr -d / ;; esac" },
	{ "add|list|remove", "verbs", "printf '%s\\n' add list remove" },
	{ "HOST[:PORT]", "machines", "_ringside_ask trust | sed 's/ .*//'" },
	{ "machine", "machines", "_ringside_ask trust | sed 's/ .*//'" },
	{ "VERBS", "rights", "printf '%s\\n' read record control" },
	{ "PID", "processes", "ps -o pid= -u \"$(id -u)\" 2>/dev/null | tr -d ' '" },
	{ "COMMAND", "commands", "_ringside_commands" },
	{ "SHELL", "shells", "printf '%s\\n' bash zsh" },
	{ "DIR", "directories", NULL },
};

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *kind_of(const char *arg)
{
	for (size_t i = 0; arg && i < NKINDS; i++)
		if (!strcmp(kinds[i].arg, arg))
			return &kinds[i];
	return NULL;
}

/* What both shells share: words for each kind of argument, one a line. */
static const char ask[] =
	"# The command that is typed, about the source that is typed.\n"
	"_ringside_ask() {\n"
	"\t\"${_ringside_command:-ringside}\" \"${_ringside_source[@]}\" \"$@\" 2>/dev/null\n"
	"}\n\n"
	"# Files of the tree that begin with $1; of a directory, what is in it comes next.\n"
	"_ringside_files() {\n"
	"\tlocal dir='' name\n"
	"\tcase $1 in\n"
	"\t*/*) dir=${1%/*}/ ;;\n"
	"\tesac\n"
	"\t_ringside_ask cat \"${dir:-.}\" | while read -r name; do printf '%s\\n' \"$dir$name\"; done\n"
	"}\n\n";

static void put_kinds(struct buf *out)
{
	buf_puts(out, "# Words of a kind, of which some begin with $2.\n"
		      "_ringside_words() {\n\tlocal kind=$1\n\tshift\n\tcase $kind in\n");
	for (size_t i = 0; i < NKINDS; i++)
		if (kinds[i].words && (!i || strcmp(kinds[i].kind, kinds[i - 1].kind)))
			buf_printf(out, "\t%s) %s ;;\n", kinds[i].kind, kinds[i].words);
	buf_puts(out, "\tesac\n}\n\n");
}

static void put_commands(struct buf *out)
{
	const struct cmd *cmd;

	buf_puts(out, "_ringside_commands() {\n\tprintf '%s\\n'");
	for (size_t i = 0; (cmd = cmd_at(i)); i++)
		if (!cmd->hidden)
			buf_printf(out, " %s", cmd->name);
	buf_puts(out, "\n}\n\n");
}

static void put_bash_options(struct buf *out, const struct opt *table)
{
	for (const struct opt *opt = table; opt && opt->word; opt++) {
		if (opt->letter)
			buf_printf(out, " -%c", opt->letter);
		buf_printf(out, " --%s", opt->word);
	}
}

/* What stands behind an option that takes something. */
static void put_bash_args(struct buf *out, const char *cmd, const struct opt *table)
{
	for (const struct opt *opt = table; opt && opt->word; opt++) {
		const struct kind *kind = kind_of(opt->arg);

		if (!opt->arg)
			continue;
		buf_puts(out, "\t");
		if (opt->letter)
			buf_printf(out, "%s:-%c | ", cmd, opt->letter);
		buf_printf(out, "%s:--%s) echo %s ;;\n", cmd, opt->word, kind ? kind->kind : "any");
	}
}

static void put_bash_tables(struct buf *out)
{
	const struct cmd *cmd;

	buf_puts(out, "# The options of a command.\n_ringside_options() {\n\tcase $1 in\n");
	for (size_t i = 0; (cmd = cmd_at(i)); i++) {
		if (cmd->hidden || !cmd->opts)
			continue;
		buf_printf(out, "\t%s) printf '%%s\\n'", cmd->name);
		put_bash_options(out, cmd->opts);
		buf_puts(out, " ;;\n");
	}
	buf_puts(out, "\tesac\n\tprintf '%s\\n'");
	put_bash_options(out, cmd_common);
	buf_puts(out, "\n}\n\n# What an option of a command takes: nothing, `any`, or a kind of words.\n"
		      "_ringside_takes() {\n\tcase $1:$2 in\n");
	for (size_t i = 0; (cmd = cmd_at(i)); i++)
		if (!cmd->hidden)
			put_bash_args(out, cmd->name, cmd->opts);
	put_bash_args(out, "*", cmd_common);
	buf_puts(out, "\tesac\n}\n\n# What an argument of a command is, behind so many others.\n"
		      "_ringside_argument() {\n\tcase $1:$2 in\n");
	for (size_t i = 0; (cmd = cmd_at(i)); i++)
		if (!cmd->hidden && kind_of(cmd->arg))
			buf_printf(out, "\t%s:%s) echo %s ;;\n", cmd->name, cmd->args_max < 0 ? "*" : "0",
				   kind_of(cmd->arg)->kind);
	buf_puts(out, "\tesac\n}\n\n");
}

static const char bash_main[] =
	"# Reads the line up to the cursor: the command, the source, and what the last word may be.\n"
	"_ringside_read() {\n"
	"\tlocal i word takes=''\n"
	"\t_ringside_command=${words[0]} _ringside_source=() cmd='' nargs=0\n"
	"\tfor ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
	"\t\tword=${words[i]}\n"
	"\t\tif [[ $takes ]]; then\n"
	"\t\t\ttakes=\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tcase $word in\n"
	"\t\t--kernel | --programs | --dir=* | --tracefs=*) _ringside_source+=(\"$word\") ;;\n"
	"\t\t--dir | --tracefs) _ringside_source+=(\"$word=${words[i + 1]}\") ;;\n"
	"\t\tesac\n"
	"\t\tif [[ $word == -* ]]; then\n"
	"\t\t\ttakes=$(_ringside_takes \"$cmd\" \"$word\")\n"
	"\t\telif [[ $cmd ]]; then\n"
	"\t\t\t((nargs++))\n"
	"\t\telse\n"
	"\t\t\tcmd=$word\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tkind=$takes\n"
	"}\n\n"
	"# Of the words that come in, those that begin with $1. They are names that anybody may have given,\n"
	"# and are never expanded.\n"
	"_ringside_reply() {\n"
	"\tlocal one before=''\n"
	"\t# What stands before the last colon is there already where bash cuts words at it.\n"
	"\t[[ $1 == *:* && $COMP_WORDBREAKS == *:* ]] && before=${1%\"${1##*:}\"}\n"
	"\twhile read -r one; do\n"
	"\t\t[[ $one == \"$1\"* ]] || continue\n"
	"\t\tone=${one#\"$before\"}\n"
	"\t\tprintf -v one %q \"$one\"\n"
	"\t\tCOMPREPLY+=(\"$one\")\n"
	"\tdone\n"
	"}\n\n"
	"_ringside() {\n"
	"\tlocal words=() cmd kind nargs word line=${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n'\n"
	"\tCOMPREPLY=()\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	"\tword=${words[${#words[@]} - 1]}\n"
	"\t_ringside_read\n"
	"\tif [[ ! $kind && $word == --*=* ]]; then\n"
	"\t\tkind=$(_ringside_takes \"$cmd\" \"${word%%=*}\")\n"
	"\t\tword=${word#*=}\n"
	"\telif [[ ! $kind && $word == -* ]]; then\n"
	"\t\t_ringside_reply \"$word\" < <(_ringside_options \"$cmd\")\n"
	"\t\treturn\n"
	"\telif [[ ! $kind && ! $cmd ]]; then\n"
	"\t\tkind=commands\n"
	"\telif [[ ! $kind ]]; then\n"
	"\t\tkind=$(_ringside_argument \"$cmd\" \"$nargs\")\n"
	"\tfi\n"
	"\tif [[ $kind == directories ]]; then\n"
	"\t\t_ringside_reply \"$word\" < <(compgen -d -- \"$word\")\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\telse\n"
	"\t\t_ringside_reply \"$word\" < <(_ringside_words \"$kind\" \"$word\")\n"
	"\t\t[[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n\n"
	"complete -F _ringside ringside\n";

static void put_bash(struct buf *out)
{
	buf_puts(out, "# bash completion for ringside, made by `ringside complete bash`\n\n");
	put_commands(out);
	buf_puts(out, ask);
	put_kinds(out);
	put_bash_tables(out);
	buf_puts(out, bash_main);
}

/* Between single quotes and brackets of an _arguments specification. */
static void put_zsh_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else if (strchr("[]:\\", *text))
			buf_printf(out, "\\%c", *text);
		else
			buf_putc(out, *text);
	}
}

static void put_zsh_action(struct buf *out, const char *arg)
{
	const struct kind *kind = kind_of(arg);

	buf_putc(out, ':');
	put_zsh_text(out, arg);
	if (!kind)
		buf_puts(out, ":");
	else if (kind->words)
		buf_printf(out, ":_ringside_add %s", kind->kind);
	else
		buf_puts(out, ":_files -/");
}

static void put_zsh_options(struct buf *out, const struct opt *table)
{
	for (const struct opt *opt = table; opt && opt->word; opt++) {
		for (int form = opt->letter ? 0 : 1; form < 2; form++) {
			buf_puts(out, " \\\n\t\t\t'*");
			if (form)
				buf_printf(out, "--%s%s[", opt->word, opt->arg ? "=" : "");
			else
				buf_printf(out, "-%c%s[", opt->letter, opt->arg ? "+" : "");
			put_zsh_text(out, opt->help);
			buf_putc(out, ']');
			if (opt->arg)
				put_zsh_action(out, opt->arg);
			buf_putc(out, '\'');
		}
	}
}

static void put_zsh_command(struct buf *out, const struct cmd *cmd)
{
	buf_printf(out, "\t%s)\n\t\t_arguments -s", cmd->name);
	put_zsh_options(out, cmd->opts);
	put_zsh_options(out, cmd_common);
	if (cmd->arg) {
		buf_puts(out, " \\\n\t\t\t'*");
		put_zsh_action(out, cmd->arg);
		buf_putc(out, '\'');
	}
	buf_puts(out, "\n\t\t;;\n");
}

static const char zsh_add[] =
	"# Offers the words of a kind, which is the last argument; those before it are for compadd.\n"
	"_ringside_add() {\n"
	"\tlocal -a found how\n"
	"\thow=(${@[1,-2]})\n"
	"\tfound=(${(f)\"$(_ringside_words ${@[-1]} $PREFIX)\"})\n"
	"\t[[ ${@[-1]} == (files|paths) ]] && how+=(-S '')\n"
	"\tcompadd \"${how[@]}\" -a found\n"
	"}\n\n"
	"# The command and the source that are typed.\n"
	"_ringside_read() {\n"
	"\tlocal i\n"
	"\t_ringside_command=$words[1] _ringside_source=()\n"
	"\tfor ((i = 2; i < CURRENT; i++)); do\n"
	"\t\tcase $words[i] in\n"
	"\t\t--kernel | --programs | --dir=* | --tracefs=*) _ringside_source+=($words[i]) ;;\n"
	"\t\t--dir | --tracefs) _ringside_source+=($words[i]=$words[i+1]) ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"}\n\n";

static void put_zsh(struct buf *out)
{
	const struct cmd *cmd;

	buf_puts(out, "#compdef ringside\n# zsh completion for ringside, made by `ringside complete zsh`\n\n"
		      "typeset -ga _ringside_source\ntypeset -g _ringside_command\n\n");
	put_commands(out);
	buf_puts(out, ask);
	put_kinds(out);
	buf_puts(out, zsh_add);
	buf_puts(out, "_ringside_of() {\n\tcase $1 in\n");
	for (size_t i = 0; (cmd = cmd_at(i)); i++)
		if (!cmd->hidden)
			put_zsh_command(out, cmd);
	buf_puts(out, "\tesac\n}\n\n_ringside() {\n\tlocal state line curcontext=$curcontext\n"
		      "\tlocal -a commands\n\tcommands=(");
	for (size_t i = 0; (cmd = cmd_at(i)); i++) {
		if (cmd->hidden)
			continue;
		buf_printf(out, "\n\t\t'%s:", cmd->name);
		put_zsh_text(out, cmd->summary);
		buf_putc(out, '\'');
	}
	buf_puts(out, "\n\t)\n\t_ringside_read\n\t_arguments -C");
	put_zsh_options(out, cmd_common);
	buf_puts(out, " \\\n\t\t\t'(-): :->command' \\\n\t\t\t'(-)*:: :->rest'\n"
		      "\tcase $state in\n"
		      "\tcommand) _describe command commands ;;\n"
		      "\trest) _ringside_of $words[1] ;;\n"
		      "\tesac\n}\n\n_ringside \"$@\"\n");
}

static int run(const struct opts *opts)
{
	const char *shell = opts_arg(opts, 0);
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int r;

	if (!strcmp(shell, "bash"))
		put_bash(&out);
	else if (!strcmp(shell, "zsh"))
		put_zsh(&out);
	else
		return cmd_misuse(&cmd_complete, "complete: '%s': bash or zsh", shell);
	r = buf_failed(&out) ? err_set(&err, -ENOMEM, "out of memory")
			     : cmd_put(out.data, out.len, &err);
	buf_fini(&out);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_complete = {
	.name = "complete",
	.synopsis = "SHELL",
	.summary = "write a shell's completion",
	.text = "Writes the completion of a shell, bash or zsh, to standard output.\n",
	.arg = "SHELL",
	.hidden = true,
	.args_min = 1,
	.args_max = 1,
	.run = run,
};
