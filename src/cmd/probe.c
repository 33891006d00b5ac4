/*
 * cmd/probe: events at any instruction of a program, by the names that its source has: functions, lines, variables.
 *
 * What a person writes becomes lines of the tree's uprobe_events; whatever else can be done with events is done as ever.
 * Definitions are all made before the first of them is written.
 */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/pager.h"
#include "cmd/probe_local.h"

static const struct opt probe_opts[] = {
	{ 'x', "exec", "BINARY", "the program or library that has the place" },
	{ 'P', "pid", "PID", "look for the place in what this process runs" },
	{ 'a', "add", NULL, "what follows is one definition; again for more" },
	{ 'D', "definition", NULL, "print the lines for uprobe_events, and change nothing" },
	{ 'f', "force", NULL, "another event where there is one of that name: NAME_1" },
	{ 'V', "vars", NULL, "list the variables at PLACE" },
	{ 'L', "line", NULL, "show the source of FUNCTION[:FROM-TO] or FILE:FROM-TO; lines with numbers can be probed" },
	{ 's', "source", "DIR", "where the source is, for -L and for patterns" },
	{ 'F', "funcs", NULL, "list the functions of the file, all or those that match a glob" },
	{ 'l', "list", NULL, "list probes, all or those that match a glob; with -x also those that the file itself tells of" },
	{ 'd', "del", NULL, "remove probes: [GROUP:]NAME, globs" },
	{ 0, NULL, NULL, NULL },
};

/* ---- adding ---- */

/* The number of NAME_1, NAME_2 that nobody has; or a refusal. */
static int find_free(const char *known, struct probe_event *event, bool force, struct buf *line, struct err *err)
{
	char base[64];

	memcpy(base, event->name, sizeof(base));
	for (int i = 0; i < 1000; i++) {
		buf_reset(line);
		if (i)
			buf_printf(line, "%.58s_%d", base, i);
		else
			buf_puts(line, base);
		if (buf_failed(line))
			return err_set(err, -ENOMEM, "out of memory");
		memcpy(event->name, line->data, line->len + 1);
		buf_reset(line);
		buf_printf(line, ":%s/%s ", event->group, event->name);
		if (!line->data || !strstr(known, line->data))
			return 0;
		if (!force)
			return err_set(err, -EEXIST, "there is %s:%s already: remove it with -d, or say -f for another",
				       event->group, base);
	}
	return err_set(err, -EEXIST, "there are too many events %s:%s", event->group, base);
}

/* Lines under the name that the event has now. */
static void put_renamed(struct buf *out, const struct probe_event *event)
{
	const char *at = event->lines.data;

	while (at && *at) {
		const char *blank = strchr(at, ' '), *end = strchr(at, '\n');

		buf_printf(out, "%c:%s/%s%.*s\n", *at, event->group, event->name, (int)(end - blank), blank);
		at = end + 1;
	}
}

static void say_added(struct buf *out, const struct probe_events *events)
{
	buf_printf(out, "Added new event%s:\n", events->n > 1 ? "s" : "");
	for (size_t i = 0; i < events->n; i++) {
		const struct probe_event *event = &events->all[i];

		buf_printf(out, "  %s:%s (on %s in %s%s%s)\n", event->group, event->name, event->where.data, event->path,
			   event->with.len ? " with" : "", event->with.len ? event->with.data : "");
	}
	buf_printf(out, "\nRecord it with `ringside record -e %s:%s`\n", events->all[0].group, events->all[0].name);
}

static int install(struct probe_events *events, const struct opts *opts, struct buf *out, struct err *err)
{
	struct buf known = BUF_INIT, lines = BUF_INIT, scratch = BUF_INIT;
	struct source *source;
	int r = cmd_open(&source, opts, true, err);

	if (r)
		return r;
	if (!source_exists(source, "uprobe_events"))
		r = err_set(err, -ENOENT, "%.200s has no uprobe_events: nothing can be probed there", source_name(source));
	if (!r)
		r = probe_definitions(source, &known, err);
	for (size_t i = 0; !r && i < events->n; i++) {
		r = find_free(known.data ? known.data : "", &events->all[i], opts_value(opts, "force"), &scratch, err);
		put_renamed(&lines, &events->all[i]);
	}
	if (!r && buf_failed(&lines))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = source_write(source, "uprobe_events", lines.data, lines.len, true, err);
	if (!r) {
		cmd_say_unreached(source);
		say_added(out, events);
	}
	source_close(source);
	buf_fini(&known);
	buf_fini(&lines);
	buf_fini(&scratch);
	return r;
}

