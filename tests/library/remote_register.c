/*
 * Remotes that this program brings, from beginning to end: what is refused, what is left then, two of one name, and one whose name is taken
 * from a program that is gone; and buffers, those that are made for it and those that it has.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "library/remote_lab.h"

static struct ringside_control *tree;

static int begin(const char *name, const struct ringside_control_remote_callbacks *callbacks, void *priv,
		 const struct ringside_fw_text *const *events, size_t nr_events)
{
	struct ringside_control_remote *remote = (void *)&tree;
	int r = ringside_control_remote_register(&remote, tree, name, callbacks, priv, events, nr_events);

	CHECK(!r == (remote != NULL), "%d and %p", r, (void *)remote);
	ringside_control_remote_unregister(remote);
	return r;
}

/* Neither a remote nor what is left of one. */
static void check_none(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/remotes/%s", getenv("RINGSIDE_DIR"), name);
	CHECK(access(path, F_OK), "%s is there", path);
	CHECK(!ringside_control_file_exists(tree, NULL, path + strlen(getenv("RINGSIDE_DIR")) + 1), "%s", path);
}

static void refused(struct board *board)
{
	static const char *const names[] = { "", ".", "..", "a/b", "a b", "test\n", "0123456789012345678901234567890123" };
	const struct ringside_fw_text *falling[] = { &remote_event_stall, &remote_event_step };
	const struct ringside_fw_text *twice[] = { &remote_event_step, &remote_event_step };
	const struct ringside_fw_text *none[] = { &remote_event_step, NULL };
	struct ringside_control_remote_callbacks callbacks = board_callbacks;
	struct ringside_fw_text high = { .bytes = sizeof(high), .id = 1024, .size = 2, .name = "high", .print = "\"\"" };
	const struct ringside_fw_text *highs[] = { &high };
	struct ringside_control_remote *remote;
	struct ringside_control *files;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		REFUSED(tree, begin(names[i], &board_callbacks, board, board_events, BOARD_EVENTS), EINVAL);
	REFUSED(tree, begin(NULL, &board_callbacks, board, board_events, BOARD_EVENTS), EINVAL);
	REFUSED(tree, begin("test", &board_callbacks, board, board_events, BOARD_EVENTS), EEXIST);
	REFUSED(tree, begin("no", NULL, board, board_events, BOARD_EVENTS), EINVAL);
	callbacks.load_trace_buffer = NULL;
	REFUSED(tree, begin("no", &callbacks, board, board_events, BOARD_EVENTS), EINVAL);
	REFUSED(tree, begin("no", &board_callbacks, board, falling, 2), EINVAL);
	REFUSED(tree, begin("no", &board_callbacks, board, twice, 2), EINVAL);
	REFUSED(tree, begin("no", &board_callbacks, board, none, 2), EINVAL);
	REFUSED(tree, begin("no", &board_callbacks, board, NULL, 2), EINVAL);
	REFUSED(tree, begin("no", &board_callbacks, board, highs, 1), EINVAL);
	high.id = 1023;
	strcpy(high.name, "no name");
	REFUSED(tree, begin("no", &board_callbacks, board, highs, 1), EINVAL);
	board_said(board, "");
	board->refuse_init = -EHOSTDOWN;
	REFUSED(tree, begin("no", &board_callbacks, board, board_events, BOARD_EVENTS), EHOSTDOWN);
	board_said(board, "init");
	board->refuse_init = 0;
	check_none("no");

	CHECK(ringside_control_remote_register(&remote, NULL, "no", &board_callbacks, board, board_events, BOARD_EVENTS) == -EINVAL &&
	      !remote, "no tree");
	lab_puts(getenv("RINGSIDE_SCRATCH"), "files/trace", "");
	lab_puts(getenv("RINGSIDE_SCRATCH"), "files/tracing_on", "1\n");
	{
		char path[512];

		snprintf(path, sizeof(path), "%s/files", getenv("RINGSIDE_SCRATCH"));
		FINE(files, ringside_control_open_tracefs(&files, path));
	}
	REFUSED(files, ringside_control_remote_register(&remote, files, "no", &board_callbacks, board, board_events, BOARD_EVENTS), EOPNOTSUPP);
	CHECK(!remote, "none");
	ringside_control_close(files);
}

