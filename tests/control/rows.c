/*
 * What was recorded comes back in order of time and once, across resizes; what is lost on the way is
 * told: read + lost = written.
 */
#include "control/room.h"

#include <sched.h>

#include "control/buffer.h"
#include "control/rows.h"
#include "runtime/runtime.h"

static const char body[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"n=%d\", REC->n\n";

struct record {
	struct record_head head;
	int32_t n;
};

static uint32_t id;
static int32_t written;

static void emit(int count)
{
	while (count--) {
		struct record record = { .n = written++ };

		runtime_write(id, &record, sizeof(record));
	}
}

/* Hops over all CPUs that this process may run on. */
static void emit_everywhere(struct control *control, int count)
{
	cpu_set_t home, one;

	CHECK(!sched_getaffinity(0, sizeof(home), &home), "affinity");
	for (uint32_t cpu = 0; cpu < control->dir.ncpu && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &home) && !sched_setaffinity(0, sizeof(one), &one))
			emit(count);
	}
	sched_setaffinity(0, sizeof(home), &home);
}

struct seen {
	uint64_t events, lost;
	int32_t last;
};

/* Reads all there is; numbers and times must go up. */
static struct seen read_all(struct control *control, bool consume)
{
	struct control_rows_how how = { .cpu = -1, .consume = consume };
	struct seen seen = { 0, 0, -1 };
	struct control_rows *rows;
	struct control_row row;
	struct err err = ERR_INIT;
	uint64_t ts = 0;
	int r;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	while ((r = control_rows_next(rows, &row, &err)) == 1) {
		const struct record *record = row.row.data;

		CHECK(row.row.format && !strcmp(row.row.format->name, "row"), "unknown event");
		CHECK(row.row.ts >= ts, "time goes back");
		CHECK(record->n > seen.last, "%d after %d", record->n, seen.last);
		ts = row.row.ts;
		seen.last = record->n;
		seen.events++;
		seen.lost += row.lost;
	}
	CHECK(!r, "%s", err.text);
	control_rows_close(rows);
	return seen;
}

static void check_peek(struct control *control)
{
	struct seen seen;

	emit_everywhere(control, 1000);
	for (int i = 0; i < 3; i++) {
		seen = read_all(control, false);
		CHECK(seen.events == (uint64_t)written && !seen.lost, "%llu of %d",
		      (unsigned long long)seen.events, written);
	}
	seen = read_all(control, true);
	CHECK(seen.events == (uint64_t)written && !seen.lost, "consumed %llu of %d",
	      (unsigned long long)seen.events, written);
	seen = read_all(control, true);
	CHECK(!seen.events && !seen.lost, "%llu were consumed twice", (unsigned long long)seen.events);
}

/* Resizes between the events; sets that were read are given back. */
static void check_resize(struct control *control)
{
	int32_t before = written;
	struct seen seen;

	for (int i = 0; i < 3; i++) {
		emit_everywhere(control, 100);
		room_write(control, "buffer_size_kb", i % 2 ? "800" : "400", 0);
	}
	emit_everywhere(control, 100);
	seen = read_all(control, true);
	CHECK(seen.events == (uint64_t)(written - before) && !seen.lost, "%llu and %llu lost of %d",
	      (unsigned long long)seen.events, (unsigned long long)seen.lost, written - before);
	room_write(control, "tracing_on", "1", 0);
	CHECK(!control->state.buffers[0].nretired, "%u sets are kept although they were read",
	      control->state.buffers[0].nretired);
}

/* More resizes than sets are kept for: what goes unread is told as lost. */
static void check_pushed_out(struct control *control)
{
	int32_t before = written;
	struct seen seen;

	for (int i = 0; i < 9; i++) {
		emit_everywhere(control, 50);
		room_write(control, "buffer_size_kb", i % 2 ? "800" : "400", 0);
	}
	emit_everywhere(control, 50);
	seen = read_all(control, true);
	CHECK(seen.lost > 0, "nothing was pushed out");
	CHECK(seen.events + seen.lost == (uint64_t)(written - before), "%llu and %llu lost of %d",
	      (unsigned long long)seen.events, (unsigned long long)seen.lost, written - before);
}

/* Overwritten: the oldest are gone, and counted. */
static void check_overwrite(struct control *control)
{
	int32_t before;
	struct seen seen;
	char *text;

	room_write(control, "buffer_size_kb", "20", 0);
	read_all(control, true);
	before = written;
	emit_everywhere(control, 20000);
	text = room_read(control, "trace");
	CHECK(strstr(text, "/40000   #P:") || control->dir.ncpu != 2, "%.200s", text);
	free(text);
	seen = read_all(control, true);
	CHECK(seen.lost > 0 && seen.events + seen.lost == (uint64_t)(written - before),
	      "%llu and %llu lost of %d", (unsigned long long)seen.events,
	      (unsigned long long)seen.lost, written - before);
	CHECK(seen.last == written - 1, "the newest is %d, not %d", seen.last, written - 1);
}

static void check_clear(struct control *control)
{
	emit_everywhere(control, 10);
	room_write(control, "trace", "", 0);
	CHECK(!read_all(control, false).events, "cleared, but events are there");
	emit_everywhere(control, 10);
	CHECK(!tree_write(control, "trace", "x", 1, 0, NULL), "append");
	CHECK(read_all(control, false).events, "`>>` cleared it");
	room_write(control, "per_cpu/cpu0/trace", "", 0);
	room_write(control, "tracing_on", "0", 0);
	emit_everywhere(control, 10);
	CHECK(read_all(control, false).events <= 10u * (control->dir.ncpu - 1), "off, or not cleared");
	room_write(control, "tracing_on", "1", 0);
}

/* One reader at a time. */
static void check_busy(struct control *control)
{
	struct control_rows_how how = { .cpu = -1, .consume = true };
	struct control_rows *one, *two;
	struct err err = ERR_INIT;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control_rows_open(&one, control, &how, &err), "%s", err.text);
	CHECK(control_rows_open(&two, control, &how, &err) == -EBUSY && err.text[0], "two consume");
	control_rows_close(one);
	CHECK(!control_rows_open(&one, control, &how, NULL), "the lock outlives its holder");
	control_rows_close(one);
}

int main(void)
{
	struct control *control = room_open();
	const uint32_t *hint;

	CHECK(!runtime_event_intern("test", "row", body, strlen(body), 0, &id, &hint), "intern");
	room_write(control, "events/test/enable", "1", 0);
	check_peek(control);
	check_resize(control);
	check_pushed_out(control);
	check_overwrite(control);
	check_clear(control);
	check_busy(control);
	control_close(control);
	return 0;
}
