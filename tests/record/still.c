/*
 * A still picture of the rings is exact: of each buffer and CPU the events of the window and no others, those of overflow rings
 * included, and what is missing is told where it is missing. Rings that were turned are part of it, as long as they are kept.
 */
#include "control/program.h"

#include <fcntl.h>
#include <time.h>

#include "control/buffer.h"
#include "control/clock.h"
#include "control/enable.h"
#include "control/rows.h"
#include "dat/dat.h"
#include "decode/page.h"
#include "record/clock.h"
#include "record/still.h"
#include "replay/replay.h"

#define SEEN_MAX 60000

struct seen {
	uint64_t ts;
	uint64_t lost;
	int cpu;
	int32_t n;
};

struct list {
	struct seen *at;
	size_t n;
};

static struct item item;
static struct source *source;
static struct control *control;
static struct list want[2], got[2];
static struct record_buffer buffers[] = { { .instance = "", .name = "" }, { .instance = "a", .name = "a" } };
static const struct record_window all = { .before_ns = UINT64_MAX, .after_ns = UINT64_MAX };

static const char *path(void)
{
	static char text[1024];

	snprintf(text, sizeof(text), "%s/still.dat", getenv("RINGSIDE_SCRATCH") ? getenv("RINGSIDE_SCRATCH") : ".");
	return text;
}

static void list_add(struct list *list, struct seen seen)
{
	if (!list->at)
		list->at = calloc(SEEN_MAX, sizeof(*list->at));
	CHECK(list->at && list->n < SEEN_MAX, "too many events");
	list->at[list->n++] = seen;
}

static int32_t number_of(const void *record)
{
	int32_t n;

	memcpy(&n, (const char *)record + 8, sizeof(n));
	return n;
}

/* What the buffer has, as everybody else sees it. */
static void look(size_t b, bool snapshot)
{
	struct control_rows_how how = { .cpu = -1, .snapshot = snapshot };
	struct err err = ERR_INIT;
	struct control_rows *rows;
	struct control_row row;
	int r;

	want[b].n = 0;
	CHECK(!control_refresh(control, &err), "%s", err.text);
	how.buffer = (uint32_t)control_state_buffer(&control->state, buffers[b].instance);
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	while ((r = control_rows_next(rows, &row, &err)) > 0)
		list_add(&want[b], (struct seen){ row.row.ts, row.lost, row.row.cpu, number_of(row.row.data) });
	CHECK(!r, "%s", err.text);
	control_rows_close(rows);
}

static struct record_still_sums take(size_t n, const struct record_window *window, bool snapshot, int version)
{
	struct record_how how = { .buffers = buffers, .nr_buffers = n, .path = path(), .version = version };
	struct record_still_sums sums;
	struct err err = ERR_INIT;

	CHECK(!record_still(&how, window, snapshot, &sums, &err), "%s", err.text);
	return sums;
}

static void read_back(void)
{
	struct replay_times times = { .raw = true };
	struct err err = ERR_INIT;
	struct replay_record rec;
	struct replay *replay;
	struct dat *dat;
	int r;

	got[0].n = got[1].n = 0;
	CHECK(!dat_open(&dat, path(), &err), "%s", err.text);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	CHECK(!replay_new(&replay) && !replay_add(replay, dat, &times, NULL, NULL, &err), "%s", err.text);
	while ((r = replay_next(replay, &rec, &err)) == 1)
		list_add(&got[!!*rec.lane->buffer->name], (struct seen){ rec.raw_ts, rec.lost, rec.lane->cpu, number_of(rec.data) });
	CHECK(!r, "%s", err.text);
	CHECK(!replay_warning(replay, 0), "%s", replay_warning(replay, 0));
	replay_free(replay);
	dat_close(dat);
}

static int by_number(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->n < y->n ? -1 : x->n > y->n;
}

/* The file has what was there from `from` to `to`. */
static void expect(size_t b, uint64_t from, uint64_t to)
{
	struct list is = got[b];
	size_t n = 0;

	qsort(is.at, is.n, sizeof(*is.at), by_number);
	qsort(want[b].at, want[b].n, sizeof(*want[b].at), by_number);
	for (size_t i = 0; i < want[b].n; i++) {
		const struct seen *w = &want[b].at[i];

		if (w->ts < from || w->ts > to)
			continue;
		CHECK(n < is.n, "event %d of buffer %zu is missing, and all behind it", w->n, b);
		CHECK(is.at[n].n == w->n && is.at[n].ts == w->ts && is.at[n].cpu == w->cpu,
		      "buffer %zu: event %d on cpu %d, not %d on cpu %d", b, is.at[n].n, is.at[n].cpu, w->n, w->cpu);
		n++;
	}
	CHECK(n == is.n, "%zu events too many", is.n - n);
}

