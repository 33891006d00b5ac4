/*
 * Records of the tracers `function` and `function_graph` in a buffer of that tracer: `trace`, `trace_pipe`, `snapshot` and
 * per_cpu/ have the kernel's text, whatever the options, wherever pages end, and where records were lost. What the text has to be
 * was taken from kernels: tests/report/kept_graph.c.
 */
#include "control/program.h"

#include "control/buffer.h"
#include "control/symbols.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile int sink;

/* Their debug information tells what they return, where there is some: the text is the same with it and without. */
NOINLINE static int inner(void)
{
	return sink++;
}

NOINLINE static long outer(void)
{
	return inner() + sink++;
}

NOINLINE static void nothing(int number, const char *text)
{
	sink += number + *text;
}

#define INNER ((void (*)(void))inner)
#define OUTER ((void (*)(void))outer)
#define NOTHING ((void (*)(void))nothing)

/* ---- records ---- */

static uint64_t address(void (*function)(void))
{
	uint64_t at = runtime_symbol_address((const void *)(uintptr_t)function);

	CHECK(at, "a function is nowhere");
	return at;
}

static void record(struct control *control, uint32_t id, void *bytes, size_t len, int32_t tid)
{
	int r = runtime_write_to(0, control->state.buffers[0].born, id, bytes, len, tid);

	CHECK(!r, "event %u is not written: %d", id, r);
}

static void call(struct control *control, int32_t tid, void (*function)(void), int32_t depth)
{
	struct record_graph_entry entry = { .func = address(function), .depth = depth };

	record(control, EVENT_ID_GRAPH_ENTRY, &entry, RECORD_GRAPH_ENTRY_SIZE, tid);
}

static void back(struct control *control, int32_t tid, void (*function)(void), int32_t depth, uint64_t ns, uint64_t retval)
{
	struct record_graph_exit exit = { .func = address(function), .depth = depth, .retval = retval, .overrun = 3,
					  .calltime = 1000, .rettime = 1000 + ns };

	record(control, EVENT_ID_GRAPH_EXIT, &exit, sizeof(exit), tid);
}

static void enter(struct control *control, void (*function)(void), void (*parent)(void))
{
	struct record_function entry = { .ip = address(function), .parent_ip = address(parent) + 1 };

	record(control, EVENT_ID_FUNCTION, &entry, sizeof(entry), 77);
}

/* Empties the buffer and gives it a tracer with these options beside the usual ones. */
static void begin(struct control *control, uint32_t tracer, uint32_t with, uint32_t without)
{
	room_write(control, "trace", "", 0);
	room_begin(control);
	control->state.buffers[0].tracer = tracer;
	control->state.buffers[0].tracer_flags = (TRACER_FLAGS_DEFAULT | with) & ~without;
	room_commit(control);
}

static void options(struct control *control, uint32_t with, uint32_t without)
{
	room_begin(control);
	control->state.buffers[0].tracer_flags = (TRACER_FLAGS_DEFAULT | with) & ~without;
	room_commit(control);
}

/* ---- texts ---- */

#define HEAD                                                 \
	"# tracer: function_graph\n#\n"                       \
	"# CPU  DURATION                  FUNCTION CALLS\n" \
	"# |     |   |                     |   |   |   |\n"

/* The text with ` C) ` for each @. */
static void expect(struct control *control, const char *path, const char *want)
{
	struct buf text = BUF_INIT;
	char cpu[32];
	int width = snprintf(NULL, 0, "%u", control->dir.ncpu - 1);

	snprintf(cpu, sizeof(cpu), " %*d) ", width, cpu_at(0));
	for (; *want; want++) {
		if (*want == '@')
			buf_puts(&text, cpu);
		else
			buf_putc(&text, *want);
	}
	room_expect(control, path, text.data);
	buf_fini(&text);
}

