/*
 * The text of function graphs, to the column: every mark and width of a duration, return values and addresses, names that are
 * long or odd, depths that no program has, and records that are cut short. kept_graph.c compares with a kernel; here are the
 * corners that its records do not reach.
 */
#include "../decode/event.h"
#include "layout/control.h"
#include "layout/page.h"
#include "report/graph.h"

static struct decode_format *entry_format, *exit_format, *retaddr_format, *old_exit_format;
static unsigned int marks;

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid == 7 ? "sixteen-chars-xx" : pid == 8 ? "\n" : NULL;
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	if (addr < 1 || addr > 3)
		return false;
	*out = (struct decode_symbol){.name = addr == 3 ? "od\nd" : "f", .module = addr == 2 ? "libc.so.6" : NULL,
				      .offset = 5, .size = 64};
	return true;
}

static struct decode_format *own(const char *name, const char *fields)
{
	struct buf text = BUF_INIT;
	struct decode_format *f = NULL;

	buf_printf(&text, "name: %s\nID: 5\nformat:\n" COMMON "%s\nprint fmt: \"\"\n", name, fields);
	check(!decode_format_parse("ftrace", text.data, text.len, NULL, &f, NULL));
	buf_fini(&text);
	return f;
}

#define FUNC "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"

static void make_formats(void)
{
	entry_format = own("funcgraph_entry", FUNC "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n");
	retaddr_format = own("fgraph_retaddr_entry", FUNC "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
			     "\tfield:unsigned long retaddr;\toffset:20;\tsize:8;\tsigned:0;\n");
	exit_format = own("funcgraph_exit", FUNC "\tfield:unsigned long retval;\toffset:16;\tsize:8;\tsigned:0;\n"
			  "\tfield:int depth;\toffset:24;\tsize:4;\tsigned:1;\n"
			  "\tfield:unsigned int overrun;\toffset:28;\tsize:4;\tsigned:0;\n"
			  "\tfield:unsigned long long calltime;\toffset:32;\tsize:8;\tsigned:0;\n"
			  "\tfield:unsigned long long rettime;\toffset:40;\tsize:8;\tsigned:0;\n");
	old_exit_format = own("funcgraph_exit", FUNC "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
			      "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
			      "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
			      "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n");
}

static struct report_row row_of(const struct decode_format *format, const void *data, size_t len)
{
	return (struct report_row){.ts = 1234567891, .cpu = 3, .format = format, .data = data, .len = (uint32_t)len};
}

/* One line of a graph of that many CPUs. */
static void expect_at(int line, uint32_t cpus, const struct report_row *row, const struct report_row *exit, uint32_t options,
		      unsigned int flags, const char *want)
{
	const struct decode_ctx ctx = {.comm = comm, .symbol = symbol, .flags = marks};
	struct report_graph *graph = report_graph_new(cpus);
	struct buf out = BUF_INIT;

	report_graph_line(graph, &out, row, exit, &ctx, options, flags);
	check_text(__FILE__, line, "graph", out.data, want);
	buf_fini(&out);
	report_graph_free(graph);
}

#define GRAPH (TRACER_FLAG_GRAPH_CPU | TRACER_FLAG_GRAPH_OVERHEAD | TRACER_FLAG_GRAPH_DURATION)
#define expect(row, exit, options, flags, want) expect_at(__LINE__, 4, row, exit, options, flags, want)

static void leaf(int line, uint64_t func, uint64_t ns, uint64_t retval, uint32_t options, const char *want)
{
	struct record_graph_entry entry = {.head.pid = 7, .func = func};
	struct record_graph_exit end = {.head.pid = 7, .func = func, .retval = retval, .calltime = 100, .rettime = 100 + ns};
	struct report_row a = row_of(entry_format, &entry, RECORD_GRAPH_ENTRY_SIZE), b = row_of(exit_format, &end, sizeof(end));

	check(report_graph_is_leaf(&a, &b));
	expect_at(line, 4, &a, &b, options, 0, want);
}

/* A leaf's exit is the same function's, in the same task, and an exit. */
static void pairs(void)
{
	struct record_graph_entry entry = {.head.pid = 7, .func = 1}, again = entry;
	struct record_graph_exit end = {.head.pid = 7, .func = 1}, other = end, others = end;
	struct report_row row = row_of(entry_format, &entry, RECORD_GRAPH_ENTRY_SIZE), next;

	other.func = 2;
	others.head.pid = 8;
	next = row_of(exit_format, &end, sizeof(end));
	check(report_graph_is_leaf(&row, &next));
	next = row_of(exit_format, &other, sizeof(other));
	check(!report_graph_is_leaf(&row, &next));
	next = row_of(exit_format, &others, sizeof(others));
	check(!report_graph_is_leaf(&row, &next));
	next = row_of(entry_format, &again, RECORD_GRAPH_ENTRY_SIZE);
	check(!report_graph_is_leaf(&row, &next));
	next = row_of(NULL, &end, sizeof(end));
	check(!report_graph_is_leaf(&row, &next));
}