/* Nothing but what has to be there; what was handed in is the caller's again. */
static void least(void)
{
	static int (*const load)(unsigned long, struct ringside_control_remote_buffer *, void *) = board_load;
	struct ringside_control_remote_callbacks callbacks = { .load_trace_buffer = load };
	struct ringside_control_remote *remote;
	struct board *board = board_new();
	size_t size = remote_event_step.bytes;
	struct ringside_fw_text *event = malloc(size);
	const struct ringside_fw_text *events[] = { event };
	struct ringside_control *own = lab_open();
	uint64_t seq[BOARD_CPUS] = { 0, 0 };
	char name[8] = "least";

	CHECK(event, "memory");
	memcpy(event, &remote_event_step, size);
	FINE(own, ringside_control_remote_register(&remote, own, name, &callbacks, board, events, 1));
	ringside_control_close(own);
	memset(event, 0xff, size);
	free(event);
	memset(&callbacks, 0xff, sizeof(callbacks));
	memset(name, 0xff, sizeof(name));
	board_write(tree, "least", "events/enable", "1");
	board_write(tree, "least", "tracing_on", "1");
	board_steps(board, 1, 20);
	CHECK(board_lines(tree, "least", "trace", NULL) == 20, "all");
	board_write(tree, "least", "per_cpu/cpu1/trace", "");
	board_steps(board, 1, 1);
	seq[1] = 20;
	CHECK(board_lines(tree, "least", "trace_pipe", seq) == 1, "one");
	board_write(tree, "least", "tracing_on", "0");
	CHECK(board->loaded, "nobody told");
	ringside_control_remote_unregister(remote);
	ringside_control_remote_free_buffer(&board->buffer);
	board->loaded = false;
	board_free(board);
	/* And one without events. */
	callbacks = (struct ringside_control_remote_callbacks){ .load_trace_buffer = load };
	FINE(tree, ringside_control_remote_register(&remote, tree, "least", &callbacks, NULL, NULL, 0));
	board_expect(tree, "least", "events/enable", "?\n");
	ringside_control_remote_unregister(remote);
	ringside_control_remote_unregister(NULL);
}

/* One of a name; the next one begins as if there had been none. */
static void names(struct board *board)
{
	struct ringside_control_remote *first = board_register(board, tree, "one"), *other, *again;
	struct board *second = board_new();
	int status;
	pid_t pid;

	REFUSED(tree, ringside_control_remote_register(&again, tree, "one", &board_callbacks, second, board_events, BOARD_EVENTS), EEXIST);
	board_said(second, "");
	other = board_register(second, tree, "one.more");
	board_write(tree, "one", "events/enable", "1");
	board_write(tree, "one", "tracing_on", "1");
	board_said(board, "init, event 1 1, event 40 1, load 7168, on 1");
	board_said(second, "init");
	/* A child has no part in it. */
	pid = fork();
	if (!pid) {
		ringside_control_remote_unregister(first);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the child: %#x", status);
	board_said(board, "");
	board_write(tree, "one", "tracing_on", "0");
	board_write(tree, "one", "buffer_size_kb", "64");
	board_unregister(board, first);
	board_said(board, "on 0, unload");
	board_unregister(second, other);
	check_none("one");
	first = board_register(board, tree, "one");
	board_expect(tree, "one", "events/enable", "0\n");
	board_expect(tree, "one", "buffer_size_kb", "7 (unloaded)\n");
	board_unregister(board, first);
	board_said(board, "init");
	board_free(second);
}

/* Each has it for a moment, again and again; none meets what another one has half made, or half taken away. */
static void bring_and_go(struct board *board)
{
	for (int i = 0; i < 150; i++) {
		int r = begin("race", &board_callbacks, board, board_events, BOARD_EVENTS);

		CHECK(!r || r == -EEXIST, "%d: %s", r, ringside_control_error(tree));
		*board->diary = '\0';
	}
}

static void race(struct board *board)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	bring_and_go(board);
	if (!pid)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the other one: %#x", status);
	check_none("race");
}

