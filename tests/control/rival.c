/*
 * Eight tools change the state at the same time, and some of them are killed with the lock in hand:
 * no change that was told to be done is lost, none is half there, and nobody waits for the dead.
 */
#include "control/room.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "control/enable.h"
#include "control/rules.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

#define TOOLS 8
#define EACH 25

static void tool(int number)
{
	struct control *control = room_open();
	char path[64];

	for (int i = 0; i < EACH; i++) {
		struct err err = ERR_INIT;

		snprintf(path, sizeof(path), "s%d", number);
		room_begin(control);
		snprintf(path, sizeof(path), "e%d", i);
		CHECK(!control_enable(control, 0, number % 2 ? "odd" : "even", path, true, &err), "%s",
		      err.text);
		snprintf(path, sizeof(path), "t%d_%d", number, i);
		CHECK(!control_enable(control, 0, "own", path, true, &err), "%s", err.text);
		room_commit(control);
	}
	control_close(control);
	_exit(0);
}

/* Takes the lock, changes things, and never comes to the end. */
static void victim(int ready)
{
	struct control *control = room_open();

	room_begin(control);
	control_rules_clear(&control->state, 0);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void check_all(int killed)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;
	char name[64];

	CHECK(!control_refresh(control, &err), "%s", err.text);
	for (int t = 0; t < TOOLS; t++)
		for (int i = 0; i < EACH; i++) {
			snprintf(name, sizeof(name), "t%d_%d", t, i);
			CHECK(control_rules_on(&control->state, 0, "own", name), "%s is lost", name);
			snprintf(name, sizeof(name), "e%d", i);
			CHECK(control_rules_on(&control->state, 0, "odd", name), "odd %s", name);
		}
	CHECK(control->state.nrules == TOOLS * EACH + 2 * EACH, "%u rules", control->state.nrules);
	CHECK(control->state.buffers[0].live.offset, "no rings");
	printf("%d tools, %d killed with the lock, generation %llu\n", TOOLS, killed,
	       (unsigned long long)control_state_generation(&control->state));
	control_close(control);
}

static pid_t start_victim(void)
{
	int ready[2];
	char c;
	pid_t pid;

	CHECK(!pipe(ready), "pipe");
	pid = fork();
	CHECK(pid >= 0, "fork");
	if (!pid)
		victim(ready[1]);
	close(ready[1]);
	CHECK(read(ready[0], &c, 1) == 1, "the victim got no lock");
	close(ready[0]);
	return pid;
}

static void check_storm(void)
{
	int killed = 0, status;
	pid_t tools[TOOLS];

	for (int t = 0; t < TOOLS; t++) {
		tools[t] = fork();
		CHECK(tools[t] >= 0, "fork");
		if (!tools[t])
			tool(t);
	}
	for (; killed < 10; killed++) {
		pid_t pid = start_victim();

		CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid, "kill");
	}
	for (int t = 0; t < TOOLS; t++)
		CHECK(waitpid(tools[t], &status, 0) == tools[t] && !status, "tool %d: %x", t, status);
	check_all(killed);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The dead free the lock at once; the living are waited for, but not for ever. */
static void check_waits(void)
{
	struct control *control = room_open();
	struct err err = ERR_INIT;
	pid_t pid = start_victim();
	char name[32];
	double start;
	int status;

	start = seconds();
	CHECK(control_begin(control, &err) == -EBUSY, "two have the lock");
	CHECK(seconds() - start >= CONTROL_LOCK_MS / 1000.0 - 0.1 &&
	      seconds() - start < CONTROL_LOCK_MS / 1000.0 + 5, "waited %f s", seconds() - start);
	snprintf(name, sizeof(name), "process %d ", pid);
	CHECK(strstr(err.text, name), "'%s' does not name %d", err.text, pid);

	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid, "kill");
	start = seconds();
	room_begin(control);
	CHECK(seconds() - start < 1, "the dead were waited for");
	control_cancel(control);
	control_close(control);
}

int main(void)
{
	check_storm();
	check_waits();
	return 0;
}
