/*
 * Instances: buffers of their own, each with the whole tree. Nothing that is done in one shows in another.
 */
#include "control/program.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "control/buffer.h"
#include "ringside/print.h"

static struct item item, rare;

static char *list(struct control *control, const char *path)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int r = tree_list(control, path, &out, &err);

	CHECK(!r, "%s", err.text);
	buf_puts(&out, "");
	return buf_take(&out);
}

static void expect_list(struct control *control, const char *path, const char *want)
{
	char *names = list(control, path);

	CHECK(!strcmp(names, want), "%s has '%s', not '%s'", path, names, want);
	free(names);
}

static void check_names(struct control *control)
{
	static const struct { const char *path; int want; } cases[] = {
		{ "instances/.hidden", -EINVAL },
		{ "instances/..", -EINVAL },
		{ "instances/a b", -EINVAL },
		{ "instances/a\tb", -EINVAL },
		{ "instances/a\nb", -EINVAL },
		{ "instances/a\x7f", -EINVAL },
		{ "instances/1234567890123456789012345678901234567890123456789012345678901", -EINVAL },
		{ "instances/.", -EPERM },
		{ "instances/", -EPERM },
		{ "instances", -EPERM },
		{ "instances/a/b", -EPERM },
		{ "instances/a/events/new", -EPERM },
		{ "new", -EPERM },
		{ "events/new", -EPERM },
		{ "", -EPERM },
		{ "instances/123456789012345678901234567890123456789012345678901234567890", 0 },
		{ "instances/caf\xc3\xa9", 0 },
		{ "/instances//x-1.y:z/", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		room_mkdir(control, cases[i].path, cases[i].want);
	expect_list(control, "instances",
		    "123456789012345678901234567890123456789012345678901234567890/\ncaf\xc3\xa9/\nx-1.y:z/\n");
	room_mkdir(control, "instances/x-1.y:z", -EEXIST);
	room_rmdir(control, "instances/nosuch", -ENOENT);
	room_rmdir(control, "instances", -EPERM);
	room_rmdir(control, "events", -EPERM);
	room_rmdir(control, "instances/x-1.y:z/events", -EPERM);
	for (size_t i = 15; i < 18; i++)
		room_rmdir(control, cases[i].path, 0);
	expect_list(control, "instances", "");
}

/* Everything that the top has but what is marked as its own. */
static void check_files(struct control *control)
{
	static const char *const top[] = { "README", "available_events", "dynamic_events", "instances/", "remotes/", "printk_formats",
					   "saved_cmdlines", "saved_cmdlines_size", "saved_tgids",
					   "synthetic_events", "available_filter_functions",
					   "available_filter_functions_addrs", "dyn_ftrace_total_info",
					   "enabled_functions", "function_profile_enabled", "max_graph_depth",
					   "tracing_thresh", "stack_max_size", "stack_trace", "stack_trace_filter",
					   "stack_tracer_enabled", "touched_functions", "trace_stat/",
					   "kprobe_events", "kprobe_profile", "uprobe_events", "uprobe_profile" };
	static const char *const top_options[] = { "trace_printk", "printk-msg-only", "record-cmd" };
	struct err err = ERR_INIT;
	char *here, *there, *name, *save;
	struct tree_stat stat;
	char path[128], line[64];

	room_mkdir(control, "instances/a", 0);
	here = list(control, ".");
	there = list(control, "instances/a");
	for (name = strtok_r(here, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		bool own = false;

		for (size_t i = 0; i < sizeof(top) / sizeof(top[0]); i++)
			own |= !strcmp(name, top[i]);
		snprintf(path, sizeof(path), "instances/a/%s", name);
		CHECK(tree_stat(control, path, &stat, &err) == (own ? -ENOENT : 0), "%s is %s", path,
		      own ? "there" : "missing");
		err = (struct err)ERR_INIT;
		CHECK(!strstr(there, name) == own || !strcmp(name, "saved_cmdlines"), "%s in '%s'", name, there);
	}
	free(here);
	free(there);
	for (size_t i = 0; i < sizeof(top_options) / sizeof(top_options[0]); i++) {
		snprintf(path, sizeof(path), "instances/a/options/%s", top_options[i]);
		CHECK(tree_stat(control, path, &stat, NULL) == -ENOENT, "%s is there", path);
		CHECK(!tree_stat(control, path + strlen("instances/a/"), &stat, NULL), "%s is missing", path);
		snprintf(line, sizeof(line), "%s\n", top_options[i]);
		CHECK(count_in(control, "trace_options", line) == 1 &&
		      !count_in(control, "instances/a/trace_options", line), "%s", line);
		room_write(control, "instances/a/trace_options", top_options[i], -EINVAL);
	}
	here = list(control, "events/test");
	expect_list(control, "instances/a/events/test", here);
	free(here);
	room_rmdir(control, "instances/a", 0);
}

/* What is set in one is set there alone; one that is made anew under an old name has nothing of the old. */
static void check_own(struct control *control)
{
	static const struct { const char *file, *text, *after; } cases[] = {
		{ "tracing_on", "0", "0\n" },
		{ "buffer_size_kb", "200", "203\n" },
		{ "buffer_subbuf_size_kb", "8", "8\n" },
		{ "buffer_percent", "7", "7\n" },
		{ "tracing_cpumask", "0", NULL },
		{ "options/overwrite", "0", "0\n" },
		{ "options/markers", "0", "0\n" },
		{ "options/event-fork", "1", "1\n" },
		{ "set_event", "test:item", "test:item\n" },
		{ "events/test/rare/enable", "1", "1\n" },
		{ "set_event_pid", "12 11", "11\n12\n" },
		{ "set_event_notrace_pid", "13", "13\n" },
		{ "current_tracer", "nop", "nop\n" },
	};
	const size_t n = sizeof(cases) / sizeof(cases[0]);
	char path[128], *before[n];

	room_mkdir(control, "instances/a", 0);
	room_mkdir(control, "instances/b", 0);
	for (size_t i = 0; i < n; i++)
		before[i] = room_read(control, cases[i].file);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "instances/a/%s", cases[i].file);
		room_expect(control, path, before[i]);
		room_write(control, path, cases[i].text, 0);
		if (cases[i].after && strcmp(cases[i].file, "buffer_size_kb"))
			room_expect(control, path, cases[i].after);
	}
	room_write(control, "instances/a/trace_clock", "mono", 0);
	CHECK(count_in(control, "instances/a/trace_clock", "[mono]") == 1, "not its clock");
	for (int round = 0; round < 2; round++) {
		CHECK(count_in(control, "trace_clock", "[local]") == 1, "the top's clock");
		for (size_t i = 0; i < n; i++) {
			room_expect(control, cases[i].file, before[i]);
			snprintf(path, sizeof(path), "instances/%c/%s", round ? 'a' : 'b', cases[i].file);
			room_expect(control, path, before[i]);
		}
		room_rmdir(control, "instances/a", 0);
		room_mkdir(control, "instances/a", 0);
	}
	for (size_t i = 0; i < n; i++)
		free(before[i]);
	room_rmdir(control, "instances/a", 0);
	room_rmdir(control, "instances/b", 0);
}

/* Events and markers land where they are wanted and nowhere else, and sites know when nobody wants them any more. */
static void check_landing(struct control *control)
{
	room_mkdir(control, "instances/a", 0);
	room_mkdir(control, "instances/b", 0);
	CHECK(!*item.hint && !*rare.hint, "something is on");
	room_write(control, "instances/a/events/test/item/enable", "1", 0);
	room_write(control, "instances/b/set_event", "test:item test:rare", 0);
	CHECK(*item.hint == 1 && *rare.hint == 1, "hints %u %u", *item.hint, *rare.hint);
	room_expect(control, "set_event", "");
	room_expect(control, "events/enable", "0\n");
	room_expect(control, "instances/a/events/enable", "X\n");
	room_expect(control, "instances/b/events/test/enable", "1\n");
	item_emit(&item, 1);
	item_emit(&rare, 2);
	room_write(control, "instances/a/trace_marker", "hello a", 0);
	room_write(control, "trace_marker", "hello top", 0);
	ringside_mark("from a program");
	CHECK(count_in(control, "trace", "entries-in-buffer/entries-written: 2/2") == 1, "the top has others'");
	CHECK(count_in(control, "trace", "hello top") == 1 && count_in(control, "trace", "from a program") == 1,
	      "a mark is not at the top");
	CHECK(count_in(control, "instances/a/trace", "item: n=1") == 1 &&
	      count_in(control, "instances/a/trace", "hello a") == 1 &&
	      count_in(control, "instances/a/trace", "entries-in-buffer/entries-written: 2/2") == 1, "a");
	CHECK(count_in(control, "instances/b/trace", "item: n=1") == 1 &&
	      count_in(control, "instances/b/trace", "rare: n=2") == 1 &&
	      count_in(control, "instances/b/trace", "entries-in-buffer/entries-written: 2/2") == 1, "b");

	room_write(control, "instances/b/tracing_on", "0", 0);
	CHECK(*item.hint == 1 && !*rare.hint, "hints %u %u", *item.hint, *rare.hint);
	room_write(control, "instances/b/tracing_on", "1", 0);
	room_rmdir(control, "instances/a", 0);
	CHECK(*item.hint == 1 && *rare.hint == 1, "hints %u %u", *item.hint, *rare.hint);
	room_write(control, "instances/b/trace", "", 0);
	CHECK(!count_in(control, "instances/b/trace", "n=") && count_in(control, "trace", "hello top") == 1,
	      "emptied what was another's");
	room_rmdir(control, "instances/b", 0);
	CHECK(!*item.hint && !*rare.hint, "hints %u %u after all are gone", *item.hint, *rare.hint);
	room_write(control, "trace", "", 0);
}

/* Whoever writes much has a buffer of its own, and what is rare stays. */
static void check_hog(struct control *control)
{
	room_write(control, "buffer_size_kb", "16", 0);
	room_mkdir(control, "instances/hog", 0);
	room_write(control, "instances/hog/buffer_size_kb", "16", 0);
	room_write(control, "instances/hog/events/test/item/enable", "1", 0);
	room_write(control, "events/test/rare/enable", "1", 0);
	item_emit(&rare, 7);
	item_emit_many(&item, 0, 100000);
	CHECK(count_in(control, "trace", "rare: n=7") == 1 && !count_in(control, "trace", "item:"),
	      "the rare one is gone");
	CHECK(count_in(control, "trace", "entries-in-buffer/entries-written: 1/1 ") == 1, "the top has more");
	CHECK(count_in(control, "instances/hog/trace", "item: n=99999") == 1 &&
	      count_in(control, "instances/hog/trace", "/100000 ") == 1, "the hog has not got its own");
	room_rmdir(control, "instances/hog", 0);
	room_write(control, "events/test/rare/enable", "0", 0);
	room_write(control, "trace", "", 0);
}

static uint64_t memory(struct control *control)
{
	struct stat st;

	CHECK(!fstat(control->dir.fd[SEGMENT_RINGS], &st), "%s", strerror(errno));
	return (uint64_t)st.st_blocks * 512;
}

/* As many as there can be, all written to at once, the last place included; then none, and their memory is back. */
static void check_many(struct control *control)
{
	uint64_t before = memory(control);
	char path[128], pid[32];

	snprintf(pid, sizeof(pid), "%d", getpid());
	for (int i = 1; i < STATE_BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_mkdir(control, path, 0);
		snprintf(path, sizeof(path), "instances/i%d/buffer_size_kb", i);
		room_write(control, path, "16", 0);
		snprintf(path, sizeof(path), "instances/i%d/events/test/item/enable", i);
		room_write(control, path, "1", 0);
	}
	room_mkdir(control, "instances/more", -ENOSPC);
	room_write(control, "instances/i62/set_event_pid", pid, 0);
	room_write(control, "instances/i61/set_event_notrace_pid", pid, 0);
	item_emit_many(&item, 0, 20);
	for (int i = 1; i < STATE_BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "instances/i%d/trace", i);
		CHECK(count_in(control, path, "item: n=") == (i == 61 ? 0 : 20), "%s has %d", path,
		      count_in(control, path, "item: n="));
	}
	CHECK(!count_in(control, "trace", "item: n="), "the top got them");
	CHECK(memory(control) > before + 61 * 4 * 4096, "so many take no memory");

	/* The place of one in the middle is used again. */
	room_rmdir(control, "instances/i30", 0);
	room_mkdir(control, "instances/more", 0);
	room_mkdir(control, "instances/most", -ENOSPC);
	CHECK(!count_in(control, "instances/more/trace", "item: n="), "another's events");
	room_rmdir(control, "instances/more", 0);
	for (int i = 1; i < STATE_BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_rmdir(control, path, i == 30 ? -ENOENT : 0);
	}
	CHECK(!*item.hint, "still on");
	expect_list(control, "instances", "");
	room_write(control, "buffer_percent", "50", 0);
	CHECK(!control->state.nlimbo && control->state.nbuffers == 1, "%u in limbo, %u buffers",
	      control->state.nlimbo, control->state.nbuffers);
	CHECK(memory(control) <= before, "%llu of memory, %llu before", (unsigned long long)memory(control),
	      (unsigned long long)before);
}

