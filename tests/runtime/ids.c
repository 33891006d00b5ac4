/*
 * Who gets which event ID: same name and layout, one ID, however many programs bring it at the same moment; same name, other
 * layout, another; what the dead left half-filled is skipped; and when there are no more, that is an error and never a wrap.
 */
#include "runtime/trace.h"

#include <sched.h>

#include "control/registry.h"

#define PROCESSES 50
#define EVENTS 100

static struct registry_slot *read_slots(const struct control *control, struct registry_head *head)
{
	struct registry_slot *slots = malloc(REGISTRY_EVENTS * sizeof(*slots));
	int fd = control->dir.fd[SEGMENT_REGISTRY];

	CHECK(pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	      pread(fd, slots, REGISTRY_EVENTS * sizeof(*slots), REGISTRY_EVENTS_OFFSET) ==
	      (ssize_t)(REGISTRY_EVENTS * sizeof(*slots)), "registry");
	return slots;
}

static uint32_t slots_ready(const struct control *control)
{
	struct registry_head head;
	struct registry_slot *slots = read_slots(control, &head);
	uint32_t n = 0;

	for (uint32_t i = 0; i < REGISTRY_EVENTS; i++)
		n += slots[i].state == REGISTRY_READY;
	free(slots);
	return n;
}

static void put_slot(const struct control *control, uint32_t i, const struct registry_slot *slot)
{
	CHECK(pwrite(control->dir.fd[SEGMENT_REGISTRY], slot, sizeof(*slot),
		     (off_t)(REGISTRY_EVENTS_OFFSET + i * sizeof(*slot))) == sizeof(*slot), "registry");
}

/* All at once: each waits for the start. */
static void race(struct control *control)
{
	uint32_t (*ids)[EVENTS] = shared_memory(PROCESSES * sizeof(*ids));
	uint32_t *go = shared_memory(4096), before = slots_ready(control);
	pid_t pid[PROCESSES];

	for (int p = 0; p < PROCESSES; p++) {
		pid[p] = fork();
		if (pid[p])
			continue;
		__atomic_fetch_add(&go[1], 1, __ATOMIC_SEQ_CST);
		while (!__atomic_load_n(go, __ATOMIC_SEQ_CST))
			sched_yield();
		for (int i = 0; i < EVENTS; i++) {
			struct note_event event;
			char name[32];

			snprintf(name, sizeof(name), "race%d", (i + p * 7) % EVENTS);
			if (note_intern(&event, "test", name))
				_exit(3);
			ids[p][(i + p * 7) % EVENTS] = event.id;
		}
		_exit(0);
	}
	while (__atomic_load_n(&go[1], __ATOMIC_SEQ_CST) < PROCESSES)
		pause_us(1000);
	__atomic_store_n(go, 1, __ATOMIC_SEQ_CST);
	for (int p = 0; p < PROCESSES; p++)
		expect_exit(pid[p], 60, "a program that registers");
	for (int p = 1; p < PROCESSES; p++)
		for (int i = 0; i < EVENTS; i++)
			CHECK(ids[p][i] == ids[0][i], "race%d has ids %u and %u", i, ids[0][i], ids[p][i]);
	CHECK(slots_ready(control) == before + EVENTS, "%d events took %u ids", EVENTS, slots_ready(control) - before);
}

static void names_and_layouts(struct control *control)
{
	struct note_event a, b, c;
	uint32_t id;
	const uint32_t *hint;
	struct control_registry registry;
	struct err err = ERR_INIT;
	uint32_t shown = 0;

	CHECK(!note_intern(&a, "test", "twin") && !note_intern(&b, "test", "twin"), "twin");
	CHECK(a.id == b.id && a.hint == b.hint, "one event has two ids");
	CHECK(!runtime_event_intern("test", "twin", NOTE_BODY "x", strlen(NOTE_BODY) + 1, 0, &id, &hint), "twin");
	CHECK(id != a.id, "two layouts share an id");
	CHECK(!note_intern(&c, "test2", "twin") && c.id != a.id, "two systems share an id");
	CHECK(!control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, &err), "%s", err.text);
	for (uint32_t i = 0; i < registry.nevents; i++)
		if (!strcmp(registry.events[i].name, "twin") && !strcmp(registry.events[i].system, "test") &&
		    registry.events[i].shown)
			shown = registry.events[i].id;
	CHECK(shown == id, "the newest layout is not the one shown");
	control_registry_fini(&registry);
}

/* A slot that somebody claimed and never filled: not used, not shown, and in nobody's way. */
static void half_filled(struct control *control)
{
	struct registry_head head;
	struct registry_slot *slots = read_slots(control, &head), claimed = { 0 };
	uint32_t next = head.next[REGISTRY_EVENT] % REGISTRY_EVENTS, before = slots_ready(control);
	struct note_event event;

	/* Where the search begins is a hint that rivals stored in any order. */
	for (uint32_t n = 0; n < REGISTRY_EVENTS && slots[next].state != REGISTRY_FREE; n++)
		next = (next + 1) % REGISTRY_EVENTS;
	CHECK(slots[next].state == REGISTRY_FREE, "no slot is free");
	claimed.state = 99999u << 2 | REGISTRY_CLAIMED;
	put_slot(control, next, &claimed);
	CHECK(!note_intern(&event, "test", "after_dead"), "a half-filled slot stops everybody");
	CHECK(event.id != EVENT_ID_FIRST + next, "a half-filled slot was dealt");
	CHECK(slots_ready(control) == before + 1, "a half-filled slot counts");
	free(slots);
}

/* Fills what is left. */
static void exhaust(struct control *control)
{
	struct registry_head head;
	struct registry_slot *slots = read_slots(control, &head);
	struct note_event known, fresh = { 7, NULL };
	uint64_t heap, refused, there;
	char name[32];
	int r;

	CHECK(!note_intern(&known, "test", "known"), "known");
	free(slots);
	slots = read_slots(control, &head);
	for (uint32_t i = 0; i < REGISTRY_EVENTS; i++)
		if (slots[i].state == REGISTRY_FREE) {
			slots[i].state = 99999u << 2 | REGISTRY_CLAIMED;
			put_slot(control, i, &slots[i]);
		}
	free(slots);
	slots = read_slots(control, &head);
	heap = head.heap_used;
	refused = head.refused;
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "fresh%d", i);
		r = note_intern(&fresh, "test", name);
		CHECK(r == -ENOSPC, "an event without an id: %d", r);
		CHECK(fresh.id == 7 && !fresh.hint, "a refused event was given something");
	}
	free(slots);
	slots = read_slots(control, &head);
	CHECK(head.refused == refused + 50, "refusals are not counted");
	CHECK(head.heap_used == heap, "refusals eat the heap: %llu bytes",
	      (unsigned long long)(head.heap_used - heap));
	CHECK(!note_intern(&fresh, "test", "known") && fresh.id == known.id, "what was there is refused");
	there = unread_now(control);
	note_write(&known, 1, 1, NOTE_MIN);
	CHECK(unread_now(control) == there + 1, "what was there is no longer traced");
	free(slots);
}

int main(void)
{
	struct control *control = tool_start(64);

	race(control);
	names_and_layouts(control);
	half_filled(control);
	exhaust(control);
	control_close(control);
	return 0;
}
