/*
 * As many instances as one may want at once: sixty, each with an event of its own and one event that all of them take. Programs
 * write all of these; every instance has exactly what it asked for, each note once. Then they are removed under the hands of
 * programs that go on writing, and nothing stays.
 *
 *	many [NOTES]
 */
#include "storm/storm.h"

#include "control/rows.h"

#define INSTANCES 60u
#define NOTES_MAX 2000u

static struct control *control;
static struct note_event own[INSTANCES], common;
static uint32_t notes = 150;

static void instance_path(char *path, size_t size, uint32_t i, const char *file)
{
	snprintf(path, size, "instances/many%u%s", i, file);
}

static void write_file(uint32_t i, const char *file, const char *text)
{
	struct err err = ERR_INIT;
	char path[128];
	int r;

	instance_path(path, sizeof(path), i, file);
	r = tree_write(control, path, text, strlen(text), TREE_TRUNC, &err);
	CHECK(!r, "%s", err.text);
}

static void make(uint32_t i)
{
	struct err err = ERR_INIT;
	char path[128], events[64];

	instance_path(path, sizeof(path), i, "");
	CHECK(!tree_mkdir(control, path, &err), "%s", err.text);
	write_file(i, "/buffer_size_kb", "256");
	snprintf(events, sizeof(events), "test:own%u\ntest:common\n", i);
	write_file(i, "/set_event", events);
}

static void take_away(uint32_t i)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;
	struct err err;
	char path[128];
	int r;

	instance_path(path, sizeof(path), i, "");
	do {
		err = (struct err)ERR_INIT;
		r = tree_rmdir(control, path, &err);
	} while (r == -EBUSY && now_ns() < end);
	CHECK(!r, "%s", err.text);
}

static void say(uint32_t who, uint32_t seq)
{
	for (uint32_t i = 0; i < INSTANCES; i++)
		note_write(&own[i], who, seq, NOTE_MIN);
	note_write(&common, who, seq, NOTE_MIN);
}

static void write_some(uint32_t number)
{
	for (uint32_t seq = 0; seq < notes; seq++)
		say(number, seq);
}

static void write_on(uint32_t number)
{
	for (uint32_t seq = 0; !storm_stopped(); seq++) {
		say(number, seq);
		__atomic_store_n(&storm->written[number], seq + 1, __ATOMIC_RELAXED);
	}
}

/* What one instance has: its own event and the common one, from every program, each note once, and nothing else. */
static void check_instance(uint32_t i)
{
	static uint8_t got[2][STORM_WRITERS][NOTES_MAX];
	struct control_rows_how how = { .cpu = -1 };
	struct control_rows *rows;
	struct control_row row;
	struct err err = ERR_INIT;
	uint64_t n = 0;
	char name[64];
	int place, r;

	snprintf(name, sizeof(name), "many%u", i);
	place = control_state_buffer(&control->state, name);
	CHECK(place > 0, "%s is not there", name);
	how.buffer = (uint32_t)place;
	memset(got, 0, sizeof(got));
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	while ((r = control_rows_next(rows, &row, &err)) == 1) {
		const struct note *note = row.row.data;
		const char *wrong = note_wrong(note, row.row.len);
		bool is_common;

		CHECK(!wrong, "%s: a note is %s", name, wrong);
		CHECK(!row.lost, "%s: %llu events were lost", name, (unsigned long long)row.lost);
		is_common = note->head.type == common.id;
		CHECK(is_common || note->head.type == own[i].id, "%s: has event %u of another", name, note->head.type);
		CHECK(note->who < STORM_WRITERS && note->seq < notes, "%s: who %u seq %u", name, note->who, note->seq);
		CHECK(!got[is_common][note->who][note->seq]++, "%s: who %u seq %u comes twice", name, note->who, note->seq);
		n++;
	}
	CHECK(!r, "%s", err.text);
	control_rows_close(rows);
	CHECK(n == 2ull * STORM_WRITERS * notes, "%s: has %llu of %llu notes", name, (unsigned long long)n,
	      2ull * STORM_WRITERS * notes);
}

static void remove_under_writers(void)
{
	uint64_t end = now_ns() + STORM_PATIENCE_S * 1000000000ull;
	pid_t writer[STORM_WRITERS];

	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		writer[i] = storm_start(write_on, i);
	while (!storm->written[0] && now_ns() < end)
		pause_us(1000);
	/* Not in the order in which they were made: places become free all over. */
	for (uint32_t i = 0; i < INSTANCES; i++)
		take_away(i * 7 % INSTANCES);
	storm_stop();
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		expect_exit(writer[i], STORM_PATIENCE_S, "a program");
}

int main(int argc, char **argv)
{
	pid_t writer[STORM_WRITERS];
	char name[32];

	if (argc > 1)
		notes = (uint32_t)atoi(argv[1]);
	CHECK(notes && notes <= NOTES_MAX, "1 to %u notes", NOTES_MAX);
	storm = shared_memory(sizeof(*storm));
	control = tool_open();
	for (uint32_t i = 0; i < INSTANCES; i++) {
		snprintf(name, sizeof(name), "own%u", i);
		own[i] = note_event(name);
	}
	common = note_event("common");
	for (uint32_t i = 0; i < INSTANCES; i++)
		make(i);
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		writer[i] = storm_start(write_some, i);
	for (uint32_t i = 0; i < STORM_WRITERS; i++)
		expect_exit(writer[i], STORM_PATIENCE_S, "a program");
	CHECK(!storm_refused(control), "%llu events were refused", (unsigned long long)storm_refused(control));
	tool_refresh(control);
	for (uint32_t i = 0; i < INSTANCES; i++)
		check_instance(i);
	remove_under_writers();
	printf("%u instances with %u notes each\n", INSTANCES, 2 * STORM_WRITERS * notes);
	storm_tidy(control);
	control_close(control);
	return 0;
}
