/*
 * cmd/check_events: whether the formats of all events can be used, of a trace file, or of the
 * events that there are to trace. In a report, those that cannot print as raw fields, or not at
 * all.
 */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/events.h"
#include "cmd/files.h"
#include "cmd/pager.h"
#include "cmd/report_info.h"

static const struct opt check_opts[] = {
	{ 'i', "input", "FILE", "those of a trace file" },
	{ 'N', "no-plugins", NULL, "accepted: plugins have no say in this" },
	{ 0, NULL, NULL, NULL },
};

static int check_file(const char *path, struct buf *out, size_t *bad, struct err *err)
{
	struct dat *dat;
	int r = files_open(&dat, path, err);

	if (r)
		return r;
	/* A format without a name is only known by the words about it. */
	*bad = (dat_warning(dat, 0) != NULL) + report_info_check(dat, out);
	dat_close(dat);
	return 0;
}

/* One event of a source: true if its format can be used. */
static bool check_format(const struct events_item *item, const struct buf *text, struct buf *out)
{
	struct decode_format *format = NULL;
	struct err err = ERR_INIT;

	decode_format_parse(item->system, text->data ? text->data : "", text->len, NULL, &format,
			    &err);
	/* What is live is printed as the kernel prints it. */
	if (format && !format->prog && !format->special && format->print_err.code)
		err = format->print_err;
	if (err.code)
		buf_printf(out, "%s:%s: %s\n", item->system, item->name, err.text);
	decode_format_free(format);
	return !err.code;
}

static int check_source(const struct opts *opts, struct buf *out, size_t *bad, struct err *err)
{
	struct events events;
	struct source *source;
	struct buf text = BUF_INIT;
	int r = cmd_open(&source, opts, false, err);

	if (r)
		return r;
	r = events_load(&events, source, err);
	for (size_t i = 0; !r && i < events.n; i++) {
		buf_reset(&text);
		r = events_format(&events, &events.item[i], &text, err);
		if (!r && !check_format(&events.item[i], &text, out))
			++*bad;
	}
	if (!r || events.item)
		events_fini(&events);
	source_close(source);
	buf_fini(&text);
	return r;
}

static int run(const struct opts *opts)
{
	const char *path = opts_value(opts, "input");
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	size_t bad = 0;
	int r;

	path = path ? path : opts_arg(opts, 0);
	r = path ? check_file(path, &out, &bad, &err) : check_source(opts, &out, &bad, &err);
	if (!r && out.len)
		r = pager_show(opts, &out, &err);
	buf_fini(&out);
	if (r)
		return cmd_fail(&err);
	return bad ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_check_events = {
	.name = "check-events",
	.synopsis = "[-i FILE]",
	.summary = "check whether the formats of events can be read",
	.text = "Reads the formats of all events, of a trace file or of those that can be traced,\n"
		"and tells which cannot be used and why: a line for each. Then the exit status\n"
		"is 1.\n",
	.opts = check_opts,
	.arg = "file",
	.args_max = 1,
	.run = run,
};
