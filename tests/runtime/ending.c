/*
 * Threads and processes that end in the middle of tracing: cancelled at any instruction, by _exit, abort and exit while other
 * threads trace, and from exit handlers. What the program's end looks like from outside is as without us, nothing is torn, and
 * those who live on trace on.
 */
#include "runtime/trace.h"

#include <pthread.h>

#include "runtime/local.h"

static struct note_event event;

static void *endless(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	if (who % 3 == 1)
		runtime_guard_enter();
	for (uint32_t i = 0;; i++) {
		if (who % 3 == 2)
			note_write_long(&event, who, i, 600);
		else
			note_write(&event, who, i, NOTE_MIN + i % 20 * 4);
	}
	return NULL;
}

static void cancel_threads(struct control *control)
{
	pthread_t thread[4];
	void *result;

	for (int round = 0; round < 60; round++) {
		for (uintptr_t i = 0; i < 4; i++)
			CHECK(!pthread_create(&thread[i], NULL, endless, (void *)(round * 4 + i)), "pthread_create");
		tool_enable(control, "other", "end", round % 2);
		pause_us(1000);
		for (int i = 0; i < 4; i++)
			CHECK(!pthread_cancel(thread[i]), "pthread_cancel");
		for (int i = 0; i < 4; i++)
			CHECK(!pthread_join(thread[i], &result) && result == PTHREAD_CANCELED, "not cancelled");
	}
}

static void at_exit(void)
{
	note_write(&event, 7000, 1, NOTE_MIN);
}

static void *ender(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0;; i++) {
		note_write(&event, who, i, NOTE_MIN + i % 20 * 4);
		if (i % 256 == 255)
			pause_us(100);
	}
	return NULL;
}

static void end_process(int how)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		pthread_t thread;

		for (uintptr_t i = 0; i < 3; i++)
			pthread_create(&thread, NULL, ender, (void *)(5000 + i));
		atexit(at_exit);
		note_write(&event, 6000 + (uint32_t)how, 0, NOTE_MIN);
		pause_us(3000);
		if (how == 0)
			_exit(3);
		if (how == 1) {
			signal(SIGABRT, SIG_DFL);
			abort();
		}
		exit(3);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(how == 1 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT :
	      WIFEXITED(status) && WEXITSTATUS(status) == 3, "the end looks different: %x", status);
}

static void see(const struct seen *seen, void *ctx)
{
	uint64_t *count = ctx;

	if (seen->who == 9000)
		count[0]++;
	if (seen->who == 7000)
		count[1]++;
}

int main(void)
{
	struct control *control = tool_start(3000);
	uint64_t count[2] = { 0 };

	event = note_event("end");
	cancel_threads(control);
	for (int i = 0; i < 9; i++)
		end_process(i % 3);
	/* Enough for every place that a view, a stage or a slot could have been left in. */
	tool_resize(control, 500);
	for (uint32_t i = 0; i < 40; i++) {
		tool_enable(control, "other", "end", i % 2);
		note_write(&event, 9000, 2 * i, NOTE_MIN);
		note_write_long(&event, 9000, 2 * i + 1, 3000);
	}
	runtime_guard_enter();
	note_write(&event, 9000, 100, NOTE_MIN);
	runtime_guard_leave();
	read_all(control, false, see, count, NULL);
	CHECK(count[0] == 81, "of 81 events after all those ends %llu are there", (unsigned long long)count[0]);
	CHECK(count[1] == 3, "of 3 events from exit handlers %llu are there", (unsigned long long)count[1]);
	control_close(control);
	return 0;
}