/* Buffers that are made. */
static void made(void)
{
	static const struct ringside_control_remote_how bad[] = {
		{ .size = 4096, .nr_cpus = 0 }, { .size = 4096, .nr_cpus = 1025 }, { .size = 4096, .nr_cpus = 1, .page_size = 128 },
		{ .size = 4096, .nr_cpus = 1, .page_size = 8192 }, { .size = 4096, .nr_cpus = 1, .page_size = 768 },
		{ .size = 4096, .nr_cpus = 1, .nr_events = 65536 }, { .size = 4096, .nr_cpus = 1, .flags = 6 },
		{ .size = SIZE_MAX, .nr_cpus = 1 }, { .size = 4096, .nr_cpus = 1, .page_size = 1u << 31 },
	};
	struct ringside_control_remote_how how = { .size = 5000, .nr_cpus = 1024, .page_size = 512, .nr_events = 65535 };
	struct ringside_control_remote_buffer buffer = { .fd = -7 };
	struct ringside_fw_hosted fw;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(ringside_control_remote_alloc_buffer(&buffer, &bad[i]) == -EINVAL, "%zu", i);
	CHECK(ringside_control_remote_alloc_buffer(&buffer, NULL) == -EINVAL && ringside_control_remote_alloc_buffer(NULL, &how) == -EINVAL,
	      "NULL");
	ringside_control_remote_free_buffer(NULL);
	CHECK(!ringside_control_remote_alloc_buffer(&buffer, &how), "the largest");
	CHECK(buffer.fd >= 0 && !buffer.header && !ringside_fw_hosted_open(&fw, buffer.memory, buffer.size), "a writer's");
	CHECK(fw.nr_rings == 1024 && fw.nr_events == 65535 && fw.header->page_shift == 9 && fw.rings[1023].mask == 15, "as asked for");
	CHECK(ftruncate(buffer.fd, 0) && errno == EPERM, "it can be cut off");
	ringside_control_remote_free_buffer(&buffer);
	CHECK(fcntl(buffer.fd, F_GETFD) < 0 && errno == EBADF, "still open");
}

/* ---- memory of one's own ---- */

static char file[512];
static struct ringside_fw_hosted own;
static char own_diary[64];
static uint64_t own_header;
static int own_fd = -1;

static int own_load(unsigned long size, struct ringside_control_remote_buffer *buffer, void *priv)
{
	(void)size;
	(void)priv;
	buffer->fd = own_fd;
	buffer->header = own_header;
	strcat(own_diary, "load ");
	return 0;
}

static void own_unload(const struct ringside_control_remote_buffer *buffer, void *priv)
{
	(void)priv;
	CHECK(buffer->fd == own_fd && buffer->header == own_header, "another buffer");
	strcat(own_diary, "unload ");
}

static int own_on(bool enable, void *priv)
{
	(void)priv;
	/* Who hands out what can only be read stores it himself. */
	own.control->on = enable;
	strcat(own_diary, enable ? "on " : "off ");
	return 0;
}

