/*
 * snapshot: what was recorded, set aside at one moment; per_cpu/cpuN/snapshot and snapshot_raw show one CPU of it.
 */
#include "control/buffer.h"
#include "control/hooks.h"
#include "control/program.h"

#include <sys/stat.h>

#include "decode/page.h"

static struct item item;

static void expect_help(struct control *control, const char *path, bool made)
{
	char *text = room_read(control, path);

	CHECK(!strncmp(text, "#\n# * Snapshot is ", 18), "%s: '%s'", path, text);
	CHECK(count_of(text, made ? "# * Snapshot is allocated *\n" : "# * Snapshot is freed *\n") == 1, "%s: '%s'",
	      path, text);
	CHECK(count_of(text, "# echo 0 > snapshot : ") == 1 && count_of(text, "# echo 1 > snapshot : ") == 1 &&
	      count_of(text, "# echo 2 > snapshot : ") == 1, "%s: '%s'", path, text);
	for (char *line = text; *line; line = strchr(line, '\n') + 1)
		CHECK(*line == '#', "%s: '%s'", path, line);
	free(text);
}

static void expect_items(struct control *control, const char *path, int32_t from, int count)
{
	char *text = room_read(control, path);

	CHECK(items_follow(text, from) == count, "%s: %d from %d, not %d", path, items_follow(text, from), from,
	      count);
	free(text);
}

static void check_swap(struct control *control)
{
	expect_help(control, "snapshot", false);
	room_write(control, "snapshot", "x", -EINVAL);
	room_write(control, "snapshot", "", -EINVAL);
	room_write(control, "snapshot", "2", 0);
	expect_help(control, "snapshot", false);
	item_emit_many(&item, 0, 10);
	expect_items(control, "trace", 0, 10);
	room_write(control, "snapshot", "1\n", 0);
	expect_items(control, "snapshot", 0, 10);
	expect_items(control, "trace", 0, 0);
	CHECK(count_in(control, "snapshot", "# entries-in-buffer/entries-written: 10/10 ") == 1, "no heading");
	item_emit_many(&item, 10, 30);
	expect_items(control, "snapshot", 0, 10);
	expect_items(control, "trace", 10, 20);
	/* Looking changes nothing; emptying the one is not emptying the other. */
	expect_items(control, "snapshot", 0, 10);
	room_write(control, "trace", "", 0);
	expect_items(control, "snapshot", 0, 10);
	item_emit_many(&item, 30, 35);
	room_write(control, "snapshot", "1", 0);
	expect_items(control, "snapshot", 30, 5);
	room_write(control, "snapshot", "5", 0);
	expect_help(control, "snapshot", true);
	room_write(control, "snapshot", "0", 0);
	expect_help(control, "snapshot", false);
	room_write(control, "snapshot", "0", 0);
}

/* One CPU's part; that alone can be emptied, and nothing else be done to it. */
static void check_cpus(struct control *control)
{
	char one[64], two[64], raw[64], *pages;
	struct tree_file *file;
	struct page_event event;
	struct page_walk walk;
	int32_t n = 0;
	size_t len;

	snprintf(one, sizeof(one), "per_cpu/cpu%d/snapshot", cpu_at(0));
	snprintf(raw, sizeof(raw), "per_cpu/cpu%d/snapshot_raw", cpu_at(0));
	room_write(control, "trace", "", 0);
	expect_help(control, one, false);
	CHECK(count_in(control, one, "not in per_cpu/cpuN/") == 2, "does not tell what it cannot do");
	room_write(control, one, "1", -EINVAL);
	room_write(control, one, "0", -EINVAL);
	room_expect(control, raw, "");
	cpu_pin(cpu_at(0));
	item_emit_many(&item, 0, 50);
	if (cpu_at(1) >= 0) {
		cpu_pin(cpu_at(1));
		item_emit_many(&item, 50, 80);
	}
	room_write(control, "snapshot", "1", 0);
	expect_items(control, "snapshot", 0, cpu_at(1) >= 0 ? 80 : 50);
	expect_items(control, one, 0, 50);
	room_write(control, one, "0", -EINVAL);

	/* Pages are taken out as they are read. */
	file = file_open(control, raw, TREE_READ);
	pages = file_drain(file, 100, &len, NULL);
	file_close(file);
	CHECK(len == 4096 && !page_walk_init(&walk, pages, 4096), "%zu bytes", len);
	while (page_walk_next(&walk, &event) == 1)
		n++;
	CHECK(n == 50, "%d events", n);
	free(pages);
	expect_help(control, one, true);
	item_emit(&item, 99);
	room_expect(control, raw, "");

	if (cpu_at(1) < 0)
		return;
	snprintf(two, sizeof(two), "per_cpu/cpu%d/snapshot", cpu_at(1));
	expect_items(control, two, 50, 30);
	expect_items(control, "snapshot", 50, 30);
	room_write(control, one, "2", 0);
	expect_items(control, two, 50, 30);
	room_write(control, two, "2", 0);
	expect_help(control, two, true);
	expect_help(control, "snapshot", true);
	expect_items(control, "trace", 99, 1);
}

