/*
 * doctor/doctor: what the parts of `ringside doctor` share.
 *
 *   finding.c    how a finding is written
 *   machine.c    the kernel and what it offers
 *   kernel.c     the kernel's own tracing
 *   directory.c  the tracing directory
 *   names.c      events of the kernel's names
 *   remotes.c    memories of firmware
 *   program.c    a program's file
 *   started.c    a program that is to be started
 *   running.c    a process
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "control/control.h"
#include "source/source.h"

enum doctor_mark {
	DOCTOR_OK,	/* it was looked at, and is as it should be */
	DOCTOR_NOTE,	/* worth knowing; tracing works */
	DOCTOR_BAD,	/* keeps tracing from working */
};

struct doctor {
	struct buf out;
	struct buf step;	/* of the finding that is being made */
	struct buf dir_option;	/* " --dir DIR" for the commands that are proposed, "" */
	bool json;
	bool colour;
	int width;		/* of the terminal; 0: lines are not broken */
	bool bad;		/* something was */
	char dir[PATH_MAX];
	const char *dir_from;	/* who named it */
	struct control *control;	/* NULL when it cannot be used */
};

/* One finding. `step`: what mends it, a command where there is one; NULL when there is nothing to do. */
void doctor_put(struct doctor *doctor, enum doctor_mark mark, const char *check, const char *step,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* A step: words, and behind them a text quoted for the shell. Stays until the next is made. */
const char *doctor_step(struct doctor *doctor, const char *words, const char *text);

/* A text quoted for the shell if it has to be. */
void doctor_quote(struct buf *out, const char *text);

/* "sudo -u UID " unless that is who we are: for commands that another user has to give. */
void doctor_sudo(struct buf *out, uid_t uid);

/* "`ringside` + words + the directory", as a step. */
const char *doctor_ringside(struct doctor *doctor, const char *words);

void doctor_machine(struct doctor *doctor);
/* Of the kernel's tracing alone, or of a tree like it. */
void doctor_kernel(struct doctor *doctor, struct source *source);

/* Opens the directory, as far as it goes; the other takes a closer look at what was opened. */
void doctor_directory(struct doctor *doctor);
void doctor_directory_use(struct doctor *doctor);
/* Of a directory that can be used. */
void doctor_names(struct doctor *doctor);
void doctor_remotes(struct doctor *doctor);

void doctor_program(struct doctor *doctor, const char *name);
void doctor_process(struct doctor *doctor, pid_t pid);

#endif
