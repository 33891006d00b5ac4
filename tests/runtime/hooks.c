/*
 * What hangs on events, in a traced program: filters, histograms, triggers that switch a buffer, events that events cause. Each
 * event is filtered, recorded and counted once, whatever the tool publishes meanwhile; and events that become known later, and
 * programs that fork, find what was hung up before.
 */
#include "runtime/hang.h"

#include <pthread.h>

#include "layout/page.h"

#define THREADS 4u
#define EACH 30000u
#define EQUALS ('=' << 8 | '=')

static struct control *control;
static uint32_t got[16];

static void see(const struct seen *seen, void *ctx)
{
	(void)ctx;
	got[seen->who % 16]++;
}

/* Events by `who`, taken out of the buffer. */
static uint64_t drain(void)
{
	memset(got, 0, sizeof(got));
	return read_all(control, true, see, NULL, NULL);
}

static void publish_nothing(void)
{
	struct hang hang;

	hang_init(&hang);
	hang_publish(&hang, control);
}

static void filter(void)
{
	struct note_event event, both;
	struct hang hang;

	hang_init(&hang);
	hang_hook(&hang, 0, "test", "filtered", hang_compare(&hang, "who", EQUALS, 3), NULL, 0);
	hang_hook(&hang, 0, "test", "unknown", hang_compare(&hang, "nothing", EQUALS, 3), NULL, 0);
	hang_publish(&hang, control);
	/* These come later than what hangs on them. */
	event = note_event("filtered");
	both = note_event("unknown");
	drain();
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, i % 10, i, NOTE_MIN);
	CHECK(drain() == 10 && got[3] == 10, "%u of who 3", got[3]);
	for (uint32_t i = 0; i < 100; i++)
		note_write(&both, i % 10, i, NOTE_MIN);
	CHECK(drain() == 0, "a filter that cannot be understood lets something through");
	publish_nothing();
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, i % 10, i, NOTE_MIN);
	CHECK(drain() == 100, "no filter");
}

/* Counted whether it is recorded or not, on or not. */
static void histogram(void)
{
	struct table_shape shape = hang_shape(2, 128, 8, 0, 0, 0);
	struct hook_act act = { .kind = HOOK_HIST };
	struct note_event event = note_event("counted");
	unsigned char *tables;
	struct counted counted;
	struct hang hang;
	uint64_t table;
	pid_t pid;

	hang_init(&hang);
	table = hang_room(&hang, control, table_size(&shape));
	act.hist = hang_hist(&hang, "who", table, &shape);
	hang_hook(&hang, 0, "test", "counted", hang_compare(&hang, "who", EQUALS, 3), &act, 1);
	hang_publish(&hang, control);
	tables = hang_tables(control);
	drain();
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, i % 10, i, NOTE_MIN);
	pid = fork();
	if (!pid) {
		for (uint32_t i = 0; i < 100; i++)
			note_write(&event, i % 10, i, NOTE_MIN);
		_exit(0);
	}
	expect_exit(pid, 20, "a child");
	counted = hang_count(tables + table, &shape, 3);
	CHECK(counted.all == 200 && counted.hits == 20 && !counted.drops, "%llu hits, %llu of who 3",
	      (unsigned long long)counted.all, (unsigned long long)counted.hits);
	CHECK(drain() == 20 && got[3] == 20, "recorded: %u", got[3]);
	publish_nothing();
}

/* `traceoff if who == 5`, `traceon if who == 6`. */
static void switches(void)
{
	struct hook_act acts[2] = { { .kind = HOOK_TRACEOFF, .target = 40 }, { .kind = HOOK_TRACEON, .target = 40 } };
	struct note_event event = note_event("switched"), other = note_event("switched_too");
	struct hang hang;

	hang_init(&hang);
	acts[0].cond = hang_compare(&hang, "who", EQUALS, 5);
	acts[1].cond = hang_compare(&hang, "who", EQUALS, 6);
	hang_hook(&hang, 0, "test", "switched", 0, acts, 2);
	tool_begin(control);
	control->state.buffers[0].off = 40;
	tool_commit(control);
	hang_publish(&hang, control);
	drain();
	for (uint32_t i = 0; i < 10; i++) {
		note_write(&event, i, i, NOTE_MIN);
		note_write(&other, 10, i, NOTE_MIN);
	}
	/* 0 to 5 of the first; 6 switches on and is not recorded itself. */
	drain();
	CHECK(got[5] && !got[6] && got[7] && got[10] == 9, "5: %u 6: %u 7: %u others: %u", got[5], got[6], got[7], got[10]);
	tool_begin(control);
	control->state.buffers[0].off = 0;
	tool_commit(control);
	publish_nothing();
}

