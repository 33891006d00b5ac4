/*
 * `ringside record` killed behind each single change that it makes to files, one after the other: behind each write, cut, move
 * and name, while pages come and while the file is closed up. What then has a name opens here and in trace-cmd, both say
 * the same, nothing that is not told is missing, and it can be closed up.
 *
 *	KILL_EACH=1 killed_each		all of them; else some, with a random beginning
 */
#include "record/recording.h"

#include <sys/syscall.h>

/* Rounds of one kind, when not all are wanted. */
#define ROUNDS 6

static const struct variant small[] = {
	{ "plain", { "-e", "numbers" }, 1, 2, 2000, 3000, false, false, false },
	{ "packed", { "-e", "numbers", "--compression", "zstd" }, 1, 2, 2000, 3000, false, false, false },
	{ "newest", { "-e", "numbers", "-m", "4" }, 1, 2, 30000, 500, false, true, true },
	{ "rotated", { "-e", "numbers", "--rotate", "64K" }, 1, 2, 3000, 2000, false, false, true },
	{ "two", { "-e", "numbers:number", "-B", "two", "-e", "numbers:other" }, 1, 2, 2000, 3000, true, false, false },
};

#define SMALL (sizeof(small) / sizeof(small[0]))

static bool is_change(uint64_t nr)
{
	static const long changes[] = {
		SYS_write, SYS_pwrite64, SYS_pwritev, SYS_ftruncate, SYS_fallocate, SYS_copy_file_range, SYS_linkat,
		SYS_unlinkat, SYS_renameat2,
#ifdef SYS_rename
		SYS_rename, SYS_unlink, SYS_link,
#endif
#ifdef SYS_renameat
		SYS_renameat,
#endif
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (nr == (uint64_t)changes[i])
			return true;
	return false;
}

/* To the next stop of the recorder; `signal` is passed on to it, and then the one that it got. False: it has ended. */
static bool next_stop(int *status, int *signal)
{
	CHECK(!ptrace(PTRACE_SYSCALL, recorder, NULL, (void *)(intptr_t)*signal), "ptrace: %s", strerror(errno));
	while (waitpid(recorder, status, 0) < 0)
		CHECK(errno == EINTR, "wait: %s", strerror(errno));
	*signal = WIFSTOPPED(*status) && WSTOPSIG(*status) != (SIGTRAP | 0x80) ? WSTOPSIG(*status) : 0;
	return WIFSTOPPED(*status);
}

/* Lets it make so many changes and kills it. True: it came to that. */
static bool run_to(uint32_t changes, int *status)
{
	struct __ptrace_syscall_info info;
	bool in_change = false;
	int signal = 0;

	CHECK(waitpid(recorder, status, 0) == recorder && WIFSTOPPED(*status), "it does not start");
	CHECK(!ptrace(PTRACE_SETOPTIONS, recorder, NULL, (void *)(intptr_t)PTRACE_O_TRACESYSGOOD), "ptrace");
	while (next_stop(status, &signal)) {
		if (signal || ptrace(PTRACE_GET_SYSCALL_INFO, recorder, (void *)sizeof(info), &info) <= 0)
			continue;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			in_change = is_change(info.entry.nr);
		if (info.op != PTRACE_SYSCALL_INFO_EXIT || !in_change || --changes)
			continue;
		kill(recorder, SIGKILL);
		waitpid(recorder, status, 0);
		return true;
	}
	return false;
}

static void check_left(const struct variant *v)
{
	struct told ours, theirs;

	read_all(&ours, "$RINGSIDE report");
	if (has_trace_cmd) {
		read_all(&theirs, "trace-cmd report");
		check_same(&ours, &theirs, "trace-cmd");
	}
	check_bounds(&ours, v, false);
	check_holes(&ours, v, true);
	if (!access(file, F_OK))
		check_closed_up(&ours);
}

/* False: it had ended before. */
static bool play(const struct variant *v, const char *dir, uint32_t changes)
{
	int status;
	bool killed;

	snprintf(where, sizeof(where), "%s, killed behind change %u, %s", v->name, changes, dir);
	free(file);
	CHECK(asprintf(&file, "%s/t.dat", dir) > 0, "memory");
	start(v, true, true);
	killed = run_to(changes, &status);
	CHECK(killed || (WIFEXITED(status) && !WEXITSTATUS(status)), "%s: the recorder ended with %x", where, status);
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
		;
	check_left(v);
	clear_files(dir, killed);
	return killed;
}

static uint32_t play_all(const struct variant *v, const char *dir, bool each)
{
	uint32_t n = 0, most = 1, step = 1, first = 1;

	/* How many changes there are depends on when pages fill up, but not much. */
	for (; !each && play(v, dir, most); most *= 2)
		n++;
	if (!each) {
		step = most / ROUNDS + 1;
		first += (uint32_t)random_below(step);
	}
	for (uint32_t changes = first; play(v, dir, changes); changes += step)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	bool each = getenv("KILL_EACH");
	uint32_t n = 0;

	if (argc > 1 && !strcmp(argv[1], "emit"))
		return numbers_main();
	recording_begin("KILL_SEED");
	for (size_t i = 0; i < SMALL; i++)
		for (size_t dir = each ? 0 : random_below(2), last = each ? 1 : dir; dir <= last; dir++)
			n += play_all(&small[i], dirs[dir], each);
	printf("killed %u times%s\n", n, has_trace_cmd ? "" : ", no trace-cmd");
	return 0;
}
