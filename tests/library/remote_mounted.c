/*
 * A remote that this program brings, through a mount: files of any program's calls, with callbacks' errors for theirs; who waits in trace_pipe
 * gets what comes, keeps the buffer loaded, and is told when the remote is taken away.
 */
#include "library/remote_lab.h"

static char mount_point[4096];

static int run(const char *verb)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0, "fork");
	if (!pid) {
		execl(getenv("RINGSIDE"), "ringside", verb, mount_point, NULL);
		_exit(127);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "wait");
	return status;
}

static void unmount(void)
{
	run("umount");
}

static int file(const char *name, int flags)
{
	char path[5000];
	int fd;

	snprintf(path, sizeof(path), "%s/remotes/board/%s", mount_point, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* 0 or -errno. */
static int put(const char *name, const char *text)
{
	int fd = file(name, O_WRONLY | O_TRUNC), r = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* One read; how much, or -errno. */
static ssize_t take(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n;
}

static void expect(const char *name, const char *want)
{
	char text[4096] = "";
	int fd = file(name, O_RDONLY);

	CHECK(fd >= 0 && take(fd, text, sizeof(text)) >= 0 && !strcmp(text, want), "%s: '%s', not '%s'", name, text, want);
	close(fd);
}

static struct board *board;

static void *write_on(void *arg)
{
	for (int i = 0; i < 400; i++) {
		board_steps(board, i & 1, 1);
		usleep(300);
	}
	return arg;
}

static void all(struct ringside_control *tree)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");
	char text[65536];
	pthread_t thread;
	int fd, seen = 0;
	ssize_t n;

	expect("buffer_size_kb", "7 (unloaded)\n");
	board->refuse_load = -EDQUOT;
	CHECK(put("tracing_on", "1") == -EDQUOT, "the callback's");
	CHECK(file("trace_pipe", O_RDONLY) == -EDQUOT, "the callback's");
	board->refuse_load = 0;
	CHECK(!put("buffer_size_kb", "64\n") && !put("events/enable", "1") && !put("tracing_on", "1"), "on");
	board_said(board, "init, load 7168, load 7168, event 1 1, event 40 1, load 65536, on 1");
	expect("buffer_size_kb", "64 (loaded)\n");
	CHECK(put("buffer_size_kb", "7") == -EBUSY, "loaded");
	board_steps(board, 1, 3);
	CHECK(!put("per_cpu/cpu1/trace", ""), "reset");
	board_said(board, "reset 1");
	expect("trace", "");
	board_steps(board, 1, 1);

	board->careless = true;
	memset(board->seq, 0, sizeof(board->seq));
	CHECK(!put("trace", ""), "reset");
	fd = file("trace_pipe", O_RDONLY);
	CHECK(fd >= 0, "trace_pipe: %s", strerror(-fd));
	CHECK(file("trace_pipe", O_RDONLY) == -EBUSY, "two of them");
	CHECK(!pthread_create(&thread, NULL, write_on, NULL), "thread");
	while (seen < 400) {
		n = take(fd, text, sizeof(text));
		CHECK(n > 0 && !strstr(text, "LOST"), "%zd: %s", n, n > 0 ? text : "");
		for (const char *at = text; (at = strstr(at, "step cpu=")); at++)
			seen++;
	}
	pthread_join(thread, NULL);
	CHECK(!put("tracing_on", "0"), "off");
	CHECK(board->loaded, "somebody reads");
	close(fd);
	/* A close is not waited for. */
	for (int i = 0; board->loaded && i < 2000; i++)
		usleep(5000);
	CHECK(!board->loaded, "nobody reads");

	CHECK(!put("tracing_on", "1"), "on");
	fd = file("trace_pipe", O_RDONLY);
	CHECK(fd >= 0, "trace_pipe: %s", strerror(-fd));
	board_steps(board, 0, 1);
	board_unregister(board, remote);
	n = take(fd, text, sizeof(text));
	CHECK(n > 0 && strstr(text, "seq=200"), "what came last");
	n = take(fd, text, sizeof(text));
	CHECK(n == -ENODEV, "%zd", n);
	close(fd);
	CHECK(file("tracing_on", O_RDONLY) == -ENOENT, "gone");
}

int main(void)
{
	struct ringside_control *tree;

	if (access("/dev/fuse", R_OK | W_OK)) {
		printf("/dev/fuse cannot be used here\n");
		return 77;
	}
	tree = lab_open();
	snprintf(mount_point, sizeof(mount_point), "%s/mount", getenv("RINGSIDE_SCRATCH"));
	CHECK(!mkdir(mount_point, 0700), "%s", mount_point);
	if (run("mount")) {
		printf("nothing can be mounted here\n");
		return 77;
	}
	atexit(unmount);
	board = board_new();
	all(tree);
	board_free(board);
	ringside_control_close(tree);
	return 0;
}
