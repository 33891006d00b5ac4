/*
 * cmd/probe: events at any instruction of a program or of the kernel, by the names that its source has: functions, lines,
 * variables; and of events, by their fields.
 *
 * What a person writes becomes lines of the tree's uprobe_events, kprobe_events or dynamic_events; whatever else can be done with
 * events is done as ever. Definitions are all made before the first of them is written.
 */
#include <errno.h>
#include <string.h>

#include "cmd/pager.h"
#include "cmd/probe_local.h"

static const struct opt probe_opts[] = {
	{ 'x', "exec", "BINARY", "the program or library that has the place" },
	{ 'P', "pid", "PID", "look for the place in what this process runs" },
	{ 'a', "add", NULL, "what follows is one definition; again for more" },
	{ 'D', "definition", NULL, "print the lines, and change nothing" },
	{ 'f', "force", NULL, "another event where there is one of that name: NAME_1" },
	{ 'V', "vars", NULL, "list the variables at PLACE; of the kernel also fields of SYSTEM/EVENT and members of 'struct NAME'" },
	{ 'L', "line", NULL, "show the source of FUNCTION[:FROM-TO] or FILE:FROM-TO; lines with numbers can be probed" },
	{ 's', "source", "DIR", "where the source is, for -L and for patterns" },
	{ 'F', "funcs", NULL, "list the functions of the file, all or those that match a glob" },
	{ 0, "btf", "PATH", "the kernel's types are in this file, as bpftool and /sys/kernel/btf have them" },
	{ 'l', "list", NULL, "list probes, all or those that match a glob; with -x also those that the file itself tells of" },
	{ 'd', "del", NULL, "remove probes: [GROUP:]NAME, globs" },
	{ 0, NULL, NULL, NULL },
};

/* ---- adding ---- */

/* The words of a definition: all of them, or, where -a stands, those behind each. */
static int define_all(struct probe_events *events, struct probe_world *world, struct err *err)
{
	const struct opts *opts = world->opts;
	bool several = opts_value(opts, "add"), any = false;
	struct buf text = BUF_INIT;
	int r = 0;

	for (int i = 0; !r && i <= opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];
		bool is_end = i == opts->nitems || (several && item->opt && !strcmp(item->opt->word, "add"));

		if (is_end && any) {
			r = probe_define(events, world, text.len ? text.data : "", err);
			buf_reset(&text);
			any = false;
		} else if (!is_end && !item->opt) {
			buf_printf(&text, "%s%s", any ? " " : "", item->value);
			any = true;
		}
		if (buf_failed(&text))
			r = err_set(err, -ENOMEM, "out of memory");
	}
	buf_fini(&text);
	return r;
}

static int add(struct buf *out, const struct opts *opts, struct err *err)
{
	struct probe_events events = { 0 };
	struct probe_world world;
	int r;

	probe_world_open(&world, opts);
	r = define_all(&events, &world, err);
	probe_world_close(&world);
	if (!r && opts_value(opts, "definition"))
		for (size_t i = 0; i < events.n; i++)
			buf_puts(out, events.all[i].lines.data);
	else if (!r)
		r = probe_install(&events, opts, out, err);
	probe_events_fini(&events);
	return r;
}

/* ---- the command ---- */

static int show_lines(struct buf *out, const struct opts *opts, struct err *err)
{
	int r = 0;

	for (int i = 0; !r && i < opts->nargs; i++)
		r = probe_show_lines(out, opts, opts_arg(opts, i), err);
	return r;
}

static int show_variables(struct buf *out, const struct opts *opts, struct err *err)
{
	struct probe_world world;
	int r = 0;

	probe_world_open(&world, opts);
	for (int i = 0; !r && i < opts->nargs; i++)
		r = probe_show_variables(out, &world, opts_arg(opts, i), err);
	probe_world_close(&world);
	return r;
}

static int run_one(struct buf *out, const struct opts *opts, struct err *err)
{
	const bool kernel = probe_is_kernel(opts);

	if (opts_value(opts, "vars"))
		return show_variables(out, opts, err);
	if (opts_value(opts, "line") && kernel)
		return err_set(err, -EOPNOTSUPP, "the kernel's types tell nothing of its source lines: -V FUNCTION lists parameters");
	if (opts_value(opts, "line"))
		return show_lines(out, opts, err);
	if (opts_value(opts, "funcs"))
		return (kernel ? probe_show_kernel_functions : probe_show_functions)(out, opts, opts_arg(opts, 0), err);
	if (opts_value(opts, "list"))
		return probe_show_events(out, opts, opts_arg(opts, 0), err);
	if (opts_value(opts, "del"))
		return probe_remove(out, opts, err);
	return add(out, opts, err);
}

static int run(const struct opts *opts)
{
	static const char *const kinds[] = { "vars", "line", "funcs", "list", "del", "add", "definition" };
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int given = 0, r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		given += opts_value(opts, kinds[i]) && !(i == 6 && opts_value(opts, "add"));
	if (given > 1)
		return cmd_misuse(&cmd_probe, "probe: one of -a, -D, -V, -L, -F, -l and -d at a time");
	if (!opts->nargs && !opts_value(opts, "list") && !opts_value(opts, "funcs"))
		return cmd_misuse(&cmd_probe, "probe: %s", opts_value(opts, "del") ? "which probes?" : "which place?");
	if (opts_value(opts, "exec") && opts_value(opts, "pid"))
		return cmd_misuse(&cmd_probe, "probe: -x or -P, not both");
	if (opts_value(opts, "btf") && (opts_value(opts, "exec") || opts_value(opts, "pid")))
		return cmd_misuse(&cmd_probe, "probe: --btf is about the kernel: it goes without -x and -P");
	/* No tree is meant by types alone. */
	if (probe_is_elsewhere(opts) && !opts_value(opts, "definition") && !opts_value(opts, "vars") && !opts_value(opts, "funcs"))
		return cmd_misuse(&cmd_probe, "probe: --btf by itself is for -D, -V and -F; with --kernel it is for all");
	r = run_one(&out, opts, &err);
	if (!r && buf_failed(&out))
		r = err_set(&err, -ENOMEM, "out of memory");
	if (!r)
		r = pager_show(opts, &out, &err);
	buf_fini(&out);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_probe = {
	.name = "probe",
	.synopsis = "[-x FILE | -P PID] [-D] [-f] [-s DIR] [-a] [[GROUP:]NAME=]PLACE [ARGUMENT...] | "
		    "-V PLACE | -L FUNCTION | -F | -l | -d NAME...",
	.summary = "make events at functions, lines and variables of a program",
	.text = "Makes an event at a place of a program, by the names that its source has. PLACE is\n"
		"FUNCTION, FUNCTION+BYTES, FUNCTION:LINE (counted from its first, which is 0),\n"
		"FUNCTION%return, FUNCTION;PATTERN (of a source line), FILE:LINE, 0xADDRESS, or\n"
		"sdt_PROVIDER:NAME for a probe that the file itself tells of. An ARGUMENT is\n"
		"[NAME=]VARIABLE[.MEMBER | ->MEMBER | [INDEX]]...[:TYPE], $vars, $params, $retval,\n"
		"$argN (at a function's first instruction), or whatever uprobe_events takes: %di,\n"
		"+8(%sp):u64. For example\n"
		"\n"
		"  ringside probe -x ./shop 'shop_place order->customer->name:string'\n"
		"\n"
		"Lines and variables need debug information (-g); functions and $argN do not.\n",
	.opts = probe_opts,
	.arg = "FUNCTION",
	.args_min = 0,
	.args_max = -1,
	.run = run,
};
