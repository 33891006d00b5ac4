/*
 * Files about functions: which there are, which are chosen, what they set off, and the tracers that go by it. The functions are
 * this program's own, which the directory is told of.
 */
#include "control/program.h"

#include <limits.h>

#include "control/hooks.h"
#include "control/plans.h"
#include "control/poke.h"
#include "control/space.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

#define ALL "#### all functions enabled ####\n"
#define NONE "#### no functions disabled ####\n"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

int traced_alpha(int n);
int traced_beta(int n);
int traced_gamma(int n);

static volatile int sink;

NOINLINE int traced_alpha(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
	return sink;
}

NOINLINE int traced_beta(int n)
{
	for (int i = 0; i < n; i++)
		sink -= i * n;
	return traced_alpha(n) + sink;
}

NOINLINE int traced_gamma(int n)
{
	for (int i = 0; i < n; i++)
		sink ^= i + n;
	return traced_beta(n) - sink;
}

static char module[NAME_MAX + 1];

static void bring(struct control *control)
{
	struct err err = ERR_INIT;
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(len > 0, "%s", strerror(errno));
	path[len] = '\0';
	CHECK(!control_plans_bring(control, path, &err), "%s", err.text);
	snprintf(module, sizeof(module), "%s", strrchr(path, '/') + 1);
}

static void check_numbers(struct control *control)
{
	static const char *const files[] = { "max_graph_depth", "tracing_thresh", "function_profile_enabled" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		room_expect(control, files[i], "0\n");
		room_write(control, files[i], "x", -EINVAL);
		room_write(control, files[i], "", -EINVAL);
		room_write(control, files[i], "-1", -EINVAL);
		room_write(control, files[i], "99999999999999999999", -ERANGE);
		room_write(control, files[i], "1\n", 0);
		room_expect(control, files[i], "1\n");
	}
	room_write(control, "tracing_thresh", "1500", 0);
	CHECK(!control_refresh(control, NULL) && control->state.buffers[0].thresh == 1500000, "no nanoseconds");
	room_write(control, "tracing_thresh", "18446744073709551615", -ERANGE);
	room_write(control, "max_graph_depth", "4294967296", -ERANGE);
	room_write(control, "function_profile_enabled", "7", 0);
	room_expect(control, "function_profile_enabled", "1\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		room_write(control, files[i], "0", 0);
}

static void check_threads(struct control *control)
{
	static const char *const files[] = { "set_ftrace_pid", "set_ftrace_notrace_pid" };

	for (size_t i = 0; i < 2; i++) {
		room_expect(control, files[i], "no pid\n");
		room_write(control, files[i], "12 7", 0);
		room_add(control, files[i], "9", 0);
		room_expect(control, files[i], "7\n9\n12\n");
		room_add(control, files[i], "x", -EINVAL);
		room_expect(control, files[i], "7\n9\n12\n");
	}
	room_expect(control, "set_event_pid", "");
	room_write(control, "set_ftrace_pid", "", 0);
	room_expect(control, "set_ftrace_pid", "no pid\n");
	room_expect(control, "set_ftrace_notrace_pid", "7\n9\n12\n");
	room_write(control, "set_ftrace_notrace_pid", "", 0);
}

static void check_formats(struct control *control)
{
	room_expect_part(control, "events/ftrace/function/format", "name: function\nID: 1\n", true);
	room_expect_part(control, "events/ftrace/function/format",
			 "print fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_entry/format",
			 "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_exit/format",
			 "\tfield:unsigned long retval;\toffset:16;\tsize:8;\tsigned:0;\n", true);
	room_expect_part(control, "events/ftrace/funcgraph_exit/format",
			 "\tfield:unsigned long long rettime;\toffset:40;\tsize:8;\tsigned:0;\n", true);
}

#if defined(__x86_64__)

/* The number of a function's line in a file, counted from 1. */
static int line_of(struct control *control, const char *path, const char *name)
{
	char *text = room_read(control, path), *save;
	int n = 0, at = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		n++;
		if (!at && !strcmp(line, name))
			at = n;
	}
	free(text);
	return at;
}