/* The words of a definition: all of them, or, where -a stands, those behind each. */
static int define_all(struct probe_events *events, const struct opts *opts, struct err *err)
{
	bool several = opts_value(opts, "add"), any = false;
	struct buf text = BUF_INIT;
	int r = 0;

	for (int i = 0; !r && i <= opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];
		bool is_end = i == opts->nitems || (several && item->opt && !strcmp(item->opt->word, "add"));

		if (is_end && any) {
			r = probe_define(events, opts, text.len ? text.data : "", err);
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
	int r = define_all(&events, opts, err);

	if (!r && opts_value(opts, "definition"))
		for (size_t i = 0; i < events.n; i++)
			buf_puts(out, events.all[i].lines.data);
	else if (!r)
		r = install(&events, opts, out, err);
	probe_events_fini(&events);
	return r;
}

/* ---- removing ---- */

static int remove_from(struct source *source, const struct opts *opts, struct buf *out, struct err *err)
{
	struct buf known = BUF_INIT, gone = BUF_INIT;
	struct probe_line line;
	int r = probe_definitions(source, &known, err);

	for (char *save, *at = r || !known.data ? NULL : strtok_r(known.data, "\n", &save); at;
	     at = strtok_r(NULL, "\n", &save)) {
		struct buf name = BUF_INIT;
		bool match = false;

		if (!probe_line_read(&line, at))
			continue;
		buf_printf(&name, "%s:%s", line.group, line.name);
		for (int i = 0; name.data && i < opts->nargs; i++) {
			const char *arg = opts_arg(opts, i);

			match |= glob_match(arg, strchr(arg, ':') ? name.data : line.name);
		}
		buf_reset(&name);
		buf_printf(&name, "-:%s/%s\n", line.group, line.name);
		/* Points of one event go together. */
		if (match && name.data && !(gone.data && strstr(gone.data, name.data))) {
			buf_puts(&gone, name.data);
			buf_printf(out, "Removed event: %s:%s\n", line.group, line.name);
		}
		buf_fini(&name);
	}
	if (!r && !gone.len)
		r = err_set(err, -ENOENT, "no probe is called %.200s: -l lists those that are there", opts_arg(opts, 0));
	if (!r && buf_failed(&gone))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = source_write(source, "uprobe_events", gone.data, gone.len, true, err);
	if (!r)
		cmd_say_unreached(source);
	buf_fini(&known);
	buf_fini(&gone);
	return r;
}

static int remove_all(struct buf *out, const struct opts *opts, struct err *err)
{
	struct source *source;
	int r = cmd_open(&source, opts, false, err);

	if (r)
		return r;
	r = remove_from(source, opts, out, err);
	source_close(source);
	return r;
}

/* ---- the command ---- */

static int show_each(struct buf *out, const struct opts *opts,
		     int (*show)(struct buf *, const struct opts *, const char *, struct err *), struct err *err)
{
	int r = 0;

	for (int i = 0; !r && i < opts->nargs; i++)
		r = show(out, opts, opts_arg(opts, i), err);
	return r;
}

static int run_one(struct buf *out, const struct opts *opts, struct err *err)
{
	if (opts_value(opts, "vars"))
		return show_each(out, opts, probe_show_variables, err);
	if (opts_value(opts, "line"))
		return show_each(out, opts, probe_show_lines, err);
	if (opts_value(opts, "funcs"))
		return probe_show_functions(out, opts, opts_arg(opts, 0), err);
	if (opts_value(opts, "list"))
		return probe_show_events(out, opts, opts_arg(opts, 0), err);
	if (opts_value(opts, "del"))
		return remove_all(out, opts, err);
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
