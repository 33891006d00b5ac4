/*
 * cmd/hist: how often each event and function came, and from where it was called, as
 * `trace-cmd hist` prints it.
 *
 *   record --> a row for its task and name, counted
 *          --> what called it: the stack that was recorded behind it, else the functions under way
 *
 * A stack comes behind its record on the same CPU: so a record waits in its lane until the next
 * one. Of the tracer `function` only those functions count that call no other: the others are their
 * callers.
 * Memory is for each row and different chain of callers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/hist_calls.h"
#include "cmd/hist_live.h"
#include "cmd/live.h"
#include "cmd/pager.h"
#include "cmd/profile_stacks.h"
#include "replay/replay.h"

/* What the kernel writes into a stack in place of its own trampolines. */
#define TRAMPOLINE 0x7fffffff
#define CALLERS_MAX 256

static const struct opt hist_opts[] = {
	{ 'i', "input", "FILE", "the trace file, instead of trace.dat" },
	{ 'P', "merge-pids", NULL, "all tasks together" },
	{ 'B', "instance", "INSTANCE", "only this buffer; with --keys, count in this instance" },
	{ 0, "keys", "KEY[,KEY...]", "count events as they come, by these fields" },
	{ 0, "vals", "FIELD[,FIELD...]", "of --keys: fields to add up" },
	{ 0, "sort", "KEY|VAL[.descending]", "of --keys: the order (hitcount.descending)" },
	{ 0, "if", "FILTER", "of --keys: only events for which this holds" },
	{ 0, "size", "ROWS", "of --keys: how many rows there can be (2048)" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
};

struct row {
	uint64_t nr;
	struct profile_frame *callers;
	int pid;
	bool is_function;	/* and no stack came with it */
	const char *name;	/* in the key */
};

enum kind { EVENT, FUNCTION, GRAPH_ENTRY, GRAPH_EXIT, STACK };

/* A record that may get a stack yet. */
struct lane {
	struct row *row;
	uint64_t callers[CALLERS_MAX];
	size_t nr_callers;
	uint64_t func;		/* of a record of function: which, and of which task */
	int pid;
};

struct hist {
	struct dat *dat;
	struct replay *replay;
	const char *instance;	/* NULL: all */
	bool merge;
	struct map rows;	/* PID and name to struct row */
	struct map tasks;	/* struct task_key to struct hist_calls */
	struct map lanes;	/* struct replay_lane * to struct lane */
	uint64_t total;
	struct buf out;
	struct err err;
};

/* Idle tasks are as many as CPUs, and all have the number 0. */
struct task_key {
	int32_t pid;
	int32_t cpu;
	uint32_t buffer;
};

static enum kind kind_of(const struct decode_format *format)
{
	static const struct {
		const char *name;
		enum kind kind;
	} known[] = {
		{ "function", FUNCTION }, { "funcgraph_entry", GRAPH_ENTRY },
		{ "funcgraph_exit", GRAPH_EXIT }, { "kernel_stack", STACK },
	};

	if (strcmp(format->system, "ftrace"))
		return EVENT;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(format->name, known[i].name))
			return known[i].kind;
	return EVENT;
}

static uint64_t value(const struct decode_format *format, const char *name,
		      const struct replay_record *rec)
{
	const struct decode_field *field = decode_format_find(format, name);

	return field ? decode_field_int(format, field, rec->data, rec->len) : 0;
}

/* Where the function that an address is in begins. */
static uint64_t function_of(struct hist *h, uint64_t addr)
{
	struct decode_symbol symbol;

	return dat_symbol(h->dat, 0, addr, &symbol) ? addr - symbol.offset : addr;
}

static void put_name(struct hist *h, struct buf *out, uint64_t func)
{
	struct decode_symbol symbol;

	if (dat_symbol(h->dat, 0, func, &symbol))
		buf_puts(out, symbol.name);
	else
		buf_printf(out, "0x%" PRIx64, func);
}

static struct task_key key_of(const struct replay_record *rec, int pid)
{
	return (struct task_key){ pid, pid ? -1 : rec->lane->cpu, rec->lane->buffer_nr };
}

/* The row of a name, which is behind the PID in its key. */
static struct row *row_of(struct hist *h, int pid, const char *name, size_t len)
{
	struct buf key = BUF_INIT;
	struct row *row = NULL;

	if (h->merge)
		pid = -1;
	buf_add(&key, &pid, sizeof(pid));
	buf_add(&key, name, len);
	if (!buf_failed(&key))
		row = map_get(&h->rows, key.data, key.len + 1, sizeof(*row));
	if (row)
		row->pid = pid;
	buf_fini(&key);
	return row;
}

