/*
 * report/graph: see graph.h. A line has these columns, each if its option is on:
 *
 *   abstime       cpu  proc             latency-format  duration        function
 *       3.615060 |   0)    work-147    |  ...1. | ! 302.014 us  |    }
 *
 * Between two lines of a CPU that are of different tasks stands a box that says so.
 */
#include "report/graph.h"

#include <stdlib.h>
#include <string.h>

#include "decode/args.h"
#include "decode/conv.h"
#include "layout/control.h"
#include "report/line.h"

#define INDENT 2	/* blanks a depth */
#define PROC_WIDTH 14
#define COMM_MAX 7
/* Deeper functions are not remembered: their exits have no name. */
#define DEPTH_MAX 4096

struct cpu {
	int pid;
	bool began;
	int depth;		/* that comments have, less one */
	uint64_t *funcs;	/* that were entered, by depth; 0: none */
	uint32_t nfuncs;
};

struct report_graph {
	uint32_t ncpus;
	struct cpu cpus[];
};

/* A line while it is made. */
struct line {
	struct sink s;
	struct cpu *cpu;	/* NULL: nothing is known of it */
	const struct report_row *row;
	const struct decode_ctx *ctx;
	uint32_t options;
	unsigned int flags;
	int cpu_width;
	struct record_head head;
};

/* An entry or an exit. */
struct call {
	uint64_t func;
	int depth;
	/* Of an exit. */
	uint64_t duration;
	uint64_t overrun;
	uint64_t retval;
	bool has_retval;
};

enum kind { OTHER, ENTRY, EXIT, ORDINARY };

struct report_graph *report_graph_new(uint32_t cpus)
{
	struct report_graph *graph = calloc(1, sizeof(*graph) + cpus * sizeof(graph->cpus[0]));

	if (graph)
		graph->ncpus = cpus;
	return graph;
}

void report_graph_free(struct report_graph *graph)
{
	for (uint32_t i = 0; graph && i < graph->ncpus; i++)
		free(graph->cpus[i].funcs);
	free(graph);
}

static enum kind kind_of(const struct decode_format *format)
{
	static const struct {
		const char *name;
		enum kind kind;
	} kinds[] = {
		{ "funcgraph_entry", ENTRY }, { "fgraph_retaddr_entry", ENTRY }, { "funcgraph_exit", EXIT },
		{ "function", ORDINARY }, { "kernel_stack", ORDINARY },
	};

	if (!format || strcmp(format->system, "ftrace"))
		return OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(format->name, kinds[i].name))
			return kinds[i].kind;
	return OTHER;
}

bool report_graph_is_own(const struct report_row *row)
{
	enum kind kind = kind_of(row->format);

	return kind == ENTRY || kind == EXIT;
}

bool report_graph_is_entry(const struct report_row *row)
{
	return kind_of(row->format) == ENTRY;
}

bool report_graph_has(const struct report_row *row)
{
	return kind_of(row->format) != ORDINARY;
}

static uint64_t number(const struct report_row *row, const char *name)
{
	const struct decode_field *field = decode_format_find(row->format, name);

	return field ? decode_field_int(row->format, field, row->data, row->len) : 0;
}

static struct call entry_of(const struct report_row *row)
{
	return (struct call){ .func = number(row, "func"), .depth = (int)number(row, "depth") };
}

static struct call exit_of(const struct report_row *row)
{
	struct call call = entry_of(row);

	call.duration = number(row, "rettime") - number(row, "calltime");
	call.overrun = number(row, "overrun");
	call.has_retval = decode_format_find(row->format, "retval");
	call.retval = number(row, "retval");
	return call;
}

bool report_graph_is_leaf(const struct report_row *entry, const struct report_row *next)
{
	return kind_of(next->format) == EXIT && report_line_head(entry).pid == report_line_head(next).pid &&
	       number(entry, "func") == number(next, "func");
}

/* ---- columns ---- */

static void put_padded(struct sink *s, char kind, uint8_t how, int width, uint64_t v)
{
	const struct conv conv = { .kind = kind, .size = 8, .flags = how, .width = (int16_t)width, .prec = -1 };

	conv_int(s, &conv, v, false);
}

static void put_cpu(struct line *l)
{
	sink_putc(&l->s, ' ');
	put_padded(&l->s, 'd', 0, l->cpu_width, (uint64_t)l->row->cpu);
	sink_puts(&l->s, ") ");
}

