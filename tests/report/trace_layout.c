/*
 * The kernel's `trace` layout, to the column: header, lines, flags, times, what stands in for
 * unknown names, losses.
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

static const struct decode_ctx ctx = {.comm = comm, .symbol = symbol};

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
					  .tracer = "nop", .entries = 2, .written = 2, .cpus = 2});
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
	report_trace_started(&out, 2);
	check_text(__FILE__, __LINE__, "other lines", out.data,
		   "           <...>-4242    [000] .....     0.000000: Unknown type 4711\n"
		   "          <idle>-0       [000] .....     0.000000: Unknown type 0\n"
		   "CPU:3 [LOST 17 EVENTS]\n"
		   "CPU:0 [LOST EVENTS]\n"
		   "##### CPU 2 buffer started ####\n");
	buf_fini(&out);
}

int main(void)
{
	whole_sample();
	lines();
	others();
	return failures ? 1 : 0;
}
