/*
 * Events of the kernel's names are in every directory: each format can be used, they are put there once, a program that
 * brings one of the same layout has the same id, one of another layout is shown instead; files leave out what nobody brought.
 */
#include "control/room.h"

#include <pthread.h>

#include "control/named.h"
#include "decode/format.h"
#include "runtime/runtime.h"

#define OTHER "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:int other;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"other=%d\", REC->other"

static uint32_t nlisted;

/* One of the list: its text as the tree shows it can be read and printed, and has the registry's id. */
static int check_one(void *ctx, const char *system, const char *name, const struct buf *body)
{
	struct control *control = ctx;
	const struct control_event *event = control_registry_find(control_events(control, NULL), system, name);
	struct decode_format *format;
	struct err err = ERR_INIT;
	char path[256];
	char *text;

	CHECK(event, "%s:%s is not there", system, name);
	CHECK(event->named && event->body_len == body->len && !memcmp(event->body, body->data, body->len),
	      "%s:%s has another text", system, name);
	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	text = room_read(control, path);
	CHECK(!decode_format_parse(system, text, strlen(text), NULL, &format, &err), "%s: %s", path, err.text);
	CHECK(!format->print_err.code, "%s: %s", path, format->print_err.text);
	CHECK(format->id == event->id && event->id >= EVENT_ID_FIRST, "%s: ID %u", path, format->id);
	for (uint32_t i = 1; i < format->nr_fields; i++) {
		const struct decode_field *field = &format->fields[i], *before = field - 1;

		CHECK(field->offset >= before->offset + before->size, "%s: %s overlaps", path, field->name);
		CHECK(!(field->offset % (field->size < 8 && !field->is_array ? field->size : 1)), "%s: %s is askew", path,
		      field->name);
	}
	decode_format_free(format);
	free(text);
	nlisted++;
	return 0;
}

