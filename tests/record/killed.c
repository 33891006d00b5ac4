/*
 * `ringside record` while it, the program, or both are killed at any moment, from before the first event until the file is
 * closed up. A file that has its name opens here and in trace-cmd, and both say the same: nothing twice, nothing out of
 * order, no number missing that is not told as lost. What the program had emitted when it alone was killed is there, and
 * so it is when the recorder is only stopped for a while. One that dies harms no program, the next one clears up behind it,
 * and its file can be closed up.
 *
 *	KILL_ROUNDS=200 KILL_SEED=7 killed
 */
#include "record/numbers.h"

#include <dirent.h>
#include <sys/stat.h>

#include "dat/live.h"

enum mode { END, HELD, PROGRAM, RECORDER, BOTH, CLOSING, MODES };

static const char *const mode_names[MODES] = { "nobody", "held", "program", "recorder", "both", "closing" };

/* One kind of recording. */
static const struct variant {
	const char *name;
	const char *args[8];
	uint32_t processes, threads;	/* threads 0: four times as many writers as CPUs, in each process */
	uint64_t count;
	uint32_t pause_us;
	bool two, keeps_newest;
} variants[] = {
	{ "plain", { "-e", "numbers" }, 2, 3, 10000, 2000, false, false },
	{ "packed", { "-e", "numbers", "--compression", "zstd" }, 2, 3, 10000, 2000, false, false },
	{ "newest", { "-e", "numbers", "-m", "256" }, 2, 3, 20000, 2000, false, true },
	{ "rotated", { "-e", "numbers", "--rotate", "256K" }, 2, 3, 10000, 2000, false, false },
	{ "two", { "-e", "numbers:number", "-B", "two", "-e", "numbers:other" }, 2, 3, 6000, 2000, true, false },
	{ "crowd", { "-e", "numbers" }, 2, 0, 5000, 2000, false, false },
	{ "tiny", { "-e", "numbers", "-b", "64" }, 2, 3, 20000, 0, false, false },
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static uint64_t spans[VARIANTS];	/* how long one of the kind takes, in us */
static uint64_t seed;
static char where[512];			/* the round, for words */
static const char *ringside;
static bool has_trace_cmd;
static char *dirs[2], *file;		/* in memory, and elsewhere */
static pid_t recorder;
static uint64_t nr_events, nr_lost, nr_missing;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? seed % n : 0;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- a recording ---- */

static void start(const struct variant *v, bool pinned)
{
	const char *argv[24] = { ringside, "record", "-q", "-i", "-o", file };
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = 6;

	memset(numbers, 0, sizeof(*numbers));
	numbers->processes = v->processes;
	numbers->threads = v->threads ? v->threads : cpus < 8 ? 4 * cpus : 32;
	numbers->count = v->count;
	numbers->burst = 200;
	numbers->pause_us = v->pause_us;
	numbers->pinned = pinned;
	numbers->two = v->two;
	for (size_t i = 0; i < 8 && v->args[i]; i++)
		argv[n++] = v->args[i];
	argv[n++] = "--";
	argv[n++] = "/proc/self/exe";
	argv[n++] = "emit";
	recorder = fork();
	CHECK(recorder >= 0, "fork");
	if (!recorder) {
		char self[512];
		ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

		self[len > 0 ? len : 0] = '\0';
		argv[n - 2] = self;
		setpgid(0, 0);
		execv(ringside, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	setpgid(recorder, recorder);
}

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

/* ---- what is in the file ---- */

static void read_all(struct told *told, const char *tool)
{
	char line[1024];
	int r = 0;

	memset(told, 0, sizeof(*told));
	for (int i = 1; !r; i++) {
		snprintf(line, sizeof(line), "%s.%d", file, i);
		if (access(line, F_OK))
			break;
		snprintf(line, sizeof(line), "%s %s.%d 2>/dev/null", tool, file, i);
		r = told_read(told, line);
	}
	snprintf(line, sizeof(line), "%s %s 2>/dev/null", tool, file);
	if (!r && !access(file, F_OK))
		r = told_read(told, line);
	CHECK(!r, "%s: '%s' ends with %d", where, line, r);
	CHECK(!told->unordered, "%s: %s: %s", where, tool, told->words);
}

static void check_same(const struct told *a, const struct told *b, const char *what)
{
	CHECK(a->events == b->events && a->lost == b->lost, "%s: %s: %llu events and %llu lost, not %llu and %llu", where,
	      what, (unsigned long long)b->events, (unsigned long long)b->lost, (unsigned long long)a->events,
	      (unsigned long long)a->lost);
	CHECK(!memcmp(a->writer, b->writer, sizeof(a->writer)), "%s: %s: other numbers", where, what);
}

/* The numbers that each writer has in the file, against what it was doing. */
static void check_bounds(const struct told *told, const struct variant *v, bool all)
{
	for (uint32_t i = 0; i < 2 * NUMBERS_WRITERS; i++) {
		uint32_t who = i % NUMBERS_WRITERS;
		uint64_t begun = i < NUMBERS_WRITERS || v->two ? numbers->writer[who].begun : 0;
		uint64_t done = i < NUMBERS_WRITERS || v->two ? numbers->writer[who].done : 0;
		uint64_t last = told->writer[i].last;

		CHECK(last <= begun, "%s: %llu of writer %u was never emitted", where, (unsigned long long)last, i);
		CHECK(!all || told->lost || told->uncounted || last >= done, "%s: %llu is the last of writer %u, not %llu",
		      where, (unsigned long long)last, i, (unsigned long long)done);
	}
}

/* All that was emitted is there or told as lost. */
static void check_sums(const struct told *told, const struct variant *v)
{
	uint64_t done = 0, begun = 0, sum = told->events + told->lost;

	for (uint32_t i = 0; i < NUMBERS_WRITERS; i++) {
		done += numbers->writer[i].done * (v->two ? 2 : 1);
		begun += numbers->writer[i].begun * (v->two ? 2 : 1);
	}
	/* Where only the newest are kept, what came before them is not told. */
	if (v->keeps_newest)
		sum = done;
	CHECK(sum <= begun && (sum >= done || told->uncounted), "%s: %llu events and %llu lost of %llu (%llu)", where,
	      (unsigned long long)told->events, (unsigned long long)told->lost, (unsigned long long)done,
	      (unsigned long long)begun);
}

/* Writers that stay where they are leave no hole in their CPU's events that is not told. */
static void check_holes(const struct told *told, const struct variant *v, bool pinned)
{
	uint64_t gaps = 0;

	for (uint32_t i = 0; i < 2 * NUMBERS_WRITERS; i++)
		gaps += told->writer[i].gaps - (v->keeps_newest && told->writer[i].first ? told->writer[i].first - 1 : 0);
	CHECK(gaps <= told->lost || told->uncounted, "%s: %llu numbers are missing, and %llu are told", where,
	      (unsigned long long)gaps, (unsigned long long)told->lost);
	for (uint32_t i = 0; i < NUMBERS_CPUS && pinned && !v->keeps_newest; i++)
		CHECK(told->gaps_of[i] <= told->lost_of[i] || told->uncounted,
		      "%s: on CPU %u %llu numbers are missing, and %llu are told", where, i,
		      (unsigned long long)told->gaps_of[i], (unsigned long long)told->lost_of[i]);
}

/* A file that was left behind, closed up, has the same in it. */
static void check_closed_up(const struct told *told)
{
	struct err err = ERR_INIT;
	struct told again;
	int r = dat_live_close_up(file, &err);

	CHECK(r >= 0, "%s: %s", where, err.text);
	read_all(&again, "$RINGSIDE report");
	check_same(told, &again, "closed up");
	r = dat_live_close_up(file, &err);
	CHECK(!r, "%s: closed up twice: %d", where, r);
	if (!has_trace_cmd)
		return;
	read_all(&again, "trace-cmd report");
	check_same(told, &again, "closed up, by trace-cmd");
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

/* Recordings go, and nothing but recordings was there; a name that was about to be given may have stayed. */
static void clear_files(const char *dir, bool killed)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *end = entry->d_name + 5;
		char path[1024];
		bool mine;

		if (entry->d_name[0] == '.')
			continue;
		mine = !strncmp(entry->d_name, "t.dat", 5) &&
		       (!*end || (*end == '.' && (killed || strspn(end + 1, "0123456789") == strlen(end + 1))));
		CHECK(mine, "%s: %s/%s is left", where, dir, entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
}

/* Whoever records next clears up behind a dead one: then there is no instance any more. */
static void check_swept(void)
{
	char line[1024], text[256];
	FILE *pipe;

	snprintf(line, sizeof(line), "$RINGSIDE record -q -o %s.next true", file);
	CHECK(!system(line), "%s: the next recording fails", where);
	pipe = popen("$RINGSIDE list -B", "r");
	CHECK(pipe && !fgets(text, sizeof(text), pipe), "%s: instance %s is left", where, text);
	pclose(pipe);
	snprintf(line, sizeof(line), "%s.next", file);
	unlink(line);
}

static void play(unsigned int n, size_t v, enum mode mode)
{
	uint64_t this_seed = seed, began = now_us();
	/* Where only the newest are kept, the CPUs keep different times. */
	bool pinned = mode >= RECORDER || variants[v].keeps_newest || random_below(2), killed = mode >= RECORDER;
	const char *dir = dirs[random_below(2)];
	int status;

	snprintf(where, sizeof(where), "round %u (%s, %s, KILL_SEED=%llu, %s)", n, variants[v].name, mode_names[mode],
		 (unsigned long long)this_seed, dir);
	free(file);
	CHECK(asprintf(&file, "%s/t.dat", dir) > 0, "memory");
	start(&variants[v], pinned);
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

static void make_dirs(void)
{
	const char *tmp = getenv("TMPDIR");

	dirs[0] = scratch_path("files");
	CHECK(!mkdir(dirs[0], 0700), "%s: %s", dirs[0], strerror(errno));
	CHECK(asprintf(&dirs[1], "%s/ringside-killed.XXXXXX", tmp ? tmp : "/tmp") > 0 && mkdtemp(dirs[1]), "a directory: %s",
	      strerror(errno));
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("KILL_ROUNDS"), *from = getenv("KILL_SEED");
	unsigned int n = rounds ? (unsigned int)atoi(rounds) : 2 * (unsigned int)VARIANTS;

	if (argc > 1 && !strcmp(argv[1], "emit"))
		return numbers_main();
	ringside = getenv("RINGSIDE");
	CHECK(ringside, "RINGSIDE names no command");
	has_trace_cmd = !system("command -v trace-cmd >/dev/null");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	numbers_map();
	make_dirs();
	seed = from ? strtoull(from, NULL, 0) : now_us() * 2654435761u + 1;
	seed = seed ? seed : 1;
	printf("KILL_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	/* Each kind first as it should be, then each with somebody killed, by turns. */
	for (unsigned int i = 0; i < n; i++)
		play(i, i % VARIANTS, i < VARIANTS ? END : (enum mode)(1 + random_below(MODES - 1)));
	printf("%u rounds, %llu events, %llu lost, %llu recordings without a file%s\n", n, (unsigned long long)nr_events,
	       (unsigned long long)nr_lost, (unsigned long long)nr_missing, has_trace_cmd ? "" : ", no trace-cmd");
	rmdir(dirs[1]);
	return 0;
}
