/*
 * cmd/switches: see switches.h.
 *
 *   each 5 ms:  what the kernel has  ->  by time  ->  all that is old enough is told  ->  "complete up to there"
 *
 * Where it is told who was woken that is 20 ms, because a thread that has waited for its CPU was woken before others that we know of;
 * and in the background, because it takes a program some time to attach.
 * Who has to know all up to now waits for it (told_settle()), and at the end all is told.
 */
#include "cmd/switches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/mono.h"
#include "capture/told.h"
#include "cmd/beside.h"
#include "cmd/cmd.h"
#include "cmd/switches_local.h"
#include "control/rules.h"
#include "layout/hook.h"
#include "layout/ring.h"

#define ROUND_NS 5000000
#define LAG_NS 20000000u
/* As long as it takes until a record lies there. */
#define LAG_MIN_NS 1000000u
/* Until what is told then is told. */
#define MARGIN_NS 200000000u
/* Without anybody who wants it. */
#define IDLE_MS 1000
#define END_MS 2000
#define FOLLOW_MS 100

static const char *const events[] = { "sched_switch", "sched_waking", "sched_wakeup" };

/* ---- the process ---- */

struct teller {
	struct control *control;
	struct perf perf;
	struct tasks tasks;
	struct tell tell;
	int rings;		/* holds the lock */
	bool stays;		/* in the background, as long as somebody wants it */
	int64_t wanted;		/* mono_ms(): when somebody last did */
	uint64_t wishes;	/* told_wishes() when we came */
};

/* A file of our own: locks are the open file's. */
static int lock(struct teller *teller, bool takes_over)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", teller->control->dir.fd[SEGMENT_RINGS]);
	teller->rings = open(path, O_RDWR | O_CLOEXEC);
	if (teller->rings < 0)
		return -errno;
	teller->wishes = told_wishes(teller->rings);
	return takes_over ? told_take_over(teller->rings) : told_lock(teller->rings);
}

static int teller_open(struct teller *teller, struct control *control, pid_t root, bool launched)
{
	struct runtime_moment now;
	int r = control_again(&teller->control, control, NULL);

	if (!r)
		r = lock(teller, launched && root);
	if (!r)
		r = runtime_attach(teller->control->dir.path);
	if (!r) {
		runtime_teller();
		r = perf_open(&teller->perf, teller->control->dir.ncpu);
	}
	if (r)
		return r;
	/* Somebody who is not ours, perhaps: then what it starts is found by itself. */
	if (root > 1 && perf_watch(&teller->perf, root, root))
		root = 0;
	teller->tasks = (struct tasks){ .tasks = MAP_INIT, .programs = MAP_INIT, .control = teller->control };
	teller->tasks.root = root;
	teller->tasks.launched = launched;
	r = tell_init(&teller->tell, teller->control, &teller->tasks);
	if (r)
		return r;
	tasks_find(&teller->tasks, &teller->perf);
	runtime_moment_now(&now);
	tell_moment(&teller->tell, &now);
	tell_until(&teller->tell, now.raw, false);
	teller->wanted = mono_ms();
	return 0;
}

