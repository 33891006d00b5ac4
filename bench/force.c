/*
 * How long a write to `enable` takes until the event is on in 200 programs.
 *
 * The programs are processes of their own, attached to the directory, and asleep: two hundred that spin would measure the
 * scheduler. What is measured is the write itself, from the call to its return. That it is in force by then is checked, not
 * assumed: behind the write every program is woken and calls its event's site once, and after a write of 1 each of them has
 * recorded that call, after a write of 0 none has. A program does nothing in between that could learn of the change but
 * look at the site.
 *
 * Told are medians, in nanoseconds, of writing 1 and of writing 0, and the very first write, which also makes the
 * rings and measures the clock.
 *
 *	force PROGRAM [ROUNDS]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "control/rows.h"
#include "control/tree.h"
#include "forced.h"
#include "measure.h"

const int ringside_no_attach = 1;

struct call {
	uint64_t head;
	int32_t number, round;
};

static struct control *control;
static struct forced *forced;
static uint32_t last_round;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "force: %s: %s\n", what, why);
	exit(1);
}

static void start(const char *program, int fd)
{
	for (uint32_t i = 0; i < FORCED_PROGRAMS; i++) {
		char number[16];
		pid_t pid;

		snprintf(number, sizeof(number), "%u", i);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (dup2(fd, 3) == 3)
				execl(program, program, number, (char *)NULL);
			_exit(127);
		}
		if (pid < 0)
			die(program, "cannot be started");
	}
}

static void await(uint32_t *count, const char *what)
{
	uint32_t n;

	for (int i = 0; (n = __atomic_load_n(count, __ATOMIC_SEQ_CST)) < FORCED_PROGRAMS; i++) {
		struct timespec limit = { 1, 0 };

		syscall(SYS_futex, count, FUTEX_WAIT, n, &limit, NULL, 0);
		/* Each of them wakes us at most once a second: a program that died never will. */
		if (i > 300)
			die(what, "a program does not answer");
	}
}

static double enable(bool on)
{
	struct err err = ERR_INIT;
	double start = now(), took;
	int r = tree_write(control, "events/bench/forced/enable", on ? "1" : "0", 1, TREE_TRUNC, &err);

	took = now() - start;
	if (r)
		die("enable", err.text);
	return took;
}

/* Every program calls its site once. */
static void call_all(void)
{
	__atomic_store_n(&forced->done, 0, __ATOMIC_SEQ_CST);
	last_round = __atomic_add_fetch(&forced->round, 1, __ATOMIC_SEQ_CST);
	forced_wake(&forced->round);
	await(&forced->done, "a round");
}

/* Takes out what was recorded: of this round, from so many programs, each once, and nothing else. */
static void check(uint32_t want)
{
	struct control_rows_how how = { .cpu = -1, .consume = true };
	bool seen[FORCED_PROGRAMS] = { false };
	struct err err = ERR_INIT;
	struct control_rows *rows;
	struct control_row row;
	uint32_t n = 0;

	if (control_refresh(control, &err) || control_rows_open(&rows, control, &how, &err))
		die("reading", err.text);
	while (control_rows_next(rows, &row, &err) == 1) {
		struct call call;

		memcpy(&call, row.row.data, sizeof(call));
		if ((uint32_t)call.number >= FORCED_PROGRAMS || seen[call.number] || (uint32_t)call.round != last_round ||
		    row.lost)
			die("check", "a record that should not be there");
		seen[call.number] = true;
		n++;
	}
	control_rows_close(rows);
	if (n == want)
		return;
	fprintf(stderr, "force: %u of %u programs recorded, not %u\n", n, FORCED_PROGRAMS, want);
	exit(1);
}

static double write_and_check(bool on)
{
	double took = enable(on);

	call_all();
	check(on ? FORCED_PROGRAMS : 0);
	return took;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 40, fd = memfd_create("forced", 0);
	double *on, *off, first;
	struct err err = ERR_INIT;

	if (argc < 2 || rounds < 1 || fd < 0 || ftruncate(fd, sizeof(*forced)))
		return 2;
	forced = forced_map(fd);
	if (forced == MAP_FAILED || control_open(&control, NULL, true, &err))
		die("start", err.text);
	start(argv[1], fd);
	await(&forced->ready, "the start");
	on = calloc((size_t)rounds, sizeof(double));
	off = calloc((size_t)rounds, sizeof(double));
	first = write_and_check(true);
	for (int i = 0; i < rounds; i++) {
		off[i] = write_and_check(false);
		on[i] = write_and_check(true);
	}
	printf("enable_200_first %.0f\nenable_200 %.0f\ndisable_200 %.0f\n", first, percentile(on, rounds, 50),
	       percentile(off, rounds, 50));
	return 0;
}
