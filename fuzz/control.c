/*
 * Any paths and texts into the tree, in any order: reads, writes, lists, instances that come and go, files that are open
 * meanwhile. The input is a list of steps:
 *
 *   what (1 byte) | what it needs: a path, a text, a number ...
 *
 *   path   1 byte: one of the tree's, in one of the buffers; or the same with a byte changed, put in or left out; or bytes
 *   text   1 byte: one that some file takes; or bytes
 *   bytes  length (1 byte) | that many
 *
 * After each step: what was refused says why and has changed nothing, the state can be read, and nothing lies anywhere that
 * did not lie there before.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/control.h"
#include "control/hooks.h"
#include "control/plans.h"
#include "control/tree.h"
#include "layout/control.h"
#include "runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const int ringside_no_attach = 1;

#define SLOTS 4
#define STEPS_MAX 64
#define RINGS_MAX (96u << 20)

static const char *const paths[] = {
	"", ".", "events", "events/fuzz", "events/fuzz/event", "events/ftrace", "per_cpu", "per_cpu/cpu0", "options", "instances",
	"README", "available_events", "available_tracers", "buffer_percent", "buffer_size_kb", "buffer_subbuf_size_kb",
	"buffer_total_size_kb", "current_tracer", "error_log", "events/enable", "events/ftrace/print/format",
	"events/header_event", "events/header_page", "events/fuzz/enable", "events/fuzz/event/enable",
	"events/fuzz/event/format", "events/fuzz/event/id", "events/fuzz/event/inject", "events/fuzz/text/inject",
	"free_buffer", "options/overwrite", "options/pause-on-trace", "options/trace_printk_dest", "options/markers",
	"options/event-fork", "options/block", "options/latency-format", "options/disable_on_free", "options/raw",
	"per_cpu/cpu0/buffer_size_kb", "per_cpu/cpu0/snapshot", "per_cpu/cpu0/snapshot_raw", "per_cpu/cpu0/stats",
	"per_cpu/cpu0/trace", "per_cpu/cpu0/trace_pipe", "per_cpu/cpu0/trace_pipe_raw", "printk_formats", "saved_cmdlines",
	"saved_cmdlines_size", "saved_tgids", "set_event", "set_event_notrace_pid", "set_event_pid", "snapshot",
	"timestamp_mode", "trace", "trace_clock", "trace_marker", "trace_marker_raw", "trace_options", "trace_pipe",
	"tracing_cpumask", "tracing_on", "per_cpu/cpu1/trace", "per_cpu/cpu1/buffer_size_kb",
	"available_filter_functions", "available_filter_functions_addrs", "dyn_ftrace_total_info", "enabled_functions",
	"function_profile_enabled", "max_graph_depth", "set_ftrace_filter", "set_ftrace_filter", "set_ftrace_notrace",
	"set_ftrace_notrace_pid", "set_ftrace_pid", "set_graph_function", "set_graph_notrace", "tracing_thresh",
	"options/func_stack_trace", "options/funcgraph-tail", "options/function-fork", "events/ftrace/funcgraph_exit/format",
};

static const char *const buffers[] = { "", "", "", "instances/a/", "instances/b/", "instances/nosuch/" };

static const char *const texts[] = {
	"", "0", "1", "2\n", "-1", "4", "8", "16", "100", "300", "18446744073709551615", "99999999999999999999", "nop", "local",
	"mono", "counter", "x86-tsc", "fuzz:event", "fuzz", "*:*", "!fuzz:*", "fuzz:text *:event", ":", "1 2 3", "4194304",
	"value=1", "value=-1 text=\"x\"", "text='a\\'b' value=0x7f", "text=\"", "nosuch=1", "overwrite", "nooverwrite",
	"pause-on-trace", "noraw", "3", "ffffffff,ffffffff", "0,1", ",", "abcdefgh", "\n", " \t ",
	"function", "function_graph", "qsort", "!qsort", "*", "!*", "q*t", "[pq]sort", ":mod:libc*", "f:mod:x", "!f:mod:x",
	"qsort 3 !qsort", "qsort:traceoff", "qsort:traceon:3", "!qsort:traceon:3", "q*t:stacktrace", "!qsort:stacktrace",
	"qsort:snapshot:0x2", "*:enable_event:fuzz:event", "!qsort:enable_event:fuzz:event", "qsort:disable_event:fuzz:text:7",
	"qsort:mod:", "qsort::",
};

static struct {
	struct control *control;
	struct tree_file *file;
} slots[SLOTS];
static struct control *control;
static char home[64], dir[80];
static uint32_t event_id;

struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t byte(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->at++;
}

static size_t bytes(struct input *input, char *to, size_t room)
{
	size_t n = byte(input);

	n = n < input->left ? n : input->left;
	n = n < room ? n : room;
	memcpy(to, input->at, n);
	input->at += n;
	input->left -= n;
	return n;
}

static void mutate(struct input *input, char *path, size_t room)
{
	size_t len = strlen(path), at = byte(input) % (len + 1);
	uint8_t how = byte(input), with = byte(input);

	with = with ? with : '/';
	if (how % 3 == 0 && at < len)
		path[at] = (char)with;
	else if (how % 3 == 1 && at < len)
		memmove(path + at, path + at + 1, len - at);
	else if (len + 2 < room) {
		memmove(path + at + 1, path + at, len - at + 1);
		path[at] = (char)with;
	}
}

static void take_path(struct input *input, char *path, size_t room)
{
	uint8_t which = byte(input);

	if (which >= 250) {
		size_t n = bytes(input, path, room - 1);

		path[n] = '\0';
		return;
	}
	snprintf(path, room, "%s%s", buffers[byte(input) % (sizeof(buffers) / sizeof(buffers[0]))],
		 paths[which % (sizeof(paths) / sizeof(paths[0]))]);
	if (which >= 220)
		mutate(input, path, room);
}

static size_t take_text(struct input *input, char *text, size_t room)
{
	uint8_t which = byte(input);

	if (which >= 200)
		return bytes(input, text, room);
	which %= sizeof(texts) / sizeof(texts[0]);
	memcpy(text, texts[which], strlen(texts[which]));
	return strlen(texts[which]);
}

static void die(const char *what, const char *path, int r, const struct err *err)
{
	fprintf(stderr, "control: %s '%s': %d, %s\n", what, path, r, err ? err->text : "");
	abort();
}

static uint64_t published(void)
{
	uint64_t word = 0;

	if (pread(control->dir.fd[SEGMENT_CONTROL], &word, sizeof(word), offsetof(struct control_head, published)) !=
	    sizeof(word))
		abort();
	return word;
}

/* Refusals have a code that fits and words; files that are followed have nothing to say about nothing. */
static void check_refusal(const char *what, const char *path, int r, const struct err *err)
{
	if (r < 0 && r != -EAGAIN && (!err->text[0] || err->code != r))
		die(what, path, r, err);
}

