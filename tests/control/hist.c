/*
 * Histograms in the tree: rows, pausing and clearing, names that share a table, variables that are referred to, removal, poll.
 */
#include "control/program.h"

#define TRIGGER "events/test/item/trigger"
#define HIST "events/test/item/hist"

static struct item item, other;

static void rows(struct control *control)
{
	room_expect(control, HIST, "");
	room_add(control, TRIGGER, "hist:keys=n:sort=n", 0);
	room_expect(control, TRIGGER, "hist:keys=n:vals=hitcount:sort=n:size=2048 [active]\n");
	room_expect(control, "events/test/item/enable", "0*\n");
	for (int i = 0; i < 10; i++)
		item_emit(&item, i % 2);
	room_expect(control, HIST,
		    "# event histogram\n#\n# trigger info: hist:keys=n:vals=hitcount:sort=n:size=2048 [active]\n#\n\n"
		    "{ n:          0 } hitcount:          5\n"
		    "{ n:          1 } hitcount:          5\n\n"
		    "Totals:\n    Hits: 10\n    Entries: 2\n    Dropped: 0\n");
	room_add(control, TRIGGER, "hist:keys=n:sort=n", -EEXIST);
	room_expect_part(control, "error_log", "hist:test:item: error: Hist trigger already exists\n  Command: hist:keys=n:sort=n\n",
			 true);
}

static void paused(struct control *control)
{
	room_add(control, TRIGGER, "hist:keys=n:sort=n:pause", 0);
	room_expect_part(control, TRIGGER, "[paused]", true);
	item_emit(&item, 1);
	room_expect_part(control, HIST, "Hits: 10\n", true);
	room_add(control, TRIGGER, "hist:keys=n:sort=n:cont", 0);
	room_expect_part(control, TRIGGER, "[active]", true);
	item_emit(&item, 1);
	room_expect_part(control, HIST, "Hits: 11\n", true);
	room_add(control, TRIGGER, "hist:keys=n:sort=n:clear", 0);
	room_expect_part(control, HIST, "Hits: 0\n", true);
	item_emit(&item, 1);
	room_expect_part(control, HIST, "Hits: 1\n", true);
	room_add(control, TRIGGER, "hist:keys=common_pid:clear", -ENOENT);
	/* Another event switches it. */
	room_add(control, "events/test/other/trigger", "disable_hist:test:item", 0);
	item_emit(&other, 0);
	room_expect_part(control, TRIGGER, "[paused]", true);
	room_add(control, "events/test/other/trigger", "!disable_hist:test:item", 0);
	room_write(control, TRIGGER, "", 0);
	room_expect_part(control, TRIGGER, "# Available", true);
	room_expect(control, "events/test/item/enable", "0\n");
}

static void named(struct control *control)
{
	room_add(control, TRIGGER, "hist:name=both:keys=n", 0);
	room_add(control, "events/test/other/trigger", "hist:name=both:keys=n", 0);
	item_emit(&item, 7);
	item_emit(&other, 7);
	room_expect_part(control, HIST, "{ n:          7 } hitcount:          2\n", true);
	room_expect_part(control, "events/test/other/hist", "Hits: 2\n", true);
	room_add(control, TRIGGER, "!hist:name=both:keys=n", 0);
	item_emit(&other, 7);
	room_expect_part(control, "events/test/other/hist", "Hits: 3\n", true);
	room_add(control, "events/test/other/trigger", "!hist:name=both:keys=n", 0);
}

static void variables(struct control *control)
{
	room_add(control, TRIGGER, "hist:keys=n:ts=common_timestamp", 0);
	room_add(control, "events/test/other/trigger", "hist:keys=n:lat=common_timestamp-$ts", 0);
	room_expect_part(control, "trace_clock", "[global]", true);
	room_add(control, TRIGGER, "!hist:keys=n:ts=common_timestamp", -EBUSY);
	room_add(control, "events/test/other/trigger", "!hist:keys=n:lat=common_timestamp-$ts", 0);
	room_add(control, TRIGGER, "!hist:keys=n:ts=common_timestamp", 0);
	room_expect(control, "show_event_triggers", "");
	room_add(control, TRIGGER, "hist:keys=n:lat=common_timestamp-$ts", -EINVAL);
	room_expect_part(control, "error_log", "Couldn't find field", true);
	room_expect(control, "show_event_triggers", "");
}

/* Text that is read, then poll(2): readable when there were hits since. */
static void polled(struct control *control)
{
	struct control *again;
	struct tree_file *file;
	struct err err = ERR_INIT;
	char bytes[4096];

	room_add(control, TRIGGER, "hist:keys=n", 0);
	CHECK(!control_again(&again, control, &err) && !tree_open(&file, again, HIST, TREE_READ, &err), "%s", err.text);
	CHECK(tree_is_polled(file) && !tree_is_followed(file), "hist is polled");
	CHECK(tree_file_read(file, bytes, sizeof(bytes), 0, &err) > 0, "%s", err.text);
	CHECK(!tree_ready(file), "nothing was counted since");
	item_emit(&item, 1);
	CHECK(tree_ready(file) && tree_has_news(file, true) && !tree_has_news(file, true), "a hit is news once");
	CHECK(tree_file_read(file, bytes, sizeof(bytes), 0, &err) > 0, "%s", err.text);
	CHECK(!tree_ready(file), "it was read");
	tree_close(file, NULL);
	control_close(again);
	room_write(control, TRIGGER, "", 0);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	other = item_bring("other");
	rows(control);
	paused(control);
	named(control);
	variables(control);
	polled(control);
	control_close(control);
	return 0;
}
