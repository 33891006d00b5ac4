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
#include "cmd/cmd.h"
#include "control/rows.h"
#include "control/tree.h"
#include "decode/page.h"
#include "report/json.h"
#include "report/trace.h"

#define PIECE 65536

static const struct opt show_opts[] = {
	{ 'c', "cpu", "CPU", "only what happened on this CPU" },
	{ 'p', "pipe", NULL, "follow: print and take away what comes, until Ctrl-C" },
	{ 't', "timeout", "SECONDS", "with -p: end after that time" },
	{ 0, "json", NULL, "one JSON object a line" },
	{ 0, NULL, NULL, NULL },
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct show {
	struct control *control;
	struct control_rows *rows;
	struct buf out;
	struct err err;
	int cpu;		/* -1: all */
	bool json;
	bool follow;
	int64_t deadline_ms;	/* -1: none */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Everything so far goes out. */
static int settle(void *ctx)
{
	struct show *show = ctx;
	int r;

	if (!show->out.len)
		return 0;
	r = cmd_put(show->out.data, show->out.len, &show->err);
	buf_reset(&show->out);
	return r;
}

static void put_row(struct show *show, const struct control_row *row)
{
	const struct decode_ctx *ctx = control_rows_ctx(show->rows);

	if (row->lost == PAGE_LOST_UNKNOWN && show->json)
		buf_printf(&show->out, "{\"cpu\":%d,\"lost\":null}\n", row->row.cpu);
	else if (row->lost && show->json)
		buf_printf(&show->out, "{\"cpu\":%d,\"lost\":%" PRIu64 "}\n", row->row.cpu,
			   row->lost);
	else if (row->lost)
		report_trace_lost(&show->out, row->row.cpu, row->lost);
	if (show->json)
		report_json_line(&show->out, &row->row, ctx);
	else
		report_trace_line(&show->out, &row->row, ctx, 0);
}

/* Waits for more. 0 when there may be, 1 when it is time to end. */
static int wait(struct show *show)
{
	int64_t left = show->deadline_ms < 0 ? 1000 : show->deadline_ms - now_ms();
	int r;

	if (!show->follow || interrupted || left <= 0)
		return 1;
	r = control_rows_wait(show->rows, left < 1000 ? (int)left : 1000, &show->err);
	return r == -EINTR || r >= 0 ? 0 : r;
}

/* Time to end, by the clock or by the person. */
static bool over(const struct show *show)
{
	return interrupted || (show->deadline_ms >= 0 && show->follow && now_ms() >= show->deadline_ms);
}

static int put_rows(struct show *show)
{
	struct control_row row;
	bool ending = false;
	int r = 0;

	while (!r) {
		r = control_rows_next(show->rows, &row, &show->err);
		if (r == 1) {
			put_row(show, &row);
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
	struct control_rows_how how = { .cpu = show->cpu, .consume = show->follow,
					.settle = settle, .ctx = show };
	int r;

	r = control_refresh(show->control, &show->err);
	if (!r)
		r = control_rows_open(&show->rows, show->control, &how, &show->err);
	if (r)
		return r;
	r = put_rows(show);
	control_rows_close(show->rows);
	return r;
}

static int show_text(struct show *show)
{
	char path[64] = "trace";

	if (show->cpu >= 0)
		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace", show->cpu);
	return tree_pump(show->control, path, cmd_put_piece, &show->err, &show->err);
}

static void catch_signals(void)
{
	/* Without SA_RESTART: a wait ends. */
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* A whole number that fits, or false. */
static bool parse_cpu(const char *text, int *cpu)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n > 1000000)
		return false;
	*cpu = (int)n;
	return true;
}

static bool parse_timeout(const char *text, int64_t *deadline_ms)
{
	char *end;
	double s;

	s = strtod(text, &end);
	if (end == text || *end || !isfinite(s) || s < 0 || s > 1e9)
		return false;
	*deadline_ms = now_ms() + (int64_t)(s * 1000);
	return true;
}

static int run(const struct opts *opts)
{
	struct show show = {
		.out = BUF_INIT,
		.err = ERR_INIT,
		.cpu = -1,
		.json = opts_value(opts, "json") != NULL,
		.follow = opts_value(opts, "pipe") != NULL,
		.deadline_ms = -1,
	};
	const char *cpu = opts_value(opts, "cpu"), *timeout = opts_value(opts, "timeout");
	int r;

	if (cpu && !parse_cpu(cpu, &show.cpu))
		return cmd_misuse(&cmd_show, "show: -c %s: the number of a CPU is needed", cpu);
	if (timeout && (!show.follow || !parse_timeout(timeout, &show.deadline_ms)))
		return cmd_misuse(&cmd_show, "show: --timeout takes seconds and goes with -p");
	r = cmd_open(&show.control, opts, false, &show.err);
	if (r)
		return cmd_fail(&show.err);
	if (show.cpu >= 0 && (uint32_t)show.cpu >= show.control->dir.ncpu)
		r = err_set(&show.err, -ENXIO, "there is no CPU %d: the last one is %" PRIu32,
			    show.cpu, show.control->dir.ncpu - 1);
	/* JSON has escapes of its own. */
	if (show.json)
		show.control->escape = false;
	if (!r && show.follow)
		catch_signals();
	if (!r)
		r = show.json || show.follow ? show_rows(&show) : show_text(&show);
	control_close(show.control);
	buf_fini(&show.out);
	return r ? cmd_fail(&show.err) : CMD_DONE;
}

const struct cmd cmd_show = {
	.name = "show",
	.synopsis = "[-c CPU] [--json] [-p [--timeout SECONDS]]",
	.summary = "print what was recorded",
	.text = "Prints the events of all programs in order of time, in the layout of the kernel's\n"
		"`trace` file. They stay in the buffer; with -p they are taken out of it as they come,\n"
		"as from `trace_pipe`.\n",
	.opts = show_opts,
	.run = run,
};
