/*
 * cmd/sqlhist: questions about events, asked as SELECT statements: what they are in hist triggers and synthetic events,
 * written to the tree if so wished, or answered from a trace file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/sqlhist.h"
#include "query/apply.h"

static const struct opt sqlhist_opts[] = {
	{ 'n', "name", "NAME", "what the synthetic event of a JOIN is called" },
	{ 'e', "execute", NULL, "also write the lines, all of them or none" },
	{ 'm', "max", "FIELD", "act when this is larger than ever for its key" },
	{ 'c', "change", "FIELD", "act when this is another than the last for its key" },
	{ 's', "snapshot", NULL, "act: a snapshot instead of the synthetic event" },
	{ 'T', "trace-snapshot", NULL, "act: the synthetic event and then a snapshot" },
	{ 'S', "save", "FIELDS", "act: keep these fields of the second event" },
	{ 'f', "file", "FILE", "the statement is in this file; - is standard input" },
	{ 'B', "instance", "INSTANCE", "in this instance, which -e makes if need be" },
	{ 't', "tracing-dir", "DIR", "as --tracefs: the tree under DIR, for its formats at least" },
	{ 'i', "input", "FILE", "answer the statement from this trace file" },
	{ 0, NULL, NULL, NULL },
};

/* The statement: all arguments, or a file's text. */
static int get_statement(const struct opts *opts, struct buf *out, struct err *err)
{
	const char *file = opts_value(opts, "file"), *arg;

	if (file)
		return cmd_read(file, out, err);
	for (int i = 0; (arg = opts_arg(opts, i)); i++)
		buf_printf(out, "%s%s", i ? " " : "", arg);
	return buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* ---- Lines ---- */

static int print_lines(const struct sql_lines *lines, const char *prefix, struct err *err)
{
	struct buf out = BUF_INIT;
	int r;

	for (size_t i = 0; i < lines->n; i++)
		sql_line_show(&lines->line[i], prefix, &out);
	r = buf_failed(&out) ? err_set(err, -ENOMEM, "out of memory") : cmd_put(out.data, out.len, err);
	buf_fini(&out);
	return r;
}

/* What was refused, with the place in the statement. */
int sqlhist_refused(const char *statement, const struct err *err)
{
	struct buf out = BUF_INIT;

	if (err->pos < 0)
		return cmd_fail(err);
	sql_error_show(statement, err, &out);
	if (out.data)
		fwrite(out.data, 1, out.len, stderr);
	buf_fini(&out);
	return CMD_FAILED;
}

/* Files' names are as seen from the tree's root; of trees of files that are elsewhere, with the way there. */
static void set_prefix(struct source *source, struct buf *out)
{
	if (!source_control(source))
		buf_printf(out, "%s/", source_name(source));
	else
		buf_puts(out, "");
}

/* What could not be taken back. */
static void left(const char *file, const char *text)
{
	cmd_say("left behind in %s: %s", file, text);
}

static int live(const struct opts *opts, const char *statement, const struct sql_options *options)
{
	struct source *source;
	struct sql_tree_world *world = NULL;
	struct sql_lines lines;
	struct buf prefix = BUF_INIT;
	struct err err = ERR_INIT;
	const char *dir = opts_value(opts, "tracing-dir");
	int r;

	r = dir ? source_open(&source, &(struct source_how){ .tracefs = dir }, &err) :
		  cmd_open(&source, opts, opts_value(opts, "execute"), &err);
	if (r)
		return cmd_fail(&err);
	world = sql_tree_world_new(source);
	r = world ? sql_translate(&lines, sql_tree_world(world), statement, options, &err) :
		    err_set(&err, -ENOMEM, "out of memory");
	if (r) {
		r = sqlhist_refused(statement, &err);
	} else {
		set_prefix(source, &prefix);
		r = opts_value(opts, "execute") ? sql_apply(&lines, source, options->instance, left, &err) : 0;
		if (!r)
			r = print_lines(&lines, prefix.data ? prefix.data : "", &err);
		r = r ? cmd_fail(&err) : CMD_DONE;
		sql_lines_fini(&lines);
	}
	buf_fini(&prefix);
	sql_tree_world_free(world);
	source_close(source);
	return r;
}

extern const struct cmd cmd_sqlhist;

static int run(const struct opts *opts)
{
	struct sql_options options = {
		.name = opts_value(opts, "name"), .instance = opts_value(opts, "instance"),
		.max = opts_value(opts, "max"), .change = opts_value(opts, "change"),
		.snapshot = opts_value(opts, "snapshot") || opts_value(opts, "trace-snapshot"),
		.trace = opts_value(opts, "trace-snapshot"), .save = opts_value(opts, "save"),
	};
	const char *input = opts_value(opts, "input");
	struct buf statement = BUF_INIT;
	struct err err = ERR_INIT;
	int r;

	if (!opts_value(opts, "file") == !opts_arg(opts, 0))
		return cmd_misuse(&cmd_sqlhist, "a statement is needed: as an argument, or in a file (-f)");
	if (input && (opts_value(opts, "execute") || opts_value(opts, "tracing-dir")))
		return cmd_misuse(&cmd_sqlhist, "a trace file (-i) cannot be written to");
	r = get_statement(opts, &statement, &err);
	if (r)
		r = cmd_fail(&err);
	else if (input)
		r = sqlhist_file(input, statement.data, &options);
	else
		r = live(opts, statement.data, &options);
	buf_fini(&statement);
	return r;
}

const struct cmd cmd_sqlhist = {
	.name = "sqlhist",
	.synopsis = "[options] STATEMENT",
	.summary = "histograms and synthetic events by SELECT statements",
	.text = "Says what a statement is in lines for the tracing tree, and writes them with -e:\n"
		"\n"
		"  ringside sqlhist 'SELECT CAST(common_pid AS comm), COUNT(*) FROM shop.order'\n"
		"  ringside sqlhist -e -n lat 'SELECT start.id, TIMESTAMP_DELTA_USECS AS us\n"
		"      FROM shop.order AS start JOIN shop.pay AS end ON start.id = end.id'\n"
		"\n"
		"A SELECT from one event is a histogram of it; one with a JOIN is a synthetic event that\n"
		"happens when events of the two belong together. The language is that of libtracefs. With\n"
		"-i the same statement is answered from a trace file.\n",
	.opts = sqlhist_opts,
	.args_min = 0,
	.args_max = -1,
	.run = run,
};
