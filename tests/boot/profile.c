/*
 * Start-up profiles: the steps that keys are, in their order, and where keys are refused; histograms by keys and back.
 */
#include "insist.h"

#include <string.h>

#include "boot/profile.h"

static const char *const acts[] = {
	[BOOT_OTHER] = "other", [BOOT_MAKE] = "make", [BOOT_STOP] = "stop", [BOOT_DEFINE] = "define", [BOOT_PAGES] = "pages",
	[BOOT_SIZE] = "size", [BOOT_WORD] = "word", [BOOT_OPTION] = "option", [BOOT_SNAPSHOT] = "snapshot", [BOOT_LIST] = "list",
	[BOOT_COMMAND] = "command", [BOOT_FILTER] = "filter", [BOOT_TRIGGER] = "trigger", [BOOT_CLOCK] = "clock",
	[BOOT_EVENT] = "event", [BOOT_TRACER] = "tracer", [BOOT_SYSCTL] = "sysctl", [BOOT_START] = "start",
};

/* Keys, and steps: what it does, where, to what, a text. */
static const struct good {
	const char *text;
	const char *steps;
} good[] = {
	{ "ftrace.tracer = function\nftrace.tracing_on = 0\n", "stop tracing_on <0>|tracer current_tracer <function>|" },
	{ "ftrace { options = sym-addr, nooverwrite; trace_clock = mono; buffer_size = 1M; cpumask = 3 }\n",
	  "size buffer_size_kb <1024>|word tracing_cpumask <3>|option + <sym-addr>|option - <overwrite>|clock trace_clock <mono>|" },
	{ "ftrace.buffer_size = 4097\n", "size buffer_size_kb <5>|" },
	{ "ftrace.buffer_size = 0x2000KB\n", "size buffer_size_kb <8192>|" },
	{ "ftrace.instance.foo { tracing_on = true; alloc_snapshot; events = \"sched:*\", \"!sched:sched_switch\" }\n",
	  "make [foo]|snapshot [foo] snapshot|event [foo] + <sched:*>|event [foo] - <sched:sched_switch>|start [foo] tracing_on <1>|" },
	{ "ftrace.event { enable; irq.enable; irq.filter = a; sched.sched_switch { enable; filter = 'x == 1'; actions = traceoff, 'stacktrace:3' } }\n",
	  "filter irq <a>|filter sched/sched_switch <x == 1>|trigger sched/sched_switch <traceoff>|trigger sched/sched_switch <stacktrace:3>|"
	  "event + <*:*>|event + <irq:*>|event + <sched:sched_switch>|" },
	{ "ftrace.event.kprobes.p.probes = 'vfs_read $arg1', vfs_write\nftrace.event.synthetic.s.fields = \"u64 a\", \"int b\"\n",
	  "define kprobes/p kprobe_events <p:kprobes/p vfs_read $arg1>|define kprobes/p kprobe_events <p:kprobes/p vfs_write>|"
	  "define synthetic/s synthetic_events <s u64 a; int b>|" },
	{ "ftrace.dynamic_events = 'e:g/n a.b x=$y', \"p:m /bin/ls:1\", \"s:q int a\", \"r8:z vfs_read\"\n",
	  "define g/n dynamic_events <e:g/n a.b x=$y>|define uprobes/m dynamic_events <p:m /bin/ls:1>|"
	  "define synthetic/q dynamic_events <s:q int a>|define kprobes/z dynamic_events <r8:z vfs_read>|" },
	{ "ftrace.ftrace { filters = 'vfs_*', 'a:mod:b', 'c:traceoff:3'; notraces = d }\nftrace.set_event_pid = 1, 2\n",
	  "list set_ftrace_filter <vfs_*\na:mod:b\n>|list set_ftrace_notrace <d\n>|list set_event_pid <1\n2\n>|"
	  "command set_ftrace_filter <c:traceoff:3>|" },
	{ "ftrace { buffer_percent = 9; buffer_size = 8K; buffer_subbuf_size_kb = 8; per_cpu.cpu1.buffer_size_kb = 16; stack_tracer_enabled = on }\n",
	  "pages buffer_subbuf_size_kb <8>|size buffer_size_kb <8>|size per_cpu/cpu1/buffer_size_kb <16>|word buffer_percent <9>|"
	  "word stack_tracer_enabled <1>|" },
	/* Histograms, in the order of their variables. */
	{ "ftrace.event.a.b.hist { keys = p, q; var.d = x - $t; onmatch { event = a.c; trace = s, $d }; filter = 'p > 1' }\n"
	  "ftrace.event.a.c.hist { keys = p; values = v; sort = v.descending; size = 64; name = n; var.t = y; pause }\n",
	  "trigger a/c <hist:keys=p:vals=v:sort=v.descending:size=64:name=n:t=y:pause>|"
	  "trigger a/b <hist:keys=p,q:d=x-$t:onmatch(a.c).trace(s,$d) if p > 1>|" },
	{ "ftrace.event.a.b.hist { 1 { keys = p; onmax { var = q; save = r }; onmax.2 { var = $s; snapshot } }; 2.keys = t }\n",
	  "trigger a/b <hist:keys=p:onmax($q).save(r):onmax($s).snapshot()>|trigger a/b <hist:keys=t>|" },
	/* The kernel's command line. */
	{ "kernel { ftrace = nop; trace_event = 'a:b,c', d; trace_options = 'x,noy'; ftrace_filter = 'a,b'; trace_buf_size = 1M; stacktrace }\n",
	  "size buffer_size_kb <1024>|word stack_tracer_enabled <1>|option + <x>|option - <y>|list set_ftrace_filter <a\nb\n>|event + <a:b>|"
	  "event + <c>|event + <d>|tracer current_tracer <nop>|" },
	{ "kernel.trace_instance = 'foo^traceoff^traceprintk,a:b,c'\nkernel.trace_trigger = 'x.traceoff if y == 1,z.stacktrace'\n",
	  "make [foo]|stop [foo] tracing_on <0>|option [foo] + <trace_printk_dest>|trigger /x <traceoff if y == 1>|trigger /z <stacktrace>|"
	  "event [foo] + <a:b>|event [foo] + <c>|" },
	{ "kernel.kprobe_event = 'p:a,b,$arg1;r:c/d,e'\n",
	  "define kprobes/a kprobe_events <p:a b $arg1>|define c/d kprobe_events <r:c/d e>|event + <kprobes:a>|event + <c:d>|" },
	{ "kernel { ftrace_dump_on_oops = orig_cpu; traceoff_on_warning; root = x; tp_printk_stop_on_boot }\ninit.x\n",
	  "other <is not about tracing>|other <is about the start of a kernel>|other <is for init, which is started once>|"
	  "sysctl ftrace_dump_on_oops <2>|sysctl traceoff_on_warning <1>|" },
	{ "ftrace.event.a.b.filter = \"x == 1 &&\n\ty == 2\"\n", "filter a/b <x == 1 &&  y == 2>|" },
	{ "kernel.pause_on_oops = 1\n", "other <is not about tracing>|" },
	{ "ftrace\n", "" },
};