static void check_state(const char *path)
{
	struct err err = ERR_INIT;

	if (control_refresh(control, &err))
		die("the state after", path, 0, &err);
}

/* Are there exactly these names? */
static void check_names(const char *path, const char *allowed)
{
	DIR *names = opendir(path);
	struct dirent *name;

	if (!names)
		abort();
	while ((name = readdir(names))) {
		char word[300];

		snprintf(word, sizeof(word), " %s ", name->d_name);
		if (strcmp(name->d_name, ".") && strcmp(name->d_name, "..") && !strstr(allowed, word))
			die("there is", name->d_name, 0, NULL);
	}
	closedir(names);
}

static void emit(int n)
{
	uint64_t record[8] = { 0 };

	while (n--)
		runtime_write(event_id, record, 12);
}

/* ---- the steps ---- */

static void step_write(struct input *input, const char *path)
{
	unsigned int flags = byte(input) & TREE_TRUNC;
	struct err err = ERR_INIT;
	char text[300];
	size_t len = take_text(input, text, sizeof(text));
	uint64_t before = published();
	int r = tree_write(control, path, text, len, flags, &err);

	check_refusal("write", path, r, &err);
	if (r < 0 && !flags && published() != before)
		die("refused, and something has changed by", path, r, &err);
}

static int refuse_some(void *ctx, const void *from, size_t len)
{
	(void)from;
	*(size_t *)ctx += len;
	return *(size_t *)ctx > 10000 ? -EPIPE : 0;
}

static void step_read(const char *path, bool pump)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	size_t sum = 0;
	int r = pump ? tree_pump(control, path, refuse_some, &sum, &err) : tree_read(control, path, &out, &err);

	if (r != -EPIPE)
		check_refusal("read", path, r, &err);
	if (out.len && out.data[out.len])
		die("read", path, r, &err);
	buf_fini(&out);
}