/* What waits gets the callers that are known of it. */
static int settle(struct hist *h, struct lane *lane)
{
	struct row *row = lane->row;

	lane->row = NULL;
	lane->func = 0;
	if (!row)
		return 0;
	row->nr++;
	h->total++;
	return profile_stacks_add(&row->callers, lane->callers, lane->nr_callers, NULL, 0) ? 0 :
											   -ENOMEM;
}

static int wait_for_stack(struct hist *h, struct lane *lane, int pid, const char *name, size_t len,
			  bool is_function)
{
	struct row *row = row_of(h, pid, name, len);

	if (!row)
		return -ENOMEM;
	row->is_function |= is_function;
	lane->row = row;
	return 0;
}

static int feed_function(struct hist *h, struct lane *lane, struct hist_calls *calls, int pid,
			 uint64_t func)
{
	struct buf name = BUF_INIT;
	int r;

	put_name(h, &name, func);
	lane->nr_callers = hist_calls_list(calls, 1, lane->callers);
	r = buf_failed(&name) ? -ENOMEM : wait_for_stack(h, lane, pid, name.data, name.len, true);
	buf_fini(&name);
	return r;
}

/* The stack of what waits, in place of what was thought to have called it. */
static int feed_stack(struct hist *h, struct lane *lane, const struct replay_record *rec,
		      const struct decode_format *format)
{
	const struct decode_field *caller = decode_format_find(format, "caller");
	uint64_t size = value(format, "size", rec), addr;
	uint32_t word = format->abi.long_size, at = caller ? caller->offset : rec->len;

	if (!lane->row)
		return 0;
	lane->nr_callers = 0;
	lane->row->is_function = false;
	for (uint64_t n = 0; (!size || n < size) && at + word <= rec->len; n++, at += word) {
		addr = decode_abi_load(rec->data + at, word, format->abi.big_endian);
		if (addr == (word == 8 ? UINT64_MAX : UINT32_MAX) ||
		    lane->nr_callers == CALLERS_MAX)
			break;
		if (addr != TRAMPOLINE)
			lane->callers[lane->nr_callers++] = function_of(h, addr);
	}
	return settle(h, lane);
}

static int feed_event(struct hist *h, struct lane *lane, const struct replay_record *rec,
		      const struct decode_format *format, int pid)
{
	struct task_key key = key_of(rec, pid);
	struct hist_calls *calls = map_find(&h->tasks, &key, sizeof(key));

	lane->nr_callers = calls ? hist_calls_list(calls, 0, lane->callers) : 0;
	return wait_for_stack(h, lane, pid, format->name, strlen(format->name), false);
}

/* What waits has called this one. */
static bool is_called(struct hist *h, const struct lane *lane, const struct replay_record *rec,
		      const struct decode_format *format, int pid)
{
	return lane->row && lane->func && lane->pid == pid && kind_of(format) == FUNCTION &&
	       lane->func == function_of(h, value(format, "parent_ip", rec));
}

static int feed_call(struct hist *h, struct lane *lane, const struct replay_record *rec,
		     const struct decode_format *format, int pid)
{
	struct task_key key = key_of(rec, pid);
	struct hist_calls *calls = map_get(&h->tasks, &key, sizeof(key), sizeof(*calls));
	uint64_t func;

	if (!calls)
		return -ENOMEM;
	switch (kind_of(format)) {
	case FUNCTION:
		func = function_of(h, value(format, "ip", rec));
		hist_calls_call(calls, func, function_of(h, value(format, "parent_ip", rec)));
		lane->func = func;
		lane->pid = pid;
		return feed_function(h, lane, calls, pid, func);
	case GRAPH_ENTRY:
		func = function_of(h, value(format, "func", rec));
		hist_calls_enter(calls, func, (int)value(format, "depth", rec));
		return feed_function(h, lane, calls, pid, func);
	default:
		hist_calls_leave(calls, (int)value(format, "depth", rec));
		return 0;
	}
}

static int feed(struct hist *h, const struct replay_record *rec)
{
	const struct decode_format *format = dat_format(h->dat, rec->id);
	struct lane *lane = map_get(&h->lanes, &rec->lane, sizeof(rec->lane), sizeof(*lane));
	struct record_head head;
	int r;

	if (!lane)
		return -ENOMEM;
	/* Who knows what was called or has returned meanwhile. */
	if (rec->lost)
		map_fini(&h->tasks);
	if (!format || !decode_record_head(&format->abi, rec->data, rec->len, &head))
		return settle(h, lane);
	if (kind_of(format) == STACK)
		return feed_stack(h, lane, rec, format);
	if (is_called(h, lane, rec, format, head.pid))
		lane->row = NULL;
	r = settle(h, lane);
	if (r)
		return r;
	return kind_of(format) == EVENT ? feed_event(h, lane, rec, format, head.pid) :
					  feed_call(h, lane, rec, format, head.pid);
}