/* Refused, at that byte, with that word in what is said. */
static const struct bad {
	const char *text;
	int pos;
	const char *word;
} bad[] = {
	{ "ftrac.events = a\n", 0, "ftrace" }, { "ftrace.evens = a\n", 7, "events" }, { "ftrace = 1\n", 9, "no value" },
	{ "ftrace.events\n", 7, "missing" }, { "ftrace.events.x = 1\n", 14, "no such key" }, { "ftrace.events = \"a b\"\n", 17, "a b" },
	{ "ftrace.tracer = a, b\n", 19, "one value" }, { "ftrace.tracing_on = maybe\n", 20, "maybe" },
	{ "ftrace.buffer_size = 1X\n", 21, "1X" }, { "ftrace.buffer_size = 100\n", 21, "4096" },
	{ "ftrace.buffer_size = 99999999999999999999\n", 21, "size" }, { "ftrace.buffer_size = 999999999999G\n", 21, "size" },
	{ "ftrace.alloc_snapshot = 0\n", 24, "no value" }, { "ftrace.event.a.b.enable = off\n", 26, "no value" },
	{ "ftrace.event.a\n", 13, "enable" }, { "ftrace.event.a.b\n", 15, "enable" }, { "ftrace.event.a.b = 1\n", 15, "enable" },
	{ "ftrace.event.a.b.filtr = 1\n", 17, "filter" }, { "ftrace.event.a.b.actions = '!traceoff'\n", 28, "traceoff" },
	{ "ftrace.event.a.b.probes = c\n", 17, "kprobes" }, { "ftrace.event.a.b.fields = c\n", 17, "synthetic" },
	{ "ftrace.event.a.b.hist.values = c\n", 17, "keys" }, { "ftrace.event.a.b.hist { keys = c; vals = d }\n", 34, "no such key" },
	{ "ftrace.event.a.b.hist { keys = c; pause; clear }\n", 41, "pause" },
	{ "ftrace.event.a.b.hist { keys = c; onmatch.event = d.e }\n", 34, "trace" },
	{ "ftrace.event.a.b.hist { keys = c; onmatch.trace = d }\n", 34, "event" },
	{ "ftrace.event.a.b.hist { keys = c; onmax { event = d; save = e } }\n", 42, "onmax" },
	{ "ftrace.event.a.b.hist { keys = c; onmax { var = d; save = e; snapshot } }\n", 34, "one of" },
	{ "ftrace.instance.a.instance.b.tracer = c\n", 18, "no such key" }, { "ftrace.instance.a = 1\n", 20, "no value" },
	{ "ftrace.dynamic_events = 'vfs_read'\n", 25, "vfs_read" }, { "ftrace.dynamic_events = 'p:a/b/c d'\n", 25, "name" },
	{ "ftrace.per_cpu.x.buffer_size_kb = 1\n", 15, "cpu0" }, { "ftrace.per_cpu.cpu0 = 1\n", 22, "no value" },
	{ "kernel.trace_evnt = a\n", 7, "trace_event" }, { "kernel.ftrace_fliter = a\n", 7, "ftrace_filter" },
	{ "kernel.trace_trigger = a\n", 23, "EVENT.TRIGGER" }, { "kernel.trace_instance = 'a/b'\n", 25, "a/b" },
	{ "kernel.trace_instance = 'a^b'\n", 25, "flag" }, { "kernel.kprobe_event = 'vfs_read'\n", 23, "vfs_read" },
};

