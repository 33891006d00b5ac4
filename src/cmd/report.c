/*
 * cmd/report: trace files as text. See report.h.
 */
#include "cmd/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/report_info.h"
#include "cmd/report_profile.h"
#include "cmd/report_wakeup.h"
#include "dat/block.h"
#include "decode/page.h"

#define JOBS_MAX 64
#define TEXT_WINDOW 65536

static const struct opt report_opts[] = {
	{ 'i', "input", "FILE", "the trace file, trace.dat if none is named; several are merged by time" },
	{ 'F', "filter", "FILTER", "only events that pass, as \"sched_switch: prev_pid == 0\"; may be repeated" },
	{ 'v', "negate", NULL, "the filters that follow say what is left out" },
	{ 'T', "test-filters", NULL, "show what was understood of the filters, and end" },
	{ 0, "cpu", "CPUS", "only these CPUs, as 0,2-3" },
	{ 0, "pid", "PIDS", "only these tasks, as 1,42" },
	{ 0, "comm", "NAMES", "only tasks of these names" },
	{ 'B', "instance", "INSTANCE", "only this buffer" },
	{ 'I', "no-irqs", NULL, "nothing that happened in hard interrupts" },
	{ 'S', "no-softirqs", NULL, "nor in soft ones" },
	{ 0, "from", "TIME", "begin at this time, in seconds as they are printed" },
	{ 0, "to", "TIME", "end with it" },
	{ 0, "tail", "N", "only the last N events" },
	{ 0, "follow", NULL, "go on with what comes to a file that is being recorded, or to the newest in a directory" },
	{ 'R', "raw", NULL, "fields as they are instead of each event's own text" },
	{ 'r', "raw-event", "REGEX", "the same for these events only" },
	{ 'n', "no-handler", "REGEX", "these events without their plugins" },
	{ 'N', "no-plugins", NULL, "all events without plugins" },
	{ 'L', "local", NULL, "only plugins of your own" },
	{ 0, "plugin", "FILE", "load a plugin of your own: see ringside_plugin(3)" },
	{ 'O', "option", "OPTION", "of a plugin, as parent or fgraph:retval" },
	{ 'l', "latency", NULL, "the narrow columns of latency-format" },
	{ 't', "nanoseconds", NULL, "times with all their digits" },
	{ 'w', "wakeup", NULL, "show how long woken tasks waited for a CPU" },
	{ 0, "profile", NULL, "how long tasks ran, slept, waited, instead of the events" },
	{ 'G', "global-irqs", NULL, "with --profile: interrupts apart from tasks" },
	{ 'H', "hook", "HOOK", "with --profile: START,END events that belong together" },
	{ 0, "by-comm", NULL, "with --profile: tasks of one name together" },
	{ 0, "ts-offset", "NS", "add this to the times of the file before it" },
	{ 0, "ts2secs", "HZ", "times are ticks, so many a second" },
	{ 0, "ts-diff", NULL, "show the time since the line before" },
	{ 0, "ts-check", NULL, "tell where times go back" },
	{ 0, "raw-ts", NULL, "times as they were written" },
	{ 0, "align-ts", NULL, "the first event is at 0" },
	{ 0, "nodate", NULL, "without the date that `record --date` wrote" },
	{ 0, "layout", "VERSION", "3.3 (this is so anyway), or 3.2: without the column of flags" },
	{ 0, "json", NULL, "one JSON object an event" },
	{ 0, "csv", NULL, "one line of CSV an event, with a heading" },
	{ 0, "boundary", NULL, "show where pages begin" },
	{ 0, "kallsyms", "FILE", "names of addresses from this file" },
	{ 'j', "jobs", "N", "threads; as many as there are CPUs, if it is not said" },
	{ 'q', "quiet", NULL, "no warnings" },
	{ 'V', "verbose", NULL, "tell what files are read, on stderr" },
	{ 0, "debug", NULL, "accepted, for trace-cmd's sake" },
	{ 'e', "endian", NULL, "show which end comes first, and end; so do all from here on:" },
	{ 'p', "page-size", NULL, "the size of pages" },
	{ 'f', "functions", NULL, "the names of addresses" },
	{ 'P', "printks", NULL, "the formats of trace_printk()" },
	{ 'E', "event-names", NULL, "the events that the file describes" },
	{ 0, "events", NULL, "their formats" },
	{ 0, "event", "REGEX", "the formats of some" },
	{ 0, "check-events", NULL, "whether all formats can be read" },
	{ 0, "stat", NULL, "what the kernel counted in its buffers" },
	{ 0, "uname", NULL, "the system that was traced" },
	{ 0, "version", NULL, "the version of what wrote the file" },
	{ 0, "cpus", NULL, "the CPUs with data" },
	{ 0, "first-event", NULL, "the time of each CPU's first event" },
	{ 0, "last-event", NULL, "and of its last" },
	{ 0, NULL, NULL, NULL },
};


