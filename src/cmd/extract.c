/*
 * cmd/extract: what the rings hold now, as a trace file. Nothing is taken out of them, and nobody is stopped. A kernel hands its
 * pages out only once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/progress.h"
#include "cmd/scope.h"
#include "record/still.h"

static const struct opt extract_opts[] = {
	{ 'o', "output", "PATH", "the file, instead of trace.dat" },
	SCOPE_OPT,
	{ 'a', "all", NULL, "all instances" },
	{ 't', "top", NULL, "the top buffer, too" },
	{ 's', "snapshot", NULL, "what was set aside, instead of what is being written" },
	{ 0, "compression", "NAME", "pack the file: any, none, zstd, zlib" },
	{ 0, "file-version", "6|7", "the file's version (7)" },
	{ 0, "date", NULL, "times as the calendar has them" },
	{ 'q', "quiet", NULL, "say nothing but what goes wrong" },
	{ 0, NULL, NULL, NULL },
};

static int ask(struct record_how *how, const struct opts *opts)
{
	const char *version = opts_value(opts, "file-version");

	*how = (struct record_how){
		.path = opts_value(opts, "output") ? opts_value(opts, "output") : FILES_DEFAULT,
		.version = version ? *version - '0' : 7,
		.compression = opts_value(opts, "compression"),
		.date = opts_value(opts, "date"),
	};
	if (!*how->path)
		return cmd_misuse(&cmd_extract, "extract: -o: the name of a file is needed");
	if (version && strcmp(version, "6") && strcmp(version, "7"))
		return cmd_misuse(&cmd_extract, "extract: --file-version %s: there are 6 and 7", version);
	if (how->version == 6 && how->compression && strcmp(how->compression, "none"))
		return cmd_misuse(&cmd_extract, "extract: version 6 knows no compression");
	return CMD_DONE;
}

static bool is_there(const struct record_buffer *buffers, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(buffers[i].name, name))
			return true;
	return false;
}

/* A file has each buffer once, whatever the line says. */
static size_t list(struct record_buffer *buffers, struct source *source, const struct scopes *scopes)
{
	size_t n = 0;

	for (int i = 0; i < scopes->n; i++) {
		const char *name = scopes->scope[i].instance ? scopes->scope[i].instance : "";

		if (!is_there(buffers, n, name))
			buffers[n++] = (struct record_buffer){ .source = source, .instance = name, .name = name };
	}
	return n;
}

static void tell(const struct record_how *how, const struct record_still_sums *sums, bool quiet)
{
	char bytes[32], lost[64] = "none lost";

	if (sums->lost)
		snprintf(lost, sizeof(lost), "%" PRIu64 " lost", sums->lost);
	if (!sums->events)
		cmd_say("%s: there were no events", how->path);
	else if (!quiet || sums->lost || sums->lost_more)
		cmd_say("%s: %" PRIu64 " events, %s, %" PRIu64 " overwritten before them, %s%s", how->path, sums->events,
			progress_bytes(bytes, sums->bytes), sums->overwritten, lost,
			sums->lost_more ? ", and some that could not be counted" : "");
}

/* Of files, which can be read only by taking out what is in them. Events that are off by now may be in them, too. */
static int take_out(struct record_how *how, struct record_still_sums *sums, struct err *err)
{
	struct record *record;
	struct record_sums all;
	int r;

	how->all_formats = true;
	r = record_open(&record, how, err);
	if (r)
		return r;
	r = record_finish(record, err);
	record_sums(record, &all);
	*sums = (struct record_still_sums){
		.events = all.events, .bytes = all.bytes, .lost = all.lost + all.refused, .overwritten = all.overwritten,
		.lost_more = all.lost_more,
	};
	record_close(record);
	return r;
}

static int extract(struct record_how *how, struct source *source, const struct opts *opts, const struct scopes *scopes,
		   struct err *err)
{
	struct record_window all = { .before_ns = UINT64_MAX, .after_ns = UINT64_MAX };
	struct record_buffer *buffers = calloc((size_t)scopes->n + 1, sizeof(*buffers));
	struct record_still_sums sums;
	int r;

	if (!buffers)
		return err_set(err, -ENOMEM, "out of memory");
	how->buffers = buffers;
	how->nr_buffers = list(buffers, source, scopes);
	how->snapshot = opts_value(opts, "snapshot");
	if (how->nr_buffers && !source_control(source))
		r = take_out(how, &sums, err);
	else if (how->nr_buffers)
		r = record_still(how, &all, opts_value(opts, "snapshot"), &sums, err);
	else
		r = err_set(err, -ENOENT, "there is no instance");
	if (!r)
		tell(how, &sums, opts_value(opts, "quiet"));
	free(buffers);
	return r;
}

static int run(const struct opts *opts)
{
	struct err err = ERR_INIT;
	struct source *source;
	struct record_how how;
	struct scopes scopes;
	int r = ask(&how, opts);

	if (r)
		return r;
	r = cmd_open(&source, opts, false, &err);
	if (r)
		return cmd_fail(&err);
	r = scopes_choose(&scopes, opts, source, false, &err);
	if (!r) {
		r = extract(&how, source, opts, &scopes, &err);
		scopes_fini(&scopes);
	}
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_extract = {
	.name = "extract",
	.synopsis = "[-o PATH] [-B INSTANCE]... [-a] [-t] [-s] [OPTION]...",
	.summary = "save what the buffers hold now as a trace file",
	.text = "Copies the events that are in a buffer into a trace file. They stay where they are, and\n"
		"programs write on meanwhile; what they write is not in the file. Those of a kernel\n"
		"are taken out.\n",
	.opts = extract_opts,
	.run = run,
};
