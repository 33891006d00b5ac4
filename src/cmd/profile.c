/*
 * cmd/profile: how often functions are called and how long they take, while a command runs, for a while, or so far.
 *
 *	-l, -n, -g written to the tree | function_profile_enabled | command ... | table -> rows -> text | as it was
 *
 * The profile is one for the directory, counted by its programs: nothing is recorded, so nothing can be lost. Whoever else
 * profiles there is not disturbed: what there is can be shown, but not begun.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/planner.h"
#include "cmd/reach.h"
#include "cmd/scope.h"
#include "control/func_set.h"
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
	struct buf kept[NCHOICES];	/* what the files said */
	bool changed[NCHOICES];
	bool began;
	bool json;
	enum key key;
	size_t top;		/* 0: all */
};

/* ---- What came of it ---- */

#define ORDER(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

static uint64_t value_of(const struct line *line, enum key key)
{
	const struct control_profile_row *row = line->row;

	switch (key) {
	case BY_SELF:
		return row->vals[PROFILE_SELF];
	case BY_HITS:
		return row->hits;
	case BY_AVG:
		return control_profile_average(row, false);
	case BY_DEV:
		return line->deviation;
	case BY_MAX:
		return row->vals[PROFILE_MAX];
	default:
		return row->vals[PROFILE_TIME];
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

static struct line *lines_make(struct control *control, const struct control_profile *profile, enum key key)
{
	struct line *lines = calloc(profile->n + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < profile->n; i++) {
		lines[i].row = &profile->rows[i];
		lines[i].deviation = control_profile_deviation(&profile->rows[i], false);
		if (!put_name(&lines[i], control, profile->rows[i].address)) {
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
static void put_time(struct buf *out, uint64_t ns)
{
	buf_printf(out, " %11" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

static void put_line(struct buf *out, const struct line *line)
{
	const struct control_profile_row *row = line->row;

	buf_printf(out, "%10" PRIu64, row->hits);
	put_time(out, row->vals[PROFILE_TIME]);
	put_time(out, row->vals[PROFILE_SELF]);
	put_time(out, control_profile_average(row, false));
	put_time(out, line->deviation);
	put_time(out, row->vals[PROFILE_MAX]);
	buf_printf(out, "  %s\n", line->name);
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

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	const struct profiling *p = live->arg;
	struct control_profile profile;
	struct line *lines;
	size_t n;
	int r = control_follow(live->control, &live->err);

	(void)width;
	if (!r)
		r = control_profile_read(&profile, live->control, CONTROL_PROFILE_ALL, &live->err);
	if (r)
		return r;
	lines = lines_make(live->control, &profile, p->key);
	n = p->top && p->top < profile.n ? p->top : profile.n;
	if (height > 3 && n > height - 3)
		n = height - 3;
	if (!p->json)
		buf_printf(out, "%10s %15s %15s %15s %15s %15s  Function\n", "Hits", "Total us", "Self us", "Avg us", "Dev us",
			   "Max us");
	for (size_t i = 0; lines && i < n; i++)
		if (p->json)
			put_json(out, &lines[i]);
		else
			put_line(out, &lines[i]);
	put_rest(out, &profile, p->json);
	if (!lines)
		r = err_set(&live->err, -ENOMEM, "out of memory");
	lines_free(lines, profile.n);
	control_profile_fini(&profile);
	return r;
}

/* ---- Measuring ---- */

static int write_word(struct profiling *p, const char *file, const char *text, bool append)
{
	return source_write(p->live.source, file, text, strlen(text), append, &p->live.err);
}

/* The functions of one option; where none are named, those that the file has. */
static int choose(struct profiling *p, size_t c)
{
	const char *module = c ? NULL : opts_value(p->opts, "module");
	struct buf text = BUF_INIT;
	int r;

	for (int i = 0; i < p->opts->nitems; i++)
		if (scope_is(&p->opts->items[i], choices[c].word))
			buf_printf(&text, "%s%s%s\n", p->opts->items[i].value, module ? ":mod:" : "", module ? module : "");
	if (!text.len && module)
		buf_printf(&text, "*:mod:%s\n", module);
	if (!text.len)
		return 0;
	buf_puts(&p->kept[c], "");
	control_funcs_put_lines(&p->live.control->state, 0, control_funcs_kind(choices[c].file), &p->kept[c]);
	if (buf_failed(&text) || buf_failed(&p->kept[c]))
		r = err_set(&p->live.err, -ENOMEM, "out of memory");
	else
		r = write_word(p, choices[c].file, text.data, false);
	p->changed[c] = !r;
	buf_fini(&text);
	return r;
}

static int begin(struct profiling *p)
{
	struct live *live = &p->live;
	int r = control_follow(live->control, &live->err);

	if (!r && live->control->state.buffers[0].profile)
		r = err_set(&live->err, -EBUSY, "functions are profiled there already: `ringside profile` shows them, "
			    "`ringside write function_profile_enabled 0` ends it");
	if (!r)
		r = planner_start(&p->planner, live->source, p->opts, live->quiet, &live->err);
	if (!r)
		r = reach_open(&p->reach, p->opts, source_name(live->source), live->quiet, &live->err);
	for (size_t c = 0; !r && c < NCHOICES; c++)
		r = choose(p, c);
	if (!r)
		r = write_word(p, "function_profile_enabled", "1", false);
	p->began = !r;
	if (!r && !live->quiet)
		cmd_say_unreached(live->source);
	return r;
}

static void put_back(struct profiling *p, const char *file, const char *text)
{
	struct err err = ERR_INIT;

	if (source_write(p->live.source, file, text, strlen(text), false, &err))
		cmd_say("%s: %s", file, err.text);
}

static void take_back(struct profiling *p)
{
	if (p->began)
		put_back(p, "function_profile_enabled", "0");
	for (size_t c = 0; c < NCHOICES; c++) {
		if (p->changed[c])
			put_back(p, choices[c].file, p->kept[c].data);
		buf_fini(&p->kept[c]);
	}
	reach_close(&p->reach);
	planner_end(&p->planner);
}

/* ---- All of it ---- */

static int show_now(struct profiling *p)
{
	struct buf out = BUF_INIT;
	int r = control_follow(p->live.control, &p->live.err);

	if (!r && !p->live.control->state.measure.profile)
		r = err_set(&p->live.err, -ENODATA, "no functions were profiled there: name a command, or write 1 to "
			    "function_profile_enabled");
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

static int run(const struct opts *opts)
{
	struct profiling p = { .live = { .err = ERR_INIT, .draw = draw }, .opts = opts, .reach = REACH_NONE };
	struct live *live = &p.live;
	int status = ask(&p), r;

	live->arg = &p;
	if (status)
		return status;
	r = cmd_open(&live->source, opts, measures(&p), &live->err);
	if (!r) {
		live->control = source_control(live->source);
		if (!live->control)
			r = err_set(&live->err, -EOPNOTSUPP, "%s: only of programs: a tracing directory",
				    source_name(live->source));
	}
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
