/*
 * Filters: of an event, of a system, refused ones with their carets, and what comes through.
 */
#include "control/program.h"

#define FILTER "events/test/item/filter"

static struct item item;

/* The numbers that were recorded since `trace` was last emptied. */
static void expect_recorded(struct control *control, const char *want)
{
	char *text = room_read(control, "trace"), got[256] = "";
	size_t len = 0;

	for (char *at = text; (at = strstr(at, "item: n=")); at++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%d ", atoi(at + strlen("item: n=")));
	CHECK(!strcmp(got, want), "'%s' were recorded, not '%s'", got, want);
	free(text);
	room_write(control, "trace", "", 0);
}

static void one_event(struct control *control)
{
	room_expect(control, FILTER, "none\n");
	room_write(control, FILTER, "n > 2 && n != 4\n", 0);
	room_expect(control, FILTER, "n > 2 && n != 4\n");
	room_expect(control, "show_event_filters", "test:item\tn > 2 && n != 4\n");
	item_emit_many(&item, 0, 7);
	expect_recorded(control, "3 5 6 ");
	room_write(control, FILTER, "0", 0);
	room_expect(control, FILTER, "none\n");
	item_emit_many(&item, 0, 3);
	expect_recorded(control, "0 1 2 ");
}

/* As in the kernel: it takes the old one's place, is shown with what is wrong with it, and filters nothing. */
static void refused(struct control *control)
{
	room_write(control, FILTER, "n == 1", 0);
	room_write(control, FILTER, "m == 1", -EINVAL);
	room_expect_part(control, FILTER, "m == 1\n", true);
	room_expect_part(control, FILTER, "^\nparse_error: Field not found\n", true);
	room_expect_part(control, "error_log", "] event filter parse error: error: Field not found\n  Command: m == 1\n", true);
	room_expect(control, "show_event_filters", "");
	item_emit_many(&item, 0, 3);
	expect_recorded(control, "0 1 2 ");
	room_write(control, FILTER, "0", 0);
}

static void whole_system(struct control *control)
{
	room_expect_part(control, "events/test/filter", "### global filter ###", true);
	room_write(control, "events/test/filter", "n < 2", 0);
	room_expect(control, "events/test/filter", "n < 2\n");
	room_expect(control, FILTER, "n < 2\n");
	room_expect(control, "events/test/other/filter", "n < 2\n");
	item_emit_many(&item, 0, 5);
	expect_recorded(control, "0 1 ");
	room_write(control, "events/test/filter", "m < 2", -EINVAL);
	room_expect(control, FILTER, "n < 2\n");
	room_write(control, "events/test/filter", "0", 0);
	room_expect(control, FILTER, "none\n");
}

/* An instance has its own, and takes them with it. */
static void instance(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!tree_mkdir(control, "instances/i", &err), "%s", err.text);
	room_write(control, "instances/i/events/test/item/enable", "1", 0);
	room_write(control, "instances/i/events/test/item/filter", "n == 1", 0);
	room_expect(control, FILTER, "none\n");
	item_emit_many(&item, 0, 3);
	expect_recorded(control, "0 1 2 ");
	room_expect_part(control, "instances/i/trace", "n=1", true);
	room_expect_part(control, "instances/i/trace", "n=2", false);
	CHECK(!tree_rmdir(control, "instances/i", &err), "%s", err.text);
	CHECK(!tree_mkdir(control, "instances/i", &err), "%s", err.text);
	room_expect(control, "instances/i/events/test/item/filter", "none\n");
	CHECK(!tree_rmdir(control, "instances/i", &err), "%s", err.text);
	item_emit_many(&item, 0, 1);
	expect_recorded(control, "0 ");
}

#define LARGE_BODY(field) ITEM_COMMON "\tfield:int " field ";\toffset:8;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: \"item: n=%d\", REC->" field "\n"

#define LARGE 1100	/* more than there could be filters of their own */

static struct item bring_large(const char *name, const char *body)
{
	struct item one;
	int r = runtime_event_intern("large", name, body, strlen(body), 0, &one.id, &one.hint);

	CHECK(!r, "large:%s cannot be brought: %s", name, strerror(-r));
	return one;
}

/* One filter for hundreds of events holds also for those that a program brings only then. */
static void large_system(struct control *control)
{
	struct item first = { 0 }, late, without;
	char name[16], *shown;

	for (int i = 0; i < LARGE; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		late = bring_large(name, LARGE_BODY("n"));
		first = i ? first : late;
	}
	room_write(control, "events/large/enable", "1", 0);
	room_write(control, "events/large/e1/filter", "n == 9", 0);
	room_write(control, "events/large/filter", "m < 2", -EINVAL);
	room_expect(control, "events/large/e1/filter", "n == 9\n");
	room_write(control, "events/large/filter", "n < 2", 0);
	late = bring_large("late", LARGE_BODY("n"));
	without = bring_large("without", LARGE_BODY("m"));
	room_expect(control, "events/large/filter", "n < 2\n");
	room_expect(control, "events/large/e0/filter", "n < 2\n");
	room_expect(control, "events/large/e1/filter", "n < 2\n");
	room_expect(control, "events/large/late/filter", "n < 2\n");
	room_expect(control, "events/large/without/filter", "none\n");
	shown = room_read(control, "show_event_filters");
	CHECK(count_of(shown, "\tn < 2\n") == LARGE + 1 && count_of(shown, "large:late\t") == 1, "'%s'", shown);
	free(shown);
	item_emit_many(&first, 0, 4);
	item_emit_many(&late, 0, 4);
	item_emit_many(&without, 0, 4);
	expect_recorded(control, "0 1 0 1 0 1 2 3 ");
	/* A trigger on one does not take the filter from it; a filter of its own, and none, do. */
	room_add(control, "events/large/late/trigger", "traceon if n == 2", 0);
	item_emit_many(&late, 0, 4);
	expect_recorded(control, "0 1 ");
	room_write(control, "events/large/late/filter", "n == 3", 0);
	room_write(control, "events/large/e0/filter", "0", 0);
	room_expect(control, "events/large/e0/filter", "none\n");
	room_expect_part(control, "show_event_filters", "large:e0\t", false);
	room_expect_part(control, "show_event_filters", "large:late\tn == 3\n", true);
	item_emit_many(&first, 0, 4);
	item_emit_many(&late, 0, 4);
	expect_recorded(control, "0 1 2 3 3 ");
	room_write(control, "events/large/late/filter", "m == 3", -EINVAL);
	item_emit_many(&late, 0, 3);
	expect_recorded(control, "0 1 2 ");
	room_write(control, "events/large/filter", "n > 2", 0);
	item_emit_many(&first, 0, 4);
	item_emit_many(&late, 0, 4);
	expect_recorded(control, "3 3 ");
	room_write(control, "events/large/filter", "0", 0);
	room_expect(control, "events/large/late/filter", "none\n");
	room_expect(control, "show_event_filters", "");
	item_emit_many(&late, 0, 2);
	expect_recorded(control, "0 1 ");
	room_add(control, "events/large/late/trigger", "!traceon", 0);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	item_bring("other");
	room_write(control, "events/test/item/enable", "1", 0);
	one_event(control);
	refused(control);
	whole_system(control);
	instance(control);
	large_system(control);
	control_close(control);
	return 0;
}
