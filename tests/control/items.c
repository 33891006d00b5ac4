/*
 * What the state keeps of filters and triggers: it survives being written and read, garbage in it is refused, what is written
 * ahead of a program works when that comes, a reset takes everything, and space of the tables is used again, but not at once.
 */
#include "control/program.h"

#include "control/hooks.h"
#include "control/space.h"

static void kept(struct control *control)
{
	struct control_state again = { 0 };
	struct err err = ERR_INIT;

	room_add(control, "events/test/item/trigger", "hist:keys=n:v=n", 0);
	room_add(control, "synthetic_events", "s1 int a", 0);
	CHECK(!control_refresh(control, &err) && !control_state_read(&again, &control->dir, &err), "%s", err.text);
	CHECK(again.nitems == 2 && again.items[0].item.table && again.items[0].item.cells && again.items[0].item.pause,
	      "%u items", again.nitems);
	CHECK(!strcmp(again.items[0].text, "hist:keys=n:v=n") && !strcmp(again.items[1].text, "s1 int a"), "texts");
	CHECK(again.hooks.len == sizeof(struct state_hook) && again.code.len > 8, "hooks");
	control_state_fini(&again);
}

/* Each kind of nonsense makes the state one that nobody takes. */
static void garbage(struct control *control)
{
	struct control_state again = { 0 };
	struct state_item was;
	struct err err = ERR_INIT;

	for (int i = 0; i < 6; i++) {
		struct state_item *item;

		room_begin(control);
		item = &control->state.items[0].item;
		was = *item;
		if (i == 0)
			item->kind = 99;
		else if (i == 1)
			item->buffer = 40;
		else if (i == 2)
			item->count = TABLE_WORDS;
		else if (i == 3)
			item->table += 1;
		else if (i == 4)
			item->table = TABLES_SIZE_MAX;
		else
			memset(item->system, 'x', sizeof(item->system));
		CHECK(!control_state_publish(&control->state, &control->dir, &err), "%s", err.text);
		CHECK(control_state_read(&again, &control->dir, NULL) == -EUCLEAN, "garbage %d is taken", i);
		*item = was;
		room_commit(control);
		CHECK(!control_state_read(&again, &control->dir, &err), "%s", err.text);
	}
	control_state_fini(&again);
}

static void space(struct control *control)
{
	uint64_t first, second;
	struct err err = ERR_INIT;

	room_add(control, "events/test/item/trigger", "hist:keys=common_pid", 0);
	CHECK(!control_refresh(control, &err), "%s", err.text);
	first = control->state.items[2].item.table;
	room_add(control, "events/test/item/trigger", "hist:keys=common_pid:clear", 0);
	CHECK(!control_refresh(control, &err), "%s", err.text);
	second = control->state.items[2].item.table;
	CHECK(second && second != first, "a program may still count in the old table");
	CHECK(control->state.ntable_limbo, "which is in limbo");
}

static void ahead(struct control *control)
{
	struct err err = ERR_INIT;
	struct item late;

	CHECK(!control_condition_set(control, "", "test", "late", false, "n > 1", &err), "%s", err.text);
	CHECK(!control_condition_set(control, "", "test", "late", true, "hist:keys=n", &err), "%s", err.text);
	CHECK(control_condition_set(control, "", "test", "late", false, "n >", &err) < 0, "nonsense is refused ahead, too");
	room_write(control, "set_event", "test:*", 0);
	late = item_bring("late");
	item_emit_many(&late, 0, 4);
	room_expect(control, "events/test/late/filter", "n > 1\n");
	room_expect_part(control, "trace", "late: n=2", true);
	room_expect_part(control, "trace", "late: n=1", false);
	room_expect_part(control, "events/test/late/hist", "Hits: 4\n", true);
}

static void reset(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!control_reset(control, &err), "%s", err.text);
	room_expect(control, "show_event_filters", "");
	room_expect(control, "show_event_triggers", "");
	room_expect(control, "dynamic_events", "");
	CHECK(!control->state.nitems && !control->state.hooks.len, "all of it");
}

int main(void)
{
	struct control *control = room_open();

	item_bring("item");
	kept(control);
	garbage(control);
	space(control);
	ahead(control);
	reset(control);
	control_close(control);
	return 0;
}
