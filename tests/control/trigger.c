/*
 * Triggers: what they switch and how that is shown, counts, conditions, what excludes what, and taking them away.
 */
#include "control/enable.h"
#include "control/hooks.h"
#include "control/program.h"

#define TRIGGER "events/test/item/trigger"
#define AVAILABLE "# Available triggers:\n" \
	"# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n"

static struct item item, other;

static void tracing(struct control *control)
{
	room_expect(control, TRIGGER, AVAILABLE);
	room_add(control, TRIGGER, "traceoff if n == 3\n", 0);
	room_expect(control, TRIGGER, "traceoff:unlimited if n == 3\n");
	room_expect(control, "show_event_triggers", "test:item\ttraceoff:unlimited if n == 3\n");
	room_expect(control, "tracing_on", "1\n");
	item_emit_many(&item, 0, 6);
	room_expect(control, "tracing_on", "0\n");
	/* What set it off is still recorded. */
	room_expect_part(control, "trace", "n=3", true);
	room_expect_part(control, "trace", "n=4", false);
	room_add(control, TRIGGER, "traceon", -EEXIST);
	/* Folded into what the file says by itself. */
	room_add(control, TRIGGER, "!traceoff", 0);
	room_expect(control, TRIGGER, AVAILABLE);
	room_expect(control, "tracing_on", "0\n");
	room_add(control, TRIGGER, "traceon:1", 0);
	room_expect(control, TRIGGER, "traceon:count=1\n");
	item_emit(&item, 0);
	room_expect(control, "tracing_on", "1\n");
	room_expect(control, TRIGGER, "traceon:count=0\n");
	room_write(control, "tracing_on", "0", 0);
	room_expect(control, "tracing_on", "0\n");
	item_emit(&item, 0);
	room_expect(control, "tracing_on", "0\n");
	room_add(control, TRIGGER, "!traceon:1", 0);
	room_write(control, "tracing_on", "1", 0);
	room_write(control, "trace", "", 0);
}

static void events(struct control *control)
{
	room_expect(control, "events/test/other/enable", "0\n");
	room_add(control, TRIGGER, "enable_event:test:other", 0);
	room_expect(control, TRIGGER, "enable_event:test:other:unlimited\n");
	room_expect(control, "events/test/other/enable", "0*\n");
	item_emit_many(&other, 100, 101);
	room_expect_part(control, "trace", "n=100", false);
	item_emit(&item, 0);
	room_expect(control, "events/test/other/enable", "1*\n");
	item_emit_many(&other, 101, 102);
	room_expect_part(control, "trace", "n=101", true);
	room_write(control, "events/enable", "0", 0);
	room_expect(control, "events/test/other/enable", "0*\n");
	item_emit(&item, 0);
	room_expect(control, "events/test/other/enable", "1*\n");
	room_add(control, TRIGGER, "disable_event:test:other", -EEXIST);
	room_add(control, TRIGGER, "enable_event:test:nobody", -EINVAL);
	room_add(control, TRIGGER, "!enable_event:test:other", 0);
	room_expect(control, "events/test/other/enable", "1\n");
	room_write(control, "events/test/other/enable", "0", 0);
	room_write(control, "events/test/item/enable", "1", 0);
}

static void others(struct control *control)
{
	room_write(control, "trace", "", 0);
	room_add(control, TRIGGER, "stacktrace:2 if n > 0", 0);
	room_expect(control, TRIGGER, "stacktrace:count=2 if n > 0\n");
	item_emit_many(&item, 0, 2);
	room_expect(control, TRIGGER, "stacktrace:count=1 if n > 0\n");
	room_expect_part(control, "trace", "<stack trace>", true);
	room_add(control, TRIGGER, "!stacktrace", 0);
	room_add(control, TRIGGER, "snapshot:1", 0);
	item_emit(&item, 55);
	room_expect_part(control, "snapshot", "n=1", true);
	item_emit(&item, 77);
	room_expect_part(control, "snapshot", "n=77", false);
	room_expect_part(control, "trace", "n=77", true);
	room_add(control, TRIGGER, "!snapshot", 0);
	room_write(control, "snapshot", "0", 0);
}

