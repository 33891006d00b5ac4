/*
 * doctor/directory: the doctor's look at the tracing directory: can it be used, and how does it fare.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/stream.h"
#include "doctor/doctor.h"
#include "inject/process.h"
#include "control/file.h"
#include "control/registry.h"
#include "control/rules.h"
#include "runtime/runtime.h"

#define LOCK_WAIT_MS 1000
#define LISTED_MAX 4	/* names in a line of words */

/* The first reason of an error text; behind its last colon there is advice, or the system's words. */
static const char *reason(struct err *err)
{
	char *colon = NULL, *next = err->text;

	while ((next = strstr(next, ": ")))
		colon = next++;
	if (colon && strcmp(colon + 2, strerror(-err->code)))
		*colon = '\0';
	return err->text;
}

/* A directory that somebody made for us, or that a program is about to fill. */
static bool is_empty(const char *dir)
{
	char path[PATH_MAX + 16];

	for (int i = 0; i < SEGMENT_KINDS; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, control_file_name((enum segment_kind)i));
		if (!access(path, F_OK) || errno != ENOENT)
			return false;
	}
	return true;
}

/* What the directory is refused for, in the words of who refuses it. */
static void put_refused(struct doctor *doctor, struct err *err)
{
	struct stat st;
	const char *step = NULL;
	bool there = !lstat(doctor->dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();

	if (!there)
		step = "set RINGSIDE_DIR to a directory of yours, in memory";
	else if (st.st_mode & 022)
		step = doctor_step(doctor, "chmod 700 ", doctor->dir);
	else if (err->code == -EACCES)
		step = doctor_step(doctor, "chmod -R u+rwX ", doctor->dir);
	else if (err->code == -EUCLEAN)
		step = doctor_ringside(doctor, "reset");
	else if (err->code == -EBADMSG || err->code == -EPROTO || err->code == -EPERM || err->code == -ENOENT)
		step = doctor_step(doctor, "rm -r ", doctor->dir);
	doctor_put(doctor, DOCTOR_BAD, "directory", step, "%s", reason(err));
}

static void put_missing(struct doctor *doctor)
{
	char parent[PATH_MAX];
	const char *dir;

	snprintf(parent, sizeof(parent), "%s", doctor->dir);
	dir = dirname(parent);
	if (access(dir, F_OK))
		doctor_put(doctor, DOCTOR_BAD, "directory", doctor_step(doctor, "mkdir -p ", dir),
			   "%s (%s) cannot be made: there is no %s", doctor->dir, doctor->dir_from, dir);
	else if (access(dir, W_OK | X_OK))
		doctor_put(doctor, DOCTOR_BAD, "directory",
			   "set RINGSIDE_DIR to a place where you may make one",
			   "%s (%s) cannot be made: %s: %s", doctor->dir, doctor->dir_from, dir,
			   strerror(errno));
	else
		doctor_put(doctor, DOCTOR_NOTE, "directory", doctor_ringside(doctor, "start"),
			   "%s (%s) is not there yet; the first traced program makes it, too", doctor->dir,
			   doctor->dir_from);
}

void doctor_directory(struct doctor *doctor)
{
	struct err err = ERR_INIT;
	struct stat st;
	int r;

	if (lstat(doctor->dir, &st) && errno == ENOENT) {
		put_missing(doctor);
		return;
	}
	r = control_open(&doctor->control, doctor->dir, false, &err);
	if (!r) {
		r = control_refresh(doctor->control, &err);
		if (r) {
			control_close(doctor->control);
			doctor->control = NULL;
		}
	}
	if (r == -ENOENT && is_empty(doctor->dir))
		doctor_put(doctor, DOCTOR_NOTE, "directory", doctor_ringside(doctor, "start"),
			   "%s (%s) is empty; the first traced program fills it, too", doctor->dir,
			   doctor->dir_from);
	else if (r)
		put_refused(doctor, &err);
	else if (doctor->dir[0] != '/')
		doctor_put(doctor, DOCTOR_NOTE, "directory", "name it by an absolute path",
			   "%s (%s) is another place for programs that start elsewhere", doctor->dir,
			   doctor->dir_from);
	else
		doctor_put(doctor, DOCTOR_OK, "directory", NULL, "%s (%s): yours, mode %03o, version %u, sound",
			   doctor->dir, doctor->dir_from, (unsigned int)st.st_mode & 07777, SEGMENT_VERSION);
}

/* In a child, for its limits and its sandbox are those of any program that is started here. */
static void look_at_attaching(struct doctor *doctor)
{
	pid_t child = fork();
	int status, r;

	if (!child)
		_exit(-runtime_attach(doctor->dir) & 0xff);
	if (child < 0 || waitpid(child, &status, 0) != child) {
		doctor_put(doctor, DOCTOR_NOTE, "attaching", NULL, "was not tried: %s", strerror(errno));
		return;
	}
	r = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (!r)
		doctor_put(doctor, DOCTOR_OK, "attaching", NULL, "was tried, and works");
	else if (r < 0)
		doctor_put(doctor, DOCTOR_BAD, "attaching", NULL, "was tried, and ended by signal %d",
			   WTERMSIG(status));
	else
		doctor_put(doctor, DOCTOR_BAD, "attaching",
			   r == ENOMEM ? "ulimit -v unlimited; ulimit -d unlimited" : NULL,
			   "was tried, and fails: %s", strerror(r));
}

static const char *file_system(const struct statfs *fs, char text[32])
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {
		{ 0x01021994, "tmpfs" },   { 0x858458f6, "ramfs" },   { 0xef53, "ext4" },
		{ 0x58465342, "xfs" },	   { 0x9123683e, "btrfs" },   { 0x6969, "nfs" },
		{ 0x794c7630, "overlay" }, { 0x65735546, "fuse" },    { 0x2fc12fc1, "zfs" },
		{ 0xf2f52010, "f2fs" },	   { 0x01021997, "9p" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (((unsigned long)fs->f_type & 0xffffffff) == known[i].magic)
			return known[i].name;
	snprintf(text, 32, "of type %#lx", (unsigned long)fs->f_type & 0xffffffff);
	return text;
}

static void put_size(char text[32], uint64_t bytes)
{
	if (bytes >= 10ull << 30)
		snprintf(text, 32, "%" PRIu64 " GiB", bytes >> 30);
	else if (bytes >= 10ull << 20)
		snprintf(text, 32, "%" PRIu64 " MiB", bytes >> 20);
	else
		snprintf(text, 32, "%" PRIu64 " KiB", bytes >> 10);
}

static void look_at_space(struct doctor *doctor)
{
	const struct control *control = doctor->control;
	const struct state_buffer *top = &control->state.buffers[0];
	uint64_t need = set_written_size(control->dir.ncpu, top->npages, top->page_size), room;
	char type[32], left[32], more[32];
	struct statfs fs;
	const char *name;

	if (fstatfs(control->dir.dir, &fs)) {
		doctor_put(doctor, DOCTOR_NOTE, "space", NULL, "is not known: %s", strerror(errno));
		return;
	}
	name = file_system(&fs, type);
	/* A tmpfs without a limit says that it has no blocks at all. */
	room = fs.f_blocks ? (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize : UINT64_MAX;
	put_size(left, room);
	put_size(more, need);
	if (fs.f_flags & ST_RDONLY)
		doctor_put(doctor, DOCTOR_BAD, "space", "set RINGSIDE_DIR to a place where you may write",
			   "the file system is mounted to be read only");
	else if (room < need)
		doctor_put(doctor, top->live.offset ? DOCTOR_NOTE : DOCTOR_BAD, "space",
			   doctor_ringside(doctor, "write buffer_size_kb 64"), "%s free on %s, new rings take %s", left, name,
			   more);
	else if (strcmp(name, "tmpfs") && strcmp(name, "ramfs"))
		doctor_put(doctor, DOCTOR_NOTE, "space", "set RINGSIDE_DIR to a directory below /dev/shm",
			   "%s free on %s: not memory, so events are written to a disk", left, name);
	else
		doctor_put(doctor, DOCTOR_OK, "space", NULL, "%s free on %s", fs.f_blocks ? left : "no limit",
			   name);
}

static void look_at_lock(struct doctor *doctor)
{
	int fd = doctor->control->dir.fd[SEGMENT_CONTROL];
	struct timespec pause = { 0, 20000000 };
	struct process holder;
	pid_t pid;
	char step[64];

	for (int ms = 0; ms < LOCK_WAIT_MS; ms += 20) {
		if (!flock(fd, LOCK_SH | LOCK_NB)) {
			flock(fd, LOCK_UN);
			doctor_put(doctor, DOCTOR_OK, "lock", NULL, ms ? "free again" : "free");
			return;
		}
		nanosleep(&pause, NULL);
	}
	pid = control_lock_holder(doctor->control);
	if (!pid || process_read(&holder, pid)) {
		doctor_put(doctor, DOCTOR_BAD, "lock", NULL,
			   "has been held for %d s by a process that cannot be seen from here",
			   LOCK_WAIT_MS / 1000);
		return;
	}
	snprintf(step, sizeof(step), "kill %s%d", holder.state == 'T' ? "-CONT " : "", (int)pid);
	doctor_put(doctor, DOCTOR_BAD, "lock", step, "has been held for %d s by %s (%d)%s: nothing can be changed",
		   LOCK_WAIT_MS / 1000, holder.name, (int)pid,
		   holder.state == 'T' ? ", which is stopped" : "");
}

static void look_at_recording(struct doctor *doctor)
{
	const struct control *control = doctor->control;
	const struct control_state *state = &control->state;
	const struct state_buffer *top = &state->buffers[0];
	uint32_t known = 0, on = 0, rules = 0;
	struct control_registry registry;
	struct err err = ERR_INIT;

	if (control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, &err)) {
		doctor_put(doctor, DOCTOR_BAD, "events", doctor_step(doctor, "rm -r ", doctor->dir), "%s", err.text);
		return;
	}
	for (uint32_t i = 0; i < registry.nevents; i++) {
		const struct control_event *event = &registry.events[i];

		if (event->named)
			continue;
		known += event->shown;
		on += event->shown && control_rules_on(state, 0, event->system, event->name);
	}
	for (uint32_t i = 0; i < state->nrules; i++)
		rules += state->rules[i].on && !state->rules[i].buffer;
	control_registry_fini(&registry);
	if (!(top->flags & BUFFER_ON))
		doctor_put(doctor, DOCTOR_NOTE, "events", doctor_ringside(doctor, "write tracing_on 1"),
			   "on: %" PRIu32 " of %" PRIu32 " known, but recording is off", on, known);
	else if (!rules)
		doctor_put(doctor, DOCTOR_NOTE, "events", doctor_ringside(doctor, "start"),
			   "on: none of %" PRIu32 " known", known);
	else if (!on)
		doctor_put(doctor, DOCTOR_NOTE, "events", known ? doctor_ringside(doctor, "list") : NULL,
			   "on: none of %" PRIu32 " known; what was switched on is for programs to come", known);
	else
		doctor_put(doctor, DOCTOR_OK, "events", NULL, "on: %" PRIu32 " of %" PRIu32 " known", on, known);
}

/* Threads that a person chose, and forgot perhaps. */
static void look_at_pids(struct doctor *doctor)
{
	const struct control_state *state = &doctor->control->state;
	uint32_t only = 0, not = 0;

	for (uint32_t i = 0; i < state->npids; i++) {
		only += !state->pids[i].buffer && state->pids[i].kind == STATE_PID_ONLY;
		not += !state->pids[i].buffer && state->pids[i].kind == STATE_PID_NOT;
	}
	if (only)
		doctor_put(doctor, DOCTOR_NOTE, "pids", doctor_ringside(doctor, "write set_event_pid ''"),
			   "events of %" PRIu32 " chosen threads are taken, and no others", only);
	if (not)
		doctor_put(doctor, DOCTOR_NOTE, "pids", doctor_ringside(doctor, "write set_event_notrace_pid ''"),
			   "events of %" PRIu32 " threads are not taken", not);
}

struct attached {
	struct doctor *doctor;
	struct stat control;
	char dir[PATH_MAX];
	struct buf names;
	unsigned int n, stray, hidden;
};

static bool count_attached(void *ctx, pid_t pid)
{
	struct attached *attached = ctx;
	struct attachment attachment;
	struct process process;
	int r = process_attachment(&attachment, pid);

	if (process_read(&process, pid))
		return true;
	/* Another user's processes cannot use this directory. */
	if (r && process.uid == geteuid() && process.state != 'Z')
		attached->hidden++;
	if (r || !attachment.attached)
		return true;
	if (attachment.removed) {
		attached->stray += !strcmp(attachment.dir, attached->dir);
		return true;
	}
	if (attachment.inode != attached->control.st_ino ||
	    (attachment.device != attached->control.st_dev && strcmp(attachment.dir, attached->dir)))
		return true;
	if (attached->n++ < LISTED_MAX)
		buf_printf(&attached->names, "%s%s (%d)", attached->n > 1 ? ", " : ": ", process.name, (int)pid);
	return true;
}

static void look_at_programs(struct doctor *doctor)
{
	struct attached attached = { .doctor = doctor, .names = BUF_INIT };
	int r;

	if (fstat(doctor->control->dir.fd[SEGMENT_CONTROL], &attached.control) ||
	    !realpath(doctor->dir, attached.dir))
		r = -errno;
	else
		r = process_walk(count_attached, &attached);
	if (r) {
		doctor_put(doctor, DOCTOR_NOTE, "programs", NULL, "were not looked at: %s", strerror(-r));
		return;
	}
	doctor_put(doctor, DOCTOR_OK, "programs", NULL, "%u attached now%s%s", attached.n,
		   attached.names.len ? attached.names.data : "", attached.n > LISTED_MAX ? ", ..." : "");
	if (attached.hidden)
		doctor_put(doctor, DOCTOR_NOTE, "programs", NULL,
			   "%u of yours may not be looked into, and may be attached", attached.hidden);
	if (attached.stray)
		doctor_put(doctor, DOCTOR_NOTE, "programs", "start them again",
			   "%u write%s into a directory that was here before and was removed", attached.stray,
			   attached.stray == 1 ? "s" : "");
	buf_fini(&attached.names);
}

/* Sums over all CPUs of one buffer. */
static int sum_losses(const struct control *control, const struct state_buffer *buffer, uint64_t *overrun,
		      uint64_t *dropped, struct err *err)
{
	int r = 0;

	for (uint32_t cpu = 0; !r && cpu < control->dir.ncpu; cpu++) {
		struct stream_stats stats;
		struct stream *stream;

		r = stream_open(&stream, control->dir.fd[SEGMENT_RINGS], buffer, control->dir.ncpu, cpu, false,
				err);
		if (r)
			break;
		r = stream_stats(stream, &stats);
		if (r)
			err_set(err, r, "rings: %s", strerror(-r));
		stream_close(stream);
		*overrun += r ? 0 : stats.overrun;
		*dropped += r ? 0 : stats.dropped;
	}
	return r;
}

static void look_at_losses(struct doctor *doctor)
{
	const struct control *control = doctor->control;
	const struct state_buffer *top = &control->state.buffers[0];
	uint64_t overrun = 0, dropped = 0;
	struct err err = ERR_INIT;
	char words[64];
	int r = 0;

	for (uint32_t i = 0; !r && i < control->state.nbuffers; i++)
		if (control->state.buffers[i].born)
			r = sum_losses(control, &control->state.buffers[i], &overrun, &dropped, &err);
	snprintf(words, sizeof(words), "write buffer_size_kb %" PRIu64,
		 2 * control_kb_from_pages(top->npages, top->page_size));
	if (r)
		doctor_put(doctor, DOCTOR_BAD, "losses", doctor_ringside(doctor, "reset"),
			   "the rings cannot be read: %s", err.text);
	else if (overrun || dropped)
		doctor_put(doctor, DOCTOR_NOTE, "losses", doctor_ringside(doctor, words),
			   "%" PRIu64 " events were overwritten before they were read, %" PRIu64 " dropped",
			   overrun, dropped);
	else
		doctor_put(doctor, DOCTOR_OK, "losses", NULL, "none since the rings were made");
}

static void look_at_registry(struct doctor *doctor)
{
	const struct segment_dir *dir = &doctor->control->dir;
	const uint64_t heap = REGISTRY_SIZE - REGISTRY_HEAP_OFFSET;
	struct registry_head head;
	struct err err = ERR_INIT;
	uint64_t used;

	if (control_file_read(dir, SEGMENT_REGISTRY, &head, sizeof(head), 0, &err)) {
		doctor_put(doctor, DOCTOR_BAD, "registry", doctor_step(doctor, "rm -r ", doctor->dir), "%s", err.text);
		return;
	}
	used = head.heap_used > REGISTRY_HEAP_OFFSET ? head.heap_used - REGISTRY_HEAP_OFFSET : 0;
	used = used < heap ? used * 100 / heap : 100;
	if (head.refused)
		doctor_put(doctor, DOCTOR_BAD, "registry", doctor_step(doctor, "rm -r ", doctor->dir),
			   "%" PRIu64 " events or formats of programs found no room and are not traced",
			   head.refused);
	else if (used >= 90)
		doctor_put(doctor, DOCTOR_NOTE, "registry", doctor_step(doctor, "rm -r ", doctor->dir),
			   "%" PRIu64 " %% full: soon there is no room for new events", used);
	else
		doctor_put(doctor, DOCTOR_OK, "registry", NULL, "%" PRIu64 " %% full, nothing was refused", used);
}

void doctor_directory_use(struct doctor *doctor)
{
	if (!doctor->control)
		return;
	look_at_attaching(doctor);
	look_at_space(doctor);
	look_at_lock(doctor);
	look_at_recording(doctor);
	doctor_names(doctor);
	look_at_pids(doctor);
	look_at_registry(doctor);
	look_at_losses(doctor);
	look_at_programs(doctor);
	doctor_remotes(doctor);
}