static void durations(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "  0.000 us    "}, {1, "  0.001 us    "}, {999, "  0.999 us    "}, {9999, "  9.999 us    "},
		{10000, "  10.000 us   "}, {10001, "+ 10.001 us   "}, {100000, "+ 100.000 us  "}, {100001, "! 100.001 us  "},
		{1000000, "! 1000.000 us "}, {1000001, "# 1000.001 us "}, {10000000, "# 10000.00 us "},
		{10000019, "* 10000.01 us "}, {100000000, "* 100000.0 us "}, {100000999, "@ 100000.9 us "},
		{1000000000, "@ 1000000 us  "}, {1000000001, "$ 1000000 us  "}, {12345678901234, "$ 12345678901 us "},
		{UINT64_MAX, "$ 18446744073709551 us "},
	};
	char want[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(want, sizeof(want), " 3) %s|  f();\n", cases[i].text);
		leaf(__LINE__, 1, cases[i].ns, 0, GRAPH, want);
		want[4] = ' ';
		leaf(__LINE__, 1, cases[i].ns, 0, GRAPH & ~TRACER_FLAG_GRAPH_OVERHEAD, want);
	}
}

static void retvals(void)
{
	static const struct {
		uint64_t value;
		const char *text, *hex;
	} cases[] = {
		{0, "0x0", "0x0"}, {8, "0x8", "0x8"}, {(uint64_t)-1, "-1", "0xffffffffffffffff"}, {(uint32_t)-1, "-1", "0xffffffff"},
		{(uint64_t)-4095, "-4095", "0xfffffffffffff001"}, {(uint64_t)-4096, "0xfffffffffffff000", "0xfffffffffffff000"},
		{(uint32_t)-4095, "-4095", "0xfffff001"}, {(uint32_t)-4096, "0xfffff000", "0xfffff000"},
		{0x80000001, "0x80000001", "0x80000001"}, {0x1ffffffff, "0x1ffffffff", "0x1ffffffff"},
	};
	char want[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(want, sizeof(want), " 3)   0.000 us    |  f(); /* = %s */\n", cases[i].text);
		leaf(__LINE__, 1, 0, cases[i].value, GRAPH | TRACER_FLAG_GRAPH_RETVAL, want);
		snprintf(want, sizeof(want), " 3)   0.000 us    |  f(); /* = %s */\n", cases[i].hex);
		leaf(__LINE__, 1, 0, cases[i].value, GRAPH | TRACER_FLAG_GRAPH_RETVAL | TRACER_FLAG_GRAPH_RETVAL_HEX, want);
	}
}

/* Records of kernels that keep no return values have none to show. */
static void old_exits(void)
{
	struct {
		struct record_head head;
		uint64_t func;
		int32_t depth;
		uint32_t overrun;
		uint64_t calltime, rettime;
	} end = {.head.pid = 7, .func = 1, .depth = 1, .overrun = 9, .rettime = 500};
	struct report_row row = row_of(old_exit_format, &end, sizeof(end));

	expect(&row, NULL, GRAPH | TRACER_FLAG_GRAPH_RETVAL, 0, " 3)   0.500 us    |    } /* f */\n");
	expect(&row, NULL, TRACER_FLAG_GRAPH_OVERRUN, 0, "  } /* f */\n (Overruns: 9)\n");
}

static void addresses(void)
{
	struct {
		struct record_head head;
		uint8_t bytes[20];
	} entry = {.head.pid = 7};
	const uint64_t func = 1, from = 2;
	struct record_graph_exit end = {.head.pid = 7, .func = 1, .retval = 16};
	struct report_row a = row_of(retaddr_format, &entry, sizeof(entry)), b = row_of(exit_format, &end, sizeof(end));
	const uint32_t options = GRAPH | TRACER_FLAG_GRAPH_RETADDR;

	memcpy(entry.bytes, &func, 8);
	memcpy(entry.bytes + 12, &from, 8);
	check(report_graph_is_entry(&a) && report_graph_is_own(&a) && report_graph_is_leaf(&a, &b));
	expect(&a, NULL, GRAPH, 0, " 3)               |  f() {\n");
	expect(&a, NULL, options, 0, " 3)               |  f() { /* <-f+0x5/0x40 [libc.so.6] */\n");
	expect(&a, &b, options, 0, " 3)   0.000 us    |  f(); /* <-f+0x5/0x40 [libc.so.6] */\n");
	expect(&a, &b, options | TRACER_FLAG_GRAPH_RETVAL, REPORT_SYM_ADDR,
	       " 3)   0.000 us    |  f(); /* <-f+0x5/0x40 [libc.so.6] <0000000000000002> ret=0x10 */\n");
	leaf(__LINE__, 1, 0, 0, options, " 3)   0.000 us    |  f();\n");
}

