/*
 * inject/inject: see inject.h.
 *
 *	refuse | image of its memory | borrow a thread | dlopen | __ringside_attach, _poke, _detach | give it back
 */
#include "inject/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject/image.h"
#include "inject/process.h"
#include "symbol/elf.h"

#if defined(__x86_64__)
#include "inject/x86_64/still.h"
#endif

/* The name that the runtime is loaded by: what tells it which directory is meant. */
#define LINK "libringside.so"

#define STILL_TRIES 100
#define LOAD_TRIES 100

enum what { ATTACH, POKE, DETACH };

struct ask {
	pid_t pid;
	enum what what;
	pid_t waiting;		/* the thread that waits for an answer, 0: none */
	int tell;		/* where to say that it may come */
	char dir[PATH_MAX];	/* an absolute path without links */
};

/* ---- who is refused ---- */

/* Another of us may be at it: that takes a moment. */
static int wait_for_tracer(struct process *process)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	int r = 0;

	for (int i = 0; !r && i < 100 && process->tracer > 0; i++) {
		nanosleep(&nap, NULL);
		r = process_read(process, process->pid);
	}
	return r;
}

static int refuse_state(struct process *process, struct err *err)
{
	int pid = (int)process->pid;

	if (process->state == 'Z' || process->state == 'X')
		return err_set(err, -ESRCH, "%s (%d) has ended; its parent has not noticed yet", process->name, pid);
	if (wait_for_tracer(process))
		return err_set(err, -ESRCH, "process %d ended meanwhile", pid);
	if (process->tracer > 0)
		return err_set(err, -EBUSY, "process %ld debugs %s (%d): end that first", process->tracer, process->name, pid);
	if (process->state == 'T' || process->state == 't')
		return err_set(err, -EBUSY, "%s (%d) is stopped: `kill -CONT %d` first", process->name, pid, pid);
	if (process->seccomp > 0)
		return err_set(err, -ENOTSUP, "%s (%d) is in a sandbox (seccomp) that may end it for opening a file: start it "
			       "with `ringside record`, or link it with libringside", process->name, pid);
	return 0;
}

static int refuse_user(const struct process *process, const char *dir, struct err *err)
{
	int pid = (int)process->pid;
	struct stat st;

	if (geteuid() && process->uid != geteuid())
		return err_set(err, -EPERM, "%s (%d) is another user's (uid %u): run this as that user", process->name, pid,
			       (unsigned int)process->uid);
	if (stat(dir, &st))
		return err_set(err, -errno, "%.200s: %s", dir, strerror(errno));
	if (st.st_uid != process->uid)
		return err_set(err, -EPERM, "%s (%d) is uid %u's and %.100s is uid %u's: run this as the process's user, or "
			       "name a directory of theirs by --dir", process->name, pid, (unsigned int)process->uid, dir,
			       (unsigned int)st.st_uid);
	if (!process->same_pids)
		return err_set(err, -ENOTSUP, "%s (%d) is in another pid namespace (a container): run this in there",
			       process->name, pid);
	return 0;
}

/* Of what it is made; a program whose file must not be read is taken as it comes. */
static int refuse_program(const struct process *process, struct err *err)
{
	int pid = (int)process->pid, fd, r = 0;
	char path[64];
	struct elf elf;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, -ENOTSUP, "%s (%d) is a thread of the kernel: see --kernel", process->name, pid);
	if (fd < 0 || elf_open(&elf, fd, NULL)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (!elf.is64 || elf.machine != EM_X86_64)
		r = err_set(err, -ENOTSUP, "%s (%d) is no x86-64 program: start it with `ringside record`, with the runtime "
			    "for it", process->name, pid);
	else if (!elf.interp)
		r = err_set(err, -ENOTSUP, "%s (%d) is linked statically: nothing can be loaded into it. Link it with "
			    "libringside.a", process->name, pid);
	elf_close(&elf);
	close(fd);
	return r;
}