static void own_memory(void)
{
	static const struct ringside_control_remote_callbacks callbacks = { .load_trace_buffer = own_load, .unload_trace_buffer = own_unload,
									    .enable_tracing = own_on };
	const struct ringside_fw_hosted_how how = { .nr_rings = 1, .nr_pages = 4, .page_shift = 8, .nr_events = 64 };
	size_t size = ringside_fw_hosted_size(&how);
	struct ringside_control_remote *remote;
	uint64_t seq[BOARD_CPUS] = { 0, 0 };
	int fd, pipes[2];
	char *map;

	snprintf(file, sizeof(file), "%s/memory", getenv("RINGSIDE_SCRATCH"));
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size + 65536), "%s", file);
	/* Not at its beginning. */
	map = mmap(NULL, size + 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED && !ringside_fw_hosted_init(map + 65536, size, &how) && !ringside_fw_hosted_open(&own, map + 65536, size),
	      "memory");
	FINE(tree, ringside_control_remote_register(&remote, tree, "own", &callbacks, NULL, board_events, 1));

	/* No memory, no file, and no header. */
	REFUSED(tree, board_try(tree, "own", "tracing_on", "1"), EBADF);
	CHECK(!pipe2(pipes, O_CLOEXEC), "pipe");
	own_fd = pipes[0];
	REFUSED(tree, board_try(tree, "own", "tracing_on", "1"), EINVAL);
	own_fd = fd;
	REFUSED(tree, board_try(tree, "own", "tracing_on", "1"), ENOENT);
	CHECK(!strcmp(own_diary, "load unload load unload load unload "), "%s", own_diary);
	*own_diary = '\0';

	own_header = 65536;
	/* A CPU has whatever number it has, also when there is no buffer any more. */
	own.rings[0].cpu = 5;
	board_write(tree, "own", "tracing_on", "1");
	board_cpus(tree, "own", "cpu5/ ");
	board_write(tree, "own", "tracing_on", "0");
	board_cpus(tree, "own", "cpu5/ ");
	own.rings[0].cpu = 0;
	*own_diary = '\0';

	own_fd = open(file, O_RDONLY | O_CLOEXEC);
	board_write(tree, "own", "events/enable", "1");
	board_write(tree, "own", "tracing_on", "1");
	CHECK(!strcmp(own_diary, "load on ") && !own.control->enable[0], "%s", own_diary);
	own.control->enable[0] = 2;
	trace_step(&own, 0, 0, 0);
	trace_step(&own, 0, 0, 1);
	board_expect(tree, "own", "events/enable", "1\n");
	CHECK(board_lines(tree, "own", "trace_pipe", seq) == 2, "two");
	board_cpus(tree, "own", "cpu0/ ");
	/* It begins anew: a program that restarts its own machine. */
	CHECK(!ringside_fw_hosted_init(map + 65536, size, &how), "again");
	trace_step(&own, 0, 0, 2);
	{
		char *text;

		FINE(tree, ringside_control_file_read(tree, NULL, "remotes/own/trace_pipe", &text, NULL));
		CHECK(strstr(text, "[TARGET RESTARTED]\n") && strstr(text, "seq=2"), "%s", text);
		free(text);
	}
	board_write(tree, "own", "tracing_on", "0");
	CHECK(!strcmp(own_diary, "load on off unload "), "%s", own_diary);
	ringside_control_remote_unregister(remote);
	close(own_fd);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	munmap(map, size + 65536);
}

/* Somebody who may open nothing more is told so, and what he has goes on. */
static void no_descriptors(void)
{
	struct ringside_control_remote *remote, *other;
	struct rlimit had, none;
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct board *mine = board_new();

		other = board_register(mine, tree, "one");
		CHECK(!getrlimit(RLIMIT_NOFILE, &had), "limit");
		none = (struct rlimit){ .rlim_cur = 0, .rlim_max = had.rlim_max };
		CHECK(!setrlimit(RLIMIT_NOFILE, &none), "limit");
		CHECK(ringside_control_remote_register(&remote, tree, "more", &board_callbacks, mine, board_events, BOARD_EVENTS) < 0,
		      "without descriptors");
		CHECK(!setrlimit(RLIMIT_NOFILE, &had), "limit");
		board_unregister(mine, other);
		board_said(mine, "init");
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the child: %#x", status);
	check_none("more");
	check_none("one");
}

int main(void)
{
	struct board *board = board_new();
	int before;

	tree = lab_open();
	refused(board);
	least();
	before = lab_descriptors();
	refused(board);
	least();
	names(board);
	race(board);
	made();
	own_memory();
	no_descriptors();
	CHECK(lab_descriptors() == before, "%d descriptors, not %d", lab_descriptors(), before);
	board_free(board);
	ringside_control_close(tree);
	return 0;
}
