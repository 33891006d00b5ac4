/*
 * All processes of a directory are told that its state has changed, and those that cannot be are counted; attaching tells who has
 * joined because of it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "inject/inject.h"
#include "inject/process.h"
#include "insist.h"
#include "ring/segment.h"

#define TARGETS 3

static const char *dir;
static char library[4096];

/* One that knows nothing of us, and is past its loader. */
static pid_t start(void)
{
	struct process process;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		execl("/bin/sleep", "sleep", "100", NULL);
		_exit(127);
	}
	do {
		usleep(1000);
		CHECK(!process_read(&process, pid), "sleep is gone");
	} while (strcmp(process.name, "sleep") || process.state != 'S');
	return pid;
}

static void wait_for_state(pid_t pid, char state)
{
	struct process process;

	do {
		usleep(1000);
		CHECK(!process_read(&process, pid), "sleep is gone");
	} while (process.state != state);
}

static void attach(pid_t pid, int want)
{
	struct err err = ERR_INIT;
	int r = inject_attach(pid, dir, library, &err);

	CHECK(r == want, "%d instead of %d: %s", r, want, err.text);
}

static void poke_all(int want)
{
	struct err err = ERR_INIT;
	int r = inject_poke_all(dir, 0, &err);

	CHECK(r == want, "%d instead of %d: %s", r, want, err.text);
	CHECK(!want == !*err.text, "words: '%s'", err.text);
}

/* Where the build left it: beside the directory of this program. */
static void find_library(void)
{
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(n > 0, "/proc/self/exe");
	self[n] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(self, '/') = '\0';
	snprintf(library, sizeof(library), "%s/libringside.so.0", self);
}

int main(void)
{
	struct segment_dir segments;
	struct err err = ERR_INIT;
	pid_t pids[TARGETS];
	int r;

	dir = getenv("RINGSIDE_DIR");
	CHECK(dir, "no directory");
	r = segment_open(&segments, dir, true, &err);
	CHECK(!r, "%s", err.text);
	segment_close(&segments);
	find_library();
	for (int i = 0; i < TARGETS; i++)
		pids[i] = start();
	r = inject_attach(pids[0], dir, library, &err);
	if (r == -ENOTSUP || r == -EPERM) {
		printf("skipped: %s\n", err.text);
		for (int i = 0; i < TARGETS; i++)
			kill(pids[i], SIGKILL);
		return 77;
	}
	CHECK(r == 1, "%d: %s", r, err.text);
	attach(pids[1], 1);
	attach(pids[1], 0);
	poke_all(0);
	CHECK(!inject_poke(pids[2], dir, &err), "one that has not joined: %s", err.text);

	/* Two of the three have joined; one of them cannot be reached now. */
	kill(pids[0], SIGSTOP);
	kill(pids[2], SIGSTOP);
	wait_for_state(pids[0], 'T');
	wait_for_state(pids[2], 'T');
	poke_all(1);
	CHECK(!inject_poke_all(dir, pids[0], &err), "not even without it: %s", err.text);
	kill(pids[0], SIGCONT);
	kill(pids[2], SIGCONT);
	wait_for_state(pids[0], 'S');
	poke_all(0);

	/* Asleep, it has to be woken; twice is once. */
	for (int i = 0; i < 20; i++) {
		CHECK(!inject_detach(pids[0], dir, &err), "%s", err.text);
		CHECK(!inject_detach(pids[0], dir, &err), "%s", err.text);
		attach(pids[0], 1);
		attach(pids[0], 0);
	}
	kill(pids[1], SIGKILL);
	waitpid(pids[1], NULL, 0);
	poke_all(0);
	CHECK(inject_attach(pids[1], dir, library, &err) == -ESRCH, "a dead one: %s", err.text);
	for (int i = 0; i < TARGETS; i++)
		kill(pids[i], SIGKILL);
	return 0;
}