static void check_formats(struct control *control)
{
	room_expect_part(control, "events/ftrace/function/format", "name: function\nID: 1\n", true);
	room_expect_part(control, "events/ftrace/function/format", "parent_ip;\toffset:16;\tsize:8;", true);
	room_expect_part(control, "events/ftrace/funcgraph_entry/format", "name: funcgraph_entry\nID: 11\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_entry/format", "depth;\toffset:16;\tsize:4;", true);
	room_expect_part(control, "events/ftrace/function/format", "unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_entry/format", "unsigned long args[];\toffset:24;\tsize:0;", true);
	room_expect_part(control, "events/ftrace/funcgraph_exit/format", "name: funcgraph_exit\nID: 10\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_exit/format", "retval;\toffset:16;\tsize:8;", true);
	room_expect_part(control, "events/ftrace/funcgraph_exit/format", "rettime;\toffset:40;\tsize:8;", true);
}

/* ---- function ---- */

static void check_function(struct control *control)
{
	char want[200];

	begin(control, TRACER_FUNCTION, 0, 0);
	enter(control, INNER, OUTER);
	room_expect_part(control, "trace", "# tracer: function\n#\n# entries-in-buffer/entries-written: 1/1   #P:", true);
	room_expect_part(control, "trace", ": inner <-outer\n", true);
	room_write(control, "options/print-parent", "0", 0);
	room_expect_part(control, "trace", ": inner\n", true);
	room_write(control, "options/print-parent", "1", 0);
	room_write(control, "trace_options", "sym-offset", 0);
	room_expect_part(control, "trace", ": inner+0x0/0x", true);
	room_expect_part(control, "trace", " <-outer+0x1/0x", true);
	room_write(control, "trace_options", "nosym-offset", 0);
	room_write(control, "trace_options", "sym-addr", 0);
	snprintf(want, sizeof(want), ": inner <%016llx> <-outer <%016llx>\n", (unsigned long long)address(INNER),
		 (unsigned long long)address(OUTER) + 1);
	room_expect_part(control, "trace", want, true);
	room_write(control, "trace_options", "nosym-addr", 0);
	room_write(control, "options/raw", "1", 0);
	snprintf(want, sizeof(want), " %llx %llx\n", (unsigned long long)address(INNER), (unsigned long long)address(OUTER) + 1);
	room_expect_part(control, "trace", want, true);
	room_write(control, "options/raw", "0", 0);
}

/* ---- function_graph ---- */

/* Events and words stand where they happened, as comments; stacks and functions keep their lines. */
static void check_comments(struct control *control)
{
	struct item item = item_bring("item");
	char *text, *stack;

	begin(control, TRACER_GRAPH, 0, 0);
	room_write(control, "events/test/item/enable", "1", 0);
	item_emit(&item, 1);
	call(control, 0, OUTER, 0);
	item_emit(&item, 2);
	call(control, 0, INNER, 1);
	room_write(control, "trace_marker", "two\nlines\n", 0);
	back(control, 0, INNER, 1, 1000, 0);
	item_emit(&item, 3);
	back(control, 0, OUTER, 0, 2000, 0);
	item_emit(&item, 4);
	expect(control, "trace", HEAD
	       "@              |  /* item: n=1 */\n"
	       "@              |  outer() {\n"
	       "@              |  /* item: n=2 */\n"
	       "@              |    inner() {\n"
	       "@              |      /* two\nlines */\n"
	       "@  1.000 us    |    }\n"
	       "@              |  /* item: n=3 */\n"
	       "@  2.000 us    |  }\n"
	       "@              |  /* item: n=4 */\n");
	room_write(control, "events/test/item/enable", "0", 0);
	begin(control, TRACER_GRAPH, 0, 0);
	call(control, 0, INNER, 0);
	enter(control, INNER, OUTER);
	back(control, 0, INNER, 0, 1000, 0);
	text = room_read(control, "trace");
	stack = strstr(text, ": inner <-outer\n");
	CHECK(stack && strstr(text, "|  inner() {\n") < stack && strstr(stack, "|  }\n"), "'%s'", text);
	free(text);
}

/* The other task's function was at the same depth, so that the last but one is named: one cannot see where it began. */
static void calls(struct control *control)
{
	back(control, 100, OUTER, 1, 12345678, 0);
	call(control, 100, OUTER, 0);
	call(control, 100, INNER, 1);
	back(control, 100, INNER, 1, 999, 0);
	call(control, 100, OUTER, 1);
	call(control, 2000000, INNER, 0);
	back(control, 2000000, INNER, 0, 10001, (uint32_t)-5);
	back(control, 100, OUTER, 1, 100000, (uint64_t)-22);
	back(control, 100, OUTER, 0, 1234567891234, 0x1234);
	call(control, 100, INNER, 0);
}