static void step_look(const char *path)
{
	struct err err = ERR_INIT, again = ERR_INIT;
	struct tree_stat stat = { 0 };
	struct buf out = BUF_INIT;
	int r = tree_stat(control, path, &stat, &err), listed = tree_list(control, path, &out, &again);

	check_refusal("stat", path, r, &err);
	check_refusal("list", path, listed, &again);
	if ((!r && stat.is_dir) != !listed)
		die("a directory and none", path, r, &again);
	buf_fini(&out);
}

static void step_instance(const char *path, bool make)
{
	struct err err = ERR_INIT;
	uint64_t before = published();
	int r = make ? tree_mkdir(control, path, &err) : tree_rmdir(control, path, &err);

	check_refusal(make ? "mkdir" : "rmdir", path, r, &err);
	if ((r != 0) != (published() == before))
		die("changed by", path, r, &err);
}

static void step_open(struct input *input, const char *path)
{
	unsigned int slot = byte(input) % SLOTS, flags = byte(input) % 8;
	struct err err = ERR_INIT;
	int r;

	if (slots[slot].file)
		return;
	r = tree_open(&slots[slot].file, slots[slot].control, path, flags, &err);
	check_refusal("open", path, r, &err);
	if (r)
		slots[slot].file = NULL;
}

static void step_file(struct input *input)
{
	struct tree_file *file = slots[byte(input) % SLOTS].file;
	uint8_t what = byte(input);
	struct err err = ERR_INIT;
	char some[6000];
	size_t len;
	ssize_t n;

	if (!file)
		return;
	if (what & 1) {
		len = what == 255 ? sizeof(some) : (size_t)byte(input) * 2;
		n = tree_file_read(file, some, len, (uint64_t)byte(input) * byte(input), &err);
		if (n > (ssize_t)len)
			abort();
		check_refusal("read from", "a file", (int)n, &err);
	} else if (what & 2) {
		len = take_text(input, some, 300);
		n = tree_file_write(file, some, len, NULL, &err);
		if (n > (ssize_t)len)
			abort();
		check_refusal("write to", "a file", (int)n, &err);
	} else {
		n = tree_wait(file, 0, &err);
		check_refusal("wait for", "a file", (int)n, &err);
		(void)tree_ready(file);
	}
}

static void step_close(unsigned int slot)
{
	struct err err = ERR_INIT;

	if (slots[slot].file)
		check_refusal("close", "a file", tree_close(slots[slot].file, &err), &err);
	slots[slot].file = NULL;
}

static void step(struct input *input)
{
	uint8_t what = byte(input);
	char path[700];

	path[0] = '\0';
	if (what % 16 < 11)
		take_path(input, path, sizeof(path));
	switch (what % 16) {
	case 0: case 1: case 2:
		step_write(input, path);
		break;
	case 3: case 4:
		step_read(path, what & 16);
		break;
	case 5:
		step_look(path);
		break;
	case 6: case 7:
		step_instance(what & 16 ? "instances/a" : what & 32 ? "instances/b" : path, what % 16 == 6);
		break;
	case 8: case 9: case 10:
		step_open(input, path);
		break;
	case 11: case 12: case 13:
		step_file(input);
		break;
	case 14:
		step_close(byte(input) % SLOTS);
		break;
	default:
		emit(byte(input) * 4);
	}
	check_state(path);
}

/* ---- before and after ---- */

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", home);
	if (system(command))
		return;
}

static void bring(const char *name, const char *body, uint32_t *id)
{
	const uint32_t *hint;

	if (runtime_event_intern("fuzz", name, body, strlen(body), 0, id, &hint))
		abort();
}

/* So that there are functions: those of a small program and what it needs. */
static void bring_functions(void)
{
	struct err err = ERR_INIT;

	if (control_plans_bring(control, "/bin/true", &err))
		die("bring", "/bin/true", 0, &err);
}