/* Does the process see the directory by the same name? */
static int refuse_place(const struct process *process, const char *dir, struct err *err)
{
	char path[PATH_MAX + 64];
	struct stat here, there;

	snprintf(path, sizeof(path), "%s/control", dir);
	if (stat(path, &here))
		return err_set(err, -errno, "%.200s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%d/root%s/control", (int)process->pid, dir);
	if (stat(path, &there) || here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		return err_set(err, -ENOTSUP, "%s (%d) does not see %.200s: it has another root (chroot, a container). Start it "
			       "with `ringside record`", process->name, (int)process->pid, dir);
	return 0;
}

static int refuse(struct process *process, pid_t pid, const char *dir, struct err *err)
{
	int r = process_read(process, pid);

	if (r)
		return err_set(err, r, r == -ESRCH ? "there is no process %d" : "process %d cannot be looked at", (int)pid);
	if (pid == getpid())
		return err_set(err, -EINVAL, "%d: that is this command itself", (int)pid);
	r = refuse_user(process, dir, err);
	if (!r)
		r = refuse_state(process, err);
	if (!r)
		r = refuse_program(process, err);
	return r;
}

/* ---- calls there ---- */

#if defined(__x86_64__)

/* ptrace says no, and nothing else: which setting of the machine that is. */
static void explain(int r, pid_t pid, struct err *err)
{
	FILE *file = r == -EPERM ? fopen("/proc/sys/kernel/yama/ptrace_scope", "re") : NULL;
	int scope = 0;

	if (file && fscanf(file, "%d", &scope) == 1 && scope > 0)
		snprintf(err->text, sizeof(err->text), "process %d: kernel.yama.ptrace_scope is %d, so only %s may touch it: %s",
			 (int)pid, scope, scope < 3 ? "root" : "nobody",
			 scope < 3 ? "run this by sudo, or set that to 0" : "start it with `ringside record` instead");
	else if (r == -EPERM)
		snprintf(err->text, sizeof(err->text), "process %d may not be touched: it has, or had, more rights than you: "
			 "run this as root", (int)pid);
	if (file)
		fclose(file);
}

/* What dlopen did not like. */
static int tell_refusal(struct borrow *borrow, struct err *err)
{
	uint64_t dlerror_at = target_find(borrow->image, "dlerror"), text = 0;
	char words[256] = "";

	if (dlerror_at && !borrow_call(borrow, dlerror_at, 0, 0, &text, NULL) && text &&
	    !target_text(borrow->image, text, words, sizeof(words)))
		words[sizeof(words) - 1] = '\0';
	for (char *at = words; *at; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
	return err_set(err, -ENOEXEC, "process %d does not load the runtime: %s", (int)borrow->image->pid, words);
}

static int load(struct borrow *borrow, const char *dir, struct err *err)
{
	/* The older ones have it in a library of its own, or under another name. */
	static const char *const names[] = { "dlopen", "__libc_dlopen_mode" };
	uint64_t function = 0, path, handle;
	char file[PATH_MAX + 32];
	int r;

	for (size_t i = 0; !function && i < sizeof(names) / sizeof(names[0]); i++)
		function = target_find(borrow->image, names[i]);
	if (!function)
		return err_set(err, -ENOTSUP, "process %d has no dlopen: nothing can be loaded into it", (int)borrow->image->pid);
	snprintf(file, sizeof(file), "%s/" LINK, dir);
	path = borrow_text(borrow, file);
	borrow->foreign = true;
	/* RTLD_NOW; nobody else is to see its names. */
	r = path ? borrow_call(borrow, function, path, 2, &handle, err) : err_set(err, -ENAMETOOLONG, "%.200s is too long", dir);
	borrow->foreign = false;
	return r || handle ? r : tell_refusal(borrow, err);
}

static int find_runtime(const struct image *image, const char *name, uint64_t *function, struct err *err)
{
	*function = target_find(image, name);
	return *function ? 0 : err_set(err, -ENOTSUP, "process %d has a runtime that cannot be called: another version, or linked "
				       "statically", (int)image->pid);
}

/* Joins it: what that gave, or -errno. */
static int call_attach(struct borrow *borrow, const struct image *image, const char *dir, struct err *err)
{
	uint64_t function, path, result;
	int r = find_runtime(image, "__ringside_attach", &function, err);

	if (r)
		return r;
	path = borrow_text(borrow, dir);
	r = path ? borrow_call(borrow, function, path, 0, &result, err) : err_set(err, -ENAMETOOLONG, "%.200s is too long", dir);
	return r ? r : (int)(int32_t)(uint32_t)result;
}

/* A function of the runtime's that changes code, while nobody runs any: what it gave, or -errno. */
static int call_still(struct borrow *borrow, const struct image *image, const char *name, struct err *err)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	uint64_t function, result = 0;
	struct calls_dispatch calls;
	struct still still;
	int r = find_runtime(image, name, &function, err);

	/* A thread may stand in the middle of what is to be changed: it does not stay there. */
	for (int i = 0; !r && i < STILL_TRIES; i++) {
		r = still_begin(&still, borrow, err);
		if (!r) {
			r = borrow_call(borrow, function, still.list, still.n + 1, &result, err);
			if (!r && (int32_t)result != -ECHILD && dispatch_wanted(image, &calls)) {
				const struct dispatch was = borrow->dispatch;

				borrow->dispatch = dispatch_for(&calls, &was);
				if (borrow->dispatch.mode && !was.mode)
					dispatch_move(image, &calls, &borrow->tracee.regs);
				for (uint32_t t = 0; t < still.n; t++)
					dispatch_tell(image, still.others[t], &calls);
			}
			still_end(&still);
		}
		if (r || (int32_t)result != -EAGAIN)
			break;
		nanosleep(&nap, NULL);
	}
	return r ? r : (int)(int32_t)(uint32_t)result;
}

static int joined(int r, pid_t pid, const char *dir, struct err *err)
{
	if (r == -EBUSY)
		return err_set(err, r, "process %d belongs to another tracing directory, as long as it lives", (int)pid);
	return r < 0 ? err_set(err, r, "process %d cannot join %.200s: %s", (int)pid, dir, strerror(-r)) : r;
}

static int load_and_join(struct borrow *borrow, pid_t pid, const char *dir, struct err *err)
{
	struct image image;
	int r = load(borrow, dir, err);

	if (r)
		return r;
	/* Now it is there. */
	r = target_open(&image, pid, err);
	if (r)
		return r;
	r = call_attach(borrow, &image, dir, err);
	target_close(&image);
	return r < 0 ? joined(r, pid, dir, err) : 1;
}

/* One that has just been started is still being loaded, or was another program a moment ago: until its libc is there. */
static int open_loaded(struct image *image, pid_t pid, struct err *err)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int r = target_open(image, pid, err);

	for (int i = 0; !r && !borrow_can(image) && i < LOAD_TRIES; i++) {
		target_close(image);
		nanosleep(&nap, NULL);
		r = target_open(image, pid, err);
	}
	return r;
}

