/*
 * doctor/running: the doctor's answer for a process that runs already: is it attached, to which directory, or why not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/program.h"
#include "inject/process.h"

struct running {
	struct doctor *doctor;
	struct process process;
	struct attachment attachment;
	struct program *program;
};

/* Those who may look at it: its user, or root. */
static const char *as_who(struct running *running)
{
	struct doctor *doctor = running->doctor;

	/* Nobody, then. */
	if (!geteuid() && !running->process.uid)
		return NULL;
	buf_reset(&doctor->step);
	if (running->process.uid == geteuid())
		buf_puts(&doctor->step, "sudo ");
	doctor_sudo(&doctor->step, running->process.uid);
	buf_printf(&doctor->step, "ringside doctor %d", (int)running->process.pid);
	return buf_failed(&doctor->step) ? "sudo ringside doctor" : doctor->step.data;
}

/* False when there is nothing more to look at. */
static bool look_at_process(struct running *running)
{
	struct doctor *doctor = running->doctor;
	const struct process *process = &running->process;
	char path[64], *exe = running->program->path;
	int pid = (int)process->pid;
	bool there;
	ssize_t n;

	if (process->state == 'Z' || process->state == 'X') {
		doctor_put(doctor, DOCTOR_BAD, "process", NULL, "%s (%d) has ended; its parent has not noticed yet",
			   process->name, pid);
		return false;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, PATH_MAX - 1);
	if (n < 0 && errno == ENOENT) {
		there = !process_read(&running->process, process->pid);
		doctor_put(doctor, DOCTOR_BAD, "process", NULL,
			   there ? "%s (%d) is a thread of the kernel" : "%s (%d) is gone", process->name, pid);
		return false;
	}
	exe[n < 0 ? 0 : n] = '\0';
	doctor_put(doctor, DOCTOR_OK, "process", NULL, "%s (%d), %ld thread%s, uid %u%s%s", process->name, pid,
		   process->threads, process->threads == 1 ? "" : "s", (unsigned int)process->uid,
		   process->no_new_privs == 1 ? ", gains no rights" : "",
		   process->state == 'T' ? ", stopped" : "");
	if (process->uid != geteuid())
		doctor_put(doctor, DOCTOR_NOTE, "process", NULL, "it is another user's, and so is its directory");
	if (process->same_pids != 1)
		doctor_put(doctor, DOCTOR_NOTE, "process", NULL,
			   process->same_pids ? "its pid namespace cannot be told"
					      : "it is in another pid namespace: its records hold other numbers");
	if (process->tracer > 0)
		doctor_put(doctor, DOCTOR_NOTE, "process", NULL,
			   "process %ld debugs it: what is stepped through takes the overflow rings",
			   process->tracer);
	return true;
}

static void look_at_sandbox(struct running *running)
{
	struct doctor *doctor = running->doctor;
	bool attached = running->attachment.attached;

	switch (running->process.seccomp) {
	case 0:
		break;
	case 1:
		doctor_put(doctor, DOCTOR_NOTE, "sandbox", NULL, "seccomp, strict: it gets no new rings");
		break;
	case 2:
		doctor_put(doctor, DOCTOR_NOTE, "sandbox", NULL, "a seccomp filter%s",
			   attached ? ", which did not keep it from attaching"
				    : ": it may forbid what attaching needs");
		break;
	default:
		doctor_put(doctor, DOCTOR_NOTE, "sandbox", NULL, "whether it has a seccomp filter cannot be told");
	}
}

/* The program's file, by the process: the path may name another one by now. */
static void look_at_program(struct running *running)
{
	static const char mark[] = " (deleted)";
	struct doctor *doctor = running->doctor;
	struct program *program = running->program;
	size_t len = strlen(program->path), mark_len = sizeof(mark) - 1;

	if (len > mark_len && !strcmp(program->path + len - mark_len, mark))
		doctor_put(doctor, DOCTOR_NOTE, "program", NULL, "its file was removed or replaced since it started");
	snprintf(program->running, sizeof(program->running), "/proc/%d/exe", (int)running->process.pid);
	if (!program_open(doctor, program) || !program_runs(doctor, program))
		return;
	if (running->attachment.library[0]) {
		program->carries = true;
		doctor_put(doctor, DOCTOR_OK, "runtime", NULL, "%s", running->attachment.library);
	} else {
		program_holds_runtime(doctor, program);
	}
	program_take_sites(doctor, program, &program->elf, program->path);
	program_put_sites(doctor, program);
}