/* Is the directory still the one that programs find? */
static bool is_there(const struct teller *teller)
{
	char path[4200];
	struct stat there, ours;

	snprintf(path, sizeof(path), "%s/rings", teller->control->dir.path);
	return !stat(path, &there) && !fstat(teller->rings, &ours) && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

static bool goes_on(struct teller *teller)
{
	if (beside_stop)
		return false;
	if (!teller->stays)
		return true;
	if (tell_wanted(&teller->tell))
		teller->wanted = mono_ms();
	return mono_ms() - teller->wanted < IDLE_MS && told_wishes(teller->rings) == teller->wishes && is_there(teller);
}

static void take(struct teller *teller, struct runtime_moment *now)
{
	struct tell *tell = &teller->tell;
	const size_t from = tell->list.n;

	perf_take(&teller->perf, &tell->list);
	/* Behind that: what was taken happened before. */
	runtime_moment_now(now);
	tell_moment(tell, now);
	tell_settle(tell, from);
}

static void serve(struct teller *teller)
{
	struct tell *tell = &teller->tell;
	struct runtime_moment now;
	uint64_t until;

	while (goes_on(teller)) {
		nanosleep(&(struct timespec){ 0, ROUND_NS }, NULL);
		tasks_find(&teller->tasks, &teller->perf);
		take(teller, &now);
		/* We were stopped, and nobody has waited. */
		if (now.raw - tell->told > TOLD_PATIENCE_NS - MARGIN_NS) {
			tell_lose(tell);
			tell->told = now.raw - LAG_NS;
		}
		until = now.raw - (teller->stays || tell_wants_wakes(tell) ? LAG_NS : LAG_MIN_NS);
		if (until > tell->told)
			tell_until(tell, until, false);
	}
	take(teller, &now);
	tell_until(tell, now.raw, true);
}

/* `ready`: where to tell that what happens from now on is seen, or why not. */
static void __attribute__((noreturn)) run_teller(struct control *control, pid_t root, bool stays, int ready)
{
	static struct teller teller = { .rings = -1 };
	int r = teller_open(&teller, control, root, !stays);

	teller.stays = stays;
	if (write(ready, &r, sizeof(r)) != sizeof(r) || r)
		_exit(1);
	close(ready);
	serve(&teller);
	_exit(0);
}

/* ---- those who start it ---- */

/* Not just because everything is. */
static bool names(const struct state_rule *rule, const char *event)
{
	return rule->on && (strcmp(rule->system, "*") != 0 || strcmp(rule->event, "*") != 0) && glob_match(rule->system, "sched") &&
	       glob_match(rule->event, event);
}

static bool is_wanted(const struct control_state *state, const char *event)
{
	const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data;
	bool named = false;

	for (size_t n = state->hooks.len / sizeof(*hook); n; n--, hook++)
		if (!strcmp(hook->system, "sched") && !strcmp(hook->event, event))
			return true;
	for (uint32_t i = 0; i < state->nrules; i++)
		named |= names(&state->rules[i], event);
	for (uint32_t b = 0; named && b < state->nbuffers; b++)
		if (state->buffers[b].born && control_rules_on(state, b, "sched", event))
			return true;
	return false;
}

static bool any_wanted(struct control *control)
{
	if (!control || control_refresh(control, NULL))
		return false;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (is_wanted(&control->state, events[i]))
			return true;
	return false;
}

static void say_why(int r)
{
	/* Somebody else tells: so they are there. */
	if (!r || r == -EBUSY)
		return;
	cmd_say("when threads are on a CPU cannot be seen: %s%s", strerror(-r),
		r == -EACCES || r == -EPERM ? ": `sysctl kernel.perf_event_paranoid` has to be 2 or less" : "");
}

/* What the other said, -EPIPE: nothing. */
static int hear(int from)
{
	ssize_t n;
	int r;

	do
		n = read(from, &r, sizeof(r));
	while (n < 0 && errno == EINTR);
	close(from);
	return n == sizeof(r) ? r : -EPIPE;
}

void switches_begin(struct switches *switches, struct source *source, pid_t root)
{
	const struct control *control = source_control(source);
	const uint64_t wishes = control ? told_wishes(control->dir.fd[SEGMENT_RINGS]) : 0;
	pid_t recorder = getpid();
	int ready[2], r;

	*switches = (struct switches){ 0 };
	if (!any_wanted(source_control(source)) || pipe2(ready, O_CLOEXEC))
		return;
	switches->pid = fork();
	if (!switches->pid) {
		close(ready[0]);
		beside_begin("switches");
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != recorder)
			_exit(1);
		run_teller(source_control(source), root > 0 ? root : 0, false, ready[1]);
	}
	close(ready[1]);
	r = switches->pid < 0 ? -errno : hear(ready[0]);
	switches->control = !r || r == -EBUSY ? source_control(source) : NULL;
	/* Whose place we have taken was there for somebody. */
	if (!r && told_wishes(control->dir.fd[SEGMENT_RINGS]) != wishes)
		switches->source = source;
	if (!r)
		return;
	say_why(r);
	if (switches->pid > 0)
		waitpid(switches->pid, NULL, 0);
	switches->pid = 0;
}

