/*
 * cmd/profile: how often functions are called and how long they take, while a command runs, for a while, or so far.
 *
 *	-l, -n, -g written to the tree | function_profile_enabled | command ... | table -> rows -> text | as it was
 *
 * The profile is one for the directory, counted by its programs: nothing is recorded, so nothing can be lost. Whoever else
 * profiles there is not disturbed: what there is can be shown, but not begun. A kernel's is read out of its files: it tells one of
 * the two times, as its option graph-time is, and not the longest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/planner.h"
#include "cmd/profile_files.h"
#include "cmd/reach.h"
#include "cmd/scope.h"
#include "cmd/setup.h"
#include "control/measure.h"
#include "control/symbols.h"
#include "report/json.h"

static const struct opt profile_opts[] = {
	{ 'l', "function", "FUNCTION", "only these; again for more" },
	{ 'n', "no-function", "FUNCTION", "not these; again for more" },
	{ 'g', "graph", "FUNCTION", "these and what they call; again for more" },
	{ 0, "module", "MODULE", "of -l, only functions of this module" },
	{ 'P', "pid", "PID", "processes that run already, separated by commas; again for more" },
	{ 0, "sort", "KEY", "total (this is so anyway), self, hits, avg, dev, max or name" },
	{ 0, "top", "N", "the first N" },
	{ 0, "json", NULL, "one JSON object a line" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
};

/* The files that say which functions, by the option that is about each. */
static const struct choice {
	const char *word;
	const char *file;
} choices[] = {
	{ "function", "set_ftrace_filter" },
	{ "no-function", "set_ftrace_notrace" },
	{ "graph", "set_graph_function" },
};
#define NCHOICES (sizeof(choices) / sizeof(choices[0]))

enum key { BY_TOTAL, BY_SELF, BY_HITS, BY_AVG, BY_DEV, BY_MAX, BY_NAME, KEYS };
static const char *const keys[KEYS] = { "total", "self", "hits", "avg", "dev", "max", "name" };

struct line {
	const struct control_profile_row *row;
	char *name;		/* as list -f has it */
	size_t bare;		/* as long is that without the module */
	uint64_t deviation;
};

struct profiling {
	struct live live;
	const struct opts *opts;
	struct planner planner;
	struct reach reach;
	struct setup *setup;	/* what is changed meanwhile */
	bool json;
	enum key key;
	size_t top;		/* 0: all */
};

/* What is known of all rows. */
struct known {
	bool total, self, max;
};

/* ---- What came of it ---- */

#define ORDER(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

/* Average and deviation are those of the total; of the function alone where nothing else is known. */
static bool is_alone(const struct control_profile_row *row)
{
	return !row->vals[PROFILE_TIME] && row->vals[PROFILE_SELF];
}

static uint64_t value_of(const struct line *line, enum key key)
{
	const struct control_profile_row *row = line->row;

	switch (key) {
	case BY_SELF:
		return row->vals[PROFILE_SELF];
	case BY_HITS:
		return row->hits;
	case BY_AVG:
		return control_profile_average(row, is_alone(row));
	case BY_DEV:
		return line->deviation;
	case BY_MAX:
		return row->vals[PROFILE_MAX];
	default:
		return row->vals[is_alone(row) ? PROFILE_SELF : PROFILE_TIME];
	}
}

static enum key sort_key;	/* for compare(), which has no argument */

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = 0;

	if (sort_key != BY_NAME)
		r = ORDER(value_of(x, sort_key), value_of(y, sort_key));
	if (!r && sort_key != BY_NAME)
		r = ORDER(x->row->hits, y->row->hits);
	return r ? r : strcmp(x->name, y->name);
}

/* NAME, or NAME [MODULE]. */
static bool put_name(struct line *line, struct control *control, uint64_t address)
{
	struct decode_symbol symbol = { 0 };
	struct buf name = BUF_INIT;

	if (control_symbol(control, address, &symbol))
		buf_puts(&name, symbol.name);
	else
		buf_printf(&name, "0x%" PRIx64, address);
	line->bare = name.len;
	if (symbol.module)
		buf_printf(&name, " [%s]", symbol.module);
	line->name = name.data;
	return !buf_failed(&name);
}

static void lines_free(struct line *lines, size_t n)
{
	for (size_t i = 0; lines && i < n; i++)
		free(lines[i].name);
	free(lines);
}

