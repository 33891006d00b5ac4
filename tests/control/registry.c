/*
 * Whatever programs scribble into the registry, the tool only ever leaves entries out.
 */
#include "control/room.h"

#include "control/registry.h"
#include "runtime/runtime.h"

static const char body[] = "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static void walk(const struct control_registry *registry)
{
	for (uint32_t i = 0; i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		CHECK(event->id >= EVENT_ID_FIRST && event->id < EVENT_ID_END, "id %u", event->id);
		CHECK(*event->system && strlen(event->system) <= REGISTRY_NAME_MAX &&
		      !strpbrk(event->system, "/: \n\033"), "system '%s'", event->system);
		CHECK(*event->name && strlen(event->name) <= REGISTRY_NAME_MAX &&
		      !strpbrk(event->name, "/: \n\033"), "event '%s'", event->name);
		CHECK(!memchr(event->body, '\0', event->body_len), "body");
		CHECK(control_registry_event(registry, event->id) == event, "not found by id");
	}
	for (uint32_t i = 0; i < registry->nformats; i++)
		CHECK(strlen(registry->formats[i].text) < REGISTRY_TEXT_MAX &&
		      strlen(registry->formats[i].func) < REGISTRY_TEXT_MAX, "format");
	for (uint32_t i = 0; i < registry->nelfs; i++)
		CHECK(strlen(registry->elfs[i].path) < REGISTRY_TEXT_MAX, "elf");
	for (uint32_t i = 0; i < registry->ntasks; i++)
		CHECK(strnlen(registry->tasks[i].comm, 16) < 16, "comm");
}

static void expect(struct control *control, uint32_t events)
{
	struct control_registry registry;
	struct err err = ERR_INIT;

	CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_ALL, &err), "%s",
	      err.text);
	walk(&registry);
	CHECK(registry.nevents == events, "%u events, not %u", registry.nevents, events);
	control_registry_fini(&registry);
}

static void scribble(struct control *control, uint64_t at, const void *bytes, size_t len)
{
	CHECK(pwrite(control->dir.fd[SEGMENT_REGISTRY], bytes, len, (off_t)at) == (ssize_t)len, "pwrite");
}

/* Slots that nobody finished, and texts that lead out of the heap. */
static void check_slots(struct control *control, uint32_t id)
{
	uint64_t at = REGISTRY_EVENTS_OFFSET + (uint64_t)(id - EVENT_ID_FIRST) * 64;
	static const uint64_t texts[] = { 0, 4096, REGISTRY_HEAP_OFFSET - 1, REGISTRY_SIZE,
					  UINT64_MAX, UINT64_MAX - 8, 1ull << 63 };
	static const uint32_t lens[] = { 0, 1, 7, 8, 9, 10, 11, REGISTRY_TEXT_MAX,
					 REGISTRY_TEXT_MAX + 1, UINT32_MAX };
	struct registry_slot slot, bad;

	CHECK(pread(control->dir.fd[SEGMENT_REGISTRY], &slot, 64, (off_t)at) == 64, "pread");
	expect(control, 3);
	bad = slot;
	bad.state = (uint32_t)getpid() << 2 | REGISTRY_CLAIMED;
	scribble(control, at, &bad, 64);
	expect(control, 2);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bad = slot;
		bad.text = texts[i];
		scribble(control, at, &bad, 64);
		expect(control, 2);
	}
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		bad = slot;
		bad.text_len = lens[i];
		scribble(control, at, &bad, 64);
		expect(control, 2);
	}
	scribble(control, at, &slot, 64);
	expect(control, 3);
}

static void check_random(struct control *control)
{
	uint64_t used = REGISTRY_HEAP_OFFSET + 8192;
	uint32_t seed = 17;

	for (int n = 0; n < 120; n++) {
		struct control_registry registry;
		struct err err = ERR_INIT;
		unsigned char junk[512];
		uint64_t at = REGISTRY_EVENTS_OFFSET;

		for (size_t i = 0; i < sizeof(junk); i++)
			junk[i] = (unsigned char)(room_random(&seed) % 2 ? room_random(&seed) : i % 3);
		switch (n % 4) {
		case 0:
			at = REGISTRY_HEAP_OFFSET + room_random(&seed) % 600;
			break;
		case 1:
			at = REGISTRY_TASKS_OFFSET + room_random(&seed) % 4096;
			break;
		case 2:
			at += room_random(&seed) % 4096;
			break;
		default:
			at = REGISTRY_FORMATS_OFFSET + room_random(&seed) % 4096;
		}
		scribble(control, at, junk, 1 + room_random(&seed) % sizeof(junk));
		if (n % 16 == 0)
			scribble(control, offsetof(struct registry_head, heap_used), junk, 8);
		CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_ALL, &err),
		      "%s", err.text);
		walk(&registry);
		control_registry_fini(&registry);
		room_write(control, "events/enable", n % 2 ? "1" : "0", 0);
		free(room_read(control, "available_events"));
		free(room_read(control, "saved_cmdlines"));
		free(room_read(control, "printk_formats"));
		free(room_read(control, "trace"));
		/* A long heap is slow to read. */
		scribble(control, offsetof(struct registry_head, heap_used), &used, sizeof(used));
	}
}

int main(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;
	const uint32_t *hint;
	uint32_t id = 0;
	uint64_t address;

	expect(control, 0);
	for (int i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "event%d", i);
		CHECK(!runtime_event_intern("fuzz", name, body, strlen(body), 0, &id, &hint), "intern");
	}
	CHECK(!runtime_format_intern(0, "main", "%d %s", &address), "intern");
	CHECK(runtime_symbol_address(body), "elf");
	check_slots(control, id);
	check_random(control);
	CHECK(!ftruncate(control->dir.fd[SEGMENT_REGISTRY], 5000), "cut");
	CHECK(tree_write(control, "events/enable", "1", 1, 0, &err) < 0 && strstr(err.text, "registry"),
	      "'%s'", err.text);
	control_close(control);
	return 0;
}