static void wrong(struct control *control)
{
	room_add(control, TRIGGER, "nonsense", -EINVAL);
	room_add(control, TRIGGER, "traceoff:badparam", -EINVAL);
	room_add(control, TRIGGER, "traceoff if m == 1", -EINVAL);
	room_expect_part(control, "error_log", "event filter parse error: error: Field not found", true);
	room_expect(control, TRIGGER, AVAILABLE);
	/* What is not there may be removed. */
	room_add(control, TRIGGER, "!traceoff", 0);
	room_expect(control, "tracing_on", "1\n");
}

/* What is switched in a change that is given up was never switched. */
static void given_up(struct control *control)
{
	static const char pause[] = "hist:keys=n:pause";
	struct spec_error error = SPEC_ERROR_INIT;
	struct err err = ERR_INIT;
	struct control_items *items;

	room_add(control, TRIGGER, "traceoff if n == 3", 0);
	room_add(control, TRIGGER, "disable_event:test:other if n == 3", 0);
	room_add(control, TRIGGER, "hist:keys=n", 0);
	room_write(control, "events/test/other/enable", "1", 0);
	room_begin(control);
	CHECK(!control_buffer_switch(control, 0, false, &err) && !control_enable(control, 0, "test", "other", false, &err) &&
	      !control_items_open(&items, control, &err), "%s", err.text);
	CHECK(!control_trigger_set(items, 0, "test", "item", pause, strlen(pause), false, &error, &err), "%s", err.text);
	CHECK(!control_buffer_is_on(control, 0) && !control_event_is_on(control, 0, "test", "other", NULL), "seen by itself");
	control_items_close(items);
	spec_error_fini(&error);
	control_cancel(control);
	room_expect(control, "tracing_on", "1\n");
	room_expect(control, "events/test/other/enable", "1*\n");
	room_expect_part(control, TRIGGER, "[active]", true);
	room_write(control, "events/test/other/enable", "0", 0);
	room_expect(control, "events/test/other/enable", "0*\n");
	room_write(control, "tracing_on", "0", 0);
	room_expect(control, "tracing_on", "0\n");
	room_write(control, "tracing_on", "1", 0);
	room_add(control, TRIGGER, pause, 0);
	room_expect_part(control, TRIGGER, "[paused]", true);
	room_add(control, TRIGGER, "!hist:keys=n", 0);
	room_add(control, TRIGGER, "!disable_event:test:other", 0);
	room_add(control, TRIGGER, "!traceoff", 0);
}

#define ACTS 64

/* As many as one event can have all act, and one more is refused. */
static void many(struct control *control)
{
	char name[32], text[64], path[64];

	for (int i = 0; i <= ACTS; i++) {
		snprintf(name, sizeof(name), "target%d", i);
		item_bring(name);
		snprintf(text, sizeof(text), "enable_event:test:%s if n == %d", name, i);
		room_add(control, TRIGGER, text, i < ACTS ? 0 : -ENOSPC);
	}
	room_expect_part(control, "error_log", "hist:test:item: error: Too many triggers or probes on one event", true);
	room_expect_part(control, TRIGGER, "test:target64", false);
	room_expect(control, "events/test/target64/enable", "0\n");
	item_emit_many(&item, 0, ACTS + 1);
	for (int i = 0; i < ACTS; i++) {
		snprintf(path, sizeof(path), "events/test/target%d/enable", i);
		room_expect(control, path, "1*\n");
		snprintf(text, sizeof(text), "!enable_event:test:target%d", i);
		room_add(control, TRIGGER, text, 0);
		room_write(control, path, "0", 0);
	}
	room_expect(control, TRIGGER, AVAILABLE);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	other = item_bring("other");
	room_write(control, "events/test/item/enable", "1", 0);
	tracing(control);
	events(control);
	others(control);
	wrong(control);
	given_up(control);
	many(control);
	control_close(control);
	return 0;
}
