/*
 * `ringside record` while it, the program, or both are killed at any moment, from before the first event until the file is
 * closed up. A file that has its name opens here and in trace-cmd, and both say the same: nothing twice, nothing out of
 * order, no number missing that is not told as lost. What the program had emitted when it alone was killed is there, and
 * so it is when the recorder is only stopped for a while. One that dies harms no program, the next one clears up behind it,
 * and its file can be closed up.
 *
 *	KILL_ROUNDS=200 KILL_SEED=7 killed
 */
#include "record/recording.h"

enum mode { END, HELD, PROGRAM, RECORDER, BOTH, CLOSING, MODES };

static const char *const mode_names[MODES] = { "nobody", "held", "program", "recorder", "both", "closing" };

static uint64_t spans[VARIANTS];	/* how long one of the kind takes, in us */

static uint64_t nr_events, nr_lost, nr_missing;

static bool has_ended(void)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)recorder, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

static void await_writers(const uint32_t *word)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) < numbers_writers() && !has_ended())
		numbers_sleep(200);
}

static void strike(enum mode mode, size_t v)
{
	uint64_t span = spans[v] ? spans[v] : 400000;

	if (mode == PROGRAM)
		await_writers(&numbers->running);
	if (mode == CLOSING)
		await_writers(&numbers->ended);
	numbers_sleep(random_below(mode == CLOSING ? 20000 : mode == PROGRAM ? span : span * 5 / 4));
	if (mode == HELD) {
		kill(recorder, SIGSTOP);
		numbers_sleep(random_below(300000));
		kill(recorder, SIGCONT);
	} else if (mode == PROGRAM) {
		numbers_kill();
	} else {
		kill(mode == BOTH ? -recorder : recorder, SIGKILL);
	}
}

/* The recorder's status, then all others', which are ours when it is dead. */
static int reap(enum mode mode)
{
	int status, other;
	pid_t pid;

	CHECK(waitpid(recorder, &status, 0) == recorder, "%s: no recorder", where);
	while ((pid = waitpid(-1, &other, 0)) > 0 || errno == EINTR)
		CHECK(pid < 0 || mode == PROGRAM || mode == BOTH || !other, "%s: a program ended with %x", where, other);
	return status;
}

static void check_file(enum mode mode, const struct variant *v, bool pinned)
{
	struct told ours, theirs;

	read_all(&ours, "$RINGSIDE report");
	if (has_trace_cmd) {
		read_all(&theirs, "trace-cmd report");
		check_same(&ours, &theirs, "trace-cmd");
	}
	check_bounds(&ours, v, mode <= PROGRAM);
	if (mode <= PROGRAM)
		check_sums(&ours, v);
	check_holes(&ours, v, pinned);
	if (!access(file, F_OK) && mode > PROGRAM)
		check_closed_up(&ours);
	nr_events += ours.events;
	nr_lost += ours.lost;
}

static void play(unsigned int n, size_t v, enum mode mode)
{
	uint64_t this_seed = seed, began = now_us();
	bool pinned = mode >= RECORDER || variants[v].apart || random_below(2), killed = mode >= RECORDER;
	const char *dir = dirs[random_below(2)];
	int status;

	snprintf(where, sizeof(where), "round %u (%s, %s, KILL_SEED=%llu, %s)", n, variants[v].name, mode_names[mode],
		 (unsigned long long)this_seed, dir);
	free(file);
	CHECK(asprintf(&file, "%s/t.dat", dir) > 0, "memory");
	start(&variants[v], pinned, false);
	if (mode != END)
		strike(mode, v);
	status = reap(mode);
	if (!spans[v] && mode == END)
		spans[v] = now_us() - began;
	if (!killed)
		CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || (mode == PROGRAM && WEXITSTATUS(status) == 137)),
		      "%s: the recorder ended with %x", where, status);
	/* One that was struck too late has done all it had to. */
	if (killed && WIFEXITED(status) && !WEXITSTATUS(status))
		mode = END;
	CHECK(killed || !access(file, F_OK), "%s: no file", where);
	nr_missing += access(file, F_OK) != 0;
	check_file(mode, &variants[v], pinned);
	if (killed)
		check_swept();
	clear_files(dir, killed);
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("KILL_ROUNDS");
	unsigned int n = rounds ? (unsigned int)atoi(rounds) : 2 * (unsigned int)VARIANTS;

	if (argc > 1 && !strcmp(argv[1], "emit"))
		return numbers_main();
	recording_begin("KILL_SEED");
	/* Each kind first as it should be, then each with somebody killed, by turns. */
	for (unsigned int i = 0; i < n; i++)
		play(i, i % VARIANTS, i < VARIANTS ? END : (enum mode)(1 + random_below(MODES - 1)));
	printf("%u rounds, %llu events, %llu lost, %llu recordings without a file%s\n", n, (unsigned long long)nr_events,
	       (unsigned long long)nr_lost, (unsigned long long)nr_missing, has_trace_cmd ? "" : ", no trace-cmd");
	return 0;
}
