/*
 * Many changes as one: each sees those before it, others see none of them before all are done. When one is refused, or who makes them
 * goes away, nothing has happened.
 */
#include "control/room.h"

#include <sys/wait.h>

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

static const char *const files[] = {
	"set_event", "synthetic_events", "dynamic_events", "trace_clock", "buffer_size_kb", "buffer_subbuf_size_kb", "trace_options",
	"buffer_percent", "set_event_pid", "tracing_on", "show_event_triggers", "show_event_filters", "current_tracer", "tracing_cpumask",
};

static char *all_files(struct control *control)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		buf_printf(&out, "%s: ", files[i]);
		CHECK(!tree_read(control, files[i], &out, &err), "%s", err.text);
	}
	CHECK(!tree_list(control, "instances", &out, &err), "%s", err.text);
	return buf_take(&out);
}

/* Of all kinds, and several of some, each of which stands on others. */
static void change_all(struct control *control)
{
	room_add(control, "synthetic_events", "lat u64 us; int prio", 0);
	room_add(control, "dynamic_events", "e:mine/exits sched/sched_process_exit who=$pid", 0);
	CHECK(!tree_mkdir(control, "instances/one", NULL), "no instance");
	room_write(control, "instances/one/tracing_on", "0", 0);
	room_write(control, "instances/one/events/mine/exits/filter", "who > 1", 0);
	room_add(control, "instances/one/set_event", "mine:exits", 0);
	for (int i = 0; i < 3; i++) {
		room_write(control, "buffer_size_kb", i & 1 ? "300" : "500", 0);
		room_write(control, "buffer_subbuf_size_kb", i & 1 ? "4" : "8", 0);
		room_write(control, "trace_clock", i & 1 ? "local" : "mono", 0);
		room_write(control, "snapshot", "1", 0);
	}
	room_write(control, "trace_options", "nooverwrite", 0);
	room_write(control, "set_event_pid", "1 2", 0);
	room_add(control, "events/sched/sched_process_exit/trigger", "hist:keys=pid:ts=common_timestamp.usecs", 0);
	room_add(control, "events/sched/sched_process_fork/trigger",
		 "hist:keys=child_pid:us=common_timestamp.usecs-$ts:onmatch(sched.sched_process_exit).trace(lat,$us,0)", -EINVAL);
}

static void change_well(struct control *control)
{
	room_add(control, "synthetic_events", "lat u64 us; int pid", 0);
	CHECK(!tree_mkdir(control, "instances/one", NULL), "no instance");
	room_write(control, "instances/one/events/synthetic/lat/filter", "us > 1", 0);
	room_add(control, "instances/one/set_event", "synthetic:lat", 0);
	room_write(control, "buffer_size_kb", "500", 0);
	room_write(control, "trace_clock", "mono", 0);
	room_add(control, "events/sched/sched_process_exit/trigger", "hist:keys=pid:ts=common_timestamp.usecs", 0);
	/* What is there already harms nobody. */
	room_add(control, "synthetic_events", "lat u64 us", -EEXIST);
	room_add(control, "events/synthetic/lat/trigger", "traceoff", 0);
	room_add(control, "events/synthetic/lat/trigger", "traceoff", -EEXIST);
	room_add(control, "set_event", "sched:sched_process_exit", 0);
	room_expect_part(control, "events/synthetic/lat/trigger", "traceoff:unlimited", true);
}

static void check_refused(struct control *control, struct control *other)
{
	char *before = all_files(other), *after;
	uint64_t published = other->state.published;
	struct err err = ERR_INIT;

	for (int i = 0; i < 5; i++) {
		CHECK(!control_together(control, &err), "%s", err.text);
		change_all(control);
		/* Forgotten by the caller: it is refused all the same. */
		CHECK(control_together_end(control, i & 1 ? 0 : -EINVAL, &err) == (i & 1 ? -ECANCELED : -EINVAL), "it is not refused");
		CHECK(!control_refresh(other, &err) && other->state.published == published, "something was published");
		after = all_files(control);
		CHECK(!strcmp(before, after), "it said\n%s\nand says\n%s", before, after);
		free(after);
		err = (struct err)ERR_INIT;
	}
	free(before);
}

static void check_gone(struct control *other)
{
	char *before = all_files(other), *after;
	pid_t pid = fork();

	if (!pid) {
		struct control *control = room_open();

		control_together(control, NULL);
		change_well(control);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid, "no child");
	after = all_files(other);
	CHECK(!strcmp(before, after), "who went away left\n%s", after);
	free(before);
	free(after);
}

static void check_done(struct control *control, struct control *other)
{
	uint64_t generation;
	struct err err = ERR_INIT;
	char *before, *after;

	CHECK(!control_refresh(other, &err), "%s", err.text);
	generation = control_state_generation(&other->state);
	before = all_files(other);
	CHECK(!control_together(control, &err), "%s", err.text);
	change_well(control);
	after = all_files(other);
	CHECK(!strcmp(before, after), "others see a part of it");
	free(after);
	CHECK(!control_together_end(control, 0, &err), "%s", err.text);
	/* One, and another one when what it gave up is free again. */
	CHECK(!control_refresh(other, &err) && control_state_generation(&other->state) <= generation + 2, "many generations");
	generation = control_state_generation(&other->state);
	room_expect_part(other, "events/synthetic/lat/trigger", "traceoff:unlimited", true);
	room_expect_part(other, "trace_clock", "[global]", true);
	room_expect_part(other, "instances/one/set_event", "synthetic:lat", true);
	room_expect_part(other, "events/sched/sched_process_exit/trigger", "ts=common_timestamp", true);
	/* And each is a change of its own again. */
	room_write(control, "tracing_on", "0", 0);
	CHECK(!control_refresh(other, &err) && control_state_generation(&other->state) == generation + 1, "not a change of its own");
	free(before);
}

int main(void)
{
	struct control *control = room_open(), *other = room_open();

	check_refused(control, other);
	check_gone(other);
	check_done(control, other);
	control_close(control);
	control_close(other);
	return 0;
}
