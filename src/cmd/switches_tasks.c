/*
 * cmd/switches_tasks: see switches_local.h.
 *
 * Attached is a program that has the directory mapped. One that starts attaches a moment later, so it is looked at more than
 * once; one that is gone before anybody looked has told its name, if it recorded anything. Of a command that was launched to be
 * looked at all is told, and of all that it starts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/attached.h"
#include "cmd/switches_local.h"
#include "control/file.h"
#include "layout/registry.h"

/* So long it is worth another look whether a new program attaches. */
#define YOUNG_MS 2000
#define LOOK_MS 10
/* And all others, which may be attached while they run. */
#define SWEEP_MS 2000

#define PRIO_DEFAULT 120
/* As /proc counts them. */
#define PRIO_OFFSET 100

void tasks_fini(struct tasks *tasks)
{
	map_fini(&tasks->tasks);
	map_fini(&tasks->programs);
}

static ssize_t read_file(const char *path, char *to, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);

	if (fd >= 0)
		close(fd);
	to[n > 0 ? n : 0] = '\0';
	return n;
}

/* ") S PPID ... PRIORITY": fields 4 and 18 of a stat file; the name lies before. */
static bool read_stat(const char *path, char comm[16], int32_t *parent, int32_t *prio)
{
	char text[1024], *open, *close;
	int got_parent;
	long priority;

	if (read_file(path, text, sizeof(text)) <= 0)
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld", &got_parent, &priority) != 2)
		return false;
	*parent = got_parent;
	*prio = (int32_t)priority + PRIO_OFFSET;
	*close = '\0';
	memset(comm, 0, 16);
	memcpy(comm, open + 1, strnlen(open + 1, 15));
	return true;
}

struct program *tasks_program(struct tasks *tasks, int32_t tgid)
{
	struct program *program = map_get(&tasks->programs, &tgid, sizeof(tgid), sizeof(*program));
	int32_t pid = tgid, prio;
	char path[64], comm[16];

	if (!program || program->tgid)
		return program;
	program->tgid = tgid;
	program->born = mono_ms();
	for (int i = 0; i < RUNTIME_TOLD_FAMILY && pid > 1; i++) {
		program->family[i] = pid;
		snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", pid);
		if (!read_stat(path, comm, &pid, &prio))
			break;
	}
	return program;
}

void tasks_fork(struct tasks *tasks, int32_t tgid, int32_t parent)
{
	const struct program *from = tasks_program(tasks, parent);
	struct program *program = tasks_program(tasks, tgid);

	if (!from || !program || from == program)
		return;
	program->family[0] = tgid;
	/* Nobody is left to ask when it is gone already. */
	memcpy(program->family + 1, from->family, (RUNTIME_TOLD_FAMILY - 1) * sizeof(program->family[0]));
}

struct task *tasks_get(struct tasks *tasks, int32_t tid, int32_t tgid)
{
	struct task *task = map_get(&tasks->tasks, &tid, sizeof(tid), sizeof(*task));
	int32_t parent;
	char path[96];

	if (!task || task->asked)
		return task;
	task->asked = true;
	task->tid = tid;
	task->tgid = tgid;
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32 "/stat", tgid, tid);
	if (!read_stat(path, task->comm, &parent, &task->prio)) {
		memcpy(task->comm, "<...>", 6);
		task->prio = PRIO_DEFAULT;
	}
	tasks_waited(task);
	return task;
}

uint64_t tasks_waited(struct task *task)
{
	uint64_t ran, waited, runs, delay = 0;
	char path[96], text[128];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32 "/schedstat", task->tgid, task->tid);
	if (read_file(path, text, sizeof(text)) <= 0 || sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran, &waited, &runs) != 3)
		return 0;
	/* It ran once since: all that it waited was for that. */
	if (task->runs && runs == task->runs + 1)
		delay = waited - task->waited;
	task->runs = runs;
	task->waited = waited;
	return delay;
}

static bool comes_from(const struct program *program, int32_t pid)
{
	for (const int32_t *at = program->family; pid && *at; at++)
		if (*at == pid)
			return true;
	return false;
}

/* Its threads that recorded something. */
static bool told_name(const struct tasks *tasks, int32_t tid, int32_t tgid)
{
	struct registry_task task;
	uint64_t at = REGISTRY_TASKS_OFFSET + (uint32_t)tid % REGISTRY_TASKS * sizeof(task);

	return !control_file_read(&tasks->control->dir, SEGMENT_REGISTRY, &task, sizeof(task), at, NULL) && task.tid == tid &&
	       task.tgid == tgid;
}

