/*
 * control/readme: the tree's README. Tools look in it for words that tell what works, so it is made from the table of
 * files that there are.
 */
#include "control/table.h"

#define COLUMN 36

/* A pattern as people write it: events/<system>/<event>/format. */
static size_t put_path(struct buf *out, const char *path)
{
	size_t start = out->len;
	int star = 0;

	for (; *path; path++) {
		if (*path == '*')
			buf_puts(out, star++ ? "<event>" : "<system>");
		else if (*path == '#')
			buf_puts(out, "<N>");
		else if (*path == '@')
			buf_puts(out, "<option>");
		else
			buf_putc(out, *path);
	}
	return out->len - start;
}

#if defined(__x86_64__)
static const char functions[] =
	"\nfunctions: lines of set_ftrace_filter, set_ftrace_notrace, set_graph_function, set_graph_notrace\n"
	"  accepts: func_full_name or glob-matching-pattern (* ? []), or N: that one of available_filter_functions\n"
	"  ! before it takes functions out\n"
	"  [!]<function>:mod:<module>  of that file alone, whether a program has it already or not\n"
	"  set_ftrace_filter also: [!]<function>:<command>[:<count>]\n"
	"    traceon, traceoff, stacktrace, snapshot, enable_event:<system>:<event>, disable_event:<system>:<event>\n";
#else
static const char functions[] = "";
#endif

static const char hooks[] =
	"\nevents/<system>/<event>/filter: <field> <op> <value>, with && || ! ( ); == != < <= > >= & ~ (a glob), CPUS{0-3}\n"
	"\nevents/<system>/<event>/trigger: <trigger>[:<count>][ if <filter>]\n"
	"  traceon, traceoff, snapshot, stacktrace\n"
	"  enable_event:<system>:<event>, disable_event:<system>:<event>\n"
	"  enable_hist:<system>:<event>, disable_hist:<system>:<event>\n"
	"  hist:keys=<field1[,field2,...]>[:values=<field1[,field2,...]>]\n"
	"    [:<var1>=<field|var_ref|numeric_literal>[,<var2>=...]]\n"
	"    [:sort=<field1[,field2]>][:size=<rows>][:clock=<clock>][:name=<name>][:nohitcount]\n"
	"    [:pause][:continue][:clear][:<handler>.<action>]\n"
	"    A <field> can be any field, or the special string 'common_stacktrace'; hitcount, common_timestamp,\n"
	"    common_cpu; with .hex .sym .sym-offset .execname .syscall .log2 .buckets=<n> .usecs .stacktrace\n"
	"    .percent .graph .quantiles .string\n"
	"    handlers: onmatch(<system>.<event>), onmax(var), onchange(var)\n"
	"    actions: trace(<synthetic_event>,<param>,...), save(<field>,...), snapshot()\n"
	"\nsynthetic_events:\n"
	"  echo '<name> <type> <field>[; <type> <field>]...' >> synthetic_events\n"
	"  echo 'stacks int pid; long[] stack' >> synthetic_events\n"
	"  echo '!<name>' >> synthetic_events\n"
	"\ndynamic_events:\n"
	"  Create/append/remove/show events that are made here; kprobe_events has those of functions, uprobe_events those of files\n"
	"  s:[synthetic/]<name> <type> <field>[; <type> <field>]...\n"
	"  e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>] [if <filter>]\n"
	"  t[:[<group>/][<event>]] <tracepoint> [<args>]\n"
	"  -:[<group>/][<event>]\n";

static const char fetches[] =
	"  args: <name>=fetcharg[:type]\n"
	"  fetcharg: %<register>, @<address>, @+<file offset>,\n"
	"            $stack<index>, $stack, $retval, $comm, $arg<N>,\n"
	"            <argname>, $arg*, $<field> of an e,\n"
	"            +|-<offset>(<fetcharg>) or +|-u<offset>(<fetcharg>), \\imm-value, \\\"imm-string\"\n"
	"  type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, ustring, symbol,\n"
	"        b<bit-width>@<bit-offset>/<container-size>, <type>\\[<array-size>\\]\n";

#if defined(__x86_64__)
static const char probes[] =
	"  p[:[<group>/][<event>]] <place> [<args>]\n"
	"  r[maxactive][:[<group>/][<event>]] <place> [<args>]\n"
	"  f[:[<group>/][<event>]] <func-name>[%return] [<args>]\n"
	"  place: [<module>:]<symbol>[+<offset>]\n"
	"  place (kretprobe): [<module>:]<symbol>[+<offset>]%return\n"
	"  place (uprobe): <path>:<offset>[%return][(ref_ctr_offset)]\n"
	"  kernel return probes support: arguments as they were at entry\n";
#else
static const char probes[] = "";
#endif

int node_readme_read(struct node_request *request, struct err *err)
{
	struct buf *out = &request->out;
	const struct node *node;

	(void)err;
	buf_puts(out, "Tracing by files:\n\n"
		      "  echo 1 > events/enable; cat trace_pipe\n\n");
	for (uint32_t i = 0; (node = node_at(i)); i++) {
		size_t width = put_path(out, node->path);

		buf_printf(out, "%*s%s\n", width < COLUMN ? (int)(COLUMN - width) : 1, "", node->what);
	}
	buf_puts(out, "instances/<name>                    mkdir makes a buffer of its own, with a tree "
		      "like this one; rmdir removes it\n"
		      "remotes/<remote>                    what firmware or a hypervisor records, `ringside remote add` makes one: "
		      "tracing_on, buffer_size_kb, trace, trace_pipe, per_cpu, events\n");
	buf_puts(out, functions);
	buf_puts(out, hooks);
	buf_puts(out, probes);
	buf_puts(out, fetches);
	return 0;
}