static void widen(size_t *width, const char *name)
{
	if (strlen(name) > *width)
		*width = strlen(name);
}

/*
 * Lines begin with the name of their instance, and where there are several files those of no instance
 * with that of their file.
 */
static void measure_prefixes(struct report *report)
{
	const struct dat_buffer *b;

	for (size_t i = 0; i < report->nr_files; i++) {
		if (report->nr_files > 1)
			widen(&report->file_width, report->files[i].base);
		for (size_t n = 0; (b = dat_buffer(report->files[i].dat, n)); n++)
			widen(&report->prefix, b->name);
	}
	if (report->file_width > report->prefix)
		report->prefix = report->file_width;
}

static void tell_file(const struct report_file *file)
{
	const struct dat_info *info = dat_info(file->dat);
	size_t buffers = 0;

	while (dat_buffer(file->dat, buffers))
		buffers++;
	cmd_say("%s: version %d, %s endian, compression %s, %u CPUs, %zu buffers, clock %s, %zu events "
		"described", file->path, info->version, info->abi.big_endian ? "big" : "little",
		info->compressor, info->nr_cpus, buffers, info->clock ? info->clock : "not told",
		dat_nr_events(file->dat));
}

static int open_files(struct report *report, const struct opts *opts)
{
	const char *kallsyms = opts_value(opts, "kallsyms"), *warning;
	int r = 0;

	for (size_t i = 0; i < report->nr_files && !r; i++) {
		struct report_file *file = &report->files[i];

		r = dat_open(&file->dat, file->path, &report->err);
		if (!r)
			r = report_entries_new(file);
		if (!r && kallsyms)
			r = dat_use_kallsyms(file->dat, kallsyms, &report->err);
		if (!r && opts_value(opts, "verbose"))
			tell_file(file);
		for (size_t w = 0; !r && !report->quiet && (warning = dat_warning(file->dat, w)); w++)
			cmd_say("%s", warning);
	}
	if (!r)
		measure_prefixes(report);
	return r;
}

/* -T: what was understood. */
static int show_filters(const struct report *report, struct err *err)
{
	struct buf out = BUF_INIT;
	int r;

	for (size_t i = 0; i < report->nr_files; i++) {
		if (report->files[i].filter)
			filter_describe(report->files[i].filter, &out);
		if (report->files[i].filter_out)
			filter_describe(report->files[i].filter_out, &out);
	}
	r = out.len ? cmd_put(out.data, out.len, err) : 0;
	buf_fini(&out);
	return r;
}

static bool lane_wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct report *report = arg;

	if (report->instance && strcmp(report->instance, buffer->name))
		return false;
	/* In trace-cmd a CPU that is not shown still comes between a function's beginning and end. */
	if (report->look.old_layout)
		return true;
	return !report->cpus || ((size_t)cpu < report->nr_cpus && report->cpus[cpu]);
}