/* In the middle of its column. */
static void put_proc(struct line *l, int pid)
{
	const char *comm = report_line_comm(l->ctx, pid);
	size_t mark = sink_used(&l->s), len;

	sink_text(&l->s, comm, strnlen(comm, COMM_MAX), l->ctx->flags & DECODE_ESCAPE);
	sink_putc(&l->s, '-');
	put_padded(&l->s, 'd', 0, 0, (uint64_t)pid);
	len = sink_used(&l->s) - mark;
	if (len >= PROC_WIDTH)
		return;
	sink_adjust(&l->s, mark, (int)(len + (PROC_WIDTH - len) / 2), -1, false);
	sink_fill(&l->s, ' ', PROC_WIDTH - len - (PROC_WIDTH - len) / 2);
}

/* The CPU's task is another one than that of the line before. */
static void put_switch(struct line *l)
{
	static const char rule[] = " ------------------------------------------\n";
	int before;

	if (!l->cpu)
		return;
	before = l->cpu->pid;
	if (l->cpu->began && before != l->head.pid) {
		sink_puts(&l->s, rule);
		put_cpu(l);
		put_proc(l, before);
		sink_puts(&l->s, " => ");
		put_proc(l, l->head.pid);
		sink_putc(&l->s, '\n');
		sink_puts(&l->s, rule);
		sink_putc(&l->s, '\n');
	}
	l->cpu->pid = l->head.pid;
	l->cpu->began = true;
}

/* All up to the duration. */
static void put_columns(struct line *l)
{
	put_switch(l);
	if (l->flags & REPORT_NO_CONTEXT)
		return;
	if (l->options & TRACER_FLAG_GRAPH_ABSTIME) {
		put_padded(&l->s, 'u', 0, 5, l->row->ts / 1000000000);
		sink_putc(&l->s, '.');
		put_padded(&l->s, 'u', CONV_ZERO, 6, l->row->ts % 1000000000 / 1000);
		sink_puts(&l->s, " |  ");
	}
	if (l->options & TRACER_FLAG_GRAPH_CPU)
		put_cpu(l);
	if (l->options & TRACER_FLAG_GRAPH_PROC) {
		put_proc(l, l->head.pid);
		sink_puts(&l->s, " | ");
	}
	if (l->flags & REPORT_LATENCY) {
		sink_putc(&l->s, ' ');
		report_line_flags(&l->s, &l->head);
		sink_puts(&l->s, " | ");
	}
}

static bool has_duration(const struct line *l)
{
	return l->options & TRACER_FLAG_GRAPH_DURATION && !(l->flags & REPORT_NO_CONTEXT);
}

static void put_no_duration(struct line *l)
{
	if (has_duration(l))
		sink_puts(&l->s, "              |  ");
}

/* Microseconds, with as many of three decimals as eight characters have room for. */
static void put_duration(struct line *l, uint64_t ns)
{
	size_t mark, len;

	if (!has_duration(l))
		return;
	sink_putc(&l->s, l->options & TRACER_FLAG_GRAPH_OVERHEAD ? report_line_mark(ns, 1000) : ' ');
	sink_putc(&l->s, ' ');
	mark = sink_used(&l->s);
	sink_dec(&l->s, ns / 1000);
	len = sink_used(&l->s) - mark;
	if (len < 7) {
		sink_putc(&l->s, '.');
		put_padded(&l->s, 'u', CONV_ZERO, 3, ns % 1000);
		sink_adjust(&l->s, mark, 0, 8, true);
		len = sink_used(&l->s) - mark;
	}
	sink_puts(&l->s, " us ");
	if (len < 8)
		sink_fill(&l->s, ' ', 8 - len);
	sink_puts(&l->s, "|  ");
}

/* ---- what stands in them ---- */

static void put_indent(struct line *l, int depth)
{
	if (depth > 0)
		sink_fill(&l->s, ' ', (size_t)depth * INDENT);
}