/* Is what it has mapped the directory that we have open? */
static bool is_ours(const struct running *running)
{
	const struct attachment *attachment = &running->attachment;
	const struct control *control = running->doctor->control;
	char dir[PATH_MAX];
	struct stat st;

	if (!control || attachment->removed || fstat(control->dir.fd[SEGMENT_CONTROL], &st))
		return false;
	return attachment->inode == st.st_ino &&
	       (attachment->device == st.st_dev ||
		(realpath(running->doctor->dir, dir) && !strcmp(attachment->dir, dir)));
}

/* Attached elsewhere: how to get there. */
static void put_elsewhere(struct running *running)
{
	struct doctor *doctor = running->doctor;
	const struct attachment *attachment = &running->attachment;
	struct buf step = BUF_INIT;

	if (attachment->removed) {
		doctor_put(doctor, DOCTOR_BAD, "verdict", "start it again",
			   "it writes into %s, which was removed: nobody can read that", attachment->dir);
		return;
	}
	doctor_sudo(&step, running->process.uid);
	buf_puts(&step, "ringside show --dir ");
	doctor_quote(&step, attachment->dir);
	doctor_put(doctor, DOCTOR_BAD, "verdict", step.data, "it is attached to %s, not to %s", attachment->dir,
		   doctor->dir);
	buf_fini(&step);
}

/* It has no runtime; one can be loaded where there is a loader. */
static void put_without(struct running *running)
{
	struct doctor *doctor = running->doctor;
	bool can = running->program->elf.interp && running->process.seccomp <= 0;
	const char *step = "link it with -lringside, see ringside(3)";
	char words[32];

	snprintf(words, sizeof(words), "attach %d", (int)running->process.pid);
	doctor_put(doctor, DOCTOR_BAD, "verdict", can ? doctor_ringside(doctor, words) : step,
		   "it cannot be traced%s: libringside is neither inside it nor loaded", can ? " yet" : "");
}

static void put_unattached(struct running *running)
{
	struct doctor *doctor = running->doctor;
	const struct program *program = running->program;
	char named[PATH_MAX];
	int r;

	if (program->unwilling) {
		doctor_put(doctor, DOCTOR_BAD, "verdict", NULL, "it says itself that it is not to be traced");
		return;
	}
	if (!program->carries) {
		put_without(running);
		return;
	}
	r = process_environment(running->process.pid, "RINGSIDE_DIR", named, sizeof(named));
	if (r == 1 && named[0] && strcmp(named, doctor->dir))
		doctor_put(doctor, DOCTOR_BAD, "verdict", doctor_step(doctor, "ringside doctor --dir ", named),
			   "it is not attached; the directory that it was given is %s", named);
	else
		doctor_put(doctor, DOCTOR_BAD, "verdict", "start it again",
			   "it carries the runtime but is not attached: it could not use the directory when it started, "
			   "or that broke since");
}

static void put_verdict(struct running *running)
{
	struct doctor *doctor = running->doctor;

	if (!running->attachment.attached)
		put_unattached(running);
	else if (!is_ours(running))
		put_elsewhere(running);
	else
		doctor_put(doctor, DOCTOR_OK, "verdict", doctor_ringside(doctor, "show"),
			   "it is attached to %s", running->attachment.dir);
}

void doctor_process(struct doctor *doctor, pid_t pid)
{
	struct running running = { .doctor = doctor, .program = malloc(sizeof(*running.program)) };
	int r;

	if (!running.program) {
		doctor_put(doctor, DOCTOR_BAD, "process", NULL, "out of memory");
		return;
	}
	program_init(running.program, "");
	r = process_read(&running.process, pid);
	if (r) {
		doctor_put(doctor, DOCTOR_BAD, "process", NULL,
			   r == -ESRCH ? "there is no process %d" : "process %d cannot be looked at", (int)pid);
	} else if (look_at_process(&running)) {
		r = process_attachment(&running.attachment, pid);
		look_at_sandbox(&running);
		if (r == -ENOENT || r == -ESRCH)
			doctor_put(doctor, DOCTOR_BAD, "verdict", NULL, "it has just ended");
		else if (r)
			doctor_put(doctor, DOCTOR_BAD, "verdict", as_who(&running),
				   "its memory may not be looked at (%s): whether it is traced is not known",
				   strerror(-r));
		else {
			look_at_program(&running);
			put_verdict(&running);
		}
	}
	program_fini(running.program);
	free(running.program);
}