static void check_available(struct control *control)
{
	int alpha = line_of(control, "available_filter_functions", "traced_alpha");
	char number[32], *text, *at;
	unsigned long long address;
	int n;

	CHECK(alpha, "a function of the program is not there");
	CHECK(!line_of(control, "available_filter_functions", "no_such_function"), "another one is");
	text = room_read(control, "available_filter_functions_addrs");
	at = strstr(text, " traced_alpha\n");
	CHECK(at, "no address: %.200s", text);
	while (at > text && at[-1] != '\n')
		at--;
	CHECK(sscanf(at, "%llx traced_alpha", &address) == 1 && address >> 62 == 1, "%.60s", at);
	free(text);
	text = room_read(control, "dyn_ftrace_total_info");
	CHECK(sscanf(text, "%d pages:%*d groups: %*d", &n) == 1 && n >= alpha, "%s", text);
	free(text);
	room_expect(control, "enabled_functions", "");
	snprintf(number, sizeof(number), "%d", alpha);
	room_write(control, "set_ftrace_filter", number, 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\n");
	room_write(control, "set_ftrace_filter", "0", -EINVAL);
	room_write(control, "set_ftrace_filter", "99999999", -EINVAL);
	room_expect(control, "set_ftrace_filter", "traced_alpha\n");
	room_write(control, "set_ftrace_filter", "", 0);
}

/* Both files alike, but for what an empty one says. */
static void check_patterns(struct control *control, const char *path, const char *empty)
{
	char text[2000];

	room_expect(control, path, empty);
	room_write(control, path, "traced_*", 0);
	room_expect(control, path, "traced_alpha\ntraced_beta\ntraced_gamma\n");
	room_add(control, path, "!traced_beta", 0);
	room_expect(control, path, "traced_alpha\ntraced_gamma\n");
	room_add(control, path, "traced_?eta\n", 0);
	room_expect(control, path, "traced_alpha\ntraced_beta\ntraced_gamma\n");
	room_write(control, path, "traced_[ab]*", 0);
	room_expect(control, path, "traced_alpha\ntraced_beta\n");
	room_write(control, path, " traced_gamma\ttraced_alpha \n", 0);
	room_expect(control, path, "traced_alpha\ntraced_gamma\n");
	/* All or nothing of one writing. */
	room_add(control, path, "traced_beta no_such_function", -EINVAL);
	room_write(control, path, "no_such_function", -EINVAL);
	room_add(control, path, "!no_such_function", -EINVAL);
	room_add(control, path, "!", -EINVAL);
	room_add(control, path, "", 0);
	room_add(control, path, " \n", 0);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	room_add(control, path, text, -EINVAL);
	room_expect(control, path, "traced_alpha\ntraced_gamma\n");
	/* When nothing is left there is no set. */
	room_add(control, path, "!traced_*", 0);
	room_expect(control, path, empty);
	CHECK(!control->state.nfuncs, "%u lines are left", control->state.nfuncs);
}

static void check_first_out(struct control *control)
{
	room_write(control, "set_ftrace_filter", "!traced_alpha", 0);
	room_expect(control, "set_ftrace_filter", ALL);
	CHECK(!control->state.nfuncs, "what does nothing is kept");
	for (int i = 0; i < 100; i++) {
		room_add(control, "set_ftrace_filter", "traced_alpha traced_beta", 0);
		room_add(control, "set_ftrace_filter", "!traced_alpha", 0);
	}
	room_expect(control, "set_ftrace_filter", "traced_beta\n");
	CHECK(control->state.nfuncs == 2, "%u lines for the same", control->state.nfuncs);
	room_write(control, "set_ftrace_filter", "", 0);
}

static void check_modules(struct control *control)
{
	char line[400];

	snprintf(line, sizeof(line), "traced_a*:mod:%s", module);
	room_write(control, "set_ftrace_filter", line, 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\n");
	/* Of a file that is still to come. */
	room_add(control, "set_ftrace_filter", "open*:mod:libnever.so", 0);
	room_add(control, "set_ftrace_filter", ":mod:libnone.so*", 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\nopen*:mod:libnever.so\n*:mod:libnone.so*\n");
	room_add(control, "set_ftrace_filter", "!traced_alpha", 0);
	room_expect(control, "set_ftrace_filter", "open*:mod:libnever.so\n*:mod:libnone.so*\n");
	room_add(control, "set_ftrace_filter", "!open*:mod:libnever.so", 0);
	room_add(control, "set_ftrace_filter", "!open*:mod:libnever.so", -EINVAL);
	room_add(control, "set_ftrace_filter", "!:mod:libnone.so*", 0);
	room_expect(control, "set_ftrace_filter", ALL);
	room_write(control, "set_ftrace_notrace", "open*:mod:libnever.so", 0);
	room_expect(control, "set_ftrace_notrace", "open*:mod:libnever.so\n");
	room_write(control, "set_ftrace_notrace", "", 0);
	room_write(control, "set_ftrace_filter", "x:mod:", -EINVAL);
	room_write(control, "set_ftrace_filter", "x:mod", -EINVAL);
	room_write(control, "set_ftrace_filter", "x:mod:!y", -EINVAL);
	room_write(control, "set_ftrace_filter", "x:mod:y:z", -EINVAL);
	/* In a file that knows no such line it is a name. */
	room_write(control, "set_graph_function", "open*:mod:libnever.so", -EINVAL);
}

static void check_graph(struct control *control, const char *path, const char *empty)
{
	room_expect(control, path, empty);
	room_write(control, path, "traced_beta traced_g*", 0);
	room_expect(control, path, "traced_beta\ntraced_gamma\n");
	room_write(control, path, "no_such_function", -EINVAL);
	room_add(control, path, "!traced_alpha", -EINVAL);
	room_add(control, path, "traced_beta:traceoff", -EINVAL);
	room_expect(control, path, "traced_beta\ntraced_gamma\n");
	room_add(control, path, "!traced_beta", 0);
	room_expect(control, path, "traced_gamma\n");
	room_add(control, path, "!traced_gamma", 0);
	room_expect(control, path, empty);
}

/* `>` is an action, done when something is written or at the end, so that nobody sees all functions between. */
static void check_open(struct control *control)
{
	struct err err = ERR_INIT;
	struct tree_file *file;
	char long_word[1200];

	memset(long_word, 'x', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	room_write(control, "set_ftrace_filter", "traced_alpha", 0);
	file = file_open(control, "set_ftrace_filter", TREE_WRITE | TREE_TRUNC);
	room_expect(control, "set_ftrace_filter", "traced_alpha\n");
	file_write(file, "traced_beta\n", 0);
	room_expect(control, "set_ftrace_filter", "traced_beta\n");
	file_write(file, "traced_gamma\n", 0);
	file_close(file);
	room_expect(control, "set_ftrace_filter", "traced_beta\ntraced_gamma\n");
	file_close(file_open(control, "set_ftrace_filter", TREE_WRITE));
	room_expect(control, "set_ftrace_filter", "traced_beta\ntraced_gamma\n");
	/* A word that a write does not end goes on in the next one, and ends with the file. */
	file = file_open(control, "set_ftrace_filter", TREE_WRITE | TREE_TRUNC);
	file_write(file, "traced_alpha traced_", 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\n");
	file_write(file, "be", 0);
	file_write(file, "ta\ntraced_gam", 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\ntraced_beta\n");
	file_write(file, "ma", 0);
	room_expect(control, "set_ftrace_filter", "traced_alpha\ntraced_beta\n");
	file_close(file);
	room_expect(control, "set_ftrace_filter", "traced_alpha\ntraced_beta\ntraced_gamma\n");
	file = file_open(control, "set_ftrace_filter", TREE_WRITE);
	for (int i = 0; i < 4; i++)
		file_write(file, long_word, i < 3 ? 0 : -EINVAL);
	file_write(file, "!traced_beta", 0);
	file_close(file);
	room_expect(control, "set_ftrace_filter", "traced_alpha\ntraced_gamma\n");
	file = file_open(control, "set_ftrace_filter", TREE_WRITE);
	file_write(file, "no_such_function", 0);
	CHECK(tree_close(file, &err) == -EINVAL && err.text[0], "the last word is not looked at");
	/* As in the kernel: what is refused is not there, what was there is gone. */
	file = file_open(control, "set_ftrace_filter", TREE_WRITE | TREE_TRUNC);
	file_write(file, "no_such_function\n", -EINVAL);
	file_close(file);
	room_expect(control, "set_ftrace_filter", ALL);
	room_expect_part(control, "error_log", "set_ftrace_filter", false);
}

static const struct control_func *act_of(struct control *control, const char *text)
{
	CHECK(!control_refresh(control, NULL), "no state");
	for (uint32_t i = 0; i < control->state.nfuncs; i++)
		if (!strcmp(control->state.funcs[i].text, text))
			return &control->state.funcs[i];
	CHECK(false, "there is no line '%s'", text);
	return NULL;
}

static void check_commands(struct control *control)
{
	static const char path[] = "set_ftrace_filter";
	const struct control_func *line;
	const struct state_buffer *top = &control->state.buffers[0];

	room_add(control, path, "traced_alpha:traceoff", 0);
	room_add(control, path, "traced_[ab]*:traceon:0x10", 0);
	room_add(control, path, "traced_beta:stacktrace traced_gamma:snapshot:2", 0);
	room_expect(control, path, ALL "traced_alpha:traceoff:unlimited\n"
		    "traced_alpha:traceon:count=16\ntraced_beta:traceon:count=16\n"
		    "traced_beta:stacktrace:unlimited\ntraced_gamma:snapshot:count=2\n");
	line = act_of(control, "traced_alpha:traceoff");
	CHECK(line->func.kind == STATE_FUNC_ACT && line->func.act == STATE_FUNC_STORE && line->func.value == 1 &&
	      !line->func.count && line->func.target && line->func.target == top->off, "traceoff");
	line = act_of(control, "traced_[ab]*:traceon");
	CHECK(line->func.act == STATE_FUNC_STORE && !line->func.value && line->func.target == top->off &&
	      control_word(control, line->func.count) == 16, "traceon");
	CHECK(act_of(control, "traced_beta:stacktrace")->func.act == STATE_FUNC_STACK, "stacktrace");
	CHECK(act_of(control, "traced_gamma:snapshot")->func.act == STATE_FUNC_SNAPSHOT && top->side && top->nspares &&
	      top->snapshot.offset, "a snapshot has no place to go to");
	/* What programs do to the words. */
	room_begin(control);
	CHECK(!control_word_change(control, top->off, 1, NULL), "off");
	CHECK(!control_word_change(control, act_of(control, "traced_[ab]*:traceon")->func.count, 3, NULL), "count");
	room_commit(control);
	room_expect(control, "tracing_on", "0\n");
	room_expect_part(control, path, "traced_beta:traceon:count=3\n", true);
	/* The same again is no other one, and its count goes on. */
	room_add(control, path, "traced_[ab]*:traceon:9", 0);
	room_expect_part(control, path, "traced_beta:traceon:count=3\n", true);
	/* They stay when functions go. */
	room_write(control, path, "traced_gamma", 0);
	room_write(control, path, "", 0);
	room_expect_part(control, path, ALL "traced_alpha:traceoff:unlimited\n", true);
	/* Of a pattern one function; what stays has the same count. */
	room_add(control, path, "!traced_alpha:traceon", -EINVAL);
	room_add(control, path, "!traced_alpha:traceon:0", 0);
	room_expect_part(control, path, "traced_alpha:traceon", false);
	room_expect_part(control, path, "traced_beta:traceon:count=3\n", true);
	room_add(control, path, "!traced_alpha:traceoff:0", -EINVAL);
	room_add(control, path, "traced_alpha:stacktrace:5", 0);
	room_add(control, path, "!traced_alpha:stacktrace:count=5", 0);
	room_add(control, path, "!traced_alpha:traceoff !*:traceon:0 !traced_beta:stacktrace !traced_gamma:snapshot:0", 0);
	room_expect(control, path, ALL);
	/* What the word said is what is so now. */
	room_expect(control, "tracing_on", "0\n");
	CHECK(!top->off && !control->state.nfuncs && !control->state.nitems && !top->side, "words are left");
	room_write(control, "tracing_on", "1", 0);
	room_write(control, "snapshot", "0", 0);
}

static void check_event_commands(struct control *control)
{
	static const char path[] = "set_ftrace_filter", enable[] = "events/sched/sched_switch/enable";
	const struct control_func *line;

	room_expect(control, enable, "0\n");
	room_add(control, path, "traced_alpha:enable_event:sched:sched_switch", 0);
	room_add(control, path, "traced_beta:disable_event:sched:sched_switch:1", 0);
	room_expect(control, path, ALL "traced_alpha:enable_event:sched:sched_switch:unlimited\n"
		    "traced_beta:disable_event:sched:sched_switch:count=1\n");
	room_expect(control, enable, "0*\n");
	line = act_of(control, "traced_alpha:enable_event:sched:sched_switch");
	CHECK(line->func.value == 1 && line->func.target == control_soft_word(&control->state, 0, "sched", "sched_switch"),
	      "it switches something else");
	CHECK(!act_of(control, "traced_beta:disable_event:sched:sched_switch")->func.value, "it switches on");
	/* A trigger for the same event: who goes first leaves the word to the other. */
	room_add(control, "events/sched/sched_wakeup/trigger", "enable_event:sched:sched_switch", 0);
	room_add(control, path, "!traced_alpha:enable_event:sched:sched_switch", 0);
	room_add(control, path, "!traced_beta:disable_event:sched:sched_switch:0", 0);
	room_expect(control, path, ALL);
	room_expect(control, enable, "0*\n");
	room_add(control, path, "traced_alpha:enable_event:sched:sched_switch", 0);
	room_add(control, "events/sched/sched_wakeup/trigger", "!enable_event:sched:sched_switch", 0);
	room_expect(control, enable, "0*\n");
	room_begin(control);
	CHECK(!control_word_change(control, control_soft_word(&control->state, 0, "sched", "sched_switch"), 1, NULL), "on");
	room_commit(control);
	room_add(control, path, "!*:enable_event:sched:sched_switch", 0);
	room_expect(control, enable, "1\n");
	room_write(control, enable, "0", 0);
	CHECK(!control->state.nitems && !control->state.nfuncs, "something is left");
}

static void check_bad_commands(struct control *control)
{
	static const char *const bad[] = {
		"traced_alpha:frobnicate", "traced_alpha:traceon:x", "traced_alpha:traceon:-1", "traced_alpha:traceon:1:2",
		"no_such_function:traceon", "traced_alpha:enable_event", "traced_alpha:enable_event:sched",
		"traced_alpha:enable_event:sched:", "traced_alpha:enable_event:no:such",
		"traced_alpha:enable_event:sched:sched_switch:x",
		"!traced_alpha:traceon", "traced_alpha:", "traced_alpha:enable_event:sched:sched_switch:",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		room_add(control, "set_ftrace_filter", bad[i], -EINVAL);
		room_add(control, "set_ftrace_notrace", bad[i], -EINVAL);
	}
	room_add(control, "set_ftrace_filter", "traced_alpha:traceon:99999999999999999999999", -ERANGE);
	room_add(control, "set_ftrace_notrace", "traced_alpha:traceon", -EINVAL);
	room_add(control, "set_graph_notrace", "traced_alpha:traceon", -EINVAL);
	/* Whatever comes before a refusal is not done. */
	room_add(control, "set_ftrace_filter", "traced_alpha:traceon traced_alpha:frobnicate", -EINVAL);
	CHECK(!control_refresh(control, NULL) && !control->state.nfuncs && !control->state.buffers[0].off, "something is left");
}

static void check_tracers(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *pipe;

	room_expect(control, "available_tracers", "function_graph function nop\n");
	room_expect(control, "current_tracer", "nop\n");
	room_write(control, "trace_marker", "before\n", 0);
	room_expect_part(control, "trace", "before", true);
	room_write(control, "current_tracer", "frobnicate", -EINVAL);
	room_write(control, "current_tracer", "", -EINVAL);
	room_write(control, "current_tracer", "nop", 0);
	room_expect_part(control, "trace", "before", true);
	room_write(control, "current_tracer", " function\n", 0);
	room_expect(control, "current_tracer", "function\n");
	room_expect_part(control, "trace", "before", false);
	/* Who reads is not to get records of another tracer. */
	pipe = file_open(other, "trace_pipe", TREE_READ);
	room_write(control, "current_tracer", "function", 0);
	room_write(control, "current_tracer", "function_graph", -EBUSY);
	room_write(control, "current_tracer", "nop", -EBUSY);
	file_close(pipe);
	room_write(control, "current_tracer", "function_graph", 0);
	room_expect(control, "current_tracer", "function_graph\n");
	room_write(control, "current_tracer", "nop", 0);
	control_close(other);
}

static void check_enabled(struct control *control)
{
	room_write(control, "set_ftrace_filter", "traced_*", 0);
	room_expect(control, "enabled_functions", "");
	room_write(control, "current_tracer", "function", 0);
	room_write(control, "set_ftrace_notrace", "traced_beta", 0);
	room_expect(control, "enabled_functions", "traced_alpha (1)           \ntraced_gamma (1)           \n");
	room_mkdir(control, "instances/i", 0);
	room_write(control, "instances/i/set_ftrace_filter", "traced_[bg]*", 0);
	room_write(control, "instances/i/current_tracer", "function_graph", 0);
	room_add(control, "instances/i/set_ftrace_filter", "traced_gamma:stacktrace", 0);
	room_expect(control, "enabled_functions", "traced_alpha (1)           \ntraced_beta (1)           \n"
		    "traced_gamma (3)           \n");
	/* Each has its own. */
	room_expect(control, "set_ftrace_filter", "traced_alpha\ntraced_beta\ntraced_gamma\n");
	room_expect(control, "instances/i/set_ftrace_filter", "traced_beta\ntraced_gamma\ntraced_gamma:stacktrace:unlimited\n");
	room_expect(control, "instances/i/set_ftrace_notrace", NONE);
	room_rmdir(control, "instances/i", 0);
	room_expect(control, "enabled_functions", "traced_alpha (1)           \ntraced_gamma (1)           \n");
	/* One of the same name is a new one. */
	room_mkdir(control, "instances/i", 0);
	room_expect(control, "instances/i/set_ftrace_filter", ALL);
	room_expect(control, "instances/i/current_tracer", "nop\n");
	room_rmdir(control, "instances/i", 0);
	room_write(control, "current_tracer", "nop", 0);
	room_write(control, "set_ftrace_filter", "", 0);
	room_write(control, "set_ftrace_notrace", "", 0);
}

/* Are there plans for system calls here? */
#if defined(__x86_64__) && !defined(__ILP32__)
#define CALLS true
#else
#define CALLS false
#endif

/* Programs that run are disturbed when other functions are to be patched, and for nothing else. */
static void check_told(struct control *control)
{
	static const struct { const char *path, *text; bool told; } steps[] = {
		{ "set_ftrace_filter", "traced_alpha", false }, { "set_graph_function", "traced_gamma", false },
		{ "current_tracer", "function", true }, { "tracing_on", "0", false }, { "buffer_size_kb", "200", false },
		{ "set_ftrace_filter", "traced_beta", true }, { "set_ftrace_notrace", "traced_alpha", true },
		{ "set_ftrace_notrace", "traced_alpha", false }, { "set_graph_function", "traced_beta", false },
		{ "current_tracer", "function_graph", true }, { "set_graph_function", "traced_alpha", true },
		{ "set_ftrace_filter", "", true }, { "set_ftrace_notrace", "", true }, { "set_graph_function", "", true },
		{ "max_graph_depth", "3", false }, { "events/timer/enable", "1", false }, { "events/timer/enable", "0", false },
		/* Processes that begin and end are seen at their calls. */
		{ "events/sched/enable", "1", CALLS }, { "events/sched/enable", "0", CALLS },
		{ "events/sched/sched_switch/enable", "1", false }, { "events/sched/sched_switch/enable", "0", false },
		{ "events/raw_syscalls/enable", "1", CALLS }, { "events/syscalls/enable", "1", false },
		{ "events/raw_syscalls/enable", "0", false }, { "events/syscalls/enable", "0", CALLS },
		{ "current_tracer", "nop", true }, { "set_ftrace_filter", "traced_alpha:traceoff", true },
		{ "set_ftrace_filter", "!traced_alpha:traceoff", true }, { "function_profile_enabled", "1", true },
		{ "set_ftrace_filter", "traced_beta", true }, { "set_graph_function", "traced_beta", true },
		{ "stack_trace_filter", "traced_alpha", false }, { "function_profile_enabled", "0", true },
		{ "set_ftrace_filter", "", false }, { "set_graph_function", "", false },
		{ "stack_tracer_enabled", "1", true }, { "stack_trace_filter", "traced_beta", true },
		{ "stack_max_size", "100", false }, { "stack_tracer_enabled", "0", true },
		{ "stack_trace_filter", "", false }, { "max_graph_depth", "0", false }, { "tracing_on", "1", false },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t before, after;

		CHECK(!control_refresh(control, NULL), "no state");
		before = control_traced(&control->state);
		room_write(control, steps[i].path, steps[i].text, 0);
		CHECK(!control_refresh(control, NULL), "no state");
		after = control_traced(&control->state);
		CHECK((before != after) == steps[i].told, "step %zu: %s <- '%s'", i, steps[i].path, steps[i].text);
	}
	CHECK(!control_traced(&control->state), "something is traced");
}

static void check_options(struct control *control)
{
	room_expect_part(control, "trace_options", "function-trace\nnofunction-fork\n", true);
	room_expect_part(control, "trace_options", "funcgraph", false);
	room_expect_part(control, "trace_options", "func_stack_trace", false);
	room_write(control, "trace_options", "func_stack_trace", -EINVAL);
	room_write(control, "trace_options", "function-fork", 0);
	room_expect(control, "options/function-fork", "1\n");
	room_write(control, "options/function-fork", "0", 0);
	/* A tracer's own have their files in any case. */
	room_expect(control, "options/func_stack_trace", "0\n");
	room_expect(control, "options/funcgraph-cpu", "1\n");
	room_expect(control, "options/sleep-time", "1\n");
	room_write(control, "options/funcgraph-tail", "1", 0);
	room_write(control, "current_tracer", "function", 0);
	room_expect_part(control, "trace_options", "nofunc_stack_trace\n", true);
	room_expect_part(control, "trace_options", "funcgraph", false);
	room_write(control, "trace_options", "func_stack_trace", 0);
	room_expect(control, "options/func_stack_trace", "1\n");
	room_write(control, "current_tracer", "function_graph", 0);
	room_expect_part(control, "trace_options", "func_stack_trace", false);
	room_expect_part(control, "trace_options", "nofuncgraph-overrun\nfuncgraph-cpu\nfuncgraph-overhead\nnofuncgraph-proc\n"
			 "funcgraph-duration\nnofuncgraph-abstime\nfuncgraph-irqs\nfuncgraph-tail\n", true);
	room_expect_part(control, "trace_options", "sleep-time\ngraph-time\n", true);
	room_write(control, "trace_options", "nofuncgraph-tail", 0);
	room_write(control, "current_tracer", "nop", 0);
	room_expect(control, "options/funcgraph-tail", "0\n");
	room_expect(control, "options/func_stack_trace", "1\n");
}

static void check_reset(struct control *control)
{
	struct err err = ERR_INIT;

	room_write(control, "set_ftrace_filter", "traced_alpha traced_beta:traceoff:3", 0);
	room_write(control, "set_ftrace_notrace", "traced_gamma", 0);
	room_write(control, "set_graph_function", "traced_gamma", 0);
	room_write(control, "set_ftrace_pid", "1", 0);
	room_write(control, "max_graph_depth", "3", 0);
	room_write(control, "current_tracer", "function", 0);
	CHECK(!control_reset(control, &err), "%s", err.text);
	room_expect(control, "set_ftrace_filter", ALL);
	room_expect(control, "set_ftrace_notrace", NONE);
	room_expect(control, "set_graph_function", ALL);
	room_expect(control, "set_ftrace_pid", "no pid\n");
	room_expect(control, "max_graph_depth", "0\n");
	room_expect(control, "current_tracer", "nop\n");
	room_expect(control, "options/func_stack_trace", "0\n");
	CHECK(line_of(control, "available_filter_functions", "traced_alpha"), "functions are forgotten");
}

static void check_here(struct control *control)
{
	check_available(control);
	check_patterns(control, "set_ftrace_filter", ALL);
	check_patterns(control, "set_ftrace_notrace", NONE);
	check_first_out(control);
	check_modules(control);
	check_graph(control, "set_graph_function", ALL);
	check_graph(control, "set_graph_notrace", NONE);
	check_open(control);
	check_commands(control);
	check_event_commands(control);
	check_bad_commands(control);
	check_tracers(control);
	check_enabled(control);
	check_told(control);
	check_options(control);
	check_reset(control);
}

#else

/* Where entries cannot be patched there are no functions to choose, and no tracers. */
static void check_here(struct control *control)
{
	room_expect(control, "available_tracers", "nop\n");
	room_write(control, "current_tracer", "function", -EINVAL);
	room_expect(control, "available_filter_functions", "");
	room_write(control, "set_ftrace_filter", "traced_alpha", -EINVAL);
	room_expect_part(control, "trace_options", "func", false);
}

#endif

int main(void)
{
	struct control *control = room_open();

	bring(control);
	check_numbers(control);
	check_threads(control);
	check_formats(control);
	check_here(control);
	control_close(control);
	return traced_gamma(0) == 1;
}
