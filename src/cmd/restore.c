/*
 * cmd/restore: a trace file from what is left of one: formats and names of a tree, pages in files, or a recording whose
 * recorder was killed.
 *
 *	-c			tree -> a file without events
 *	-i FILE PAGES...	such a file, and pages
 *	PAGES...		tree and pages at once
 *	FILE			closed up, where it is
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/restore_pages.h"
#include "dat/live.h"
#include "record/clock.h"
#include "record/meta.h"

static const struct opt restore_opts[] = {
	{ 'c', "create", NULL, "only formats and names, for -i: a file without events" },
	{ 't', "tree", "DIR", "they come from the tree of files under DIR" },
	{ 'k', "kallsyms", "PATH", "names of addresses from this file, instead of the tree's own" },
	{ 'i', "input", "PATH", "formats and names come from this file, which -c made" },
	{ 'o', "output", "PATH", "the new file, instead of trace.dat" },
	{ 0, NULL, NULL, NULL },
};

struct restore {
	const struct opts *opts;
	struct source *source;	/* NULL with -i */
	struct dat *dat;	/* of -i */
	struct record_meta *meta;
	struct restore_pages pages;
	struct dat_write *write;
	struct dat_write_how how;
	struct decode_abi abi;		/* of the pages */
	struct record_clock clock;	/* of a tracing directory */
	char clock_name[64];
	struct err err;
};

/* ---- from a tree ---- */

/* "field: char data;	offset:16;	size:4080;	signed:1;": both numbers, of a page's field. */
static bool find_field(const char *text, const char *name, unsigned int *offset, unsigned int *size)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), " offset:%u; size:%u;", offset, size) == 2;
}

/* How large pages are, which end with their data, and how large their word for its length. */
static int find_page(struct restore *restore)
{
	struct buf text = BUF_INIT;
	unsigned int offset, commit = 0, size = 0;
	int r = source_read(restore->source, "events/header_page", &text, &restore->err);

	if (!r && text.data && find_field(text.data, " commit;", &offset, &commit) &&
	    find_field(text.data, " data;", &offset, &size))
		size += offset;
	if (!r && (!size || size & (size - 1) || size > PAGE_SIZE_MAX || (commit != 4 && commit != 8)))
		r = err_set(&restore->err, -EBADMSG, "%s: events/header_page does not tell what pages look like",
			    source_name(restore->source));
	restore->how.page_size = size;
	restore->abi = (struct decode_abi)DECODE_ABI_NATIVE;
	restore->abi.long_size = (uint8_t)commit;
	buf_fini(&text);
	return r;
}

/* "local [global] counter" */
static void find_clock(struct restore *restore)
{
	struct control *control = source_control(restore->source);
	struct buf text = BUF_INIT;
	const char *open, *close;

	if (control) {
		record_clock_init(&restore->clock, control, control->state.buffers[0].clock);
		snprintf(restore->clock_name, sizeof(restore->clock_name), "%s", record_clock_name(&restore->clock));
	} else if (source_exists(restore->source, "trace_clock") &&
		   !source_read(restore->source, "trace_clock", &text, NULL) && text.data &&
		   (open = strchr(text.data, '[')) && (close = strchr(open, ']')) &&
		   close - open < (ptrdiff_t)sizeof(restore->clock_name)) {
		snprintf(restore->clock_name, sizeof(restore->clock_name), "%.*s", (int)(close - open - 1), open + 1);
	}
	buf_fini(&text);
}

static int open_tree(struct restore *restore)
{
	struct source_how tree = { .tracefs = opts_value(restore->opts, "tree") };
	struct record_meta_how how = { .kallsyms = opts_value(restore->opts, "kallsyms") };
	int r;

	if (tree.tracefs)
		r = source_open(&restore->source, &tree, &restore->err);
	else
		r = cmd_open(&restore->source, restore->opts, false, &restore->err);
	if (!r)
		r = find_page(restore);
	if (!r)
		r = record_meta_open(&restore->meta, restore->source, &how, &restore->err);
	if (r)
		return r;
	find_clock(restore);
	restore->how.version = 7;
	restore->how.big_endian = restore->abi.big_endian;
	restore->how.long_size = sizeof(long);
	return 0;
}

static int put_section(void *ctx, enum dat_id id, const void *payload, size_t len)
{
	return dat_write_section(((struct restore *)ctx)->write, id, payload, len);
}

static int put_option(void *ctx, enum dat_id id, const void *value, size_t len)
{
	return dat_write_option(((struct restore *)ctx)->write, id, value, len);
}

