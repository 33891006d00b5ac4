/*
 * The kernel's `trace` layout, to the column: header, lines, flags, times, what stands in for
 * unknown names, losses. kept_trace.c and kernel_trace.c compare with kernels; here are the corners
 * that their records do not reach.
 */
#include "../decode/event.h"
#include "decode/page.h"
#include "layout/registry.h"
#include "report/trace.h"

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid == 4242 ? "sh" : pid == 4243 ? "sleep" : pid == 7 ? "sixteen-chars-xx" : NULL;
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	out->name = addr == 1 ? "foo" : "bar";
	return true;
}

static int tgid(void *arg, int pid)
{
	(void)arg;
	return pid == 4243 ? 4242 : 0;
}

static const struct decode_ctx ctx = {.comm = comm, .symbol = symbol, .tgid = tgid};

static struct decode_format *own(const char *name, const char *fields)
{
	struct buf text = BUF_INIT;
	struct decode_format *f = NULL;

	buf_printf(&text, "name: %s\nID: 5\nformat:\n" COMMON "%s\nprint fmt: \"\"\n", name,
		   fields);
	check(!decode_format_parse("ftrace", text.data, text.len, NULL, &f, NULL));
	buf_fini(&text);
	return f;
}

static void whole_sample(void)
{
	struct decode_format *print = own(
		"print", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			 "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n");
	struct decode_format *function = own(
		"function", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n");
	struct {
		struct record_head head;
		uint64_t ip;
		char buf[8];
	} mark = {.head = {.type = 5, .pid = 4242}, .ip = MARKER_IP, .buf = "hello\n"};
	struct {
		struct record_head head;
		uint64_t ip, parent_ip;
	} call = {.head = {.type = 1, .pid = 4243}, .ip = 1, .parent_ip = 2};
	struct buf out = BUF_INIT;

	report_trace_header(&out, &(struct report_trace_head){
					  .tracer = "nop", .entries = 2, .written = 2, .cpus = 2}, 0);
	report_trace_line(&out,
			  &(struct report_row){.ts = 123456789000,
					       .cpu = 1,
					       .format = print,
					       .data = &mark,
					       .len = sizeof(mark)},
			  &ctx, 0);
	report_trace_line(&out,
			  &(struct report_row){.ts = 123457001499,
					       .cpu = 0,
					       .format = function,
					       .data = &call,
					       .len = sizeof(call)},
			  &ctx, 0);
	check_text(__FILE__, __LINE__, "the sample", out.data,
		   "# tracer: nop\n"
		   "#\n"
		   "# entries-in-buffer/entries-written: 2/2   #P:2\n"
		   "#\n"
		   "#                                _-----=> irqs-off/BH-disabled\n"
		   "#                               / _----=> need-resched\n"
		   "#                              | / _---=> hardirq/softirq\n"
		   "#                              || / _--=> preempt-depth\n"
		   "#                              ||| / _-=> migrate-disable\n"
		   "#                              |||| /     delay\n"
		   "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		   "#              | |         |   |||||     |         |\n"
		   "              sh-4242    [001] .....   123.456789: tracing_mark_write: hello\n"
		   "           sleep-4243    [000] .....   123.457001: foo <-bar\n");
	buf_fini(&out);
	decode_format_free(print);
	decode_format_free(function);
}

static void line(uint8_t flags, uint8_t preempt, int32_t pid, int cpu, uint64_t ts,
		 unsigned int how, const char *want)
{
	struct decode_format *f = sample_format("\"n=%d\", REC->s32");
	struct sample r = sample_record();
	struct buf out = BUF_INIT;

	r.head.flags = flags;
	r.head.preempt_count = preempt;
	r.head.pid = pid;
	report_trace_line(&out,
			  &(struct report_row){
				  .ts = ts, .cpu = cpu, .format = f, .data = &r, .len = sizeof(r)},
			  &ctx, how);
	check_text(__FILE__, __LINE__, "a line", out.data, want);
	buf_fini(&out);
	decode_format_free(f);
}

static void lines(void)
{
	line(0, 0, 4242, 0, 0, 0,
	     "              sh-4242    [000] .....     0.000000: sample: n=-320000\n");
	line(0x01, 0x01, 7, 12, 1500, 0,
	     "sixteen-chars-xx-7       [012] d..1.     0.000002: sample: n=-320000\n");
	line(0x81, 0xff, 1234567, 1000, 1499, 0,
	     "           <...>-1234567 [1000] D..ff     0.000001: sample: n=-320000\n");
	line(0x80, 0x10, 0, 1, 999999500, 0,
	     "          <idle>-0       [001] b...1     1.000000: sample: n=-320000\n");
	line(0x04, 0, -5, 1, 123456000000000, 0,
	     "           <XXX>--5      [001] .n... 123456.000000: sample: n=-320000\n");
	line(0x24, 0x0a, 1, 1, 0, 0,
	     "           <...>-1       [001] .N.a.     0.000000: sample: n=-320000\n");
	line(0x20, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] .p...     0.000000: sample: n=-320000\n");
	line(0x02 | 0x08, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] .lh..     0.000000: sample: n=-320000\n");
	line(0x18, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] ..H..     0.000000: sample: n=-320000\n");
	line(0x10, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] ..s..     0.000000: sample: n=-320000\n");
	line(0x40, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] ..z..     0.000000: sample: n=-320000\n");
	line(0x48, 0, 1, 1, 0, 0,
	     "           <...>-1       [001] ..Z..     0.000000: sample: n=-320000\n");
	line(0, 0, 1, 1, 987654321, REPORT_TICKS,
	     "           <...>-1       [001] .....    987654321: sample: n=-320000\n");
}

static void others(void)
{
	struct record_head head = {.type = 4711, .pid = 4242};
	struct buf out = BUF_INIT;

	report_trace_line(&out, &(struct report_row){.data = &head, .len = sizeof(head)}, NULL, 0);
	report_trace_line(&out, &(struct report_row){.data = &head, .len = 3}, NULL, 0);
	report_trace_lost(&out, 3, 17);
	report_trace_lost(&out, 0, PAGE_LOST_UNKNOWN);
	report_trace_started(&out, 2, 0);
	check_text(__FILE__, __LINE__, "other lines", out.data,
		   "           <...>-4242    [000] .....     0.000000: Unknown type 4711\n"
		   "          <idle>-0       [000] .....     0.000000: Unknown type 0\n"
		   "CPU:3 [LOST 17 EVENTS]\n"
		   "CPU:0 [LOST EVENTS]\n"
		   "##### CPU 2 buffer started ####\n");
	buf_fini(&out);
}

/* Of a buffer without records latency-format tells nothing, nor of a CPU without any. */
static void empty_header(void)
{
	struct report_trace_head head = {.tracer = "nop", .cpus = 2};
	struct buf out = BUF_INIT;

	report_trace_header(&out, &head, REPORT_LATENCY);
	head.entries = head.written = 3;
	head.empty = true;
	report_trace_header(&out, &head, REPORT_LATENCY);
	report_trace_header(&out, &head, REPORT_NO_CONTEXT);
	report_trace_header(&out, &head, REPORT_VERBOSE);
	check_text(__FILE__, __LINE__, "empty", out.data,
		   "# tracer: nop\n#\n"
		   "# tracer: nop\n#\n"
		   "# tracer: nop\n#\n"
		   "# tracer: nop\n#\n");
	buf_reset(&out);
	head.empty = false;
	head.release = "6.12.1";
	head.model = "preempt";
	head.latency.us = 17;
	head.latency.cpu = 1;
	head.latency.comm = "sleep";
	head.latency.pid = 4243;
	head.latency.uid = 1000;
	head.latency.nice = -5;
	head.latency.policy = 1;
	head.latency.rt_prio = 99;
	report_trace_header(&out, &head, REPORT_LATENCY | REPORT_VERBOSE);
	check_text(__FILE__, __LINE__, "a latency", out.data,
		   "# tracer: nop\n#\n"
		   "# nop latency trace v1.1.5 on 6.12.1\n"
		   "# --------------------------------------------------------------------\n"
		   "# latency: 17 us, #3/3, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		   "#    -----------------\n"
		   "#    | task: sleep-4243 (uid:1000 nice:-5 policy:1 rt_prio:99)\n"
		   "#    -----------------\n"
		   "#\n");
	buf_fini(&out);
}

static void delay(uint64_t next_ts, const char *want)
{
	struct record_head head = {.type = 4711, .flags = 0x25, .preempt_count = 0x12, .pid = 7};
	struct report_row row = {.data = &head,
				 .len = sizeof(head),
				 .cpu = 1,
				 .start = 1000000,
				 .ts = 1012345,
				 .next_ts = next_ts,
				 .index = 17};
	struct buf out = BUF_INIT;

	report_trace_line(&out, &row, &ctx, REPORT_LATENCY);
	report_trace_line(&out, &row, &ctx, REPORT_LATENCY | REPORT_VERBOSE);
	check_text(__FILE__, __LINE__, "a delay", out.data, want);
	buf_fini(&out);
}

/* Marks go by whole microseconds; without a next record there is no delay. */
static void delays(void)
{
	delay(0, "sixteen--7         1dN.21   12us : Unknown type 4711\n"
		 "sixteen-chars-xx       7   1 37 00000002 00000011 [000003f4] 0.012ms (+0.000ms): "
		 "Unknown type 4711\n");
	delay(1012345 + 10499,
	      "sixteen--7         1dN.21   12us : Unknown type 4711\n"
	      "sixteen-chars-xx       7   1 37 00000002 00000011 [000003f4] 0.012ms (+0.010ms): "
	      "Unknown type 4711\n");
	delay(1012345 + 10500,
	      "sixteen--7         1dN.21   12us+: Unknown type 4711\n"
	      "sixteen-chars-xx       7   1 37 00000002 00000011 [000003f4] 0.012ms (+0.011ms): "
	      "Unknown type 4711\n");
	delay(1012345 + 1000000500,
	      "sixteen--7         1dN.21   12us$: Unknown type 4711\n"
	      "sixteen-chars-xx       7   1 37 00000002 00000011 [000003f4] 0.012ms (+1000.001ms): "
	      "Unknown type 4711\n");
}

static void processes(void)
{
	line(0, 0, 4243, 0, 0, REPORT_TGID,
	     "           sleep-4243    (   4242) [000] .....     0.000000: sample: n=-320000\n");
	line(0, 0, 4242, 0, 0, REPORT_TGID | REPORT_NO_IRQ,
	     "              sh-4242    (-------) [000]      0.000000: sample: n=-320000\n");
}

/* A record that nobody has described, in the forms that do without a description. */
static void unknown(void)
{
	struct record_head head = {.type = 4711, .pid = 1};
	struct report_row row = {.data = &head, .len = sizeof(head), .ts = 10};
	struct buf out = BUF_INIT;

	report_trace_line(&out, &row, NULL, REPORT_RAW);
	report_trace_line(&out, &row, NULL, REPORT_HEX);
	report_trace_line(&out, &row, NULL, REPORT_FIELDS | REPORT_NO_CONTEXT);
	report_trace_line(&out, &row, NULL, REPORT_MSG_ONLY | REPORT_NO_CONTEXT);
	check_text(__FILE__, __LINE__, "unknown", out.data,
		   "1 0 10 4711 ?\n"
		   "00000001 00000000 000000000000000a \n"
		   "UNKNOWN TYPE 4711\n"
		   "Unknown type 4711\n");
	buf_reset(&out);
	report_trace_line(&out, &row, NULL, REPORT_BIN);
	check(out.len == 16 && !memcmp(out.data, (uint32_t[]){1, 0}, 8));
	buf_fini(&out);
}

/* Our markers have a name, an address, and no place within a function. */
static void marker(void)
{
	struct decode_format *print = own(
		"print", "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			 "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n");
	struct {
		struct record_head head;
		uint64_t ip;
		char buf[8];
	} mark = {.head = {.type = 5, .pid = 4242}, .ip = MARKER_IP, .buf = "a\tb"};
	struct report_row row = {.format = print, .data = &mark, .len = sizeof(mark)};
	struct decode_ctx escape = {.flags = DECODE_ESCAPE};
	struct buf want = BUF_INIT, out = BUF_INIT;

	report_trace_line(&out, &row, &escape,
			  REPORT_NO_CONTEXT | REPORT_SYM_OFFSET | REPORT_SYM_ADDR);
	report_trace_line(&out, &row, &escape, REPORT_MSG_ONLY);
	report_trace_line(&out, &row, &escape, REPORT_RAW | REPORT_NO_CONTEXT);
	buf_printf(&want,
		   "tracing_mark_write <%016llx>: a\\tb\n"
		   "a\\tb\n"
		   "# %llx a\\tb\n",
		   (unsigned long long)MARKER_IP, (unsigned long long)MARKER_IP);
	check_text(__FILE__, __LINE__, "a marker", out.data, want.data);
	buf_fini(&want);
	buf_fini(&out);
	decode_format_free(print);
}

static void annotations(void)
{
	struct buf out = BUF_INIT;

	report_trace_started(&out, 1, REPORT_NO_ANNOTATE);
	report_trace_started(&out, 1, REPORT_RAW);
	report_trace_started(&out, 1, REPORT_HEX);
	report_trace_started(&out, 1, REPORT_BIN);
	check(!out.len);
	report_trace_started(&out, 1, REPORT_LATENCY | REPORT_FIELDS | REPORT_NO_CONTEXT);
	check_text(__FILE__, __LINE__, "started", out.data, "##### CPU 1 buffer started ####\n");
	buf_fini(&out);
}

int main(void)
{
	whole_sample();
	lines();
	others();
	empty_header();
	delays();
	processes();
	unknown();
	marker();
	annotations();
	return failures ? 1 : 0;
}
