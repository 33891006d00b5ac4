/*
 * A program that a debugger steps, instruction by instruction, makes progress: no section survives that, so after some tries its
 * events take overflow rings (R10). Under ptrace, as gdb does it.
 */
#include "runtime/trace.h"

#include <sys/ptrace.h>

#define NOTES 5u
#define STEPS_MAX 400000u

static struct note_event event;

int main(void)
{
	struct control *control = tool_start(64);
	struct ledger *ledger = shared_memory(sizeof(*ledger));
	uint32_t steps = 0;
	int status;
	pid_t pid;

	event = note_event("stepped");
	pid = fork();
	if (!pid) {
		uint32_t who = ledger_join(ledger);

		ledger_say(ledger, who, &event, NOTE_MIN);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(77);
		raise(SIGSTOP);
		for (uint32_t i = 0; i < NOTES; i++)
			ledger_say(ledger, who, &event, NOTE_MIN + i * 4);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("ptrace is not allowed here");
	while (WIFSTOPPED(status) && steps < STEPS_MAX) {
		int sig = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);

		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig), "%s", strerror(errno));
		CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
		steps++;
	}
	if (WIFSTOPPED(status))
		kill(pid, SIGKILL);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "R10: no end after %u steps (%x)", steps, status);
	printf("%u steps for %u events\n", steps, NOTES);
	ledger_verify(ledger, control, false);
	control_close(control);
	return 0;
}
