/*
 * cmd/defaults: see defaults.h.
 */
#include "cmd/defaults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Those of the kernel: of some it depends on the kind of buffer. */
static const struct {
	const char *name;
	bool on;
	bool any;	/* belongs to the one buffer that has it, so neither is wrong */
} options[] = {
	{ "print-parent", true, false },
	{ "sym-offset", false, false },
	{ "sym-addr", false, false },
	{ "verbose", false, false },
	{ "raw", false, false },
	{ "hex", false, false },
	{ "bin", false, false },
	{ "block", false, false },
	{ "fields", false, false },
	{ "trace_printk", true, false },
	{ "annotate", true, false },
	{ "userstacktrace", false, false },
	{ "sym-userobj", false, false },
	{ "printk-msg-only", false, false },
	{ "context-info", true, false },
	{ "latency-format", false, false },
	{ "record-cmd", true, false },
	{ "record-tgid", false, false },
	{ "overwrite", true, false },
	{ "disable_on_free", false, false },
	{ "irq-info", true, false },
	{ "markers", true, false },
	{ "event-fork", false, false },
	{ "trace_printk_dest", true, true },
	{ "copy_trace_marker", true, true },
	{ "pause-on-trace", false, false },
	{ "hash-ptr", true, false },
	{ "function-trace", true, false },
	{ "function-fork", false, false },
	{ "display-graph", false, false },
	{ "stacktrace", false, false },
	{ "branch", false, false },
	/* Of tracers. */
	{ "func_stack_trace", false, false },
	{ "func-args", false, false },
	{ "func-no-repeats", false, false },
	{ "funcgraph-overrun", false, false },
	{ "funcgraph-cpu", true, false },
	{ "funcgraph-overhead", true, false },
	{ "funcgraph-proc", false, false },
	{ "funcgraph-duration", true, false },
	{ "funcgraph-abstime", false, false },
	{ "funcgraph-irqs", true, false },
	{ "funcgraph-tail", false, false },
	{ "funcgraph-args", false, false },
	{ "funcgraph-retval", false, false },
	{ "funcgraph-retval-hex", false, false },
	{ "funcgraph-retaddr", false, false },
	{ "sleep-time", true, false },
	{ "graph-time", true, false },
	{ "blk_classic", false, false },
	{ "blk_cgroup", false, false },
	{ "blk_cgname", false, false },
	{ "test_nop_accept", false, false },
};

bool defaults_option(const char *line, char *other, size_t size)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		bool on = !strcmp(line, options[i].name);

		if (!on && (strncmp(line, "no", 2) || strcmp(line + 2, options[i].name)))
			continue;
		if (on == options[i].on || options[i].any)
			return true;
		snprintf(other, size, "%s%s", options[i].on ? "" : "no", options[i].name);
		return false;
	}
	return true;
}

int defaults_cpumask(struct source *source, struct buf *mask)
{
	struct buf names = BUF_INIT;
	int last = -1, r;

	r = source_list(source, "per_cpu", &names, NULL);
	for (const char *at = r ? NULL : names.data; at; at = strchr(at, '\n')) {
		int cpu;

		at += *at == '\n';
		if (!strncmp(at, "cpu", 3) && sscanf(at + 3, "%d", &cpu) == 1 && cpu > last)
			last = cpu;
	}
	buf_fini(&names);
	if (last < 0)
		return -ENOENT;
	/* Groups of 32 bits, the first without leading zeros. */
	for (int group = last / 32; group >= 0; group--) {
		int bits = group == last / 32 ? last % 32 + 1 : 32;
		unsigned int word = bits == 32 ? ~0u : (1u << bits) - 1;

		buf_printf(mask, "%s%0*x", group == last / 32 ? "" : ",",
			   group == last / 32 ? (bits + 3) / 4 : 8, word);
	}
	return buf_failed(mask) ? -ENOMEM : 0;
}
