/*
 * cmd/flight_death: see flight_death.h.
 */
#include "cmd/flight_death.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/scope.h"
#include "control/registry.h"

#define LAST_EVENTS "20"

/* ---- who is watched ---- */

/* The process that a thread belongs to; 0: there is no such thread. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	file = fopen(path, "re");
	while (file && !tgid && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	if (file)
		fclose(file);
	return tgid;
}

static int watch(struct flight_death *death, pid_t tid, struct err *err)
{
	pid_t pid = process_of(tid);
	struct flight_watch *more;
	int fd;

	for (size_t i = 0; i < death->n; i++)
		if (death->watches[i].pid == pid)
			return 0;
	fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (fd < 0 && (!pid || errno == ESRCH))
		return err_set(err, -ESRCH, "there is no process %d", (int)tid);
	if (fd < 0)
		return err_set(err, -errno, "-P %d: the kernel does not tell when it is gone: %s", (int)tid,
			       strerror(errno));
	more = realloc(death->watches, (death->n + 1) * sizeof(*more));
	if (!more) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	death->watches = more;
	more[death->n++] = (struct flight_watch){ pid, fd };
	death->left++;
	return 0;
}

/* How often the kernel killed something for want of memory where we are, as far as it tells. */
static uint64_t count_oom_kills(void)
{
	char line[512], path[640] = "";
	unsigned long long n = 0;
	FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "0::", 3))
			snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s/memory.events", (int)strcspn(line + 3, "\n"),
				 line + 3);
	if (file)
		fclose(file);
	file = *path ? fopen(path, "re") : NULL;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "oom_kill %llu", &n) == 1)
			break;
	if (file)
		fclose(file);
	return n;
}

int flight_death_watch(struct flight_death *death, const struct opts *opts, bool all, struct err *err)
{
	bool missing = false;
	int r = 0;

	death->oom_kills = count_oom_kills();
	for (int i = 0; !r && i < opts->nitems; i++) {
		const char *list = opts->items[i].value;
		char *end;

		if (!scope_is(&opts->items[i], "pid"))
			continue;
		for (long tid = strtol(list, &end, 10); !r && end != list; tid = strtol(list, &end, 10)) {
			r = watch(death, (pid_t)tid, err);
			if (r == -ESRCH && !all) {
				missing = true;
				r = 0;
			}
			list = *end ? end + 1 : end;
		}
	}
	return !r && missing && !death->n ? -ESRCH : r;
}

void flight_death_fini(struct flight_death *death)
{
	for (size_t i = 0; i < death->n; i++)
		if (death->watches[i].fd >= 0)
			close(death->watches[i].fd);
	free(death->watches);
}

/* ---- who is gone ---- */

pid_t flight_death_gone(struct flight_death *death)
{
	for (size_t i = 0; i < death->n; i++) {
		struct flight_watch *one = &death->watches[i];
		struct pollfd ask = { .fd = one->fd, .events = POLLIN };

		if (one->fd < 0 || poll(&ask, 1, 0) <= 0)
			continue;
		close(one->fd);
		one->fd = -1;
		death->left--;
		return one->pid;
	}
	return 0;
}

void flight_death_sleep(const struct flight_death *death, const struct launch *launch, int timeout_ms)
{
	struct pollfd *all = calloc(death->n + 1, sizeof(*all));

	for (size_t i = 0; all && i < death->n; i++)
		all[i] = (struct pollfd){ .fd = death->watches[i].fd, .events = POLLIN };
	if (all)
		all[death->n] = (struct pollfd){ .fd = launch ? launch->pidfd : -1, .events = POLLIN };
	poll(all, all ? death->n + 1 : 0, timeout_ms);
	free(all);
}

