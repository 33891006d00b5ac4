/*
 * The option pause-on-trace: a buffer takes nothing while somebody has its `trace` open, and goes on when the last one of them
 * is gone, however that came.
 */
#include "control/program.h"

static struct item item;

static void expect_items(struct control *control, int want)
{
	int n;

	/* Looking pauses, too, and must not end anybody's pause. */
	n = count_in(control, "trace", "item: n=");
	CHECK(n == want, "%d events, not %d", n, want);
}

static void check_open(struct control *control)
{
	struct control *a = room_again(control), *b = room_again(control);
	struct tree_file *first, *second;
	char *text;

	/* Without the option nothing is paused. */
	first = file_open(a, "trace", TREE_READ);
	CHECK(file_try(first) == 1, "unreadable");
	item_emit(&item, 0);
	file_close(first);
	expect_items(control, 1);

	room_write(control, "options/pause-on-trace", "1", 0);
	item_emit(&item, 1);
	first = file_open(a, "trace", TREE_READ);
	CHECK(!*item.hint, "sites go on");
	item_emit(&item, 2);
	room_expect(control, "tracing_on", "1\n");
	room_write(control, "trace_marker", "no", -EBADF);
	second = file_open(b, "per_cpu/cpu0/trace", TREE_READ);
	text = file_drain(first, 10, NULL, NULL);
	CHECK(items_follow(text, 0) == 2, "'%s'", text);
	free(text);
	item_emit(&item, 2);
	file_close(first);
	CHECK(!*item.hint, "the second one is forgotten");
	item_emit(&item, 2);
	file_close(second);
	CHECK(*item.hint == 1, "nobody goes on");
	item_emit(&item, 2);
	expect_items(control, 3);
	expect_items(control, 3);
	item_emit(&item, 3);
	expect_items(control, 4);

	/* Writing is not reading; others' files pause nothing. */
	first = file_open(a, "trace", TREE_WRITE);
	second = file_open(b, "trace_pipe", TREE_READ);
	CHECK(*item.hint == 1, "paused for nobody");
	file_close(first);
	file_close(second);
	first = file_open(a, "trace", TREE_READ | TREE_WRITE | TREE_TRUNC);
	CHECK(!*item.hint, "not paused");
	file_close(first);
	expect_items(control, 0);
	control_close(a);
	control_close(b);
}

/* tracing_on stays what it was made, whoever looked meanwhile; and other buffers go on. */
static void check_others(struct control *control)
{
	struct control *a = room_again(control);
	struct tree_file *file = file_open(a, "trace", TREE_READ);

	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/events/enable", "1", 0);
	item_emit(&item, 0);
	CHECK(count_in(control, "instances/a/trace", "item: n=") == 1, "another buffer is paused");
	room_write(control, "tracing_on", "0", 0);
	file_close(file);
	item_emit(&item, 0);
	room_expect(control, "tracing_on", "0\n");
	expect_items(control, 0);
	CHECK(count_in(control, "instances/a/trace", "item: n=") == 2, "another buffer is off");
	room_write(control, "tracing_on", "1", 0);
	/* An instance that goes while it is paused takes the pause along. */
	room_write(control, "instances/a/options/pause-on-trace", "1", 0);
	file = file_open(a, "instances/a/trace", TREE_READ);
	room_rmdir(control, "instances/a", 0);
	room_mkdir(control, "instances/b", 0);
	room_write(control, "instances/b/events/enable", "1", 0);
	room_write(control, "events/enable", "0", 0);
	CHECK(*item.hint == 1, "b is paused for what was a");
	file_close(file);
	CHECK(*item.hint == 1, "b is paused for what was a");
	room_rmdir(control, "instances/b", 0);
	room_write(control, "events/enable", "1", 0);
	control_close(a);
}

/* A reader that is killed holds nothing: the next one who changes anything sees to it. */
static void check_killed(struct control *control)
{
	int ready[2];
	char byte;
	pid_t pid;

	room_write(control, "trace", "", 0);
	CHECK(!pipe(ready), "%s", strerror(errno));
	pid = child_fork();
	if (!pid) {
		file_open(room_open(), "trace", TREE_READ);
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	CHECK(read(ready[0], &byte, 1) == 1, "%s", strerror(errno));
	item_emit(&item, 0);
	room_write(control, "buffer_percent", "40", 0);
	CHECK(!*item.hint, "somebody else's change ended the pause");
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid, "%s", strerror(errno));
	room_write(control, "buffer_percent", "50", 0);
	CHECK(*item.hint == 1, "paused for a dead reader");
	item_emit(&item, 1);
	CHECK(count_in(control, "trace", "item: n=1") == 1 && !count_in(control, "trace", "item: n=0"), "not that one");
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	cpu_pin(cpu_at(0));
	room_write(control, "events/enable", "1", 0);
	check_open(control);
	check_others(control);
	check_killed(control);
	control_close(control);
	return 0;
}