/*
 * Has it only borrowed its memory? A vfork child may be on the stack of a parent that runs: whose own child it made was killed. In a call that waits
 * it needs no stack. If it is stopped it makes that call again, by a place that is patched by now, and what lies there is written over.
 */
static bool is_lodger(const struct image *image, pid_t pid)
{
	struct calls_dispatch calls;

	return dispatch_known(image, &calls) && calls.pid && calls.pid != (uint64_t)pid &&
	       !syscall(SYS_kcmp, (long)pid, (long)calls.pid, KCMP_VM, 0l, 0l);
}

/*
 * A thread of it, and what it runs: whatever that was when it was looked at, it may have become another program since. -ECHILD: its memory is another
 * process's, which is asked, too.
 */
static int open_and_borrow(struct image *image, struct borrow *borrow, pid_t pid, struct err *err)
{
	int r;

	for (int i = 0;; i++) {
		r = open_loaded(image, pid, err);
		if (r)
			return r;
		r = is_lodger(image, pid) ? -ECHILD : borrow_begin(borrow, image, err);
		if (!r)
			return 0;
		target_close(image);
		if (r == -ECHILD)
			return r;
		if (r != -ESTALE || i == LOAD_TRIES) {
			explain(r, pid, err);
			return r;
		}
	}
}