/* `names` of rows that have no addresses. */
static struct line *lines_make(struct control *control, char **names, const struct control_profile *profile, enum key key)
{
	struct line *lines = calloc(profile->n + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < profile->n; i++) {
		const struct control_profile_row *row = &profile->rows[i];

		lines[i].row = row;
		lines[i].deviation = control_profile_deviation(row, is_alone(row));
		lines[i].name = names ? strdup(names[i]) : NULL;
		lines[i].bare = lines[i].name ? strlen(lines[i].name) : 0;
		if (names ? !lines[i].name : !put_name(&lines[i], control, row->address)) {
			lines_free(lines, i + 1);
			return NULL;
		}
	}
	sort_key = key;
	if (lines && profile->n)
		qsort(lines, profile->n, sizeof(*lines), compare);
	return lines;
}

/* Microseconds. */
static void put_time(struct buf *out, bool known, uint64_t ns)
{
	if (known)
		buf_printf(out, " %11" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
	else
		buf_printf(out, " %15s", "-");
}

static void put_line(struct buf *out, const struct known *known, const struct line *line)
{
	const struct control_profile_row *row = line->row;

	buf_printf(out, "%10" PRIu64, row->hits);
	put_time(out, known->total, row->vals[PROFILE_TIME]);
	put_time(out, known->self, row->vals[PROFILE_SELF]);
	put_time(out, known->total || known->self, value_of(line, BY_AVG));
	put_time(out, known->total || known->self, line->deviation);
	put_time(out, known->max, row->vals[PROFILE_MAX]);
	buf_printf(out, "  %s\n", line->name);
}

/* What a kernel tells. */
static void put_json_some(struct buf *out, const struct known *known, const struct line *line)
{
	const char *self = known->self ? "self_" : "";

	buf_puts(out, "{\"function\":");
	report_json_string(out, line->name, line->bare);
	buf_printf(out, ",\"hits\":%" PRIu64, line->row->hits);
	if (known->total || known->self)
		buf_printf(out, ",\"%s_ns\":%" PRIu64 ",\"%savg_ns\":%" PRIu64 ",\"%sdev_ns\":%" PRIu64, known->self ? "self" : "total",
			   value_of(line, BY_TOTAL), self, value_of(line, BY_AVG), self, line->deviation);
	buf_puts(out, "}\n");
}

static void put_json(struct buf *out, const struct line *line)
{
	const struct control_profile_row *row = line->row;

	buf_puts(out, "{\"function\":");
	report_json_string(out, line->name, line->bare);
	if (line->name[line->bare]) {
		buf_puts(out, ",\"module\":");
		report_json_string(out, line->name + line->bare + 2, strlen(line->name + line->bare) - 3);
	}
	buf_printf(out, ",\"hits\":%" PRIu64 ",\"timed\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64,
		   row->hits, row->vals[PROFILE_TIMED], row->vals[PROFILE_TIME], row->vals[PROFILE_SELF]);
	buf_printf(out, ",\"avg_ns\":%" PRIu64 ",\"dev_ns\":%" PRIu64, control_profile_average(row, false),
		   line->deviation);
	buf_printf(out, ",\"self_avg_ns\":%" PRIu64 ",\"self_dev_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 "}\n",
		   control_profile_average(row, true), control_profile_deviation(row, true),
		   row->vals[PROFILE_MAX]);
}

/* What the numbers leave out. */
static void put_rest(struct buf *out, const struct control_profile *profile, bool json)
{
	uint64_t open = 0;

	for (size_t i = 0; i < profile->n; i++)
		if (profile->rows[i].hits > profile->rows[i].vals[PROFILE_TIMED])
			open += profile->rows[i].hits - profile->rows[i].vals[PROFILE_TIMED];
	if (json && profile->drops)
		buf_printf(out, "{\"dropped\":%" PRIu64 "}\n", profile->drops);
	if (!json && open)
		buf_printf(out, "%" PRIu64 " calls have no time: their end was not seen\n", open);
	if (!json && profile->drops)
		buf_printf(out, "%" PRIu64 " calls are missing: there was no room, or no moment to count them\n", profile->drops);
}