#define RULE " ------------------------------------------\n"

static void check_text(struct control *control)
{
	begin(control, TRACER_GRAPH, 0, 0);
	calls(control);
	expect(control, "trace", HEAD
	       "@* 12345.67 us |    } /* outer */\n"
	       "@              |  outer() {\n"
	       "@  0.999 us    |    inner();\n"
	       "@              |    outer() {\n"
	       RULE "@  <...>-100    => <...>-2000000 \n" RULE "\n"
	       "@+ 10.001 us   |  inner();\n"
	       RULE "@<...>-2000000  =>   <...>-100   \n" RULE "\n"
	       "@+ 100.000 us  |    }\n"
	       "@$ 1234567891 us |  } /* outer */\n"
	       "@              |  inner() {\n");
	options(control, TRACER_FLAG_GRAPH_RETVAL | TRACER_FLAG_GRAPH_PROC, TRACER_FLAG_GRAPH_CPU | TRACER_FLAG_GRAPH_OVERHEAD);
	expect(control, "trace", "# tracer: function_graph\n#\n"
	       "#  TASK/PID         DURATION                  FUNCTION CALLS\n"
	       "#   |    |           |   |                     |   |   |   |\n"
	       "  <...>-100    |   12345.67 us |    } /* outer = 0x0 */\n"
	       "  <...>-100    |               |  outer() {\n"
	       "  <...>-100    |   0.999 us    |    inner(); /* = 0x0 */\n"
	       "  <...>-100    |               |    outer() {\n"
	       RULE "@  <...>-100    => <...>-2000000 \n" RULE "\n"
	       "<...>-2000000  |   10.001 us   |  inner(); /* = -5 */\n"
	       RULE "@<...>-2000000  =>   <...>-100   \n" RULE "\n"
	       "  <...>-100    |   100.000 us  |    } /* outer = -22 */\n"
	       "  <...>-100    |   1234567891 us |  } /* outer = 0x1234 */\n"
	       "  <...>-100    |               |  inner() {\n");
	options(control, TRACER_FLAG_GRAPH_RETVAL | TRACER_FLAG_GRAPH_RETVAL_HEX | TRACER_FLAG_GRAPH_OVERRUN,
		TRACER_FLAG_GRAPH_DURATION);
	expect(control, "trace", "# tracer: function_graph\n#\n# CPU               FUNCTION CALLS\n# |                 |   |   |   |\n"
	       "@  } /* outer = 0x0 */\n (Overruns: 3)\n"
	       "@outer() {\n"
	       "@  inner(); /* = 0x0 */\n"
	       "@  outer() {\n"
	       RULE "@  <...>-100    => <...>-2000000 \n" RULE "\n"
	       "@inner(); /* = 0xfffffffb */\n"
	       RULE "@<...>-2000000  =>   <...>-100   \n" RULE "\n"
	       "@  } /* outer = 0xffffffffffffffea */\n (Overruns: 3)\n"
	       "@} /* outer = 0x1234 */\n (Overruns: 3)\n"
	       "@inner() {\n");
}

/* What was in registers, by the function's prototype, or as it was where there is none; nothing is returned by what returns nothing. */
static void check_args(struct control *control)
{
	struct record_graph_entry_args entry = { .func = address(NOTHING), .args = { 0x1234567fffffffe, 0x55aa } };
	struct record_function_args function = {
		.function = { .ip = address(NOTHING), .parent_ip = address(OUTER) + 1 }, .args = { 0x1234567fffffffe, 0x55aa },
	};
	bool known = control_prototype(control, address(NOTHING));

	begin(control, TRACER_GRAPH, TRACER_FLAG_GRAPH_RETVAL | TRACER_FLAG_GRAPH_ARGS, 0);
	record(control, EVENT_ID_GRAPH_ENTRY, &entry, RECORD_ARGS_OFFSET + 16, 77);
	back(control, 77, NOTHING, 0, 1000, 7);
	record(control, EVENT_ID_GRAPH_ENTRY, &entry, RECORD_ARGS_OFFSET + 8, 77);
	expect(control, "trace", known ?
	       HEAD "@  1.000 us    |  nothing(number=-2, text=0x55aa);\n@              |  nothing(number=-2, text=?) {\n" :
	       HEAD "@  1.000 us    |  nothing(0x1234567fffffffe, 0x55aa); /* = 0x7 */\n@              |  nothing(0x1234567fffffffe) {\n");
	begin(control, TRACER_FUNCTION, TRACER_FLAG_FUNC_ARGS, 0);
	record(control, EVENT_ID_FUNCTION, &function, RECORD_ARGS_OFFSET + 16, 77);
	room_expect_part(control, "trace", known ? ": nothing(number=-2, text=0x55aa) <-outer\n" :
			 ": nothing(0x1234567fffffffe, 0x55aa) <-outer\n", true);
}