/* Who made the pages of another tree, and where, is not known. */
static int write_tree(struct restore *restore)
{
	struct record_sink sink = { put_section, put_option, restore };
	struct control *control = source_control(restore->source);
	char text[80];
	int r = record_meta_put(restore->meta, &sink, &restore->err);

	if (!r)
		r = record_meta_put_symbols(restore->meta, &sink, &restore->err);
	if (!r && !opts_value(restore->opts, "tree"))
		r = record_meta_put_machine(restore->meta, 0, &sink, &restore->err);
	if (!r && control)
		return record_clock_put(&restore->clock, false, 0, &sink, &restore->err);
	snprintf(text, sizeof(text), "[%s]", restore->clock_name);
	if (!r && *restore->clock_name)
		r = put_option(restore, DAT_CLOCK, text, strlen(text) + 1);
	return r;
}

/* ---- from a file ---- */

static int open_partial(struct restore *restore)
{
	const char *path = opts_value(restore->opts, "input");
	const struct dat_info *info;
	int r = files_open(&restore->dat, path, &restore->err);

	if (r)
		return r;
	info = dat_info(restore->dat);
	for (size_t i = 0; dat_buffer(restore->dat, i); i++)
		if (dat_buffer(restore->dat, i)->nr_cpus) {
			cmd_say("%s: its own events are left out", path);
			break;
		}
	restore->abi = info->abi;
	restore->how.version = info->version;
	restore->how.big_endian = info->abi.big_endian;
	restore->how.long_size = info->user_long;
	restore->how.page_size = info->page_size;
	snprintf(restore->clock_name, sizeof(restore->clock_name), "%s", info->clock ? info->clock : "");
	return 0;
}

/* ---- all of it ---- */

static int write_file(struct restore *restore)
{
	const char *path = opts_value(restore->opts, "output"), *input = opts_value(restore->opts, "input");
	struct dat_write_buffer top = { .name = "", .clock = restore->clock_name };
	int r;

	restore->how.nr_cpus = restore->pages.nr_cpus;
	restore->how.buffers = &top;
	restore->how.nr_buffers = 1;
	r = dat_write_open(&restore->write, path ? path : FILES_DEFAULT, &restore->how, &restore->err);
	if (r)
		return r;
	if (input)
		r = files_copy_meta(restore->dat, restore->write, input, &restore->err);
	else
		r = write_tree(restore);
	if (!r && restore->pages.n)
		r = restore_pages_write(&restore->pages, restore->how.page_size, restore->write, &restore->err);
	return files_finish(restore->write, r, &restore->err);
}

static int restore_all(struct restore *restore)
{
	int r = restore_pages_open(&restore->pages, restore->opts, &restore->err);

	if (!r)
		r = opts_value(restore->opts, "input") ? open_partial(restore) : open_tree(restore);
	if (!r)
		r = restore_pages_check(&restore->pages, restore->how.page_size, &restore->abi, &restore->err);
	if (!r)
		r = write_file(restore);
	restore_pages_close(&restore->pages);
	record_meta_close(restore->meta);
	source_close(restore->source);
	dat_close(restore->dat);
	return r ? cmd_fail(&restore->err) : CMD_DONE;
}

static int close_up(const char *path)
{
	struct err err = ERR_INIT;
	int r = dat_live_close_up(path, &err);

	if (r < 0)
		return cmd_fail(&err);
	cmd_say(r ? "%s: closed up" : "%s: there is nothing to restore: it is whole", path);
	return CMD_DONE;
}

static int run(const struct opts *opts)
{
	struct restore restore = { .opts = opts, .err = ERR_INIT };
	bool create = opts_value(opts, "create"), input = opts_value(opts, "input");

	if (input && create)
		return cmd_misuse(&cmd_restore, "restore: -c makes what -i takes: they do not go together");
	if (input && (opts_value(opts, "tree") || opts_value(opts, "kallsyms")))
		return cmd_misuse(&cmd_restore, "restore: with -i formats and names come from that file: -t and -k do not "
				  "go with it");
	if (create && opts->nargs)
		return cmd_misuse(&cmd_restore, "restore: -c makes a file without events: %s has no place in it",
				  opts_arg(opts, 0));
	if (!create && !opts->nargs)
		return cmd_misuse(&cmd_restore, "restore: which files of pages, or which trace file?");
	if (opts->nargs == 1 && !input && !opts_value(opts, "tree") && !opts_value(opts, "kallsyms") &&
	    !opts_value(opts, "output") && restore_is_trace(opts_arg(opts, 0)))
		return close_up(opts_arg(opts, 0));
	return restore_all(&restore);
}

const struct cmd cmd_restore = {
	.name = "restore",
	.synopsis = "[-c] [-t DIR] [-k PATH] [-i PATH] [-o PATH] [PAGES]... | FILE",
	.summary = "put a trace file together from what is left of one",
	.text = "Makes a trace file of files with pages, one for each CPU, as they are read from\n"
		"per_cpu/cpuN/trace_pipe_raw; formats and names come from the tree, or from a file that\n"
		"was made of it before (-c, and then -i). Of a trace file alone, whose recorder was\n"
		"killed, it gives back the room that was kept for more events.\n",
	.opts = restore_opts,
	.arg = "PATH",
	.args_max = -1,
	.run = run,
};
