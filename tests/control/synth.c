/*
 * Synthetic events and probes in the tree: made, matched over two events, shown, used, refused while in use, removed; and that
 * they are there again for who opens the directory later.
 */
#include "control/program.h"

static struct item item, other;

static void made(struct control *control)
{
	room_add(control, "synthetic_events", "lat u64 delta; int n", 0);
	room_expect(control, "synthetic_events", "lat\tu64 delta; int n\n");
	room_expect(control, "dynamic_events", "s:synthetic/lat\tu64 delta; int n\n");
	room_expect_part(control, "available_events", "synthetic:lat\n", true);
	room_expect_part(control, "events/synthetic/lat/format", "field:u64 delta;", true);
	room_add(control, "synthetic_events", "lat u64 delta", -EEXIST);
	room_add(control, "synthetic_events", "!nobody", -ENOENT);
	room_add(control, "dynamic_events", "s:second int a", 0);
	room_expect(control, "synthetic_events", "lat\tu64 delta; int n\nsecond\tint a\n");
	room_add(control, "dynamic_events", "-:synthetic/second", 0);
	room_expect_part(control, "available_events", "second", false);
}

static void matched(struct control *control)
{
	struct err err = ERR_INIT;
	struct control *later;

	room_add(control, "events/test/item/trigger", "hist:keys=n:ts=common_timestamp.usecs", 0);
	room_add(control, "events/test/other/trigger",
		 "hist:keys=n:d=common_timestamp.usecs-$ts,num=n:onmatch(test.item).trace(lat,$d,$num)", 0);
	room_add(control, "synthetic_events", "!lat", -EBUSY);
	room_write(control, "events/synthetic/lat/enable", "1", 0);
	room_write(control, "events/synthetic/lat/filter", "n != 2", 0);
	item_emit_many(&item, 1, 4);
	item_emit_many(&other, 1, 9);
	room_expect_part(control, "trace", "n=1\n", true);
	room_expect_part(control, "trace", "n=2\n", false);
	room_expect_part(control, "trace", "n=3\n", true);
	room_expect_part(control, "trace", "n=4\n", false);
	room_expect_part(control, "trace", ": lat: delta=", true);
	CHECK(!control_open(&later, NULL, false, &err), "%s", err.text);
	room_expect_part(later, "events/test/other/trigger", ":onmatch(test.item).trace(lat,$d,$num) [active]", true);
	control_close(later);
}

static void probed(struct control *control)
{
	room_add(control, "dynamic_events", "e:mine/seen test.item num=$n:u32", 0);
	room_expect_part(control, "dynamic_events", "e:mine/seen test.item num=$n:u32\n", true);
	room_write(control, "trace", "", 0);
	room_write(control, "events/mine/seen/enable", "1", 0);
	item_emit(&item, 42);
	room_expect_part(control, "trace", "seen: (test.item) num=42", true);
	room_add(control, "dynamic_events", "-:mine/seen", -EBUSY);
	room_write(control, "events/mine/seen/enable", "0", 0);
	room_add(control, "dynamic_events", "-:mine/seen test.other", -ENOENT);
	room_add(control, "dynamic_events", "-:mine/seen", 0);
	room_expect_part(control, "available_events", "mine", false);
	room_add(control, "dynamic_events", "e:mine/seen test.nobody num=$n", -ENODEV);
	room_add(control, "dynamic_events", "x:what", -EINVAL);
}

static void gone(struct control *control)
{
	struct tree_stat stat;

	room_write(control, "events/synthetic/lat/enable", "0", 0);
	room_add(control, "synthetic_events", "!lat", -EBUSY);
	room_write(control, "events/test/other/trigger", "", 0);
	room_write(control, "events/test/item/trigger", "", 0);
	room_write(control, "synthetic_events", "", 0);
	room_expect(control, "dynamic_events", "");
	CHECK(tree_stat(control, "events/synthetic/lat", &stat, NULL) == -ENOENT, "it is gone");
	/* Old records still have their text. */
	room_add(control, "synthetic_events", "lat int other", 0);
	room_expect_part(control, "events/synthetic/lat/format", "other", true);
	room_write(control, "dynamic_events", "", 0);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	other = item_bring("other");
	made(control);
	matched(control);
	probed(control);
	gone(control);
	control_close(control);
	return 0;
}
