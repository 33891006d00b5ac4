/*
 * trace_options and options/: the names, both ways to set them, and what each does that is not how text looks.
 */
#include "control/program.h"

#include <ringside/print.h>

static struct item item;

static const struct { const char *name; int on; } options[] = {
	{ "print-parent", 1 }, { "sym-offset", 0 }, { "sym-addr", 0 }, { "verbose", 0 }, { "raw", 0 }, { "hex", 0 }, { "bin", 0 }, { "block", 0 }, { "fields", 0 },
	{ "trace_printk", 1 }, { "annotate", 1 }, { "printk-msg-only", 0 }, { "context-info", 1 },
	{ "latency-format", 0 }, { "record-cmd", 1 }, { "record-tgid", 0 }, { "overwrite", 1 },
	{ "disable_on_free", 0 }, { "irq-info", 1 }, { "markers", 1 }, { "event-fork", 0 },
	{ "trace_printk_dest", 1 }, { "pause-on-trace", 0 },
#if defined(__x86_64__)
	{ "function-trace", 1 }, { "function-fork", 0 },
#endif
	{ "stacktrace", 0 },
};

#define NOPTIONS (sizeof(options) / sizeof(options[0]))

static void expect_options(struct control *control, const char *but, int on)
{
	struct buf want = BUF_INIT;

	for (size_t i = 0; i < NOPTIONS; i++) {
		int now = but && !strcmp(but, options[i].name) ? on : options[i].on;
		char path[64];

		buf_printf(&want, "%s%s\n", now ? "" : "no", options[i].name);
		snprintf(path, sizeof(path), "options/%s", options[i].name);
		room_expect(control, path, now ? "1\n" : "0\n");
	}
	room_expect(control, "trace_options", want.data);
	buf_fini(&want);
}

static void check_names(struct control *control)
{
	char path[64], word[64];

	expect_options(control, NULL, 0);
	for (size_t i = 0; i < NOPTIONS; i++) {
		if (!strcmp(options[i].name, "trace_printk_dest"))
			continue;
		snprintf(path, sizeof(path), "options/%s", options[i].name);
		for (int on = 0; on < 2; on++) {
			room_write(control, path, on ? "1\n" : "0", 0);
			expect_options(control, options[i].name, on);
			snprintf(word, sizeof(word), "%s%s\n", on ? "no" : " ", options[i].name);
			room_write(control, "trace_options", word, 0);
			expect_options(control, options[i].name, !on);
		}
		room_write(control, path, "2", -EINVAL);
		room_write(control, path, "x", -EINVAL);
		room_write(control, path, "", -EINVAL);
		room_write(control, path, options[i].on ? "1" : "0", 0);
	}
	room_write(control, "trace_options", "nosuch", -EINVAL);
	room_write(control, "trace_options", "", -EINVAL);
	room_write(control, "trace_options", "no", -EINVAL);
	room_write(control, "trace_options", "nonomarkers", -EINVAL);
	room_write(control, "trace_options", "markers overwrite", -EINVAL);
	room_write(control, "trace_options", "Markers", -EINVAL);
	room_write(control, "trace_options",
		   "                                                         markers", -EINVAL);
	expect_options(control, NULL, 0);
}

/* Off: the oldest stay, and those that find no room are counted. */
static void check_overwrite(struct control *control)
{
	uint64_t entries, dropped;
	char path[64], *text;
	int n;

	cpu_pin(cpu_at(0));
	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu_at(0));
	item_emit_many(&item, 0, 10);
	room_write(control, "buffer_size_kb", "16", 0);
	room_write(control, "options/overwrite", "0", 0);
	CHECK(count_in(control, "trace", "item: n=") == 10, "the change loses some");
	item_emit_many(&item, 10, 5010);
	text = room_read(control, "trace");
	n = items_follow(text, 0);
	free(text);
	entries = number_in(control, path, "entries: ");
	dropped = number_in(control, path, "dropped events: ");
	CHECK(n > 1000 && n < 2000 && entries == (uint64_t)n && entries + dropped == 5010, "%d, %llu, %llu", n,
	      (unsigned long long)entries, (unsigned long long)dropped);
	/* Room again once they are read, and the loss is told there. */
	free(room_read(control, "trace_pipe"));
	item_emit_many(&item, 5010, 5012);
	text = room_read(control, "trace_pipe");
	snprintf(path, sizeof(path), "[LOST %llu EVENTS]", (unsigned long long)dropped);
	CHECK(items_follow(text, 5010) == 2 && count_of(text, path) == 1, "'%s' has no '%s'", text, path);
	free(text);
	room_write(control, "options/overwrite", "1", 0);
	item_emit_many(&item, 0, 5000);
	CHECK(count_in(control, "trace", "item: n=4999\n") == 1, "still refuses the newest");
	room_write(control, "trace", "", 0);
}