static int settle_all(struct hist *h)
{
	const struct map_entry **all;
	int r = map_list(&h->lanes, &all);

	if (r)
		return r;
	for (size_t i = 0; i < h->lanes.nr && !r; i++)
		r = settle(h, all[i]->value);
	free(all);
	return r;
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = (*(const struct map_entry *const *)a)->value;
	const struct row *y = (*(const struct map_entry *const *)b)->value;
	int r;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	r = strcmp(x->name, y->name);
	return r ? r : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Nothing but callers one after the other. */
static bool is_line(const struct profile_frame *frame, uint64_t nr)
{
	for (; frame; frame = frame->callers)
		if (frame->next || frame->times.nr != nr)
			return false;
	return true;
}

static void put_indented(struct hist *h, const struct buf *indent, const char *text)
{
	buf_add(&h->out, indent->data, indent->len);
	buf_puts(&h->out, text);
}

/* Callers, each with its share of `nr`, and behind each, further in, its own. */
static void put_branches(struct hist *h, struct buf *indent, struct profile_frame **first,
			 uint64_t nr)
{
	size_t len = indent->len;

	profile_stacks_sort(first);
	for (struct profile_frame *f = *first, *top; (top = f); f = top->next) {
		uint64_t mine = f->times.nr;

		put_indented(h, indent, "|\n");
		put_indented(h, indent, "|--");
		buf_printf(&h->out, "%%%.2f-- ", (double)mine * 100 / (double)nr);
		put_name(h, &h->out, f->addr);
		buf_printf(&h->out, "  # %" PRIu64 "\n", mine);
		buf_puts(indent, f->next ? "|" : " ");
		while (f->callers && !f->callers->next && f->callers->times.nr == mine) {
			f = f->callers;
			put_indented(h, indent, "          ");
			put_name(h, &h->out, f->addr);
			buf_putc(&h->out, '\n');
		}
		buf_puts(indent, "            ");
		if (f->callers)
			put_branches(h, indent, &f->callers, mine);
		indent->len = len;
	}
}

static void put_callers(struct hist *h, struct row *row)
{
	struct buf indent = BUF_INIT;

	if (!is_line(row->callers, row->nr)) {
		buf_puts(&indent, "            ");
		put_branches(h, &indent, &row->callers, row->nr);
		buf_fini(&indent);
		return;
	}
	for (const struct profile_frame *f = row->callers; f; f = f->callers) {
		buf_puts(&h->out, "          ");
		put_name(h, &h->out, f->addr);
		buf_putc(&h->out, '\n');
	}
}

static void put_row(struct hist *h, struct row *row)
{
	const char *star = row->is_function ? "" : "*";
	const char *comm = dat_comm(h->dat, row->pid);

	buf_printf(&h->out, "  %%%.2f ", (double)row->nr * 100 / (double)h->total);
	if (h->merge)
		buf_puts(&h->out, "<all pids>");
	else
		buf_printf(&h->out, " (%d) %s", row->pid,
			   comm ? comm : row->pid ? "<...>" : "<idle>");
	buf_printf(&h->out, " %30s #%" PRIu64 "\n         |\n         --- %s%s%s\n", row->name,
		   row->nr, star, row->name, star);
	put_callers(h, row);
}

static int put_rows(struct hist *h, struct pager *pager)
{
	const struct map_entry **all;
	int r = map_list(&h->rows, &all);

	if (r)
		return r;
	for (size_t i = 0; i < h->rows.nr; i++)
		((struct row *)all[i]->value)->name = (const char *)all[i]->key + sizeof(int);
	qsort(all, h->rows.nr, sizeof(*all), by_weight);
	/* Those that were only callers were not counted, and come last. */
	for (size_t i = 0; i < h->rows.nr && !r && ((struct row *)all[i]->value)->nr; i++) {
		buf_reset(&h->out);
		if (i)
			buf_putc(&h->out, '\n');
		put_row(h, all[i]->value);
		r = buf_failed(&h->out) ? -ENOMEM : pager_put(pager, h->out.data, h->out.len);
	}
	free(all);
	return r;
}

static bool is_wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct hist *h = arg;

	(void)cpu;
	return !h->instance || !strcmp(h->instance, buffer->name);
}