/* Held first, so that it does not get far with its answer; if it cannot be, it is told a little later. */
static int hold_and_tell(const struct ask *ask, struct err *err)
{
	tracee_expect(ask->pid, ask->waiting);
	return write(ask->tell, "", 1) == 1 ? 0 : err_set(err, -errno, "nobody waits for a word: %s", strerror(errno));
}

static int act(const struct ask *ask, struct err *err)
{
	struct borrow *borrow = calloc(1, sizeof(*borrow));
	struct image image;
	int r;

	if (!borrow)
		return err_set(err, -ENOMEM, "out of memory");
	r = ask->waiting ? hold_and_tell(ask, err) : 0;
	if (r) {
		free(borrow);
		return r;
	}
	r = open_and_borrow(&image, borrow, ask->pid, err);
	if (!r) {
		if (ask->what == ATTACH && !target_find(&image, "__ringside_attach"))
			r = load_and_join(borrow, ask->pid, ask->dir, err);
		else if (ask->what == ATTACH)
			r = joined(call_attach(borrow, &image, ask->dir, err), ask->pid, ask->dir, err);
		else
			r = call_still(borrow, &image, ask->what == POKE ? "__ringside_poke" : "__ringside_detach", err);
		borrow_end(borrow);
		target_close(&image);
	}
	free(borrow);
	return r == -ECHILD ? 0 : r;
}

#else

static int act(const struct ask *ask, struct err *err)
{
	(void)ask;
	return err_set(err, -ENOTSUP, "processes that run already cannot be reached on this machine: start them with "
		       "`ringside record`");
}

#endif

/* ---- in a process of its own ---- */

struct answer {
	int result;
	struct err err;
};

/* It ends with us, and whatever it has hold of is let go; signals from the terminal are for us. */
static void act_apart(const struct ask *ask, int to)
{
	struct answer answer = { .err = ERR_INIT };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	answer.result = act(ask, &answer.err);
	_exit(write(to, &answer, sizeof(answer)) != sizeof(answer));
}

static int act_once(const struct ask *ask, struct err *err)
{
	struct answer answer = { .result = -EIO, .err = ERR_INIT };
	int ends[2], status;
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, -errno, "%s", strerror(errno));
	child = fork();
	if (!child)
		act_apart(ask, ends[1]);
	close(ends[1]);
	do
		n = child < 0 ? -1 : read(ends[0], &answer, sizeof(answer));
	while (n < 0 && child > 0 && errno == EINTR);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(answer))
		return err_set(err, -EIO, "process %d could not be reached: who should do it died", (int)ask->pid);
	answer.err.text[sizeof(answer.err.text) - 1] = '\0';
	return answer.result < 0 ? err_set(err, answer.result, "%s", answer.err.text) : answer.result;
}

/* ---- doors ---- */

/* The name under which the runtime is loaded: a link that always leads to the library of whoever came last. */
static int make_link(const char *dir, const char *library, struct err *err)
{
	char path[PATH_MAX + 32], other[PATH_MAX + 64], now[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" LINK, dir);
	n = readlink(path, now, sizeof(now) - 1);
	if (n >= 0) {
		now[n] = '\0';
		if (!strcmp(now, library))
			return 0;
	}
	snprintf(other, sizeof(other), "%s.%d", path, (int)getpid());
	unlink(other);
	if (symlink(library, other) || rename(other, path)) {
		n = -errno;
		unlink(other);
		return err_set(err, (int)n, "%.200s: %s", path, strerror((int)-n));
	}
	return 0;
}

/* The directory as everybody sees it, however it was named. */
static int find_dir(const char *dir, char real[PATH_MAX], struct err *err)
{
	return realpath(dir, real) ? 0 : err_set(err, -errno, "%.200s: %s", dir, strerror(errno));
}

/* Which directory a process is at: 1 this one, 0 none, -EBUSY another. */
static int is_at(pid_t pid, const char *dir, struct attachment *attachment)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/control", dir);
	if (process_attachment(attachment, pid) || !attachment->attached)
		return 0;
	return !stat(path, &st) && st.st_ino == attachment->inode ? 1 : -EBUSY;
}

