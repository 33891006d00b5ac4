/*
 * cmd/show: what was recorded, as text or JSON; with -p as it comes.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mono.h"
#include "cmd/cmd.h"
#include "cmd/pager.h"
#include "cmd/report.h"
#include "cmd/scope.h"
#include "cmd/show_file.h"
#include "control/rows.h"
#include "control/text.h"
#include "decode/page.h"
#include "report/json.h"

#define PIECE 65536

static const struct opt show_opts[] = {
	{ 'c', "cpu", "CPU", "only what happened on this CPU" },
	{ 'p', "pipe", NULL, "follow: print and take away what comes, until Ctrl-C" },
	{ 'i', "input", "FILE", "with -p: what comes to this trace file, or the newest in this directory of a board" },
	{ 't', "timeout", "SECONDS", "with -p: end after that time" },
	{ 's', "snapshot", NULL, "the snapshot instead of the buffer" },
	{ 'B', "instance", "INSTANCE", "of this instance" },
	{ 0, "json", NULL, "one JSON object a line; of a tracing directory" },
	{ 'f', "file", NULL, "print the path of the file before it" },
	SHOW_FILE_OPTS,
	{ 0, NULL, NULL, NULL },
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct show {
	struct source *source;
	struct control_rows *rows;
	struct control_text text;	/* how rows become lines */
	struct scope scope;
	struct pager pager;
	struct buf out;
	struct err err;
	int cpu;		/* -1: all */
	bool json;
	bool follow;
	bool snapshot;
	int64_t deadline_ms;	/* -1: none */
	char path[SCOPE_PATH];	/* of the file that is asked for instead; empty: none */
};

/* Everything so far goes out. */
static int settle(void *ctx)
{
	struct show *show = ctx;
	int r;

	if (!show->out.len)
		return 0;
	r = pager_put(&show->pager, show->out.data, show->out.len);
	buf_reset(&show->out);
	return r;
}

static int put_row(struct show *show, const struct control_row *row)
{
	if (!show->json)
		return control_text_row(&show->text, &show->out, row, &show->err);
	if (row->lost == PAGE_LOST_UNKNOWN)
		buf_printf(&show->out, "{\"cpu\":%d,\"lost\":null}\n", row->row.cpu);
	else if (row->lost)
		buf_printf(&show->out, "{\"cpu\":%d,\"lost\":%" PRIu64 "}\n", row->row.cpu,
			   row->lost);
	report_json_line(&show->out, &row->row, control_rows_ctx(show->rows));
	return 1;
}

/* Waits for more. 0 when there may be, 1 when it is time to end. */
static int wait(struct show *show)
{
	int64_t left = show->deadline_ms < 0 ? 1000 : show->deadline_ms - mono_ms();
	int r;

	if (!show->follow || interrupted || left <= 0)
		return 1;
	r = control_rows_wait(show->rows, left < 1000 ? (int)left : 1000, &show->err);
	return r == -EINTR || r >= 0 ? 0 : r;
}

/* Time to end, by the clock or by the person. */
static bool over(void *ctx)
{
	const struct show *show = ctx;

	return interrupted || (show->deadline_ms >= 0 && show->follow && mono_ms() >= show->deadline_ms);
}

static int put_rows(struct show *show)
{
	struct control_row row;
	bool ending = false;
	int r = 0;

	while (!r) {
		r = control_rows_next(show->rows, &row, &show->err);
		if (r == 1) {
			r = put_row(show, &row);
			if (r < 0)
				break;
			r = show->out.len >= PIECE && !show->follow ? settle(show) : 0;
			/* What was taken out of the buffer belongs out: the page in hand is printed to its end. */
			if (!ending && over(show)) {
				control_rows_end(show->rows);
				ending = true;
			}
		} else if (!r) {
			r = settle(show);
			if (!r)
				r = ending ? 1 : wait(show);
			if (r == 1)
				break;
		}
	}
	if (r < 0)
		return r;
	return settle(show);
}

static int show_rows(struct show *show)
{
	struct control *control = source_control(show->source);
	struct control_rows_how how = { .cpu = show->cpu, .consume = show->follow,
					.snapshot = show->snapshot, .settle = settle, .ctx = show };
	int index, r;

	r = control_refresh(control, &show->err);
	if (r)
		return r;
	index = control_state_buffer(&control->state, show->scope.instance ? show->scope.instance : "");
	if (index < 0)
		return err_set(&show->err, -ENODEV, "the instance is gone");
	how.buffer = (uint32_t)index;
	/* JSON has escapes of its own. */
	if (show->json)
		control->escape = false;
	r = control_rows_open(&show->rows, control, &how, &show->err);
	if (r)
		return r;
	control_text_init(&show->text, &control->state.buffers[index], &control->state.buffers[0],
			  show->rows, false);
	r = put_rows(show);
	control_text_fini(&show->text);
	control_rows_close(show->rows);
	return r;
}

static int put_piece(void *ctx, const void *bytes, size_t len)
{
	struct show *show = ctx;

	return pager_put(&show->pager, bytes, len);
}

static int show_text(struct show *show)
{
	const char *name = show->snapshot ? "snapshot" : show->follow ? "trace_pipe" : "trace";
	char file[64], path[SCOPE_PATH];

	if (*show->path)
		return source_pump(show->source, show->path, put_piece, show, &show->err);
	if (show->cpu >= 0)
		snprintf(file, sizeof(file), "per_cpu/cpu%d/%s", show->cpu, name);
	else
		snprintf(file, sizeof(file), "%s", name);
	scope_path(path, &show->scope, file);
	if (show->follow)
		return source_follow(show->source, path, put_piece, over, show, &show->err);
	return source_pump(show->source, path, put_piece, show, &show->err);
}