/* Who has told up to now has looked at the state since, and readers know where to wait. */
void switches_ready(const struct switches *switches)
{
	if (switches->control)
		told_settle(switches->control->dir.fd[SEGMENT_RINGS]);
}

void switches_end(struct switches *switches)
{
	int left = END_MS;

	if (switches->control && !switches->pid)
		told_settle(switches->control->dir.fd[SEGMENT_RINGS]);
	switches->control = NULL;
	if (!switches->pid)
		return;
	kill(switches->pid, SIGTERM);
	while (waitpid(switches->pid, NULL, left > 0 ? WNOHANG : 0) == 0) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		left--;
		if (left <= 0)
			kill(switches->pid, SIGKILL);
	}
	switches->pid = 0;
}

void switches_close(struct switches *switches)
{
	switches_end(switches);
	if (switches->source)
		switches_stay(switches->source);
	switches->source = NULL;
}

static bool is_of(const struct control *control, int fd)
{
	bool is = fd == control->dir.dir;

	for (int i = 0; i < SEGMENT_KINDS; i++)
		is |= fd == control->dir.fd[i];
	return is;
}

/* All but that: locks, perhaps, that are to go when the caller does, of its own or of those who called it. */
static void close_others(const struct control *control, int ready)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != ready && fd != dirfd(dir) && !is_of(control, fd))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Of the terminal, and the place where it was called. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	(void)!chdir("/");
}

/* Nobody waits for it, and it keeps nothing open but this and the directory. */
static struct control *leave(struct control *control, int fd)
{
	struct control *own;

	setsid();
	if (fork())
		_exit(0);
	beside_begin("switches");
	let_go();
	if (control_again(&own, control, NULL))
		_exit(1);
	close_others(own, fd);
	return own;
}

static void __attribute__((noreturn)) stay(struct control *control, pid_t root, int ready)
{
	run_teller(leave(control, ready), root, true, ready);
}

void switches_stay(struct source *source)
{
	switches_stay_for(source, getppid());
}

void switches_stay_for(struct source *source, pid_t root)
{
	int ready[2];
	pid_t pid;

	if (!any_wanted(source_control(source)) || pipe2(ready, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		stay(source_control(source), root, ready[1]);
	}
	close(ready[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	say_why(pid < 0 ? -errno : hear(ready[0]));
}

/* ---- for as long as somebody else serves the tree ---- */

/* A teller whenever one is wanted, until the other end of the pipe is closed. Nobody hears why there is none. */
static void __attribute__((noreturn)) follow(struct control *control, int alive)
{
	struct pollfd end = { .fd = alive };
	pid_t teller = 0, self = getpid();
	int64_t started = 0;

	while (!poll(&end, 1, FOLLOW_MS)) {
		int null;

		if (teller > 0 && waitpid(teller, NULL, WNOHANG) == teller)
			teller = 0;
		/* One that ended at once will do so again. */
		if (teller > 0 || mono_ms() - started < IDLE_MS || !any_wanted(control))
			continue;
		started = mono_ms();
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		teller = fork();
		if (!teller) {
			if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != self)
				_exit(1);
			run_teller(control, 0, true, null);
		}
		close(null);
	}
	_exit(0);
}

void switches_follow(struct control *control, int *keep)
{
	int ends[2];
	pid_t pid;

	*keep = -1;
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		follow(leave(control, ends[0]), ends[0]);
	}
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*keep = ends[1];
}
