/*
 * set_event_pid and set_event_notrace_pid: whose events a buffer takes; event-fork: and those of whoever descends from them.
 */
#include "control/program.h"

#include <pthread.h>

static struct item item;

static void expect_items(struct control *control, const char *path, int want, const char *what)
{
	int n = count_in(control, path, "item: n=");

	CHECK(n == want, "%s: %d events in %s, not %d", what, n, path, want);
	room_write(control, path, "", 0);
}

static void write_pid(struct control *control, const char *path, int pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d\n", pid);
	room_write(control, path, text, 0);
}

static void check_text(struct control *control)
{
	static const char *const files[] = { "set_event_pid", "set_event_notrace_pid" };
	static const struct { const char *text; int want; } bad[] = {
		{ "x", -EINVAL }, { "7 x", -EINVAL }, { "-7", -EINVAL }, { "7,8", -EINVAL }, { "7.", -EINVAL },
		{ "2147483648", -EINVAL }, { "99999999999999999999999", -EINVAL }, { "0x7", -EINVAL },
	};

	for (int i = 0; i < 2; i++) {
		room_expect(control, files[i], "");
		room_write(control, files[i], "30\n", 0);
		room_append(control, files[i], " 100 2\t30\n7 ", 0);
		room_expect(control, files[i], "2\n7\n30\n100\n");
		room_append(control, files[i], "2147483647", 0);
		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			room_append(control, files[i], bad[j].text, bad[j].want);
			/* All or nothing, and `>` is part of it. */
			room_write(control, files[i], bad[j].text, bad[j].want);
			room_expect(control, files[i], "2\n7\n30\n100\n2147483647\n");
		}
		room_expect(control, files[1 - i], "");
		room_append(control, files[i], "", 0);
		room_expect(control, files[i], "2\n7\n30\n100\n2147483647\n");
		room_write(control, files[i], "", 0);
		room_expect(control, files[i], "");
	}
}

/* More than there is room for: refused, and nothing is changed. */
static void check_many(struct control *control)
{
	struct buf text = BUF_INIT;
	char *after;

	for (uint32_t i = 1; i <= STATE_PIDS_MAX; i++)
		buf_printf(&text, "%u\n", i);
	room_write(control, "set_event_pid", text.data, 0);
	room_expect(control, "set_event_pid", text.data);
	room_append(control, "set_event_pid", "100000", -ENOSPC);
	room_append(control, "set_event_notrace_pid", "1", -ENOSPC);
	after = room_read(control, "set_event_pid");
	CHECK(!strcmp(after, text.data), "the list has changed");
	free(after);
	buf_fini(&text);
	room_write(control, "set_event_pid", "", 0);
}

static void *emit_in_thread(void *arg)
{
	*(int *)arg = gettid();
	item_emit(&item, 1);
	return NULL;
}

static int in_thread(void *(*what)(void *arg))
{
	pthread_t thread;
	int tid = 0;

	CHECK(!pthread_create(&thread, NULL, what, &tid) && !pthread_join(thread, NULL), "no thread");
	return tid;
}

static void in_child(void)
{
	pid_t pid = child_fork();

	if (!pid) {
		item_emit(&item, 1);
		_exit(0);
	}
	child_expect(pid);
}

/* Threads are named one by one; nobody else's events are taken, and none of them counts as lost. */
static void check_threads(struct control *control)
{
	char path[64];

	item_emit(&item, 1);
	expect_items(control, "trace", 1, "no list");
	write_pid(control, "set_event_pid", getpid());
	item_emit(&item, 1);
	in_thread(emit_in_thread);
	in_child();
	child_expect(role_start("say", "1", ROLE_RSEQ));
	room_write(control, "trace_marker", "markers are for all", 0);
	CHECK(count_in(control, "trace", "markers are for all") == 1, "no marker");
	expect_items(control, "trace", 1, "a list with the main thread");
	write_pid(control, "set_event_pid", 1);
	item_emit(&item, 1);
	expect_items(control, "trace", 0, "a list without it");
	for (int i = 0; cpu_at(i) >= 0; i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu_at(i));
		CHECK(!number_in(control, path, "dropped events: ") && !number_in(control, path, "\noverrun: "),
		      "counted as lost");
	}
	room_write(control, "set_event_pid", "", 0);
	item_emit(&item, 1);
	expect_items(control, "trace", 1, "no list any more");

	write_pid(control, "set_event_notrace_pid", getpid());
	item_emit(&item, 1);
	in_thread(emit_in_thread);
	in_child();
	expect_items(control, "trace", 2, "without the main thread");
	write_pid(control, "set_event_pid", getpid());
	item_emit(&item, 1);
	in_thread(emit_in_thread);
	expect_items(control, "trace", 0, "in both lists");
	room_write(control, "set_event_notrace_pid", "", 0);
	room_write(control, "set_event_pid", "", 0);
}