static void put_table(const struct profiling *p, const struct known *known, const struct control_profile *profile,
		      const struct line *lines, uint32_t height, struct buf *out)
{
	size_t n = p->top && p->top < profile->n ? p->top : profile->n;

	if (height > 3 && n > height - 3)
		n = height - 3;
	if (!p->json)
		buf_printf(out, "%10s %15s %15s %15s %15s %15s  Function\n", "Hits", "Total us", "Self us", "Avg us", "Dev us",
			   "Max us");
	for (size_t i = 0; i < n; i++)
		if (!p->json)
			put_line(out, known, &lines[i]);
		else if (p->live.control)
			put_json(out, &lines[i]);
		else
			put_json_some(out, known, &lines[i]);
	/* A kernel's counts are of calls that it has seen to their end. */
	if (p->live.control)
		put_rest(out, profile, p->json);
}

/* The profile so far; of a tracing directory without `names`. */
static int read_profile(struct live *live, struct profile_files *files, struct known *known)
{
	int r;

	*files = (struct profile_files){ .has_times = false };
	*known = (struct known){ true, true, true };
	if (!live->control) {
		r = profile_files_read(files, live->source, &live->err);
		*known = (struct known){ files->has_times && !files->is_self, files->has_times && files->is_self, false };
		return r;
	}
	r = control_follow(live->control, &live->err);
	return r ? r : control_profile_read(&files->profile, live->control, CONTROL_PROFILE_ALL, &live->err);
}

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	const struct profiling *p = live->arg;
	struct profile_files files;
	struct known known;
	struct line *lines;
	int r = read_profile(live, &files, &known);

	(void)width;
	if (r)
		return r;
	lines = lines_make(live->control, files.names, &files.profile, p->key);
	if (lines)
		put_table(p, &known, &files.profile, lines, height, out);
	else
		r = err_set(&live->err, -ENOMEM, "out of memory");
	lines_free(lines, files.profile.n);
	profile_files_fini(&files);
	return r;
}

/* ---- Measuring ---- */

/* The functions of one option; where none are named, those that the file has. */
static int choose(struct profiling *p, size_t c)
{
	const char *module = c ? NULL : opts_value(p->opts, "module");
	struct buf text = BUF_INIT;
	int r = 0;

	for (int i = 0; i < p->opts->nitems; i++)
		if (scope_is(&p->opts->items[i], choices[c].word))
			buf_printf(&text, "%s%s%s\n", p->opts->items[i].value, module ? ":mod:" : "", module ? module : "");
	if (!text.len && module)
		buf_printf(&text, "*:mod:%s\n", module);
	if (buf_failed(&text))
		r = err_set(&p->live.err, -ENOMEM, "out of memory");
	else if (text.len)
		r = setup_put(p->setup, choices[c].file, text.data, true, &p->live.err);
	buf_fini(&text);
	return r;
}

/* Where it is counted already somebody wants that. */
static int check_idle(struct live *live)
{
	struct buf text = BUF_INIT;
	int r = source_read(live->source, "function_profile_enabled", &text, &live->err);

	if (!r && text.data && *text.data != '0')
		r = err_set(&live->err, -EBUSY, "functions are profiled there already: `ringside profile` shows them, "
			    "`ringside write function_profile_enabled 0` ends it");
	buf_fini(&text);
	return r;
}

/* What only programs need: plans, and to be reached. */
static int prepare_programs(struct profiling *p)
{
	struct live *live = &p->live;
	int r = planner_start(&p->planner, live->source, p->opts, live->quiet, &live->err);

	return r ? r : reach_open(&p->reach, p->opts, source_name(live->source), live->quiet, &live->err);
}

static int begin(struct profiling *p)
{
	struct live *live = &p->live;
	int r = setup_sweep(live->source, &live->err);

	if (r >= 0)
		r = check_idle(live);
	if (!r && live->control)
		r = prepare_programs(p);
	if (!r)
		r = setup_lend(&p->setup, live->source, &live->err);
	for (size_t c = 0; !r && c < NCHOICES; c++)
		r = choose(p, c);
	/* A kernel has one time or the other. */
	if (!r && !live->control && p->key == BY_SELF)
		r = setup_put(p->setup, "options/graph-time", "0", false, &live->err);
	if (!r)
		r = setup_put(p->setup, "function_profile_enabled", "1", false, &live->err);
	if (!r && !live->quiet)
		cmd_say_unreached(live->source);
	return r;
}

static void take_back(struct profiling *p)
{
	struct err err = ERR_INIT;

	if (p->setup && setup_undo(p->setup, &err))
		cmd_say("%s", err.text);
	setup_close(p->setup);
	if (p->live.control) {
		reach_close(&p->reach);
		planner_end(&p->planner);
	}
}