int inject_attach(pid_t pid, const char *dir, const char *library, struct err *err)
{
	struct ask ask = { .pid = pid, .what = ATTACH };
	struct attachment *attachment;
	struct process process;
	int r = find_dir(dir, ask.dir, err);

	if (!r)
		r = refuse(&process, pid, ask.dir, err);
	if (!r)
		r = refuse_place(&process, ask.dir, err);
	if (!r)
		r = make_link(ask.dir, library, err);
	if (r)
		return r;
	attachment = calloc(1, sizeof(*attachment));
	if (attachment && is_at(pid, ask.dir, attachment) == -EBUSY)
		r = err_set(err, -EBUSY, "%s (%d) belongs to the tracing directory %.200s, as long as it lives", process.name,
			    (int)pid, attachment->dir);
	free(attachment);
	return r ? r : act_once(&ask, err);
}

/* For those that have joined the directory; 0 for others. */
static int act_on_joined(struct ask ask, const char *dir, struct err *err)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	struct process process;
	int r = attachment ? find_dir(dir, ask.dir, err) : err_set(err, -ENOMEM, "out of memory");

	if (!r)
		r = refuse(&process, ask.pid, ask.dir, err);
	/* Linked statically: it looks for itself when it records, and has no functions to patch. */
	if (!r && is_at(ask.pid, ask.dir, attachment) == 1 && *attachment->library)
		r = act_once(&ask, err);
	else if (!r && ask.waiting && write(ask.tell, "", 1) != 1)
		r = -errno;
	/* It has ended, or become another program, which looks for itself. */
	if (r < 0 && r != -ESRCH && attachment && *ask.dir && !is_at(ask.pid, ask.dir, attachment))
		r = 0;
	free(attachment);
	return r > 0 ? 0 : r;
}

int inject_detach(pid_t pid, const char *dir, struct err *err)
{
	return act_on_joined((struct ask){ .pid = pid, .what = DETACH }, dir, err);
}

int inject_poke(pid_t pid, const char *dir, struct err *err)
{
	return act_on_joined((struct ask){ .pid = pid, .what = POKE }, dir, err);
}

int inject_poke_waiting(pid_t tid, const char *dir, int tell, struct err *err)
{
	struct process process;
	int r = process_read(&process, tid);

	if (r)
		return err_set(err, r, "there is no thread %d", (int)tid);
	return act_on_joined((struct ask){ .pid = process.tgid, .what = POKE, .waiting = tid, .tell = tell }, dir, err);
}

struct pokes {
	const char *dir;
	pid_t but;
	struct attachment attachment;
	struct err *err;
	int failed;
};

static bool poke_one(void *ctx, pid_t pid)
{
	struct pokes *pokes = ctx;
	struct err err = ERR_INIT;

	if (pid == getpid() || pid == pokes->but || is_at(pid, pokes->dir, &pokes->attachment) != 1 || !*pokes->attachment.library)
		return true;
	/* Who ended meanwhile needs no word. */
	if (inject_poke(pid, pokes->dir, &err) < 0 && err.code != -ESRCH) {
		pokes->failed++;
		err_set(pokes->err, err.code, "%s", err.text);
	}
	return true;
}

int inject_poke_all(const char *dir, pid_t but, struct err *err)
{
	struct pokes *pokes = calloc(1, sizeof(*pokes));
	char real[PATH_MAX];
	int r = pokes ? find_dir(dir, real, err) : err_set(err, -ENOMEM, "out of memory");

	if (!r) {
		pokes->dir = real;
		pokes->but = but;
		pokes->err = err;
		r = process_walk(poke_one, pokes);
		r = r ? err_set(err, r, "/proc: %s", strerror(-r)) : pokes->failed;
	}
	free(pokes);
	return r;
}
