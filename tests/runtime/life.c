/*
 * Events of processes that begin and end: fork, vfork, posix_spawn, clone; exec as the new image's first event; exit, _exit, the
 * end of a thread. A fork is told before whatever the child does. Nothing is told that nobody wants.
 */
#include "control/program.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>

static char path[4096];
extern char **environ;

static struct item item;

static void *thread_life(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "a-thread");
	item_emit(&item, 1);
	return NULL;
}

static int clone_life(void *arg)
{
	(void)arg;
	syscall(SYS_exit, 0);
	return 0;
}

static int end(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status), "no end of %d", (int)pid);
	return WEXITSTATUS(status);
}

/* What the traced program does; each child ends with another status. */
static int program(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	char *spawned[] = { "traced", "spawned", NULL };
	pthread_t thread;
	pid_t pid;

	item = item_bring("thing");
	prctl(PR_SET_NAME, "parent");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "forked");
		item_emit(&item, 2);
		exit(1);
	}
	CHECK(end(pid) == 1, "forked");
	pid = vfork();
	if (!pid) {
		execl(path, "traced", "vforked", (char *)NULL);
		_exit(9);
	}
	CHECK(end(pid) == 2, "vforked");
	pid = vfork();
	if (!pid)
		_exit(3);
	CHECK(end(pid) == 3, "vforked to exit");
	CHECK(!posix_spawn(&pid, path, NULL, NULL, spawned, environ), "posix_spawn");
	CHECK(end(pid) == 4, "spawned");
	pid = clone(clone_life, stack + sizeof(stack), SIGCHLD, NULL);
	CHECK(pid > 0 && end(pid) == 0, "cloned");
	CHECK(!pthread_create(&thread, NULL, thread_life, NULL), "pthread_create");
	pthread_join(thread, NULL);
	return 0;
}

/* The line that has all of these, behind `from`; fails without it. */
static const char *line_with(const char *from, const char *text, const char *a, const char *b)
{
	for (const char *line = from; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		size_t len = strcspn(line, "\n");
		char one[512];

		snprintf(one, sizeof(one), "%.*s", (int)len, line);
		if (strstr(one, a) && strstr(one, b))
			return line;
	}
	CHECK(0, "no '%s' with '%s' in\n%s", a, b, text);
	return NULL;
}

static void check(const char *text, pid_t pid)
{
	char fork_of[96], exec_of[4200], parent[32], ended[64];
	const char *at;

	snprintf(fork_of, sizeof(fork_of), "sched_process_fork: comm=parent pid=%d child_comm=parent child_pid=", (int)pid);
	snprintf(exec_of, sizeof(exec_of), "sched_process_exec: filename=%s pid=", path);
	snprintf(parent, sizeof(parent), "parent-%d", (int)pid);
	snprintf(ended, sizeof(ended), "prio=%d group_dead=true", 120 + getpriority(PRIO_PROCESS, 0));
	at = line_with(text, text, exec_of, "");
	at = line_with(at, text, fork_of, parent);
	at = line_with(at, text, "thing:", "");
	at = line_with(at, text, "sched_process_exit: comm=forked pid=", ended);
	at = line_with(strchr(at, '\n') + 1, text, fork_of, parent);
	at = line_with(at, text, exec_of, "");
	at = line_with(at, text, "sched_process_exit: comm=", "");
	at = line_with(strchr(at, '\n') + 1, text, fork_of, parent);
	at = line_with(at, text, "sched_process_exit: comm=parent", "group_dead=true");
	at = line_with(at, text, "sched_process_exit: comm=a-thread", "group_dead=false");
	line_with(at, text, "sched_process_exit: comm=parent", "group_dead=true");
	CHECK(count_of(text, "sched_process_exec: ") == 3, "%d of 3 execs in\n%s", count_of(text, "sched_process_exec: "), text);
	/* One more with a libringside.so, which sees threads begin. */
	CHECK(count_of(text, "sched_process_fork: ") == 5, "%d of 5 forks in\n%s", count_of(text, "sched_process_fork: "), text);
	CHECK(count_of(text, "sched_process_exit: ") == 6, "%d of 6 ends in\n%s", count_of(text, "sched_process_exit: "), text);
}

static pid_t run(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl(path, "traced", "program", (char *)NULL);
		_exit(127);
	}
	CHECK(!end(pid), "the program fails");
	return pid;
}

int main(int argc, char **argv)
{
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct control *control;
	char *text;
	pid_t pid;

	CHECK(len > 0, "%s", strerror(errno));
	if (argc > 1 && !strcmp(argv[1], "program"))
		return program();
	if (argc > 1)
		return !strcmp(argv[1], "vforked") ? 2 : 4;
	control = room_open();
	run();
	room_write(control, "set_event", "*:thing", 0);
	run();
	CHECK(!count_in(control, "trace", "sched_process_"), "events that nobody wants");
	room_write(control, "trace", "", 0);
	room_write(control, "events/enable", "1", 0);
	room_write(control, "trace", "", 0);
	pid = run();
	room_write(control, "events/enable", "0", 0);
	text = room_read(control, "trace");
	/* Our own fork of it comes first. */
	check(strstr(text, "sched_process_exec"), pid);
	free(text);
	control_close(control);
	return 0;
}