/* Each buffer has lists of its own. */
static void check_instances(struct control *control)
{
	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/events/test/item/enable", "1", 0);
	write_pid(control, "instances/a/set_event_pid", 1);
	item_emit(&item, 1);
	expect_items(control, "instances/a/trace", 0, "the list of a");
	expect_items(control, "trace", 1, "the list of a");
	write_pid(control, "instances/a/set_event_pid", getpid());
	write_pid(control, "set_event_notrace_pid", getpid());
	item_emit(&item, 1);
	expect_items(control, "instances/a/trace", 1, "the list of a");
	expect_items(control, "trace", 0, "the list of the top");
	room_rmdir(control, "instances/a", 0);
	room_write(control, "set_event_notrace_pid", "", 0);
}

/* A grandchild whose parent, forked for no other reason, is gone before the first event. */
static void in_daemon(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(ready), "%s", strerror(errno));
	pid = child_fork();
	if (!pid) {
		pid_t middle = getpid();

		if (!fork()) {
			alarm(30);
			while (getppid() == middle)
				sched_yield();
			item_emit(&item, 1);
			_exit(0);
		}
		_exit(0);
	}
	child_expect(pid);
	close(ready[1]);
	CHECK(!read(ready[0], &byte, 1), "the end of the grandchild");
	close(ready[0]);
}

static void *fork_in_thread(void *arg)
{
	*(int *)arg = gettid();
	in_child();
	return NULL;
}

/* A thread that is in the list only once its number is known, and forks then. */
static struct control *named_in;
static void *fork_named(void *arg)
{
	write_pid(named_in, "set_event_pid", gettid());
	item_emit(&item, 1);
	return fork_in_thread(arg);
}

static void check_fork(struct control *control)
{
	write_pid(control, "set_event_pid", getpid());
	in_daemon();
	expect_items(control, "trace", 0, "a daemon without event-fork");
	room_write(control, "options/event-fork", "1", 0);
	in_daemon();
	expect_items(control, "trace", 1, "a daemon");
	in_thread(emit_in_thread);
	expect_items(control, "trace", 1, "a thread");
	in_child();
	expect_items(control, "trace", 1, "a child");
	child_expect(role_start("say", "3", ROLE_RSEQ));
	expect_items(control, "trace", 3, "another program");
	child_expect(role_start("start", "2", ROLE_RSEQ));
	expect_items(control, "trace", 2, "another program's child");
	child_expect(role_start("say", "3", ROLE_RSEQ_NONE));
	expect_items(control, "trace", 3, "another program without rseq");
	write_pid(control, "set_event_pid", 999999999);
	in_child();
	expect_items(control, "trace", 0, "somebody else's child");
	named_in = control;
	in_thread(fork_named);
	expect_items(control, "trace", 2, "a thread and its child");
	room_write(control, "set_event_pid", "", 0);

	write_pid(control, "set_event_notrace_pid", getpid());
	item_emit(&item, 1);
	in_child();
	child_expect(role_start("say", "3", ROLE_RSEQ));
	expect_items(control, "trace", 0, "who is not to be traced, and its children");
	room_write(control, "options/event-fork", "0", 0);
	in_child();
	expect_items(control, "trace", 1, "without event-fork");
	room_write(control, "set_event_notrace_pid", "", 0);
}

int main(int argc, char **argv)
{
	struct control *control = argc > 1 ? NULL : room_open();

	item = item_bring("item");
	if (argc > 2 && !strcmp(argv[1], "start")) {
		child_expect(role_start("say", argv[2], ROLE_RSEQ));
		return 0;
	}
	if (argc > 2) {
		item_emit_many(&item, 0, atoi(argv[2]));
		return 0;
	}
	check_text(control);
	check_many(control);
	room_write(control, "events/test/item/enable", "1", 0);
	check_threads(control);
	check_instances(control);
	check_fork(control);
	control_close(control);
	return 0;
}
