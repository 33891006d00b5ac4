/*
 * The traced program does not notice: descriptors, threads, errno, signal dispositions and the mask are as without us; memory
 * beside the rings stays under 1 MiB; attaching takes a bounded number of system calls, and an event after the first few none.
 */
#include "runtime/trace.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "runtime/local.h"

#define ATTACH_CALLS 60

static struct note_event event;

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir, "%s", strerror(errno));
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* 0, 1, 2 and nothing else: in a program that has just started. */
static int traced_start(void)
{
	sigset_t mask;
	struct sigaction act;

	/* . and .. and the directory's own */
	if (descriptors() != 3 + 3)
		return 3;
	if (sigprocmask(SIG_BLOCK, NULL, &mask))
		return 4;
	for (int i = 1; i < 64; i++) {
		if (i == 32 || i == 33)
			continue;
		if (sigismember(&mask, i))
			return 5;
		if (sigaction(i, NULL, &act) || (act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN))
			return 6;
	}
	return errno ? 7 : 0;
}

static void errno_stays(struct control *control)
{
	struct note_event late;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 50; i++) {
			errno = 12345;
			note_write(&event, 1, (uint32_t)i, NOTE_MIN);
			CHECK(errno == 12345, "an event changes errno to %d", errno);
		}
		runtime_guard_enter();
		errno = 12345;
		note_write(&event, 1, 0, NOTE_MIN);
		CHECK(errno == 12345, "an event by an overflow ring changes errno to %d", errno);
		runtime_guard_leave();
		tool_resize(control, 64 + (uint64_t)round % 2);
	}
	/* Overflow rings of the dead have to be asked for. */
	for (uint32_t i = 0; i < control->dir.ncpu; i++) {
		uint64_t owner = (uint64_t)INT32_MAX << 32 | 1;
		off_t at = (off_t)(offsetof(struct rings_head, slot) + i * sizeof(struct overflow_slot));

		CHECK(pwrite(control->dir.fd[SEGMENT_RINGS], &owner, sizeof(owner), at) == sizeof(owner), "slots");
	}
	runtime_guard_enter();
	errno = 12345;
	note_write(&event, 1, 0, NOTE_MIN);
	CHECK(errno == 12345, "taking a ring from the dead changes errno to %d", errno);
	runtime_guard_leave();
	errno = 12345;
	note_write_long(&event, 1, 0, 3000);
	CHECK(errno == 12345, "a long event changes errno to %d", errno);
	note_intern(&late, "test", "late");
}

/* KiB of private and shared memory in mappings that are ours, but for the rings. */
static uint64_t own_kib(void)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	uintptr_t views = (uintptr_t)runtime.views[0];
	uint64_t sum = 0, kib;
	char line[4400];
	bool ours = false;

	CHECK(smaps, "%s", strerror(errno));
	while (fgets(line, sizeof(line), smaps)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			ours = (views >= from && views < to) || strstr(line, "/control") || strstr(line, "/registry");
		else if (ours && sscanf(line, "Rss: %llu kB", (unsigned long long *)&kib) == 1)
			sum += kib;
	}
	fclose(smaps);
	return sum;
}

static void memory_stays_small(struct control *control)
{
	for (int i = 0; i < 40; i++) {
		tool_enable(control, "other", "memory", i % 2);
		note_write(&event, 1, (uint32_t)i, NOTE_MIN);
		note_write_long(&event, 1, (uint32_t)i, 1000);
	}
	printf("%llu KiB beside the rings\n", (unsigned long long)(own_kib() + sizeof(struct runtime) / 1024));
	CHECK(own_kib() + sizeof(struct runtime) / 1024 < 1024, "R: more than 1 MiB beside the rings");
}

/* System calls of a child from its SIGSTOP to its end, or to its second one. */
static uint32_t count_calls(pid_t pid)
{
	uint32_t calls = 0;
	int status;

	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("ptrace is not allowed here");
	for (;;) {
		CHECK(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL), "%s", strerror(errno));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "the child is gone: %x", status);
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		calls++;
	}
	ptrace(PTRACE_KILL, pid, NULL, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return calls / 2;
}

static void stop_for_tracer(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
}

static void calls_are_few(void)
{
	uint32_t calls;
	pid_t pid = fork();

	if (!pid) {
		for (uint32_t i = 0; i < 10; i++)
			note_write(&event, 1, i, NOTE_MIN);
		stop_for_tracer();
		for (uint32_t i = 0; i < 10000; i++)
			note_write(&event, 1, i, NOTE_MIN);
		raise(SIGSTOP);
		_exit(0);
	}
	calls = count_calls(pid);
	printf("%u system calls for 10000 events\n", calls);
	/* raise() takes some of them; a first event on another CPU makes its ring. */
	CHECK(calls < 16, "an event takes system calls");

	pid = fork();
	if (!pid) {
		/* As if it had just been started. */
		memset(&runtime, 0, sizeof(runtime));
		runtime.tid_offset = -1;
		stop_for_tracer();
		runtime_attach(getenv("RINGSIDE_DIR"));
		raise(SIGSTOP);
		_exit(0);
	}
	calls = count_calls(pid);
	printf("%u system calls to attach\n", calls);
	CHECK(calls < ATTACH_CALLS, "attaching takes too many system calls");
}

int main(int argc, char **argv)
{
	struct control *control;
	int before;
	pid_t pid;

	if (argc > 1)
		return strcmp(argv[1], "start") ? 2 : traced_start();
	control = tool_start(64);
	pid = fork();
	if (!pid) {
		if (close_range(3, ~0u, 0))
			_exit(77);
		execl("/proc/self/exe", "traced", "start", (char *)NULL);
		_exit(127);
	}
	expect_exit(pid, 10, "a program that looks at itself");
	before = descriptors();
	event = note_event("stays");
	errno_stays(control);
	memory_stays_small(control);
	CHECK(descriptors() == before, "%d descriptors more", descriptors() - before);
	calls_are_few();
	control_close(control);
	return 0;
}