/* Takes or frees every other instance's snapshot, or all of them; gives the first whose there is no place to put away. */
static int snapshots(struct control *control, const char *text, int each)
{
	for (int i = 1; i < STATE_BUFFERS_MAX; i += each) {
		uint64_t before = control->state.published;
		struct err err = ERR_INIT;
		char path[64];
		int r;

		snprintf(path, sizeof(path), "instances/i%d/snapshot", i);
		r = tree_write(control, path, text, strlen(text), 0, &err);
		CHECK(!r || (r == -EBUSY && strstr(err.text, "try again")), "%s <- %s: %s", path, text, err.text);
		CHECK(!r || (!control_refresh(control, &err) && control->state.published == before),
		      "%s was refused, and something has changed", path);
		if (r)
			return i;
	}
	return 0;
}

/* More is given up than can be put away while somebody may still use it: refused, and possible again afterwards. */
static void check_put_away(struct control *control)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 4096 };
	const char *text = "1";
	char path[5000];
	int fd, full = 0;

	snprintf(path, sizeof(path), "%s/rings", control->dir.path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (int i = 1; i < STATE_BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_mkdir(control, path, 0);
		snprintf(path, sizeof(path), "instances/i%d/buffer_size_kb", i);
		room_write(control, path, "16", 0);
	}
	CHECK(!snapshots(control, "1", 1), "no snapshots");
	CHECK(fd >= 0 && !fcntl(fd, F_OFD_SETLK, &lock), "%s", strerror(errno));
	for (int round = 0; !full && round < 8; round++) {
		text = round % 2 ? "0" : "1";
		full = snapshots(control, text, 1 + round % 2);
	}
	CHECK(full, "there is place for everything");
	snprintf(path, sizeof(path), "instances/i%d/snapshot", full);
	room_append(control, path, text, -EBUSY);
	close(fd);
	/* The same again, and nothing else in between. */
	room_append(control, path, text, 0);
	CHECK(!snapshots(control, "1", 1) && !snapshots(control, "0", 1), "still no place");
	for (int i = 1; i < STATE_BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "instances/i%d", i);
		room_rmdir(control, path, 0);
	}
	room_write(control, "buffer_percent", "50", 0);
	CHECK(!control->state.nlimbo, "%u in limbo", control->state.nlimbo);
}