static void put_step(const struct boot_step *step, struct buf *out)
{
	buf_puts(out, acts[step->act]);
	if (step->instance)
		buf_printf(out, " [%s]", step->instance);
	if (step->system || step->event)
		buf_printf(out, " %s%s%s", step->system ? step->system : "", step->event ? "/" : "", step->event ? step->event : "");
	if (step->file)
		buf_printf(out, " %s", step->file);
	if (step->act == BOOT_OPTION || step->act == BOOT_EVENT)
		buf_puts(out, step->on ? " +" : " -");
	if (step->text)
		buf_printf(out, " <%s>", step->text);
	buf_putc(out, '|');
}

static void check_good(const struct good *test)
{
	struct boot_profile profile;
	struct boot_config *config;
	struct buf steps = BUF_INIT;
	struct err err = ERR_INIT;

	CHECK(!boot_config_parse(&config, test->text, strlen(test->text), true, &err), "%s: %s", test->text, err.text);
	CHECK(!boot_profile_make(&profile, config, &err), "%s: %s", test->text, err.text);
	buf_puts(&steps, "");
	for (size_t i = 0; i < profile.n; i++)
		put_step(&profile.steps[i], &steps);
	CHECK(!strcmp(steps.data, test->steps), "%s are the steps\n%s and not\n%s", test->text, steps.data, test->steps);
	boot_profile_fini(&profile);
	boot_config_free(config);
	buf_fini(&steps);
}