/* ---- All of it ---- */

/* Has anything been counted there? */
static int check_counted(struct live *live)
{
	struct profile_files files;
	struct known known;
	bool any;
	int r = live->control ? control_follow(live->control, &live->err) : read_profile(live, &files, &known);

	if (r)
		return r;
	any = live->control ? live->control->state.measure.profile : files.profile.n;
	if (!live->control)
		profile_files_fini(&files);
	return any ? 0 : err_set(&live->err, -ENODATA, "no functions were profiled there: name a command, or write 1 to "
				 "function_profile_enabled");
}

static int show_now(struct profiling *p)
{
	struct buf out = BUF_INIT;
	int r = check_counted(&p->live);

	if (!r)
		r = draw(&p->live, 0, 0, &out);
	if (!r)
		r = cmd_put(out.data, out.len, &p->live.err);
	buf_fini(&out);
	return r ? cmd_fail(&p->live.err) : CMD_DONE;
}

static bool measures(const struct profiling *p)
{
	return p->live.argv || p->live.for_ns || opts_value(p->opts, "function") || opts_value(p->opts, "no-function") ||
	       opts_value(p->opts, "graph") || opts_value(p->opts, "module") || opts_value(p->opts, "pid");
}

static int ask(struct profiling *p)
{
	const char *sort = opts_value(p->opts, "sort"), *top = opts_value(p->opts, "top");
	char *end = NULL;

	p->json = opts_value(p->opts, "json");
	while (sort && p->key < KEYS && strcmp(keys[p->key], sort))
		p->key++;
	if (p->key == KEYS)
		return cmd_misuse(&cmd_profile, "profile: --sort '%s': total, self, hits, avg, dev, max or name", sort);
	p->top = top ? strtoul(top, &end, 10) : 0;
	if (top && (!p->top || *end || *top == '-'))
		return cmd_misuse(&cmd_profile, "profile: --top '%s': a number is needed", top);
	return live_ask(&p->live, &cmd_profile, p->opts, 0);
}

/* What a tree of files cannot do. */
static int check_source(struct profiling *p)
{
	struct live *live = &p->live;

	if (live->control)
		return 0;
	if (p->key == BY_MAX)
		return err_set(&live->err, -EOPNOTSUPP, "--sort max: %s does not tell the longest", source_name(live->source));
	if (opts_value(p->opts, "pid"))
		return err_set(&live->err, -EOPNOTSUPP, "-P is about programs: %s profiles whoever is there", source_name(live->source));
	if (source_is_kernel(live->source) && opts_value(p->opts, "graph"))
		return err_set(&live->err, -EOPNOTSUPP, "-g is about programs: a kernel's profile does not look at set_graph_function, only "
			       "at -l and -n");
	return 0;
}

static int run(const struct opts *opts)
{
	struct profiling p = { .live = { .err = ERR_INIT, .draw = draw }, .opts = opts, .reach = REACH_NONE };
	struct live *live = &p.live;
	int status = ask(&p), r;

	live->arg = &p;
	if (status)
		return status;
	r = cmd_open(&live->source, opts, measures(&p), &live->err);
	live->control = r ? NULL : source_control(live->source);
	if (!r)
		r = check_source(&p);
	if (r) {
		status = cmd_fail(&live->err);
	} else if (!measures(&p)) {
		status = show_now(&p);
	} else {
		interrupt_catch();
		status = begin(&p) ? cmd_fail(&live->err) : live_run(live);
		take_back(&p);
	}
	live_close(live);
	return status;
}

const struct cmd cmd_profile = {
	.name = "profile",
	.synopsis = "[-l FUNCTION]... [-n FUNCTION]... [-g FUNCTION]... [--module MODULE] [-P PID]...\n"
		    "                [--sort KEY] [--top N] [--json] [--for TIME] [--] [COMMAND [ARGUMENT]...]",
	.summary = "show how often functions are called, and how long they take",
	.text = "While the command runs, or until Ctrl-C: of each function how often it was called, the time\n"
		"that took in all with what it called and without, the average, the standard deviation, and\n"
		"the longest, in all programs of the tracing directory. Without a command, and without\n"
		"anything that says what to measure, what was measured last, or is being measured.\n",
	.opts = profile_opts,
	.arg = "COMMAND",
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