/* A file stays that of the instance it was opened in. */
static void check_gone(struct control *control)
{
	static const char *const files[] = { "tracing_on", "set_event", "options/overwrite", "buffer_size_kb",
					     "trace_marker", "snapshot", "error_log", "free_buffer",
					     "events/test/item/enable", "set_event_pid" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct control *other = room_again(control);
		struct tree_stat stat;
		struct tree_file *file;
		struct err err = ERR_INIT;
		char path[128];

		snprintf(path, sizeof(path), "instances/a/%s", files[i]);
		room_mkdir(control, "instances/a", 0);
		CHECK(!tree_stat(control, path, &stat, &err), "%s", err.text);
		file = file_open(other, path, (stat.mode & 0400 ? TREE_READ : 0) | TREE_WRITE);
		room_rmdir(control, "instances/a", 0);
		if (i % 2)
			room_mkdir(control, "instances/a", 0);
		if (stat.mode & 0400)
			CHECK(file_try(file) == -ENODEV, "%s: %d", path, file_try(file));
		if (!strcmp(files[i], "free_buffer"))
			CHECK(tree_close(file, &err) == -ENODEV && err.text[0], "%s", err.text);
		else if (strcmp(files[i], "error_log"))
			file_write(file, strcmp(files[i], "set_event") ? "1" : "test:item", -ENODEV);
		if (strcmp(files[i], "free_buffer"))
			file_close(file);
		control_close(other);
		if (i % 2)
			room_rmdir(control, "instances/a", 0);
	}
}