/* trace_pipe, per_cpu/ and the snapshot: the same lines. */
static void check_files(struct control *control)
{
	char path[64], *shown, *taken;
	int cpu = cpu_at(0);

	begin(control, TRACER_GRAPH, 0, 0);
	calls(control);
	shown = room_read(control, "trace");
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace", cpu);
	room_expect(control, path, shown);
	room_write(control, "snapshot", "1", 0);
	room_expect(control, "snapshot", shown);
	room_write(control, "snapshot", "0", 0);
	calls(control);
	room_expect(control, "trace", shown);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe", cpu);
	taken = room_read(control, path);
	CHECK(!strcmp(taken, shown + strlen(HEAD)), "'%s'", taken);
	room_expect(control, "trace_pipe", "");
	free(taken);
	free(shown);
}

/* Calls that call nothing have one line each, wherever pages end and however few bytes are read at a time. */
static void check_pages(struct control *control)
{
	static const size_t steps[] = { 1, 100, 4096, 1 << 20 };
	const int many = 1000;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct tree_file *file;
		char *shown, *taken;
		int last;

		begin(control, TRACER_GRAPH, 0, 0);
		for (int n = 0; n < many; n++) {
			cpu_pin(cpu_at(n % 2) < 0 ? cpu_at(0) : cpu_at(n % 2));
			call(control, 100, INNER, 0);
			/* The pages of two CPUs end at different calls. */
			if (n % 16 == 1)
				call(control, 100, OUTER, 1);
			if (n % 16 == 1)
				back(control, 100, OUTER, 1, 500, 0);
			else
				back(control, 100, INNER, 0, 700, 0);
		}
		cpu_pin(cpu_at(0));
		shown = room_read(control, "trace");
		CHECK(count_of(shown, "  0.700 us    |  inner();\n") == many - (many + 14) / 16 &&
		      count_of(shown, "|    outer();\n") == (many + 14) / 16 && !strstr(shown, "}"), "'%s'", shown);
		file = file_open(control, "trace_pipe", TREE_READ);
		taken = file_drain(file, steps[i], NULL, &last);
		CHECK(last == -EAGAIN, "in the end there is %d", last);
		CHECK(!strcmp(shown + strlen(HEAD), taken), "steps of %zu: '%s'\nis not '%s'", steps[i], taken, shown);
		file_close(file);
		free(taken);
		free(shown);
		room_expect(control, "trace_pipe", "");
		room_expect(control, "trace", HEAD);
	}
}

/* Where the beginning of a call was overwritten its end has the name, and no CPU `started`; readers are told of the loss. */
static void check_lost(struct control *control)
{
	char *text, want[64];

	begin(control, TRACER_GRAPH, 0, 0);
	room_write(control, "buffer_size_kb", "8", 0);
	for (int n = 0; n < 1000; n++)
		call(control, 100, OUTER, n);
	for (int n = 1000; n--;)
		back(control, 100, OUTER, n, 500, 0);
	text = room_read(control, "trace");
	CHECK(count_of(text, " } /* outer */\n") > 50 && !strstr(text, "started") && !strstr(text, "LOST"), "'%s'", text);
	free(text);
	text = room_read(control, "trace_pipe");
	snprintf(want, sizeof(want), "CPU:%d [LOST ", cpu_at(0));
	CHECK(strstr(text, want) == text && count_of(text, "LOST") == 1, "'%s'", text);
	free(text);
	room_write(control, "buffer_size_kb", "1408", 0);
}

