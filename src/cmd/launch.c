/*
 * cmd/launch: see launch.h.
 *
 *	parent			child
 *	fork			signals as they were, waits
 *	a byte		-->	becomes the user, executes
 *		<--	-errno, or the end of the line: it runs
 *
 * Both talk over one pair of sockets that no program inherits. Everything that takes memory is made before the fork: the
 * parent may have threads.
 */
#include "cmd/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/launch_local.h"
#include "doctor/command.h"
#include "doctor/library.h"

/* Between two looks at a program that is about to run. */
#define WAIT_MS 20

/* How signals were when this process began: the one thing that cannot be asked later. */
static struct {
	bool known;
	sigset_t ignored, blocked;
} signals;

void launch_note_signals(void)
{
	struct sigaction action;

	sigemptyset(&signals.ignored);
	for (int n = 1; n < NSIG; n++)
		if (!sigaction(n, NULL, &action) && action.sa_handler == SIG_IGN)
			sigaddset(&signals.ignored, n);
	sigprocmask(SIG_SETMASK, NULL, &signals.blocked);
	signals.known = true;
}

static void restore_signals(void)
{
	for (int n = 1; n < NSIG; n++)
		signal(n, sigismember(&signals.ignored, n) == 1 ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &signals.blocked, NULL);
}

/* ---- its environment ---- */

struct environment {
	char **all;		/* ends with NULL */
	size_t n;
	size_t preload;		/* which of them names our library; n when none does */
	char library[PATH_MAX];
	char foreign[PATH_MAX];	/* the command's file, if that is for another machine; else "" */
};

static bool is_named(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(entry, name, len) && entry[len] == '=';
}

static void drop(struct environment *env, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < env->n; i++) {
		if (is_named(env->all[i], name))
			free(env->all[i]);
		else
			env->all[kept++] = env->all[i];
	}
	env->n = kept;
	env->all[kept] = NULL;
}

/* NAME=VALUE, instead of what there was. The table has room for the few that are set. */
static int set(struct environment *env, const char *name, const char *value)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s=%s", name, value);
	drop(env, name);
	env->all[env->n] = buf_take(&text);
	if (!env->all[env->n])
		return -ENOMEM;
	env->all[++env->n] = NULL;
	return 0;
}

static int copy(struct environment *env)
{
	size_t n = 0;

	while (environ[n])
		n++;
	env->all = calloc(n + 16, sizeof(*env->all));
	if (!env->all)
		return -ENOMEM;
	for (; env->n < n; env->n++) {
		env->all[env->n] = strdup(environ[env->n]);
		if (!env->all[env->n])
			return -ENOMEM;
	}
	return 0;
}

static void fini(struct environment *env)
{
	for (size_t i = 0; i < env->n; i++)
		free(env->all[i]);
	free(env->all);
}

static int set_user(struct environment *env, const struct launch_user *user)
{
	int r = set(env, "HOME", user->home);

	r = r ? r : set(env, "USER", user->name);
	r = r ? r : set(env, "LOGNAME", user->name);
	return r ? r : set(env, "SHELL", user->shell);
}

/* A path that stays what it is wherever the program goes. */
static int set_dir(struct environment *env, const char *dir)
{
	char *real = realpath(dir, NULL);
	int r = set(env, "RINGSIDE_DIR", real ? real : dir);

	free(real);
	return r;
}

/* What the command starts may be built with a sanitizer, which gives up if another library comes before it. */
static int set_sanitizer(struct environment *env)
{
	const char *others = getenv("ASAN_OPTIONS");
	struct buf value = BUF_INIT;
	int r;

	buf_printf(&value, "%s%sverify_asan_link_order=0", others ? others : "", others && *others ? ":" : "");
	r = buf_failed(&value) ? -ENOMEM : set(env, "ASAN_OPTIONS", value.data);
	buf_fini(&value);
	return r;
}

static void tell_untraced(const char *command)
{
	bool carries = false;
	const char *why = launch_preload_why(command, &carries);

	if (why && !carries)
		cmd_say("nothing in %.200s is traced: %s", command, why);
}

/* Before what is preloaded already. It comes last, so that the child can cut it off again. */
static int set_preload(struct environment *env, const struct launch_how *how)
{
	const char *others = getenv("LD_PRELOAD");
	struct err err = ERR_INIT;
	struct buf value = BUF_INIT;
	int r;

	r = launch_preload_find(how->argv[0], env->library, &err);
	if (r < 0 && !how->quiet)
		cmd_say("%s: it runs without the library", err.text);
	else if (!how->quiet && !*env->foreign)
		tell_untraced(how->argv[0]);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = set_sanitizer(env);
	if (r)
		return r;
	buf_printf(&value, "%s%s%s", env->library, others && *others ? ":" : "", others ? others : "");
	r = buf_failed(&value) ? -ENOMEM : set(env, "LD_PRELOAD", value.data);
	buf_fini(&value);
	if (!r)
		env->preload = env->n - 1;
	return r;
}

static int make(struct environment *env, const struct launch_how *how, const struct launch_user *user)
{
	int r = copy(env);

	env->preload = SIZE_MAX;
	if (!r && how->user)
		r = set_user(env, user);
	if (!r && how->dir)
		r = set_dir(env, how->dir);
	else if (!r && how->user)
		drop(env, "RINGSIDE_DIR");
	return r || !how->preload ? r : set_preload(env, how);
}

/* ---- the child ---- */