static void catch_signals(void)
{
	/* Without SA_RESTART: a wait ends. */
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static bool parse_timeout(const char *text, int64_t *deadline_ms)
{
	char *end;
	double s;

	s = strtod(text, &end);
	if (end == text || *end || !isfinite(s) || s < 0 || s > 1e9)
		return false;
	*deadline_ms = mono_ms() + (int64_t)(s * 1000);
	return true;
}

/* Everything is checked: prints it, through a pager unless it is followed. */
static int show_source(struct show *show, const struct opts *opts)
{
	unsigned int flags = (show->json || *show->path ? 0 : PAGER_TRACE) | (show->follow ? PAGER_STRAIGHT : 0);
	int r;

	pager_begin(&show->pager, opts, flags, &show->err);
	if (show->follow)
		catch_signals();
	if (source_control(show->source) && (show->json || show->follow))
		r = show_rows(show);
	else
		r = show_text(show);
	return pager_end(&show->pager, r);
}

static int put_path(struct show *show)
{
	struct buf line = BUF_INIT;
	int r;

	buf_printf(&line, "%s/%s\n", source_name(show->source), show->path);
	r = buf_failed(&line) ? err_set(&show->err, -ENOMEM, "out of memory") : cmd_put(line.data, line.len, &show->err);
	buf_fini(&line);
	return r;
}

/* What the source has to have. */
static int check_source(struct show *show)
{
	int r;

	r = scope_check(&show->scope, show->source, &show->err);
	if (!r && show->cpu >= 0)
		r = cmd_check_cpu(show->source, show->cpu, &show->err);
	if (!r && show->json && !source_control(show->source))
		r = err_set(&show->err, -EOPNOTSUPP, "--json is for tracing directories: %.300s has text "
			    "only", source_name(show->source));
	return r;
}

/* What comes to a file: nothing is taken away from anybody, and no tracing directory has to be there. */
static int show_arriving(const struct opts *opts, const char *cpu, int64_t deadline_ms)
{
	static const char *const others[] = { "snapshot", "file", "dir", "kernel", "tracefs", "programs" };
	size_t inputs = 0;

	for (int i = 0; i < opts->nitems; i++)
		inputs += opts->items[i].opt && !strcmp(opts->items[i].opt->word, "input");
	if (inputs > 1)
		return cmd_misuse(&cmd_show, "show: -i: one file at a time; `report --follow` merges several");
	if (!opts_value(opts, "pipe"))
		return cmd_misuse(&cmd_show, "show: -i goes with -p; `report` prints what a file has by now");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (opts_value(opts, others[i]))
			return cmd_misuse(&cmd_show, "show: -i and --%s do not go together", others[i]);
	if (cpu && strspn(cpu, "0123456789") != strlen(cpu))
		return cmd_misuse(&cmd_show, "show: -c %s: the number of a CPU is needed", cpu);
	return report_follow(&cmd_show, opts, REPORT_PIPE, deadline_ms);
}

static int run(const struct opts *opts)
{
	struct show show = {
		.out = BUF_INIT,
		.err = ERR_INIT,
		.scope = { .instance = opts_value(opts, "instance") },
		.cpu = -1,
		.json = opts_value(opts, "json") != NULL,
		.follow = opts_value(opts, "pipe") != NULL,
		.snapshot = opts_value(opts, "snapshot") != NULL,
		.deadline_ms = -1,
	};
	const char *cpu = opts_value(opts, "cpu"), *timeout = opts_value(opts, "timeout");
	int files = show_file_asked(opts), r;

	if (cpu && !cmd_parse_cpu(cpu, &show.cpu))
		return cmd_misuse(&cmd_show, "show: -c %s: the number of a CPU is needed", cpu);
	if (timeout && (!show.follow || !parse_timeout(timeout, &show.deadline_ms)))
		return cmd_misuse(&cmd_show, "show: --timeout takes seconds and goes with -p");
	if (opts_value(opts, "input") && !files)
		return show_arriving(opts, cpu, show.deadline_ms);
	if (show.snapshot && show.follow)
		return cmd_misuse(&cmd_show, "show: a snapshot stands still: -s goes without -p");
	if (files > 1 || (files && (cpu || show.follow || show.snapshot || show.json || opts_value(opts, "input"))))
		return cmd_misuse(&cmd_show, "show: one file at a time, and as a whole");
	if (opts_value(opts, "file") && !files)
		return cmd_misuse(&cmd_show, "show: -f goes with one of --hist, --trigger and those that follow");
	r = cmd_open(&show.source, opts, false, &show.err);
	if (r)
		return cmd_fail(&show.err);
	r = check_source(&show);
	if (!r && files)
		r = show_file_path(opts, &show.scope, show.source, show.path, &show.err);
	if (!r && opts_value(opts, "file"))
		r = put_path(&show);
	if (!r)
		r = show_source(&show, opts);
	source_close(show.source);
	buf_fini(&show.out);
	return r ? cmd_fail(&show.err) : CMD_DONE;
}

const struct cmd cmd_show = {
	.name = "show",
	.synopsis = "[-c CPU] [-B INSTANCE] [--json] [-s | -p [-i FILE] [--timeout SECONDS] | [-f] --hist EVENT | --trigger EVENT | --FILE]",
	.summary = "print what was recorded",
	.text = "Prints the events of all programs in order of time, in the layout of the kernel's\n"
		"`trace` file. They stay in the buffer; with -p they are taken out of it as they come,\n"
		"as from `trace_pipe`. With -p -i what comes to a trace file that is being recorded, as\n"
		"by `ringside listen`, is printed so, and nothing is taken away.\n",
	.opts = show_opts,
	.run = run,
};
