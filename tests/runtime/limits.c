/*
 * Programs under resource limits run as they would without us. Each case is the program with one limit, set before it starts or
 * while it traces; what the program asks for itself it must get, and it must end well and in silence.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sys/resource.h>

#include "runtime/local.h"

#define MIB (1ul << 20)

struct limit_case {
	const char *what;
	int resource;
	rlim_t limit;
	size_t needs;		/* bytes that the program allocates for itself */
	bool fresh;		/* there is no directory yet */
	bool attaches;		/* it must be traced all the same */
};

static const struct limit_case cases[] = {
	{ "no limit", RLIMIT_CORE, 0, 64 * MIB, false, true },
	{ "no limit, no directory", RLIMIT_CORE, 0, 64 * MIB, true, true },
	{ "64 MiB of address space", RLIMIT_AS, 64 * MIB, 40 * MIB, false, false },
	{ "128 MiB of address space", RLIMIT_AS, 128 * MIB, 100 * MIB, false, false },
	{ "2 GiB of address space", RLIMIT_AS, 2048 * MIB, 1400 * MIB, false, true },
	{ "8 MiB of data", RLIMIT_DATA, 8 * MIB, 5 * MIB, false, false },
	{ "no file of any size", RLIMIT_FSIZE, 0, 0, false, true },
	{ "no file of any size, no directory", RLIMIT_FSIZE, 0, 0, true, false },
	{ "files of 1 MiB, no directory", RLIMIT_FSIZE, MIB, 0, true, false },
	/* With fewer the loader finds no library. */
	{ "4 descriptors", RLIMIT_NOFILE, 4, 0, false, false },
	{ "5 descriptors", RLIMIT_NOFILE, 5, 0, false, false },
	{ "6 descriptors", RLIMIT_NOFILE, 6, 0, false, false },
	{ "16 descriptors", RLIMIT_NOFILE, 16, 0, false, true },
	{ "no process", RLIMIT_NPROC, 1, 0, false, true },
	{ "64 KiB of stack", RLIMIT_STACK, 64 * 1024, 0, false, true },
	{ "no locked memory", RLIMIT_MEMLOCK, 0, 0, false, true },
};

/* The traced program, with its limit in force since exec. */
static int traced(size_t needs, bool attaches)
{
	struct note_event event = { 0, &runtime_hint_off };
	char *own = needs ? malloc(needs) : NULL;
	int r = note_intern(&event, "test", "limits");

	if (needs && !own)
		return 10;
	if (needs)
		memset(own, 1, needs);
	if (attaches && (r || !runtime.attached))
		return 11;
	for (uint32_t i = 0; i < 1000; i++)
		note_write(&event, 1, i, NOTE_MIN);
	return 0;
}

static void run_case(const struct limit_case *each, const char *base, int number)
{
	struct rlimit limit = { each->limit, each->limit };
	char dir[4200], words[256] = "", needs[32];
	int out[2];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/limit%d", base, number);
	setenv("RINGSIDE_DIR", dir, 1);
	if (!each->fresh)
		control_close(tool_start(64));
	snprintf(needs, sizeof(needs), "%zu", each->needs);
	CHECK(!pipe2(out, O_CLOEXEC), "%s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		if (each->resource == RLIMIT_NPROC)
			CHECK(geteuid() || !setresuid(0, 0, 0), "setresuid");
		setrlimit((__rlimit_resource_t)each->resource, &limit);
		execl("/proc/self/exe", "traced", needs, each->attaches ? "1" : "0", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	expect_exit(pid, 20, each->what);
	CHECK(read(out[0], words, sizeof(words) - 1) == 0, "%s: the program says: %s", each->what, words);
	close(out[0]);
}

/* A limit that comes while it traces: rings that can no longer be mapped lose events, counted, and nothing else. */
static void limit_later(struct control *control)
{
	struct note_event event = note_event("later");
	struct rlimit before, limit;
	struct registry_head head;
	uint64_t refused;
	int go[2];
	pid_t tool;

	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, 1, i, NOTE_MIN);
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	/* The tool, which needs memory of its own. */
	CHECK(!pipe2(go, O_CLOEXEC), "%s", strerror(errno));
	tool = fork();
	if (!tool) {
		if (read(go[0], &refused, 1) != 1)
			_exit(1);
		tool_resize(control, 8000);
		_exit(0);
	}
	limit.rlim_cur = 16 * MIB;
	CHECK(!setrlimit(RLIMIT_AS, &limit), "%s", strerror(errno));
	pread(control->dir.fd[SEGMENT_REGISTRY], &head, sizeof(head), 0);
	refused = head.refused;
	/* Far beyond what was mapped at the start. */
	CHECK(write(go[1], "x", 1) == 1, "%s", strerror(errno));
	expect_exit(tool, 20, "the tool");
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, 1, i, NOTE_MIN);
	CHECK(!setrlimit(RLIMIT_AS, &before), "%s", strerror(errno));
	pread(control->dir.fd[SEGMENT_REGISTRY], &head, sizeof(head), 0);
	CHECK(head.refused == refused + 100, "R6: %llu events counted as lost, not 100",
	      (unsigned long long)(head.refused - refused));
	/* Another generation, and there is room again. */
	tool_resize(control, 64);
	for (uint32_t i = 0; i < 100; i++)
		note_write(&event, 1, i, NOTE_MIN);
	CHECK(unread_now(control) == 100, "%llu events after the limit was lifted",
	      (unsigned long long)unread_now(control));
}

static void *first_event(void *arg)
{
	const struct note_event *event = arg;

	for (uint32_t i = 0; i < 10; i++)
		note_write(event, 2, i, NOTE_MIN);
	runtime_guard_enter();
	for (uint32_t i = 0; i < 10; i++)
		note_write(event, 2, i, NOTE_MIN);
	runtime_guard_leave();
	return NULL;
}

/* No descriptor at all is left: threads still come to trace, by overflow rings too. */
static void no_descriptors(struct control *control)
{
	struct note_event event = note_event("nofile");
	struct rlimit before, limit;
	uint64_t unread;
	pthread_t thread;

	tool_resize(control, 65);
	unread = unread_now(control);
	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	CHECK(!pthread_create(&thread, NULL, first_event, &event), "pthread_create");
	pthread_join(thread, NULL);
	setrlimit(RLIMIT_NOFILE, &before);
	CHECK(read_all(control, false, NULL, NULL, NULL) >= 20 && unread_now(control) >= unread + 20,
	      "events are missing");
}

int main(int argc, char **argv)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	struct control *control;

	if (argc == 3)
		return traced((size_t)strtoull(argv[1], NULL, 10), argv[2][0] == '1');
	CHECK(base, "RINGSIDE_SCRATCH is not set");
	control = tool_start(64);
	limit_later(control);
	no_descriptors(control);
	control_close(control);
	for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++)
		run_case(&cases[i], base, i);
	return 0;
}
