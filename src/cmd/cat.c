/*
 * cmd/cat: files of the tree to stdout.
 */
#include <errno.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/pager.h"

static const struct opt cat_opts[] = {
	{ 'f', "follow", NULL, "of trace_pipe and its like: go on with what comes, until Ctrl-C" },
	{ 0, NULL, NULL, NULL },
};

static int put(struct source *source, const char *path, struct pager *pager, struct err *err)
{
	struct buf names = BUF_INIT;
	struct err unused = ERR_INIT;
	int r;

	/* A directory shows what is in it. */
	r = source_list(source, path, &names, &unused);
	if (!r)
		r = pager_put(pager, names.data ? names.data : "", names.len);
	else if (r == -ENOTDIR)
		r = source_pump(source, path, pager_put, pager, err);
	else
		err_set(err, r, "%s", unused.text);
	buf_fini(&names);
	return r;
}

static int put_piece(void *ctx, const void *bytes, size_t len)
{
	return cmd_put(bytes, len, ctx);
}

static bool over(void *ctx)
{
	(void)ctx;
	return interrupt_end();
}

/* No pager: it would show nothing before the end. */
static int follow(const struct opts *opts)
{
	struct source *source;
	struct err err = ERR_INIT;
	int r = cmd_open(&source, opts, false, &err);

	if (r)
		return cmd_fail(&err);
	interrupt_catch();
	r = source_follow(source, opts_arg(opts, 0), put_piece, over, &err, &err);
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}

static int run(const struct opts *opts)
{
	struct source *source;
	struct pager pager;
	struct err err = ERR_INIT;
	int r;

	if (opts_value(opts, "follow") && opts->nargs > 1)
		return cmd_misuse(&cmd_cat, "-f follows one file");
	if (opts_value(opts, "follow"))
		return follow(opts);
	r = cmd_open(&source, opts, false, &err);
	if (r)
		return cmd_fail(&err);
	pager_begin(&pager, opts, 0, &err);
	for (int i = 0; !r && i < opts->nargs; i++)
		r = put(source, opts_arg(opts, i), &pager, &err);
	r = pager_end(&pager, r);
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_cat = {
	.name = "cat",
	.synopsis = "[-f] FILE...",
	.summary = "print files of the tracing tree",
	.text = "Prints files of the tree as cat(1) would in the kernel's tracefs, for example\n"
		"`ringside cat events/shop/order/format`. Of a directory it prints the names in it;\n"
		"`ringside cat .` shows the top. per_cpu/cpuN/trace_pipe_raw gives the pages that are\n"
		"there and takes them away.\n",
	.arg = "CONTROL_FILE",
	.opts = cat_opts,
	.args_min = 1,
	.args_max = -1,
	.run = run,
};
