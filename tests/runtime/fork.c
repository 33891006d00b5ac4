/*
 * Children of every kind of fork go on tracing, as themselves (R6): fork, _Fork and clone past libc, out of a program whose
 * other threads are in the middle of events, children of children, and children that start threads.
 */
#include "runtime/trace.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#define ROUNDS 60

static struct ledger *ledger;
static struct note_event event;
static uint32_t stop;

static void *busy(void *arg)
{
	uint32_t who = ledger_join(ledger);

	(void)arg;
	for (uint32_t i = 0; i < 4000 && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		ledger_say(ledger, who, &event, NOTE_MIN + i % 24 * 4);
		if (i % 16 == 0)
			pause_us(100);
	}
	return NULL;
}

static void *once(void *arg)
{
	uint32_t who = ledger_join(ledger);

	(void)arg;
	for (int i = 0; i < 10; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	return NULL;
}

static void child(int kind, int depth)
{
	uint32_t who = ledger_join(ledger);
	pthread_t thread;

	for (int i = 0; i < 20; i++)
		ledger_say(ledger, who, &event, NOTE_MIN + 8);
	for (; depth < 2; depth++) {
		pid_t pid = fork();

		if (pid) {
			expect_exit(pid, 20, "a grandchild");
			break;
		}
		who = ledger_join(ledger);
		ledger_say(ledger, who, &event, NOTE_MIN);
	}
	/* Libc supports threads in the children that it knows of. */
	if (kind == 0) {
		CHECK(!pthread_create(&thread, NULL, once, NULL), "no thread in the child");
		pthread_join(thread, NULL);
	}
	_exit(0);
}

static pid_t any_fork(int kind)
{
	switch (kind) {
	case 0:
		return fork();
	case 1:
		return _Fork();
	default:
#if defined(__s390__)
		return fork();
#else
		return (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
#endif
	}
}

int main(void)
{
	static const char *const what[] = { "a child of fork", "a child of _Fork", "a child of clone" };
	struct control *control = tool_start(4000);
	pthread_t thread[4];
	uint32_t who;

	ledger = shared_memory(sizeof(*ledger));
	event = note_event("fork");
	who = ledger_join(ledger);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, busy, NULL), "pthread_create");
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = any_fork(i % 3);

		if (!pid)
			child(i % 3, i % 3 ? 2 : 0);
		CHECK(pid > 0, "%s", strerror(errno));
		ledger_say(ledger, who, &event, NOTE_MIN + 4);
		expect_exit(pid, 20, what[i % 3]);
		/* The new process changes the generation, the old one follows. */
		if (i % 16 == 8)
			tool_enable(control, "other", "thing", i % 32 == 8);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	ledger_verify(ledger, control, false);
	control_close(control);
	return 0;
}