static void set_up(void)
{
	struct rlimit limit = { RINGS_MAX, RINGS_MAX };
	struct err err = ERR_INIT;
	uint32_t id;

	snprintf(home, sizeof(home), "/dev/shm/ringside-fuzz.%d", (int)getpid());
	snprintf(dir, sizeof(dir), "%s/trace", home);
	atexit(clean_up);
	/* Sizes that no machine has become errors here and not other people's. */
	signal(SIGXFSZ, SIG_IGN);
	if (mkdir(home, 0700) || setrlimit(RLIMIT_FSIZE, &limit) ||
	    control_open(&control, dir, true, &err) || runtime_attach(dir)) {
		fprintf(stderr, "no directory to fuzz: %s\n", err.text);
		exit(1);
	}
	for (int i = 0; i < SLOTS; i++)
		if (control_again(&slots[i].control, control, &err))
			abort();
	bring("event", "\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->value\n", &event_id);
	bring("text", "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n"
		      "\tfield:u8 value;\toffset:12;\tsize:1;\tsigned:0;\n\nprint fmt: \"%s\", __get_str(text)\n", &id);
	bring_functions();
}

/* What each input finds. NULL: the file takes what it shows. */
static struct {
	const char *path, *text;
	char *sound;
} kept[] = {
	{ "current_tracer", "nop", NULL },	{ "max_graph_depth", "0", NULL }, { "tracing_thresh", "0", NULL },
	{ "function_profile_enabled", "0", NULL }, { "set_ftrace_pid", "", NULL }, { "set_ftrace_notrace_pid", "", NULL },
	{ "set_event", "fuzz:event", NULL },	{ "set_event_pid", "", NULL },	{ "set_event_notrace_pid", "", NULL },
	{ "buffer_subbuf_size_kb", "4", NULL }, { "trace_clock", "local", NULL }, { "buffer_size_kb", "16", NULL },
	{ "tracing_on", "1", NULL },		{ "buffer_percent", "50", NULL }, { "saved_cmdlines_size", NULL, NULL },
	{ "tracing_cpumask", NULL, NULL },	{ "trace_options", NULL, NULL },
};

static char *text_of(const char *path)
{
	struct err err = ERR_INIT;
	struct buf now = BUF_INIT;
	int r = tree_read(control, path, &now, &err);

	if (r)
		die("read", path, r, &err);
	buf_puts(&now, "");
	return buf_take(&now);
}

/* Line by line: options are set one at a time. */
static void must_write(const char *path, const char *text)
{
	struct err err = ERR_INIT;

	do {
		size_t len = strcspn(text, "\n");
		int r = tree_write(control, path, text, len, TREE_TRUNC, &err);

		if (r)
			die("put back", path, r, &err);
		text += len + (text[len] == '\n');
	} while (*text);
}

/* Commands stay in their file when that is emptied: all lines go at once. */
static void drop_functions(void)
{
	struct control_items *items = NULL;
	struct err err = ERR_INIT;
	int r;

	if (!control->state.nfuncs)
		return;
	r = control_begin(control, &err);
	if (!r)
		r = control_items_open(&items, control, &err);
	if (!r) {
		control_state_funcs_clear(&control->state, 0, 0);
		r = control_fold(items, &err);
	}
	control_items_close(items);
	r = control_end(control, r, &err);
	if (r)
		die("drop", "functions", r, &err);
}

/* Most inputs leave most as it was, and a change takes its time. */
static void put_back_files(void)
{
	drop_functions();
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		char *now = text_of(kept[i].path);

		if (strcmp(now, kept[i].sound))
			must_write(kept[i].path, kept[i].text ? kept[i].text : kept[i].sound);
		free(now);
	}
	if (control->state.buffers[0].snapshot.offset)
		must_write("snapshot", "0");
	free(text_of("trace_pipe"));
}

/* The same beginning for each input; rings are kept where they can be, since a clock takes its time to be made. */
static void put_back(void)
{
	struct buf names = BUF_INIT;
	char *name, *save, path[128];
	struct err err = ERR_INIT;

	for (unsigned int i = 0; i < SLOTS; i++)
		step_close(i);
	if (tree_list(control, "instances", &names, &err))
		die("list", "instances", 0, &err);
	for (name = names.data ? strtok_r(names.data, "/\n", &save) : NULL; name; name = strtok_r(NULL, "/\n", &save)) {
		snprintf(path, sizeof(path), "instances/%s", name);
		if (tree_rmdir(control, path, &err))
			die("rmdir", path, 0, &err);
	}
	buf_fini(&names);
	put_back_files();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (!control) {
		set_up();
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
			if (kept[i].text)
				must_write(kept[i].path, kept[i].text);
			kept[i].sound = text_of(kept[i].path);
		}
	}
	for (int i = 0; input.left && i < STEPS_MAX; i++)
		step(&input);
	put_back();
	check_names(home, " trace ");
	check_names(dir, " control registry rings tables errors plans ");
	return 0;
}