/* A probe that makes a whole note of another: recorded if that event is on, which hooks of its own can filter. */
static void caused(void)
{
	static const char *const names[] = { "who", "seq", "len", "sum" };
	struct note_event event = note_event("cause"), made;
	struct program_build *build = program_build_new();
	struct hook_field fields[4] = { 0 };
	struct hook_emit emit = { .nfields = 4, .fixed = NOTE_MIN };
	struct hook_act act = { .kind = HOOK_EMIT };
	struct control_item *item;
	struct hang hang;

	note_intern(&made, "probes", "made");
	hang_init(&hang);
	for (uint16_t i = 0; i < 4; i++)
		fields[i] = (struct hook_field){
			.offset = (uint16_t)(8 + 4 * i), .size = 4, .root = program_build_field(build, names[i], PROGRAM_INT),
		};
	emit.event = made.id;
	emit.program = hang_program(&hang, build);
	emit.fields = hang_put(&hang, fields, sizeof(fields));
	act.hist = hang_put(&hang, &emit, sizeof(emit));
	hang_hook(&hang, HOOK_ANY_BUFFER, "test", "cause", 0, &act, 1);
	hang_hook(&hang, 0, "probes", "made", hang_compare(&hang, "who", '<', 3), NULL, 0);
	tool_begin(control);
	item = control_state_item_add(&control->state, "e:probes/made test.cause", 24);
	item->item.kind = STATE_ITEM_PROBE;
	item->item.event_id = made.id;
	strcpy(item->item.system, "probes");
	strcpy(item->item.event, "made");
	tool_commit(control);
	hang_publish(&hang, control);
	drain();
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, i % 10, i, NOTE_MIN);
	CHECK(drain() == 100, "the probe's event is off");
	tool_enable(control, "probes", "made", true);
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, i % 10, i, NOTE_MIN);
	CHECK(drain() == 130 && got[2] == 20 && got[3] == 10, "%u of who 2, %u of who 3", got[2], got[3]);
	tool_enable(control, "probes", "made", false);
	tool_begin(control);
	control_state_item_remove(&control->state, 0);
	tool_commit(control);
	publish_nothing();
}

/* Marks have hooks, too, and the tool's own. */
static void marks(void)
{
	struct { struct record_head head; uint64_t ip; char text[16]; } mark = { .text = "a mark\n" };
	struct program_build *build = program_build_new();
	struct hang hang;

	hang_init(&hang);
	program_build_is(build, program_build_match(build, program_build_field(build, "buf", PROGRAM_TEXT), PROGRAM_FRONT, "a", 1));
	hang_hook(&hang, 0, "ftrace", "print", hang_program(&hang, build), NULL, 0);
	hang_publish(&hang, control);
	drain();
	runtime_write(EVENT_ID_PRINT, &mark, sizeof(mark));
	CHECK(!runtime_write_to(0, control->state.buffers[0].born, EVENT_ID_PRINT, &mark, sizeof(mark), 0), "write_to");
	mark.text[0] = 'b';
	runtime_write(EVENT_ID_PRINT, &mark, sizeof(mark));
	CHECK(!runtime_write_to(0, control->state.buffers[0].born, EVENT_ID_PRINT, &mark, sizeof(mark), 0), "write_to");
	CHECK(drain() == 2, "marks");
	publish_nothing();
}

/* Events while the tool publishes the same hooks again and again, in other places of the code area each time. */
static struct note_event storm_event;
static uint32_t storm_done, storm_at[THREADS];

static void *storm_writer(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < EACH; i++) {
		note_write(&storm_event, i % 4 ? 8 + who : who, i, NOTE_MIN);
		__atomic_store_n(&storm_at[who], i + 1, __ATOMIC_RELAXED);
		if (i % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_add(&storm_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Each has written something since. A writer that finds a new state a thousand times in a row gives its event up and counts it as
 * lost: that is not what is asked here. */
static void storm_wait(void)
{
	static uint32_t was[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t at;

		while ((at = __atomic_load_n(&storm_at[i], __ATOMIC_RELAXED)) == was[i] && at < EACH)
			sched_yield();
		was[i] = at;
	}
}

static void storm_publish(uint64_t table, const struct table_shape *shape, uint32_t round)
{
	struct hook_act act = { .kind = HOOK_HIST };
	struct hang hang;

	hang_init(&hang);
	for (uint32_t i = 0; i < round % 7; i++)
		hang_compare(&hang, "len", '>', i);
	act.hist = hang_hist(&hang, "who", table, shape);
	/* With a condition it takes the long way, else the short one. */
	if (round & 1)
		act.cond = hang_compare(&hang, "who", '<', 1000);
	hang_hook(&hang, 0, "test", "storm", hang_compare(&hang, "who", '<', 8), &act, 1);
	hang_publish(&hang, control);
}

static void storm(void)
{
	struct table_shape shape = hang_shape(2, 128, 8, 0, 0, 0);
	pthread_t thread[THREADS];
	struct counted counted;
	unsigned char *tables;
	uint32_t rounds = 0;
	struct hang hang;
	uint64_t table;

	hang_init(&hang);
	hang.tables += 1 << 20;
	table = hang_room(&hang, control, table_size(&shape));
	tables = hang_tables(control);
	storm_publish(table, &shape, 0);
	storm_event = note_event("storm");
	drain();
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, storm_writer, (void *)(uintptr_t)i), "thread");
	while (__atomic_load_n(&storm_done, __ATOMIC_ACQUIRE) < THREADS) {
		storm_publish(table, &shape, ++rounds);
		storm_wait();
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	counted = hang_count(tables + table, &shape, 9);
	CHECK(counted.all == THREADS * EACH && counted.hits == EACH - EACH / 4, "%llu hits in %u generations",
	      (unsigned long long)counted.all, rounds);
	CHECK(drain() == THREADS * EACH / 4, "recorded: %u %u %u %u in %u generations", got[0], got[1], got[2], got[3], rounds);
	printf("%u generations\n", rounds);
	buf_fini(&hang.hooks);
	buf_fini(&hang.code);
	publish_nothing();
}

int main(void)
{
	control = tool_start(2000);
	filter();
	histogram();
	switches();
	caused();
	marks();
	storm();
	control_close(control);
	return 0;
}