static uint64_t lost_in(const struct list *list)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->n; i++)
		sum += list->at[i].lost;
	return sum;
}

static void settle(const char *clock, const char *kb)
{
	room_write(control, "tracing_on", "0", 0);
	room_write(control, "instances/a/tracing_on", "0", 0);
	room_write(control, "trace_clock", clock, 0);
	room_write(control, "instances/a/trace_clock", clock, 0);
	room_write(control, "buffer_size_kb", kb, 0);
	room_write(control, "instances/a/buffer_size_kb", kb, 0);
	room_write(control, "trace", "", 0);
	room_write(control, "instances/a/trace", "", 0);
	room_write(control, "tracing_on", "1", 0);
	room_write(control, "instances/a/tracing_on", "1", 0);
}

/* On the CPUs that there are, in turns, and by a program without rseq. */
static void emit(int32_t from, int32_t to)
{
	char range[32];

	for (int32_t n = from; n + 1000 < to; n += 1000) {
		int cpu = cpu_at(n / 1000 % 2);

		cpu_pin(cpu < 0 ? cpu_at(0) : cpu);
		item_emit_many(&item, n, n + 1000);
	}
	snprintf(range, sizeof(range), "%d", to - 1000);
	child_expect(role_start("emit", range, ROLE_RSEQ_NONE));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Any three events are a moment and the ends of its window; the ends belong to it. */
static void test_windows(void)
{
	uint32_t seed = 1;

	settle("local", "4000");
	emit(0, 8000);
	look(0, false);
	look(1, false);
	CHECK(want[0].n == 8000 && want[1].n == 8000, "%zu and %zu events", want[0].n, want[1].n);
	CHECK(take(2, &all, false, 7).events == 16000, "not all");
	read_back();
	expect(0, 0, UINT64_MAX);
	expect(1, 0, UINT64_MAX);
	for (int i = 0; i < 40; i++) {
		size_t b = room_random(&seed) % 2;
		uint64_t x = want[b].at[room_random(&seed) % 8000].ts, y = want[b].at[room_random(&seed) % 8000].ts;
		uint64_t moment = want[0].at[room_random(&seed) % 8000].ts, from = least(least(x, y), moment);
		uint64_t to = x > y ? x : y;
		struct record_window window = { moment, moment - from, to > moment ? to - moment : 0 };
		struct record_still_sums sums = take(2, &window, false, i % 8 ? 7 : 6);

		read_back();
		expect(0, from, moment + window.after_ns);
		expect(1, from, moment + window.after_ns);
		CHECK(sums.events == got[0].n + got[1].n && !sums.lost && !sums.overwritten && !sums.lost_more, "sums");
		CHECK(!lost_in(&got[0]) && !lost_in(&got[1]), "losses that there were not");
		CHECK(sums.moment == moment, "the moment is another");
	}
}

/* What was overwritten is told when the window begins before what is left, and else it is not. */
static void test_overwritten(void)
{
	struct record_window window = { 0, 0, 0 };
	struct record_still_sums sums;
	uint64_t oldest = 0;

	settle("local", "8");
	cpu_pin(cpu_at(0));
	item_emit_many(&item, 0, 5000);
	look(0, false);
	CHECK(want[0].n && want[0].n < 5000, "nothing was overwritten");
	sums = take(1, &all, false, 7);
	read_back();
	expect(0, 0, UINT64_MAX);
	CHECK(sums.overwritten == 5000 - want[0].n && !sums.lost, "%u overwritten of %zu, and %u lost",
	      (unsigned int)sums.overwritten, 5000 - want[0].n, (unsigned int)sums.lost);
	CHECK(lost_in(&got[0]) == sums.overwritten, "the file tells of %u", (unsigned int)lost_in(&got[0]));
	/* The second event, whose page begins before it. */
	oldest = want[0].at[1].ts;
	window.moment = want[0].at[want[0].n - 1].ts;
	window.before_ns = window.moment - oldest;
	sums = take(1, &window, false, 7);
	read_back();
	expect(0, oldest, window.moment);
	CHECK(!sums.overwritten && !lost_in(&got[0]), "what is missing before the window is no loss");
}

/* Windows that begin with any of the events, also with a page's last one. */
static void test_each(void)
{
	struct record_window window = { 0, 0, UINT64_MAX };

	settle("local", "16");
	cpu_pin(cpu_at(0));
	item_emit_many(&item, 0, 300);
	look(0, false);
	window.moment = want[0].at[299].ts;
	for (int i = 0; i < 300; i += SANITIZED ? 7 : 1) {
		window.before_ns = window.moment - want[0].at[i].ts;
		take(1, &window, false, 7);
		read_back();
		expect(0, want[0].at[i].ts, UINT64_MAX);
	}
}

static void turn(uint32_t keep)
{
	struct err err = ERR_INIT;

	room_begin(control);
	CHECK(!control_buffer_turn(control, &control->state.buffers[0], keep, &err), "%s", err.text);
	room_commit(control);
}

static void test_turned(void)
{
	struct record_window window = all;

	settle("local", "400");
	item_emit_many(&item, 0, 1000);
	turn(2);
	item_emit_many(&item, 1000, 2000);
	turn(2);
	item_emit_many(&item, 2000, 3000);
	look(0, false);
	CHECK(want[0].n == 3000, "%zu events after turns", want[0].n);
	CHECK(!take(1, &all, false, 7).overwritten, "a turn loses something");
	read_back();
	expect(0, 0, UINT64_MAX);
	window.moment = want[0].at[1500].ts;
	window.after_ns = 0;
	window.before_ns = window.moment - want[0].at[500].ts;
	take(1, &window, false, 7);
	read_back();
	expect(0, want[0].at[500].ts, window.moment);
	turn(1);
	item_emit_many(&item, 3000, 3010);
	look(0, false);
	CHECK(want[0].n == 2010 && want[0].at[0].n == 1000, "%zu events from %d on", want[0].n, want[0].at[0].n);
	CHECK(!lost_in(&want[0]), "what is thrown away is no loss");
	turn(0);
	look(0, false);
	CHECK(want[0].n == 10, "%zu events", want[0].n);
}

static void test_snapshot(void)
{
	struct record_how how = { .buffers = buffers, .nr_buffers = 1, .path = path(), .version = 7 };
	struct record_still_sums sums;
	struct err err = ERR_INIT;

	settle("local", "400");
	room_write(control, "snapshot", "0", 0);
	CHECK(record_still(&how, &all, true, &sums, &err) == -ENOENT && strstr(err.text, "set aside"), "%s", err.text);
	item_emit_many(&item, 0, 100);
	room_write(control, "snapshot", "1", 0);
	item_emit_many(&item, 100, 150);
	look(0, true);
	CHECK(want[0].n == 100, "%zu events were set aside", want[0].n);
	CHECK(take(1, &all, true, 7).events == 100, "not what was set aside");
	read_back();
	expect(0, 0, UINT64_MAX);
	CHECK(take(1, &all, false, 7).events == 50, "not what is there");
	how.buffers = &(struct record_buffer){ .source = source, .instance = "nosuch", .name = "nosuch" };
	CHECK(record_still(&how, &all, false, &sums, NULL) == -ENOENT, "an instance that is not there");
}

static void pause_a_while(void)
{
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
}

/* Clocks that count something else: the middle of pauses is far from everything. */
static void test_ticks(void)
{
	struct record_window window = { 0, 0, 0 };
	struct record_clock clock;
	uint64_t gap;

	settle("x86-tsc", "400");
	item_emit_many(&item, 0, 100);
	pause_a_while();
	item_emit_many(&item, 100, 200);
	pause_a_while();
	item_emit_many(&item, 200, 300);
	look(0, false);
	look(1, false);
	record_clock_init(&clock, control, TRACE_CLOCK_X86_TSC);
	window.moment = want[0].at[100].ts;
	gap = want[0].at[100].ts - want[0].at[99].ts;
	window.before_ns = record_clock_span(&clock, gap / 2);
	gap = want[0].at[200].ts - want[0].at[199].ts;
	window.after_ns = record_clock_span(&clock, want[0].at[199].ts + gap / 2 - window.moment);
	take(2, &window, false, 7);
	read_back();
	if (!record_clock_is_time(&clock)) {
		expect(0, 0, UINT64_MAX);
		return;
	}
	expect(0, want[0].at[100].ts, want[0].at[199].ts);
	expect(1, want[1].at[100].ts, want[1].at[199].ts);
}

/* Of another clock than the first one's the moment is as long ago. */
static void test_clocks(void)
{
	struct record_window window = { 0, 1000000000, 0 };

	settle("local", "400");
	room_write(control, "instances/a/trace_clock", "tai", 0);
	item_emit_many(&item, 0, 100);
	pause_a_while();
	item_emit_many(&item, 100, 200);
	look(0, false);
	look(1, false);
	window.moment = want[0].at[99].ts + (want[0].at[100].ts - want[0].at[99].ts) / 2;
	take(2, &window, false, 7);
	read_back();
	CHECK(got[0].n <= 100 && (!got[0].n || got[0].at[0].n + got[0].n == 100), "by the first one's clock");
	CHECK(got[1].n <= 100 && (!got[1].n || got[1].at[0].n + got[1].n == 100), "by another clock");
	settle("counter", "400");
	item_emit_many(&item, 0, 100);
	look(0, false);
	take(1, &(struct record_window){ 5, 1, 1 }, false, 7);
	read_back();
	expect(0, 0, UINT64_MAX);
	CHECK(got[0].n == 100, "a clock that is no time");
}

static void test_sizes(void)
{
	struct record_how how = { .buffers = buffers, .nr_buffers = 2, .path = path(), .version = 6 };
	struct record_still_sums sums;
	struct err err = ERR_INIT;

	settle("local", "400");
	room_write(control, "instances/a/buffer_subbuf_size_kb", "16", 0);
	item_emit_many(&item, 0, 3000);
	look(0, false);
	look(1, false);
	CHECK(take(2, &all, false, 7).events == 6000, "pages of two sizes");
	read_back();
	expect(0, 0, UINT64_MAX);
	expect(1, 0, UINT64_MAX);
	unlink(path());
	CHECK(record_still(&how, &all, false, &sums, &err) == -EINVAL && strstr(err.text, "version 6"), "%s", err.text);
	CHECK(access(path(), F_OK), "a file was made");
	room_write(control, "instances/a/buffer_subbuf_size_kb", "4", 0);
}

/* The same event in another buffer. */
static void test_time(void)
{
	struct {
		struct record_head head;
		int32_t n;
	} record = { .head = { .type = (uint16_t)item.id, .pid = gettid() }, .n = 70 };
	uint64_t ts;

	settle("local", "400");
	item_emit_many(&item, 0, 100);
	item_emit_many(&item, 70, 71);
	look(0, false);
	look(1, false);
	CHECK(want[1].at[100].n == 70 && want[1].at[70].ts < want[0].at[71].ts, "events");
	ts = record_still_time(control, "", &record, sizeof(record), want[1].at[100].ts);
	CHECK(ts == want[0].at[100].ts, "not the last one");
	ts = record_still_time(control, "", &record, sizeof(record), want[1].at[99].ts);
	CHECK(ts == want[0].at[70].ts, "a later one");
	record.n = 1234;
	ts = record_still_time(control, "", &record, sizeof(record), want[1].at[99].ts);
	CHECK(ts == want[1].at[99].ts, "one that is not there");
}

int main(int argc, char **argv)
{
	struct source_how how = { .create = true };
	struct err err = ERR_INIT;

	if (argc > 2) {
		item = item_bring("item");
		item_emit_many(&item, atoi(argv[2]), atoi(argv[2]) + 1000);
		return 0;
	}
	CHECK(!source_open(&source, &how, &err), "%s", err.text);
	control = source_control(source);
	buffers[0].source = buffers[1].source = source;
	CHECK(!tree_mkdir(control, "instances/a", &err), "%s", err.text);
	item = item_bring("item");
	room_write(control, "events/test/enable", "1", 0);
	room_write(control, "instances/a/events/test/enable", "1", 0);
	cpu_at(0);
	test_windows();
	test_overwritten();
	test_each();
	test_turned();
	test_snapshot();
	test_ticks();
	test_clocks();
	test_sizes();
	test_time();
	source_close(source);
	for (int i = 0; i < 2; i++) {
		free(want[i].at);
		free(got[i].at);
	}
	return 0;
}
