/*
 * What tests of bad tracing directories share: one traced program and some commands, run against a directory that something is
 * wrong with.
 *
 * The program must run on in silence and exit with 0. A command must not crash or hang; where the directory cannot be used it says
 * so in one line on stderr, which names what it is about, and exits with 1.
 */
#ifndef TESTS_BAD_BAD_H
#define TESTS_BAD_BAD_H

#include "runtime/trace.h"

#include <poll.h>

/* The traced program's whole life, in main() of the test started again with this one argument. */
#define TRACED "traced-role"

static inline int bad_traced(void)
{
	struct note_event event = { 0, &runtime_hint_off }, other = { 0, &runtime_hint_off };
	pid_t pid;
	int status;

	note_intern(&event, "test", "bad");
	note_intern(&other, "test", "worse");
	for (uint32_t i = 0; i < 2000; i++) {
		note_write(&event, 1, i, NOTE_MIN + i % 24 * 4);
		note_write_long(&other, 1, i, 400);
	}
	pid = fork();
	if (!pid) {
		note_write(&event, 2, 1, NOTE_MIN);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}

struct outcome {
	int status;		/* of waitpid; -1: had to be killed */
	char out[4096];
	char err[4096];
};

static inline void take_text(int fd, char *text, size_t size, size_t *len)
{
	ssize_t n = read(fd, text + *len, size - 1 - *len);

	if (n > 0)
		*len += (size_t)n;
	text[*len] = '\0';
}

/* Runs argv for 20 s at most. */
static inline void run_program(struct outcome *outcome, char *const argv[])
{
	uint64_t end = now_ns() + 20000000000ull;
	size_t out_len = 0, err_len = 0;
	int out[2], err[2];
	pid_t pid, got = 0;

	memset(outcome, 0, sizeof(*outcome));
	CHECK(!pipe2(out, O_CLOEXEC | O_NONBLOCK) && !pipe2(err, O_CLOEXEC | O_NONBLOCK), "%s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		execv(argv[0], argv);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	while (!got) {
		struct pollfd both[2] = { { out[0], POLLIN, 0 }, { err[0], POLLIN, 0 } };

		got = waitpid(pid, &outcome->status, WNOHANG);
		poll(both, 2, got ? 0 : 5);
		take_text(out[0], outcome->out, sizeof(outcome->out), &out_len);
		take_text(err[0], outcome->err, sizeof(outcome->err), &err_len);
		/* More than it holds is thrown away. */
		out_len = out_len > sizeof(outcome->out) / 2 ? 0 : out_len;
		err_len = err_len > sizeof(outcome->err) - 2 ? 0 : err_len;
		if (!got && now_ns() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &outcome->status, 0);
			outcome->status = -1;
			break;
		}
	}
	close(out[0]);
	close(err[0]);
}

static inline void program_runs_on(const char *what)
{
	char *argv[] = { (char *)"/proc/self/exe", (char *)TRACED, NULL };
	struct outcome outcome;

	run_program(&outcome, argv);
	CHECK(outcome.status != -1, "%s: the program hangs", what);
	CHECK(!WIFSIGNALED(outcome.status), "%s: the program is killed by signal %d", what, WTERMSIG(outcome.status));
	CHECK(!outcome.status, "%s: the program exits with %d", what, WEXITSTATUS(outcome.status));
	CHECK(!outcome.out[0] && !outcome.err[0], "%s: the program says: %s%s", what, outcome.out, outcome.err);
}

static inline const char *command_path(void)
{
	const char *command = getenv("RINGSIDE");

	if (!command || access(command, X_OK))
		skip("RINGSIDE does not name the command");
	return command;
}

/* Some commands, none of which may crash or hang. `refused`: each must be refused in one line that has `names` in it. */
static inline void commands_behave(const char *what, bool refused, const char *names)
{
	static const char *const commands[][4] = {
		{ "list", "-e" }, { "start", "-e", "test" }, { "show" }, { "cat", "available_events" },
		{ "write", "buffer_size_kb", "64" }, { "stop" },
	};
	const char *command = command_path();

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *argv[6] = { (char *)(uintptr_t)command };
		struct outcome outcome;
		const char *line;

		for (int n = 0; n < 4 && commands[i][n]; n++)
			argv[n + 1] = (char *)(uintptr_t)commands[i][n];
		run_program(&outcome, argv);
		CHECK(outcome.status != -1, "%s: ringside %s hangs", what, commands[i][0]);
		CHECK(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) <= 1, "%s: ringside %s ends with %x: %s",
		      what, commands[i][0], outcome.status, outcome.err);
		line = strchr(outcome.err, '\n');
		if (!WEXITSTATUS(outcome.status)) {
			CHECK(!refused, "%s: ringside %s is content", what, commands[i][0]);
			continue;
		}
		CHECK(line && !line[1], "%s: ringside %s does not say one line: %s", what, commands[i][0], outcome.err);
		CHECK(!refused || strstr(outcome.err, names), "%s: ringside %s does not name %s: %s", what, commands[i][0],
		      names, outcome.err);
		CHECK(!refused || strchr(outcome.err + strlen("ringside:"), ':'),
		      "%s: ringside %s does not say what to do: %s", what, commands[i][0], outcome.err);
	}
}

/* A directory of its own for a case, made by a program that traced. */
static inline void fresh_directory(char *dir, size_t size, const char *name, bool make)
{
	const char *base = getenv("RINGSIDE_SCRATCH");

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	snprintf(dir, size, "%s/%s", base, name);
	setenv("RINGSIDE_DIR", dir, 1);
	if (make) {
		control_close(tool_start(64));
		program_runs_on(name);
	}
}

#endif
