/*
 * saved_cmdlines, its size, saved_tgids: names of those who recorded something, also when they are gone; record-cmd.
 */
#include "control/program.h"

#include <pthread.h>

static struct item item;

/* A child of that name, and a thread of it of another; both record. Gives the child's pid and the thread's tid. */
struct told {
	pid_t pid, tid;
};

static void *thread_main(void *arg)
{
	*(pid_t *)arg = gettid();
	prctl(PR_SET_NAME, "helper");
	item_emit(&item, 2);
	return NULL;
}

static struct told run(const char *name)
{
	int out[2];
	struct told told;

	CHECK(!pipe(out), "%s", strerror(errno));
	if (!child_fork()) {
		pthread_t thread;

		told.pid = getpid();
		prctl(PR_SET_NAME, name);
		item_emit(&item, 1);
		if (pthread_create(&thread, NULL, thread_main, &told.tid) || pthread_join(thread, NULL) ||
		    write(out[1], &told, sizeof(told)) != sizeof(told))
			_exit(1);
		_exit(0);
	}
	CHECK(read(out[0], &told, sizeof(told)) == sizeof(told), "%s", strerror(errno));
	child_expect(told.pid);
	close(out[0]);
	close(out[1]);
	return told;
}

static int named(struct control *control, pid_t tid, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "%d %s\n", tid, name);
	return count_in(control, "saved_cmdlines", line);
}

static void check_names(struct control *control)
{
	struct told told = run("shop keeper");
	char line[128];

	CHECK(named(control, told.pid, "shop keeper") == 1 && named(control, told.tid, "helper") == 1, "names");
	snprintf(line, sizeof(line), "     shop keeper-%d ", told.pid);
	CHECK(count_in(control, "trace", line) == 1, "no '%s' in trace", line);
	snprintf(line, sizeof(line), "          helper-%d ", told.tid);
	CHECK(count_in(control, "trace", line) == 1, "no '%s' in trace", line);
}

static void check_record_cmd(struct control *control)
{
	struct told told;
	char line[128];

	room_write(control, "options/record-cmd", "0", 0);
	told = run("unnamed");
	CHECK(!named(control, told.pid, "unnamed") && !named(control, told.tid, "helper"), "told their names");
	snprintf(line, sizeof(line), "           <...>-%d ", told.pid);
	CHECK(count_in(control, "trace", line) == 1, "no '%s' in trace", line);
	room_write(control, "options/record-cmd", "1", 0);
	told = run("named");
	CHECK(named(control, told.pid, "named") == 1, "does not tell its name");
}

static void check_size(struct control *control)
{
	room_expect(control, "saved_cmdlines_size", "32768\n");
	room_write(control, "saved_cmdlines_size", "0", -EINVAL);
	room_write(control, "saved_cmdlines_size", "32769", -EINVAL);
	room_write(control, "saved_cmdlines_size", "x", -EINVAL);
	CHECK(count_in(control, "saved_cmdlines", "\n") > 3, "too few names");
	room_write(control, "saved_cmdlines_size", "3", 0);
	room_expect(control, "saved_cmdlines_size", "3\n");
	CHECK(count_in(control, "saved_cmdlines", "\n") == 3, "not three names");
	room_write(control, "saved_cmdlines_size", "32768", 0);
	room_expect(control, "saved_cmdlines_size", "32768\n");
	CHECK(count_in(control, "saved_cmdlines", "\n") > 3, "too few names");
}

static void check_tgids(struct control *control)
{
	struct told told = run("group");
	char line[64];

	room_expect(control, "saved_tgids", "");
	room_write(control, "options/record-tgid", "1", 0);
	snprintf(line, sizeof(line), "%d %d\n", told.tid, told.pid);
	CHECK(count_in(control, "saved_tgids", line) == 1, "no '%s'", line);
	snprintf(line, sizeof(line), "%d %d\n", told.pid, told.pid);
	CHECK(count_in(control, "saved_tgids", line) == 1, "no '%s'", line);
	room_write(control, "options/record-tgid", "0", 0);
	room_expect(control, "saved_tgids", "");
	/* Any buffer may ask for it. */
	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/options/record-tgid", "1", 0);
	CHECK(count_in(control, "saved_tgids", line) == 1, "no '%s'", line);
	room_rmdir(control, "instances/a", 0);
	room_expect(control, "saved_tgids", "");
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	room_write(control, "events/test/item/enable", "1", 0);
	check_names(control);
	check_record_cmd(control);
	check_size(control);
	check_tgids(control);
	control_close(control);
	return 0;
}
