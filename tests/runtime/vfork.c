/*
 * Children that share their parent's memory, vfork's, posix_spawn's and clone's, may trace: their events bear their own pid, and
 * nothing is torn or lost though sections do not protect them. Afterwards the parent writes by sections again.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>

#include "runtime/local.h"
#include "runtime/overflows.h"

extern char **environ;

static struct ledger *ledger;
static struct note_event event;
static uint32_t stop;

static void *busy(void *arg)
{
	uint32_t who = ledger_join(ledger);

	(void)arg;
	for (uint32_t i = 0; i < 20000 && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		ledger_say(ledger, who, &event, NOTE_MIN + i % 24 * 4);
		if (i % 64 == 0)
			pause_us(50);
	}
	return NULL;
}

static int speak(void *arg)
{
	uint32_t who = ledger_join(ledger);

	(void)arg;
	for (int i = 0; i < 10; i++)
		ledger_say(ledger, who, &event, NOTE_MIN + 12);
	return 0;
}

static void by_vfork(int depth)
{
	pid_t pid = vfork();

	if (!pid) {
		speak(NULL);
		if (depth)
			by_vfork(depth - 1);
		_exit(0);
	}
	CHECK(pid > 0, "%s", strerror(errno));
	expect_exit(pid, 10, "vfork's child");
}

int __ringside_poke(const struct stopped_thread *threads, size_t n);
int __ringside_detach(const struct stopped_thread *threads, size_t n);

/* The tool may come to a child by its own number: what it shares with others, whose threads run, it leaves as it is. */
static void by_vfork_poked(void)
{
	const struct stopped_thread *nobody = NULL;
	pid_t pid = vfork();

	if (!pid)
		_exit(__ringside_poke(nobody, 0) == -ECHILD && __ringside_detach(nobody, 0) == -ECHILD ? 0 : 1);
	expect_exit(pid, 10, "vfork's child that is poked");
	CHECK(__ringside_poke(nobody, 0) >= 0, "the parent is not itself");
	pid = fork();
	if (!pid)
		_exit(__ringside_poke(nobody, 0) >= 0 ? 0 : 1);
	expect_exit(pid, 10, "fork's child that is poked");
}

/* A child of vfork that forks: rseq is neither's. */
static void by_vfork_fork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		pid = _Fork();
		if (!pid) {
			speak(NULL);
			_exit(0);
		}
		_exit(pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 1);
	}
	expect_exit(pid, 10, "vfork's child that forks");
}

static void by_clone(int flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(speak, stack + sizeof(stack), flags | SIGCHLD, NULL);

	CHECK(pid > 0, "%s", strerror(errno));
	expect_exit(pid, 10, "clone's child");
}

static void by_spawn(void)
{
	char *argv[] = { (char *)"true", (char *)"true", NULL };
	pid_t pid;
	int r = posix_spawnp(&pid, "/proc/self/exe", NULL, NULL, argv, environ);

	CHECK(!r, "%s", strerror(r));
	expect_exit(pid, 10, "posix_spawn's child");
	r = posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, environ);
	CHECK(r == ENOENT, "posix_spawn: %d", r);
}

/* The thread's events take the quick way again. */
static void expect_sections(const struct control *control, const char *after)
{
	uint64_t before = overflows(control);
	uint32_t who = ledger_join(ledger);

	if (!runtime_self.rs || (int32_t)runtime_self.rs->cpu_id < 0)
		return;
	for (int i = 0; i < 100; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	CHECK(overflows(control) - before < 20, "after %s the parent goes on in overflow rings", after);
}

int main(int argc, char **argv)
{
	struct control *control;
	pthread_t thread[2];
	uint64_t taken;
	uint32_t who;

	if (argc > 1)
		return strcmp(argv[1], "true");
	control = tool_start(4000);
	ledger = shared_memory(sizeof(*ledger));
	event = note_event("vfork");
	who = ledger_join(ledger);
	ledger_say(ledger, who, &event, NOTE_MIN);
	/* Alone first: what is taken from overflow slots is then known. */
	by_vfork(0);
	CHECK(overflows(control) >= 10, "a vfork child wrote by sections");
	expect_sections(control, "vfork");
	by_vfork(2);
	expect_sections(control, "nested vfork");
	taken = overflows(control);
	by_vfork_fork();
	CHECK(overflows(control) >= taken + 10, "a child that vfork's child forked wrote by sections");
	expect_sections(control, "fork in vfork's child");
	by_vfork_poked();
	expect_sections(control, "a poke in vfork's child");
	by_spawn();
	expect_sections(control, "posix_spawn");
	by_clone(CLONE_VM | CLONE_VFORK);
	expect_sections(control, "clone with CLONE_VFORK");

	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, busy, NULL), "pthread_create");
	for (int i = 0; i < 100; i++) {
		ledger_say(ledger, who, &event, NOTE_MIN);
		by_vfork(i % 3 == 0);
		by_vfork_fork();
		by_clone(CLONE_VM | CLONE_VFORK);
		by_spawn();
	}
	/* Runs beside us on our TLS: we are guarded from here on. */
	by_clone(CLONE_VM);
	for (int i = 0; i < 10; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ledger_verify(ledger, control, false);
	control_close(control);
	return 0;
}