static int add_lanes(struct report *report)
{
	int r = replay_new(&report->replay);

	for (size_t i = 0; i < report->nr_files && !r; i++)
		r = replay_add(report->replay, report->files[i].dat, &report->files[i].times,
			       lane_wanted, report, &report->err);
	return r;
}

/* --align-ts: the first event of the first file's top buffer is at 0, and all others with it. */
static int align(struct report *report)
{
	const struct replay_lane *lane;
	uint64_t least = UINT64_MAX, first, last;

	for (size_t i = 0; (lane = replay_lane(report->replay, i)); i++)
		if (!lane->file_nr && !*lane->buffer->name &&
		    replay_lane_ends(report->replay, i, &first, &last) && first < least)
			least = first;
	if (least == UINT64_MAX)
		return 0;
	for (size_t i = 0; i < report->nr_files; i++)
		report->files[i].times.offset -= (int64_t)least;
	replay_free(report->replay);
	return add_lanes(report);
}

static unsigned int jobs(const struct report *report, const struct opts *opts)
{
	const char *text = opts_value(opts, "jobs");
	long n = text ? strtol(text, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);

	/* What looks at the line before, or adds up, goes in order. */
	if ((report->look.columns & TRACECMD_DIFF) || report->ts_check || report->wakeup ||
	    report->profile || report->skip)
		return 1;
	for (size_t i = 0; i < report->nr_files; i++)
		if ((report->files[i].filter && filter_asks_comm(report->files[i].filter)) ||
		    (report->files[i].filter_out && filter_asks_comm(report->files[i].filter_out)))
			return 1;
	return n < 1 || report->nr_comms ? 1 : n > JOBS_MAX ? JOBS_MAX : (unsigned int)n;
}

static void put_cpus(const struct report *report, const struct report_file *file, struct buf *out)
{
	if (report->nr_files > 1)
		buf_printf(out, "%*s: ", (int)report->file_width, file->base);
	buf_printf(out, "cpus=%u\n", dat_info(file->dat)->nr_cpus);
}

static int put_text(struct report *report, struct dat_lane *lane)
{
	struct dat_block *block;
	int r = 0;

	for (uint64_t i = 0; !r; i++) {
		r = dat_lane_fetch(lane, i, &block, &report->err);
		if (r != 1)
			break;
		r = pager_put(&report->pager, block->data, block->len);
		dat_block_drop(block);
	}
	return r ? r : pager_put(&report->pager, "\n", 1);
}

/* What latency tracers left is text already. */
static int put_texts(struct report *report, const struct report_file *file)
{
	const struct dat_buffer *buffer;
	struct dat_lane *lane;
	int r = 0;

	for (size_t i = 0; !r && (buffer = dat_buffer(file->dat, i)); i++) {
		if (!buffer->is_text)
			continue;
		r = dat_lane_open(&lane, file->dat, buffer, 0, TEXT_WINDOW, &report->err);
		if (!r)
			r = put_text(report, lane);
		dat_lane_close(lane);
	}
	return r;
}

/* The lines before the first event. */
static int put_heads(struct report *report)
{
	struct buf out = BUF_INIT;
	int r;

	if (report->form == REPORT_CSV)
		return pager_put(&report->pager, report_csv_head, strlen(report_csv_head));
	if (report->form != REPORT_TEXT)
		return 0;
	for (size_t i = 0; i < report->nr_files; i++)
		put_cpus(report, &report->files[i], &out);
	r = pager_put(&report->pager, out.data, out.len);
	buf_fini(&out);
	for (size_t i = 0; i < report->nr_files && !r; i++)
		r = put_texts(report, &report->files[i]);
	return r;
}

static void tell_lost(struct report *report)
{
	uint64_t count, unknown;
	const char *warning;

	if (report->quiet)
		return;
	for (size_t i = 0; (warning = replay_warning(report->replay, i)); i++)
		cmd_say("%s", warning);
	replay_lost(report->replay, &count, &unknown);
	line_tell_lost(count, unknown);
}