static void check_bad(const struct bad *test)
{
	struct boot_profile profile;
	struct boot_config *config;
	struct err err = ERR_INIT;

	CHECK(!boot_config_parse(&config, test->text, strlen(test->text), true, &err), "%s: %s", test->text, err.text);
	CHECK(boot_profile_make(&profile, config, &err), "%s is taken", test->text);
	CHECK(err.pos == test->pos && strstr(err.text, test->word), "%s is refused at %d: %s", test->text, err.pos, err.text);
	boot_config_free(config);
}

/* As files show them, by keys. */
static const struct hist {
	const char *text;
	const char *keys;	/* NULL: cannot be */
} hists[] = {
	{ "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048", "keys = pid\n" },
	{ "hist:keys=a,b.hex:vals=hitcount,c:sort=c.descending,a:size=64:name=n if x == \"y\"",
	  "keys = a, b.hex\nvalues = hitcount, c\nsort = c.descending, a\nsize = 64\nname = n\nfilter = 'x == \"y\"'\n" },
	{ "hist:keys=p:vals=hitcount:ts=common_timestamp.usecs,q=(a+b)*2:sort=hitcount:size=2048:clock=global:pause",
	  "keys = p\nvar.ts = common_timestamp.usecs\nvar.q = \"(a+b)*2\"\npause\n" },
	{ "hist:keys=p:onmatch(s.e).lat($d,p):onmax($d).save(a,b):onchange($x).snapshot()",
	  "keys = p\nonmatch.event = s.e\nonmatch.trace = lat, \"$d\", p\nonmax.var = \"$d\"\nonmax.save = a, b\nonchange.var = \"$x\"\nonchange.snapshot\n" },
	{ "hist:keys=p:onmatch(s.e).trace(lat,$d):onmatch(s.f).none()",
	  "keys = p\nonmatch.1.event = s.e\nonmatch.1.trace = lat, \"$d\"\nonmatch.2.event = s.f\nonmatch.2.trace = none\n" },
	{ "hist:keys=p:nohitcount", NULL }, { "hist:keys=p:clock=mono", NULL }, { "hist:vals=p", NULL }, { "traceoff", NULL },
	{ "hist:keys=p:onmax($d).save(", NULL }, { "hist:keys=p if x == \"'\" || y == '#'", NULL },
};

static void check_hist(const struct hist *test)
{
	struct buf keys = BUF_INIT;
	bool said;

	buf_puts(&keys, "");
	said = boot_hist_keys(test->text, "", &keys);
	CHECK(said == (test->keys != NULL), "%s is %s by keys", test->text, said ? "said" : "not said");
	CHECK(!strcmp(keys.data, said ? test->keys : ""), "%s is by keys\n%s", test->text, keys.data);
	buf_fini(&keys);
}

static void check_values(void)
{
	static const char *const values[][2] = {
		{ "plain.word-1", "plain.word-1" }, { "", "\"\"" }, { "a b", "\"a b\"" }, { "say \"x\"", "'say \"x\"'" },
		{ "it's", "\"it's\"" }, { "it's \"x\"", "it's \"x\"" }, { "it's \"x\",", NULL }, { "'\"", NULL }, { "caf\303\251", NULL },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct buf out = BUF_INIT;
		bool said = boot_put_value(values[i][0], &out);

		CHECK(said == (values[i][1] != NULL), "%s", values[i][0]);
		CHECK(!said || !strcmp(out.data, values[i][1]), "%s is said as %s", values[i][0], out.data);
		buf_fini(&out);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check_good(&good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(&bad[i]);
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++)
		check_hist(&hists[i]);
	check_values();
	return 0;
}