/* Calls are told by what they return. */
static void leaves(struct control *control, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		call(control, 100, INNER, 0);
		back(control, 100, INNER, 0, 700, from);
	}
}

/* Readers come and go after a few lines, also where pages end: each call is in one line of one of them, in order. */
static void check_stops(struct control *control)
{
	const uint32_t many = 600;

	begin(control, TRACER_GRAPH, TRACER_FLAG_GRAPH_RETVAL, 0);
	leaves(control, 0, many);
	for (uint32_t n = 0; n < many; n += 3) {
		struct tree_file *file = file_open(control, "trace_pipe", TREE_READ);
		struct buf text = BUF_INIT;
		const char *at;

		file_lines(file, 3, &text);
		file_close(file);
		at = text.data;
		for (uint32_t i = n; i < n + 3; i++) {
			at = strstr(at, "inner(); /* = 0x");
			CHECK(at, "call %u: '%s'", i, text.data);
			at += strlen("inner(); /* = 0x");
			CHECK(strtoul(at, NULL, 16) == i, "call %u: '%s'", i, text.data);
		}
		buf_fini(&text);
	}
	room_expect(control, "trace_pipe", "");
}

/* Records that a text tells of. */
static uint64_t told(const char *text)
{
	uint64_t lost = 0;

	for (const char *at = text; (at = strstr(at, "[LOST ")); at++)
		lost += strtoull(at + strlen("[LOST "), NULL, 10);
	return lost + 2 * (uint64_t)count_of(text, "inner();") + (uint64_t)count_of(text, "inner() {") +
	       (uint64_t)count_of(text, "|  }");
}

/* Where writers come round between the beginning of a call and its end nothing is left out: what is shown and lost is all. */
static void check_balance(struct control *control)
{
	uint64_t written = 0, seen;
	struct buf text = BUF_INIT;
	struct tree_file *file;
	uint32_t seed = 5;
	char *rest;

	begin(control, TRACER_GRAPH, 0, 0);
	room_write(control, "buffer_size_kb", "8", 0);
	file = file_open(control, "trace_pipe", TREE_READ);
	for (int round = 0; round < 200; round++) {
		uint32_t n = 1 + room_random(&seed) % (round % 2 ? 20 : 300);

		leaves(control, 0, n);
		written += 2 * (uint64_t)n;
		file_lines(file, (int)(room_random(&seed) % 60 % n), &text);
	}
	rest = file_drain(file, 4096, NULL, NULL);
	file_close(file);
	seen = told(text.data) + told(rest);
	CHECK(seen == written && count_of(text.data, "LOST") > 20, "%llu of %llu", (unsigned long long)seen,
	      (unsigned long long)written);
	free(rest);
	buf_fini(&text);
	room_write(control, "buffer_size_kb", "1408", 0);
}

/* In a buffer of another tracer they stand behind the usual columns, each for itself. */
static void check_alone(struct control *control)
{
	begin(control, TRACER_NOP, 0, 0);
	calls(control);
	room_expect_part(control, "trace", "# tracer: nop\n#\n# entries-in-buffer", true);
	room_expect_part(control, "trace", " |    } /* outer */\n", false);
	room_expect_part(control, "trace", "* 12345.67 us |    }\n           <...>-100 ", true);
	room_expect_part(control, "trace", "  0.999 us    |    inner();\n           <...>-100 ", true);
	room_expect_part(control, "trace", "              |  inner() {\n", true);
	room_expect_part(control, "trace", " =>  <...>", false);
	room_write(control, "options/hex", "1", 0);
	room_expect_part(control, "trace", " type: 11\n", true);
	room_expect_part(control, "trace", " type: 10\n", true);
	room_write(control, "options/hex", "0", 0);
}

int main(void)
{
	struct control *control = room_open();

	cpu_pin(cpu_at(0));
	check_formats(control);
	room_write(control, "trace_marker", "makes the rings", 0);
	check_function(control);
	check_comments(control);
	check_text(control);
	check_args(control);
	check_files(control);
	check_pages(control);
	check_stops(control);
	check_lost(control);
	check_balance(control);
	check_alone(control);
	control_close(control);
	return 0;
}