static const struct {
	int number;
	const char *name;
} signals[] = {
	{ SIGHUP, "SIGHUP" }, { SIGINT, "SIGINT" }, { SIGQUIT, "SIGQUIT" }, { SIGILL, "SIGILL" }, { SIGTRAP, "SIGTRAP" },
	{ SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" }, { SIGFPE, "SIGFPE" }, { SIGKILL, "SIGKILL" }, { SIGUSR1, "SIGUSR1" },
	{ SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" }, { SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" },
	{ SIGTERM, "SIGTERM" }, { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" }, { SIGVTALRM, "SIGVTALRM" },
	{ SIGPROF, "SIGPROF" }, { SIGIO, "SIGIO" }, { SIGSYS, "SIGSYS" },
};

bool flight_death_words(struct flight_death *death, int status, char text[128])
{
	char name[32];
	uint64_t oom_kills;

	if (!WIFSIGNALED(status))
		return false;
	snprintf(name, sizeof(name), "signal %d", WTERMSIG(status));
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i].number == WTERMSIG(status))
			snprintf(name, sizeof(name), "%s", signals[i].name);
	oom_kills = WTERMSIG(status) == SIGKILL ? count_oom_kills() : 0;
	snprintf(text, 128, "was killed by %s%s", name,
		 WTERMSIG(status) == SIGKILL && oom_kills > death->oom_kills ? ", as the kernel was out of memory" :
		 WCOREDUMP(status) ? " and left a core" : "");
	return true;
}

/* ---- the last it did ---- */

/* "42,43": all threads of the process that told of themselves. */
static int list_threads(struct control *control, pid_t pid, struct buf *out, struct err *err)
{
	struct control_registry registry;
	int r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_TASKS, err);

	if (r)
		return r;
	buf_printf(out, "%d", (int)pid);
	for (uint32_t i = 0; i < registry.ntasks; i++)
		if (registry.tasks[i].tgid == pid && registry.tasks[i].tid != pid)
			buf_printf(out, ",%d", registry.tasks[i].tid);
	control_registry_fini(&registry);
	return buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* In a process of its own: `ringside report` prints to stdout and says its words on stderr. */
static void report(const char *threads, const char *path, int to)
{
	char *const argv[] = { "-q", "--no-pager", "--pid", (char *)(uintptr_t)threads, "--tail", LAST_EVENTS, "-i",
			       (char *)(uintptr_t)path };
	struct err err = ERR_INIT;
	struct opts opts;

	if (dup2(to, STDOUT_FILENO) < 0 ||
	    opts_parse(&opts, (int)(sizeof(argv) / sizeof(argv[0])), (char **)(uintptr_t)argv, cmd_report.opts, cmd_common, 0,
		       &err))
		_exit(CMD_FAILED);
	_exit(cmd_report.run(&opts));
}

/* All but what is said of the file. */
static bool pass_on(int from)
{
	FILE *file = fdopen(from, "r");
	char *line = NULL;
	size_t room = 0;
	bool any = false;

	while (file && getline(&line, &room, file) > 0) {
		if (!strncmp(line, "cpus=", 5))
			continue;
		for (char *at = line; *at; at++)
			if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t')
				*at = '?';
		fputs(line, stderr);
		any = true;
	}
	free(line);
	if (file)
		fclose(file);
	else
		close(from);
	return any;
}

int flight_death_print(struct control *control, pid_t pid, const char *path, struct err *err)
{
	struct buf threads = BUF_INIT;
	int ends[2] = { -1, -1 }, r;
	pid_t child = -1;

	r = list_threads(control, pid, &threads, err);
	if (!r && pipe(ends))
		r = err_set(err, -errno, "no pipe: %s", strerror(errno));
	if (!r && (child = fork()) < 0)
		r = err_set(err, -errno, "no process: %s", strerror(errno));
	if (!child)
		report(threads.data, path, ends[1]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (!r && !pass_on(ends[0]))
		cmd_say("it left no events");
	else if (r && ends[0] >= 0)
		close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	buf_fini(&threads);
	return r;
}
