/*
 * Recordings of writers that number their events (numbers.h), of several kinds, and what must be true of their files.
 */
#ifndef TESTS_RECORD_RECORDING_H
#define TESTS_RECORD_RECORDING_H

#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "dat/live.h"
#include "record/numbers.h"

/* One kind of recording. */
static const struct variant {
	const char *name;
	const char *args[8];
	uint32_t processes, threads;	/* threads 0: four times as many writers as CPUs, in each process */
	uint64_t count;
	uint32_t pause_us;
	bool two, keeps_newest;
	bool apart;	/* CPUs may have different times in one file */
} variants[] = {
	{ "plain", { "-e", "numbers" }, 2, 3, 10000, 2000, false, false, false },
	{ "packed", { "-e", "numbers", "--compression", "zstd" }, 2, 3, 10000, 2000, false, false, false },
	{ "newest", { "-e", "numbers", "-m", "256" }, 2, 3, 20000, 2000, false, true, true },
	{ "rotated", { "-e", "numbers", "--rotate", "256K" }, 2, 3, 10000, 2000, false, false, true },
	{ "two", { "-e", "numbers:number", "-B", "two", "-e", "numbers:other" }, 2, 3, 6000, 2000, true, false, false },
	{ "crowd", { "-e", "numbers" }, 2, 0, 5000, 2000, false, false, false },
	{ "tiny", { "-e", "numbers", "-b", "64" }, 2, 3, 20000, 0, false, false, false },
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static uint64_t seed;
static char where[512];			/* the round, for words */
static const char *ringside;
static bool has_trace_cmd;
static char *dirs[2], *file;		/* in memory, and elsewhere */
static pid_t recorder;

static inline uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? seed % n : 0;
}

static inline uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- a recording ---- */

/* `traced`: its parent is told of each of its system calls. */
static inline void start(const struct variant *v, bool pinned, bool traced)
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
		if (traced)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(ringside, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	setpgid(recorder, recorder);
}

/* ---- what is in the file ---- */

static inline void read_all(struct told *told, const char *tool)
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

static inline void check_same(const struct told *a, const struct told *b, const char *what)
{
	CHECK(a->events == b->events && a->lost == b->lost, "%s: %s: %llu events and %llu lost, not %llu and %llu", where,
	      what, (unsigned long long)b->events, (unsigned long long)b->lost, (unsigned long long)a->events,
	      (unsigned long long)a->lost);
	CHECK(!memcmp(a->writer, b->writer, sizeof(a->writer)), "%s: %s: other numbers", where, what);
}

/* The numbers that each writer has in the file, against what it was doing. */
static inline void check_bounds(const struct told *told, const struct variant *v, bool all)
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
static inline void check_sums(const struct told *told, const struct variant *v)
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
static inline void check_holes(const struct told *told, const struct variant *v, bool pinned)
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
static inline void check_closed_up(const struct told *told)
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

/* Recordings go, and nothing but recordings was there; a name that was about to be given may have stayed. */
static inline void clear_files(const char *dir, bool killed)
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
static inline void check_swept(void)
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

/* However the test ends; the other one is the scratch directory's. */
static inline void remove_dir(void)
{
	char line[1024];

	snprintf(line, sizeof(line), "rm -rf '%s'", dirs[1]);
	if (system(line))
		fprintf(stderr, "%s is left\n", dirs[1]);
}

static inline void make_dirs(void)
{
	const char *tmp = getenv("TMPDIR");

	dirs[0] = scratch_path("files");
	CHECK(!mkdir(dirs[0], 0700), "%s: %s", dirs[0], strerror(errno));
	CHECK(asprintf(&dirs[1], "%s/ringside-killed.XXXXXX", tmp ? tmp : "/tmp") > 0 && mkdtemp(dirs[1]), "a directory: %s",
	      strerror(errno));
	atexit(remove_dir);
}

static inline void recording_begin(const char *variable)
{
	const char *from = getenv(variable);

	ringside = getenv("RINGSIDE");
	CHECK(ringside, "RINGSIDE names no command");
	has_trace_cmd = !system("command -v trace-cmd >/dev/null");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	numbers_map();
	make_dirs();
	seed = from ? strtoull(from, NULL, 0) : now_us() * 2654435761u + 1;
	seed = seed ? seed : 1;
	printf("%s=%llu\n", variable, (unsigned long long)seed);
	fflush(stdout);
}

#endif
