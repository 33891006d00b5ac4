/*
 * cmd/report_ask: what the command line asks for. See report.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/report.h"
#include "cmd/report_profile.h"
#include "cmd/report_wakeup.h"

#define CPU_MAX 65536

static bool is(const struct opts_item *item, const char *word)
{
	return item->opt && !strcmp(item->opt->word, word);
}

/* Of "a/b/c" the c. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct report_file *add_file(struct report *report, const char *path)
{
	struct report_file *more = realloc(report->files,
					   (report->nr_files + 1) * sizeof(*more));

	if (!more) {
		err_set(&report->err, -ENOMEM, "out of memory");
		return NULL;
	}
	report->files = more;
	report->files[report->nr_files] = (struct report_file){ .path = path,
								.base = base_name(path) };
	return &report->files[report->nr_files++];
}

/* Files first: options that belong to one come behind it, but filters may come before. */
static int list_files(struct report *report, const struct opts *opts)
{
	for (int i = 0; i < opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];

		if ((is(item, "input") || !item->opt) && !add_file(report, item->value))
			return report->err.code;
	}
	if (!report->nr_files && !add_file(report, REPORT_USUAL_FILE))
		return report->err.code;
	return 0;
}

static int parse_number(struct report *report, const char *option, const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 0);
	if (end == text || *end || errno)
		return err_set(&report->err, -EINVAL, "--%s %s: a number is needed", option, text);
	return 0;
}

/* Seconds with up to nine digits behind the point, exactly. */
static int parse_time(struct report *report, const char *option, const char *text, uint64_t *out)
{
	const char *p = text;
	uint64_t seconds = 0, ns = 0, unit = 100000000;
	bool any = false;

	for (; *p >= '0' && *p <= '9' && seconds < 10000000000; p++, any = true)
		seconds = seconds * 10 + (uint64_t)(*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10, any = true)
			ns += (uint64_t)(*p - '0') * unit;
	if (!any || *p)
		return err_set(&report->err, -EINVAL, "--%s %s: a time in seconds is needed", option,
			       text);
	*out = seconds * 1000000000 + ns;
	return 0;
}

/* "0,2-3" */
static int parse_cpus(struct report *report, const char *text)
{
	bool *cpus = report->cpus ? (bool *)report->cpus : calloc(CPU_MAX, sizeof(*cpus));
	const char *p = text;
	char *end;

	report->cpus = cpus;
	report->nr_cpus = CPU_MAX;
	if (!cpus)
		return err_set(&report->err, -ENOMEM, "out of memory");
	for (;; p = end + 1) {
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (end != p && *end == '-') {
			p = end + 1;
			last = strtoul(p, &end, 10);
		}
		if (end == p || first > last || last >= CPU_MAX || (*end && *end != ','))
			return err_set(&report->err, -EINVAL, "--cpu %s: numbers are needed, as 0,2-3",
				       text);
		for (unsigned long i = first; i <= last; i++)
			cpus[i] = true;
		if (!*end)
			return 0;
	}
}

static int parse_pids(struct report *report, const char *text)
{
	const char *p = text;
	char *end;

	for (;; p = end + 1) {
		long pid = strtol(p, &end, 10);
		int *more = realloc((int *)report->pids, (report->nr_pids + 1) * sizeof(*more));

		if (!more)
			return err_set(&report->err, -ENOMEM, "out of memory");
		report->pids = more;
		if (end == p || (*end && *end != ',') || pid < INT32_MIN || pid > INT32_MAX)
			return err_set(&report->err, -EINVAL, "--pid %s: numbers are needed, as 1,42",
				       text);
		more[report->nr_pids++] = (int)pid;
		if (!*end)
			return 0;
	}
}

static int parse_comms(struct report *report, const char *text)
{
	char *copy = strdup(text), *save;
	const char **more;

	for (char *name = copy ? strtok_r(copy, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save)) {
		more = realloc(report->comms, (report->nr_comms + 1) * sizeof(*more));
		if (!more)
			break;
		report->comms = more;
		more[report->nr_comms] = strdup(name);
		report->nr_comms += more[report->nr_comms] != NULL;
	}
	free(copy);
	return 0;
}

