/*
 * trace_clock: every clock shows the time that its name says, and a change of it empties the buffer.
 */
#include "control/program.h"

#include <time.h>

#include "decode/page.h"
#include "layout/ring.h"
#include "ring/arch.h"
#include "runtime/overflows.h"

#define EVENTS 200

static struct item item;

static uint64_t now_of(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Times of all events, taken out; there are so many. They do not go back. */
static void take_times(struct control *control, uint64_t *ts, int want)
{
	struct tree_file *file;
	char path[64], *pages;
	size_t len;
	int n = 0;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	file = file_open(control, path, TREE_READ);
	pages = file_drain(file, 65536, &len, NULL);
	file_close(file);
	for (size_t at = 0; at < len; at += 4096) {
		struct page_walk walk;
		struct page_event event;

		CHECK(!page_walk_init(&walk, pages + at, 4096), "no page");
		while (page_walk_next(&walk, &event) == 1 && n < want) {
			CHECK(!n || event.ts >= ts[n - 1], "time goes back");
			ts[n++] = event.ts;
		}
	}
	CHECK(n == want, "%d events, not %d", n, want);
	free(pages);
}

static void set_clock(struct control *control, const char *name)
{
	char shown[32];

	item_emit(&item, 0);
	CHECK(count_in(control, "trace", "item:") >= 1, "no event");
	room_write(control, "trace_clock", name, 0);
	snprintf(shown, sizeof(shown), "[%s]", name);
	CHECK(count_in(control, "trace_clock", shown) == 1, "%s is not the clock", name);
	CHECK(!count_in(control, "trace", "item:"), "%s: the buffer was not emptied", name);
	room_expect(control, "timestamp_mode", "[delta] absolute\n");
}

static void check_ns(struct control *control, const char *name, clockid_t id, uint64_t slack)
{
	uint64_t ts[EVENTS], before, after;
	char path[64], text[64], *stats;

	set_clock(control, name);
	before = now_of(id);
	item_emit_many(&item, 0, EVENTS);
	after = now_of(id);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu_at(0));
	stats = room_read(control, path);
	take_times(control, ts, EVENTS);
	CHECK(ts[0] + slack >= before && ts[EVENTS - 1] <= after + slack, "%s: %llu to %llu are not within %llu to %llu",
	      name, (unsigned long long)ts[0], (unsigned long long)ts[EVENTS - 1], (unsigned long long)before,
	      (unsigned long long)after);
	snprintf(text, sizeof(text), "oldest event ts: %5llu.", (unsigned long long)(ts[0] + 500) / 1000000000u);
	CHECK(strstr(stats, text), "'%s' has no '%s'", stats, text);
	free(stats);
}

static void check_counter(struct control *control)
{
	uint64_t ts[EVENTS], before;
	char line[64];

	set_clock(control, "counter");
	before = overflows(control);
	item_emit_many(&item, 0, EVENTS);
	CHECK(count_in(control, "trace", "item: n=") == EVENTS, "events are missing");
	take_times(control, ts, EVENTS);
	for (int i = 1; i < EVENTS; i++)
		CHECK(overflows(control) != before ? ts[i] > ts[i - 1] : ts[i] == ts[i - 1] + 1, "%llu after %llu",
		      (unsigned long long)ts[i], (unsigned long long)ts[i - 1]);
	/* Text has it as it is. */
	item_emit(&item, 5);
	snprintf(line, sizeof(line), " %12llu: item: n=5\n", (unsigned long long)ts[EVENTS - 1] + 1);
	CHECK(overflows(control) != before || count_in(control, "trace", line) == 1, "no '%s'", line);
	free(room_read(control, "trace_pipe"));
}

static void check_uptime(struct control *control)
{
	uint64_t ts[EVENTS], before, after;
	struct timespec grain;

	CHECK(!clock_getres(CLOCK_MONOTONIC_COARSE, &grain) && grain.tv_nsec > 0, "no ticks");
	set_clock(control, "uptime");
	before = now_of(CLOCK_MONOTONIC_COARSE) / (uint64_t)grain.tv_nsec;
	item_emit_many(&item, 0, EVENTS);
	after = now_of(CLOCK_MONOTONIC_COARSE) / (uint64_t)grain.tv_nsec;
	take_times(control, ts, EVENTS);
	CHECK(ts[0] >= before && ts[EVENTS - 1] <= after, "%llu to %llu are not within %llu to %llu",
	      (unsigned long long)ts[0], (unsigned long long)ts[EVENTS - 1], (unsigned long long)before,
	      (unsigned long long)after);
}

static void check_tsc(struct control *control)
{
	uint64_t ts[EVENTS], before, after;

	if (!count_in(control, "trace_clock", "x86-tsc"))
		return;
	set_clock(control, "x86-tsc");
	before = section_counter();
	item_emit_many(&item, 0, EVENTS);
	after = section_counter();
	/* Where the counter cannot be trusted it is not read. */
	if (!(control->state.buffers[0].live.clock.flags & TRACE_CLOCK_BY_COUNTER)) {
		free(room_read(control, "trace_pipe"));
		return;
	}
	take_times(control, ts, EVENTS);
	CHECK(ts[0] >= before && ts[EVENTS - 1] <= after && ts[EVENTS - 1] > ts[0],
	      "%llu to %llu are not within %llu to %llu", (unsigned long long)ts[0],
	      (unsigned long long)ts[EVENTS - 1], (unsigned long long)before, (unsigned long long)after);
}

/* What is refused changes nothing; the same again empties nothing; each buffer has its own; snapshots go with it. */
static void check_changes(struct control *control)
{
	set_clock(control, "mono");
	item_emit(&item, 1);
	room_write(control, "trace_clock", "nosuch", -EINVAL);
	room_write(control, "trace_clock", "", -EINVAL);
	room_write(control, "trace_clock", "[mono]", -EINVAL);
	room_write(control, "trace_clock", " mono\n", 0);
	CHECK(count_in(control, "trace_clock", "[mono]") == 1 && count_in(control, "trace", "item:") == 1, "emptied");
	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/trace_clock", "boot", 0);
	CHECK(count_in(control, "trace_clock", "[mono]") == 1 && count_in(control, "trace", "item:") == 1,
	      "another buffer's clock");
	room_rmdir(control, "instances/a", 0);
	room_write(control, "snapshot", "1", 0);
	CHECK(count_in(control, "snapshot", "item:") == 1, "no snapshot");
	room_write(control, "trace_clock", "local", 0);
	CHECK(!count_in(control, "snapshot", "item:"), "times of two clocks");
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	cpu_pin(cpu_at(0));
	room_write(control, "events/test/item/enable", "1", 0);
	/* Made from the CPU's counter: right to some microseconds, with room for a machine that is busy. */
	check_ns(control, "global", CLOCK_MONOTONIC, 10000000);
	check_ns(control, "local", CLOCK_MONOTONIC, 10000000);
	check_ns(control, "mono", CLOCK_MONOTONIC, 0);
	check_ns(control, "mono_raw", CLOCK_MONOTONIC_RAW, 0);
	check_ns(control, "boot", CLOCK_BOOTTIME, 0);
	check_ns(control, "tai", CLOCK_TAI, 0);
	check_counter(control);
	check_uptime(control);
	check_tsc(control);
	check_changes(control);
	control_close(control);
	return 0;
}