static void look_at(struct tasks *tasks, struct program *program, int64_t now)
{
	int64_t pause = LOOK_MS + (program->looked - program->born) / 2;
	char path[64], exe[4];

	/* Soon at first, then less and less often. */
	pause = pause < SWEEP_MS / 2 ? pause : SWEEP_MS / 2;
	if (program->attached || program->gone || program->tgid == getpid() || (program->looked && now - program->looked < pause))
		return;
	program->looked = now;
	program->attached = attached_is(program->tgid, tasks->control);
	/* Nor has one that is dead and not buried a file. */
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/exe", program->tgid);
	program->gone = !program->attached && readlink(path, exe, sizeof(exe)) < 0 && (errno == ENOENT || errno == ESRCH);
	if (program->gone)
		program->attached = told_name(tasks, program->tgid, program->tgid);
}

bool tasks_attached(struct tasks *tasks, struct task *task)
{
	struct program *program = tasks_program(tasks, task->tgid);
	int64_t now = mono_ms();

	if (!program || program->attached)
		return program;
	if (tasks->launched && comes_from(program, tasks->root))
		program->attached = true;
	else if (now - program->born < YOUNG_MS || now - program->looked > SWEEP_MS)
		look_at(tasks, program, now);
	if (!program->attached && program->gone && !task->asked_name) {
		task->asked_name = true;
		program->attached = told_name(tasks, task->tid, task->tgid);
	}
	return program->attached;
}

/* ---- those that come and go ---- */

/* Those that came while we looked have inherited it, or are found by the next look: what is seen twice counts once. */
static void watch(struct perf *perf, const struct program *program)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", program->tgid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && perf_watch(perf, program->tgid, atoi(entry->d_name)))
			break;
	if (dir)
		closedir(dir);
}

static void find_one(struct tasks *tasks, struct perf *perf, int32_t pid, bool sweep, int64_t now)
{
	struct program *program = tasks_program(tasks, pid);

	if (!program)
		return;
	program->there = true;
	/* They were there before us: once. */
	if (!tasks->swept)
		program->born = now - YOUNG_MS;
	if (!program->attached && (sweep || now - program->born < YOUNG_MS))
		look_at(tasks, program, now);
	if (now - program->born < YOUNG_MS)
		tasks->young_until = program->born + YOUNG_MS;
	if (!program->attached || program->watched)
		return;
	program->watched = true;
	/* What the root started is watched with it. */
	if (!comes_from(program, tasks->root))
		watch(perf, program);
}

/* Of a process that is gone nothing comes any more. */
static void forget_one(struct tasks *tasks, struct perf *perf, struct program *program)
{
	int32_t tgid = program->tgid;

	if (program->there || mono_ms() - program->born < YOUNG_MS) {
		program->there = false;
		return;
	}
	if (tgid != tasks->root)
		perf_unwatch(perf, tgid);
	map_remove(&tasks->programs, &tgid, sizeof(tgid));
}

static void forget_tasks(struct tasks *tasks)
{
	const struct map_entry **all;
	size_t n = tasks->tasks.nr;

	if (map_list(&tasks->tasks, &all))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct task *task = all[i]->value;
		int32_t tid = task->tid, tgid = task->tgid;

		if (!map_find(&tasks->programs, &tgid, sizeof(tgid)))
			map_remove(&tasks->tasks, &tid, sizeof(tid));
	}
	free(all);
}

static void forget(struct tasks *tasks, struct perf *perf)
{
	const struct map_entry **all;
	size_t n = tasks->programs.nr;

	if (map_list(&tasks->programs, &all))
		return;
	for (size_t i = 0; i < n; i++)
		forget_one(tasks, perf, all[i]->value);
	free(all);
	forget_tasks(tasks);
}

/* The last field: the number that was last given to a process or a thread. */
static long last_pid(void)
{
	char text[128], *at;

	if (read_file("/proc/loadavg", text, sizeof(text)) <= 0)
		return -1;
	at = strrchr(text, ' ');
	return at ? strtol(at, NULL, 10) : -1;
}

void tasks_find(struct tasks *tasks, struct perf *perf)
{
	const int64_t now = mono_ms();
	const bool sweep = now - tasks->swept >= SWEEP_MS;
	struct dirent *entry;
	long last = last_pid();
	DIR *dir;

	if (!sweep && last >= 0 && last == tasks->last_pid && now >= tasks->young_until)
		return;
	tasks->last_pid = last;
	dir = opendir("/proc");
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			find_one(tasks, perf, atoi(entry->d_name), sweep, now);
	if (dir)
		closedir(dir);
	if (!sweep)
		return;
	tasks->swept = now;
	forget(tasks, perf);
}