static int parse_regex(struct report *report, const char *text, regex_t **out)
{
	regex_t *re = malloc(sizeof(*re));
	char why[200];
	int r;

	if (!re)
		return err_set(&report->err, -ENOMEM, "out of memory");
	r = regcomp(re, text, REG_ICASE | REG_NOSUB);
	if (r) {
		regerror(r, re, why, sizeof(why));
		free(re);
		return err_set(&report->err, -EINVAL, "%s: %s", text, why);
	}
	*out = re;
	return 0;
}

/* How lines look. */
static int parse_look(struct report *report, const struct opts_item *item)
{
	if (is(item, "latency"))
		report->look.columns |= TRACECMD_LATENCY;
	else if (is(item, "nanoseconds"))
		report->look.columns |= TRACECMD_NS;
	else if (is(item, "raw"))
		report->look.raw = true;
	else if (is(item, "ts-diff"))
		report->look.columns |= TRACECMD_DIFF;
	else if (is(item, "ts-check"))
		report->ts_check = true;
	else if (is(item, "boundary"))
		report->boundary = true;
	else if (is(item, "json"))
		report->form = REPORT_JSON;
	else if (is(item, "csv"))
		report->form = REPORT_CSV;
	else if (is(item, "quiet"))
		report->quiet = true;
	else if (is(item, "raw-event"))
		return parse_regex(report, item->value, &report->look.raw_events);
	else if (is(item, "no-handler"))
		return parse_regex(report, item->value, &report->look.plain_events);
	else if (is(item, "layout")) {
		report->look.old_layout = !strcmp(item->value, "3.2");
		if (!report->look.old_layout && strcmp(item->value, "3.3"))
			return err_set(&report->err, -EINVAL, "--layout %s: 3.2 or 3.3 is needed",
				       item->value);
	}
	return 0;
}

/* Which records are wanted. */
static int parse_choice(struct report *report, const struct opts_item *item)
{
	if (is(item, "cpu"))
		return parse_cpus(report, item->value);
	if (is(item, "pid"))
		return parse_pids(report, item->value);
	if (is(item, "comm"))
		return parse_comms(report, item->value);
	if (is(item, "no-irqs"))
		report->no_irqs = true;
	else if (is(item, "no-softirqs"))
		report->no_softirqs = true;
	else if (is(item, "instance"))
		report->instance = item->value;
	return 0;
}

int report_ask(struct report *report, const struct opts *opts)
{
	int r = list_files(report, opts);

	if (!r && report->follow && report->follow->path) {
		report->files[0].path = report->follow->path;
		report->files[0].base = base_name(report->follow->path);
	}
	for (int i = 0; i < opts->nitems && !r; i++) {
		r = parse_look(report, &opts->items[i]);
		if (!r)
			r = parse_choice(report, &opts->items[i]);
	}
	if (!report->look.old_layout)
		report->look.columns |= TRACECMD_FLAGS;
	report->look.decode = (report->form == REPORT_PIPE ? 0 : DECODE_TEP) | (isatty(STDOUT_FILENO) ? DECODE_ESCAPE : 0) |
			 (report->look.columns & TRACECMD_NS ? DECODE_NS : 0) | (report->look.old_layout ? DECODE_NO_ARGS : 0);
	return r;
}

int report_ask_times(struct report *report, const struct opts *opts)
{
	struct report_file *file = NULL;
	size_t nr = 0;
	int64_t n;
	int r = 0;

	for (int i = 0; i < opts->nitems && !r; i++) {
		const struct opts_item *item = &opts->items[i];

		if (is(item, "input") || !item->opt)
			file = &report->files[nr++];
		if (is(item, "ts-offset")) {
			r = parse_number(report, "ts-offset", item->value, &n);
			if (!r && !file)
				r = err_set(&report->err, -EINVAL, "--ts-offset comes behind the file "
					    "that it is for");
			if (!r)
				file->times.offset = n;
		}
		if (is(item, "ts2secs")) {
			r = parse_number(report, "ts2secs", item->value, &n);
			for (size_t f = 0; !r && f < report->nr_files; f++)
				if (!file || file == &report->files[f])
					report->files[f].times.hz = n > 0 ? (uint64_t)n : 0;
		}
	}
	for (size_t f = 0; f < report->nr_files && !r; f++) {
		file = &report->files[f];
		file->times.raw = opts_value(opts, "raw-ts") != NULL;
		file->times.no_date = opts_value(opts, "nodate") != NULL;
		/* What is known of another clock changes while a file grows. */
		file->times.shift = !report->follow;
		file->times.stock = report->look.old_layout;
		file->ticks = replay_times_are_ticks(file->dat, &file->times);
	}
	return r;
}

