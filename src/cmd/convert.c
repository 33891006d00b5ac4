/*
 * cmd/convert: a trace file as one of another version or compression.
 */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/files.h"

static const struct opt convert_opts[] = {
	{ 'i', "input", "PATH", "the file to be converted, instead of trace.dat" },
	{ 'o', "output", "PATH", "the file to be made; may also be the last word" },
	{ 0, "file-version", "VERSION", "6, which older readers know, or 7 (this is so anyway)" },
	{ 0, "compression", "NAME", "zstd, zlib, none, or any, which is the best there is" },
	{ 0, NULL, NULL, NULL },
};

static int copy_all(const struct dat_copy *copy, const struct dat *dat, struct dat_write *write,
		    const char *path, struct err *err)
{
	int r = files_copy_meta(dat, write, path, err);

	return r ? r : dat_copy_buffers(copy, dat, write, err);
}

static int convert(const char *from, const char *to, int version, const char *compression,
		   struct err *err)
{
	struct dat_write *write;
	struct dat_copy copy;
	struct dat *dat;
	int r;

	r = files_open(&dat, from, err);
	if (r)
		return r;
	r = dat_copy_init(&copy, dat, err);
	if (!r) {
		copy.how.version = version;
		copy.how.compression = compression;
		r = dat_write_open(&write, to, &copy.how, err);
		if (!r)
			r = files_finish(write, copy_all(&copy, dat, write, to, err), err);
		dat_copy_fini(&copy);
	}
	dat_close(dat);
	return r;
}

static int run(const struct opts *opts)
{
	const char *from = opts_value(opts, "input"), *to = opts_value(opts, "output");
	const char *version = opts_value(opts, "file-version");
	const char *compression = opts_value(opts, "compression");
	struct err err = ERR_INIT;

	if (to && opts_arg(opts, 0))
		return cmd_misuse(&cmd_convert, "convert: one file is made: '%s' or '%s'?", to,
				  opts_arg(opts, 0));
	if (!to)
		to = opts_arg(opts, 0);
	if (!to || !*to)
		return cmd_misuse(&cmd_convert, "convert: what is to be the new file's name?");
	if (version && strcmp(version, "6") && strcmp(version, "7"))
		return cmd_misuse(&cmd_convert, "convert: --file-version %s: there are 6 and 7",
				  version);
	if (convert(from ? from : FILES_DEFAULT, to, version ? *version - '0' : 7,
		    compression ? compression : "any", &err))
		return cmd_fail(&err);
	return CMD_DONE;
}

const struct cmd cmd_convert = {
	.name = "convert",
	.synopsis = "[-i PATH] [-o] PATH [--file-version 6|7] [--compression NAME]",
	.summary = "make another version of a trace file",
	.text = "Makes a trace file of version 7, packed, out of one of either version; or, as\n"
		"told, one of version 6 for readers that know no other. All buffers, options and\n"
		"names go along, in the byte order of the machine that they are from, and pages\n"
		"are not touched.\n",
	.opts = convert_opts,
	.args_max = 1,
	.on_file = true,
	.run = run,
};