/* As %ps has it, or with how far into it that is as %pS: with the module. */
static void put_place(struct line *l, uint64_t address, bool offset)
{
	bool escape = l->ctx->flags & DECODE_ESCAPE;
	struct decode_symbol symbol = { 0 };

	if (!l->ctx->symbol || !l->ctx->symbol(l->ctx->arg, l->head.pid, address, &symbol) || !symbol.name) {
		sink_puts(&l->s, "0x");
		sink_hex(&l->s, address, 0);
		return;
	}
	sink_text(&l->s, symbol.name, strlen(symbol.name), escape);
	if (offset) {
		sink_puts(&l->s, "+0x");
		sink_hex(&l->s, symbol.offset, 0);
		sink_puts(&l->s, "/0x");
		sink_hex(&l->s, symbol.size, 0);
	}
	if (symbol.module) {
		sink_puts(&l->s, " [");
		sink_text(&l->s, symbol.module, strlen(symbol.module), escape);
		sink_putc(&l->s, ']');
	}
}

static void put_name(struct line *l, uint64_t func)
{
	put_place(l, func, false);
}

static bool shows_retaddr(const struct line *l)
{
	return l->options & TRACER_FLAG_GRAPH_RETADDR && decode_format_find(l->row->format, "retaddr");
}

/* Where an entry's function goes back to. */
static void put_retaddr(struct line *l)
{
	uint64_t address = number(l->row, "retaddr");

	sink_puts(&l->s, " <-");
	put_place(l, address, true);
	if (l->flags & REPORT_SYM_ADDR) {
		sink_puts(&l->s, " <");
		sink_hex(&l->s, address, l->row->format->abi.long_size * 2u);
		sink_putc(&l->s, '>');
	}
}

/* Not of a function that is known to return nothing. */
static bool shows_retval(const struct line *l, const struct call *call)
{
	return l->options & TRACER_FLAG_GRAPH_RETVAL && call->has_retval && decode_args_returns(decode_prototype(l->ctx, call->func));
}

/* 6.13 brought addresses beside them, and a word to tell them apart. */
static void put_retval(struct line *l, const struct call *call)
{
	sink_puts(&l->s, l->options & TRACER_FLAG_GRAPH_RETADDR ? " ret=" : " = ");
	decode_args_put_returned(&l->s, decode_prototype(l->ctx, call->func), call->retval,
				 l->options & TRACER_FLAG_GRAPH_RETVAL_HEX);
}

/* What the record of an entry has of its arguments, or nothing between parentheses. */
static void put_args(struct line *l, uint64_t func)
{
	const struct report_row *row = l->row;
	const struct decode_field *args = decode_format_find(row->format, "args");

	if (decode_args_count(row->format, args, row->len))
		decode_args_put(&l->s, decode_prototype(l->ctx, func), row->format, args, row->data, row->len);
	else
		sink_puts(&l->s, "()");
}

/* ---- what a CPU is in ---- */

static bool is_kept(const struct line *l, int depth)
{
	return l->cpu && depth >= 0 && depth < DEPTH_MAX;
}

static void enter(struct line *l, const struct call *call)
{
	uint32_t n = (uint32_t)call->depth + 1;
	struct cpu *cpu = l->cpu;

	if (!is_kept(l, call->depth))
		return;
	if (cpu->nfuncs < n) {
		uint64_t *funcs = realloc(cpu->funcs, n * sizeof(*funcs));

		if (!funcs)
			return;
		memset(funcs + cpu->nfuncs, 0, (n - cpu->nfuncs) * sizeof(*funcs));
		cpu->funcs = funcs;
		cpu->nfuncs = n;
	}
	cpu->funcs[call->depth] = call->func;
}

/* False: that function was not seen to begin, or another one was. */
static bool leave(struct line *l, const struct call *call)
{
	uint64_t func;

	if (!is_kept(l, call->depth))
		return true;
	if ((uint32_t)call->depth >= l->cpu->nfuncs)
		return !call->func;
	func = l->cpu->funcs[call->depth];
	l->cpu->funcs[call->depth] = 0;
	return func == call->func;
}

/* Comments stand one further to the right than the functions of that depth. */
static void set_depth(struct line *l, int depth)
{
	if (l->cpu)
		l->cpu->depth = depth;
}

/* ---- lines ---- */

static void put_entry(struct line *l)
{
	struct call call = entry_of(l->row);

	set_depth(l, call.depth);
	enter(l, &call);
	put_columns(l);
	put_no_duration(l);
	put_indent(l, call.depth);
	put_name(l, call.func);
	put_args(l, call.func);
	sink_puts(&l->s, " {");
	if (shows_retaddr(l)) {
		sink_puts(&l->s, " /*");
		put_retaddr(l);
		sink_puts(&l->s, " */");
	}
	sink_putc(&l->s, '\n');
}