static int put_records(struct report *report, const struct opts *opts)
{
	const uint8_t **passes = calloc(report->nr_files, sizeof(*passes));
	struct replay_job job = report_job;
	int r;

	report->passing = report_own_new(report);
	if (!passes || !report->passing) {
		free(passes);
		return err_set(&report->err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < report->nr_files; i++)
		passes[i] = report->files[i].marks;
	job.passes = passes;
	job.arg = report;
	r = replay_run(report->replay, &job, jobs(report, opts), &report->err);
	free(passes);
	return r;
}

/* The summaries of what adds up. */
static int put_ends(struct report *report)
{
	struct buf out = BUF_INIT;
	int r = 0;

	if (report->err.code)
		return report->err.code;
	if (report->wakeup)
		report_wakeup_end(report->wakeup, &out);
	if (report->profile && report_profile_end(report->profile, &out))
		r = err_set(&report->err, -ENOMEM, "out of memory");
	if (!r && out.len)
		r = pager_put(&report->pager, out.data, out.len);
	buf_fini(&out);
	return r;
}

static int print(struct report *report, const struct opts *opts)
{
	int r;

	pager_begin(&report->pager, opts, (report->form == REPORT_TEXT || report->form == REPORT_PIPE ? PAGER_TRACE : 0) |
					  (report->follow ? PAGER_STRAIGHT : 0), &report->err);
	r = report->follow && report->follow->headed ? 0 : put_heads(report);
	if (report->follow)
		report->follow->headed = true;
	if (!r)
		r = put_records(report, opts);
	if (report->follow)
		r = report_follow_end(report, r);
	if (!r)
		r = put_ends(report);
	r = pager_end(&report->pager, r);
	if (!report->follow)
		tell_lost(report);
	return r;
}

/* Those that tell something of a file: 1 and its text, 0 if none was asked for. */
static int file_info(struct report *report, const struct report_file *file, const struct opts *opts,
		     struct buf *out)
{
	struct dat *dat = file->dat;
	struct report_info_cpus cpus = { .first = opts_value(opts, "first-event"),
					 .last = opts_value(opts, "last-event"),
					 .flags = report->look.columns | (file->ticks ? TRACECMD_TICKS : 0),
					 .times = file->times };

	if (opts_value(opts, "endian"))
		report_info_endian(dat, out);
	else if (opts_value(opts, "page-size"))
		report_info_page_size(dat, out);
	else if (opts_value(opts, "functions"))
		report_info_functions(dat, out);
	else if (opts_value(opts, "printks"))
		report_info_printks(dat, out);
	else if (opts_value(opts, "event-names"))
		return report_info_events(dat, out) ? -ENOMEM : 1;
	else if (opts_value(opts, "events") || opts_value(opts, "event"))
		return report_info_formats(dat, opts_value(opts, "event"), out, &report->err) ? -1 : 1;
	else if (opts_value(opts, "check-events"))
		report->bad_events += report_info_check(dat, out);
	else if (opts_value(opts, "cpus") || cpus.first || cpus.last)
		return report_info_cpus(dat, &cpus, out, &report->err) ? -1 : 1;
	else
		return 0;
	return 1;
}

/* And those for which trace-cmd has the number of CPUs first. */
static int headed_info(struct report *report, const struct report_file *file,
		       const struct opts *opts, struct buf *out)
{
	bool stat = opts_value(opts, "stat"), uname = opts_value(opts, "uname");

	if (!stat && !uname && !opts_value(opts, "version"))
		return 0;
	put_cpus(report, file, out);
	if (uname)
		report_info_uname(file->dat, out);
	else if (opts_value(opts, "version"))
		report_info_version(file->dat, out);
	return stat && report_info_stat(file->dat, out, &report->err) ? -1 : 1;
}

/* 1: this was all that was asked for. */
static int show_info(struct report *report, const struct opts *opts)
{
	struct buf out = BUF_INIT;
	int r = 0, any = 0;

	for (size_t i = 0; i < report->nr_files && r >= 0; i++) {
		r = file_info(report, &report->files[i], opts, &out);
		if (!r)
			r = headed_info(report, &report->files[i], opts, &out);
		any |= r == 1;
	}
	if (r >= 0 && out.len)
		r = pager_show(opts, &out, &report->err);
	buf_fini(&out);
	return r < 0 ? r : any;
}

static int show_records(struct report *report, const struct opts *opts)
{
	int r = add_lanes(report);

	if (!r && opts_value(opts, "align-ts"))
		r = align(report);
	if (!r && report->follow) {
		r = report_follow_range(report);
		return r == 1 ? print(report, opts) : r;
	}
	if (!r)
		r = report_ask_range(report, opts);
	if (!r)
		r = report_ask_summaries(report, opts);
	return r ? r : print(report, opts);
}

static void fini(struct report *report)
{
	replay_free(report->replay);
	report_own_free(report->passing);
	report_wakeup_free(report->wakeup);
	report_profile_free(report->profile);
	for (size_t i = 0; i < report->nr_files; i++) {
		filter_free(report->files[i].filter);
		filter_free(report->files[i].filter_out);
		report_entries_free(&report->files[i]);
		dat_close(report->files[i].dat);
	}
	decode_plugins_free(report->look.plugins);
	if (report->look.raw_events)
		regfree(report->look.raw_events);
	if (report->look.plain_events)
		regfree(report->look.plain_events);
	free(report->look.raw_events);
	free(report->look.plain_events);
	for (size_t i = 0; i < report->nr_comms; i++)
		free((void *)report->comms[i]);
	free(report->comms);
	free((void *)report->pids);
	free((void *)report->cpus);
	free(report->new_from);
	free(report->printed);
	free(report->files);
}

int report_once(const struct report_by *by, const struct opts *opts)
{
	struct report report = { .follow = by->follow, .form = by->form, .err = ERR_INIT };
	int r = report_ask(&report, opts);
	bool bad;

	if (r == -EINVAL) {
		fini(&report);
		return cmd_misuse(by->cmd, "%s: %s", by->cmd->name, report.err.text);
	}
	if (!r)
		r = open_files(&report, opts);
	/* What is only about to be written comes with one of the next rounds. */
	if (r && by->follow && report_follow_begins(&report)) {
		fini(&report);
		return CMD_DONE;
	}
	if (!r)
		r = report_ask_times(&report, opts);
	if (!r)
		r = report_ask_plugins(&report, opts);
	if (!r)
		r = report_ask_filters(&report, opts);
	if (!r && opts_value(opts, "test-filters"))
		r = show_filters(&report, &report.err);
	else if (!r && !(r = show_info(&report, opts)))
		r = show_records(&report, opts);
	bad = report.went_back || report.bad_events;
	fini(&report);
	if (r < 0)
		return cmd_fail(&report.err);
	return bad ? CMD_FAILED : CMD_DONE;
}

static int run(const struct opts *opts)
{
	static const char *const others[] = { "from", "to", "tail", "wakeup", "profile", "align-ts", "ts-diff", "ts-check" };
	const struct report_by once = { &cmd_report, REPORT_TEXT, NULL };

	if (!opts_value(opts, "follow"))
		return report_once(&once, opts);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (opts_value(opts, others[i]))
			return cmd_misuse(&cmd_report, "report: --follow and --%s do not go together", others[i]);
	return report_follow(&cmd_report, opts, REPORT_TEXT, -1);
}

const struct cmd cmd_report = {
	.name = "report",
	.synopsis = "[-i FILE]... [OPTION]... [FILE]",
	.summary = "print trace files",
	.text = "Prints the events of trace files, which trace-cmd writes, in the order of their times, in\n"
		"the layout of `trace-cmd report`.\n",
	.opts = report_opts,
	.arg = "file",
	.args_max = -1,
	.on_file = true,
	.run = run,
};