static int gather(struct hist *h)
{
	struct replay_times times = { .shift = true };
	struct replay_record rec;
	int r = replay_new(&h->replay), more = 1;

	if (!r)
		r = replay_add(h->replay, h->dat, &times, is_wanted, h, &h->err);
	while (!r && (more = replay_next(h->replay, &rec, &h->err)) == 1)
		r = feed(h, &rec);
	if (!r && more < 0)
		r = more;
	return r ? r : settle_all(h);
}

static void fini(struct hist *h)
{
	const struct map_entry **all;

	if (!map_list(&h->rows, &all)) {
		for (size_t i = 0; i < h->rows.nr; i++)
			profile_stacks_free(((struct row *)all[i]->value)->callers);
		free(all);
	}
	map_fini(&h->rows);
	map_fini(&h->tasks);
	map_fini(&h->lanes);
	replay_free(h->replay);
	dat_close(h->dat);
	buf_fini(&h->out);
}

static int show(struct hist *h, const struct opts *opts)
{
	struct pager pager;
	const char *warning;
	int r;

	for (size_t i = 0; (warning = replay_warning(h->replay, i)); i++)
		cmd_say("%s", warning);
	pager_begin(&pager, opts, 0, &h->err);
	r = put_rows(h, &pager);
	return pager_end(&pager, r);
}

static int run_live(const struct opts *opts)
{
	if (opts_value(opts, "input") || opts_value(opts, "merge-pids"))
		return cmd_misuse(&cmd_hist, "hist: -i and -P are about files, --keys about events as they come");
	if (!opts_arg(opts, 0))
		return cmd_misuse(&cmd_hist, "hist: --keys: of which event?");
	return hist_live_run(&cmd_hist, opts);
}

static int run(const struct opts *opts)
{
	static const char *const of_keys[] = { "vals", "sort", "if", "size", "for" };
	struct hist h = { .err = ERR_INIT, .out = BUF_INIT, .merge = opts_value(opts, "merge-pids"),
			  .instance = opts_value(opts, "instance") };
	const char *path = opts_value(opts, "input"), *arg = opts_arg(opts, 0);
	int r;

	if (opts_value(opts, "keys"))
		return run_live(opts);
	for (size_t i = 0; i < sizeof(of_keys) / sizeof(of_keys[0]); i++)
		if (opts_value(opts, of_keys[i]))
			return cmd_misuse(&cmd_hist, "hist: --%s is about --keys, which is not there", of_keys[i]);
	if (opts_value(opts, "kernel") || opts_value(opts, "tracefs"))
		return cmd_misuse(&cmd_hist, "hist: a trace file has no source: --kernel and --tracefs go with --keys");
	if (opts->nargs > 1)
		return cmd_misuse(&cmd_hist, "hist: one file at a time; events as they come need --keys");
	if (path && arg)
		return cmd_misuse(&cmd_hist, "hist: one file at a time: %s or %s", path, arg);
	if (arg && strchr(arg, ':') && access(arg, F_OK))
		return cmd_misuse(&cmd_hist, "hist: there is no file %s; events as they come need --keys", arg);
	r = files_open(&h.dat, path ? path : arg ? arg : FILES_DEFAULT, &h.err);
	if (!r)
		r = gather(&h);
	if (!r)
		r = show(&h, opts);
	fini(&h);
	if (r)
		err_set(&h.err, r, "%s", strerror(-r));
	return r ? cmd_fail(&h.err) : CMD_DONE;
}

const struct cmd cmd_hist = {
	.name = "hist",
	.synopsis = "[-i FILE] [-P] [-B INSTANCE] [FILE]\n"
		    "       ringside hist EVENT --keys KEY[,KEY...] [--vals FIELD[,FIELD...]] [--sort ORDER] [--if FILTER]\n"
		    "                [--for TIME] [-B INSTANCE] [-- COMMAND [ARGUMENT]...]",
	.summary = "count events: those of a trace file, or as they come",
	.text = "Of a trace file: how often each event and function came in each task, those first\n"
		"that came most often, and where they were called from: by the stacks and functions\n"
		"in the trace.\n"
		"With --keys: a histogram of an event of programs, or with --kernel of the kernel, counted\n"
		"where it happens, as bars that are redrawn on a terminal until Ctrl-C, or printed once\n"
		"when the command or the time is over. Nothing stays behind. KEY and FIELD are as in hist\n"
		"triggers: item, common_pid.execname, size.log2, size.quantiles.\n",
	.opts = hist_opts,
	.arg = "file",
	.args_max = -1,
	.run = run,
};