static void put_leaf(struct line *l, const struct report_row *exit)
{
	struct call call = exit_of(exit);
	bool retaddr = shows_retaddr(l), retval = shows_retval(l, &call);

	call.depth = entry_of(l->row).depth;
	leave(l, &call);
	set_depth(l, call.depth - (call.depth > INT32_MIN));
	put_columns(l);
	put_duration(l, call.duration);
	put_indent(l, call.depth);
	put_name(l, call.func);
	put_args(l, call.func);
	sink_putc(&l->s, ';');
	if (retaddr || retval) {
		sink_puts(&l->s, " /*");
		if (retaddr)
			put_retaddr(l);
		if (retval)
			put_retval(l, &call);
		sink_puts(&l->s, " */");
	}
	sink_putc(&l->s, '\n');
}

static void put_exit(struct line *l)
{
	struct call call = exit_of(l->row);
	bool matches = leave(l, &call), retval = shows_retval(l, &call);

	set_depth(l, call.depth - (call.depth > INT32_MIN));
	put_columns(l);
	put_duration(l, call.duration);
	put_indent(l, call.depth);
	sink_putc(&l->s, '}');
	if (!matches || retval || l->options & TRACER_FLAG_GRAPH_TAIL) {
		sink_puts(&l->s, " /* ");
		put_name(l, call.func);
		if (retval)
			put_retval(l, &call);
		sink_puts(&l->s, " */");
	}
	sink_putc(&l->s, '\n');
	if (l->options & TRACER_FLAG_GRAPH_OVERRUN) {
		sink_puts(&l->s, " (Overruns: ");
		sink_dec(&l->s, call.overrun);
		sink_puts(&l->s, ")\n");
	}
}

static void put_other(struct line *l, struct buf *out)
{
	const struct report_row *row = l->row;

	put_columns(l);
	put_no_duration(l);
	if (l->cpu && l->cpu->depth > 0)
		put_indent(l, l->cpu->depth < INT32_MAX ? l->cpu->depth + 1 : l->cpu->depth);
	sink_puts(&l->s, "/* ");
	sink_close(&l->s);
	if (!row->format) {
		buf_printf(out, "Unknown type %u", l->head.type);
	} else if (decode_is_message(row->format)) {
		decode_print_message(row->format, row->data, row->len, l->ctx, out);
	} else {
		if (!decode_is_whole(row->format))
			buf_printf(out, "%s: ", row->format->name);
		decode_print(row->format, row->data, row->len, l->ctx, out);
	}
	buf_puts(out, " */\n");
}

/* Digits of the highest CPU's number. */
static int width_of(uint32_t cpus)
{
	int width = 1;

	for (uint32_t last = cpus ? cpus - 1 : 0; last >= 10; last /= 10)
		width++;
	return width;
}

static void put_line(struct line *l, struct buf *out, const struct report_row *exit)
{
	enum kind kind = kind_of(l->row->format);

	l->head = report_line_head(l->row);
	sink_open(&l->s, out, DECODE_TEXT_MAX);
	if (kind == OTHER) {
		put_other(l, out);
		return;
	}
	if (kind == EXIT)
		put_exit(l);
	else if (exit)
		put_leaf(l, exit);
	else
		put_entry(l);
	sink_close(&l->s);
	if (l->s.full)
		buf_puts(out, "[LINE TOO BIG]\n");
}

void report_graph_line(struct report_graph *graph, struct buf *out, const struct report_row *row,
		       const struct report_row *exit, const struct decode_ctx *ctx, uint32_t options, unsigned int flags)
{
	struct decode_ctx with = report_line_ctx(ctx, flags);
	struct line l = { .row = row, .ctx = &with, .options = options, .flags = flags, .cpu_width = width_of(graph->ncpus) };

	if (row->cpu >= 0 && (uint32_t)row->cpu < graph->ncpus)
		l.cpu = &graph->cpus[row->cpu];
	put_line(&l, out, exit);
}

void report_graph_alone(struct buf *out, const struct report_row *row, const struct report_row *exit,
			const struct decode_ctx *ctx, uint32_t cpus, uint32_t options, unsigned int flags)
{
	struct decode_ctx with = report_line_ctx(ctx, flags);
	struct line l = { .row = row, .ctx = &with, .options = options, .flags = flags, .cpu_width = width_of(cpus) };

	report_line_columns(out, row, ctx, flags);
	put_line(&l, out, exit);
}