/* As in a fresh directory, and programs that run notice. */
static void check_reset(struct control *control)
{
	struct err err = ERR_INIT;
	char *log;

	room_mkdir(control, "instances/a", 0);
	room_mkdir(control, "instances/b", 0);
	room_write(control, "instances/a/events/enable", "1", 0);
	room_write(control, "instances/a/set_event_pid", "1 2 3", 0);
	room_write(control, "set_event_notrace_pid", "4", 0);
	room_write(control, "events/test/enable", "1", 0);
	room_write(control, "instances/b/snapshot", "1", 0);
	room_write(control, "instances/b/options/trace_printk_dest", "1", 0);
	room_write(control, "saved_cmdlines_size", "5", 0);
	room_write(control, "tracing_on", "x", -EINVAL);
	item_emit(&item, 1);
	CHECK(!control_reset(control, &err), "%s", err.text);
	CHECK(!*item.hint, "still on");
	expect_list(control, "instances", "");
	room_expect(control, "set_event", "");
	room_expect(control, "set_event_notrace_pid", "");
	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_expect(control, "options/trace_printk_dest", "1\n");
	room_expect(control, "saved_cmdlines_size", "32768\n");
	log = room_read(control, "error_log");
	CHECK(!*log, "'%s'", log);
	free(log);
	room_mkdir(control, "instances/a", 0);
	room_expect(control, "instances/a/set_event_pid", "");
	room_write(control, "instances/a/events/enable", "1", 0);
	item_emit(&item, 2);
	CHECK(count_in(control, "instances/a/trace", "item: n=") == 1, "not one event");
	room_rmdir(control, "instances/a", 0);
	room_write(control, "buffer_percent", "50", 0);
	CHECK(!control->state.nlimbo, "%u in limbo", control->state.nlimbo);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	rare = item_bring("rare");
	check_names(control);
	check_files(control);
	check_own(control);
	check_landing(control);
	check_hog(control);
	check_many(control);
	check_put_away(control);
	check_gone(control);
	check_reset(control);
	control_close(control);
	return 0;
}