/* Fields of a few, as the kernel has them. */
static void check_kernel(struct control *control)
{
	static const struct { const char *path, *line; } cases[] = {
		{ "events/sched/sched_switch/format", "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" },
		{ "events/sched/sched_process_exit/format", "\tfield:bool group_dead;\toffset:32;\tsize:1;\tsigned:0;\n" },
		{ "events/sched/sched_stat_runtime/format", "\tfield:u64 runtime;\toffset:16;\tsize:8;\tsigned:0;\n" },
		{ "events/kmem/kmem_cache_alloc/format", "\tfield:size_t bytes_req;\toffset:32;\tsize:8;\tsigned:0;\n" },
		{ "events/timer/itimer_state/format", "\tfield:unsigned long long expires;\toffset:16;\tsize:8;\tsigned:0;\n" },
		{ "events/timer/hrtimer_start/format", "\tfield:enum hrtimer_mode mode;\toffset:40;\tsize:4;\tsigned:0;\n" },
		{ "events/raw_syscalls/sys_enter/format", "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n" },
		{ "events/syscalls/sys_enter_openat/format", "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n" },
		{ "events/syscalls/sys_enter_openat/format",
		  "\nprint fmt: \"dfd: 0x%08lx, filename: 0x%08lx, flags: 0x%08lx, mode: 0x%08lx\", "
		  "((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), ((unsigned long)(REC->flags)), "
		  "((unsigned long)(REC->mode))\n" },
		{ "events/syscalls/sys_enter_getpid/format", "\nprint fmt: \"\"\n" },
		{ "events/syscalls/sys_exit_openat/format", "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = room_read(control, cases[i].path);

		CHECK(strstr(text, cases[i].line), "%s has no '%s':\n%s", cases[i].path, cases[i].line, text);
		free(text);
	}
}

static uint64_t number_of(struct control *control)
{
	uint64_t number;

	CHECK(!control_registry_number(&control->dir, &number, NULL), "no number");
	return number;
}

static uint32_t id_of(struct control *control, const char *system, const char *name)
{
	const struct control_event *event = control_registry_find(control_events(control, NULL), system, name);

	CHECK(event, "%s:%s is gone", system, name);
	return event->id;
}

/* Another handle, another tool: nothing is put again. */
static void check_once(struct control *control)
{
	uint64_t before = number_of(control);
	uint32_t id = id_of(control, "sched", "sched_switch");
	struct control *again;

	CHECK(!control_open(&again, NULL, false, NULL), "open");
	CHECK(id_of(again, "sched", "sched_switch") == id, "another id");
	CHECK(!control_named_ensure(&again->dir, NULL) && number_of(again) == before, "put again");
	control_close(again);
}

static void check_brought(struct control *control)
{
	const struct control_event *event = control_registry_find(control_events(control, NULL), "timer", "timer_init");
	uint32_t named = event->id, id;
	const uint32_t *hint;
	char *body = strndup(event->body, event->body_len);

	CHECK(!control_event_has_source(event), "timer_init has a source");
	CHECK(!runtime_event_intern("timer", "timer_init", body, strlen(body), 0, &id, &hint), "intern");
	CHECK(id == named, "the same layout has id %u, not %u", id, named);
	event = control_registry_find(control_events(control, NULL), "timer", "timer_init");
	CHECK(control_event_has_source(event) && event->shown, "what a program brought has no source");

	CHECK(!runtime_event_intern("timer", "timer_init", OTHER, strlen(OTHER), 0, &id, &hint), "intern");
	CHECK(id != named && id_of(control, "timer", "timer_init") == id, "another layout is not shown");
	free(body);

	/* The other layout first: the kernel's is shown from when somebody brings it. */
	CHECK(!runtime_event_intern("timer", "timer_cancel", OTHER, strlen(OTHER), 0, &id, &hint), "intern");
	CHECK(id_of(control, "timer", "timer_cancel") == id, "what is only a name is shown");
	event = control_registry_find(control_events(control, NULL), "timer", "timer_expire_exit");
	body = strndup(event->body, event->body_len);
	CHECK(!runtime_event_intern("timer", "timer_cancel", body, strlen(body), 0, &named, &hint), "intern");
	CHECK(id != named && id_of(control, "timer", "timer_cancel") == named, "the newest is not shown");
	free(body);
}

/* The tool's own records count, too. */
static void check_injected(struct control *control)
{
	const struct control_event *event;

	room_write(control, "events/signal/signal_deliver/inject", "sig=9", 0);
	event = control_registry_find(control_events(control, NULL), "signal", "signal_deliver");
	CHECK(control_event_has_source(event), "records without a source");
}

/* All of them on and off again; sites see it when a program brings one. */
static void check_enable(struct control *control)
{
	const struct control_event *event;
	const uint32_t *hint;
	uint32_t id;
	char *body;

	room_write(control, "events/enable", "1", 0);
	room_expect(control, "events/syscalls/enable", "1\n");
	event = control_registry_find(control_events(control, NULL), "sched", "sched_waking");
	body = strndup(event->body, event->body_len);
	CHECK(!runtime_event_intern("sched", "sched_waking", body, strlen(body), 0, &id, &hint), "intern");
	CHECK(*hint, "off");
	room_write(control, "events/enable", "0", 0);
	room_expect(control, "events/enable", "0\n");
	CHECK(!*hint, "on");
	free(body);
}

static void *ensure(void *arg)
{
	struct control *control = arg;

	CHECK(!control_named_ensure(&control->dir, NULL), "ensure");
	return NULL;
}

/* Two tools at once in a directory that has none yet: that each event is there once is seen later. */
static void start_together(struct control *control)
{
	pthread_t one, two;

	CHECK(!pthread_create(&one, NULL, ensure, control) && !pthread_create(&two, NULL, ensure, control), "threads");
	pthread_join(one, NULL);
	pthread_join(two, NULL);
}

int main(void)
{
	struct control *control = room_open();

	start_together(control);
	CHECK(!control_named_walk(check_one, control), "the walk");
	CHECK(nlisted > 700 && nlisted == control_events(control, NULL)->nevents, "%u events", nlisted);
	check_kernel(control);
	check_once(control);
	check_enable(control);
	check_brought(control);
	check_injected(control);
	control_close(control);
	return 0;
}