static void check_markers(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *file = file_open(other, "trace_marker", TREE_WRITE);

	file_write(file, "before", 0);
	room_write(control, "options/markers", "0", 0);
	file_write(file, "between", -EINVAL);
	room_write(control, "trace_marker_raw", "abcd", -EINVAL);
	ringside_mark("of a program");
	room_write(control, "options/markers", "1", 0);
	file_write(file, "after", 0);
	file_close(file);
	control_close(other);
	CHECK(count_in(control, "trace", "tracing_mark_write: before") == 1 &&
	      count_in(control, "trace", "tracing_mark_write: after") == 1 && !count_in(control, "trace", "between") &&
	      !count_in(control, "trace", "of a program"), "markers");
	room_write(control, "trace", "", 0);
}

static void say(int n)
{
	ringside_printf("said %d", n);
}

/* Where printf goes, and whether it goes anywhere. */
static void check_printk(struct control *control)
{
	say(1);
	room_write(control, "options/trace_printk", "0", 0);
	say(2);
	room_write(control, "options/trace_printk", "1", 0);
	CHECK(count_in(control, "trace", "say: said 1\n") == 1 && !count_in(control, "trace", "said 2"), "trace_printk");
	room_mkdir(control, "instances/a", 0);
	room_mkdir(control, "instances/b", 0);
	room_expect(control, "instances/a/options/trace_printk_dest", "0\n");
	room_write(control, "options/trace_printk_dest", "0", -EINVAL);
	room_write(control, "instances/a/options/trace_printk_dest", "0", 0);
	room_write(control, "instances/a/options/trace_printk_dest", "1", 0);
	room_expect(control, "options/trace_printk_dest", "0\n");
	say(3);
	room_write(control, "options/trace_printk_dest", "0", 0);
	room_write(control, "instances/a/options/trace_printk_dest", "0", -EINVAL);
	room_write(control, "instances/b/options/trace_printk_dest", "1", 0);
	room_expect(control, "instances/a/options/trace_printk_dest", "0\n");
	say(4);
	CHECK(count_in(control, "instances/a/trace", "say: said") == 1 &&
	      count_in(control, "instances/a/trace", "said 3") == 1, "a has not got its own");
	CHECK(count_in(control, "instances/b/trace", "say: said") == 1 &&
	      count_in(control, "instances/b/trace", "said 4") == 1, "b has not got its own");
	/* When it goes, the top has it again. */
	room_rmdir(control, "instances/b", 0);
	room_expect(control, "options/trace_printk_dest", "1\n");
	say(5);
	room_write(control, "instances/a/options/trace_printk_dest", "1", 0);
	room_write(control, "options/trace_printk_dest", "1", 0);
	say(6);
	CHECK(count_in(control, "trace", "said 5") == 1 && count_in(control, "trace", "said 6") == 1 &&
	      count_in(control, "instances/a/trace", "said") == 1, "the top has not got it back");
	room_rmdir(control, "instances/a", 0);
	room_write(control, "trace", "", 0);
}

/* Always worth a look. */
static void check_block(struct control *control)
{
	static const char *const files[] = { "trace_pipe", "per_cpu/cpu0/trace_pipe", "per_cpu/cpu0/trace_pipe_raw" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct tree_file *file;

		room_write(control, "trace", "", 0);
		room_write(control, "options/block", "0", 0);
		file = file_open(control, files[i], TREE_READ);
		CHECK(!tree_ready(file), "%s is ready", files[i]);
		file_close(file);
		room_write(control, "options/block", "1", 0);
		file = file_open(control, files[i], TREE_READ);
		CHECK(tree_ready(file) && file_try(file) == -EAGAIN, "%s is not ready", files[i]);
		file_close(file);
	}
	room_write(control, "options/block", "0", 0);
}

/* Where a later CPU's part begins, if earlier events of it were overwritten. */
static void check_annotate(struct control *control)
{
	char line[64];

	if (cpu_at(1) < 0)
		return;
	room_write(control, "trace", "", 0);
	for (int i = 0; i < 2; i++) {
		cpu_pin(cpu_at(i));
		item_emit_many(&item, 0, 5000);
	}
	snprintf(line, sizeof(line), "##### CPU %d buffer started ####\n", cpu_at(1));
	CHECK(count_in(control, "trace", line) == 1, "nothing is annotated");
	room_write(control, "options/annotate", "0", 0);
	CHECK(count_in(control, "trace", "buffer started") == 0, "still annotated");
	room_write(control, "options/annotate", "1", 0);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	check_names(control);
	room_write(control, "events/test/item/enable", "1", 0);
	check_overwrite(control);
	check_markers(control);
	check_printk(control);
	check_block(control);
	check_annotate(control);
	control_close(control);
	return 0;
}