static void world_name(void *arg, size_t i, const char **system, const char **name)
{
	dat_event_name(arg, i, system, name, NULL);
}

static const struct decode_format *world_format(void *arg, size_t i)
{
	return dat_event_format(arg, i, NULL);
}

static int add_filter(struct report *report, struct report_file *file, bool out, const char *text)
{
	struct filter_world world = { .arg = file->dat, .nr = dat_nr_events(file->dat),
				      .name = world_name, .format = world_format };
	struct filter **filter = out ? &file->filter_out : &file->filter;

	if (!*filter && filter_new(filter, 0))
		return err_set(&report->err, -ENOMEM, "out of memory");
	return filter_add(*filter, text, &world, &report->err);
}

/* A filter is for the file before it, one that stands before all files for each of them. */
int report_ask_filters(struct report *report, const struct opts *opts)
{
	struct report_file *file = NULL;
	bool negate = false;
	size_t nr = 0;
	int r = 0;

	report->choosy = (report->cpus && report->look.old_layout) || report->nr_pids || report->nr_comms ||
			 report->no_irqs || report->no_softirqs || opts_value(opts, "filter");
	for (int i = 0; i < opts->nitems && !r; i++) {
		const struct opts_item *item = &opts->items[i];

		if (is(item, "input") || !item->opt)
			file = &report->files[nr++];
		if (is(item, "negate"))
			negate = true;
		if (!is(item, "filter"))
			continue;
		for (size_t f = 0; f < report->nr_files && !r; f++)
			if (!file || report->nr_files == 1 || file == &report->files[f])
				r = add_filter(report, &report->files[f], negate, item->value);
	}
	return r;
}

int report_ask_plugins(struct report *report, const struct opts *opts)
{
	int r;

	report->look.no_plugins = opts_value(opts, "no-plugins") || opts_value(opts, "local");
	r = decode_plugins_new(&report->look.plugins, report->look.no_plugins ? DECODE_PLUGINS_NONE : 0);

	for (int i = 0; i < opts->nitems && !r; i++) {
		const struct opts_item *item = &opts->items[i];

		if (is(item, "plugin"))
			r = decode_plugins_load(report->look.plugins, item->value, &report->err);
		if (is(item, "option"))
			r = decode_plugins_set(report->look.plugins, item->value, &report->err);
	}
	return r;
}

int report_ask_range(struct report *report, const struct opts *opts)
{
	const char *from = opts_value(opts, "from"), *to = opts_value(opts, "to");
	const char *tail = opts_value(opts, "tail");
	uint64_t time;
	int64_t n;
	int r = 0;

	if (to) {
		r = parse_time(report, "to", to, &time);
		if (!r)
			replay_until(report->replay, time);
	}
	if (!r && from) {
		r = parse_time(report, "from", from, &time);
		if (!r)
			r = replay_seek(report->replay, time, &report->err);
	}
	if (!r && tail) {
		r = parse_number(report, "tail", tail, &n);
		if (!r)
			r = report_tail(report, n > 0 ? (uint64_t)n : 0);
	}
	return r;
}

/* What adds up needs memory for it. */
int report_ask_summaries(struct report *report, const struct opts *opts)
{
	unsigned int how = (opts_value(opts, "global-irqs") ? REPORT_PROFILE_GLOBAL : 0) |
			   (opts_value(opts, "by-comm") ? REPORT_PROFILE_BY_COMM : 0);
	int r = 0;

	if (opts_value(opts, "wakeup") && !(report->wakeup = report_wakeup_new()))
		return err_set(&report->err, -ENOMEM, "out of memory");
	if (!opts_value(opts, "profile"))
		return 0;
	report->profile = report_profile_new(how);
	if (!report->profile)
		return err_set(&report->err, -ENOMEM, "out of memory");
	for (int i = 0; i < opts->nitems && !r; i++)
		if (is(&opts->items[i], "hook"))
			r = report_profile_hook(report->profile, opts->items[i].value, &report->err);
	for (size_t i = 0; i < report->nr_files && !r; i++)
		r = report_profile_check(report->profile, report->files[i].dat, &report->err);
	return r;
}