static void names(void)
{
	struct record_graph_entry entry = {.head.pid = 8, .func = 3, .depth = 0};
	struct report_row row = row_of(entry_format, &entry, RECORD_GRAPH_ENTRY_SIZE);

	leaf(__LINE__, 2, 0, 0, GRAPH, " 3)   0.000 us    |  f [libc.so.6]();\n");
	leaf(__LINE__, 0xabc, 0, 0, GRAPH, " 3)   0.000 us    |  0xabc();\n");
	leaf(__LINE__, 1, 0, 0, GRAPH | TRACER_FLAG_GRAPH_PROC, " 3)   sixteen-7    |   0.000 us    |  f();\n");
	marks = DECODE_ESCAPE;
	expect(&row, NULL, GRAPH | TRACER_FLAG_GRAPH_PROC, 0, " 3)      \\n-8      |               |  od\\nd() {\n");
	marks = 0;
	expect_at(__LINE__, 10, &row, NULL, TRACER_FLAG_GRAPH_CPU, 0, " 3) od\nd() {\n");
	expect_at(__LINE__, 11, &row, NULL, TRACER_FLAG_GRAPH_CPU, 0, "  3) od\nd() {\n");
	expect_at(__LINE__, 1000, &row, NULL, TRACER_FLAG_GRAPH_CPU | TRACER_FLAG_GRAPH_ABSTIME, 0, "    1.234567 |     3) od\nd() {\n");
	expect_at(__LINE__, 2, &row, NULL, TRACER_FLAG_GRAPH_CPU, 0, " 3) od\nd() {\n");
}

/* Is one record printed without harm, as a line or lines that end? */
static void survives(const struct decode_format *format, const void *data, size_t len, struct report_graph *graph)
{
	const struct decode_ctx ctx = {.comm = comm, .symbol = symbol};
	struct report_row row = row_of(format, data, len);
	struct buf out = BUF_INIT;

	report_graph_line(graph, &out, &row, NULL, &ctx, ~0u, 0);
	check(!buf_failed(&out) && out.len && out.data[out.len - 1] == '\n' && out.len < 70000);
	report_graph_alone(&out, &row, report_graph_is_entry(&row) ? &row : NULL, NULL, 4, ~0u, REPORT_LATENCY);
	check(out.data[out.len - 1] == '\n');
	buf_fini(&out);
}

static void hostile(void)
{
	static const int32_t depths[] = {INT32_MIN, -1, 0, 49, 50, 4095, 4096, 40000, INT32_MAX};
	struct report_graph *graph = report_graph_new(4);

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		struct record_graph_entry entry = {.head.pid = -5, .func = 1, .depth = depths[i]};
		struct record_graph_exit end = {.head.pid = 6, .func = 2, .depth = depths[i], .calltime = 9};

		survives(entry_format, &entry, RECORD_GRAPH_ENTRY_SIZE, graph);
		survives(NULL, &entry, RECORD_GRAPH_ENTRY_SIZE, graph);
		survives(exit_format, &end, sizeof(end), graph);
		for (size_t len = 0; len < sizeof(end); len += 4) {
			survives(entry_format, &entry, len < RECORD_GRAPH_ENTRY_SIZE ? len : RECORD_GRAPH_ENTRY_SIZE, graph);
			survives(exit_format, &end, len, graph);
			survives(NULL, &end, len, graph);
		}
	}
	report_graph_free(graph);
}

/* The end of a call as deep as programs go: without a name, as its beginning was seen. */
static void deep(void)
{
	const struct decode_ctx ctx = {.comm = comm, .symbol = symbol};
	struct report_graph *graph = report_graph_new(4);
	struct buf out = BUF_INIT;

	for (int depth = 0; depth < 4000; depth++) {
		struct record_graph_entry entry = {.head.pid = 7, .func = 1, .depth = depth};
		struct report_row row = row_of(entry_format, &entry, RECORD_GRAPH_ENTRY_SIZE);

		report_graph_line(graph, &out, &row, NULL, &ctx, 0, 0);
	}
	for (int depth = 4000; depth--;) {
		struct record_graph_exit end = {.head.pid = 7, .func = 1, .depth = depth};
		struct report_row row = row_of(exit_format, &end, sizeof(end));

		buf_reset(&out);
		report_graph_line(graph, &out, &row, NULL, &ctx, 0, 0);
		check(out.len == (size_t)depth * 2 + 2 && out.data[out.len - 2] == '}');
	}
	buf_fini(&out);
	report_graph_free(graph);
}

int main(void)
{
	make_formats();
	pairs();
	durations();
	retvals();
	old_exits();
	addresses();
	names();
	hostile();
	deep();
	decode_format_free(entry_format);
	decode_format_free(exit_format);
	decode_format_free(retaddr_format);
	decode_format_free(old_exit_format);
	return failures != 0;
}