/* An instance has one of its own, with memory of its own, which goes back. */
static void check_instance(struct control *control)
{
	struct stat before, between, after;

	room_write(control, "snapshot", "0", 0);
	room_write(control, "trace", "", 0);
	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/events/enable", "1", 0);
	item_emit_many(&item, 0, 5);
	fstat(control->dir.fd[SEGMENT_RINGS], &before);
	room_write(control, "instances/a/snapshot", "1", 0);
	fstat(control->dir.fd[SEGMENT_RINGS], &between);
	expect_items(control, "instances/a/snapshot", 0, 5);
	expect_help(control, "snapshot", false);
	expect_items(control, "trace", 0, 5);
	room_write(control, "instances/a/snapshot", "0", 0);
	fstat(control->dir.fd[SEGMENT_RINGS], &after);
	CHECK(between.st_blocks > before.st_blocks && after.st_blocks < between.st_blocks, "%lld %lld %lld",
	      (long long)before.st_blocks, (long long)between.st_blocks, (long long)after.st_blocks);
	room_rmdir(control, "instances/a", 0);
}

/* What older rings still held when it was made is lost to both, and told. */
static void check_resized(struct control *control)
{
	char *text;

	cpu_pin(cpu_at(0));
	room_write(control, "snapshot", "0", 0);
	room_write(control, "trace", "", 0);
	item_emit_many(&item, 0, 7);
	room_write(control, "buffer_size_kb", "700", 0);
	item_emit_many(&item, 7, 10);
	room_write(control, "snapshot", "1", 0);
	expect_items(control, "snapshot", 7, 3);
	item_emit(&item, 10);
	text = room_read(control, "trace_pipe");
	CHECK(count_of(text, "[LOST 7 EVENTS]") == 1 && items_follow(text, 10) == 1, "'%s'", text);
	free(text);
}

/* Who only begins a change leaves as many sets for the next snapshots as there were. */
static void check_given_up(struct control *control)
{
	room_write(control, "events/test/item/trigger", "snapshot if n & 1", 0);
	for (int32_t from = 0; from < 30; from += 10) {
		item_emit_many(&item, from, from + 2 * STATE_SPARES);
		room_begin(control);
		control_cancel(control);
	}
	item_emit_many(&item, 30, 32);
	expect_items(control, "snapshot", 30, 2);
	room_write(control, "events/test/item/trigger", "!snapshot", 0);
}

/* One that is taken while somebody changes the buffer, or takes the trigger away: what follows it is not lost. */
static void check_moment(struct control *control)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct control_items *items;
	struct err err = ERR_INIT;
	char *text;

	room_write(control, "trace", "", 0);
	room_write(control, "events/test/item/trigger", "snapshot if n == 4", 0);
	room_begin(control);
	item_emit_many(&item, 0, 7);
	CHECK(!control_buffer_resize(control, &control->state.buffers[0], control->state.buffers[0].npages + 8, &err), "%s",
	      err.text);
	room_commit(control);
	item_emit_many(&item, 7, 10);
	expect_items(control, "trace", 0, 10);
	room_write(control, "trace", "", 0);
	room_begin(control);
	item_emit_many(&item, 3, 7);
	CHECK(!control_items_open(&items, control, &err) &&
	      !control_trigger_set(items, 0, "test", "item", "!snapshot", 9, false, &error, &err), "%s", err.text);
	control_items_close(items);
	spec_error_fini(&error);
	room_commit(control);
	text = room_read(control, "trace");
	CHECK(count_of(text, "n=6\n") == 1, "'%s'", text);
	free(text);
}

/* Triggers take them while no tool is about: each sets aside what was recorded up to the event that asked, that one included. */
static void check_triggers(struct control *control)
{
	room_write(control, "snapshot", "0", 0);
	room_write(control, "trace", "", 0);
	room_write(control, "events/test/item/trigger", "snapshot if n == 4 || n == 9 || n == 12 || n == 20", 0);
	expect_help(control, "snapshot", true);
	item_emit_many(&item, 0, 7);
	expect_items(control, "snapshot", 0, 5);
	expect_items(control, "trace", 5, 2);
	/* Two more before somebody looks: the last one counts. */
	item_emit_many(&item, 7, 15);
	expect_items(control, "snapshot", 10, 3);
	expect_items(control, "trace", 13, 2);
	/* One that reads all the time finds what is swapped out under it, or what follows. */
	room_write(control, "trace", "", 0);
	item_emit_many(&item, 15, 25);
	expect_items(control, "trace", 21, 4);
	expect_items(control, "snapshot", 15, 6);
	/* Of another size from now on, and again as often as there are sets. */
	room_write(control, "events/test/item/trigger", "!snapshot", 0);
	room_write(control, "buffer_size_kb", "300", 0);
	room_write(control, "trace", "", 0);
	room_write(control, "events/test/item/trigger", "snapshot if n & 1", 0);
	item_emit_many(&item, 100, 100 + 2 * STATE_SPARES + 3);
	expect_items(control, "snapshot", 100 + 2 * (STATE_SPARES - 1), 2);
	expect_items(control, "trace", 100 + 2 * STATE_SPARES, 3);
	/* A count counts those that were taken. */
	room_write(control, "events/test/item/trigger", "!snapshot", 0);
	room_write(control, "trace", "", 0);
	room_write(control, "events/test/item/trigger", "snapshot:1", 0);
	item_emit_many(&item, 200, 205);
	expect_items(control, "snapshot", 200, 1);
	expect_items(control, "trace", 201, 4);
	room_write(control, "events/test/item/trigger", "!snapshot", 0);
	room_write(control, "snapshot", "0", 0);
	expect_help(control, "snapshot", false);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	room_write(control, "events/test/item/enable", "1", 0);
	check_swap(control);
	check_cpus(control);
	check_instance(control);
	check_resized(control);
	check_triggers(control);
	check_given_up(control);
	check_moment(control);
	control_close(control);
	return 0;
}