static void __attribute__((noreturn)) run(int line, const struct launch_how *how, struct environment *env,
					   const struct launch_user *user)
{
	char go;
	int r = 0;

	restore_signals();
	/* The end of the line: whoever should have opened the gate is dead, or thought better of it. */
	while ((r = (int)read(line, &go, 1)) < 0 && errno == EINTR)
		;
	if (r != 1)
		_exit(0);
	r = how->user ? launch_user_become(user) : 0;
	/* What the program may not read it is not given; the entry is the last one. */
	if (!r && env->preload != SIZE_MAX && access(env->library, R_OK))
		env->all[env->preload] = NULL;
	/* What the kernel does not know execvpe() would give to a shell. */
	if (!r && *env->foreign)
		execve(env->foreign, how->argv, env->all);
	else if (!r)
		execvpe(how->argv[0], how->argv, env->all);
	r = r ? r : -errno;
	while (write(line, &r, sizeof(r)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* ---- the parent ---- */

static int fork_child(struct launch *launch, const struct launch_how *how, struct environment *env,
		      const struct launch_user *user, struct err *err)
{
	sigset_t all, now;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot start %.100s: %s", launch->name, strerror(errno));
	/* No handler of ours runs in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &now);
	launch->pid = fork();
	if (!launch->pid) {
		close(pair[0]);
		run(pair[1], how, env, user);
	}
	sigprocmask(SIG_SETMASK, &now, NULL);
	close(pair[1]);
	if (launch->pid < 0) {
		close(pair[0]);
		return err_set(err, -errno, "cannot start %.100s: %s", launch->name, strerror(errno));
	}
	launch->gate = pair[0];
	launch->pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	return 0;
}

/* Is the command's file made for another machine, which `machine` names then? Something may run it all the same. */
static bool find_foreign(const char *command, char path[PATH_MAX], char machine[32])
{
	struct elf elf;
	bool foreign = false;
	int fd = command_find(command, path) ? library_open(path, &elf) : -1;

	if (fd < 0)
		return false;
	if (!elf_runs_here(&elf)) {
		char text[32];

		foreign = true;
		snprintf(machine, 32, "%s", elf_machine(&elf, text));
	}
	elf_close(&elf);
	close(fd);
	return foreign;
}

static int refuse(const struct launch *launch, int r, struct err *err)
{
	char file[PATH_MAX], machine[32];
	bool path = strchr(launch->name, '/');

	if (r == -ENOEXEC && find_foreign(launch->name, file, machine))
		return err_set(err, r, "%.200s is for %s, which this machine does not run", launch->name, machine);
	if (r == -ENOENT && !path)
		return err_set(err, r, "there is no program '%.200s' in PATH", launch->name);
	if (r == -ENOENT && !access(launch->name, F_OK))
		return err_set(err, r, "cannot run %.200s: what should run it is not there", launch->name);
	if (r == -ENOENT)
		return err_set(err, r, "there is no program %.200s", launch->name);
	return err_set(err, r, "cannot run %.200s: %s", launch->name, strerror(-r));
}

/*
 * What can be seen of it before: whoever starts a program prepares much for it. Another user may see other files, and where
 * PATH is missing there is one that only execvp knows.
 */
static int check(const struct launch *launch, const struct launch_how *how, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (how->user || (!strchr(launch->name, '/') && !getenv("PATH")))
		return 0;
	if (!command_find(launch->name, path))
		return refuse(launch, errno == EACCES ? -EACCES : -ENOENT, err);
	if (access(path, X_OK))
		return refuse(launch, -errno, err);
	return !stat(path, &st) && S_ISDIR(st.st_mode) ? refuse(launch, -EACCES, err) : 0;
}

int launch_start(struct launch *launch, const struct launch_how *how, struct err *err)
{
	struct environment env = { .n = 0 };
	struct launch_user user = { 0 };
	char machine[32];
	int r = 0;

	*launch = (struct launch)LAUNCH_NONE;
	launch->name = how->argv[0];
	if (!signals.known)
		launch_note_signals();
	if (how->user)
		r = launch_user_find(&user, how->user, err);
	if (!r)
		r = check(launch, how, err);
	if (!r && !find_foreign(launch->name, env.foreign, machine))
		*env.foreign = '\0';
	if (!r) {
		r = make(&env, how, &user);
		if (r)
			err_set(err, r, "out of memory");
	}
	if (!r)
		r = fork_child(launch, how, &env, &user, err);
	launch->environment = env.all;
	fini(&env);
	launch_user_fini(&user);
	return r;
}

static void reap(struct launch *launch)
{
	if (launch->ended)
		return;
	while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
		;
	launch->ended = true;
}

int launch_go(struct launch *launch, struct err *err)
{
	ssize_t n;
	int r = 0;

	/* One that was killed at the gate has ended, which launch_poll() will tell. */
	while (send(launch->gate, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	do {
		if (launch->meanwhile)
			launch->meanwhile(launch->ctx);
		n = poll(&(struct pollfd){ .fd = launch->gate, .events = POLLIN }, 1, launch->meanwhile ? WAIT_MS : -1);
		n = n > 0 ? read(launch->gate, &r, sizeof(r)) : -1;
	} while (n < 0);
	close(launch->gate);
	launch->gate = -1;
	if (n != (ssize_t)sizeof(r))
		return 0;
	reap(launch);
	return refuse(launch, r, err);
}

int launch_poll(struct launch *launch, int *status)
{
	pid_t pid;

	if (!launch->ended) {
		pid = waitpid(launch->pid, &launch->status, WNOHANG);
		if (pid < 0)
			return errno == EINTR ? 0 : -errno;
		launch->ended = pid == launch->pid;
	}
	*status = launch->status;
	return launch->ended;
}

int launch_exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void launch_close(struct launch *launch)
{
	if (launch->gate >= 0) {
		close(launch->gate);
		if (!launch->ended)
			reap(launch);
	}
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	launch->gate = launch->pidfd = -1;
}
